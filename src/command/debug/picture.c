/* picture.c - see picture.h.
 *
 * What comes here came from a worker: members of another kind are unknown, texts are made harmless.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/debug/picture.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_text.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/sanitize.h"
#include "command/show/simulated.h"
#include "spec/shape.h"

enum { LANES = 32, SHOWN = 8 };
enum { REGISTERS_MOST = 12, REGISTERS_LESS = 8 }; /* of a step; of one that has more than that */

/* ---- members ---- */

static uint32_t mask_of(const json_t *o, const char *name)
{
    const int64_t v = json_int_of(o, name);
    return v == INT_UNKNOWN ? 0 : (uint32_t)v;
}

/* Its text, harmless; "" where there is none. The caller frees it. */
static char *text_of(const json_t *o, const char *name)
{
    const char *text = json_text_of(o, name);
    return sanitize_line(text ? text : "");
}

static void add_text(struct str *out, const json_t *o, const char *name)
{
    char *text = text_of(o, name);
    str_add(out, text);
    free(text);
}

/* ---- small texts ---- */

char *debug_place(const json_t *p)
{
    char *file = text_of(p, "file"), *at = text_of(p, "at_file");
    char *out = !json_is_object(p) ? xstrdup("")
                : !*file ? xasprintf("PTX line %lld", (long long)json_int_of(p, "ptx_line"))
                : *at ? xasprintf("%s:%lld (%s:%lld)", file, (long long)json_int_of(p, "line"), at,
                                  (long long)json_int_of(p, "at_line"))
                      : xasprintf("%s:%lld", file, (long long)json_int_of(p, "line"));
    free(file);
    free(at);
    return out;
}

char *debug_value_text(const json_t *v)
{
    char number[NUMBER_BUF];
    if (json_is_array(v)) {
        struct str s = {0};
        const json_t *e;
        size_t i;
        json_array_foreach(v, i, e)
        {
            char *text = debug_value_text(e);
            str_addf(&s, "%s%s", i ? ", " : "(", text);
            free(text);
        }
        str_addc(&s, ')');
        return str_take(&s);
    }
    if (json_is_string(v))
        return sanitize_line(json_string_value(v));
    if (json_is_integer(v))
        return xasprintf("%lld", (long long)json_integer_value(v));
    return xstrdup(json_is_real(v) ? number_fmt(number, json_real_value(v), 5) : "-");
}

void debug_lanes(uint32_t mask, char text[33])
{
    for (int i = 0; i < LANES; i++)
        text[i] = mask >> i & 1 ? '#' : '.';
    text[LANES] = 0;
}

bool debug_banks(const json_t *access, char text[33])
{
    uint64_t turns[LANES] = {0}; /* of each bank, as bits */
    const char *space = json_text_of(access, "space");
    size_t i, k;
    const json_t *row, *word;
    json_array_foreach(json_object_get(access, "rows"), i, row)
    {
        json_array_foreach(json_object_get(row, "words"), k, word)
        {
            const json_int_t bank = json_integer_value(json_array_get(word, 0)),
                             turn = json_integer_value(json_array_get(word, 1));
            if (bank >= 0 && bank < LANES && turn >= 0 && turn < 64)
                turns[bank] |= (uint64_t)1 << turn;
        }
    }
    for (int b = 0; b < LANES; b++) {
        const int n = __builtin_popcountll(turns[b]);
        text[b] = (char)(n == 0 ? '.' : n > 9 ? '+' : '0' + n);
    }
    text[LANES] = 0;
    return space && !strcmp(space, "shared");
}

/* ---- why ---- */

static char *mark_words(const json_t *stop)
{
    const json_t *m = json_object_get(stop, "mark");
    char *text = text_of(m, "text");
    char *out = xasprintf("%lld (%s)", (long long)json_int_of(m, "number"), text);
    free(text);
    return out;
}

static char *value_words(const json_t *stop)
{
    const json_t *m = json_object_get(stop, "mark");
    char *mark = mark_words(stop), *from = debug_value_text(json_object_get(m, "before")),
         *to = debug_value_text(json_object_get(m, "after"));
    const bool first = json_is_null(json_object_get(m, "before"));
    char *out = first ? xasprintf("%s: it was not written, and is %s", mark, to)
                      : xasprintf("%s: it was %s and is %s", mark, from, to);
    free(mark);
    free(from);
    free(to);
    return out;
}

/* With the problem, which nobody may have typed. */
static char *begin_words(const struct debugger *d)
{
    const json_t *grid = json_object_get(debugger_stop(d), "grid");
    char shape[SHAPE_TEXT];
    shape_format(&debugger_request(d)->problem.shape, shape, sizeof shape);
    return xasprintf("before the first step of %s, whose grid is %lld x %lld x %lld", shape,
                     (long long)json_integer_value(json_array_get(grid, 0)),
                     (long long)json_integer_value(json_array_get(grid, 1)),
                     (long long)json_integer_value(json_array_get(grid, 2)));
}

char *debug_why(const struct debugger *d)
{
    const json_t *stop = debugger_stop(d);
    char *why = text_of(stop, "why"), *mark = mark_words(stop),
         *problem = text_of(json_object_get(stop, "problem"), "sentence"), *out;
    const int warp = debugger_warp(d);
    if (!strcmp(why, "break"))
        out = xasprintf("warp %d has come to break %s", warp, mark);
    else if (!strcmp(why, "value"))
        out = value_words(stop);
    else if (!strcmp(why, "access"))
        out = xasprintf("warp %d made an access: %s", warp, mark);
    else if (!strcmp(why, "hazard") || !strcmp(why, "fault"))
        out = xasprintf("%s: %s", why, *problem ? problem : "see info hazards");
    else if (!strcmp(why, "end"))
        out = xasprintf("the block has ended%s; back, goto N and restart go into it again",
                        json_int_of(stop, "hazards") > 0 || json_int_of(stop, "faults") > 0
                            ? ""
                            : " without a hazard");
    else if (!strcmp(why, "limit"))
        out = xstrdup("no more steps are made of a block than this");
    else if (!strcmp(why, "cancelled"))
        out = xstrdup("stopped");
    else
        out = !strcmp(why, "begin") ? begin_words(d) : xstrdup("");
    free(why);
    free(mark);
    free(problem);
    return out;
}

/* ---- lines ---- */

static void add_block(const json_t *stop, struct str *out)
{
    const json_t *b = json_object_get(stop, "block");
    str_addf(out, "block %lld,%lld,%lld", (long long)json_integer_value(json_array_get(b, 0)),
             (long long)json_integer_value(json_array_get(b, 1)),
             (long long)json_integer_value(json_array_get(b, 2)));
}

void debug_head_text(const struct debugger *d, struct str *out)
{
    const json_t *stop = debugger_stop(d);
    const int64_t step = json_int_of(stop, "step"), last = json_int_of(stop, "last");
    str_addf(out, "%s", debugger_kernel(d)->name);
    const char *without = json_text_of(stop, "without");
    if (without) {
        str_add(out, " without ");
        sanitize(out, without, strlen(without), false);
    }
    str_add(out, ", ");
    add_block(stop, out);
    str_addf(out, ", warp %d of %zu, lane %d, step %lld", debugger_warp(d),
             json_array_size(json_object_get(stop, "warps")), debugger_lane(d), (long long)step);
    if (last > step)
        str_addf(out, " of %lld", (long long)last);
    const int64_t hazards = json_int_of(stop, "hazards"), faults = json_int_of(stop, "faults");
    if (hazards > 0)
        str_addf(out, ", %lld hazard%s", (long long)hazards, hazards == 1 ? "" : "s");
    if (faults > 0)
        str_addf(out, ", %lld fault%s", (long long)faults, faults == 1 ? "" : "s");
}

/* Are all that are there alike? */
static bool uniform(const json_t *lanes)
{
    const json_t *first = NULL, *v;
    size_t i;
    json_array_foreach(lanes, i, v)
    {
        if (json_is_null(v))
            continue;
        if (first && !json_equal(first, v))
            return false;
        first = v;
    }
    return first != NULL;
}

/* The focus' value, then its neighbours'. */
static void add_lanes(const json_t *lanes, int lane, struct str *out)
{
    char *mine = debug_value_text(json_array_get(lanes, (size_t)lane));
    if (uniform(lanes)) {
        const json_t *v = NULL;
        for (size_t i = 0; i < LANES && (!v || json_is_null(v)); i++)
            v = json_array_get(lanes, i);
        char *all = debug_value_text(v);
        str_addf(out, "%s in every lane", all);
        free(all);
    } else {
        const int from = lane / SHOWN * SHOWN;
        str_addf(out, "%s; lanes %d-%d:", mine, from, from + SHOWN - 1);
        for (int i = from; i < from + SHOWN; i++) {
            char *v = debug_value_text(json_array_get(lanes, (size_t)i));
            str_addf(out, " %s", v);
            free(v);
        }
    }
    free(mine);
}

static void add_register(const struct debugger *d, const json_t *r, struct str *out)
{
    char *name = text_of(r, "name"), *kind = text_of(r, "kind"), *type = text_of(r, "type"),
         *source = text_of(r, "source");
    const bool written = json_is_true(json_object_get(r, "written"));
    str_addf(out, "  %c %-6s %-6s ", written ? '=' : ' ', name,
             *source ? source
             : *kind ? kind
                     : type);
    add_lanes(json_object_get(r, written ? "after" : "before"), debugger_lane(d), out);
    str_addc(out, '\n');
    free(name);
    free(kind);
    free(type);
    free(source);
}

void debug_access_text(const json_t *a, struct str *out)
{
    char *element = text_of(a, "element"), *space = text_of(a, "space");
    const bool write = json_is_true(json_object_get(a, "write")),
               reads = json_is_true(json_object_get(a, "read"));
    const bool shared = !strcmp(space, "shared");
    const int lanes = __builtin_popcount(mask_of(a, "mask"));
    const int64_t cost = json_int_of(a, shared ? "wavefronts" : "sectors"),
                  ideal = json_int_of(a, "ideal");
    str_addf(out, "%s %s from %s on: %lld bytes a lane, %d lane%s, %lld %s%s (ideal %lld)",
             write && reads ? "changes"
             : write        ? "writes"
                            : "reads",
             space, *element ? element : "?", (long long)json_int_of(a, "bytes"), lanes,
             lanes == 1 ? "" : "s", (long long)cost, shared ? "wavefront" : "sector",
             cost == 1 ? "" : "s", (long long)ideal);
    free(element);
    free(space);
}

static void add_access(const json_t *a, struct str *out)
{
    char banks[33];
    str_add(out, "  ");
    debug_access_text(a, out);
    str_addc(out, '\n');
    if (debug_banks(a, banks))
        str_addf(out, "  wavefronts of banks 0-31: %s%s\n", banks,
                 json_int_of(a, "wavefronts") > json_int_of(a, "ideal") ? "  above 1: a wait" : "");
}

void debug_did_text(const struct debugger *d, struct str *out)
{
    const json_t *did = json_object_get(debugger_stop(d), "did"), *v;
    size_t i;
    if (!json_is_object(did))
        return;
    char *place = debug_place(did), lanes[33];
    str_add(out, "did ");
    if (json_is_integer(json_object_get(did, "warp")))
        str_addf(out, "warp %lld, ", (long long)json_int_of(did, "warp"));
    str_addf(out, "%s: ", place);
    add_text(out, did, "ptx");
    str_addc(out, '\n');
    const uint32_t mask = mask_of(did, "mask");
    debug_lanes(mask, lanes);
    if (mask != UINT32_MAX && json_is_integer(json_object_get(did, "mask")))
        str_addf(out, "  lanes %s %d of 32\n", lanes, __builtin_popcount(mask));
    json_array_foreach(json_object_get(did, "accesses"), i, v)
    {
        add_access(v, out);
    }
    const json_t *registers = json_object_get(did, "registers");
    const size_t n = json_array_size(registers), shown = n > REGISTERS_MOST ? REGISTERS_LESS : n;
    json_array_foreach(registers, i, v)
    {
        if (i < shown)
            add_register(d, v, out);
    }
    if (shown < n)
        str_addf(out, "  ... and %zu registers more\n", n - shown);
    free(place);
}

static const json_t *focus(const struct debugger *d)
{
    return json_array_get(json_object_get(debugger_stop(d), "warps"), (size_t)debugger_warp(d));
}

void debug_next_text(const struct debugger *d, struct str *out)
{
    const json_t *next = json_object_get(debugger_stop(d), "next"), *w = focus(d);
    const uint32_t active = mask_of(w, "active");
    char *place = debug_place(next), *waits = text_of(w, "waits"), lanes[33];
    if (!json_is_object(next)) {
        str_addf(out, "warp %d has ended\n", debugger_warp(d));
    } else {
        str_addf(out, "%s %s: ",
                 !strcmp(waits, "runs")      ? "next"
                 : !strcmp(waits, "barrier") ? "waits at its barrier,"
                                             : "asks an mbarrier,",
                 place);
        add_text(out, next, "ptx");
        str_addc(out, '\n');
        debug_lanes(active, lanes);
        if (active != UINT32_MAX)
            str_addf(out, "  lanes %s %d of 32 run\n", lanes, __builtin_popcount(active));
    }
    free(place);
    free(waits);
}

void debug_warps_text(const struct debugger *d, struct str *out)
{
    const json_t *w;
    size_t i;
    json_array_foreach(json_object_get(debugger_stop(d), "warps"), i, w)
    {
        char *place = debug_place(w), *waits = text_of(w, "waits");
        const int lanes = __builtin_popcount(mask_of(w, "active"));
        const int64_t copies = json_int_of(w, "copies"), products = json_int_of(w, "products");
        str_addf(out, "%c warp %-2zu ", (int)i == debugger_warp(d) ? '>' : ' ', i);
        if (!strcmp(waits, "ended"))
            str_addf(out, "ended after %lld steps\n", (long long)json_int_of(w, "steps"));
        else {
            str_addf(out, "%s ", place);
            if (!strcmp(waits, "barrier"))
                str_addf(out, "waits at barrier %lld, ", (long long)json_int_of(w, "barrier"));
            else if (!strcmp(waits, "mbarrier")) {
                const char *asks = json_text_of(w, "asks");
                str_addf(out, "asks %s for the end of its phase of parity %lld, %s",
                         asks ? asks : "an mbarrier", (long long)json_int_of(w, "asks_parity"),
                         json_is_true(json_object_get(w, "over")) ? "which is over by now, " : "");
            }
            str_addf(out, "%d lane%s, %lld steps", lanes, lanes == 1 ? "" : "s",
                     (long long)json_int_of(w, "steps"));
            if (copies > 0)
                str_addf(out, ", %lld cop%s under way", (long long)copies,
                         copies == 1 ? "y" : "ies");
            if (products > 0)
                str_addf(out, ", %lld product%s under way", (long long)products,
                         products == 1 ? "" : "s");
            str_addc(out, '\n');
        }
        free(place);
        free(waits);
    }
}

void debug_paths_text(const struct debugger *d, struct str *out)
{
    const json_t *p;
    size_t i;
    char lanes[33];
    json_array_foreach(json_object_get(debugger_stop(d), "paths"), i, p)
    {
        const int64_t line = json_int_of(p, "line"), meets = json_int_of(p, "meets");
        debug_lanes(mask_of(p, "mask"), lanes);
        str_addf(out, "%s %s", lanes, i ? "waits" : "runs");
        if (line != INT_UNKNOWN)
            str_addf(out, " at line %lld", (long long)line);
        if (meets != INT_UNKNOWN)
            str_addf(out, ", meets the others at line %lld", (long long)meets);
        str_addc(out, '\n');
    }
}

/* The warps that ask it in vain; those whose phase has ended since they asked. */
static void add_asking(const json_t *stop, const char *name, bool over, const char *words,
                       struct str *out)
{
    const json_t *w;
    bool first = true;
    size_t k;
    json_array_foreach(json_object_get(stop, "warps"), k, w)
    {
        const char *asks = json_text_of(w, "asks");
        if (!asks || strcmp(asks, name) != 0 || json_is_true(json_object_get(w, "over")) != over)
            continue;
        str_addf(out, "%s %zu", first ? words : "", k);
        first = false;
    }
}

/* "k_here[1]: phase of parity 0 lacks 1 arrival and 16384 bytes; asked by warp 0 1" */
static void add_mbarrier(const json_t *stop, const char *name, const json_t *b, struct str *out)
{
    const int64_t missing = json_int_of(b, "missing"), bytes = json_int_of(b, "bytes"),
                  parity = json_int_of(b, "parity");
    str_addf(out, "%s: phase of parity %lld lacks %lld arrival%s", name, (long long)parity,
             (long long)missing, missing == 1 ? "" : "s");
    if (bytes)
        str_addf(out, " and %lld bytes", (long long)bytes);
    add_asking(stop, name, false, "; asked by warp", out);
    add_asking(stop, name, true, "; over is the phase before, asked by warp", out);
    str_addc(out, '\n');
}

void debug_barriers_text(const struct debugger *d, struct str *out)
{
    const json_t *stop = debugger_stop(d), *b, *w;
    size_t i, k;
    json_array_foreach(json_object_get(stop, "barriers"), i, b)
    {
        const int64_t id = json_int_of(b, "id"), expected = json_int_of(b, "expected");
        str_addf(out, "barrier %lld: %lld", (long long)id, (long long)json_int_of(b, "arrived"));
        if (expected > 0)
            str_addf(out, " of %lld", (long long)expected);
        str_add(out, " threads have arrived");
        int waiting = 0;
        json_array_foreach(json_object_get(stop, "warps"), k, w)
        {
            if (json_int_of(w, "barrier") == id)
                str_addf(out, "%s %zu", waiting++ ? "" : ": warp", k);
        }
        str_addc(out, '\n');
    }
    if (!json_array_size(json_object_get(stop, "barriers")) &&
        !json_array_size(json_object_get(stop, "mbarriers")))
        str_add(out, "nobody waits at a barrier\n");
    json_array_foreach(json_object_get(stop, "mbarriers"), i, b)
    {
        const char *name = json_text_of(b, "name");
        add_mbarrier(stop, name ? name : "mbarrier", b, out);
    }
}

/* A line of the kernel's own file, with the blanks before it; the caller frees it, NULL: there is none. */
static char *own_line(const struct kernel_desc *d, int64_t number)
{
    const char *p = d ? d->source : NULL, *end = p ? p + d->source_len : NULL;
    for (int64_t i = 1; p && i < number; i++)
        p = (p = memchr(p, '\n', (size_t)(end - p))) ? p + 1 : NULL;
    if (!p || p >= end || number < 1)
        return NULL;
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    struct str s = {0};
    sanitize(&s, p, (size_t)((stop ? stop : end) - p), true);
    return str_take(&s);
}

int64_t debug_without(const struct debugger *d)
{
    const char *place = json_text_of(debugger_stop(d), "without");
    const char *colon = place ? strrchr(place, ':') : NULL;
    return colon ? strtol(colon + 1, NULL, 10) : 0;
}

void debug_source_text(const struct debugger *d, int64_t line, int before, int behind,
                       struct str *out)
{
    const json_t *next = json_object_get(debugger_stop(d), "next");
    const int64_t stands = json_int_of(next, "line"), at = json_int_of(next, "at_line");
    const int64_t without = debug_without(d);
    char *file = text_of(next, "at_file");
    line = line ? line : stands;
    /* Of code without lines, or of no file, none is. */
    const bool known = line > 0 && line < INT32_MAX;
    for (int64_t i = known ? line - before : 1; i <= (known ? line + behind : 0); i++) {
        char *text = own_line(debugger_desc(d), i);
        if (text)
            str_addf(out, "%c %4lld %c%s\n", i == stands ? '>' : ' ', (long long)i,
                     i == without ? '-' : ' ', text);
        free(text);
    }
    char *inlined = *file ? source_line_text(debugger_desc(d), file, at) : NULL;
    if (inlined) {
        char *clean = sanitize_line(inlined);
        str_addf(out, "> inlined there, %s:%lld  %s\n", file, (long long)at, clean);
        free(clean);
    }
    free(inlined);
    free(file);
}

char *debug_line_text(const struct debugger *d, const json_t *place)
{
    char *text = own_line(debugger_desc(d), json_int_of(place, "line"));
    if (!text)
        return NULL;
    char *from = text + strspn(text, " \t"), *out = xstrdup(from);
    free(text);
    return out;
}

void debug_displays_text(const struct debugger *d, struct str *out)
{
    const json_t *o;
    size_t i;
    json_array_foreach(json_object_get(debugger_stop(d), "displays"), i, o)
    {
        char *name = text_of(o, "name"), *value = debug_value_text(json_object_get(o, "value"));
        str_addf(out, "shows %lld  %s = %s\n", (long long)json_int_of(o, "number"), name, value);
        free(name);
        free(value);
    }
}

void debug_title_text(const struct debugger *d, struct str *out)
{
    const json_t *stop = debugger_stop(d);
    const int64_t hazards = json_int_of(stop, "hazards"), faults = json_int_of(stop, "faults");
    str_add(out, debugger_kernel(d)->name);
    if (debug_without(d))
        str_addf(out, " without line %lld", (long long)debug_without(d));
    str_addf(out, ", step %lld, warp %d of %zu, lane %d", (long long)json_int_of(stop, "step"),
             debugger_warp(d), json_array_size(json_object_get(stop, "warps")), debugger_lane(d));
    if (hazards > 0)
        str_addf(out, ", %lld hazard%s", (long long)hazards, hazards == 1 ? "" : "s");
    if (faults > 0)
        str_addf(out, ", %lld fault%s", (long long)faults, faults == 1 ? "" : "s");
    str_add(out, ", ");
    add_block(stop, out);
}

/* ---- what the source names ---- */

enum { NAMES_A_ROW = 4 };

/* "m[0-3]": what a row has, from its first to its last. */
static char *name_of_row(const json_t *names, size_t first, size_t last)
{
    const char *a = json_string_value(json_array_get(names, first)),
               *b = json_string_value(json_array_get(names, last));
    const char *open = a ? strrchr(a, '[') : NULL, *other = b ? strrchr(b, '[') : NULL;
    const bool range = first < last && open && other && open - a == other - b &&
                       !strncmp(a, b, (size_t)(open - a));
    char *name = range ? xasprintf("%.*s%.*s-%s", (int)(open - a), a, (int)strcspn(open, "]"), open,
                                   other + 1)
                       : NULL;
    char *clean = sanitize_line(name ? name : a ? a : "");
    free(name);
    return clean;
}

/* "m[0-3]      -0.12345  ...": so many values a row, called after the first and the last; the rows that were used. */
static int add_variable(const json_t *v, int most, struct str *out)
{
    const json_t *values = json_object_get(v, "values"), *names = json_object_get(v, "element");
    const size_t n = json_array_size(values);
    const int64_t all = json_int_of(v, "elements"), line = json_int_of(v, "line");
    int rows = 0;
    for (size_t i = 0; i < n && rows < most; i++) {
        char *text = debug_value_text(json_array_get(values, i));
        if (i % NAMES_A_ROW == 0) {
            const size_t last = i + NAMES_A_ROW - 1;
            char *name = name_of_row(names, i, last < n ? last : n - 1);
            str_addf(out, "%-15s", name);
            free(name);
        }
        str_addf(out, " %10s", text);
        free(text);
        if (i % NAMES_A_ROW != NAMES_A_ROW - 1 && i + 1 < n)
            continue;
        rows++;
        if (rows == most && (int64_t)i + 1 < all)
            str_addf(out, "  of %lld", (long long)all);
        else if (i + 1 == n && line != INT_UNKNOWN)
            str_addf(out, "  by line %lld", (long long)line);
        str_addc(out, '\n');
    }
    return rows;
}

void debug_names_text(const struct debugger *d, int most, struct str *out)
{
    const json_t *stop = debugger_stop(d), *names = json_object_get(stop, "names"), *v;
    char *why = text_of(stop, "names_why");
    size_t i;
    int left = most;
    json_array_foreach(names, i, v)
    {
        const int others = (int)(json_array_size(names) - i - 1);
        left -= add_variable(v, left > others ? left - others : 1, out);
    }
    if (*why)
        str_addf(out, "no names: %s\n", why);
    free(why);
}

void debug_variables_text(const struct debugger *d, struct str *out)
{
    enum { ROWS = 64 };
    const size_t before = out->len;
    debug_names_text(d, ROWS, out);
    if (out->len == before)
        str_add(out, "the source marks no variables: a comment such as // @show m l acc does\n");
}

/* "%f12 m[0] = 3.5" */
static char *recent_item(const json_t *r)
{
    char *name = text_of(r, "name"), *source = text_of(r, "source"),
         *value = debug_value_text(json_object_get(r, "value"));
    char *item = xasprintf("%s%s%s = %s", name, *source ? " " : "", source, value);
    free(name);
    free(source);
    free(value);
    return item;
}

/* Of most registers there are no names: the line that wrote them says what they are of, and stands above them. */
void debug_recent_text(const struct debugger *d, int most, struct str *out)
{
    enum { ROW = 74 };
    const json_t *r, *before = NULL;
    size_t i;
    int used = 0;
    json_array_foreach(json_object_get(debugger_stop(d), "recent"), i, r)
    {
        if ((int)i == most)
            break;
        char *text = debug_line_text(d, r), *item = recent_item(r);
        const int width = str_width(item);
        if (!before || json_int_of(before, "line") != json_int_of(r, "line")) {
            if (text)
                str_addf(out, "%s%lld  %s", before ? "\n" : "", (long long)json_int_of(r, "line"),
                         text);
            else
                str_addf(out, "%sof no line", before ? "\n" : "");
            used = ROW; /* registers begin below it */
        }
        const bool fits = used + 2 + width <= ROW;
        str_addf(out, fits ? "  %s" : "\n   %s", item);
        used = (fits ? used + 2 : 3) + width;
        before = r;
        free(text);
        free(item);
    }
    if (before)
        str_addc(out, '\n');
}

/* ---- what was found ---- */

static void add_all_lanes(const json_t *lanes, struct str *out)
{
    if (uniform(lanes)) {
        add_lanes(lanes, 0, out);
        return;
    }
    for (int i = 0; i < LANES; i++) {
        char *v = debug_value_text(json_array_get(lanes, (size_t)i));
        str_addf(out, "%s%s", i % SHOWN ? " " : i ? "\n    " : "", v);
        free(v);
    }
}

/* The heading of a history, and its rows. */
static void add_history(const json_t *o, struct str *out)
{
    const json_t *names = json_object_get(o, "elements"), *values = json_object_get(o, "values"),
                 *list = names ? names : values, *v;
    const int64_t line = json_int_of(o, "line"), all = json_int_of(o, "of_elements"),
                  changes = json_int_of(o, "changes");
    size_t i;
    if (names && !changes) {
        str_add(out, "it has not been written yet");
        return;
    }
    if (names && json_object_get(o, "lane"))
        str_addf(out, "lane %lld of warp %lld", (long long)json_int_of(o, "lane"),
                 (long long)json_int_of(o, "warp"));
    if (names && all > (int64_t)json_array_size(names))
        str_addf(out, ", %zu of %lld elements", json_array_size(names), (long long)all);
    if (names && json_object_get(o, "lane"))
        str_add(out, ":\n");
    if (names)
        str_addf(out, "%9s %6s", "step", "line");
    else if (line != INT_UNKNOWN)
        str_addf(out, "%9lld %6lld", (long long)json_int_of(o, "at_step"), (long long)line);
    else
        str_addf(out, "%9lld %6s", (long long)json_int_of(o, "at_step"), "-");
    json_array_foreach(list, i, v)
    {
        char *text = names ? sanitize_line(json_string_value(v)) : debug_value_text(v);
        str_addf(out, " %13s", text);
        free(text);
    }
}

static void add_found(const struct debugger *d, const json_t *o, struct str *out)
{
    if (json_object_get(o, "changes") || json_object_get(o, "at_step")) {
        add_history(o, out);
        str_addc(out, '\n');
        return;
    }
    char *name = text_of(o, json_object_get(o, "element") ? "element" : "name");
    char *value = debug_value_text(json_object_get(o, "value"));
    const json_t *lanes = json_object_get(o, "lanes");
    if (json_object_get(o, "sentence")) {
        add_text(out, o, "sentence");
    } else if (json_object_get(o, "hits")) {
        str_addf(out, "%lld  ", (long long)json_int_of(o, "number"));
        add_text(out, o, "text");
        str_addf(out, ", met %lld time%s", (long long)json_int_of(o, "hits"),
                 json_int_of(o, "hits") == 1 ? "" : "s");
    } else if (json_object_get(o, "written")) {
        str_addf(out, "%-8s at byte %lld, %lld bytes, %lld written", name,
                 (long long)json_int_of(o, "offset"), (long long)json_int_of(o, "bytes"),
                 (long long)json_int_of(o, "written"));
    } else if (json_object_get(o, "moments")) {
        char bytes[NUMBER_BUF];
        const int64_t n = json_int_of(o, "moments");
        str_addf(out, "for the way back %lld moment%s kept, %lld steps apart, in %s", (long long)n,
                 n == 1 ? " is" : "s are", (long long)json_int_of(o, "every"),
                 number_fmt_bytes(bytes, json_number_of(o, "bytes")));
    } else if (json_object_get(o, "groups_behind")) {
        str_addf(out, "warp %lld to %s, %d lanes of %lld bytes", (long long)json_int_of(o, "warp"),
                 name, __builtin_popcount(mask_of(o, "mask")), (long long)json_int_of(o, "bytes"));
        const int64_t behind = json_int_of(o, "groups_behind");
        const int64_t barrier = json_int_of(o, "mbarrier");
        if (barrier != INT_UNKNOWN)
            str_addf(out, ", announced to the mbarrier at byte %lld", (long long)barrier);
        else if (behind == INT_UNKNOWN)
            str_add(out, ", not committed");
        else
            str_addf(out, ", %lld groups committed behind it", (long long)behind);
    } else if (json_is_array(lanes)) {
        char *kind = text_of(o, "kind");
        str_addf(out, "%s %s = ", name, kind);
        add_all_lanes(lanes, out);
        free(kind);
    } else {
        const bool unwritten =
            !json_object_get(o, "slot") && json_is_null(json_object_get(o, "value"));
        str_addf(out, "%s = %s%s", name, value, unwritten ? " (not written)" : "");
        const int64_t line = json_int_of(o, "line"), by = json_int_of(o, "by_line");
        if (json_object_get(o, "slot") && line != INT_UNKNOWN)
            str_addf(out, "  of line %lld", (long long)line);
        if (json_object_get(o, "register") && by != INT_UNKNOWN)
            str_addf(out, "  of line %lld", (long long)by);
        if (json_is_string(json_object_get(o, "source"))) {
            str_add(out, ", is ");
            add_text(out, o, "source");
        }
    }
    str_addc(out, '\n');
    free(name);
    free(value);
    (void)d;
}

void debug_flight_text(const struct debugger *d, struct str *out)
{
    const json_t *o;
    size_t i;
    json_array_foreach(json_object_get(debugger_stop(d), "flight"), i, o)
    {
        add_found(d, o, out);
    }
}

void debug_found_text(const struct debugger *d, const char *nothing, struct str *out)
{
    const json_t *found = json_object_get(debugger_stop(d), "found"), *o;
    size_t i;
    json_array_foreach(found, i, o)
    {
        add_found(d, o, out);
    }
    if (!json_array_size(found))
        str_addf(out, "%s\n", nothing ? nothing : "none");
}

/* ---- the whole ---- */

static void add_printed(const struct debugger *d, struct str *out)
{
    const char *text = json_text_of(debugger_stop(d), "text");
    struct str clean = {0};
    if (!text)
        return;
    sanitize(&clean, text, strlen(text), true);
    str_addf(out, "the kernel prints: %s%s", str_text(&clean),
             clean.len && clean.data[clean.len - 1] == '\n' ? "" : "\n");
    str_free(&clean);
}

void debug_stop_text(const struct debugger *d, struct str *out)
{
    char *why = debug_why(d);
    debug_head_text(d, out);
    str_addc(out, '\n');
    if (*why)
        str_addf(out, "%s\n", why);
    debug_source_text(d, 0, 3, 2, out);
    debug_did_text(d, out);
    debug_next_text(d, out);
    debug_displays_text(d, out);
    add_printed(d, out);
    free(why);
}
