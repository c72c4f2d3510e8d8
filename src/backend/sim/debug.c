/* debug.c - see debugged.h: what is asked of a block that is held still, done within the cage.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/sim/debugged.h"
#include "backend/sim/look.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/record.h"
#include "base/sanitize.h"

enum { SHOWN_MOST = 16 }; /* elements of a variable that is shown at every stop */

_Static_assert(SIM_GOAL_END == 13, "debug_goals[] has a word for each");

static size_t insns_of(const struct debugged *d)
{
    return sim_program_facts(d->stage.scene.program).insns;
}

/* ---- begin and end ---- */

static void drop_block(struct debugged *d)
{
    sim_step_free(d->step);
    d->step = NULL;
    ptx_names_clear(&d->names);
    for (int i = 0; i < 2; i++) {
        free(d->lines[i]);
        d->lines[i] = NULL;
    }
    sim_stage_close(&d->stage);
}

static void drop_mark(struct debugged *d, size_t i)
{
    struct debug_mark *m = d->marks[i];
    free(m->text);
    debug_clear(&m->ask);
    free(m);
    d->marks[i] = d->marks[--d->nmarks];
}

static enum status find_pass(const struct debugged *d, const char *name, int *pass, struct err *err)
{
    const struct plan *p = d->job->plan;
    *pass = p->main_pass;
    for (int i = 0; name && i < p->npasses; i++)
        if (!strcmp(p->passes[i].name, name)) {
            *pass = i;
            return ST_OK;
        }
    if (!name)
        return ST_OK;
    struct str names = {0};
    for (int i = 0; i < p->npasses; i++)
        str_addf(&names, "%s%s", i ? ", " : "", p->passes[i].name);
    err_set(err, ST_USAGE, "pass=%.40s: the kernel has %s", name, str_text(&names));
    str_free(&names);
    return ST_USAGE;
}

static enum status check_block(const struct debugged *d, const struct debug_ask *a, struct err *err)
{
    const uint32_t *g = d->stage.scene.launch->grid;
    if (a->x < g[0] && a->y < g[1] && a->z < g[2])
        return ST_OK;
    return err_set(err, ST_USAGE, "there is no block %lld,%lld,%lld: the grid is %u x %u x %u",
                   (long long)a->x, (long long)a->y, (long long)a->z, g[0], g[1], g[2]);
}

static enum status arm(struct debugged *d, struct debug_mark *m, struct err *err);

/* Those of another pass or block may mean nothing here: they go, with a word. */
static void arm_again(struct debugged *d)
{
    for (size_t i = d->nmarks; i-- > 0;)
        if (arm(d, d->marks[i], NULL) != ST_OK)
            drop_mark(d, i);
}

/* The kernel as it is to be held: with all of its barriers, or without one. */
static enum status settle_job(struct debugged *d, struct err *err)
{
    if (d->job == &d->omitted.job)
        return ST_OK;
    omitted_clear(&d->omitted);
    const enum status st = omit_wait(d->job, &d->omitted, err);
    if (st == ST_OK)
        d->job = &d->omitted.job;
    return st;
}

static void read_names(struct debugged *d)
{
    char entry[600];
    desc_entry(d->job->plan->desc, d->pass, entry, sizeof entry);
    ptx_names_read(d->job->ptx, d->job->ptx_len, entry, &d->names);
}

static enum status hold(struct debugged *d, struct sim_step_options *o, struct err *err)
{
    struct sim_naming *list = xcalloc(d->names.regs + 1, sizeof *list);
    for (size_t i = 0; i < d->names.regs; i++)
        list[i] = (struct sim_naming){d->names.reg[i].reg, d->names.reg[i].name};
    o->naming = list;
    o->namings = d->names.regs;
    o->names = (uint32_t)d->names.n;
    const enum status st = sim_step_new(d->stage.scene.program, d->stage.memory,
                                        d->stage.scene.launch, o, &d->step, err);
    free(list);
    return st;
}

/* A new block; the old one stays where this cannot be. */
static enum status begin(struct debugged *d, const struct debug_ask *a, struct err *err)
{
    if (settle_job(d, err) != ST_OK)
        return ST_USAGE;
    struct debugged fresh = {.job = d->job, .board = d->board};
    struct sim_stop here;
    const uint64_t was = d->step ? sim_step_now(d->step) : 0;
    if (d->step) /* outputs are the memory of both */
        (void)sim_step_to(d->step, 0, &here, NULL);
    enum status st = find_pass(d, a->pass, &fresh.pass, err);
    if (st == ST_OK)
        st = sim_stage_open(d->job, d->board, fresh.pass, &fresh.stage, err);
    if (st == ST_OK)
        st = check_block(&fresh, a, err);
    if (st == ST_OK) {
        const uint32_t *g = fresh.stage.scene.launch->grid;
        struct sim_step_options o = {.block = (uint64_t)a->x +
                                              g[0] * ((uint64_t)a->y + g[1] * (uint64_t)a->z),
                                     .hazards = a->hazards,
                                     .order = (enum sim_order)a->order,
                                     .seed = (uint64_t)a->seed};
        read_names(&fresh);
        st = hold(&fresh, &o, err);
    }
    if (st != ST_OK) {
        drop_block(&fresh);
        if (d->step)
            (void)sim_step_to(d->step, was, &here, NULL);
        return st;
    }
    drop_block(d);
    d->stage = fresh.stage;
    d->step = fresh.step;
    d->names = fresh.names;
    d->pass = fresh.pass;
    d->warp = a->warp >= 0 && a->warp < sim_step_warps(d->step) ? (int)a->warp : 0;
    d->lane = 0;
    d->told = 0;
    d->begin.x = a->x;
    d->begin.y = a->y;
    d->begin.z = a->z;
    d->begin.order = a->order;
    d->begin.seed = a->seed;
    for (int i = 0; i < 2; i++)
        d->lines[i] = look_lines(d->stage.scene.program, i == 1);
    arm_again(d);
    d->stop = (struct sim_stop){.warp = -1};
    d->moved = false;
    return ST_OK;
}

/* ---- places ---- */

struct places {
    bool *all, *first; /* of the line; where it begins */
};

static void places_clear(struct places *p)
{
    free(p->all);
    free(p->first);
}

static bool is_of_place(const struct sim_program *p, size_t insn, const char *place)
{
    if (!strncmp(place, "ptx:", 4))
        return sim_program_insn(p, insn).ptx_line == atoi(place + 4);
    return look_is_of_line(p, insn, place);
}

/* Of a line in a piece of code that is gone through as one, the first instruction. */
static size_t mark_first(const struct debugged *d, struct places *out)
{
    const size_t n = insns_of(d);
    size_t count = 0;
    bool *leads = xcalloc(n + 1, sizeof *leads), seen = false;
    sim_program_leaders(d->stage.scene.program, leads);
    for (size_t i = 0; i < n; i++) {
        seen &= !leads[i];
        out->first[i] = out->all[i] && !seen;
        seen |= out->all[i];
        count += out->all[i];
    }
    free(leads);
    return count;
}

/* The own line with code that is nearest behind; 0: none is. */
static int line_behind(const struct debugged *d, int line)
{
    int best = 0;
    for (size_t i = 0; i < insns_of(d); i++) {
        const int is = look_place(d->stage.scene.program, i).own.line;
        if (is > line && (!best || is < best))
            best = is;
    }
    return best;
}

static enum status find_place(const struct debugged *d, const char *place, struct places *out,
                              struct err *err)
{
    const size_t n = insns_of(d);
    *out = (struct places){xcalloc(n + 1, sizeof *out->all), xcalloc(n + 1, sizeof *out->first)};
    for (size_t i = 0; i < n; i++)
        out->all[i] = is_of_place(d->stage.scene.program, i, place);
    if (mark_first(d, out))
        return ST_OK;
    places_clear(out);
    char *clean = sanitize_line(place);
    err_set(err, ST_USAGE, "there is no code at %s: a line is 57, attn.cuh:182 or ptx:310", clean);
    free(clean);
    return ST_USAGE;
}

/* A line of the kernel's own file without code means the next that has some. */
static void settle_place(const struct debugged *d, char **place)
{
    bool any = !*place || strspn(*place, "0123456789") != strlen(*place);
    for (size_t i = 0; i < insns_of(d) && !any; i++)
        any = is_of_place(d->stage.scene.program, i, *place);
    const int behind = any ? 0 : line_behind(d, atoi(*place));
    if (!behind)
        return;
    free(*place);
    *place = xasprintf("%d", behind);
}

/* ---- values by name ---- */

/* "[5]" at the end: the lane. False: it is none. */
static bool read_lane(const char *text, int *lane)
{
    char *end;
    if (*text != '[' || text[1] < '0' || text[1] > '9')
        return false;
    const long n = strtol(text + 1, &end, 10);
    *lane = (int)n;
    return n >= 0 && n < 32 && !strcmp(end, "]");
}

/* Names repeat between scopes: the one whose value is there counts, else the first. */
static uint32_t find_register(const struct debugged *d, const char *name, size_t len)
{
    uint32_t found = UINT32_MAX;
    uint64_t lanes[32];
    for (uint32_t i = 0; i < sim_step_regs(d->step); i++) {
        const char *is = sim_step_reg(d->step, i).name;
        if (strlen(is) != len || strncmp(is, name, len) != 0)
            continue;
        if (sim_step_register(d->step, d->warp, i, lanes, NULL))
            return i;
        found = found == UINT32_MAX ? i : found;
    }
    return found;
}

static enum status register_value(struct debugged *d, const char *name, struct debug_value *out,
                                  struct err *err)
{
    const size_t len = strcspn(name, "[");
    const uint32_t reg = find_register(d, name, len);
    char *clean = sanitize_line(name);
    int lane = d->lane;
    enum status st = ST_OK;
    if (name[len] && !read_lane(name + len, &lane))
        st = err_set(err, ST_USAGE, "%s: a lane is 0 to 31, as in %.*s[5]", clean, (int)len, name);
    else if (reg == UINT32_MAX)
        st = err_set(err, ST_USAGE,
                     "the PTX has no register %s; info registers lists those that hold a value",
                     clean);
    if (st == ST_OK) {
        const struct sim_reg r = sim_step_reg(d->step, reg);
        *out = (struct debug_value){.at = {.space = SIM_NOWHERE,
                                           .warp = d->warp,
                                           .lane = lane,
                                           .reg = reg,
                                           .bytes = r.bits > 32 ? (uint32_t)r.bits / 8 : 4},
                                    .name = xstrdup(clean),
                                    .kind = r.kind,
                                    .all_lanes = !name[len]};
    }
    free(clean);
    return st;
}

uint32_t debug_kind_bytes(const char *kind)
{
    static const struct {
        const char *kind;
        uint32_t bytes;
    } kinds[] = {{"f32", 4}, {"f16", 2}, {"bf16", 2},  {"f64", 8},    {"s32", 4}, {"u32", 4},
                 {"s16", 2}, {"u16", 2}, {"s64", 8},   {"u64", 8},    {"x32", 4}, {"u8", 1},
                 {"x64", 8}, {"x16", 2}, {"f16x2", 4}, {"bf16x2", 4}, {"pred", 4}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, kind))
            return kinds[i].bytes;
    return 0;
}

static const char *dtype_kind(enum dtype t)
{
    return t == DTYPE_F32 ? "f32" : t == DTYPE_BF16 ? "bf16" : "f16";
}

static const char *buffer_kind(const struct plan_smem *b)
{
    if (b && b->type && debug_kind_bytes(b->type))
        return b->type;
    const int64_t bytes = b ? b->element_bytes : INT_UNKNOWN;
    return bytes == 2 ? "x16" : bytes == 8 ? "x64" : "x32";
}

static const char *global_kind(const struct debugged *d, const char *name)
{
    const bool tensor = strchr("QKVO", *name) && (!name[1] || strchr("[+ ", name[1]));
    return tensor ? dtype_kind(d->stage.scene.shape->dtype) : "f32";
}

/* The buffer that a name is an element of; NULL: none. */
static const struct plan_smem *buffer_of(const struct debugged *d, const char *name)
{
    const struct plan_pass *p = d->stage.scene.pass;
    const size_t len = strcspn(name, "[");
    for (int i = 0; i < p->nsmem; i++)
        if (strlen(p->smem[i].name) == len && !strncmp(p->smem[i].name, name, len))
            return &p->smem[i];
    return NULL;
}

/* Of a buffer how large it is, else what there is. */
static void no_value(const struct debugged *d, const char *name, struct err *err)
{
    const struct plan_smem *b = buffer_of(d, name);
    char *clean = sanitize_line(name);
    struct str known = {0};
    for (int i = 0; i < d->stage.scene.pass->nsmem; i++)
        str_addf(&known, "%s, ", d->stage.scene.pass->smem[i].name);
    if (b && b->pitch > 0 && b->element_bytes > 0)
        err_set(err, ST_USAGE, "there is no %s: %s has %lld rows of %lld elements, from [0][0] on",
                clean, b->name, (long long)(b->bytes / (b->pitch * b->element_bytes)),
                (long long)b->pitch);
    else if (b)
        err_set(err, ST_USAGE, "there is no %s: %s has %lld bytes", clean, b->name,
                (long long)b->bytes);
    else
        err_set(err, ST_USAGE,
                "there is no %s: a value is %s a register (%%f12, %%f12[5]), or an element of %sQ, "
                "K, V, O (O[0][1][2][3])",
                clean, d->names.n ? "a variable (info variables lists them)," : "",
                str_text(&known));
    str_free(&known);
    free(clean);
}

enum status debug_value(struct debugged *d, const char *name, struct debug_value *out,
                        struct err *err)
{
    const struct plan_smem *buffer;
    uint64_t addr;
    *out = (struct debug_value){.name = NULL};
    if (*name == '%')
        return register_value(d, name, out, err);
    if (debug_named_value(d, name, out, NULL) == ST_OK)
        return ST_OK;
    if (finding_address(&d->stage.scene, name, &addr, &buffer)) {
        out->at = (struct sim_value){.space = SIM_SHARED, .addr = addr};
        out->kind = buffer_kind(buffer);
    } else if (finding_global(&d->stage.scene, name, &addr)) {
        out->at = (struct sim_value){.space = SIM_GLOBAL, .addr = addr};
        out->kind = global_kind(d, name);
    } else {
        if (debug_named_value(d, name, out, err) != ST_NO)
            no_value(d, name, err);
        return ST_USAGE;
    }
    out->at.bytes = debug_kind_bytes(out->kind);
    out->name = sanitize_line(name);
    return ST_OK;
}

/* ---- breaks and watches ---- */

static bool compare(const char *op, double a, double b)
{
    const bool equal = a <= b && a >= b;
    if (!strcmp(op, "=="))
        return equal;
    if (!strcmp(op, "!="))
        return !equal;
    return op[0] == '<' ? a < b || (op[1] && equal) : a > b || (op[1] && equal);
}

/* The condition of a break, for the warp that has come: of a register any lane that runs will do, where none is
 * named. */
static bool condition(void *ctx, const struct sim_step *s, int warp)
{
    const struct debug_mark *m = ctx;
    struct sim_value v = m->value;
    uint32_t lanes = 1u << v.lane;
    if (v.space == SIM_NOWHERE) {
        v.warp = warp;
        lanes =
            *m->ask.name == '%' && strchr(m->ask.name, '[') ? lanes : sim_step_warp(s, warp).active;
    }
    for (uint32_t left = v.space == SIM_NOWHERE ? lanes : 1; left; left &= left - 1) {
        uint8_t data[32] = {0};
        v.lane = __builtin_ctz(left);
        if (sim_step_value(s, &v, data) &&
            compare(m->ask.op, debug_real(m->kind, v.bytes, data), m->ask.value))
            return true;
    }
    return false;
}

static enum status arm_place(struct debugged *d, struct debug_mark *m, struct sim_mark *k,
                             struct err *err)
{
    struct places at;
    enum status st = find_place(d, m->ask.place, &at, err);
    if (st != ST_OK)
        return st;
    if (m->ask.name && m->ask.op) {
        struct debug_value v;
        st = debug_value(d, m->ask.name, &v, err);
        m->value = v.at;
        m->kind = v.kind;
        if (st == ST_OK && v.many)
            st = err_set(err, ST_USAGE, "%s has several elements: %s[0] is one", m->ask.name,
                         m->ask.name);
        debug_value_clear(&v);
        k->when = condition;
        k->ctx = m;
    }
    k->kind = SIM_MARK_PLACE;
    k->insn = at.first;
    k->within = at.all;
    if (st == ST_OK)
        m->engine = sim_step_mark(d->step, k);
    places_clear(&at);
    return st;
}

static enum status arm_value(struct debugged *d, struct debug_mark *m, struct sim_mark *k,
                             struct err *err)
{
    struct debug_value v;
    const enum status st = debug_value(d, m->ask.name, &v, err);
    if (st != ST_OK)
        return st;
    m->value = k->value = v.at;
    m->kind = v.kind;
    if (v.many) {
        debug_value_clear(&v);
        return err_set(err, ST_USAGE, "%s has several elements: %s[0] is one", m->ask.name,
                       m->ask.name);
    }
    if (m->ask.act == DEBUG_ACCESS && v.at.space == SIM_NOWHERE) {
        debug_value_clear(&v);
        return err_set(err, ST_USAGE, "%s is a register: accesses are of memory; watch it",
                       m->ask.name);
    }
    if (m->ask.act == DEBUG_ACCESS && m->ask.count)
        k->value.bytes *= (uint32_t)m->ask.count;
    debug_value_clear(&v);
    k->kind = m->ask.act == DEBUG_WATCH ? SIM_MARK_VALUE : SIM_MARK_ACCESS;
    k->reads = !m->ask.format || strchr(m->ask.format, 'r');
    k->writes = !m->ask.format || strchr(m->ask.format, 'w');
    m->engine = sim_step_mark(d->step, k);
    return ST_OK;
}

static enum status arm(struct debugged *d, struct debug_mark *m, struct err *err)
{
    struct sim_mark k = {.warp = (int)m->ask.warp,
                         .lanes = m->ask.act == DEBUG_BREAK && m->ask.lane >= 0 && m->ask.count
                                      ? 1u << m->ask.lane
                                      : 0};
    return m->ask.act == DEBUG_BREAK ? arm_place(d, m, &k, err) : arm_value(d, m, &k, err);
}

static char *mark_text(const struct debug_ask *a)
{
    struct str s = {0};
    char value[NUMBER_BUF];
    const bool reads = !a->format || strchr(a->format, 'r'),
               writes = !a->format || strchr(a->format, 'w');
    if (a->act == DEBUG_BREAK) {
        str_addf(&s, "at %s", a->place);
        if (a->warp >= 0)
            str_addf(&s, " warp %lld", (long long)a->warp);
        if (a->count)
            str_addf(&s, " lane %lld", (long long)a->lane);
        if (a->name && a->op)
            str_addf(&s, " if %s %s %s", a->name, a->op, number_fmt(value, a->value, 6));
    } else
        str_addf(&s, "%s %s",
                 a->act == DEBUG_WATCH ? "value"
                 : reads && writes     ? "read or write of"
                 : reads               ? "read of"
                                       : "write of",
                 a->name);
    char *clean = sanitize_line(str_text(&s));
    str_free(&s);
    return clean;
}

static bool knows_op(const char *op)
{
    static const char *const ops[] = {"==", "!=", "<", "<=", ">", ">="};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (!strcmp(ops[i], op))
            return true;
    return false;
}

/* What an ask lacks, though it has the right form. */
static enum status check_mark(const struct debug_ask *a, struct err *err)
{
    if (a->act == DEBUG_BREAK && !a->place)
        return err_set(err, ST_USAGE, "break needs a line");
    if (a->act != DEBUG_BREAK && !a->name)
        return err_set(err, ST_USAGE, "watch needs a value");
    if (a->act == DEBUG_BREAK && a->name && (!a->op || !knows_op(a->op)))
        return err_set(err, ST_USAGE, "a condition compares: ==, !=, <, <=, >, >=");
    if (a->count < 0 || a->count > DEBUG_ANSWER_MAX)
        return err_set(err, ST_USAGE, "so many elements cannot be watched");
    return ST_OK;
}

static enum status add_mark(struct debugged *d, struct debug_ask *a, struct err *err)
{
    enum { MARKS_MAX = 64 };
    if (d->nmarks >= MARKS_MAX)
        return err_set(err, ST_USAGE, "there are %d breaks and watches already", MARKS_MAX);
    enum status st = check_mark(a, err);
    if (st != ST_OK)
        return st;
    struct debug_mark *m = xcalloc(1, sizeof *m);
    xgrow((void **)&d->marks, &d->marks_cap, d->nmarks + 1, sizeof(struct debug_mark *));
    d->marks[d->nmarks++] = m;
    *m = (struct debug_mark){.number = d->last_mark + 1, .of = d, .ask = *a};
    *a = DEBUG_NONE; /* its texts are the mark's */
    if (m->ask.act == DEBUG_BREAK)
        settle_place(d, &m->ask.place);
    m->text = mark_text(&m->ask);
    st = arm(d, m, err);
    if (st == ST_OK)
        d->last_mark++;
    else
        drop_mark(d, d->nmarks - 1);
    return st;
}

static enum status delete_mark(struct debugged *d, int64_t number, struct err *err)
{
    size_t left = d->nmarks;
    for (size_t i = d->nmarks; i-- > 0;)
        if (!number || d->marks[i]->number == number) {
            (void)sim_step_unmark(d->step, d->marks[i]->engine);
            drop_mark(d, i);
        }
    return d->nmarks < left || !number
               ? ST_OK
               : err_set(err, ST_USAGE, "there is no break number %lld; info breaks lists them",
                         (long long)number);
}

/* ---- values that are always shown ---- */

static enum status add_display(struct debugged *d, const char *name, struct err *err)
{
    struct debug_value v;
    if (!name)
        return err_set(err, ST_USAGE, "which value?");
    if (d->ndisplays == DISPLAYS)
        return err_set(err, ST_USAGE, "%d values are shown already", DISPLAYS);
    const enum status st = debug_value(d, name, &v, err);
    if (st != ST_OK)
        return st;
    debug_value_clear(&v);
    d->display[d->ndisplays++] = (struct debug_display){++d->last_display, xstrdup(name)};
    return ST_OK;
}

static enum status drop_displays(struct debugged *d, int64_t number, struct err *err)
{
    const size_t before = d->ndisplays;
    for (size_t i = d->ndisplays; i-- > 0;)
        if (!number || d->display[i].number == number) {
            free(d->display[i].name);
            memmove(&d->display[i], &d->display[i + 1],
                    (d->ndisplays - i - 1) * sizeof *d->display);
            d->ndisplays--;
        }
    return d->ndisplays < before || !number
               ? ST_OK
               : err_set(err, ST_USAGE, "no value number %lld is shown", (long long)number);
}

/* One value, or those of all elements. */
static json_t *shown_value(json_t *found, bool many)
{
    json_t *list = many ? json_array() : NULL;
    const json_t *o;
    size_t i;
    if (!many)
        return json_incref(json_object_get(json_array_get(found, 0), "value"));
    json_array_foreach(found, i, o)
    {
        if (i < SHOWN_MOST)
            json_array_append(list, json_object_get(o, "value"));
    }
    return list;
}

/* As print has it; of a register the lane of the focus, where none is named. */
static json_t *displays_json(struct debugged *d)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < d->ndisplays; i++) {
        struct debug_value v = {.many = false};
        json_t *o = json_object(), *found = NULL;
        json_object_set_new(o, "number", json_integer(d->display[i].number));
        char *clean = sanitize_line(d->display[i].name);
        json_object_set_new(o, "name", json_string(clean));
        free(clean);
        if (debug_value(d, d->display[i].name, &v, NULL) == ST_OK) {
            v.all_lanes = false;
            found = debug_print_json(d, &v);
            debug_value_clear(&v);
        }
        json_t *value = shown_value(found, v.many);
        json_object_set_new(o, "value", value ? value : json_null());
        json_decref(found);
        json_array_append_new(rows, o);
    }
    return rows;
}

/* ---- going on ---- */

static bool told_to_stop(void *ctx)
{
    const struct debugged *d = ctx;
    return atomic_load(&d->board->stop);
}

static enum status check_warp(const struct debugged *d, int64_t warp, struct err *err)
{
    const int n = sim_step_warps(d->step);
    if (warp < n)
        return ST_OK;
    return err_set(err, ST_USAGE, "there is no warp %lld: the block has %d", (long long)warp, n);
}

static void note_hit(struct debugged *d)
{
    for (size_t i = 0; i < d->nmarks; i++)
        d->marks[i]->hits += d->stop.mark && d->marks[i]->engine == d->stop.mark;
}

/* The focus goes where it stopped: to the warp, but for the way back, and a lane of it that runs. */
static void follow(struct debugged *d, bool to_warp)
{
    if (d->stop.warp >= 0 && to_warp)
        d->warp = d->stop.warp;
    const uint32_t active = sim_step_warp(d->step, d->warp).active;
    if (active && !(active >> d->lane & 1))
        d->lane = __builtin_ctz(active);
    d->moved = true;
    note_hit(d);
}

static enum status go(struct debugged *d, struct debug_ask *a, struct err *err)
{
    const struct sim_patience patience = {told_to_stop, d};
    struct places at = {NULL, NULL};
    struct sim_want want = {
        .goal = (enum sim_goal)a->goal, .warp = (int)a->warp, .times = (uint64_t)a->times};
    enum status st = check_warp(d, a->warp, err);
    if (st == ST_OK && want.goal == SIM_GOAL_PLACE)
        settle_place(d, &a->place);
    if (st == ST_OK && want.goal == SIM_GOAL_PLACE)
        st = a->place ? find_place(d, a->place, &at, err)
                      : err_set(err, ST_USAGE, "until needs a line");
    if (st != ST_OK)
        return st;
    want.insn = at.first;
    want.line = want.goal == SIM_GOAL_LINE   ? d->lines[0]
                : want.goal == SIM_GOAL_NEXT ? d->lines[1]
                                             : NULL;
    sim_step_run(d->step, &want, &patience, &d->stop);
    places_clear(&at);
    follow(d, true);
    return ST_OK;
}

static enum status back_to(struct debugged *d, const struct debug_ask *a, struct err *err)
{
    const enum status st = sim_step_to(d->step, (uint64_t)a->step, &d->stop, err);
    d->told = 0;
    if (st == ST_OK)
        follow(d, false);
    return st;
}

static enum status set_order(struct debugged *d, const struct debug_ask *a)
{
    d->begin.order = a->order;
    d->begin.seed = a->seed;
    sim_step_order(d->step, (enum sim_order)a->order, (uint64_t)a->seed);
    return ST_OK;
}

static enum status set_focus(struct debugged *d, const struct debug_ask *a, struct err *err)
{
    const enum status st = check_warp(d, a->warp, err);
    if (st == ST_OK && a->warp >= 0)
        d->warp = (int)a->warp;
    if (st == ST_OK)
        d->lane = (int)a->lane;
    return st;
}

/* ---- asks ---- */

/* As what a value is shown, asked for as a number with a point: what it is, or of its width. */
static const char *float_kind(const char *kind)
{
    const uint32_t bytes = debug_kind_bytes(kind);
    return strchr(kind, 'f') ? kind : bytes == 2 ? "f16" : bytes == 8 ? "f64" : "f32";
}

static enum status list_value(struct debugged *d, const struct debug_ask *a, json_t **found,
                              struct err *err)
{
    struct debug_value v;
    if (!a->name)
        return err_set(err, ST_USAGE, "which value?");
    const bool floats = a->format && !strcmp(a->format, DEBUG_FLOATS);
    if (a->format && !floats && !debug_kind_bytes(a->format))
        return err_set(
            err, ST_USAGE,
            "%.10s is no format: f32 f16 bf16 f64 s32 u32 x32 s16 u16 x16 u8 s64 u64 x64",
            a->format);
    const enum status st = debug_value(d, a->name, &v, err);
    if (st != ST_OK)
        return st;
    if (a->format) {
        v.kind = floats ? float_kind(v.kind) : a->format;
        v.at.bytes = v.at.space == SIM_NOWHERE ? v.at.bytes : debug_kind_bytes(v.kind);
    }
    if (a->act == DEBUG_HISTORY) {
        *found = debug_history_json(d, &v);
        debug_value_clear(&v);
        return ST_OK;
    }
    *found = a->act == DEBUG_MEMORY && v.at.space != SIM_NOWHERE
                 ? debug_memory_json(d, &v, a->count ? a->count : 1)
                 : debug_print_json(d, &v);
    debug_value_clear(&v);
    return ST_OK;
}

static enum status act(struct debugged *d, struct debug_ask *a, json_t **found, struct err *err)
{
    enum status st;
    d->moved = false;
    if (a->act == DEBUG_BEGIN)
        return begin(d, a, err);
    if (!d->step)
        return err_set(err, ST_USAGE, "no block is held");
    switch ((enum debug_act)a->act) {
    case DEBUG_GO:
        return go(d, a, err);
    case DEBUG_TO:
        return back_to(d, a, err);
    case DEBUG_BREAK:
    case DEBUG_WATCH:
    case DEBUG_ACCESS:
        st = add_mark(d, a, err);
        *found = st == ST_OK ? debug_breaks_json(d, d->last_mark) : NULL;
        return st;
    case DEBUG_DELETE:
        st = delete_mark(d, a->count, err);
        *found = st == ST_OK ? debug_breaks_json(d, 0) : NULL;
        return st;
    case DEBUG_ORDER:
        return set_order(d, a);
    case DEBUG_LOOK:
        return set_focus(d, a, err);
    case DEBUG_PRINT:
    case DEBUG_HISTORY:
    case DEBUG_MEMORY:
        return list_value(d, a, found, err);
    case DEBUG_REGISTERS:
        *found = debug_registers_json(d, a->name);
        return ST_OK;
    case DEBUG_SHARED:
        *found = debug_shared_json(d);
        return ST_OK;
    case DEBUG_COPIES:
        *found = debug_copies_json(d);
        return ST_OK;
    case DEBUG_HAZARDS:
        *found = debug_hazards_json(d);
        return ST_OK;
    case DEBUG_DISPLAY:
        return add_display(d, a->name, err);
    case DEBUG_UNDISPLAY:
        return drop_displays(d, a->count, err);
    case DEBUG_TRAIL:
        d->window = a->count ? a->count : TRAIL_STEPS;
        return ST_OK;
    case DEBUG_KEPT:
        *found = debug_kept_json(d);
        return ST_OK;
    case DEBUG_BREAKS:
        *found = debug_breaks_json(d, 0);
        return ST_OK;
    default:
        return err_set(err, ST_USAGE, "nobody knows how to do that");
    }
}

void sim_debug_open(struct debugged *d, const struct sim_job *job, struct cage_board *board)
{
    *d = (struct debugged){.job = job, .board = board, .window = TRAIL_STEPS};
}

json_t *sim_debug_answer(struct debugged *d, const json_t *ask)
{
    struct err err = ERR_INIT;
    struct debug_ask a = DEBUG_NONE;
    json_t *found = NULL;
    enum status st = json_is_object(ask) ? record_read(debug_fields, &a, ask, "debug", &err)
                                         : err_set(&err, ST_USAGE, "debug: no object");
    if (st == ST_OK)
        st = act(d, &a, &found, &err);
    json_t *o = d->step ? debug_stop_json(d) : json_object();
    if (d->step)
        json_object_set_new(o, "displays", displays_json(d));
    json_object_set_new(o, "status", json_integer((int)st));
    json_object_set_new(o, "error", st == ST_OK ? json_null() : json_string(err.text));
    json_object_set_new(o, "found", found ? found : json_null());
    debug_clear(&a);
    return o;
}

void sim_debug_close(struct debugged *d)
{
    while (d->nmarks)
        drop_mark(d, d->nmarks - 1);
    free(d->marks);
    (void)drop_displays(d, 0, NULL);
    drop_block(d);
    omitted_clear(&d->omitted);
}
