/* finding.c - see finding.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/sim/finding.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/sim/sum.h"
#include "base/json_text.h"
#include "base/mem.h"
#include "base/sanitize.h"
#include "base/number.h"
#include "plan/mbarriers.h"
#include "plan/place.h"
#include "sim/hazard.h"

/* ---- parties ---- */

static json_t *block_json(const struct finding_scene *s, uint64_t block)
{
    const uint64_t x = s->launch->grid[0], y = s->launch->grid[1];
    return json_pack("[I, I, I]", (json_int_t)(block % x), (json_int_t)(block / x % y),
                     (json_int_t)(block / x / y));
}

static json_t *party_json(const struct finding_scene *s, uint64_t block, int warp, int lane,
                          size_t insn, const char *act)
{
    json_t *o = json_pack("{s:o, s:i}", "block", block_json(s, block), "warp", warp);
    json_object_set_new(o, "lane", lane >= 0 ? json_integer(lane) : json_null());
    if (act)
        json_object_set_new(o, "act", json_string(act));
    if (insn >= sim_program_facts(s->program).insns)
        return o;
    place_to_json(s->program, insn, o);
    json_object_set_new(o, "instruction", json_string(sim_program_insn(s->program, insn).name));
    return o;
}

/* "lane 3 of warp 1 in block (0,0,0), writing, at fa2.cu:70"; the block is left out where it was said. */
static void add_party(const json_t *party, bool block_too, struct str *out)
{
    const json_t *block = json_object_get(party, "block");
    const char *act = json_text_of(party, "act");
    const double lane = json_number_of(party, "lane");
    if (lane >= 0)
        str_addf(out, "lane %.0f of warp %.0f", lane, json_number_of(party, "warp"));
    else
        str_addf(out, "warp %.0f", json_number_of(party, "warp"));
    if (block_too)
        str_addf(out, " in block (%lld,%lld,%lld)",
                 (long long)json_integer_value(json_array_get(block, 0)),
                 (long long)json_integer_value(json_array_get(block, 1)),
                 (long long)json_integer_value(json_array_get(block, 2)));
    if (act)
        str_addf(out, ", %s,", act);
    str_add(out, " at ");
    place_add(party, out);
}

/* ---- addresses ---- */

/* Where dynamic shared memory really begins: behind the static one, as the program has it. */
static int64_t dynamic_base(const struct sim_program *p)
{
    const struct sim_facts f = sim_program_facts(p);
    const uint32_t align = f.shared_align ? f.shared_align : 1;
    return (f.static_shared + align - 1) / align * align;
}

/* Is it the variable of that name? Compilers write `_ZZ3fa2E2Ks` for one of a kernel, and add `_0` and the like. */
static bool is_variable(const char *symbol, const char *name)
{
    char *tail = xasprintf("%zu%s", strlen(name), name);
    const char *at = strcmp(symbol, name) == 0 ? symbol + strlen(symbol) : NULL;
    for (const char *p = symbol; !at && (p = strstr(p, tail)); p++) {
        const char *rest = p + strlen(tail);
        if (p > symbol && (p[-1] < '0' || p[-1] > '9') && (!*rest || *rest == '_'))
            at = rest + (*rest ? 1 + strspn(rest + 1, "0123456789") : 0);
    }
    free(tail);
    return at && !*at;
}

/* An mbarrier is called what the source calls it. */
static struct plan_spot with_mbarriers(const struct finding_scene *s, struct plan_spot spot)
{
    struct mbarriers m;
    if (!s->plan || !spot.buffer || spot.other)
        return spot;
    mbarriers_read(s->plan, &m);
    const char *name = mbarriers_find(&m, spot.buffer->offset + spot.offset);
    if (name)
        snprintf(spot.text, sizeof spot.text, "%s", name);
    return spot;
}

struct plan_spot finding_spot(const struct finding_scene *s, uint64_t addr)
{
    uint64_t offset;
    const char *symbol = sim_program_shared(s->program, addr, &offset);
    if (!symbol)
        return with_mbarriers(s, plan_place(s->pass, dynamic_base(s->program), (int64_t)addr));
    for (int i = 0; i < s->pass->nsmem; i++) {
        const struct plan_smem *b = &s->pass->smem[i];
        if (b->is_static && is_variable(symbol, b->name))
            return plan_place_in(s->pass, b->name, (int64_t)offset);
    }
    return plan_place_in(s->pass, "", (int64_t)addr); /* one that the descriptor does not have */
}

static uint64_t shared_end(const struct finding_scene *s)
{
    return (uint64_t)dynamic_base(s->program) + s->launch->dynamic_shared;
}

/* Where a buffer begins; UINT64_MAX: it is not in the program. */
static uint64_t buffer_address(const struct finding_scene *s, const struct plan_smem *b)
{
    if (!b->is_static)
        return (uint64_t)(b->offset - s->pass->dynamic_base + dynamic_base(s->program));
    uint64_t offset;
    const uint64_t end = sim_program_facts(s->program).static_shared;
    for (uint64_t at = 0; at < end; at++) {
        const char *symbol = sim_program_shared(s->program, at, &offset);
        if (symbol && !offset && is_variable(symbol, b->name))
            return at;
    }
    return UINT64_MAX;
}

/* Is it the same text, blanks aside? */
static bool same_text(const char *a, const char *b)
{
    while (*a || *b) {
        a += strspn(a, " ");
        b += strspn(b, " ");
        if (*a != *b)
            return false;
        a += *a != 0;
        b += *b != 0;
    }
    return true;
}

/* The number behind a "+", at the end of the text; false: there is none. */
static bool read_offset(const char *text, uint64_t *offset)
{
    char *end;
    text += strspn(text, " ");
    if (*text++ != '+')
        return false;
    text += strspn(text, " ");
    if (*text < '0' || *text > '9')
        return false;
    *offset = strtoull(text, &end, 0);
    return !end[strspn(end, " ")];
}

/* Which byte of the buffer is called so: its bytes are asked for their names, so that what a swizzle does to them is
 * said in one place. */
static bool offset_called(const struct finding_scene *s, const struct plan_smem *b,
                          const char *element, uint64_t *offset)
{
    const int64_t step = b->element_bytes == INT_UNKNOWN ? 1 : b->element_bytes;
    const char *rest = element + strlen(b->name);
    *offset = 0;
    if (!rest[strspn(rest, " ")] || (read_offset(rest, offset) && *offset < (uint64_t)b->bytes))
        return true;
    for (int64_t at = 0; at < b->bytes && *rest == '['; at += step)
        if (same_text(plan_place_in(s->pass, b->name, at).text, element)) {
            *offset = (uint64_t)at;
            return true;
        }
    return false;
}

bool finding_address(const struct finding_scene *s, const char *element, uint64_t *addr,
                     const struct plan_smem **buffer)
{
    const size_t len = strcspn(element, "[+ ");
    *buffer = NULL;
    if (!len || (len == 6 && !strncmp(element, "shared", 6)))
        return read_offset(element + len, addr) && *addr < shared_end(s);
    for (int i = 0; i < s->pass->nsmem; i++) {
        const struct plan_smem *b = &s->pass->smem[i];
        uint64_t offset;
        if (strlen(b->name) != len || strncmp(b->name, element, len) != 0 ||
            b->bytes == INT_UNKNOWN || !offset_called(s, b, element, &offset))
            continue;
        const uint64_t from = buffer_address(s, b);
        *addr = from + offset;
        *buffer = b;
        return from != UINT64_MAX;
    }
    return false;
}

/* "Ks[5][12]", and the buffer that it is of. */
static void name_shared(const struct finding_scene *s, uint64_t addr, json_t *o)
{
    const struct plan_spot spot = finding_spot(s, addr);
    json_object_set_new(o, "name", spot.buffer ? json_string(spot.buffer->name) : json_null());
    json_object_set_new(o, "offset", json_integer(spot.offset));
    json_object_set_new(o, "element", spot.buffer ? json_string(spot.text) : json_null());
}

/* Of a tensor in global memory: batches, heads, rows; of K and V in a pool pages, heads, keys of a page. */
struct sides {
    int64_t batches, heads, rows;
};

static struct sides sides_of(const struct finding_scene *s, char tensor)
{
    const struct shape *p = s->shape;
    uint64_t at, bytes;
    if (tensor == 'Q' || tensor == 'O')
        return (struct sides){p->B, p->H, p->Sq};
    if (p->page && sim_memory_find(s->memory, FINDING_TABLE, &at, &bytes))
        return (struct sides){shape_pool(p).total, p->Hkv, p->page};
    return (struct sides){p->B, p->Hkv, p->Sk};
}

/* "K[0][1][12][5]": batch or page, head, row, column of an input or output; else bytes from the start. The caller frees
 * it. */
static char *element_text(const struct finding_scene *s, const char *name, int64_t offset)
{
    const struct shape *p = s->shape;
    const struct sides is = sides_of(s, *name);
    const int64_t heads = is.heads, rows = is.rows;
    const int64_t at = offset / (int64_t)dtype_size(p->dtype);
    const bool is_tensor = strlen(name) == 1 && strchr("QKVO", *name);
    if (!is_tensor || offset < 0 || at >= is.batches * heads * rows * p->D)
        return xasprintf("%s %c %lld", name, offset < 0 ? '-' : '+', llabs((long long)offset));
    const bool heads_first = p->layout == LAYOUT_BHSD;
    const int64_t line = at / p->D, inner = heads_first ? rows : heads;
    const int64_t a = line / inner % (heads_first ? heads : rows), b = line % inner;
    return xasprintf("%s[%lld][%lld][%lld][%lld]", name, (long long)(line / (heads * rows)),
                     (long long)(heads_first ? a : b), (long long)(heads_first ? b : a),
                     (long long)(at % p->D));
}

/* "[0][1][12][5]", all of it. */
static bool read_indices(const char *text, int64_t out[4])
{
    for (int i = 0; i < 4; i++) {
        char *end;
        if (*text != '[' || text[1] < '0' || text[1] > '9')
            return false;
        out[i] = strtoll(text + 1, &end, 10);
        if (*end != ']')
            return false;
        text = end + 1;
    }
    return !text[strspn(text, " ")];
}

bool finding_global(const struct finding_scene *s, const char *element, uint64_t *addr)
{
    const struct shape *p = s->shape;
    const size_t len = strcspn(element, "[+ ");
    char name[64];
    uint64_t bytes, offset = 0;
    int64_t i[4];
    if (!len || len >= sizeof name)
        return false;
    memcpy(name, element, len);
    name[len] = 0;
    if (!sim_memory_find(s->memory, name, addr, &bytes))
        return false;
    const char *rest = element + len;
    if (!rest[strspn(rest, " ")])
        return true;
    if (!read_offset(rest, &offset)) {
        const struct sides is = sides_of(s, *name);
        const int64_t heads = is.heads, rows = is.rows;
        if (len != 1 || !read_indices(rest, i) || i[0] >= is.batches || i[1] >= heads ||
            i[2] >= rows || i[3] >= p->D)
            return false;
        const int64_t line = p->layout == LAYOUT_BHSD ? (i[0] * heads + i[1]) * rows + i[2]
                                                      : (i[0] * rows + i[2]) * heads + i[1];
        offset = (uint64_t)(line * p->D + i[3]) * dtype_size(p->dtype);
    }
    *addr += offset;
    return offset < bytes;
}

static void name_global(const struct finding_scene *s, uint64_t addr, json_t *o)
{
    int64_t offset = 0;
    uint64_t bytes;
    const char *name = sim_memory_name(s->memory, addr, &offset, &bytes);
    json_object_set_new(o, "name", name ? json_string(name) : json_null());
    json_object_set_new(o, "offset", name ? json_integer(offset) : json_null());
    if (!name)
        return;
    char *element = element_text(s, name, offset);
    json_object_set_new(o, "element", json_string(element));
    free(element);
}

void finding_name_address(const struct finding_scene *s, enum sim_space space, uint64_t addr,
                          json_t *o)
{
    json_object_set_new(o, "space", json_string(sim_space_name(space)));
    if (space == SIM_SHARED)
        name_shared(s, addr, o);
    else if (space == SIM_GLOBAL)
        name_global(s, addr, o);
    else if (space != SIM_NOWHERE)
        json_object_set_new(o, "offset", json_integer((json_int_t)addr));
}

/* ---- findings ---- */

static json_t *begin(const struct finding_scene *s, const char *kind, const char *what,
                     uint64_t count)
{
    json_t *o =
        json_pack("{s:s, s:s, s:I}", "kind", kind, "what", what, "count", (json_int_t)count);
    json_object_set_new(o, "pass", json_string(s->pass->name));
    return o;
}

static void say(json_t *o, struct str *sentence)
{
    char *clean = sanitize_line(str_text(sentence));
    json_object_set_new(o, "sentence", json_string(clean));
    free(clean);
    str_free(sentence);
}

static json_t *fault_json(const struct finding_scene *s, const struct sim_fault *f)
{
    json_t *o = begin(s, sim_fault_name(f->kind), sim_fault_what(f->kind), f->count);
    struct str text = {0};
    char *sentence = sim_fault_sentence(s->program, s->memory, s->launch, f);
    str_add(&text, sentence);
    free(sentence);
    finding_name_address(s, f->space, f->addr, o);
    json_object_set_new(o, "bytes", json_integer((json_int_t)f->bytes));
    json_object_set_new(o, "first", party_json(s, f->block, f->warp, f->lane, f->insn, NULL));
    json_object_set_new(o, "second", json_null());
    say(o, &text);
    return o;
}

static const char *verb_of(enum hazard_act a)
{
    static const char *const verbs[HAZARD_ACTS] = {
        [HAZARD_READ] = "reading",        [HAZARD_WRITE] = "writing",
        [HAZARD_STRONG_READ] = "reading", [HAZARD_STRONG_WRITE] = "writing",
        [HAZARD_ATOMIC] = "in an atomic", [HAZARD_COPY] = "by an asynchronous copy",
    };
    return (unsigned)a < HAZARD_ACTS ? verbs[a] : "";
}

static json_t *hazard_party_json(const struct finding_scene *s, const struct hazard_party *p)
{
    return party_json(s, p->block, p->warp, p->lane, p->insn, verb_of(p->act));
}

static json_t *hazard_json(const struct finding_scene *s, const struct hazard_report *h)
{
    json_t *o = begin(s, hazard_kind_name(h->kind), hazard_kind_what(h->kind), h->count);
    json_t *a = h->kind == HAZARD_SOURCE
                    ? party_json(s, h->a.block, h->a.warp, h->a.lane, h->a.insn, "sending them")
                    : hazard_party_json(s, &h->a);
    json_t *b = hazard_party_json(s, &h->b);
    struct str text = {0};
    finding_name_address(s, h->shared ? SIM_SHARED : SIM_GLOBAL, h->addr, o);
    str_addf(&text, "%s: ", hazard_kind_what(h->kind));
    const char *element = json_text_of(o, "element");
    if (element)
        str_addf(&text, "%s: ", element);
    const bool two = !json_equal(json_object_get(a, "block"), json_object_get(b, "block"));
    add_party(a, true, &text);
    str_add(&text, ", and ");
    add_party(b, two, &text);
    const char *hint = hazard_hint(h->kind, sim_program_facts(s->program).groups_left);
    if (hint)
        str_addf(&text, "; %s", hint);
    json_object_set_new(o, "bytes", json_integer((json_int_t)h->bytes));
    json_object_set_new(o, "same_value", json_boolean(h->same_value));
    json_object_set_new(o, "first", a);
    json_object_set_new(o, "second", b);
    say(o, &text);
    return o;
}

/* Are they of the same lines? What a compiler unrolled is many instructions and one thing to mend. */
static bool same_lines(const json_t *a, const json_t *b)
{
    static const char *const members[] = {"file", "line", "at_file", "at_line", "function", "act"};
    const json_t *line = json_object_get(a, "ptx_line"), *other = json_object_get(b, "ptx_line");
    if (!json_object_get(a, "file") && line != other && !json_equal(line, other))
        return false;
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *x = json_object_get(a, members[i]), *y = json_object_get(b, members[i]);
        if (x != y && !json_equal(x, y))
            return false;
    }
    return true;
}

static bool same_finding(const json_t *a, const json_t *b)
{
    static const char *const members[] = {"kind", "pass", "space", "name", "same_value"};
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const json_t *x = json_object_get(a, members[i]), *y = json_object_get(b, members[i]);
        if (x != y && !json_equal(x, y))
            return false;
    }
    return same_lines(json_object_get(a, "first"), json_object_get(b, "first")) &&
           same_lines(json_object_get(a, "second"), json_object_get(b, "second"));
}

/* Takes over `o`: counted with the first of its kind and lines, or a finding of its own. */
static void add_finding(json_t *list, json_t *o)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *known = json_array_get(list, i), *count = json_object_get(known, "count");
        if (!same_finding(known, o))
            continue;
        json_integer_set(count, json_integer_value(count) +
                                    json_integer_value(json_object_get(o, "count")));
        json_decref(o);
        return;
    }
    json_array_append_new(list, o);
}

/* Causes before what comes of them: a barrier that is missing between warps is missing between the lanes of one,
 * too, and leaves bytes that nobody wrote. */
void findings_list(const struct finding_scene *s, const struct sim_result *r, json_t *list)
{
    static const enum hazard_kind order[HAZARD_KIND_COUNT] = {
        HAZARD_WAIT,  HAZARD_OPERAND, HAZARD_SOURCE, HAZARD_PROXY,
        HAZARD_BLOCK, HAZARD_GRID,    HAZARD_WARP,   HAZARD_LANES};
    for (size_t i = 0; i < r->faults; i++)
        if (r->fault[i].kind != SIM_FAULT_UNWRITTEN)
            add_finding(list, fault_json(s, &r->fault[i]));
    for (int k = 0; k < HAZARD_KIND_COUNT; k++)
        for (size_t i = 0; i < r->hazards; i++)
            if (r->hazard[i].kind == order[k])
                add_finding(list, hazard_json(s, &r->hazard[i]));
    for (size_t i = 0; i < r->faults; i++)
        if (r->fault[i].kind == SIM_FAULT_UNWRITTEN)
            add_finding(list, fault_json(s, &r->fault[i]));
}
