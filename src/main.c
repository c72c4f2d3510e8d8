/* main.c - options, a session, and then the full screen, the line reader or one command.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/hosts.h"
#include "command/line/config.h"
#include "command/session.h"
#include "job/proc.h"
#include "lesson/action.h"
#include "lesson/audit/claims.h"
#include "lesson/lesson.h"
#include "repl/front.h"
#include "repl/repl.h"
#include "tui/tui.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

/* ---- the program's own options, before the command ---- */

enum {
    OPT_PLAIN = 256,
    OPT_COLOR,
    OPT_CHARSET,
    OPT_THEME,
    OPT_PROJECTOR,
    OPT_MOUSE,
    OPT_RESUME,
    OPT_RESTRICTED,
    OPT_REMOTE,
    OPT_SERVE,
    OPT_RANK,
    OPT_MDOC
};

/* The table behind getopt, --help, completion in shells and suggestions. */
static const struct program_option {
    const char *name;
    int id;
    const char *value; /* what it takes, or NULL */
    const char *doc;   /* NULL: for the build of the manual page */
} program_options[] = {
    {"command", 'c', "LINE", "run these commands, a line or several; may be repeated"},
    {"file", 'f', "FILE", "run the commands in FILE"},
    {"plain", OPT_PLAIN, NULL, "no full screen: read commands line by line"},
    {"restricted", OPT_RESTRICTED, NULL,
     "no writing to files, no pipes, no shell, no code that is not of this program but PTX"},
    {"color", OPT_COLOR, "WHEN", "auto, always or never"},
    {"charset", OPT_CHARSET, "SET", "auto, ascii, blocks or braille"},
    {"theme", OPT_THEME, "NAME", "default, light, mono or projector"},
    {"projector", OPT_PROJECTOR, NULL, "large spacing, one pane at a time, keys are shown"},
    {"mouse", OPT_MOUSE, NULL, "a click selects pane, row or tab; the wheel scrolls"},
    {"resume", OPT_RESUME, NULL, "bring back the last full-screen session"},
    {"remote", OPT_REMOTE, "HOST", "run kernels there: a host's name, or [user@]machine, over ssh"},
    {"serve", OPT_SERVE, NULL,
     "be the far end of a connection: attnscope elsewhere starts it, by ssh"},
    {"rank", OPT_RANK, NULL, "be a node of a ring over several machines: likewise"},
    {"help", 'h', NULL, "this text"},
    {"version", 'V', NULL, "version and licence"},
    {"help-mdoc", OPT_MDOC, NULL, NULL},
};
enum { OPTIONS = sizeof program_options / sizeof *program_options };

static bool option_topic(size_t i, struct topic *out)
{
    static char name[32];
    if (i >= OPTIONS || !program_options[i].doc)
        return false;
    snprintf(name, sizeof name, "--%s%s", program_options[i].name,
             program_options[i].value && program_options[i].id >= OPT_PLAIN ? "=" : "");
    *out = (struct topic){"option", name, program_options[i].doc, program_options[i].value};
    return true;
}

static void long_options(struct option out[OPTIONS + 1])
{
    out[OPTIONS] = (struct option){0};
    for (int i = 0; i < OPTIONS; i++)
        out[i] = (struct option){program_options[i].name,
                                 program_options[i].value ? required_argument : no_argument, NULL,
                                 program_options[i].id};
}

static void print_usage(void)
{
    char name[48];
    fputs(
        "usage: attnscope [option...] [command [word...] [key=value...] [--option...]]\n"
        "\n"
        "An oscilloscope for attention kernels. Without a command: the full screen on a terminal,\n"
        "else commands are read from standard input.\n"
        "\n",
        stdout);
    for (int i = 0; i < OPTIONS && program_options[i].doc; i++) {
        const struct program_option *o = &program_options[i];
        snprintf(name, sizeof name, "--%s%s%s", o->name, o->value ? " " : "",
                 o->value ? o->value : "");
        printf("  %c%c%c %-16s %s\n", o->id < OPT_PLAIN ? '-' : ' ',
               o->id < OPT_PLAIN ? o->id : ' ', o->id < OPT_PLAIN ? ',' : ' ', name, o->doc);
    }
    putchar('\n');
}

struct job_line {
    bool is_file;
    const char *text;
};

struct arguments {
    struct job_line *lines; /* -c and -f, in order */
    size_t count, cap;
    bool plain, restricted;
    const char *remote; /* where kernels run; NULL: as the configuration says */
    struct tui_options look;
};

static int usage_error(const char *fmt, const char *word, const char *near)
{
    char *clean = sanitize_line(word);
    fprintf(stderr, "attnscope: ");
    fprintf(stderr, fmt, clean);
    if (near)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    fprintf(stderr, "\n");
    free(clean);
    return ST_USAGE;
}

static const char *long_name(const void *ctx, size_t i)
{
    (void)ctx;
    return i < OPTIONS ? program_options[i].name : NULL;
}

static int bad_option(int argc, char *const *argv, int at)
{
    const char *word = at < argc ? argv[at] : "";
    if (optopt && (optopt == 'c' || optopt == 'f' || optopt >= OPT_PLAIN))
        return usage_error("option \"%s\" needs a value", word, NULL);
    if (str_starts(word, "--"))
        return usage_error("there is no option \"%s\" before the command", word,
                           str_nearest(word + 2, long_name, NULL));
    return usage_error("there is no option \"%s\" before the command", word, NULL);
}

static int bad_value(const char *option, const char *value, const char *const *words)
{
    char fmt[96];
    const char *near = str_nearest_in(value, words);
    snprintf(fmt, sizeof fmt, "--%s has no value \"%%s\"", option);
    return usage_error(fmt, value, near ? near : words[0]);
}

static bool one_of(const char *value, const char *const *words)
{
    for (; *words; words++)
        if (!strcmp(value, *words))
            return true;
    return false;
}

static void add_line(struct arguments *a, bool is_file, const char *text)
{
    xgrow((void **)&a->lines, &a->cap, a->count + 1, sizeof *a->lines);
    a->lines[a->count++] = (struct job_line){is_file, text};
}

static void print_version(void)
{
    puts("attnscope " PACKAGE_VERSION "\n"
         "License GPLv3+: GNU GPL version 3 or later <https://gnu.org/licenses/gpl.html>\n"
         "This is free software: you are free to change and redistribute it.\n"
         "There is NO WARRANTY, to the extent permitted by law.");
}

static void print_commands(void (*text)(struct str *))
{
    struct str out = {0};
    text(&out);
    fputs(str_text(&out), stdout);
    str_free(&out);
}

/* The far end is the worker's: what it links to is not needed there, and it runs no command. */
static int serve(char *role)
{
    char *path, *argv[] = {NULL, role, NULL};
    struct err err = ERR_INIT;
    if (proc_find(NULL, &path, &err) == ST_OK) {
        argv[0] = path;
        execv(path, argv);
        err_set(&err, ST_FAIL, "cannot start %s: %s", path, strerror(errno));
        free(path);
    }
    fprintf(stderr, "attnscope: %s\n", err.text);
    return ST_FAIL;
}

/* One option. -1: go on; else the program ends with that status. */
static int take_option(int opt, struct arguments *a)
{
    static const char *const when[] = {"auto", "always", "never", NULL};
    static const char *const sets[] = {"auto", "ascii", "blocks", "braille", NULL};
    switch (opt) {
    case 'h':
        print_usage();
        print_commands(command_help_list);
        return ST_OK;
    case 'V':
        print_version();
        return ST_OK;
    case OPT_MDOC:
        print_commands(command_manual);
        print_commands(tui_manual);
        return ST_OK;
    case 'c':
    case 'f':
        add_line(a, opt == 'f', optarg);
        return -1;
    case OPT_PLAIN:
        a->plain = true;
        return -1;
    case OPT_REMOTE:
        a->remote = optarg;
        return -1;
    case OPT_SERVE:
        return serve((char[]){"remote"});
    case OPT_RANK:
        return serve((char[]){"rank"});
    case OPT_RESTRICTED:
        a->restricted = true;
        return -1;
    case OPT_COLOR:
        a->look.color = optarg;
        return one_of(optarg, when) ? -1 : bad_value("color", optarg, when);
    case OPT_CHARSET:
        a->look.charset = optarg;
        return one_of(optarg, sets) ? -1 : bad_value("charset", optarg, sets);
    case OPT_THEME:
        a->look.theme = optarg;
        return -1;
    case OPT_PROJECTOR:
        a->look.projector = true;
        return -1;
    case OPT_MOUSE:
        a->look.mouse = true;
        return -1;
    case OPT_RESUME:
        a->look.resume = true;
        return -1;
    default:
        return ST_USAGE;
    }
}

static int read_arguments(int argc, char **argv, struct arguments *a)
{
    struct option known[OPTIONS + 1];
    long_options(known);
    opterr = 0;
    for (;;) {
        const int at = optind;
        const int opt = getopt_long(argc, argv, "+hVc:f:", known, NULL);
        if (opt < 0)
            break;
        const int end = opt == '?' ? bad_option(argc, argv, at) : take_option(opt, a);
        if (end >= 0)
            return end;
    }
    if (a->count && optind < argc)
        return usage_error("give a command or -c and -f, not both; \"%s\" is one too many",
                           argv[optind], NULL);
    return -1;
}

/* ---- running ---- */

/* NO_COLOR wins over CLICOLOR_FORCE, --color over both. */
static bool wants_color(const char *asked)
{
    const char *none = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE");
    if (asked && strcmp(asked, "auto"))
        return !strcmp(asked, "always");
    if (none && *none)
        return false;
    return (force && *force && strcmp(force, "0")) || isatty(STDOUT_FILENO);
}

static enum status run_lines(struct session *s, const struct arguments *a)
{
    enum status st = ST_OK;
    for (size_t i = 0; i < a->count && !st && !s->quit; i++) {
        struct str out = {0};
        struct err err = ERR_INIT;
        const char *text = a->lines[i].text;
        const bool script = a->lines[i].is_file || strchr(text, '\n');
        st = a->lines[i].is_file ? command_file(s, text, &out, &err)
             : script            ? command_text(s, "-c", text, &out, &err)
                                 : command_line(s, text, &out, &err);
        if (out.len)
            s->front.output(s->front.ctx, &out);
        front_report(s, st, &err, script ? NULL : text, NULL);
        str_free(&out);
    }
    return st;
}

/* "attnscope set S=4k" is over before anything could follow it. */
static bool needs_more_to_come(const char *word)
{
    const struct cmd_entry *e = NULL;
    return command_find(word, &e, NULL) == ST_OK && (e->flags & CMD_SETS);
}

static enum status run_words(struct session *s, int argc, char *const *argv)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    const enum status st = command_argv(s, argc, argv, &out, &err);
    if (out.len)
        s->front.output(s->front.ctx, &out);
    struct str line = {0};
    for (int i = 0; i < argc; i++)
        str_addf(&line, "%s%s", i ? " " : "", argv[i]);
    const bool as_typed = !strpbrk(str_text(&line), "\"'\\;|>#");
    front_report(s, st, &err, as_typed ? str_text(&line) : NULL, NULL);
    if (!st && argc > 1 && needs_more_to_come(argv[0]))
        s->front.note(s->front.ctx, "this lasts as long as the session, which ends here; a line in "
                                    "<config>/attnscope/config (usually ~/.config) stays");
    str_free(&line);
    str_free(&out);
    return st;
}

static bool wants_screen(const struct arguments *a)
{
    const char *term = getenv("TERM");
    return !a->plain && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && *term &&
           strcmp(term, "dumb");
}

static int run(struct session *s, const struct arguments *a, int argc, char **argv)
{
    if (a->count)
        return run_lines(s, a);
    if (argc)
        return run_words(s, argc, argv);
    return wants_screen(a) ? tui_main_with(s, &a->look) : (int)repl_main(s);
}

/* Where kernels run is settled before anything else. */
static int enter_and_run(struct session *s, const struct arguments *a, int argc, char **argv)
{
    struct err err = ERR_INIT;
    const enum status st = a->remote ? host_enter(s, a->remote, &err) : ST_OK;
    front_report(s, st, &err, NULL, NULL);
    return st ? (int)st : run(s, a, argc, argv);
}

/* A recording that nobody has ended: whether it is whole shows now. */
static int end_recording(struct session *s, int status)
{
    struct err err = ERR_INIT;
    const enum status closed = session_record_off(s, &err);
    front_report(s, closed, &err, NULL, NULL);
    return status ? status : (int)closed;
}

/* A standard stream that the caller closed would give its number to the next file, a recording or
 * the worker's socket, and what is printed would land in there. Reading it ends, writing fails. */
static void fill_closed_streams(void)
{
    int fd;
    do
        fd = open("/dev/null", O_RDONLY);
    while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    struct arguments a = {0};
    json_set_alloc_funcs(xmalloc,
                         free); /* where heap.c is not: half an object would be another row */
    fill_closed_streams();
    signal(SIGXFSZ, SIG_IGN); /* a file at its limit is an error to report, not a death */
    setlocale(LC_CTYPE, "");
    command_register_core();
    lesson_register();
    tui_register();
    command_words(ARG_LESSON, lesson_word);
    command_words(ARG_REPORT, ledger_topic);
    command_words(ARG_OPTION, option_topic);
    command_topics(lesson_topic);
    command_topics(lesson_action_topic);
    command_topics(option_topic);
    int status = read_arguments(argc, argv, &a);
    if (status < 0) {
        struct session *s = session_new(argv[0]);
        if (a.restricted)
            s->may = session_kinds[SESSION_RESTRICTED].may;
        s->front.color = wants_color(a.look.color);
        (void)tui_glyphs(a.look.charset, &s->front.glyphs, NULL);
        front_plain(s);
        session_load_config(s);
        status = end_recording(s, enter_and_run(s, &a, argc - optind, argv + optind));
        if (!status && s->services.unkept)
            status = ST_FAIL; /* as was said when it happened */
        session_free(s);
    }
    free(a.lines);
    return front_finish(status == ST_CANCELLED ? 128 + 2 : status);
}
