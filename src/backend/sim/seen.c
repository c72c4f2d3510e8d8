/* seen.c - what was seen of a line, as an answer: lanes at the banks, sectors, numbers that become one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sim/look.h"
#include "backend/sim/sum.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "sim/observe.h"

enum { LANES = 32, PIECE = 16, SECTOR = 32, AXIS_MAX = 64, NAMES_MAX = 64, STEPS_MAX = 128 };

/* One access among all that were seen, in their order. */
struct pick {
    const struct sim_seen *seen;
    const struct sim_access *access;
};

static uint64_t first_address(const struct sim_access *a)
{
    return a->addr[__builtin_ctz(a->mask)];
}

/* The accesses of the view; the caller frees. */
static struct pick *picks(const struct look_choice *c, const struct finding_scene *s,
                          const struct sim_result *got, size_t *n)
{
    struct pick *out = NULL;
    size_t cap = 0;
    *n = 0;
    for (size_t i = 0; i < got->nseen; i++)
        for (size_t k = 0; k < got->seen[i].accesses; k++) {
            const struct sim_access *a = &got->seen[i].access[k];
            if (!a->mask || !look_fits(c, s, a->space, first_address(a)))
                continue;
            xgrow((void **)&out, &cap, *n + 1, sizeof *out);
            out[(*n)++] = (struct pick){&got->seen[i], a};
        }
    return out;
}

static void too_few(const struct look_choice *c, size_t n, struct err *err)
{
    err_set(err, ST_USAGE, "turn=%lld: warp %d of that block comes there %zu time%s",
            (long long)c->look->turn, c->warp, n, n == 1 ? "" : "s");
}

/* ---- what all views say of an execution ---- */

static const char *file_of(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    return slash ? slash + 1 : path;
}

static void put_clean(json_t *o, const char *name, const char *text)
{
    char *clean = text ? sanitize_line(text) : NULL;
    json_object_set_new(o, name, clean ? json_string(clean) : json_null());
    free(clean);
}

static void put_place(json_t *o, const struct sim_program *p, size_t insn)
{
    const struct look_place at = look_place(p, insn);
    json_object_set_new(o, "ptx_line", json_integer(sim_program_insn(p, insn).ptx_line));
    if (!at.own.line)
        return;
    put_clean(o, "file", file_of(at.own.file));
    json_object_set_new(o, "line", json_integer(at.own.line));
    if (at.at.line == at.own.line && !strcmp(at.at.file, at.own.file))
        return;
    put_clean(o, "at_file", file_of(at.at.file));
    json_object_set_new(o, "at_line", json_integer(at.at.line));
}

/* What ptxas makes of an access and its neighbours, if it joins it with any: in words. */
static void put_joined(json_t *o, const struct sim_program *p, size_t insn)
{
    const size_t lead = sim_program_insn(p, insn).part_of, all = sim_program_facts(p).insns;
    int others = 0;
    for (size_t i = 0; i < all; i++)
        others += i != lead && sim_program_insn(p, i).part_of == lead;
    if (lead != insn)
        json_object_set_new(o, "joined",
                            json_sprintf("ptxas joins it to the access of PTX line %d",
                                         sim_program_insn(p, lead).ptx_line));
    else if (others)
        json_object_set_new(o, "joined",
                            json_sprintf("one access with %d more, joined by ptxas", others));
}

/* Pass, place, instruction with its PTX, block, warp, turn and lanes. */
static json_t *execution(const struct finding_scene *s, const struct sim_seen *e)
{
    const uint64_t gx = s->launch->grid[0], gy = s->launch->grid[1];
    const struct sim_insn in = sim_program_insn(s->program, e->insn);
    json_t *o = json_object();
    char *ptx = sim_program_ptx_line(s->program, in.ptx_line);
    put_place(o, s->program, e->insn);
    put_clean(o, "instruction", in.name);
    put_joined(o, s->program, e->insn);
    put_clean(o, "ptx", ptx);
    put_clean(o, "pass", s->pass->name);
    json_object_set_new(o, "block",
                        json_pack("[I, I, I]", (json_int_t)(e->block % gx),
                                  (json_int_t)(e->block / gx % gy),
                                  (json_int_t)(e->block / gx / gy)));
    json_object_set_new(o, "warp", json_integer(e->warp));
    json_object_set_new(o, "execution", json_integer((json_int_t)e->turn));
    json_object_set_new(o, "active", json_integer(__builtin_popcount(e->active)));
    json_object_set_new(o, "mask", json_integer((json_int_t)e->mask));
    free(ptx);
    return o;
}

/* ---- banks ---- */

/* Wavefronts of each word of each lane; returns how many there are. Wide accesses go 16 bytes at a time. */
static unsigned turns_of(const struct sim_access *a, uint16_t turn[LANES][8])
{
    unsigned base = 0;
    const unsigned piece = a->bytes > PIECE ? PIECE : a->bytes;
    for (unsigned at = 0; at < a->bytes && at < 2 * PIECE; at += piece) {
        uint32_t addr[LANES];
        uint16_t part[LANES][4];
        for (int i = 0; i < LANES; i++)
            addr[i] = (uint32_t)a->addr[i] + at;
        pattern_shared_turns(addr, a->mask, piece, a->kind, part);
        for (int i = 0; i < LANES; i++)
            for (unsigned w = 0; w < (piece + 3) / 4; w++)
                turn[i][at / 4 + w] = (uint16_t)(base + part[i][w]);
        base += pattern_shared_cost(addr, a->mask, piece, a->kind).wavefronts;
    }
    return base;
}

static json_t *lane_json(const struct finding_scene *s, const struct sim_access *a, int lane,
                         const uint16_t turn[8])
{
    json_t *o = json_object(), *words = json_array();
    unsigned last = 0;
    finding_name_address(s, a->space, a->addr[lane], o);
    json_object_set_new(o, "lane", json_integer(lane));
    json_object_set_new(o, "address", json_integer((json_int_t)a->addr[lane]));
    for (unsigned w = 0; w < (a->bytes + 3) / 4 && w < 8; w++) {
        json_array_append_new(
            words, json_pack("[i, i]", (int)((a->addr[lane] / 4 + w) % 32), (int)turn[w]));
        last = turn[w] > last ? turn[w] : last;
    }
    json_object_set_new(o, "words", words);
    json_object_set_new(o, "wavefront", json_integer(last));
    return o;
}

static json_t *sector_json(const struct finding_scene *s, const struct sim_access *a, int lane)
{
    json_t *o = json_object();
    finding_name_address(s, a->space, a->addr[lane], o);
    json_object_set_new(o, "lane", json_integer(lane));
    json_object_set_new(o, "address", json_integer((json_int_t)a->addr[lane]));
    json_object_set_new(
        o, "sector",
        json_integer((json_int_t)(a->addr[lane] / SECTOR - first_address(a) / SECTOR)));
    return o;
}

json_t *look_access_json(const struct finding_scene *s, const struct sim_access *a)
{
    json_t *o = json_object(), *rows = json_array();
    uint16_t turn[LANES][8];
    const bool shared = a->space == SIM_SHARED;
    if (a->mask)
        finding_name_address(s, a->space, first_address(a), o);
    if (shared)
        (void)turns_of(a, turn);
    for (int i = 0; i < LANES; i++)
        if (a->mask >> i & 1)
            json_array_append_new(rows,
                                  shared ? lane_json(s, a, i, turn[i]) : sector_json(s, a, i));
    json_object_set_new(o, "space", json_string(sim_space_name(a->space)));
    json_object_set_new(o, "mask", json_integer((json_int_t)a->mask));
    json_object_set_new(o, "bytes", json_integer(a->bytes));
    json_object_set_new(o, "write", json_boolean(a->write));
    json_object_set_new(o, "read", json_boolean(a->fetches || !a->write));
    json_object_set_new(o, shared ? "wavefronts" : "sectors", json_integer(a->cost));
    json_object_set_new(o, "ideal", json_integer(a->ideal));
    json_object_set_new(o, "rows", rows);
    return o;
}

static size_t worst(const struct pick *p, size_t n)
{
    size_t best = 0;
    for (size_t i = 1; i < n; i++)
        if ((int64_t)p[i].access->cost - p[i].access->ideal >
            (int64_t)p[best].access->cost - p[best].access->ideal)
            best = i;
    return best;
}

static json_t *banks_answer(const struct look_choice *c, const struct finding_scene *s,
                            const struct sim_result *got, struct err *err)
{
    size_t n;
    struct pick *p = picks(c, s, got, &n);
    const size_t at = c->look->turn ? (size_t)c->look->turn - 1 : worst(p, n);
    if (at >= n) {
        too_few(c, n, err);
        free(p);
        return NULL;
    }
    const struct sim_access *a = p[at].access;
    uint16_t turn[LANES][8];
    json_t *o = execution(s, p[at].seen), *lanes = json_array();
    turns_of(a, turn);
    for (int i = 0; i < LANES; i++)
        if (a->mask >> i & 1)
            json_array_append_new(lanes, lane_json(s, a, i, turn[i]));
    json_object_set_new(o, "rows", lanes);
    json_object_set_new(o, "turn", json_integer((json_int_t)at + 1));
    json_object_set_new(o, "bytes", json_integer(a->bytes));
    json_object_set_new(o, "write", json_boolean(a->write));
    json_object_set_new(o, "wavefronts", json_integer(a->cost));
    json_object_set_new(o, "ideal", json_integer(a->ideal));
    free(p);
    return o;
}

/* ---- sectors ---- */

/* Rows of a tensor, by address; the same address twice where it has none. */
struct span {
    const char *name;
    int64_t first, last;
};

static struct span span_of(const struct finding_scene *s, const struct sim_access *a)
{
    const int64_t row = s->shape->D * (int64_t)dtype_size(s->shape->dtype);
    struct span out = {.name = NULL};
    for (int i = 0; i < LANES; i++) {
        int64_t offset = 0;
        uint64_t bytes;
        if (!(a->mask >> i & 1))
            continue;
        const char *name = sim_memory_name(s->memory, a->addr[i], &offset, &bytes);
        const int64_t at = row > 0 ? offset / row : 0;
        out.first = !out.name || at < out.first ? at : out.first;
        out.last = !out.name || at > out.last ? at : out.last;
        out.name = name ? name : "";
    }
    return out;
}

static bool is_tensor(const char *name)
{
    return name && strlen(name) == 1 && strchr("QKVO", *name);
}

/* The accesses that bring the same rows of a tensor as the first of them; alone, where it is of no tensor. */
static size_t same_rows(const struct finding_scene *s, struct pick *p, size_t n)
{
    const struct span first = span_of(s, p[0].access);
    size_t kept = 1;
    for (size_t i = 1; i < n && kept < LOOK_ROWS && is_tensor(first.name); i++) {
        const struct span is = span_of(s, p[i].access);
        if (is.name && !strcmp(is.name, first.name) && is.first >= first.first &&
            is.last <= first.last)
            p[kept++] = p[i];
    }
    return kept;
}

static int by_number(const void *x, const void *y)
{
    const uint64_t a = *(const uint64_t *)x, b = *(const uint64_t *)y;
    return a < b ? -1 : a > b;
}

/* All sectors that they touch, in order; at most AXIS_MAX. The caller frees. */
static uint64_t *axis_of(const struct pick *p, size_t n, size_t *count)
{
    uint64_t *all = xcalloc(n * LANES * 2 + 1, sizeof *all);
    size_t k = 0, kept = 0;
    for (size_t i = 0; i < n; i++)
        for (int lane = 0; lane < LANES; lane++) {
            const struct sim_access *a = p[i].access;
            if (!(a->mask >> lane & 1))
                continue;
            all[k++] = a->addr[lane] / SECTOR;
            all[k++] = (a->addr[lane] + a->bytes - 1) / SECTOR;
        }
    qsort(all, k, sizeof *all, by_number);
    for (size_t i = 0; i < k; i++)
        if (!kept || all[kept - 1] != all[i])
            all[kept++] = all[i];
    *count = kept;
    return all;
}

/* Lanes on a sector, and which of its bytes they want. */
static int touch(const struct sim_access *a, uint64_t sector, uint32_t *bytes)
{
    int lanes = 0;
    *bytes = 0;
    for (int i = 0; i < LANES; i++) {
        bool here = false;
        for (uint32_t b = 0; (a->mask >> i & 1) && b < a->bytes; b++)
            if ((a->addr[i] + b) / SECTOR == sector) {
                *bytes |= 1u << (a->addr[i] + b) % SECTOR;
                here = true;
            }
        lanes += here;
    }
    return lanes;
}

static json_t *load_json(const struct finding_scene *s, const struct pick *p, const uint64_t *axis,
                         size_t naxis)
{
    const struct sim_access *a = p->access;
    json_t *o = execution(s, p->seen), *lanes = json_array(), *used = json_array();
    int64_t distinct = 0;
    finding_name_address(s, a->space, first_address(a), o);
    for (size_t k = 0; k < naxis; k++) {
        uint32_t bytes;
        const int n = touch(a, axis[k], &bytes);
        distinct += __builtin_popcount(bytes);
        if (k >= AXIS_MAX)
            continue;
        json_array_append_new(lanes, json_integer(n));
        json_array_append_new(used, json_integer(__builtin_popcount(bytes)));
    }
    json_object_set_new(o, "lanes", json_integer(__builtin_popcount(a->mask)));
    json_object_set_new(o, "bytes", json_integer(a->bytes));
    json_object_set_new(o, "used_bytes", json_integer(distinct));
    json_object_set_new(o, "write", json_boolean(a->write));
    json_object_set_new(o, "sectors", json_integer(a->cost));
    json_object_set_new(o, "ideal", json_integer(a->ideal));
    json_object_set_new(o, "touch", lanes);
    json_object_set_new(o, "used", used);
    return o;
}

/* The number of each sector of the axis, from the first one's: gaps show. */
static json_t *axis_json(const uint64_t *axis, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n && i < AXIS_MAX; i++)
        json_array_append_new(list, json_integer((json_int_t)(axis[i] - axis[0])));
    return list;
}

static json_t *access_answer(const struct look_choice *c, const struct finding_scene *s,
                             const struct sim_result *got, struct err *err)
{
    size_t n, naxis;
    struct pick *p = picks(c, s, got, &n);
    const size_t from = c->look->turn ? (size_t)c->look->turn - 1 : 0;
    if (from >= n) {
        too_few(c, n, err);
        free(p);
        return NULL;
    }
    const size_t rows = same_rows(s, p + from, n - from);
    uint64_t *axis = axis_of(p + from, rows, &naxis);
    json_t *o = execution(s, p[from].seen), *list = json_array();
    for (size_t i = 0; i < rows; i++)
        json_array_append_new(list, load_json(s, &p[from + i], axis, naxis));
    json_object_set_new(o, "rows", list);
    json_object_set_new(o, "turn", json_integer((json_int_t)from + 1));
    json_object_set_new(o, "axis", axis_json(axis, naxis));
    json_object_set_new(o, "axis_sectors", json_integer((json_int_t)naxis));
    json_object_set_new(o, "first_byte",
                        json_integer((json_int_t)(first_address(p[from].access) % SECTOR)));
    free(axis);
    free(p);
    return o;
}

/* ---- numbers that become one ---- */

enum number { NO_NUMBER, NUMBER_F32, NUMBER_F64, NUMBER_S32, NUMBER_U32 };
enum combine { NO_COMBINE, COMBINE_ADD, COMBINE_MAX, COMBINE_MIN };

static bool has_part(const char *name, const char *part)
{
    const size_t len = strlen(part);
    for (const char *at = name; (at = strstr(at, part)); at += len)
        if ((at == name || at[-1] == '.') && (!at[len] || at[len] == '.'))
            return true;
    return false;
}

static enum number number_of(const char *name)
{
    return has_part(name, "f32")   ? NUMBER_F32
           : has_part(name, "f64") ? NUMBER_F64
           : has_part(name, "s32") ? NUMBER_S32
           : has_part(name, "u32") ? NUMBER_U32
                                   : NO_NUMBER;
}

static enum combine combine_of(const char *name)
{
    return has_part(name, "add")   ? COMBINE_ADD
           : has_part(name, "max") ? COMBINE_MAX
           : has_part(name, "min") ? COMBINE_MIN
                                   : NO_COMBINE;
}

static double value_of(enum number t, uint64_t bits)
{
    float f;
    double d;
    const uint32_t low = (uint32_t)bits;
    memcpy(&f, &low, sizeof f);
    memcpy(&d, &bits, sizeof d);
    return t == NUMBER_F32   ? (double)f
           : t == NUMBER_F64 ? d
           : t == NUMBER_S32 ? (double)(int32_t)low
                             : (double)low;
}

static double combined(enum combine how, double a, double b)
{
    return how == COMBINE_ADD ? a + b : how == COMBINE_MAX ? fmax(a, b) : fmin(a, b);
}

/* JSON has neither infinities nor NaN; words stand for them. */
static json_t *real_json(double v)
{
    return isfinite(v) ? json_real(v) : json_string(isnan(v) ? "nan" : v > 0 ? "inf" : "-inf");
}

/* Registers that hold the same as another. */
struct names {
    const char *name[NAMES_MAX];
    size_t n;
};
static bool names_has(const struct names *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->name[i], name))
            return true;
    return false;
}
static void names_add(struct names *l, const char *name)
{
    if (!names_has(l, name) && l->n < NAMES_MAX)
        l->name[l->n++] = name;
}
static void names_drop(struct names *l, const char *name)
{
    for (size_t i = 0; i < l->n; i++)
        if (!strcmp(l->name[i], name))
            l->name[i--] = l->name[--l->n];
}

/* The k-th register that is read, or written, without predicates; NULL: there is none. */
static const struct sim_register *register_at(const struct sim_seen *e, bool written, size_t k)
{
    for (size_t i = 0; i < e->regs; i++)
        if ((written ? e->reg[i].written : e->reg[i].read) && strcmp(e->reg[i].type, "pred") != 0 &&
            !k--)
            return &e->reg[i];
    return NULL;
}

/* The last one that is read and no address: of an atomic what is added. NULL: a constant. */
static const struct sim_register *last_read(const struct sim_seen *e)
{
    const struct sim_register *r, *last = NULL;
    for (size_t k = 0; (r = register_at(e, false, k)); k++)
        last = r->address ? last : r;
    return last;
}

/* One reduction as it is followed. */
struct chain {
    const struct finding_scene *scene;
    const struct sim_seen *first; /* NULL: it has not begun */
    enum combine how;
    enum number type;
    const struct sim_seen *by; /* of the last step */
    struct names now, came;    /* what holds the running number, what the other's */
    double begin[LANES];       /* what each lane had */
    uint32_t of[LANES];        /* whose numbers each lane's stands for */
    int from[LANES];           /* of the exchange before the step */
    uint64_t came_value[LANES];
    int lead;    /* lane 0, or the first of those that take part */
    double want; /* of that lane: exact but for the doubles */
    json_t *steps;
    size_t numbers; /* in the running one */
    bool over;      /* another one begins */
};

/* The leading lane's right answer so far, of numbers that it was given. */
static double want_of(const struct chain *c)
{
    double sum = NAN;
    for (int i = 0; i < LANES; i++)
        if (c->of[c->lead] >> i & 1)
            sum = isnan(sum) ? c->begin[i] : combined(c->how, sum, c->begin[i]);
    return sum;
}

static json_t *step_json(const struct chain *c, const struct sim_seen *e,
                         const struct sim_register *result)
{
    json_t *o = execution(c->scene, e), *values = json_array();
    for (int i = 0; i < LANES; i++)
        json_array_append_new(values, e->mask >> i & 1
                                          ? real_json(value_of(c->type, result->after[i]))
                                          : json_null());
    json_object_set_new(o, "values", values);
    json_object_set_new(o, "adds", json_integer(__builtin_popcount(e->mask)));
    json_object_set_new(o, "numbers", json_integer((json_int_t)c->numbers));
    json_object_set_new(o, "value",
                        real_json(value_of(c->type, result->after[__builtin_ctz(e->mask)])));
    json_object_set_new(o, "want", real_json(c->want));
    return o;
}

/* Is it the sum or maximum that takes in what came? Then `result` and the register that came. */
static bool combines(const struct chain *c, const struct sim_seen *e,
                     const struct sim_register **result, const struct sim_register **came)
{
    const char *name = sim_program_insn(c->scene->program, e->insn).name;
    const struct sim_register *r;
    *result = register_at(e, true, 0);
    *came = NULL;
    if (strncmp(name, "add", 3) != 0 && strncmp(name, "max", 3) != 0 &&
        strncmp(name, "min", 3) != 0)
        return false;
    for (size_t k = 0; (r = register_at(e, false, k)); k++)
        if (names_has(&c->came, r->name))
            *came = r;
    return *came && *result && e->mask && number_of(name) != NO_NUMBER;
}

/* Copies carry names on; whoever else writes a register ends what it stood for. */
static void carry(struct chain *c, const struct sim_seen *e)
{
    const char *name = sim_program_insn(c->scene->program, e->insn).name;
    const struct sim_register *from = register_at(e, false, 0), *to = register_at(e, true, 0);
    const bool copy = !strncmp(name, "mov", 3) && from && to && !register_at(e, false, 1);
    const bool now = copy && names_has(&c->now, from->name),
               came = copy && names_has(&c->came, from->name);
    const struct sim_register *r;
    for (size_t k = 0; (r = register_at(e, true, k)); k++) {
        names_drop(&c->now, r->name);
        names_drop(&c->came, r->name);
    }
    if (now)
        names_add(&c->now, to->name);
    if (came)
        names_add(&c->came, to->name);
}

/* ---- by shuffles ---- */

static void exchange(struct chain *c, const struct sim_seen *e)
{
    const struct sim_register *to = register_at(e, true, 0);
    c->came.n = 0;
    if (to)
        names_add(&c->came, to->name);
    memcpy(c->from, e->from, sizeof c->from);
}

static void begin_shuffles(struct chain *c, const struct sim_seen *e,
                           const struct sim_register *src)
{
    c->first = e;
    c->lead = __builtin_ctz(e->mask);
    names_add(&c->now, src->name);
    for (int i = 0; i < LANES; i++) {
        c->of[i] = 1u << i;
        c->came_value[i] = src->before[i]; /* read as what the first step says it is */
    }
}

static void step_shuffle(struct chain *c, const struct sim_seen *e,
                         const struct sim_register *result)
{
    const char *name = sim_program_insn(c->scene->program, e->insn).name;
    uint32_t of[LANES];
    json_t *from = json_array();
    if (!c->by) {
        c->how = combine_of(name);
        c->type = number_of(name);
        for (int i = 0; i < LANES; i++)
            c->begin[i] = value_of(c->type, c->came_value[i]);
    }
    c->by = e;
    for (int i = 0; i < LANES; i++)
        of[i] = c->of[i] | (c->from[i] >= 0 ? c->of[c->from[i]] : 0);
    memcpy(c->of, of, sizeof of);
    c->numbers = (size_t)__builtin_popcount(c->of[c->lead]);
    c->want = want_of(c);
    for (int i = 0; i < LANES; i++)
        json_array_append_new(from, c->from[i] >= 0 ? json_integer(c->from[i]) : json_null());
    json_t *o = step_json(c, e, result);
    json_object_set_new(o, "from", from);
    json_array_append_new(c->steps, o);
    c->now.n = c->came.n = 0;
    names_add(&c->now, result->name);
}

/* One execution; marks it as used when it was of this reduction. */
static void follow_shuffle(struct chain *c, const struct sim_seen *e, bool *used)
{
    const struct sim_register *result, *came;
    const struct sim_register *src = e->shuffles ? register_at(e, false, 0) : NULL;
    if (e->shuffles && e->mask && !*used && src && (!c->first || names_has(&c->now, src->name))) {
        if (!c->first)
            begin_shuffles(c, e, src);
        exchange(c, e);
        *used = true;
    } else if (c->first && combines(c, e, &result, &came) && json_array_size(c->steps) < STEPS_MAX)
        step_shuffle(c, e, result);
    else if (c->first && !e->shuffles)
        carry(c, e);
}

/* ---- through shared memory ---- */

static void begin_load(struct chain *c, const struct sim_seen *e)
{
    const struct sim_register *r;
    if (!c->first)
        c->first = e;
    for (size_t k = 0; (r = register_at(e, true, k)); k++)
        names_add(&c->came, r->name);
}

static void step_load(struct chain *c, const struct sim_seen *e, const struct sim_register *result,
                      const struct sim_register *came)
{
    const char *name = sim_program_insn(c->scene->program, e->insn).name;
    const int lane = __builtin_ctz(e->mask);
    c->type = number_of(name);
    const double x = value_of(c->type, came->before[lane]),
                 is = value_of(c->type, result->after[lane]);
    if (!c->by) {
        c->how = combine_of(name);
        c->want = c->how == COMBINE_ADD ? is - x : is; /* what it began with: 0 as a rule */
    }
    c->by = e;
    c->want = combined(c->how, c->want, x);
    c->numbers++;
    names_drop(&c->came, came->name);
    json_array_append_new(c->steps, step_json(c, e, result));
    c->now.n = 0;
    names_add(&c->now, result->name);
}

/* Does it take in the running number? Else it is another sum's first. */
static bool goes_on(const struct chain *c, const struct sim_seen *e)
{
    const struct sim_register *r;
    for (size_t k = 0; (r = register_at(e, false, k)); k++)
        if (names_has(&c->now, r->name))
            return true;
    return false;
}

static void follow_load(struct chain *c, const struct sim_seen *e, bool *used)
{
    const struct sim_register *result, *came;
    const char *name = sim_program_insn(c->scene->program, e->insn).name;
    const bool loads = !strncmp(name, "ld", 2);
    if (c->over)
        return;
    if (loads && !*used) {
        begin_load(c, e);
        *used = true;
    } else if (c->first && combines(c, e, &result, &came) &&
               json_array_size(c->steps) < STEPS_MAX) {
        c->over = c->by && !goes_on(c, e);
        if (!c->over)
            step_load(c, e, result, came);
    } else if (c->first && !loads)
        carry(c, e);
}

/* ---- by atomics ---- */

/* What lies in the word when this lane is done: what the next one finds. */
static double word_after(const struct chain *c, const struct sim_seen *e, uint32_t lanes, int lane)
{
    const struct sim_register *old = register_at(e, true, 0);
    const uint32_t later = lane == 31 ? 0 : lanes & ~((2u << lane) - 1);
    if (!later)
        return value_of(c->type, e->access[0].left[lane]);
    return old ? value_of(c->type, old->after[__builtin_ctz(later)]) : NAN;
}

/* Lanes `part` of `lanes` have added. */
static void step_atomic(struct chain *c, const struct sim_seen *e, uint32_t lanes, uint32_t part)
{
    const struct sim_register *x = last_read(e);
    json_t *o = execution(c->scene, e), *who = json_array();
    for (uint32_t left = part; left; left &= left - 1) {
        const int i = __builtin_ctz(left);
        c->want = x ? combined(c->how, c->want, value_of(c->type, x->before[i])) : NAN;
        json_array_append_new(who, json_integer(i));
        c->numbers++;
    }
    const int last = 31 - __builtin_clz(part);
    const double v = word_after(c, e, lanes, last);
    json_object_set_new(o, "adders", who);
    json_object_set_new(o, "adds", json_integer(__builtin_popcount(part)));
    json_object_set_new(o, "numbers", json_integer((json_int_t)c->numbers));
    json_object_set_new(o, "value", real_json(v));
    json_object_set_new(o, "want", real_json(c->want));
    finding_name_address(c->scene, e->access[0].space, e->access[0].addr[last], o);
    json_array_append_new(c->steps, o);
}

static uint32_t lanes_at(const struct sim_access *a, uint64_t addr)
{
    uint32_t m = 0;
    for (int i = 0; i < LANES; i++)
        m |= (uint32_t)(a->mask >> i & 1 && a->addr[i] == addr) << i;
    return m;
}

/* All that change the word of the first of them: an instruction a step; if it is but one, a lane a step. */
static void follow_atomics(struct chain *c, const struct sim_result *got, size_t from)
{
    uint64_t addr = 0;
    size_t n = 0;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = from; i < got->nseen; i++) {
            const struct sim_seen *e = &got->seen[i];
            const char *name = sim_program_insn(c->scene->program, e->insn).name;
            if (!e->accesses || !e->access[0].mask || !e->access[0].write ||
                !e->access[0].fetches || combine_of(name) == NO_COMBINE ||
                number_of(name) == NO_NUMBER)
                continue;
            if (!c->first) {
                c->first = e;
                c->how = combine_of(name);
                c->type = number_of(name);
                addr = first_address(&e->access[0]);
                c->want = value_of(c->type, e->access[0].found[__builtin_ctz(e->access[0].mask)]);
            }
            const uint32_t lanes = lanes_at(&e->access[0], addr);
            if (!lanes)
                continue;
            n += pass == 0;
            if (pass == 0 || json_array_size(c->steps) >= STEPS_MAX)
                continue;
            if (n > 1)
                step_atomic(c, e, lanes, lanes);
            for (uint32_t left = lanes; left && n == 1; left &= left - 1)
                step_atomic(c, e, lanes, left & -left);
        }
}

/* ---- the whole ---- */

static const char *way_of(const struct look_at *l, const struct finding_scene *s,
                          const struct sim_result *got)
{
    static const char *const ways[] = {
        [WAY_SHUFFLE] = "shuffle", [WAY_SHARED] = "shared", [WAY_ATOMIC] = "atomic"};
    bool atomics = false;
    if (l->way != WAY_ANY)
        return ways[l->way];
    for (size_t i = 0; i < got->nseen; i++) {
        if (got->seen[i].shuffles)
            return "shuffle";
        const char *name = sim_program_insn(s->program, got->seen[i].insn).name;
        atomics |= !strncmp(name, "atom", 4) || !strncmp(name, "red.", 4);
    }
    return atomics ? "atomic" : "shared";
}

/* The next reduction that no execution marked in `used` is of. */
static void follow(struct chain *c, const char *way, const struct sim_result *got, bool *used)
{
    if (!strcmp(way, "atomic")) {
        follow_atomics(c, got, 0);
        return;
    }
    for (size_t i = 0; i < got->nseen; i++) {
        const struct sim_seen *e = &got->seen[i];
        const bool again = c->first && e->insn == c->first->insn && e != c->first && c->by;
        if (again && !strcmp(way, "shared"))
            break; /* the next time round */
        if (!strcmp(way, "shuffle"))
            follow_shuffle(c, e, &used[i]);
        else
            follow_load(c, e, &used[i]);
    }
}

static json_t *begin_json(const struct chain *c, const char *way)
{
    json_t *list = json_array();
    for (int i = 0; i < LANES && !strcmp(way, "shuffle"); i++)
        json_array_append_new(list, real_json(c->begin[i]));
    return list;
}

static json_t *reduce_answer(const struct look_choice *c, const struct finding_scene *s,
                             const struct sim_result *got, struct err *err)
{
    const char *way = way_of(c->look, s, got);
    bool *used = xcalloc(got->nseen + 1, sizeof *used);
    const int64_t turn = c->look->turn ? c->look->turn : 1;
    struct chain x = {.scene = s};
    json_t *o = NULL;
    for (int64_t i = 0; i < turn; i++) {
        json_decref(x.steps);
        x = (struct chain){.scene = s, .steps = json_array(), .want = NAN};
        follow(&x, way, got, used);
        if (!x.first)
            break;
    }
    free(used);
    if (!x.first || !json_array_size(x.steps)) {
        json_decref(x.steps);
        err_set(err, ST_USAGE, "no sum or maximum over lanes was seen there%s",
                turn > 1 ? " so often" : "");
        return NULL;
    }
    o = execution(s, x.first);
    json_object_set_new(o, "way", json_string(way));
    json_object_set_new(o, "op",
                        json_string(x.how == COMBINE_ADD   ? "sum"
                                    : x.how == COMBINE_MAX ? "max"
                                                           : "min"));
    json_object_set_new(o, "begin", begin_json(&x, way));
    json_object_set_new(o, "turn", json_integer((json_int_t)turn));
    json_object_set_new(o, "rows", x.steps);
    return o;
}

json_t *look_answer(const struct look_choice *c, const struct finding_scene *s,
                    const struct sim_result *got, struct err *err)
{
    switch (c->look->view) {
    case LOOK_BANKS:
        return banks_answer(c, s, got, err);
    case LOOK_ACCESS:
        return access_answer(c, s, got, err);
    case LOOK_REDUCE:
        return reduce_answer(c, s, got, err);
    default:
        err_set(err, ST_USAGE, "there is no such view");
        return NULL;
    }
}
