/* front.c - the plain front end.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "repl/front.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/number.h"
#include "base/sanitize.h"

/* ---- Ctrl-C ---- */

static volatile sig_atomic_t interrupts;

static volatile sig_atomic_t stays;

void front_stays(void)
{
    stays = 1;
}

/* The first one cancels what runs; if nobody has looked by the second, the program ends, unless it is a line
 * reader, which outlives its commands as a shell does. */
static void on_interrupt(int sig)
{
    if (interrupts++ < 1 || stays)
        return;
    signal(sig, SIG_DFL);
    raise(sig);
}

bool front_interrupted(void)
{
    const bool any = interrupts > 0;
    interrupts = 0;
    return any;
}

static bool cancelled(void *ctx)
{
    (void)ctx;
    return interrupts > 0;
}

/* ---- the progress line ---- */

struct plain {
    const struct session *session;
    bool tty;         /* standard error is a terminal */
    int shown;        /* columns of the progress line on it now */
    double last_s;    /* when it was drawn */
    char phase[80];   /* what it said then */
    int write_failed; /* errno of the first write to standard output that failed */
};
static struct plain plain;

static void clear_progress(void)
{
    if (plain.shown)
        fprintf(stderr, "\r%*s\r", plain.shown, "");
    plain.shown = 0;
}

/* "first run of fa2, at most 70.0 s", with a word from the worker; else `otherwise`. */
static void phase_text(const struct job *j, const char *otherwise, struct str *out)
{
    static const double long_s = 2; /* shorter ones are over before they are read */
    char buf[NUMBER_BUF];
    const double seconds = job_estimate_s(j);
    str_add(out, *job_phase(j) ? job_phase(j) : otherwise);
    if (seconds >= long_s)
        str_addf(out, ", at most %s", number_fmt_us(buf, seconds * 1e6));
}

/* The row that is being worked on: the last one with any figure. */
static void progress_text(const struct job *j, struct str *out)
{
    char buf[NUMBER_BUF];
    const struct run_row *row = NULL;
    int at = 0;
    for (int i = 0; i < job_count(j); i++)
        if (!row || job_row(j, i)->check || job_row(j, i)->n > 0)
            row = job_row(j, at = i);
    if (job_waits(j)) {
        str_add(out, job_phase(j));
        return;
    }
    switch (job_state(j)) {
    case JOB_STARTING:
        phase_text(j, "starting the worker", out);
        break;
    case JOB_CHECKING:
        str_addf(out, "checking %d kernel%s: ", job_count(j), job_count(j) == 1 ? "" : "s");
        phase_text(j, "starting", out);
        break;
    case JOB_TIMING:
        str_addf(out, "timing %s (%d of %d)", row && row->kernel ? row->kernel : "", at + 1,
                 job_count(j));
        if (row && row->n > 0)
            str_addf(out, ": n=%lld, median %s", (long long)row->n,
                     number_fmt_us(buf, row->median_us));
        break;
    default:
        break;
    }
}

/* What is too long for a line loses its end. */
static void show_progress(const char *text)
{
    enum { COLUMNS = 78 };
    clear_progress();
    char *clean = sanitize_line(text), *p = clean;
    unsigned code;
    int width = 0;
    while (*p) {
        const int len = str_utf8_next(p, &code), more = len > 0 ? str_code_width(code) : 1;
        if (width + more > COLUMNS)
            break;
        width += more;
        p += len > 0 ? len : 1;
    }
    *p = 0;
    fputs(clean, stderr);
    plain.shown = width;
    free(clean);
}

static void doing(void *ctx, const char *text)
{
    (void)ctx;
    if (!text)
        clear_progress();
    else if (plain.tty)
        show_progress(text);
}

static void progress(void *ctx, const struct job *j)
{
    (void)ctx;
    if (!plain.tty || (seconds_now() - plain.last_s < 0.1 &&
                       !strncmp(plain.phase, job_phase(j), sizeof plain.phase - 1)))
        return; /* figures can wait; what is begun may last, and is told at once */
    plain.last_s = seconds_now();
    snprintf(plain.phase, sizeof plain.phase, "%s", job_phase(j));
    struct str text = {0};
    if (plain.session->front.part)
        str_addf(&text, "%s; ", plain.session->front.part);
    progress_text(j, &text);
    show_progress(str_text(&text));
    str_free(&text);
}

/* ---- lines ---- */

static void note(void *ctx, const char *text)
{
    (void)ctx;
    clear_progress();
    fprintf(stderr, "attnscope: %s\n", text);
}

/* Signals are let in only while nothing is looked at: one that comes between the look and the wait would
 * otherwise be waited for in vain. */
static bool await_line(void *ctx)
{
    struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
    sigset_t all, before;
    int ready = 0;
    (void)ctx;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    while (!interrupts && ready <= 0) {
        ready = ppoll(&p, 1, NULL, &before);
        if (ready < 0 && errno != EINTR)
            break; /* the read says why */
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !interrupts;
}

/* Only where somebody can read the question and answer it. */
static bool ask(void *ctx, const char *question)
{
    char answer[64];
    (void)ctx;
    clear_progress();
    const bool careful = plain.session->front.careful;
    fprintf(stderr, "%s %s ", question, careful ? "[y/N]" : "[Y/n]");
    fflush(stderr);
    if (!await_line(ctx) || !fgets(answer, sizeof answer, stdin) || interrupts)
        return false;
    const char c = answer[strspn(answer, " \t")];
    return c == 'y' || c == 'Y' || (c == '\n' && !careful);
}

static void output(void *ctx, struct str *out)
{
    (void)ctx;
    clear_progress();
    errno = 0;
    const bool whole = !out->len || fwrite(out->data, 1, out->len, stdout) == out->len;
    if ((fflush(stdout) || !whole) && !plain.write_failed)
        plain.write_failed = errno ? errno : EIO;
    str_clear(out);
}

void front_measure(struct session *s)
{
    struct winsize w;
    const bool tty = isatty(STDOUT_FILENO) && !ioctl(STDOUT_FILENO, TIOCGWINSZ, &w);
    s->front.width = tty && w.ws_col > 0 ? w.ws_col : 0;
}

void front_plain(struct session *s)
{
    struct sigaction act = {.sa_handler = on_interrupt};
    plain = (struct plain){.session = s, .tty = isatty(STDERR_FILENO)};
    sigemptyset(&act.sa_mask);
    sigaction(SIGINT, &act, NULL);
    signal(SIGPIPE, SIG_IGN); /* a reader that left is an error to report, not a death */
    s->front.ctx = NULL;
    s->front.note = note;
    s->front.output = output;
    s->front.progress = progress;
    s->front.doing = doing;
    s->front.ask = plain.tty && isatty(STDIN_FILENO) ? ask : NULL;
    s->front.await = isatty(STDIN_FILENO) ? await_line : NULL;
    s->front.lend = s->front.reclaim = NULL;
    s->front.cancelled = cancelled;
    s->front.wait = NULL;
    s->front.direct = true;
    front_measure(s);
}

/* "  run naive S=0" and below it "            ^". */
static void point(const char *line, int at, int len)
{
    char *before = strndup(line, (size_t)at), *word = strndup(line + at, (size_t)len);
    char *clean = sanitize_line(line), *clean_before = sanitize_line(before),
         *clean_word = sanitize_line(word);
    const int column = str_width(clean_before), width = str_width(clean_word);
    if (str_width(clean) < 200 && !strchr(clean, '\n')) {
        fprintf(stderr, "  %s\n  %*s^", clean, column, "");
        for (int i = 1; i < width; i++)
            fputc('~', stderr);
        fputc('\n', stderr);
    }
    free(clean);
    free(clean_before);
    free(clean_word);
    free(before);
    free(word);
}

void front_report(struct session *s, enum status st, const struct err *err, const char *line,
                  const char *where)
{
    (void)s;
    clear_progress();
    if (!st)
        return;
    if (plain.tty && line && err->at >= 0 && err->at + err->len <= (int)strlen(line))
        point(line, err->at, err->len);
    char *clean = sanitize_line(err->text);
    fprintf(stderr, "attnscope: %s%s%s\n", where ? where : "", where ? ": " : "", clean);
    free(clean);
}

int front_finish(int status)
{
    errno = 0;
    if (!plain.write_failed && (fflush(stdout) || ferror(stdout)))
        plain.write_failed = errno ? errno : EIO;
    if (!plain.write_failed)
        return status;
    if (plain.write_failed != EPIPE) /* a reader that has seen enough, as head, is no news */
        fprintf(stderr, "attnscope: cannot write to standard output: %s\n",
                strerror(plain.write_failed));
    return ST_FAIL;
}
