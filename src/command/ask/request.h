/* request.h - what is asked of kernels: problem, options, kernels and their parameters. Verbs, screens,
 * sweeps, lessons and reports get theirs here and nowhere else, from words and pairs, over the
 * session's settings; what is done with it starts in measure.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_REQUEST_H
#define ATTNSCOPE_COMMAND_REQUEST_H

#include "command/session.h"

/* Kernels may carry parameters of their own, as in qtile_seq@BR=32@BC=64, so that one kernel can
 * stand beside itself. */
struct request {
    struct problem problem;
    struct options options;
    const struct kernel **kernels;
    struct param_values *params;      /* one per kernel, for the side in `descs` */
    const struct kernel_desc **descs; /* of the side that the backend takes; NULL: not there */
    char **own;                       /* "BR=32@BC=64" as given after @, or NULL */
    int nkernels;
};

/* ---- making ---- */

enum {
    REQUEST_PLAN = 1,    /* of the CUDA kernels, whatever the backend */
    REQUEST_AXES = 2,    /* pairs that are lists or ranges are left alone */
    REQUEST_C = 8,       /* of the C kernels, whatever the backend */
    REQUEST_COUNTS = 32, /* what the simulator counts: it runs what names no backend */
    REQUEST_FRESH = 4,   /* over the defaults, not over the session's settings */
    /* Without a backend by name and without a GPU, a parameter that the CUDA source of a kernel has alone leaves that
     * kernel's C version out: `descs` is NULL, as where there is none. */
    REQUEST_MEANS_CUDA = 16,
    REQUEST_UNSETTLED = 64, /* what "auto" is may change yet, so nothing is said of it */
    REQUEST_AGAIN =
        128, /* of a call of which one was made already: its pairs are taken once more */
};
/* Words are names of kernels between commas ("all", "peers") and parts of a shape; pairs are keys of
 * shape and input, options, parameters of the kernels. The shape is checked. An error marks the
 * call's word or pair; what nobody knows is one. */
enum status request_make(struct session *s, struct cmd_call *c, unsigned flags, struct request *out,
                         struct err *err);
/* The same from the call's words first .. first+count-1 alone. */
enum status request_make_words(struct session *s, struct cmd_call *c, int first, int count,
                               unsigned flags, struct request *out, struct err *err);
/* The same with `kernels` in the place of the call's first word. */
enum status request_make_for(struct session *s, struct cmd_call *c, const char *kernels,
                             unsigned flags, struct request *out, struct err *err);
/* The same for who has no call: `kernels` is one word or NULL, `more` further pairs and words up to one without
 * text, {{"S", "512"}, {"f32"}, {0}}, or NULL. On failure `out` is empty and may be cleared. */
struct request_word {
    const char *text, *value; /* a key and its value, or a word and NULL */
};
enum status request_of(struct session *s, const char *kernels, const struct request_word *more,
                       unsigned flags, struct request *out, struct err *err);
/* "B=1 H=8 S=512 D=64 f16" or "BR=64" as such words, behind the n that are there, `most` in all; `text` is cut up. Returns how
 * many there are. */
int request_split(char *text, struct request_word *out, int n, int most);
/* Does the call name the kernel "auto"? */
bool request_names_auto(const struct session *s, const struct cmd_call *c);
/* `dst` is overwritten, not cleared. */
void request_copy(struct request *dst, const struct request *src);
void request_clear(struct request *r);

/* ---- changing ---- */

/* Sets a parameter on every kernel of the request that has it. *known false: none has. */
enum status request_param(struct request *r, const char *name, const char *value, bool *known,
                          struct err *err);
/* The value of an axis: a key of the shape, or a parameter. One whose range ends before the value is
 * no error here: the kernel is refused later, with its reason. ST_USAGE: it cannot be read. ST_NO:
 * there is no such shape. */
enum status request_try(struct request *r, const char *key, const char *value, bool *known,
                        struct err *err);
/* Moves kernel i before the others. */
void request_put_first(struct request *r, int i);
/* Puts the entry that base= names before the others, "fa2" or "fa2@BR=32": ratios are over the first. NULL: it
 * stays as it is. ST_USAGE marks the key. */
enum status request_base_first(struct cmd_call *c, struct request *r, const char *base,
                               struct err *err);
/* Entry i alone, for another backend by name: what it has changed of its parameters goes over by name, above
 * what the session sets. False: the kernel has no such side, or it is another library's. `out` is overwritten. */
bool request_on(const struct session *s, const struct request *r, int i, const char *backend,
                struct request *out);
/* What kernel i's changed parameters are for another side of it, above `v`; those that it lacks or refuses are left out. */
void request_carry_params(const struct request *r, int i, const struct kernel_desc *to,
                          struct param_values *v);
/* Leaves kernel i out. */
void request_drop(struct request *r, int i);
/* Leaves kernel i alone in it. */
void request_only(struct request *r, int i);
/* Appends entry i once more, with parameters of its own above its own: "BR=32@BC=64"; NULL: none. */
enum status request_add(struct request *r, int i, const char *own, struct err *err);
/* Leaves it twice, each with parameters of its own: "BR=32@BC=64" and "BR=64@BC=64". */
enum status request_twins(struct request *r, int i, const char *a, const char *b, struct err *err);

/* ---- asking ---- */

/* The backend that will run r, or ST_NO_GPU / ST_FAIL / ST_USAGE with a sentence; *name is set
 * whatever comes. */
enum status request_backend(const struct request *r, const char **name, struct err *err);
/* Has what will run r a clock? Without one its rows have no times. */
bool request_has_times(const struct request *r);
/* The descriptor that knows kernel i's parameters: the wanted side, else the other one. */
const struct kernel_desc *request_desc(const struct request *r, int i);
/* A parameter that kernel i refuses is a bad value, ST_USAGE, unlike a shape or a device that it does
 * not take: with the defaults of `d`, its descriptor (may be NULL), it would take both. sm 0: any. */
enum status request_check_params(const struct request *r, int i, const struct kernel_desc *d,
                                 int sm, struct err *err);
/* Is it a parameter that a kernel of the request has on the other side alone? Then err says so, with
 * those that it has on this one. */
bool request_other_side(const struct request *r, const char *name, struct err *err);
/* Is it one that a kernel of the request once had? Then err says what it is called now. */
bool request_moved(const struct request *r, const char *name, const char *value, struct err *err);

/* ---- request_text.c: as text again ---- */

/* The command that reproduces request r for `verb`, with only what differs from the defaults. */
void request_command(const struct request *r, const char *verb, struct str *out);
/* Its two parts behind the verb, each with a blank before it: " fa2,naive", and " S=512 BR=32 l2=hot". */
void request_names(const struct request *r, struct str *out);
void request_rest(const struct request *r, struct str *out);
/* Appends gpu= unless the command has it: another machine would take its own GPU. */
void request_command_gpu(const struct request *r, const struct device *gpu, struct str *out);
/* Appends the name of entry k as that command has it: with @NAME=VALUE for each parameter in which
 * it differs from another entry. */
void request_label(const struct request *r, int k, struct str *out);
/* Entry i as it was asked for: "fa2", "fa2@BR=32". The caller frees it. */
char *request_entry(const struct request *r, int i);
/* The changed parameters of entry i, "BR=32 BC=64"; "" where its side is missing. */
void request_params(const struct request *r, int i, char *buf, size_t size);

#endif
