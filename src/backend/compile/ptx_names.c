/* ptx_names.c - see ptx_names.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/compile/ptx_names.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

static const char show_word[] = "//@show ", noshow_word[] = "//@noshow ", area[] = "attn_show_";

/* ---- markers ---- */

enum { VARIABLES = 16, NAME_MAX_LEN = 48 };

struct marker {
    const char *comment, *end; /* of the line */
    int line;
    struct variable {
        const char *at;
        size_t len;
    } variable[VARIABLES];
    int nvariables;
};

static bool of_name(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* The words behind "@show" in a comment, up to what is no name. */
static void read_words(struct marker *m)
{
    static const char word[] = "@show ";
    const char *p = memmem(m->comment, (size_t)(m->end - m->comment), word, sizeof word - 1);
    for (p = p ? p + sizeof word - 1 : m->end; p < m->end && m->nvariables < VARIABLES;) {
        size_t n = 0;
        while (p < m->end && *p == ' ')
            p++;
        while (p + n < m->end && of_name(p[n]))
            n++;
        if (!n || n > NAME_MAX_LEN || isdigit((unsigned char)*p))
            return;
        m->variable[m->nvariables++] = (struct variable){p, n};
        p += n;
    }
}

/* Where the comment of a line begins that no block comment and no string is around; NULL: there is none. */
static const char *comment_of(const char *p, const char *end, bool *inside)
{
    char quote = 0;
    for (; p < end; p++) {
        const char next = p + 1 < end ? p[1] : 0;
        if (*inside) {
            *inside = !(*p == '*' && next == '/');
            p += !*inside;
        } else if (quote) {
            p += *p == '\\';
            quote = *p == quote ? 0 : quote;
        } else if (*p == '"' || *p == '\'') {
            quote = *p;
        } else if (*p == '/' && next == '*') {
            *inside = true;
            p++;
        } else if (*p == '/' && next == '/') {
            return p;
        }
    }
    return NULL;
}

static int list_markers(const char *source, size_t len, struct marker list[PTX_NAMES_MARKERS])
{
    const char *end = source + len;
    bool inside = false;
    int n = 0, line = 1;
    for (const char *p = source; p < end && n < PTX_NAMES_MARKERS; line++) {
        const char *eol = memchr(p, '\n', (size_t)(end - p));
        eol = eol ? eol : end;
        struct marker m = {.comment = comment_of(p, eol, &inside), .end = eol, .line = line};
        if (m.comment)
            read_words(&m);
        if (m.nvariables)
            list[n++] = m;
        p = eol + 1;
    }
    return n;
}

int ptx_names_markers(const char *source, size_t len)
{
    struct marker list[PTX_NAMES_MARKERS];
    return list_markers(source, len, list);
}

/* ---- the marked copy ---- */

/* An element's place is the path to it, a digit a level: the first of an array has digit 1, a scalar has none. Places are
 * 8 bytes apart, so that no store takes two. */
enum { DIGIT = 512 };
static const char prelude[] =
    "template <int I> __device__ __forceinline__ void attn_show(float *to, float x) { to[2 * I] = "
    "x; }\n"
    "template <int I> __device__ __forceinline__ void attn_show(float *to, int x) { ((int *)to)[2 "
    "* I] = x; }\n"
    "template <int I> __device__ __forceinline__ void attn_show(float *to, unsigned x) { "
    "((unsigned *)to)[2 * I] = x; }\n"
    "template <int I, class T> __device__ __forceinline__ auto attn_show(float *to, const T &x) -> "
    "decltype((void)x.x);\n"
    "template <int I, int K, int N, class T> __device__ __forceinline__ void attn_show_from(float "
    "*to, const T (&x)[N]);\n"
    "template <int I, class T, int N> __device__ __forceinline__ void attn_show(float *to, const T "
    "(&x)[N])\n"
    "{ if constexpr (N < 512 && I < 512 * 512) attn_show_from<I, 0>(to, x); }\n"
    "template <int I, class T> __device__ __forceinline__ auto attn_show(float *to, const T &x) -> "
    "decltype((void)x.x)\n"
    "{ attn_show<I>(to, x.x); }\n"
    "template <int I, int K, int N, class T> __device__ __forceinline__ void attn_show_from(float "
    "*to, const T (&x)[N])\n"
    "{ if constexpr (K < N) { attn_show<I * 512 + K + 1>(to, x[K]); attn_show_from<I, K + 1>(to, "
    "x); } }\n";

char *ptx_names_mark(const char *source, size_t len, int marker, size_t *out_len)
{
    struct marker list[PTX_NAMES_MARKERS];
    const int n = list_markers(source, len, list);
    struct str s = {0};
    const char *from = source;
    str_add(&s, prelude);
    for (int i = 0; i < n; i++)
        for (int v = 0; v < list[i].nvariables; v++)
            str_addf(&s, "extern __shared__ float %s%d_%d[];\n", area, i, v);
    for (int i = 0; i < n; i++) {
        if (marker != PTX_NAMES_ALL && marker != i)
            continue;
        str_addn(&s, from, (size_t)(list[i].comment - from));
        for (int v = 0; v < list[i].nvariables; v++)
            str_addf(&s, "attn_show<0>(%s%d_%d, %.*s); ", area, i, v, (int)list[i].variable[v].len,
                     list[i].variable[v].at);
        from = list[i].comment;
    }
    str_addn(&s, from, (size_t)(source + len - from));
    str_addc(&s, '\0');
    *out_len = s.len - 1;
    return str_take(&s);
}

/* ---- two texts as one ---- */

struct piece {
    const char *at;
    size_t len;
};

static bool same(struct piece a, struct piece b)
{
    return a.len == b.len && !memcmp(a.at, b.at, a.len);
}

/* Names of one text as those of the other. */
struct map {
    struct pair {
        struct piece from, to;
    } * slot;
    size_t n, cap; /* a power of two, or 0 */
};

static struct pair *map_slot(const struct map *m, struct piece p)
{
    size_t i = (size_t)hash_bytes(HASH_START, p.at, p.len) & (m->cap - 1);
    while (m->slot[i].from.at && !same(m->slot[i].from, p))
        i = (i + 1) & (m->cap - 1);
    return &m->slot[i];
}

static void map_grow(struct map *m)
{
    struct map next = {.n = m->n, .cap = m->cap ? 2 * m->cap : 256};
    next.slot = xcalloc(next.cap, sizeof *next.slot);
    for (size_t i = 0; i < m->cap; i++)
        if (m->slot[i].from.at)
            *map_slot(&next, m->slot[i].from) = m->slot[i];
    free(m->slot);
    *m = next;
}

/* False: `from` is another's already. */
static bool map_put(struct map *m, struct piece from, struct piece to)
{
    if (2 * m->n >= m->cap)
        map_grow(m);
    struct pair *p = map_slot(m, from);
    if (p->from.at)
        return same(p->to, to);
    *p = (struct pair){from, to};
    m->n++;
    return true;
}

static const struct pair *map_get(const struct map *m, struct piece p)
{
    const struct pair *found = m->cap ? map_slot(m, p) : NULL;
    return found && found->from.at ? found : NULL;
}

static void map_clear(struct map *m)
{
    free(m->slot);
    *m = (struct map){0};
}

struct reader {
    const char *p;
    struct piece line;
    int number;
};

static bool begins(struct piece line, const char *word)
{
    const size_t n = strlen(word);
    return line.len >= n && !memcmp(line.at, word, n);
}

static bool is_store(struct piece line)
{
    return begins(line, "st.shared.") && memmem(line.at, line.len, area, sizeof area - 1);
}

/* Is it an instruction, a label, a declaration that counts? */
static bool counts(struct piece line)
{
    static const char *const idle[] = {"//", ".loc", ".file", ".reg"};
    for (size_t i = 0; i < sizeof idle / sizeof *idle; i++)
        if (begins(line, idle[i]))
            return false;
    return line.len &&
           !(begins(line, ".extern") && memmem(line.at, line.len, area, sizeof area - 1));
}

/* The next line that counts, without blanks around it. False: the code is at its end. */
static bool next_line(struct reader *r)
{
    while (*r->p) {
        const char *eol = strchrnul(r->p, '\n'), *end = eol;
        while (r->p < eol && isspace((unsigned char)*r->p))
            r->p++;
        while (end > r->p && isspace((unsigned char)end[-1]))
            end--;
        r->line = (struct piece){r->p, (size_t)(end - r->p)};
        r->p = *eol ? eol + 1 : eol;
        r->number++;
        if (begins(r->line, ".section"))
            return false;
        if (counts(r->line))
            return true;
    }
    return false;
}

static size_t token_len(const char *p, const char *end)
{
    size_t n = 1;
    if (*p == '%' || *p == '$')
        while (p + n < end && (isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '$'))
            n++;
    return n;
}

struct both {
    struct map there, back; /* names of the marked text as the plain one's */
};

/* Names at the same places, and everything else alike. */
static bool match(struct both *b, struct piece marked, struct piece plain)
{
    const char *p = marked.at, *q = plain.at, *p_end = p + marked.len, *q_end = q + plain.len;
    while (p < p_end && q < q_end) {
        const struct piece x = {p, token_len(p, p_end)}, y = {q, token_len(q, q_end)};
        if ((*p == '%' || *p == '$') && *p == *q) {
            if (!map_put(&b->there, x, y) || !map_put(&b->back, y, x))
                return false;
        } else if (!same(x, y)) {
            return false;
        }
        p += x.len;
        q += y.len;
    }
    return p == p_end && q == q_end;
}

/* ---- what is stored where ---- */

struct stored {
    int marker, variable;
    long at; /* the path */
    struct piece reg, entry;
};

struct finding {
    struct marker list[PTX_NAMES_MARKERS];
    int markers;
    struct both both;
    struct stored *stored;
    size_t n, cap, done; /* those before `done` have their register's name in the plain text */
    struct piece entry;
};

/* "st.shared.f32 [attn_show_0_1+8], %f5;" */
static bool read_store(struct finding *f, struct piece line)
{
    const char *p =
        (const char *)memmem(line.at, line.len, area, sizeof area - 1) + sizeof area - 1;
    const char *end = line.at + line.len;
    char *rest;
    struct stored s = {.marker = (int)strtol(p, &rest, 10), .entry = f->entry};
    if (*rest++ != '_')
        return false;
    s.variable = (int)strtol(rest, &rest, 10);
    const long offset = *rest == '+' ? strtol(rest + 1, &rest, 10) : 0;
    if (*rest++ != ']' || *rest++ != ',' || offset % 8 || s.marker < 0 || s.marker >= f->markers ||
        s.variable < 0 || s.variable >= f->list[s.marker].nvariables)
        return false;
    while (rest < end && *rest == ' ')
        rest++;
    s.at = offset / 8;
    s.reg = (struct piece){rest, token_len(rest, end)};
    if (rest >= end || *rest != '%' || rest + s.reg.len + 1 != end)
        return false;
    xgrow((void **)&f->stored, &f->cap, f->n + 1, sizeof *f->stored);
    f->stored[f->n++] = s;
    return true;
}

/* At the end of a function: its registers are known. One that the plain text lacks holds nothing there. */
static bool settle(struct finding *f)
{
    bool all = true;
    for (; f->done < f->n; f->done++) {
        const struct pair *p = map_get(&f->both.there, f->stored[f->done].reg);
        all &= p != NULL;
        if (p)
            f->stored[f->done].reg = p->to;
    }
    map_clear(&f->both.there);
    map_clear(&f->both.back);
    return all;
}

/* ".visible .entry fa2(": a function has registers of its own. */
static bool is_function(struct piece line, struct piece *entry)
{
    static const char word[] = ".entry ";
    const char *at = memmem(line.at, line.len, word, sizeof word - 1);
    *entry = (struct piece){"", 0};
    if (!at)
        return memmem(line.at, line.len, ".func ", 6) != NULL;
    at += sizeof word - 1;
    size_t n = 0;
    while (at + n < line.at + line.len && (of_name(at[n]) || at[n] == '$'))
        n++;
    *entry = (struct piece){at, n};
    return true;
}

static enum status differ(const struct finding *f, const struct reader *plain,
                          const struct reader *marked, struct err *err)
{
    return err_set(err, ST_NO,
                   "the copy that names variables becomes other code from PTX line %d of %.*s on "
                   "(%.*s; there %.*s)",
                   plain->number, (int)f->entry.len, f->entry.at, (int)plain->line.len,
                   plain->line.at, (int)marked->line.len, marked->line.at);
}

static enum status walk(struct finding *f, const char *plain, const char *marked, struct err *err)
{
    struct reader a = {.p = plain}, b = {.p = marked};
    for (;;) {
        bool more = next_line(&b);
        while (more && is_store(b.line)) {
            if (!read_store(f, b.line))
                return err_set(err, ST_NO,
                               "a store of the copy that names variables is of no element: %.*s",
                               (int)b.line.len, b.line.at);
            more = next_line(&b);
        }
        struct piece entry;
        if (next_line(&a) != more)
            return differ(f, &a, &b, err);
        if ((!more || is_function(a.line, &entry)) && !settle(f))
            return err_set(err, ST_NO,
                           "a variable is in a register that the kernel's own code lacks");
        if (!more)
            return ST_OK;
        if (is_function(a.line, &entry))
            f->entry = entry;
        if (!match(&f->both, b.line, a.line))
            return differ(f, &a, &b, err);
    }
}

static void add_path(struct str *out, long at)
{
    if (at > 0) {
        add_path(out, at / DIGIT);
        str_addf(out, "[%ld]", at % DIGIT - 1);
    }
}

static int by_place(const void *x, const void *y)
{
    const struct stored *a = x, *b = y;
    const int entry = a->entry.at != b->entry.at ? (a->entry.at < b->entry.at ? -1 : 1) : 0;
    if (entry)
        return entry;
    if (a->marker != b->marker)
        return a->marker - b->marker;
    if (a->variable != b->variable)
        return a->variable - b->variable;
    return a->at != b->at ? (a->at < b->at ? -1 : 1)
                          : (a->reg.at > b->reg.at) - (a->reg.at < b->reg.at);
}

/* A register is told once, however often it is stored. */
static bool told(const struct finding *f, size_t i)
{
    for (size_t k = i; k-- > 0 && f->stored[k].at == f->stored[i].at;)
        if (f->stored[k].marker == f->stored[i].marker &&
            f->stored[k].variable == f->stored[i].variable &&
            f->stored[k].entry.at == f->stored[i].entry.at &&
            same(f->stored[k].reg, f->stored[i].reg))
            return true;
    return false;
}

static void write_found(struct finding *f, struct str *out)
{
    qsort(f->stored, f->n, sizeof *f->stored, by_place);
    for (size_t i = 0; i < f->n; i++) {
        const struct stored *s = &f->stored[i], *last = i ? s - 1 : NULL;
        const struct marker *m = &f->list[s->marker];
        if (!s->entry.len || told(f, i))
            continue;
        if (!last || last->marker != s->marker || last->entry.at != s->entry.at)
            str_addf(out, "%s%s%.*s %d", last ? "\n" : "", show_word, (int)s->entry.len,
                     s->entry.at, m->line);
        str_addf(out, " %.*s", (int)m->variable[s->variable].len, m->variable[s->variable].at);
        add_path(out, s->at);
        str_addf(out, "=%.*s", (int)s->reg.len, s->reg.at);
    }
    if (f->n)
        str_addc(out, '\n');
}

enum status ptx_names_find(const char *source, size_t len, const char *plain, const char *marked,
                           struct str *out, struct err *err)
{
    struct finding f = {.entry = {"", 0}};
    f.markers = list_markers(source, len, f.list);
    const enum status st = walk(&f, plain, marked, err);
    if (st == ST_OK)
        write_found(&f, out);
    map_clear(&f.both.there);
    map_clear(&f.both.back);
    free(f.stored);
    return st;
}

static void refuse(int line, const char *why, struct str *out)
{
    str_addf(out, "%sline %d: ", noshow_word, line);
    for (const char *p = why; *p; p++)
        str_addc(out, (unsigned char)*p < ' ' ? ' ' : *p);
    str_addc(out, '\n');
}

static enum status try_copy(const char *source, size_t len, const char *plain, int marker,
                            ptx_names_compile *compile, void *ctx, struct str *out, struct err *err)
{
    size_t n;
    char *copy = ptx_names_mark(source, len, marker, &n), *text = compile(ctx, copy, n);
    const enum status st =
        text ? ptx_names_find(source, len, plain, text, out, err)
             : err_set(err, ST_NO, "the copy that names variables does not compile");
    free(copy);
    free(text);
    return st;
}

void ptx_names_add(const char *source, size_t len, const char *plain, ptx_names_compile *compile,
                   void *ctx, struct str *out)
{
    struct marker list[PTX_NAMES_MARKERS];
    const int n = list_markers(source, len, list);
    struct err why = ERR_INIT;
    if (!n || try_copy(source, len, plain, PTX_NAMES_ALL, compile, ctx, out, &why) == ST_OK)
        return;
    for (int i = 0; i < n; i++) {
        struct err err = ERR_INIT;
        if (n == 1 || try_copy(source, len, plain, i, compile, ctx, out, &err) != ST_OK)
            refuse(list[i].line, n == 1 ? why.text : err.text, out);
    }
}

bool ptx_names_known(const char *text)
{
    return strstr(text, show_word) || strstr(text, noshow_word);
}

/* ---- reading them ---- */

static uint32_t add_name(struct ptx_names *p, const char *name, size_t len)
{
    for (size_t i = p->n; i-- > 0;)
        if (!strncmp(p->name[i], name, len) && !p->name[i][len])
            return (uint32_t)i;
    xgrow((void **)&p->name, &p->cap, p->n + 1, sizeof(char *));
    p->name[p->n] = xstrndup(name, len);
    return (uint32_t)p->n++;
}

/* "m[0]=%f12" */
static void read_naming(struct ptx_names *p, const char *word, const char *end)
{
    const char *is = memchr(word, '=', (size_t)(end - word));
    if (!is || is == word || p->regs >= PTX_NAMES_MOST || is - word > 2 * NAME_MAX_LEN ||
        is[1] != '%')
        return;
    for (const char *c = word; c < is; c++)
        if (!of_name(*c) && *c != '[' && *c != ']')
            return;
    xgrow((void **)&p->reg, &p->regs_cap, p->regs + 1, sizeof *p->reg);
    p->reg[p->regs].name = add_name(p, word, (size_t)(is - word));
    p->reg[p->regs++].reg = xstrndup(is + 1, (size_t)(end - is - 1));
}

static void read_line(struct ptx_names *p, const char *at, const char *eol, const char *entry)
{
    const size_t n = strlen(entry);
    if ((size_t)(eol - at) <= n || strncmp(at, entry, n) != 0 || at[n] != ' ')
        return;
    for (const char *word = at + n; word < eol;) {
        while (word < eol && *word == ' ')
            word++;
        const char *end = memchr(word, ' ', (size_t)(eol - word));
        end = end ? end : eol;
        read_naming(p, word, end);
        word = end;
    }
}

void ptx_names_read(const char *text, size_t len, const char *entry, struct ptx_names *out)
{
    const char *end = text + len;
    *out = (struct ptx_names){0};
    for (const char *p = text; p < end;) {
        const char *at = memmem(p, (size_t)(end - p), "\n//@", 4);
        if (!at)
            return;
        at++;
        const char *eol = memchr(at, '\n', (size_t)(end - at));
        eol = eol ? eol : end;
        const size_t n = (size_t)(eol - at);
        if (n > sizeof show_word - 1 && !memcmp(at, show_word, sizeof show_word - 1))
            read_line(out, at + sizeof show_word - 1, eol, entry);
        else if (n > sizeof noshow_word - 1 && !memcmp(at, noshow_word, sizeof noshow_word - 1) &&
                 !out->why_not)
            out->why_not = xstrndup(at + sizeof noshow_word - 1, n - (sizeof noshow_word - 1));
        p = eol;
    }
}

void ptx_names_clear(struct ptx_names *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->name[i]);
    for (size_t i = 0; i < p->regs; i++)
        free(p->reg[i].reg);
    free(p->name);
    free(p->reg);
    free(p->why_not);
    *p = (struct ptx_names){0};
}
