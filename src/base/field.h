/* field.h - what the program knows of a value: one line in a table says its name, type, unit, legal
 * range, words, heading, digits and meaning, and everybody reads it there.
 *
 * A table describes the members of a C struct, and ends with a field without a name. Keys that a
 * user sets (shape, inputs, options), members of a request and columns of a row are all fields:
 * text, JSON, SQLite, the wire, help, completion and the manual follow from the line. Names are
 * stable; those of rows are lower_snake_case with the unit in the name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_FIELD_H
#define ATTNSCOPE_BASE_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

enum field_type {
    FIELD_TEXT,  /* char *, owned by the struct; NULL is unknown */
    FIELD_BOOL,  /* int; 0, 1, -1 unknown */
    FIELD_INT,   /* int64_t; INT_UNKNOWN. With `words` the index into them */
    FIELD_REAL,  /* double; NaN unknown */
    FIELD_JSON,  /* json_t *, owned by the struct; NULL is unknown */
    FIELD_FLAG,  /* bool; never unknown, like all that follow */
    FIELD_COUNT, /* int */
    FIELD_BITS,  /* uint64_t of which every bit counts; in JSON the bits as a signed integer */
    FIELD_WORD,  /* an enum: the index into `words` */
};

enum {
    FIELD_DOUBLES = 1,    /* arrow keys halve and double it */
    FIELD_AUTO = 2,       /* "auto" is how 0, or no text, is written: the program chooses */
    FIELD_PERCENT = 4,    /* written as per cent */
    FIELD_SECOND = 8,     /* a second name of another field's member; not in JSON */
    FIELD_UNKEPT = 16,    /* only in the row at hand: neither stored nor printed */
    FIELD_LOCAL = 32,     /* never leaves the process */
    FIELD_ALWAYS = 64,    /* written even where it has its usual value */
    FIELD_BARE = 128,     /* written without its name: "f16", "causal" */
    FIELD_RARE = 256,     /* where room is scarce, it comes last */
    FIELD_FICKLE = 512,   /* what was known may be unknown later: a worker says so too */
    FIELD_NUMERIC = 1024, /* a text that is a number, also in JSON, where it can be read as one */
    FIELD_OF_SAMPLES = 4096, /* a time, or comes of times: unknown where no sample counts */
    FIELD_ENDLESS = 2048,    /* infinities and NaN are values of it: words in JSON */
};

/* Where a field is more than its member; NULL: nothing special. `row` is the struct. */
struct field_hooks {
    enum status (*set)(void *row, const char *text, struct err *err); /* instead of the usual */
    void (*get)(const void *row, struct str *out);                    /* likewise */
    void (*step)(void *row, int dir);                                 /* likewise */
    void (*after)(void *row);         /* it was set in the usual way: what hangs on it follows */
    bool (*implied)(const void *row); /* others say it now: need not be written */
    json_t *(*json)(const void *row); /* makes the value; there is no member, it is never read */
    const char *(*word_doc)(const char *word); /* what a word means, where word_docs is NULL */
};

struct field {
    const char *name; /* NULL ends a table */
    enum field_type type;
    unsigned flags;
    size_t offset;
    const char *title;            /* heading in a table, where it is not the name; else NULL */
    int digits;                   /* significant digits for text output; 0: default (4) */
    const char *unit;             /* for help: "us", "bytes"; NULL or "": none */
    const char *doc;              /* one sentence for help and the manual */
    double lo, hi;                /* legal range of a number, both inclusive; both 0: any */
    const char *const *words;     /* all that it may be, NULL-terminated; NULL: no words */
    const char *const *word_docs; /* what each means, in their order; or NULL */
    const char *example; /* values to try: in a sentence, or as a first axis of a sweep; or NULL */
    const struct field_hooks *hooks; /* or NULL */
};

/* A field that a function makes: `json` gives its value, new, or NULL. Its sentence comes third, then
 * whatever else is to be said. */
#define FIELD_MADE(name_, json_, ...)                                                             \
    {                                                                                             \
        .name = (name_), .type = FIELD_JSON, .hooks = &(const struct field_hooks){.json = json_}, \
        .doc = __VA_ARGS__                                                                        \
    }

/* FIELD(FIELD_REAL, run_row, median_us, .unit = "us", .doc = "Median time of a run.") */
#define FIELD(type_, struct_, member_, ...) FIELD_AT(#member_, type_, struct_, member_, __VA_ARGS__)
/* The same where name and member differ. */
#define FIELD_AT(name_, type_, struct_, member_, ...)                                              \
    {                                                                                              \
        .name = (name_), .type = (type_), .offset = offsetof(struct struct_, member_), __VA_ARGS__ \
    }

/* FIELD_TABLES(plan_fields, run_fields): tables as a list. */
#define FIELD_TABLES(...) ((const struct field *const[]){__VA_ARGS__, NULL})

/* The field called `name`, or NULL. */
const struct field *field_find(const struct field *fields, const char *name);
/* The same in several tables, NULL-terminated; the first that has it counts. */
const struct field *field_find_in(const struct field *const *tables, const char *name);
/* What stands above a column of it. */
const char *field_title(const struct field *f);
/* Is it read as words, and not as a number? What is made or JSON is a number where it has a unit. */
bool field_is_text(const struct field *f);
/* What a word of it means; NULL when its text says so. */
const char *field_word_doc(const struct field *f, const char *word);

/* ---- one member, seen through its field ---- */

void field_set_unknown(const struct field *f, void *row);           /* frees nothing */
void field_clear(const struct field *f, void *row);                 /* frees, then unknown */
void field_copy(const struct field *f, void *dst, const void *src); /* dst's is freed first */
bool field_equal(const struct field *f, const void *a, const void *b);
bool field_same(const struct field *f, const void *a, const void *b); /* as a user reads them */
bool field_known(const struct field *f, const void *row);
/* The number that it is: integers, reals, truth values and the index of a word; else NaN. */
double field_number(const struct field *f, const void *row);
/* The text or word that it is, borrowed; NULL: unknown, or neither. */
const char *field_word(const struct field *f, const void *row);
/* Makes a FIELD_TEXT a copy of `text`, NULL: unknown. */
void field_put_text(const struct field *f, void *row, const char *text);

/* Sets it from what a user writes; ST_USAGE names the field, its range or words, and the nearest. */
enum status field_set(const struct field *f, void *row, const char *text, struct err *err);
/* Sets a FIELD_INT or FIELD_COUNT; its range is the caller's business. */
void field_set_int(const struct field *f, void *row, int64_t value);
/* Sets it as it is in another struct. What hangs on it follows. */
void field_take(const struct field *f, void *dst, const void *src);
/* Appends it as field_set() takes it back; "-" for unknown. */
void field_get(const struct field *f, const void *row, struct str *out);
char *field_text(const struct field *f, const void *row); /* the same; the caller frees it */
/* One arrow key's worth: dir -1 or 1. Numbers halve and double or count, words go round. May leave
 * the legal range; field_check() tells. */
void field_step(const struct field *f, void *row, int dir);
/* Appends values to try around the present one, as an axis takes them: all words, the example, else
 * sizes that double, "8..512:x2", or "0,1,2,4" where 0 is one. */
void field_tries(const struct field *f, const void *row, struct str *out);
/* Is a number within its range? */
enum status field_check(const struct field *f, const void *row, struct err *err);
/* Do others say it at present? */
bool field_implied(const struct field *f, const void *row);

/* ---- JSON ---- */

/* NULL (which becomes null) for unknown values and infinities. */
json_t *field_to_json(const struct field *f, const void *row);
/* Has `v` the type and, if `ranges`, the range? null is right where unknown is. */
bool field_fits(const struct field *f, const json_t *v, bool ranges);
/* Takes over a value that fits. */
void field_from_json(const struct field *f, void *row, const json_t *v);
/* "a whole number from 0 to 64", "one of cold, hot": for the sentence of a refusal. */
void field_wanted(const struct field *f, struct str *out);

#endif
