/* session.h - the one mutable context of a running program: what is asked, with which options,
 * and the long-lived helpers, each made on first use.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SESSION_H
#define ATTNSCOPE_COMMAND_SESSION_H

#include "command/command.h"
#include "draw/canvas.h"
#include "export/rows.h"
#include "job/super.h"
#include "plan/plan.h"
#include "store/recording.h"
#include "store/store.h"

/* How measurements are made; keys of `set` besides the shape. One table (option_keys) feeds
 * parsing, help, completion, the config file and the manual. */
struct options {
    char *backend; /* NULL: chosen, cuda if usable else cpu */
    char *gpu;     /* device model for plans; NULL: the GPU present, else L4 */
    struct timing_rule rule;
    char *l2;     /* "cold" "hot" "both" */
    char *launch; /* "auto" "stream" "graph" */
    int device, threads, streams;
    double timeout_s;
};

struct option_key {
    const char *name, *doc;
    const char *const *values; /* or NULL */
    enum status (*set)(struct options *o, const char *value, struct err *err);
    void (*get)(const struct options *o, char *buf, size_t size);
};
extern const struct option_key option_keys[]; /* name NULL ends */

void options_init(struct options *o); /* the defaults */
void options_clear(struct options *o);
void options_copy(struct options *dst, const struct options *src); /* dst is cleared first */
/* What of them a backend needs to know. */
struct backend_options options_backend(const struct options *o);

/* How the front end in charge hears of things and waits. Every hook may be NULL. */
struct front {
    void *ctx;
    void (*note)(void *ctx, const char *text); /* a message, one line, sanitised */
    void (*progress)(void *ctx, const struct job *j);
    bool (*cancelled)(void *ctx);
    /* Waits for the job in the front end's own loop; NULL: super_wait(). */
    void (*wait)(void *ctx, struct super *s, struct job *j);
    /* Takes what a command printed, at once, and empties `out`; NULL: the caller of command_line()
     * gets it all at the end. Commands run by a command always give theirs to their caller. */
    void (*output)(void *ctx, struct str *out);
    /* Gives the terminal to a program that wants all of it, and takes it back. */
    void (*lend)(void *ctx);
    void (*reclaim)(void *ctx);
    /* A question for yes or no; yes is true. NULL: nobody is there to be asked. */
    bool (*ask)(void *ctx, const char *question);
    bool direct; /* the terminal is the commands' own: the shell may write to it and read from it */
    int width;   /* columns for text tables; 0: unlimited */
    enum glyphs glyphs;
    bool color; /* NO_COLOR, CLICOLOR_FORCE and --color have been weighed */
};

/* Names for commands: `alias NAME = COMMAND`. Sorted by name. */
struct alias_list {
    struct alias {
        char *name, *text;
    } * items;
    size_t count, cap;
};

/* What was run in this session, from the first on. */
struct command_log {
    struct log_entry {
        char *text;
        enum status status;
        double seconds;
    } * items;
    size_t count, cap;
};

struct session {
    struct problem problem;
    struct options options;
    struct {
        char *kernel, *name, *value;
    } * params; /* `set qtile_seq BR=32` or `set BR=32` (kernel NULL) */
    size_t nparams, capparams;
    struct registry *registry; /* session_new loads it: it is cheap */
    struct device_table *devices;
    struct super *super; /* session_super() */
    struct store *store; /* session_store() */
    json_t *results;     /* array: rows of $1, $2 ...; the last is $last; at most 100 */
    struct {             /* what the last command with rows printed, for `export` */
        json_t *rows;    /* array; NULL: nothing yet */
        struct column *cols;
        const struct field *fields;
        char *command;
        struct arena *arena; /* of cols */
    } last;
    json_t *journal; /* array of tables (store/recording.h) that verbs printed; the oldest
                                  go when there are many; for `report` */
    struct {         /* the GPU here, see session_gpu() */
        char *name;  /* the driver's, "NVIDIA H200"; NULL: none known */
        bool ran;    /* a worker reported it */
        bool looked; /* at /proc, for device `index` */
        bool noted;  /* that the table does not know it */
        int index;
    } gpu;
    struct recorder *recorder; /* `record` is on, or NULL */
    struct library *library;   /* session_library() */
    size_t rows_ever; /* rows remembered since the start, also those that results has lost again */
    int depth;        /* commands that are running: a lesson runs commands within its own */
    int captured;     /* of them, those whose output goes to a file or a pipe */
    int scripts;      /* files that are being run, one within the other */
    struct alias_list aliases;
    struct command_log log;
    bool store_failed; /* noted already */
    struct front front;
    bool quit; /* `quit` was given */
    bool restricted;
    const char *program; /* argv[0] */
};

struct session *session_new(const char *program);
void session_free(struct session *s);
/* Runs the `set` lines of <config>/attnscope/config; what is wrong there is noted with file and
 * line, and the rest still holds. */
void session_load_config(struct session *s);
struct super *session_super(struct session *s);
/* NULL when it cannot be opened; the reason was noted once. */
struct store *session_store(struct session *s);
/* Recordings by name; its look-ups serve lessons and screens. */
struct library *session_library(struct session *s);
/* How many rows `open ...`, a whole command, would show; nothing is shown. 0: none, or it is refused. */
size_t open_count(struct session *s, const char *line);
/* Keeps a measured row in the store (unless `no_store`) and in the recording under way, if any. A
 * row without a check is kept in neither. What fails is noted. */
void session_keep_row(struct session *s, const struct run_row *row, const char *command,
                      bool no_store);
/* Ends the recording under way, if any; notes what it holds. */
enum status session_record_off(struct session *s, struct err *err);
void session_note(struct session *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Appends the script that brings a fresh session into this one's state: shape, inputs, options,
 * parameters, aliases. Only what differs from the defaults is in it. */
void session_script(const struct session *s, struct str *out);
/* The device model for plans: `name`; when that is NULL or "auto" the session's gpu=; when that is
 * auto too the GPU of this machine, else L4. ST_USAGE's sentence in `err` when NULL. */
const struct device *session_gpu(struct session *s, const char *name, struct err *err);
/* Why session_gpu() answers as it does: "the GPU of this machine", or for whom and why L4 stands
 * in. NULL when the model was asked for. The text goes into `buf`. */
const char *session_gpu_why(struct session *s, const char *name, char *buf, size_t size);
/* A worker's row says which GPU runs here. Rows of other backends, and NULL, say nothing. */
void session_saw_gpu(struct session *s, const char *backend, const char *device);

/* A request: the session's settings overridden by one call's shape keys, options and parameters.
 * Kernels are the call's first word, split at commas; an entry may carry parameters of its own, as
 * in qtile_seq@BR=32@BC=64, so that one kernel can stand beside itself. */
struct request {
    struct problem problem;
    struct options options;
    const struct kernel **kernels;
    struct param_values *params;      /* one per kernel, for the side (cuda or cpu) in `descs` */
    const struct kernel_desc **descs; /* by backend: cpu desc for backend=cpu, else cuda */
    char **own;                       /* "BR=32@BC=64" as given after @, or NULL */
    int nkernels;
};
/* `for_plan`: take the CUDA descriptors whatever the backend. Checks the shape. */
enum status request_make(struct session *s, struct cmd_call *c, bool for_plan, struct request *out,
                         struct err *err);
void request_clear(struct request *r);
/* The command that reproduces request r for `verb`, with only what differs from the defaults. */
void request_command(const struct request *r, const char *verb, struct str *out);
/* Appends gpu= unless the command has it: another machine would take its own GPU. */
void request_command_gpu(const struct request *r, const struct device *gpu, struct str *out);
/* Appends the name of entry k as that command has it: with @NAME=VALUE for each parameter in which
 * it differs from another entry. */
void request_label(const struct request *r, int k, struct str *out);

/* Writes to a file for export and redirection; refuses in restricted sessions. */
enum status session_write(const struct session *s, const char *path, const char *text, size_t len,
                          bool append, struct err *err);

/* Sets one key of shape, input, seed, option or parameter; ST_USAGE with the nearest key. */
enum status session_set(struct session *s, const char *key, const char *value, struct err *err);

/* Puts rows to the call's output in the format its options ask for, and remembers them as $last. */
enum status call_rows(struct session *s, struct cmd_call *c, json_t *rows,
                      const struct column *cols, const struct field *fields);

/* Keeps rows of run_fields as $1 .. $last and for `export`, as the verbs run and compare do: for
 * front ends that measure by themselves. `rows` is borrowed; `command` would repeat them. */
void session_remember_runs(struct session *s, json_t *rows, bool compared, const char *command);

#endif
