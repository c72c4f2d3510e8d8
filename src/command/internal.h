/* internal.h - what the files of this folder share with each other and with nobody else.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_INTERNAL_H
#define ATTNSCOPE_COMMAND_INTERNAL_H

#include "command/ask/measure.h"
#include "command/session.h"

/* ---- lex.c: a line as tokens; used by the parser and by completion ---- */

enum token_kind { TOKEN_END, TOKEN_WORD, TOKEN_SEMICOLON, TOKEN_WRITE, TOKEN_APPEND, TOKEN_PIPE };
struct token {
    enum token_kind kind;
    char *text;  /* of a word, quotes resolved; owned */
    int at, len; /* in the line, quotes included */
    char quote;  /* the quote that the line left open, or 0 */
};
/* The next token from *pos on; blanks are skipped, `#` at the start of a word ends the line. */
void token_next(const char *line, int *pos, struct token *out);
void token_clear(struct token *t);
/* Appends `text` so that the lexer reads it back as one word. */
void word_quote(struct str *out, const char *text);

/* ---- parse.c: tokens as calls ---- */

struct call_list {
    struct cmd_call **calls;
    size_t count, cap;
};
/* Parses a whole line before anything of it runs. Verbs are resolved, and the aliases of `s` (may
 * be NULL). */
enum status parse_line(const struct session *s, const char *line, struct call_list *out,
                       struct err *err);
/* One call from an argv; its text is the quoted equivalent. */
enum status parse_argv(int argc, char *const *argv, struct cmd_call **out, struct err *err);
void call_list_clear(struct call_list *l);
void call_free(struct cmd_call *c);
/* The length of the key in "key=value", 0 when `text` is no pair. */
size_t pair_key_length(const char *text);

/* What follows word `first` on the left of > and |, as a line: a single quoted word without its
 * quotes, else as it was typed. The caller frees it. */
char *call_rest(const struct cmd_call *c, int first);

/* ---- shell.c: other programs ---- */

/* Runs sh -c `command` with `input` (NULL: none, or the terminal if that is the commands' own) as its
 * standard input. What it prints goes to the terminal or, where output is captured, to `out`.
 * ST_NO when it ends with another status than 0. */
enum status shell_run(const struct session *s, const char *command, const struct str *input,
                      struct str *out, struct err *err);

/* ---- apropos.c ---- */

/* Prints what mentions all words of the call, best first; ST_USAGE when nothing does. */
enum status apropos(struct session *s, struct cmd_call *c, struct err *err);

/* ---- options.c ---- */

const struct option_key *option_find(const char *name);

/* ---- keys.c: every key that set, requests and completion know besides options ---- */

struct input_key {
    const char *name, *doc;
    const char *const *values;
};
extern const struct input_key input_keys[]; /* seed, input; name NULL ends */
bool is_shape_key(const char *key);
bool is_input_key(const char *key);
/* Sets one shape or input key. *known false: neither. */
enum status problem_set(struct problem *p, const char *key, const char *value, bool *known,
                        struct err *err);
void problem_get(const struct problem *p, const char *key, char *buf, size_t size);
/* Is `word` part of a shape as shape_format() writes it, without a sign ("f16", "causal")? */
bool is_shape_word(const char *word);
/* ST_USAGE where a word and a key=value of one line say different things: `f16 dtype=f32`. */
enum status call_agrees(struct cmd_call *c, struct err *err);
/* The i-th key that verb `e` takes, for kernels `k` (may be NULL); a str_list_fn with *doc. */
struct key_list {
    const struct cmd_entry *entry;
    const struct kernel *const *kernels;
    int nkernels;
};
struct key_info {
    const char *name, *doc;
    const char *const *values; /* or NULL */
};
bool key_at(const struct key_list *l, size_t i, struct key_info *out);
/* The key that `word` is or alone begins, in *full (borrowed), NULL when there is none. ST_USAGE when
 * it may be several. */
enum status key_resolve(const struct key_list *l, const char *word, const char **full,
                        struct err *err);
/* What a value of a key means, for completion; NULL when the key's own text says it. */
const char *value_doc(const char *key, const char *value);
/* Writes the keys of the call out that were shortened. */
enum status call_expand_keys(const struct session *s, struct cmd_call *c, struct err *err);
const char *key_name(const void *list, size_t i); /* str_list_fn */

/* ---- cmd_kernel.c ---- */

/* The user's kernels as rows; `only`: this one alone, or NULL. */
enum status kernel_print_own(struct session *s, struct cmd_call *c, const struct kernel *only);

/* ---- cmd_list.c ---- */

/* The sides that a kernel has, ["cpu", "cuda"]. The caller owns it. */
json_t *kernel_sides_json(const struct kernel *k);

/* ---- kernel_add.c ---- */

enum status kernel_add(struct session *s, struct cmd_call *c, struct err *err);
/* The path of NAME.ending in the user's folder of kernels; NULL: there is none. The caller frees it. */
char *kernel_file(const char *name, const char *ending, struct err *err);
/* ST_FAIL: "cannot link PATH: " and errno's reason. */
enum status kernel_cannot(const char *what, const char *path, struct err *err);

/* ---- request.c, request_text.c ---- */

/* Kernels are words first .. first+count-1, each split at commas; "all" means every one that runs
 * on the backend. Pairs in the call that are lists or ranges are left alone when `axes`. */
struct request_from {
    int first, count;
    bool for_plan, axes;
};
enum status request_make_from(struct session *s, struct cmd_call *c, struct request_from from,
                              struct request *out, struct err *err);
/* The backend that will run r, or ST_NO_GPU / ST_USAGE with a sentence. */
enum status request_backend(const struct request *r, const char **name, struct err *err);
/* Sets a parameter on every kernel of the request that has it. *known false: none has. */
enum status request_param(struct request *r, const char *name, const char *value, bool *known,
                          struct err *err);
/* A parameter that kernel i refuses is a bad value, ST_USAGE, unlike a shape or a device that it does
 * not take: with the defaults of `d`, its descriptor (may be NULL), it would take both. sm 0: any. */
enum status request_check_params(const struct request *r, int i, const struct kernel_desc *d,
                                 int sm, struct err *err);
/* Is it a parameter that a kernel of the request has on the other backend alone? Then err says so,
 * with those that it has on this one. */
bool request_other_side(const struct request *r, const char *name, struct err *err);
/* The descriptor that knows kernel i's parameters: the wanted side, else the other one. */
const struct kernel_desc *request_desc(const struct request *r, int i);
const char *request_device(const struct request *r);

/* ---- axis.c: lists and ranges ---- */

enum { AXIS_MAX = 256 };
bool axis_is(const char *value); /* a list or a range? */
/* "512..4k:x2", "32..128:+32", "16,32", "f16,f32" as texts; the caller frees with axis_free. */
enum status axis_expand(const char *value, char ***out, int *count, struct err *err);
void axis_free(char **values, int count);

/* ---- measure.c, besides measure.h ---- */

/* "B=1 H=8 S=1024 D=64 f16 | cpu, Xeon ... | L2 cold | seed 42": what all rows share. */
void measured_heading(const json_t *rows, struct str *out, int width);

/* ---- cmd_run.c: what run, check and compare share ---- */

/* Makes the request, wants a kernel, finishes the call. */
enum status run_prepare(struct session *s, struct cmd_call *c, const char *output,
                        struct request *r, struct err *err);
/* Measures r, on every shape of the file `shapes` if there is one. */
enum status run_request(struct session *s, struct cmd_call *c, const struct request *r,
                        const struct measure_how *how, const char *shapes, struct measured *out,
                        struct err *err);
/* For a table that leaves the program: on what its rows were measured, in words. */
void run_environment(struct str *out, const json_t *rows);
/* Heading, rows, and for a file of shapes the geometric means of `ratio_field`. */
void run_print(struct session *s, struct cmd_call *c, const struct request *r, const char *shapes,
               const struct measured *m, const struct column *cols, const char *ratio_field,
               const char *ratio_title);

/* ---- cmd_report.c ---- */

/* The tables of an opened recording, with a roofline of its rows where they have plans. The caller
 * owns the array. */
json_t *recording_tables(const struct recording *rec);

/* ---- compare_rec.c ---- */

/* Does `compare` name recordings instead of kernels? */
bool names_recordings(struct session *s, const struct cmd_call *c);
enum status compare_recordings(struct session *s, struct cmd_call *c, struct err *err);

/* ---- recorded.c ---- */

/* The rows that fit the call's words behind the first (kernels, parts of a shape) and its pairs
 * (shape keys with lists and ranges, l2, backend, parameters): all where there are none. The caller
 * owns the array. ST_NO when no row fits. */
enum status recorded_rows(struct cmd_call *c, const struct recording *rec, json_t **rows,
                          struct err *err);

/* ---- cmd_record.c ---- */

extern const struct column recorded_columns[];

/* ---- cmd_results.c ---- */

/* Shape keys and words of the call in the form that stored shapes have: "S=4096 f16". */
enum status shape_filter(struct cmd_call *c, struct str *out, struct err *err);

/* ---- small things ---- */

/* Marks the value of key= (or the key itself when it has none) as the culprit. */
enum status call_mark_key(struct cmd_call *c, const char *key, enum status st, struct err *err);
/* rows_format() after what people want otherwise than programs: in text and Markdown a figure that
 * is only a bound says so, and in text parameters at their defaults are left out. */
void rows_show(const struct session *s, struct str *out, const json_t *rows,
               const struct column *cols, const struct field *fields, enum format f, int width);
/* "<=" or ">=" before a figure of a plan whose registers are unknown, else "". */
const char *bound_mark(const json_t *row, const char *field);
/* Values from a row's params, over the defaults; false if a word is none of this descriptor's. */
bool params_read(const struct kernel_desc *d, const char *text, struct param_values *v);
/* Fills a help text to `width` columns; 0: leaves it. */
void help_fit(struct str *out, int width);
/* Hands out what a command that goes on printed so far, if nobody collects it. */
void call_flush(struct session *s, struct cmd_call *c);
/* Columns for text of this call; 0: unlimited. */
int call_width(const struct session *s, const struct cmd_call *c);
/* A number as JSON integer where exact, else as real; a word as string. */
json_t *json_value(const char *text);
/* The plan of kernel i of a request, as an object with kernel, gpu, shape, params, reason added.
 * `plan` (may be NULL) is left filled for the caller to clear. ST_USAGE on broken expressions. */
enum status plan_row(const struct request *r, int i, const struct device *dev, struct plan *plan,
                     json_t **row, struct err *err);

/* The same with registers known from a compilation; NULL: those of the table. */
enum status plan_row_with(const struct request *r, int i, const struct device *dev,
                          const struct plan_regs *regs, struct plan *plan, json_t **row,
                          struct err *err);
/* cmd_compare.c: measures the request's kernels in turn, prints rows and verdicts. */
enum status compare_request(struct session *s, struct cmd_call *c, struct request *r,
                            const struct measure_how *how, const char *shapes, struct err *err);

/* ---- editor.c ---- */

/* Words of a command line as the shell would split it, without anything else that it does;
 * NULL-terminated, freed by code_words_free. */
char **editor_words(const char *text);
/* $VISUAL, else $EDITOR, else on a terminal one that is found. ST_USAGE when there is none. */
enum status editor_find(char ***words, struct err *err);
/* Runs it on the file, with the terminal lent to it. */
enum status editor_run(struct session *s, char *const *words, const char *path, struct err *err);

/* Appends "; did you mean \"x\"?"; nothing when near is NULL. */
void err_suggest(struct err *err, const char *near);
void err_suggest_text(struct err *err, const char *text);   /* appends as it is */
const char *row_text(const json_t *row, const char *field); /* NULL when absent */
double row_real(const json_t *row, const char *field);      /* NaN when absent */
bool text_contains(const char *text, const char *word);     /* without case */
enum format call_format(struct cmd_call *c);

extern const struct column run_columns[], compare_columns[];
extern const char *const dtype_words[];

/* The verbs of this folder. */
extern const struct cmd_entry cmd_run, cmd_check, cmd_compare, cmd_sweep, cmd_plan, cmd_occupancy,
    cmd_roofline, cmd_devices, cmd_kernels, cmd_explain, cmd_source, cmd_results, cmd_export,
    cmd_record, cmd_open, cmd_report, cmd_timeline, cmd_profile, cmd_set, cmd_show, cmd_reset,
    cmd_doctor, cmd_help, cmd_apropos, cmd_quit, cmd_alias, cmd_unalias, cmd_watch, cmd_save,
    cmd_source_file, cmd_history, cmd_log, cmd_shell, cmd_completions, cmd_complete_line;
extern const struct cmd_entry cmd_device, cmd_edit, cmd_kernel;
/* The first word of `kernel`. */
extern const char *const kernel_actions[];

#endif
