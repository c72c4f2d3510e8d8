/* desc_parse.c - reads a descriptor: one reader per tag, in one table.
 *
 * Expressions are kept for desc_check.c, which looks at them when all parameters are known.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "kernel/desc_parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "kernel/desc_parser.h"

/* Pieces of tags */

bool desc_is_identifier(const char *word)
{
    if (!isalpha((unsigned char)*word) && *word != '_')
        return false;
    while (isalnum((unsigned char)*word) || *word == '_')
        word++;
    return !*word;
}

enum status desc_read_expr(struct parser *p, struct slice where, enum scope scope,
                           struct expr **out)
{
    if (!where.len)
        return desc_fail(p, where, "@%s needs an expression", p->tag);
    char *text = slice_line(p, where);
    struct err err = ERR_INIT;
    enum status st = expr_parse(text, out, &err);
    if (st == ST_OK) {
        p->checks[p->nchecks++] = (struct check){*out, where, scope, p->tag};
    } else {
        /* Offsets agree only if no run of blanks was squeezed. */
        bool exact = strlen(text) == where.len && err.at >= 0 && (size_t)err.at <= where.len;
        struct slice at =
            exact ? (struct slice){where.at + (size_t)err.at, (size_t)err.len} : where;
        desc_fail(p, at, "@%s: %s", p->tag, err.text);
    }
    free(text);
    return st;
}

enum status desc_take_expr(struct parser *p, struct slice *rest, enum scope scope,
                           struct expr **out)
{
    struct slice word;
    slice_take_word(p, rest, &word);
    return desc_read_expr(p, word, scope, out);
}

/* Takes a name; what: "a parameter". The caller frees *out. */
enum status desc_take_name(struct parser *p, struct slice *rest, const char *what, char **out,
                           struct slice *where)
{
    if (!slice_take_word(p, rest, where))
        return desc_fail(p, *where, "@%s needs the name of %s", p->tag, what);
    char *name = slice_text(p, *where);
    if (!desc_is_identifier(name) || where->len > NAME_MAX_LEN) {
        desc_fail(p, *where, "\"%s\" cannot be the name of %s: letters, digits and _, at most %d",
                  name, what, NAME_MAX_LEN);
        free(name);
        return ST_USAGE;
    }
    *out = name;
    return ST_OK;
}

/* Kernel and pass names become entry points, file names and words of the command line. */
static enum status take_lower_name(struct parser *p, struct slice *rest, const char *what,
                                   char **out)
{
    struct slice where;
    enum status st = desc_take_name(p, rest, what, out, &where);
    for (const char *c = st == ST_OK ? *out : ""; *c; c++)
        if (isupper((unsigned char)*c))
            return desc_fail(p, where, "the name of %s is lower case: \"%s\"", what, *out);
    if (st == ST_OK && rest->len)
        return desc_fail(p, *rest, "@%s takes one word", p->tag);
    return st;
}

static enum status read_text(struct parser *p, struct slice rest, char **out)
{
    if (!rest.len)
        return desc_fail(p, rest, "@%s needs a text", p->tag);
    *out = slice_line(p, rest);
    return ST_OK;
}

/* One reader per tag */

/* "torch:flash", "py:module.function": whoever wrote a .peer has checked it. */
static enum status take_peer_name(struct parser *p, struct slice rest)
{
    struct slice word;
    if (!slice_take_word(p, &rest, &word) || rest.len)
        return desc_fail(p, rest, "@name takes one word");
    p->d->name = slice_text(p, word);
    return ST_OK;
}

static enum status read_name(struct parser *p, struct slice rest)
{
    return desc_is_peer_file(p->file) ? take_peer_name(p, rest)
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
    while (slice_take_word(p, &rest, &word)) {
        char *text = slice_text(p, word);
        enum dtype t;
        struct err err = ERR_INIT;
        enum status st = dtype_parse(text, &t, &err);
        free(text);
        if (st != ST_OK)
            return desc_fail(p, word, "@dtypes: %s", err.text);
        p->d->dtypes |= 1u << t;
    }
    return p->d->dtypes ? ST_OK : desc_fail(p, rest, "@dtypes needs at least one of f16 bf16 f32");
}

static enum status read_requires(struct parser *p, struct slice rest)
{
    p->requires_ = rest;
    return desc_read_expr(p, rest, SCOPE_ANY, &p->d->requires_);
}

static enum status read_threads(struct parser *p, struct slice rest)
{
    if (p->pass->threads)
        return desc_fail(p, rest, "a second @threads for the same launch");
    return desc_read_expr(p, rest, SCOPE_CONSTANT, &p->pass->threads);
}

static enum status read_cluster(struct parser *p, struct slice rest)
{
    if (p->pass->cluster)
        return desc_fail(p, rest, "a second @cluster for the same launch");
    return desc_read_expr(p, rest, SCOPE_ANY, &p->pass->cluster);
}

static enum status read_grid(struct parser *p, struct slice rest)
{
    if (p->pass->grid[0])
        return desc_fail(p, rest, "a second @grid for the same launch");
    enum status st = desc_take_expr(p, &rest, SCOPE_ANY, &p->pass->grid[0]);
    for (int i = 1; i < 3 && st == ST_OK && rest.len; i++)
        st = desc_take_expr(p, &rest, SCOPE_ANY, &p->pass->grid[i]);
    if (st == ST_OK && rest.len)
        return desc_fail(p, rest,
                         "a grid has three sides; blanks inside an expression need parentheses");
    return st;
}

static enum status read_pass(struct parser *p, struct slice rest)
{
    if (p->d->npasses == DESC_PASSES_MAX)
        return desc_fail(p, rest, "more than %d launches", DESC_PASSES_MAX);
    p->pass = &p->d->passes[p->d->npasses++];
    enum status st = take_lower_name(p, &rest, "a pass", &p->pass->name);
    for (int i = 1; st == ST_OK && i < p->d->npasses - 1; i++)
        if (!strcmp(p->d->passes[i].name, p->pass->name))
            return desc_fail(p, rest, "the pass %s is there twice", p->pass->name);
    return st;
}

static enum status read_workspace(struct parser *p, struct slice rest)
{
    if (p->d->nws == DESC_WS_MAX)
        return desc_fail(p, rest, "more than %d workspaces", DESC_WS_MAX);
    struct desc_workspace *w = &p->d->ws[p->d->nws];
    struct slice where;
    enum status st = desc_take_name(p, &rest, "a workspace", &w->name, &where);
    if (st != ST_OK)
        return st;
    for (int i = 0; i < p->d->nws; i++)
        if (!strcmp(p->d->ws[i].name, w->name))
            st = desc_fail(p, where, "the workspace %s is there twice", w->name);
    p->d->nws++;
    if (st == ST_OK)
        st = desc_take_expr(p, &rest, SCOPE_ANY, &w->bytes);
    struct slice word, left = rest;
    if (st == ST_OK && slice_take_word(p, &left, &word) && slice_is(p, word, "zero")) {
        w->zero = true;
        rest = left;
    }
    w->doc = slice_line(p, rest);
    return st;
}

static enum status read_traffic(struct parser *p, struct slice rest)
{
    struct slice word;
    slice_take_word(p, &rest, &word);
    if (!slice_is(p, word, "read"))
        return desc_fail(p, word, "@traffic is written: read EXPR write EXPR");
    enum status st = desc_take_expr(p, &rest, SCOPE_ANY, &p->d->read);
    if (st != ST_OK)
        return st;
    slice_take_word(p, &rest, &word);
    if (!slice_is(p, word, "write"))
        return desc_fail(p, word, "@traffic: \"write EXPR\" is missing after what is read");
    st = desc_take_expr(p, &rest, SCOPE_ANY, &p->d->write);
    if (st == ST_OK && rest.len)
        return desc_fail(p, rest, "@traffic: blanks inside an expression need parentheses");
    return st;
}

static enum status read_unit(struct parser *p, struct slice rest)
{
    p->d->unit = slice_is(p, rest, "tensor") ? UNIT_TENSOR : UNIT_SCALAR;
    if (p->d->unit == UNIT_TENSOR || slice_is(p, rest, "scalar"))
        return ST_OK;
    return desc_fail(p, rest, "@unit is scalar or tensor");
}

enum { TAG_ONCE = 0, TAG_MANY = 1, TAG_REQUIRED = 2 };

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
    {"param",     desc_read_param,     TAG_MANY},
    {"threads",   read_threads,   TAG_MANY},
    {"grid",      read_grid,      TAG_MANY},
    {"smem",      desc_read_smem,      TAG_MANY},
    {"cluster",   read_cluster,   TAG_MANY},
    {"pass",      read_pass,      TAG_MANY},
    {"workspace", read_workspace, TAG_MANY},
    {"traffic",   read_traffic,   TAG_ONCE},
    {"unit",      read_unit,      TAG_ONCE},
    {"include",   desc_read_include,  TAG_ONCE},
    {"flags",     desc_read_flags,    TAG_ONCE},
    {"compiler",  desc_read_compiler, TAG_ONCE},
    {"cubin",     desc_read_cubin,    TAG_ONCE},
    {"library",   desc_read_library,  TAG_ONCE},
    {"backend",   desc_read_backend,  TAG_ONCE},
    {"entry",     desc_read_entry,    TAG_MANY},
    {"peer",      desc_read_peer,     TAG_ONCE},
    {"python",    desc_read_python,   TAG_ONCE},
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
        if (!slice_is(p, word, tags[i].name))
            continue;
        if (p->seen & 1u << i && !(tags[i].flags & TAG_MANY))
            return desc_fail(p, name, "a second @%s", tags[i].name);
        p->seen |= 1u << i;
        p->tag = tags[i].name;
        return tags[i].read(p, rest);
    }
    char *word = xstrndup(p->text + name.at + 1, name.len - 1);
    const char *near = str_nearest(word, tag_name, NULL);
    enum status st = desc_fail(p, name, "unknown tag @%s%s%s%s", word,
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
    struct parser p = {.file = src->file, .source = src->text, .err = err};
    p.d = xcalloc(1, sizeof *p.d);
    p.d->backends = ON_CUDA;
    p.d->npasses = 1;
    p.pass = &p.d->passes[0];
    *out = NULL;
    enum status st = desc_copy_comment(&p, src->len);
    struct slice name, rest;
    for (size_t pos = 0; st == ST_OK && desc_next_tag(&p, &pos, &name, &rest);)
        st = read_tag(&p, name, rest);
    if (st == ST_OK) {
        p.d->passes[0].name = xstrdup(p.d->name ? p.d->name : "");
        st = desc_check(&p, missing_tag(&p), src->trusted);
    }
    free(p.text);
    if (st != ST_OK) {
        desc_free(p.d);
        return st;
    }
    p.d->source = src->text;
    p.d->source_len = src->len;
    p.d->source_hash = src->hash;
    p.d->path = xstrdup(src->file);
    *out = p.d;
    return ST_OK;
}
