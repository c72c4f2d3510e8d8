/* command.h - every verb of the program, in one table that dispatch, help, completion and the
 * manual read.
 *
 * Shell, REPL, TUI prompt, key bindings, scripts and lessons all come through command_line().
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_COMMAND_H
#define ATTNSCOPE_COMMAND_COMMAND_H

#include <stdbool.h>

#include "base/status.h"
#include "base/str.h"
#include "draw/chart.h"

struct session;

/* A parsed command: words, key=value pairs, options; `at` are byte offsets into `text`, for
 * messages that point. All strings are owned by the call. */
struct cmd_word {
    char *text;
    int at;
};
struct cmd_pair {
    char *key, *value;
    int at, key_len, value_at; /* key_len: as typed, which may be an abbreviation */
    bool used;                 /* set by whoever consumed it; what is left over is an error */
};
struct cmd_call {
    const struct cmd_entry *entry;
    char *text;             /* the whole command, as typed */
    int start;              /* where `text` begins in the line */
    bool marked;            /* err's mark was set by this folder, so it points into `text` */
    struct cmd_word *words; /* without the verb */
    int nwords;
    struct cmd_pair *pairs; /* key=value */
    int npairs;
    struct cmd_pair *options; /* --name[=value]; value NULL when absent */
    int noptions;
    char *command;  /* what reproduces it whatever the session's settings; NULL: `text` */
    char *redirect; /* file of > or >>, or NULL */
    bool append;
    char *pipe;   /* the shell's command behind |, or NULL */
    int args_len; /* of `text` without > and | */
    /* The alias that the call came from, in the line; its length is 0 without one. Errors then mark
     * the alias: its text is not in the line. */
    int alias_at, alias_len;
    struct charts charts; /* pictures of the rows that it gives; rows and they are kept together */
    struct str *out;      /* what goes to standard output */
};

/* What an argument may be; drives completion and the manual. */
enum cmd_arg_kind {
    ARG_NONE,
    ARG_KERNEL,
    ARG_KERNELS,
    ARG_DEVICE,
    ARG_METRIC,
    ARG_LESSON,
    ARG_REPORT,
    ARG_COMMAND,
    ARG_TOPIC, /* a verb, or a term of the glossary */
    ARG_ALIAS,
    ARG_KEY,
    ARG_FILE,
    ARG_OPTION, /* of the program, before the command */
    ARG_WORD
};

/* A key or option that this verb takes besides shape keys, session options and parameters. */
struct cmd_key {
    const char *name; /* "base", or "--fail-on" */
    const char *doc;
    const char *const *values; /* words to complete, or NULL */
};

enum {
    CMD_SHAPE = 1,   /* takes shape keys */
    CMD_OPTIONS = 2, /* takes session options (backend, gpu, n, cv ...) */
    CMD_PARAMS = 4,  /* takes parameters of the kernels it names */
    CMD_ROWS = 8,    /* takes --json --csv --md */
    CMD_AGAIN = 16,  /* an empty Enter repeats it */
    CMD_REST = 32,   /* its words are another command's: keys are left as typed */
    CMD_HIDDEN = 64, /* for scripts of ours; not in lists, completion and manual */
    CMD_SETS = 128,  /* what it sets lasts as long as the session */
};

/* A word that stands behind a verb, and is a command of its own while what the verb began lasts. */
struct cmd_own_word {
    const char *name, *usage, *doc; /* "until", "LINE|barrier", "the warp, to a line" */
    const char *const *first;       /* what may follow, for completion; may be NULL */
};

struct cmd_entry {
    const char *name, *alias; /* alias may be NULL */
    const char *usage;        /* "K[,K...] [shape] [params]" */
    const char *summary;      /* one line */
    const char *help;         /* paragraphs; examples on lines that begin with two spaces */
    enum cmd_arg_kind arg;
    const char *const *first;   /* what its first word may be, for completion; may be NULL */
    const struct cmd_key *keys; /* name NULL ends; may be NULL */
    unsigned flags;
    enum status (*exec)(struct session *s, struct cmd_call *call, struct err *err);
    const char *group; /* heading in `help`: "Measure" "Model" "Look up" "Session" "Learn"; may be
                          NULL */
    const struct columns *const *columns; /* of the tables that it prints: COLUMNS(); may be NULL */
    /* A verb that begins something whose words are commands of their own from then on: WORD stands for VERB WORD, before
     * all other verbs, while services.debugger is there, and behind the verb in one line. Is it one of them? All of
     * them, by number: completion and search have them from here. Both may be NULL, but not one alone. */
    bool (*takes)(const char *word);
    bool (*word_at)(size_t i, struct cmd_own_word *out);
};
/* COLUMNS(line_columns, fact_columns) */
#define COLUMNS(...) ((const struct columns *const[]){__VA_ARGS__, NULL})

/* The verb whose words are commands in this session now; NULL: none. */
const struct cmd_entry *command_mode(const struct session *s);

/* Adds a NULL-terminated array of entries; later folders register theirs at start. Borrowed. */
void command_register(const struct cmd_entry *const *entries);
void command_register_core(void);          /* the verbs of this folder */
const struct cmd_entry *command_at(int i); /* NULL after the last */
/* The verb of this name or alias; NULL when there is none. */
const struct cmd_entry *command_named(const char *name);
/* The verb that knows this word as one of its own, by itself a command as long as it has something to work on; NULL: none. */
const struct cmd_entry *command_of_word(const char *word);
/* Exact name or alias, else a unique prefix. ST_USAGE with candidates or the nearest. */
enum status command_find(const char *word, const struct cmd_entry **out, struct err *err);

/* Runs one line: commands separated by `;`, `#` comments, aliases, > >> |, !SHELL, @FILE. All of it
 * is parsed before any of it runs. Output of each command goes to `out` unless redirected. Stops at
 * the first failure and returns its status. err marks the word in `line`. */
enum status command_line(struct session *s, const char *line, struct str *out, struct err *err);
/* The same for an argv from the shell: words need no quoting. */
enum status command_argv(struct session *s, int argc, char *const *argv, struct str *out,
                         struct err *err);
/* Runs a script file, line by line; errors carry file and line. */
enum status command_file(struct session *s, const char *path, struct str *out, struct err *err);
/* The same for a script that is at hand; `name` stands for it in errors. */
enum status command_text(struct session *s, const char *name, const char *text, struct str *out,
                         struct err *err);

/* Completion: candidates for the word that ends at `cursor`, with a description each. */
struct completion {
    char *text;      /* replaces the word */
    const char *doc; /* one line; may be NULL; lives as long as the candidate */
    bool more;       /* no blank after it: "S=" */
    char *own;       /* what `doc` points to if it is nobody else's */
};
/* Returns an array that command_complete_free() takes back; *start is the word's offset. */
struct completion *command_complete(struct session *s, const char *line, int cursor, int *start,
                                    int *count);
void command_complete_free(struct completion *c, int count);

/* Something that `help` finds and completion offers: a verb, a key, a term, a lesson. Borrowed. */
struct topic {
    const char *kind;    /* "term", "lesson", "screen key" */
    const char *name;    /* what it is called */
    const char *summary; /* one line */
    const char *text;    /* more to search and to show; may be NULL */
};
/* The i-th topic; false after the last. The strings live until the next call. */
typedef bool topic_fn(size_t i, struct topic *out);
/* Where the words of an argument kind come from when a later folder knows them (ARG_LESSON,
 * ARG_REPORT). */
void command_words(enum cmd_arg_kind kind, topic_fn *at);
topic_fn *command_words_at(enum cmd_arg_kind kind); /* NULL: nobody knows any */
/* Adds topics to what `help WORD` and `apropos` search. */
void command_topics(topic_fn *at);
topic_fn *command_topics_at(int i); /* NULL after the last */
/* The words of the trade, as `help` explains them. */
bool glossary_at(size_t i, struct topic *out);

/* help texts from the table */
void command_help(struct str *out, const struct cmd_entry *e); /* one verb, whole */
void command_help_list(struct str *out);                       /* a line each */
void command_manual(struct str *out);                          /* mdoc sections for the man page */

/* Marks `len` bytes at `at` of the call's text as the culprit of `err`; returns `st`. */
enum status call_mark(struct cmd_call *c, enum status st, int at, int len, struct err *err);
/* Marks the value of key= (or the key itself when it has none) as the culprit. */
enum status call_mark_key(struct cmd_call *c, const char *key, enum status st, struct err *err);
/* The option --name, marked used; NULL when absent. A present one without value gives "". */
const char *call_option(struct cmd_call *c, const char *name);
/* The value of key=, marked used; NULL when absent. */
const char *call_key(struct cmd_call *c, const char *name);
/* The same without marking it, for who only wants to know what somebody else reads; `usual` when absent. */
const char *call_peek(const struct cmd_call *c, const char *name, const char *usual);
/* ST_USAGE if any pair or option is left unused, naming it and the nearest that would do. */
enum status call_finish(struct session *s, struct cmd_call *c, struct err *err);

#endif
