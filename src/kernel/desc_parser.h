/* desc_parser.h - the descriptor parser's state and its view of the text; only for desc_*.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_DESC_PARSER_H
#define ATTNSCOPE_KERNEL_DESC_PARSER_H

#include "kernel/desc_parse.h"

/* A piece of the text, by offset. */
struct slice {
    size_t at, len;
};

/* Where an expression stands decides which names it may use. */
enum scope {
    SCOPE_ANY,      /* all names */
    SCOPE_CONSTANT, /* what the compiler gets: no name that changes from call to call */
};

/* An expression to look at again once all names are known. */
struct check {
    const struct expr *expr;
    struct slice where;
    enum scope scope;
    const char *tag;
};

/* threads, three grid sides, cluster and buffers of each pass, workspaces, requires, traffic. */
enum { CHECKS_MAX = DESC_PASSES_MAX * (5 + DESC_SMEM_MAX) + DESC_WS_MAX + 3 };
enum { NAME_MAX_LEN = 31 };

struct parser {
    const char *file;
    const char *source;
    char *text; /* the comment without decoration, at the source's offsets; blanks before it */
    size_t len; /* up to the end of the comment */
    bool bare;  /* an .attn file: a descriptor without a source, all of it text */
    struct kernel_desc *d;
    struct desc_pass *pass; /* the one that @threads, @grid, @smem and @cluster belong to */
    const char *tag;        /* being read */
    struct slice requires_;
    unsigned seen; /* bit per entry of the table of tags */
    struct check checks[CHECKS_MAX];
    int nchecks;
    struct err *err;
};

/* desc_text.c */

/* The first comment of the source, decoration blanked out, becomes p->text. */
enum status desc_copy_comment(struct parser *p, size_t len);
/* Where the first comment of a source ends: its code begins there. */
size_t desc_comment_end(const char *source, size_t len);
/* Finds the next tag from *pos on: its name, and the text up to the next tag or blank line. */
bool desc_next_tag(const struct parser *p, size_t *pos, struct slice *name, struct slice *rest);
/* Sets the sentence "file:line:column: ..." with its mark; returns ST_USAGE. */
enum status desc_fail(struct parser *p, struct slice where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

struct slice slice_trim(const struct parser *p, struct slice s);
/* The slice as one line: runs of blanks, line ends included, become one space. Freed by the
 * caller, as the next. */
char *slice_line(const struct parser *p, struct slice s);
char *slice_text(const struct parser *p, struct slice s);
bool slice_is(const struct parser *p, struct slice s, const char *word);
bool slice_starts(const struct parser *p, struct slice s, const char *prefix);
/* Takes the first word off `rest`; blanks inside parentheses do not end it. */
bool slice_take_word(const struct parser *p, struct slice *rest, struct slice *word);
/* Where `name` stands as a whole word within the slice; the slice itself if nowhere. */
struct slice slice_find_word(const struct parser *p, struct slice where, const char *name);

/* desc_parse.c: pieces that several tags are made of. An expression is put on the list of checks.
 * A name is the caller's to free; `what` is for messages: "a parameter". */
bool desc_is_identifier(const char *word);
enum status desc_read_expr(struct parser *p, struct slice where, enum scope scope,
                           struct expr **out);
enum status desc_take_expr(struct parser *p, struct slice *rest, enum scope scope,
                           struct expr **out);
enum status desc_take_name(struct parser *p, struct slice *rest, const char *what, char **out,
                           struct slice *where);

/* desc_param.c, desc_smem.c: the tags @param and @smem */
enum status desc_read_param(struct parser *p, struct slice rest);
enum status desc_read_smem(struct parser *p, struct slice rest);

/* desc_code.c: the tags about code */
enum status desc_read_include(struct parser *p, struct slice rest);
enum status desc_read_flags(struct parser *p, struct slice rest);
enum status desc_read_compiler(struct parser *p, struct slice rest);
enum status desc_read_cubin(struct parser *p, struct slice rest);
enum status desc_read_library(struct parser *p, struct slice rest);
enum status desc_read_backend(struct parser *p, struct slice rest);
enum status desc_read_entry(struct parser *p, struct slice rest);
enum status desc_read_peer(struct parser *p, struct slice rest);
enum status desc_read_python(struct parser *p, struct slice rest);
enum status desc_check_code(struct parser *p);

/* desc_check.c: what needs the whole descriptor. `missing` names a required tag that is not
 * there, or is NULL. A trusted source is split but not checked again. */
enum status desc_check(struct parser *p, const char *missing, bool trusted);

/* A descriptor of the program's own without a source: "kernels/peers/NAME.peer". */
bool desc_is_peer_file(const char *file);

#endif
