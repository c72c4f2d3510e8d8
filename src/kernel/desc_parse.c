/* desc_parse.c - reads a descriptor: one reader per tag, in one table.
 *
 * Expressions are kept for desc_check.c, which looks at them when all parameters are known.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/desc_parse.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/str.h"
#include "kernel/desc_check.h"
#include "kernel/desc_smem.h"

struct parser {
    struct desc_text t;
    struct kernel_desc *d;
    struct desc_pass *pass; /* the one that @threads, @grid, @smem and @cluster belong to */
    const char *tag;        /* being read */
    unsigned seen;          /* bit per entry of the table of tags */
    struct desc_checks checks;
};

/* ---- pieces that several tags are made of, of the tag that is being read ---- */

static enum status read_expr(struct parser *p, struct slice where, enum scope scope,
                             struct expr **out)
{
    return desc_read_expr(&p->t, &p->checks, p->tag, where, scope, out);
}

static enum status take_expr(struct parser *p, struct slice *rest, enum scope scope,
                             struct expr **out)
{
    struct slice word;
    slice_take_word(&p->t, rest, &word);
    return read_expr(p, word, scope, out);
}

static enum status take_name(struct parser *p, struct slice *rest, const char *what, char **out,
                             struct slice *where)
{
    return desc_take_name(&p->t, p->tag, rest, what, out, where);
}

static enum status take_lower_name(struct parser *p, struct slice *rest, const char *what,
                                   char **out)
{
    return desc_take_lower_name(&p->t, p->tag, rest, what, out);
}

enum { COUNTED_MAX = 16 }; /* numbers up to it are counted through, larger ones are sizes */

/* ---- @param: a number with a default, limits or values, or a word of several ---- */

static enum status check_param_name(struct parser *p, const char *name, struct slice where)
{
    for (const char *c = name; *c; c++)
        if (islower((unsigned char)*c) || *name == '_')
            return desc_fail(&p->t, where, "the parameter \"%s\" must be upper case", name);
    for (size_t i = 0; desc_fixed_name(i); i++)
        if (!strcmp(name, desc_fixed_name(i)) || !strcmp(name, "S"))
            return desc_fail(&p->t, where,
                             "%s is a letter of the shape and cannot name a parameter", name);
    if (desc_param_index(p->d, name) >= 0)
        return desc_fail(&p->t, where, "the parameter %s is there twice", name);
    return ST_OK;
}

/* "[16..128]"; the slice begins with the bracket. */
static enum status read_range(struct parser *p, struct slice where, struct field *param)
{
    char *text = slice_text(&p->t, where);
    int64_t lo = 0, hi = 0;
    char *dots = strstr(text, "..");
    enum status st = ST_USAGE;
    struct err err = ERR_INIT;
    if (dots && text[where.len - 1] == ']') {
        *dots = text[where.len - 1] = '\0';
        st = number_parse_int("the lower end", text + 1, 0, INT32_MAX, &lo, &err);
        if (st == ST_OK)
            st = number_parse_int("the upper end", dots + 2, lo, INT32_MAX, &hi, &err);
        if (st == ST_OK && hi == 0)
            st = err_set(&err, ST_USAGE, "what can only be 0 is no parameter");
        param->lo = (double)lo;
        param->hi = (double)hi;
    } else {
        err_set(&err, ST_USAGE, "a range is written [16..128]");
    }
    free(text);
    return st == ST_OK ? ST_OK : desc_fail(&p->t, where, "@param %s: %s", param->name, err.text);
}

static enum status read_number_param(struct parser *p, struct slice value, struct slice *rest,
                                     struct field *param)
{
    char *text = slice_text(&p->t, value);
    int64_t *def = &p->d->defaults.v[param - p->d->params];
    struct err err = ERR_INIT;
    enum status st = number_parse_int("the default", text, 0, INT32_MAX, def, &err);
    free(text);
    if (st != ST_OK)
        return desc_fail(&p->t, value, "@param %s: %s", param->name, err.text);
    param->lo = *def > 0;
    param->hi = 1 << 20;
    if (rest->len && p->t.text[rest->at] == '[') {
        struct slice range;
        slice_take_word(&p->t, rest, &range);
        st = read_range(p, range, param);
    }
    param->flags = param->hi > COUNTED_MAX ? FIELD_DOUBLES : 0;
    if (st == ST_OK && field_check(param, &p->d->defaults, NULL))
        return desc_fail(&p->t, value, "@param %s: the default %lld is outside %.0f..%.0f",
                         param->name, (long long)*def, param->lo, param->hi);
    return st;
}

/* "(D<=64?192:128)": of every shape it must be in the range. */
static enum status check_default(struct parser *p, struct slice value, struct field *param)
{
    const int i = (int)(param - p->d->params);
    struct shape s = SHAPE_DEFAULT;
    const int64_t usual = s.D;
    const struct desc_env env = {
        .desc = p->d, .shape = &s, .params = &p->d->defaults, .compiled_d = true};
    struct expr_env ee = desc_expr_env(&env);
    for (s.D = 16; s.D <= 512; s.D += 16)
        for (s.dtype = 0; s.dtype < DTYPE_COUNT; s.dtype++) {
            double x;
            struct err err = ERR_INIT;
            if (expr_eval(p->d->by_shape[i], &ee, &x, &err))
                return desc_fail(&p->t, value, "@param %s: %s", param->name, err.text);
            if (x != floor(x) || !(x >= param->lo && x <= param->hi))
                return desc_fail(
                    &p->t, value,
                    "@param %s: the default is %.15g where D is %lld; it is a whole number in "
                    "%.0f..%.0f",
                    param->name, x, (long long)s.D, param->lo, param->hi);
            if (s.D == usual && s.dtype == DTYPE_F16)
                p->d->defaults.v[i] = (int64_t)x;
        }
    return ST_OK;
}

static void notice_other(void *ctx, const char *name)
{
    bool *other = ctx;
    *other |= strcmp(name, "D") && strcmp(name, "T");
}

static enum status read_shape_param(struct parser *p, struct slice value, struct slice *rest,
                                    struct field *param)
{
    bool other = false;
    struct slice range;
    struct expr **e = &p->d->by_shape[param - p->d->params];
    enum status st = read_expr(p, value, SCOPE_CONSTANT, e);
    if (st)
        return st;
    expr_names(*e, notice_other, &other);
    if (other)
        return desc_fail(&p->t, value, "@param %s: a default follows D and T, and nothing else",
                         param->name);
    if (!rest->len || p->t.text[rest->at] != '[')
        return desc_fail(&p->t, value,
                         "@param %s: a default that follows the shape needs a range, [16..128]",
                         param->name);
    slice_take_word(&p->t, rest, &range);
    st = read_range(p, range, param);
    param->flags = param->hi > COUNTED_MAX ? FIELD_DOUBLES : 0;
    return st ? st : check_default(p, value, param);
}

/* "idle|duplicate" */
static enum status read_word_param(struct parser *p, struct slice value, struct field *param)
{
    char *text = slice_text(&p->t, value), *from = text;
    size_t n = 2; /* a word more than bars, and the end */
    for (const char *c = text; *c; c++)
        n += *c == '|';
    const char **words = arena_alloc(p->d->texts, n * sizeof *words);
    enum status st = ST_OK;
    n = 0;
    for (char *word; st == ST_OK && (word = strsep(&from, "|"));) {
        if (!desc_is_identifier(word) || strlen(word) > NAME_MAX_LEN)
            st = desc_fail(&p->t, value,
                           "@param %s: \"%s\" is neither a number nor a choice of words a|b",
                           param->name, word);
        words[n++] = arena_printf(p->d->texts, "%s", word);
    }
    free(text);
    param->words = words;
    param->hi = (double)n - 1;
    if (st == ST_OK && n < 2)
        st = desc_fail(&p->t, value, "@param %s: a choice needs at least two words, a|b",
                       param->name);
    return st;
}

/* One more, before the end of the table. */
static struct field *add_param(struct kernel_desc *d)
{
    const size_t n = (size_t)d->nparams++;
    d->params = xrealloc(d->params, (n + 2) * sizeof *d->params);
    d->params[n + 1] = (struct field){0};
    return &d->params[n];
}

static enum status read_param(struct parser *p, struct slice rest)
{
    if (p->d->nparams == DESC_PARAMS_MAX)
        return desc_fail(&p->t, rest, "more than %d parameters", DESC_PARAMS_MAX);
    char *name, *doc;
    struct slice where, value;
    enum status st = take_name(p, &rest, "a parameter", &name, &where);
    if (st != ST_OK)
        return st;
    st = check_param_name(p, name, where);
    struct field *param = add_param(p->d);
    *param = (struct field){.name = arena_printf(p->d->texts, "%s", name),
                            .type = FIELD_INT,
                            .offset = offsetof(struct param_values, v[param - p->d->params])};
    free(name);
    if (st == ST_OK && !slice_take_word(&p->t, &rest, &value))
        st = desc_fail(&p->t, where, "@param %s needs a default or a choice of words", param->name);
    if (st == ST_OK && p->t.text[value.at] == '(')
        st = read_shape_param(p, value, &rest, param);
    else if (st == ST_OK)
        st = isalpha((unsigned char)p->t.text[value.at])
                 ? read_word_param(p, value, param)
                 : read_number_param(p, value, &rest, param);
    if (st == ST_OK) {
        doc = slice_line(&p->t, rest);
        param->doc = doc ? arena_printf(p->d->texts, "%s", doc) : NULL;
        free(doc);
    }
    return st;
}

/* ---- @smem: a buffer in shared memory, its size, alignment, overlay and elements ---- */

static bool buffer_exists(const struct kernel_desc *d, const char *name)
{
    for (int i = 0; i < d->npasses; i++)
        for (int j = 0; j < d->passes[i].nsmem; j++)
            if (!strcmp(d->passes[i].smem[j].name, name))
                return true;
    return false;
}

static enum status read_align(struct parser *p, struct slice word, struct desc_smem *b)
{
    char *text = slice_text(&p->t, word);
    int64_t align;
    enum status st = number_parse_int("align", text + strlen("align="), 1, 1024, &align, NULL);
    free(text);
    if (st != ST_OK || (align & (align - 1)))
        return desc_fail(&p->t, word, "align is a power of two, 1 to 1024");
    b->align = (int)align;
    return ST_OK;
}

static enum status read_over(struct parser *p, struct slice word, struct desc_smem *b)
{
    size_t skip = strlen("over=");
    b->over = xstrndup(p->t.text + word.at + skip, word.len - skip);
    if (b->is_static)
        return desc_fail(&p->t, word, "only a dynamic buffer can lie over another");
    const char *names[DESC_SMEM_MAX + 1] = {0};
    int n = 0;
    for (int i = 0; i < p->pass->nsmem; i++)
        if (!p->pass->smem[i].is_static)
            names[n++] = p->pass->smem[i].name;
    for (int i = 0; i < n; i++)
        if (!strcmp(names[i], b->over))
            return ST_OK;
    const char *near = str_nearest_in(b->over, names);
    return desc_fail(&p->t, word, "no dynamic buffer \"%s\" above in this launch%s%s%s", b->over,
                     near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static enum status read_smem_options(struct parser *p, struct slice *rest, struct desc_smem *b)
{
    enum status st = ST_OK;
    bool known;
    while (st == ST_OK && rest->len) {
        struct slice word, left = *rest;
        slice_take_word(&p->t, &left, &word);
        if (slice_starts(&p->t, word, "align="))
            st = read_align(p, word, b);
        else if (slice_starts(&p->t, word, "over="))
            st = b->over ? desc_fail(&p->t, word, "over= twice") : read_over(p, word, b);
        else if (st = desc_read_elements(&p->t, &p->checks, word, &b->elements, &known),
                 st == ST_OK && !known)
            break;
        *rest = left;
    }
    return st;
}

/* The buffer that b lies over, which read_over() has found there. */
static const struct desc_smem *base_of(const struct desc_pass *pass, const struct desc_smem *b)
{
    const struct desc_smem *base = pass->smem;
    while (strcmp(base->name, b->over) != 0)
        base++;
    return base;
}

/* An overlay begins where its base does, so it cannot ask for more alignment. */
static enum status settle_align(struct parser *p, struct slice where, struct desc_smem *b)
{
    const struct desc_smem *base = b->over ? base_of(p->pass, b) : NULL;
    if (!b->align)
        b->align = base ? base->align : 16;
    if (base && b->align > base->align)
        return desc_fail(&p->t, where, "%s lies over %s, which is aligned to %d bytes only",
                         b->name, base->name, base->align);
    return ST_OK;
}

static enum status read_smem(struct parser *p, struct slice rest)
{
    struct slice kind, where;
    slice_take_word(&p->t, &rest, &kind);
    bool is_static = slice_is(&p->t, kind, "static");
    if (!is_static && !slice_is(&p->t, kind, "dynamic"))
        return desc_fail(&p->t, kind, "@smem begins with dynamic or static");
    if (p->pass->nsmem == DESC_SMEM_MAX)
        return desc_fail(&p->t, rest, "more than %d buffers in one launch", DESC_SMEM_MAX);
    char *name;
    enum status st = take_name(p, &rest, "a buffer", &name, &where);
    if (st != ST_OK)
        return st;
    if (buffer_exists(p->d, name))
        st = desc_fail(&p->t, where, "the buffer %s is there twice", name);
    p->pass->smem = xrealloc(p->pass->smem, (size_t)(p->pass->nsmem + 1) * sizeof *p->pass->smem);
    struct desc_smem *b = &p->pass->smem[p->pass->nsmem];
    *b = (struct desc_smem){.name = name, .is_static = is_static};
    if (st == ST_OK)
        st = take_expr(p, &rest, is_static ? SCOPE_CONSTANT : SCOPE_ANY, &b->bytes);
    if (st == ST_OK)
        st = read_smem_options(p, &rest, b);
    if (st == ST_OK)
        st = settle_align(p, where, b);
    if (st == ST_OK)
        st = desc_settle_elements(&p->t, where, b);
    b->doc = slice_line(&p->t, rest);
    p->pass->nsmem++; /* now, so that over= finds earlier buffers only */
    return st;
}

/* ---- @tma: a tensor map that the kernel takes as a parameter ---- */

/* box=ROWS,COLUMNS; a comma inside parentheses belongs to an expression. */
static enum status read_box(struct parser *p, struct slice word, struct desc_tma *t)
{
    const size_t skip = strlen("box=");
    const char *text = p->t.text + word.at;
    size_t comma = skip;
    for (int depth = 0; comma < word.len && (depth || text[comma] != ','); comma++)
        depth += (text[comma] == '(') - (text[comma] == ')');
    if (t->rows)
        return desc_fail(&p->t, word, "box= twice");
    if (comma == word.len)
        return desc_fail(&p->t, word, "a box is written box=ROWS,COLUMNS");
    const struct slice rows = {word.at + skip, comma - skip};
    const struct slice columns = {word.at + comma + 1, word.len - comma - 1};
    enum status st = read_expr(p, rows, SCOPE_CONSTANT, &t->rows);
    return st == ST_OK ? read_expr(p, columns, SCOPE_CONSTANT, &t->columns) : st;
}

static enum status read_swizzle(struct parser *p, struct slice word, struct desc_tma *t)
{
    static const struct {
        const char *word;
        int bytes;
    } kinds[] = {{"swizzle=32", 32}, {"swizzle=64", 64}, {"swizzle=128", 128}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (slice_is(&p->t, word, kinds[i].word)) {
            t->swizzle = kinds[i].bytes;
            return ST_OK;
        }
    return desc_fail(&p->t, word, "swizzle is 32, 64 or 128 bytes");
}

static enum status read_tma_options(struct parser *p, struct slice *rest, struct desc_tma *t)
{
    enum status st = ST_OK;
    while (st == ST_OK && rest->len) {
        struct slice word, left = *rest;
        slice_take_word(&p->t, &left, &word);
        if (slice_starts(&p->t, word, "box="))
            st = read_box(p, word, t);
        else if (slice_starts(&p->t, word, "swizzle="))
            st = read_swizzle(p, word, t);
        else
            break;
        *rest = left;
    }
    return st;
}

static enum status read_tma(struct parser *p, struct slice rest)
{
    struct slice name;
    slice_take_word(&p->t, &rest, &name);
    if (name.len != 1 || !strchr("QKVO", p->t.text[name.at]))
        return desc_fail(&p->t, name, "@tma begins with a tensor: Q, K, V or O");
    if (p->pass->ntma == DESC_TMA_MAX)
        return desc_fail(&p->t, name, "more than %d tensor maps in one launch", DESC_TMA_MAX);
    struct desc_tma *t = &p->pass->tma[p->pass->ntma++];
    *t = (struct desc_tma){.tensor = p->t.text[name.at]};
    enum status st = read_tma_options(p, &rest, t);
    if (st == ST_OK && !t->rows)
        st = desc_fail(&p->t, name, "@tma needs box=ROWS,COLUMNS");
    t->doc = slice_line(&p->t, rest);
    return st;
}

/* ---- the tags that say where a kernel's code comes from and how it is compiled ---- */

/* The rest as one line of text. */
static enum status take_text(struct parser *p, struct slice rest, char **out)
{
    if (!rest.len)
        return desc_fail(&p->t, rest, "@%s needs a text", p->tag);
    *out = slice_line(&p->t, rest);
    return ST_OK;
}

/* "90a": digits and the letter that says "this architecture alone". */
static enum status read_arch(struct parser *p, struct slice rest)
{
    char *text = slice_text(&p->t, rest);
    const size_t digits = strspn(text, "0123456789");
    const bool fine = digits >= 2 && digits <= 3 &&
                      (!text[digits] || (strchr("af", text[digits]) && !text[digits + 1]));
    p->d->arch = text;
    return fine ? ST_OK : desc_fail(&p->t, rest, "@arch is a compute capability such as 90a");
}

/* the tags about code */
static enum status read_include(struct parser *p, struct slice rest)
{
    return take_text(p, rest, &p->d->include);
}

static enum status read_flags(struct parser *p, struct slice rest)
{
    struct slice word, left = rest;
    while (slice_take_word(&p->t, &left, &word)) {
        struct err why = ERR_INIT;
        char *flag = slice_text(&p->t, word);
        enum status st = code_check_flag(p->t.cpu, flag, &why);
        free(flag);
        if (st != ST_OK)
            return desc_fail(&p->t, word, "@flags: %s", why.text);
    }
    return take_text(p, rest, &p->d->flags);
}

static enum status read_compiler(struct parser *p, struct slice rest)
{
    const bool nvcc = slice_is(&p->t, rest, "nvcc");
    if (!nvcc && !slice_is(&p->t, rest, "nvrtc"))
        return desc_fail(&p->t, rest, "@compiler is nvrtc or nvcc");
    p->d->code = nvcc ? CODE_NVCC : CODE_NVRTC;
    return take_text(p, rest, &p->d->compiler);
}

/* A second tag that names the code's file would leave one of them without meaning. */
static enum status take_file(struct parser *p, struct slice rest, enum code_kind kind)
{
    if (p->d->file)
        return desc_fail(&p->t, rest, "@%s: there is one file of code, and it is named above",
                         p->tag);
    p->d->code = kind;
    return take_text(p, rest, &p->d->file);
}

static enum status read_cubin(struct parser *p, struct slice rest)
{
    return take_file(p, rest, CODE_CUBIN);
}

/* FILE:SYMBOL; the symbol is attn_run if left out. */
static enum status read_library(struct parser *p, struct slice rest)
{
    enum status st = take_file(p, rest, CODE_LIBRARY);
    if (st != ST_OK)
        return st;
    char *colon = strrchr(p->d->file, ':');
    if (colon)
        *colon++ = '\0';
    p->d->symbol = xstrdup(colon ? colon : "attn_run");
    if (!*p->d->file || !desc_is_symbol(p->d->symbol))
        return desc_fail(&p->t, rest, "@library is written FILE:FUNCTION");
    return ST_OK;
}

const struct kernel_side_words kernel_sides[KERNEL_SIDES] = {
    [SIDE_CPU] = {"cpu", "CPU"},
    [SIDE_CUDA] = {"cuda", "CUDA"},
};
const char *const desc_backend_words[] = {"cuda", "cpu", "cuda,cpu", NULL};

static enum status read_backend(struct parser *p, struct slice rest)
{
    struct slice word;
    p->d->backends = 0;
    while (slice_take_word(&p->t, &rest, &word)) {
        int side = 0;
        while (side < KERNEL_SIDES && !slice_is(&p->t, word, kernel_sides[side].name))
            side++;
        if (side == KERNEL_SIDES)
            return desc_fail(&p->t, word, "@backend is cuda, cpu or both");
        p->d->backends |= 1u << side;
    }
    return p->d->backends ? ST_OK : desc_fail(&p->t, rest, "@backend needs cuda, cpu or both");
}

/* A descriptor of the program's own without a source: "kernels/peers/NAME.peer". */
static bool is_peer_file(const char *file)
{
    const size_t n = strlen(file);
    return str_starts(file, "kernels/") && n > 5 && !strcmp(file + n - 5, ".peer");
}

/* The library that does the work; alone in a .peer, or around a launch of ours. A user's file cannot
 * pass for a library. */
static enum status read_peer(struct parser *p, struct slice rest)
{
    if (!str_starts(p->t.file, "kernels/"))
        return desc_fail(&p->t, rest, "@peer is for the program's own descriptors");
    if (is_peer_file(p->t.file))
        p->d->code = slice_is(&p->t, rest, "python") ? CODE_PYTHON : CODE_PEER;
    return take_text(p, rest, &p->d->peer);
}

/* MODULE.FUNCTION, as after "py:"; on both backends unless @backend has said otherwise. */
static enum status read_python(struct parser *p, struct slice rest)
{
    char *path = slice_text(&p->t, rest);
    if (p->d->file || !desc_is_python_path(path)) {
        free(path);
        return desc_fail(&p->t, rest, "@python is written MODULE.FUNCTION, and is the only code");
    }
    p->d->code = CODE_PYTHON;
    p->d->symbol = path;
    p->d->peer = xstrdup("python");
    if (p->d->backends == ON_CUDA)
        p->d->backends |= ON_CPU;
    return ST_OK;
}

/* The entry point of a launch where it is not called as the rules say: C++ names, say. */
static enum status read_entry(struct parser *p, struct slice rest)
{
    char *text = slice_text(&p->t, rest);
    const bool good = desc_is_symbol(text) && !p->pass->entry;
    if (!good)
        free(text);
    else
        p->pass->entry = text;
    return good ? ST_OK
                : desc_fail(&p->t, rest, "@entry is the name of one entry point, once a launch");
}

/* ---- the other tags, and the table of all ---- */

static enum status read_text(struct parser *p, struct slice rest, char **out)
{
    if (!rest.len)
        return desc_fail(&p->t, rest, "@%s needs a text", p->tag);
    *out = slice_line(&p->t, rest);
    return ST_OK;
}

/* One reader per tag */

/* "torch:flash", "py:module.function": whoever wrote a .peer has checked it. */
static enum status take_peer_name(struct parser *p, struct slice rest)
{
    struct slice word;
    if (!slice_take_word(&p->t, &rest, &word) || rest.len)
        return desc_fail(&p->t, rest, "@name takes one word");
    p->d->name = slice_text(&p->t, word);
    return ST_OK;
}

static enum status read_name(struct parser *p, struct slice rest)
{
    return is_peer_file(p->t.file) ? take_peer_name(p, rest)
                                   : take_lower_name(p, &rest, "a kernel", &p->d->name);
}

static enum status read_title(struct parser *p, struct slice rest)
{
    return read_text(p, rest, &p->d->title);
}

static enum status read_idea(struct parser *p, struct slice rest)
{
    return read_text(p, rest, &p->d->idea);
}

static enum status read_after(struct parser *p, struct slice rest)
{
    return take_lower_name(p, &rest, "a kernel", &p->d->after);
}

static enum status read_dtypes(struct parser *p, struct slice rest)
{
    struct slice word;
    while (slice_take_word(&p->t, &rest, &word)) {
        enum dtype t;
        struct err err = ERR_INIT;
        if (slice_is(&p->t, word, "parts=f32")) {
            p->d->parts_f32 = true;
            continue;
        }
        char *text = slice_text(&p->t, word);
        enum status st = dtype_parse(text, &t, &err);
        free(text);
        if (st != ST_OK)
            return desc_fail(&p->t, word, "@dtypes: %s", err.text);
        p->d->dtypes |= 1u << t;
    }
    return p->d->dtypes ? ST_OK
                        : desc_fail(&p->t, rest, "@dtypes needs at least one of f16 bf16 f32");
}

static enum status read_later(struct parser *p, struct slice rest)
{
    struct slice word;
    while (slice_take_word(&p->t, &rest, &word)) {
        char *name = slice_text(&p->t, word);
        const int i = desc_param_index(p->d, name);
        free(name);
        if (i < 0)
            return desc_fail(&p->t, word, "@later names parameters that stand above it");
        if (p->d->by_shape[i])
            return desc_fail(
                &p->t, word,
                "@later: a default that follows the shape was not one for all rows before");
        p->d->later |= 1u << i;
    }
    return p->d->later ? ST_OK : desc_fail(&p->t, rest, "@later needs the name of a parameter");
}

static enum status read_requires(struct parser *p, struct slice rest)
{
    p->checks.requires_ = rest;
    return read_expr(p, rest, SCOPE_ANY, &p->d->requires_);
}

static enum status read_pages(struct parser *p, struct slice rest)
{
    return read_expr(p, rest, SCOPE_ANY, &p->d->pages);
}

static enum status read_threads(struct parser *p, struct slice rest)
{
    if (p->pass->threads)
        return desc_fail(&p->t, rest, "a second @threads for the same launch");
    return read_expr(p, rest, SCOPE_CONSTANT, &p->pass->threads);
}

static enum status read_cluster(struct parser *p, struct slice rest)
{
    if (p->pass->cluster)
        return desc_fail(&p->t, rest, "a second @cluster for the same launch");
    return read_expr(p, rest, SCOPE_ANY, &p->pass->cluster);
}

static enum status read_grid(struct parser *p, struct slice rest)
{
    if (p->pass->grid[0])
        return desc_fail(&p->t, rest, "a second @grid for the same launch");
    enum status st = take_expr(p, &rest, SCOPE_ANY, &p->pass->grid[0]);
    for (int i = 1; i < 3 && st == ST_OK && rest.len; i++)
        st = take_expr(p, &rest, SCOPE_ANY, &p->pass->grid[i]);
    if (st == ST_OK && rest.len)
        return desc_fail(&p->t, rest,
                         "a grid has three sides; blanks inside an expression need parentheses");
    return st;
}

static enum status read_pass(struct parser *p, struct slice rest)
{
    if (p->d->npasses == DESC_PASSES_MAX)
        return desc_fail(&p->t, rest, "more than %d launches", DESC_PASSES_MAX);
    p->pass = &p->d->passes[p->d->npasses++];
    enum status st = take_lower_name(p, &rest, "a pass", &p->pass->name);
    for (int i = 1; st == ST_OK && i < p->d->npasses - 1; i++)
        if (!strcmp(p->d->passes[i].name, p->pass->name))
            return desc_fail(&p->t, rest, "the pass %s is there twice", p->pass->name);
    return st;
}

static enum status read_workspace(struct parser *p, struct slice rest)
{
    if (p->d->nws == DESC_WS_MAX)
        return desc_fail(&p->t, rest, "more than %d workspaces", DESC_WS_MAX);
    struct desc_workspace *w = &p->d->ws[p->d->nws];
    struct slice where;
    enum status st = take_name(p, &rest, "a workspace", &w->name, &where);
    if (st != ST_OK)
        return st;
    for (int i = 0; i < p->d->nws; i++)
        if (!strcmp(p->d->ws[i].name, w->name))
            st = desc_fail(&p->t, where, "the workspace %s is there twice", w->name);
    p->d->nws++;
    if (st == ST_OK)
        st = take_expr(p, &rest, SCOPE_ANY, &w->bytes);
    struct slice word, left = rest;
    if (st == ST_OK && slice_take_word(&p->t, &left, &word)) {
        w->zero = slice_is(&p->t, word, "zero");
        w->once = slice_is(&p->t, word, "once");
    }
    if (w->zero || w->once)
        rest = left;
    w->doc = slice_line(&p->t, rest);
    return st;
}

static enum status read_traffic(struct parser *p, struct slice rest)
{
    struct slice word;
    slice_take_word(&p->t, &rest, &word);
    if (!slice_is(&p->t, word, "read"))
        return desc_fail(&p->t, word, "@traffic is written: read EXPR write EXPR");
    enum status st = take_expr(p, &rest, SCOPE_ANY, &p->d->read);
    if (st != ST_OK)
        return st;
    slice_take_word(&p->t, &rest, &word);
    if (!slice_is(&p->t, word, "write"))
        return desc_fail(&p->t, word, "@traffic: \"write EXPR\" is missing after what is read");
    st = take_expr(p, &rest, SCOPE_ANY, &p->d->write);
    if (st == ST_OK && rest.len)
        return desc_fail(&p->t, rest, "@traffic: blanks inside an expression need parentheses");
    return st;
}

static enum status read_unit(struct parser *p, struct slice rest)
{
    p->d->unit = slice_is(&p->t, rest, "tensor") ? UNIT_TENSOR : UNIT_SCALAR;
    if (p->d->unit == UNIT_TENSOR || slice_is(&p->t, rest, "scalar"))
        return ST_OK;
    return desc_fail(&p->t, rest, "@unit is scalar or tensor");
}

/* TAG_GPU: has no meaning for C on the CPU. */
enum { TAG_ONCE = 0, TAG_MANY = 1, TAG_REQUIRED = 2, TAG_GPU = 4 };

static const struct tag {
    const char *name;
    enum status (*read)(struct parser *p, struct slice rest);
    int flags; /* TAG_ONCE: at most once */
} tags[] = {
    // clang-format off
    {"name",      read_name,      TAG_REQUIRED},
    {"title",     read_title,     TAG_REQUIRED},
    {"idea",      read_idea,      TAG_ONCE},
    {"after",     read_after,     TAG_ONCE},
    {"dtypes",    read_dtypes,    TAG_REQUIRED},
    {"requires",  read_requires,  TAG_ONCE},
    {"pages",     read_pages,     TAG_ONCE},
    {"param",     read_param,     TAG_MANY},
    {"later",     read_later,     TAG_ONCE},
    {"threads",   read_threads,   TAG_MANY | TAG_GPU},
    {"grid",      read_grid,      TAG_MANY},
    {"smem",      read_smem,      TAG_MANY | TAG_GPU},
    {"tma",       read_tma,       TAG_MANY | TAG_GPU},
    {"cluster",   read_cluster,   TAG_MANY | TAG_GPU},
    {"pass",      read_pass,      TAG_MANY},
    {"workspace", read_workspace, TAG_MANY},
    {"traffic",   read_traffic,   TAG_ONCE},
    {"unit",      read_unit,      TAG_ONCE},
    {"arch",      read_arch,     TAG_ONCE | TAG_GPU},
    {"include",   read_include,  TAG_ONCE},
    {"flags",     read_flags,    TAG_ONCE},
    {"compiler",  read_compiler, TAG_ONCE | TAG_GPU},
    {"cubin",     read_cubin,    TAG_ONCE | TAG_GPU},
    {"library",   read_library,  TAG_ONCE | TAG_GPU},
    {"backend",   read_backend,  TAG_ONCE | TAG_GPU},
    {"entry",     read_entry,    TAG_MANY | TAG_GPU},
    {"peer",      read_peer,     TAG_ONCE | TAG_GPU},
    {"python",    read_python,   TAG_ONCE | TAG_GPU},
    // clang-format on
};
enum { TAGS = sizeof tags / sizeof *tags };

static const char *tag_name(const void *unused, size_t i)
{
    (void)unused;
    return i < TAGS ? tags[i].name : NULL;
}

static enum status read_tag(struct parser *p, struct slice name, struct slice rest)
{
    for (unsigned i = 0; i < TAGS; i++) {
        struct slice word = {name.at + 1, name.len - 1};
        if (!slice_is(&p->t, word, tags[i].name))
            continue;
        if (p->seen & 1u << i && !(tags[i].flags & TAG_MANY))
            return desc_fail(&p->t, name, "a second @%s", tags[i].name);
        if (p->t.cpu && tags[i].flags & TAG_GPU)
            return desc_fail(&p->t, name, "@%s means nothing for C on the CPU", tags[i].name);
        p->seen |= 1u << i;
        p->tag = tags[i].name;
        return tags[i].read(p, rest);
    }
    char *word = xstrndup(p->t.text + name.at + 1, name.len - 1);
    const char *near = str_nearest(word, tag_name, NULL);
    enum status st = desc_fail(&p->t, name, "unknown tag @%s%s%s%s", word,
                               near ? "; did you mean @" : "", near ? near : "", near ? "?" : "");
    free(word);
    return st;
}

/* The first required tag that was not there, or NULL. */
static const char *missing_tag(const struct parser *p)
{
    for (unsigned i = 0; i < TAGS; i++)
        if (tags[i].flags & TAG_REQUIRED && !(p->seen & 1u << i))
            return tags[i].name;
    return NULL;
}

enum status desc_parse_source(const struct desc_source *src, struct kernel_desc **out,
                              struct err *err)
{
    struct parser p = {.t = {.file = src->file, .source = src->text, .err = err}};
    p.d = xcalloc(1, sizeof *p.d);
    p.d->texts = arena_new();
    p.d->params = xcalloc(1, sizeof *p.d->params);
    p.d->backends = ON_CUDA;
    p.d->npasses = 1;
    p.d->passes = xcalloc(DESC_PASSES_MAX, sizeof *p.d->passes);
    p.pass = &p.d->passes[0];
    *out = NULL;
    enum status st = desc_copy_comment(&p.t, src->len);
    if (p.t.cpu) {
        p.d->code = CODE_C;
        p.d->backends = ON_CPU;
    }
    struct slice name, rest;
    for (size_t pos = 0; st == ST_OK && desc_next_tag(&p.t, &pos, &name, &rest);)
        st = read_tag(&p, name, rest);
    if (st == ST_OK) {
        p.d->passes[0].name = xstrdup(p.d->name ? p.d->name : "");
        st = desc_check(&p.t, p.d, &p.checks, missing_tag(&p), src->trusted);
    }
    free(p.t.text);
    if (st != ST_OK) {
        desc_free(p.d);
        return st;
    }
    p.d->passes = xrealloc(p.d->passes, (size_t)p.d->npasses * sizeof *p.d->passes);
    p.d->source = src->text;
    p.d->source_len = src->len;
    p.d->hash = xcalloc(1, sizeof *p.d->hash);
    p.d->path = xstrdup(src->file);
    *out = p.d;
    return ST_OK;
}

enum status desc_parse(const char *file, const char *source, size_t len, struct kernel_desc **out,
                       struct err *err)
{
    const struct desc_source src = {.file = file, .text = source, .len = len};
    return desc_parse_source(&src, out, err);
}
