/* cmd_doctor.c - what is there, what is missing, and what that means; with --peak, how fast this
 * machine is.
 *
 * Nothing of NVIDIA's is ever loaded into this process: a child tries the libraries.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <langinfo.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "backend/finder.h"
#include "backend/quota.h"
#include "backend/sim/cage.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "base/whose.h"
#include "command/ask/ceiling.h"
#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "command/line/config.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/peaks.h"
#include "command/verbs/verbs.h"
#include "job/gpu_lock.h"
#include "job/proc.h"
#include "job/remote_ask.h"
#include "measure/stats.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

struct doctor_row {
    char *name, *state, *detail;
    json_t *value; /* a number or a text */
    double value_low, value_high;
    int64_t threads;
    double gflops, percent_of_peak, percent_of_burst_peak;
};
// clang-format off
static const struct field fields[] = {
    FIELD(FIELD_TEXT, doctor_row, name, .title = "what", .doc = "What was looked at."),
    FIELD(FIELD_TEXT, doctor_row, state, .doc = "How it is; live: it was measured by --peak."),
    FIELD(FIELD_TEXT, doctor_row, detail, .doc = "What that means."),
    FIELD(FIELD_JSON, doctor_row, value, .doc = "What --peak measured: a number in `unit`, or a text."),
    FIELD(FIELD_REAL, doctor_row, value_low, .unit = "%", .doc = "Of a share by which threads together stay behind: the lower end of its 95 % interval."),
    FIELD(FIELD_REAL, doctor_row, value_high, .unit = "%", .doc = "The upper end."),
    FIELD(FIELD_INT, doctor_row, threads, .doc = "Threads that cpu_tiled had: one, or all."),
    FIELD(FIELD_REAL, doctor_row, gflops, .unit = "GFLOP/s", .doc = "The rate of cpu_tiled on these threads, by --peak."),
    FIELD(FIELD_REAL, doctor_row, percent_of_peak, .unit = "%",
          .doc = "The same of the multiply-adds of as many threads: of one at the clock of real work (fma_gflops), of all at once (fma_gflops_all)."),
    FIELD(FIELD_REAL, doctor_row, percent_of_burst_peak, .unit = "%",
          .doc = "The same of a burst of multiply-adds alone of one thread (fma_burst_gflops), times the threads."),
    {.name = NULL},
};
// clang-format on

/* What is looked at has no figure; what is measured has one, and cpu_tiled has three. */
#define DOCTOR_TYPE(...)                                                                          \
    {                                                                                             \
        .size = sizeof(struct doctor_row), .parts = {{fields, 0}}, .order = (const char *const[]) \
        {                                                                                         \
            "name", "state", "detail", __VA_ARGS__                                                \
        }                                                                                         \
    }
static const struct row_type look_type = DOCTOR_TYPE(NULL);
static const struct row_type value_type = DOCTOR_TYPE("value", NULL);

/* A ceiling has the state of the device and the data sheet's figure, too. */
struct figure_row {
    struct doctor_row look;
    struct peak_figure figure;
};
static const struct row_type figure_type = {
    .size = sizeof(struct figure_row),
    .parts = {{fields, 0},
              {peak_figure_fields, offsetof(struct figure_row, figure)},
              {ceiling_fields, offsetof(struct figure_row, figure.measured)}},
    .order =
        (const char *const[]){"name", "state", "detail", "value", "unit", "device", "clock_mhz",
                              "power_w", "temperature_c", "held", "spread_pct", "sheet",
                              "sheet_clock_mhz", "of_sheet_pct", "of_clock_pct", NULL}};
static const struct row_type together_type = DOCTOR_TYPE("value", "value_low", "value_high", NULL);
static const struct row_type share_type =
    DOCTOR_TYPE("threads", "gflops", "percent_of_peak", "percent_of_burst_peak", NULL);

// clang-format off
static const struct columns columns = {
    .of = FIELD_TABLES(fields, peak_figure_fields, ceiling_fields),
    .list = (const struct column[]){
        {.field = "name"},
        {.field = "state"},
        {.field = "detail", .wrap = true},
        {0},
    },
};
// clang-format on

static struct doctor_row *vadd(struct rowset *rows, const struct row_type *type, const char *name,
                               const char *state, const char *fmt, va_list ap)
{
    struct str text = {0};
    struct row *row = row_new(type);
    struct doctor_row *r = row_data(row);
    rowset_take(rows, row);
    str_vaddf(&text, fmt, ap);
    r->name = xstrdup(name);
    r->state = xstrdup(state);
    r->detail = sanitize_line(str_text(&text));
    str_free(&text);
    return r;
}

/* What was looked at. */
static void add(struct rowset *rows, const char *name, const char *state, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static void add(struct rowset *rows, const char *name, const char *state, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    (void)vadd(rows, &look_type, name, state, fmt, ap);
    va_end(ap);
}

/* What was measured; the caller says the figures. */
static struct doctor_row *add_live(struct rowset *rows, const struct row_type *type,
                                   const char *name, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));

static struct doctor_row *add_live(struct rowset *rows, const struct row_type *type,
                                   const char *name, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    struct doctor_row *row = vadd(rows, type, name, "live", fmt, ap);
    va_end(ap);
    return row;
}

/* ---- what others make ---- */

/* The child's word on one thing: what find_wanted() said. */
struct answer {
    struct found found; /* its library means nothing here */
    char why[480];
};

/* Libraries are tried in a child, whose whole life this is. */
static void try_libraries(int fd)
{
    alarm(5); /* a driver that hangs must not outlive us */
    for (int i = 0; i < WANT_COUNT; i++) {
        struct answer a = {0};
        struct err err = ERR_INIT;
        int v[3];
        if (wanted[i].kind != WANTED_LIBRARY)
            continue;
        if (find_wanted((enum wanted_id)i, &a.found, &err) == ST_OK)
            (void)find_version((enum wanted_id)i, &a.found, v);
        snprintf(a.why, sizeof a.why, "%s", err.text);
        if (write(fd, &a, sizeof a) != sizeof a)
            break;
    }
    _exit(0);
}

/* The next whole answer, within five seconds. */
static bool read_answer(int fd, struct answer *a)
{
    for (size_t have = 0; have < sizeof *a;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        const ssize_t got =
            poll(&p, 1, 5000) > 0 ? read(fd, (char *)a + have, sizeof *a - have) : 0;
        if (got <= 0)
            return false;
        have += (size_t)got;
    }
    a->found.path[sizeof a->found.path - 1] = a->found.version[sizeof a->found.version - 1] = 0;
    a->why[sizeof a->why - 1] = 0;
    return true;
}

/* In the words of the table; of what is missing or too old, those of whoever would use it. */
static void add_wanted(struct rowset *rows, const struct wanted *w, const struct answer *a)
{
    const char *base = strrchr(a->found.path, '/');
    const bool library = w->kind == WANTED_LIBRARY;
    if (a->found.state != FOUND_OK)
        add(rows, w->name, a->found.state == FOUND_OLD ? "too old" : "missing", "%s: %s",
            w->without, a->why);
    else
        add(rows, w->name, "ok", "%s%s%s%s%s", library && base ? base + 1 : a->found.path,
            *a->found.version ? ", version " : "", a->found.version, w->does ? " " : "",
            w->does ? w->does : "");
}

/* Whether that Python has PyTorch is seen when a peer is asked for: importing it takes seconds. */
static void add_all_wanted(struct rowset *rows)
{
    int pipes[2];
    if (pipe(pipes))
        return;
    const pid_t pid = fork();
    if (!pid)
        try_libraries(pipes[1]);
    close(pipes[1]);
    bool alive = pid > 0;
    for (int i = 0; i < WANT_COUNT; i++) {
        const struct wanted *w = &wanted[i];
        struct answer a = {0};
        struct err err = ERR_INIT;
        if (w->kind == WANTED_LIBRARY)
            alive = alive && read_answer(pipes[0], &a);
        else if (find_wanted((enum wanted_id)i, &a.found, &err) != ST_OK)
            snprintf(a.why, sizeof a.why, "%s", err.text);
        if (w->kind == WANTED_LIBRARY && !alive)
            add(rows, w->name, "unknown", "trying %s did not end", w->names[0]);
        else if (w->without)
            add_wanted(rows, w, &a);
    }
    if (pid > 0) {
        kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
            ;
    }
    close(pipes[0]);
}

/* ---- this program ---- */

static void add_versions(struct rowset *rows, const struct session *s)
{
    add(rows, "attnscope", "ok", "%s, with SQLite %s and jansson %s", PACKAGE_VERSION,
        sqlite3_libversion(), jansson_version_str());
    const bool whole = s->may == session_kinds[SESSION_FREE].may;
    add(rows, "session", session_kinds[whole ? SESSION_FREE : SESSION_RESTRICTED].name, "%s",
        whole
            ? "files, pipes and ! are on; native code and Python run once you have allowed them"
            : "measures and keeps results; no files that you name are written, no pipe, no shell, "
              "no compiler but for what is shipped, no native code or Python of anybody's");
}

static void add_terminal(struct rowset *rows, const struct session *s)
{
    static const char *const tiers[] = {"ascii", "blocks", "braille"};
    const char *term = getenv("TERM");
    add(rows, "terminal", term && strcmp(term, "dumb") ? "ok" : "plain",
        "TERM=%s, output %s a terminal", term ? term : "(unset)",
        isatty(STDOUT_FILENO) ? "is" : "is not");
    add(rows, "charset", "ok", "%s, figures in %s", nl_langinfo(CODESET), tiers[s->front.glyphs]);
    const bool none = getenv("NO_COLOR") && *getenv("NO_COLOR");
    add(rows, "colour", s->front.color ? "on" : "off", "%s",
        s->front.color ? none ? "asked for, though NO_COLOR is set" : "the output takes it"
        : none         ? "NO_COLOR is set"
        : !isatty(STDOUT_FILENO) ? "the output is not a terminal"
                                 : "as --color says");
}

/* Which version of it: two that read alike are the same. "" where it is no file that can be read. */
static void add_hash(struct str *out, const char *path)
{
    enum { TEXT_MAX = 1 << 20 };
    struct whose w = {0};
    char *text;
    size_t len;
    if (str_read_file(path, TEXT_MAX, &text, &len, NULL))
        return;
    whose_hash(&w, text, len);
    free(text);
    str_addf(out, ", sha256 %s%s", w.hash,
             whose_file_is_yours(path) ? "" : ", a file of another user");
}

static void add_path(struct rowset *rows, const char *name, enum path_kind kind, const char *file,
                     bool written)
{
    struct err err = ERR_INIT;
    struct str hash = {0};
    char *path;
    if (path_for(kind, file, name, &path, &err))
        add(rows, name, "missing", "%s", err.text);
    else if (written && path_may_write(path, &err))
        add(rows, name, access(path, R_OK) ? "broken" : "read-only", "%s", err.text);
    else {
        if (!written)
            add_hash(&hash, path);
        add(rows, name, access(path, F_OK) ? "absent" : "ok", "%s%s", path, str_text(&hash));
    }
    str_free(&hash);
    free(path);
}

/* What is wrong with the configuration: the first of it. */
struct complaints {
    int n;
    char *first;
};

static void note_complaint(void *ctx, const char *text)
{
    struct complaints *all = ctx;
    if (!all->n++)
        all->first = xstrdup(text);
}

/* By a session that takes it in and is thrown away: what it says is what is said at the start. */
static void add_config(struct rowset *rows, const struct session *s)
{
    struct complaints all = {0};
    struct session *trial = session_new(s->program);
    trial->may = s->may;
    trial->front = (struct front){.ctx = &all, .note = note_complaint};
    session_load_config(trial);
    session_free(trial);
    if (!all.n)
        add_path(rows, "config", PATH_CONFIG, "config", false);
    else if (all.n == 1)
        add(rows, "config", "broken", "%s", all.first);
    else
        add(rows, "config", "broken", "%s; and %d more lines are not taken", all.first, all.n - 1);
    free(all.first);
}

static void add_sandbox(struct rowset *rows)
{
    const int abi = confine_abi();
    if (abi)
        add(rows, "sandbox", "on",
            "Landlock %d: compilers read headers and libraries, and write to no file of yours",
            abi);
    else
        add(rows, "sandbox", "off",
            "this kernel has no Landlock: compilers have limits of time and memory alone, and a "
            "source can include any file that you can read");
}

/* tests/unit/test_cage.c tries to get through each wall. */
static void add_cage(struct rowset *rows)
{
    const struct cage_walls w = cage_walls();
    add(rows, "cage",
        w.files && w.calls   ? "on"
        : w.files || w.calls ? "in part"
                             : "off",
        "PTX is simulated in a process %s%s, with limits of memory and time",
        w.files ? "without files" : "that could open files (no Landlock here)",
        w.calls ? ", network, programs or other processes"
                : ", whose system calls are not filtered (no seccomp here)");
}

/* Who holds or waits cannot be told: the lock's file says nothing. Nor is it taken away: one that nobody holds, of a machine
 * without a GPU, is nobody's. */
static void add_gpu_locks(struct rowset *rows)
{
    struct gpu_lock_state l;
    const bool here = backend_is_here(backend_gpu());
    for (int i = 0; gpu_lock_look(i, &l); i++)
        if (!l.held && !here)
            continue;
        else if (!l.held)
            add(rows, "GPU lock", "free", "%s: nobody measures", l.name);
        else if (l.waiting < 0)
            add(rows, "GPU lock", "held", "%s: somebody measures", l.name);
        else
            add(rows, "GPU lock", "held", "%s: somebody measures, %d wait%s", l.name, l.waiting,
                l.waiting == 1 ? "s" : "");
}

static void add_worker(struct rowset *rows)
{
    char *path = NULL;
    struct err err = ERR_INIT;
    if (proc_find(NULL, &path, &err))
        add(rows, "worker", "missing", "%s; nothing can be measured", err.text);
    else
        add(rows, "worker", "ok",
            "%s: kernels run in it, native code and Python of yours with your rights; where it "
            "ends or hangs, another is started",
            path);
    free(path);
}

static void add_store(struct rowset *rows, struct session *s)
{
    char *path = path_in(PATH_DATA, "results.db");
    struct err err = ERR_INIT;
    const bool open = s->services.store || !store_open(NULL, &s->services.store, &err);
    if (open && path && path_may_write(path, &err))
        add(rows, "results", "read-only", "%s", err.text);
    else if (open)
        add(rows, "results", "ok", "%s", path ? path : "-");
    else
        add(rows, "results", "broken", "%s", err.text);
    free(path);
}

static void add_cpu(struct rowset *rows)
{
    char *name = host_cpu_name(), a[NUMBER_BUF];
    const char *forced = getenv("ATTNSCOPE_CPU");
    const double quota = quota_cpus();
    struct str s = {0};
    str_addf(&s, "%s, %d of %d CPUs may be used", name, host_usable_cpus(), host_cpus());
    if (quota < host_cpus())
        str_addf(&s, " (a control group grants the time of %s)", number_fmt(a, quota, 3));
    str_addf(&s, ", %s", host_isa_used()->title);
    if (forced && *forced && host_isa_runs(forced))
        str_addf(&s, " by ATTNSCOPE_CPU; it has %s", host_isa_at(0)->title);
    const bool ok = !forced || !*forced || host_isa_runs(forced);
    if (!ok)
        str_addf(&s, "; ATTNSCOPE_CPU=%.40s is none of this machine's, so nothing runs", forced);
    add(rows, "CPU", ok ? "ok" : "broken", "%s", str_text(&s));
    str_free(&s);
    free(name);
}

/* The model behind every figure that nobody measured. */
static void add_plans(struct rowset *rows, struct session *s)
{
    char buf[256];
    struct err err = ERR_INIT;
    const struct device *d = session_gpu(s, NULL, &err);
    const char *why = session_gpu_why(s, NULL, buf, sizeof buf);
    if (d)
        add(rows, "plans", "ok", "are for %s%s%s", d->name, why ? ", " : "", why ? why : "");
    else
        add(rows, "plans", "broken", "%s", err.text);
}

static void add_tables(struct rowset *rows, const struct session *s)
{
    int broken = 0;
    while (registry_problem(s->services.registry, broken))
        add(rows, "user kernel", "broken", "%s", registry_problem(s->services.registry, broken++));
    for (int i = 0; devices_problem(s->services.devices, i); i++)
        add(rows, "user device", "broken", "%s", devices_problem(s->services.devices, i));
    add(rows, "kernels", "ok", "%d known", registry_count(s->services.registry));
    add(rows, "devices", "ok", "%d models known", devices_count(s->services.devices));
}

/* Who could run kernels here. */
static void add_backends(struct rowset *rows)
{
    for (const struct backend_info *b = backend_rows; b->name; b++) {
        char *name = xasprintf("backend %s", b->name);
        if (backend_is_here(b))
            add(rows, name, "ok", "%s", b->doc);
        else
            add(rows, name, "absent", "needs %s, and %s", b->needs, b->absent);
        free(name);
    }
}

/* ---- --peak ---- */

/* What cpu_tiled is timed on. */
struct share {
    int S, H;
    int threads; /* 1, or all */
};

/* Of one thread: the share at the clock of real work, and of a burst of multiply-adds alone (which no kernel that also loads
 * can keep up, see backend/peak.h). Of all: of what they do at once, and of so many times one, which they may never do. */
static void add_share_row(struct rowset *rows, const struct share *x, double gflops,
                          const struct peak *peak)
{
    const bool one = x->threads == 1;
    const double work = gflops * 100 / peak->at[one ? PEAK_FMA : PEAK_FMA_ALL].value;
    const double burst = gflops * 100 / (x->threads * peak->at[PEAK_FMA_BURST].value);
    char name[64], rate[NUMBER_BUF], of_work[NUMBER_BUF], of_burst[NUMBER_BUF];
    snprintf(name, sizeof name, "cpu_tiled S=%d H=%d", x->S, x->H);
    number_fmt(rate, gflops, 4);
    number_fmt(of_work, work, 3);
    number_fmt(of_burst, burst, 3);
    struct doctor_row *row =
        one ? add_live(rows, &share_type, name,
                       "%s GFLOP/s, one thread: %s %% of fma_gflops, %s %% of fma_burst_gflops",
                       rate, of_work, of_burst)
            : add_live(rows, &share_type, name,
                       "%s GFLOP/s, %d threads: %s %% of fma_gflops_all, %s %% of %d times "
                       "fma_burst_gflops",
                       rate, x->threads, of_work, of_burst, x->threads);
    row->threads = x->threads;
    row->gflops = gflops;
    row->percent_of_peak = work;
    row->percent_of_burst_peak = burst;
}

/* cpu_tiled beside the peak of its threads: f32, D=64. */
static enum status add_share(struct session *s, struct rowset *rows, const struct peak *peak,
                             const struct share *x, struct err *err)
{
    struct request r;
    struct measured m;
    const struct measure_how how = {.kind = JOB_RUN, .no_store = true, .verb = "run"};
    if (!registry_find(s->services.registry, "cpu_tiled"))
        return ST_OK;
    char *length = xasprintf("%d", x->S), *heads = xasprintf("%d", x->H),
         *threads = xasprintf("%d", x->threads),
         *seconds = xasprintf("%g", fmin(2, s->settings.options.rule.max_s));
    const struct request_word more[] = {
        {"B", "1"},        {"H", heads},  {"S", length},
        {"D", "64"},       {"f32", NULL}, {"threads", threads},
        {"time", seconds}, {"l2", "hot"}, {"backend", backend_everywhere()->name},
        {NULL, NULL}};
    enum status st = request_of(s, "cpu_tiled", more, REQUEST_FRESH, &r, err);
    free(length);
    free(heads);
    free(threads);
    free(seconds);
    if (st)
        return st;
    measure(s, &r, &how, &m);
    const double tflops = m.rows.n ? m.rows.v[0].tflops : NAN;
    st = measured_status(&m, false, err);
    if (!st)
        add_share_row(rows, x, tflops * 1e3, peak);
    measured_clear(&m);
    request_clear(&r);
    return st;
}

/* One thread at several lengths, then all threads, two heads each. */
static enum status add_shares(struct session *s, struct rowset *rows, const struct peak *peak,
                              struct err *err)
{
    enum { LENGTH = 2048 };
    enum status st = ST_OK;
    for (int S = 512; S <= 4096 && !st; S *= 2)
        st = add_share(s, rows, peak, &(struct share){.S = S, .H = 1, .threads = 1}, err);
    const int all = peak->threads == INT_UNKNOWN ? 1 : (int)peak->threads;
    if (!st && all > 1)
        st = add_share(s, rows, peak, &(struct share){.S = LENGTH, .H = 2 * all, .threads = all},
                       err);
    return st;
}

/* The two were taken in turn, so that neither a neighbour nor the clock comes between them, as it may for the rows of runs. */
static void add_tile(struct rowset *rows, const struct peak *p)
{
    const double pct = 100 * p->at[PEAK_TILE].value / p->at[PEAK_FMA].value;
    char share[NUMBER_BUF];
    if (pct > 0)
        add_live(rows, &value_type, "tile_of_fma_pct", "%s %%: tile_gflops over fma_gflops",
                 number_fmt(share, pct, 3))
            ->value = json_real(pct);
}

/* What cpu_peak_together() took in turn. */
enum { TURNS_MAX = 256 };
struct turns {
    size_t n;
    double fma_one[TURNS_MAX], fma_all[TURNS_MAX], tiled_one[TURNS_MAX], tiled_all[TURNS_MAX];
};

static size_t read_turns(const struct peak *p, const char *name, double *out)
{
    const json_t *list = json_object_get(p->turns, name);
    const size_t n = json_array_size(list) < TURNS_MAX ? json_array_size(list) : TURNS_MAX;
    for (size_t i = 0; i < n; i++)
        out[i] = json_number_value(json_array_get(list, i));
    return n;
}

/* False: they were not measured. */
static bool turns_of(const struct peak *p, struct turns *t)
{
    t->n = read_turns(p, "fma_one", t->fma_one);
    return t->n && read_turns(p, "fma_all", t->fma_all) == t->n &&
           read_turns(p, "tiled_one", t->tiled_one) == t->n &&
           read_turns(p, "tiled_all", t->tiled_all) == t->n;
}

/* What a_i is of b_i, over the turns; `scale` makes it a share. `what` is its sentence. */
static void add_ratio(struct rowset *rows, const char *name, const double *a, const double *b,
                      size_t n, double scale, const char *what)
{
    const struct ratio r = stats_ratio(a, b, n, 1);
    char mid[NUMBER_BUF], lo[NUMBER_BUF], hi[NUMBER_BUF];
    struct doctor_row *row = add_live(
        rows, &together_type, name, "%s %% (%s to %s): %s", number_fmt(mid, r.mid * scale, 3),
        number_fmt(lo, r.lo * scale, 3), number_fmt(hi, r.hi * scale, 3), what);
    row->value = json_real(r.mid * scale);
    row->value_low = r.lo * scale;
    row->value_high = r.hi * scale;
}

/* "16 threads at once have 2204 of 16 times 160.1 GFLOP/s" */
static char *together_text(int threads, const double *all, const double *one, size_t n,
                           const char *what)
{
    char together[NUMBER_BUF], alone[NUMBER_BUF];
    number_fmt(together, stats_of(all, n).median, 4);
    number_fmt(alone, stats_of(one, n).median, 4);
    return xasprintf("%d threads at once have %s of %d times %s GFLOP/s %s", threads, together,
                     threads, alone, what);
}

/* A CPU's threads share what they have, so that many have less than as many times one. What multiply-adds lose by that no kernel
 * that computes can have; what cpu_tiled loses beside is its own. */
static void add_together(struct rowset *rows, const struct peak *p)
{
    struct turns *t = xcalloc(1, sizeof *t);
    double fma[TURNS_MAX], tiled[TURNS_MAX];
    if (turns_of(p, t)) {
        const int threads = (int)p->threads;
        char *of_fma = together_text(threads, t->fma_all, t->fma_one, t->n, "of multiply-adds");
        char *of_tiled = together_text(threads, t->tiled_all, t->tiled_one, t->n,
                                       "of cpu_tiled, in turn with those");
        for (size_t i = 0; i < t->n; i++) {
            fma[i] = t->fma_all[i] / t->fma_one[i];
            tiled[i] = t->tiled_all[i] / t->tiled_one[i];
        }
        add_ratio(rows, "fma_together_pct", t->fma_all, t->fma_one, t->n, 100.0 / threads, of_fma);
        add_ratio(rows, "tiled_together_pct", t->tiled_all, t->tiled_one, t->n, 100.0 / threads,
                  of_tiled);
        add_ratio(rows, "tiled_of_fma_together_pct", tiled, fma, t->n, 100,
                  "the second over the first: what is missing the kernel loses by itself");
        free(of_fma);
        free(of_tiled);
    }
    free(t);
}

static void add_fact(struct rowset *rows, const char *name, const char *text)
{
    if (text)
        add_live(rows, &value_type, name, "%s", text)->value = json_string(text);
}

static void add_figure(struct session *s, const struct peak *p, enum peak_id id,
                       struct rowset *rows)
{
    struct row *row = row_new(&figure_type);
    struct figure_row *f = row_data(row);
    struct str text = {0};
    if (peaks_figure(s, p, id, &f->figure, &text)) {
        f->look.name = xstrdup(peak_infos[id].name);
        f->look.state = xstrdup("live");
        f->look.detail = sanitize_line(str_text(&text));
        f->look.value = json_real(f->figure.measured.value);
        rowset_take(rows, row);
    } else {
        row_drop(row);
    }
    str_free(&text);
}

/* What was measured, a row for each figure. */
static void add_figures(struct session *s, const struct peak *p, struct rowset *rows)
{
    char count[NUMBER_BUF];
    add_fact(rows, "peak of", p->device);
    add_fact(rows, "isa", p->isa);
    if (p->threads != INT_UNKNOWN)
        add_live(rows, &value_type, "threads", "%s", number_fmt(count, (double)p->threads, 4))
            ->value = json_integer(p->threads);
    for (int i = 0; i < PEAK_COUNT; i++)
        add_figure(s, p, (enum peak_id)i, rows);
    add_tile(rows, p);
    add_together(rows, p);
    add_fact(rows, "not measured", p->reason);
}

/* "noisy: the tries are 31 % apart; others used 1.6 cores", where the peak is that of a busy machine. */
static void add_peak_noise(struct rowset *rows, const struct peak *peak)
{
    struct str text = {0};
    ceiling_noise_text(peak, &text);
    if (text.len)
        add(rows, "noise", "live", "%s", str_text(&text));
    str_free(&text);
}

static enum status add_peak_of(struct session *s, struct rowset *rows, const char *backend,
                               struct err *err)
{
    struct peak peak;
    const bool gpu = backend_is_gpu(backend);
    enum status st = peaks_measure(s, backend, &peak, err);
    if (!st) {
        add_figures(s, &peak, rows);
        peaks_keep(s, &peak);
    }
    if (!st && !gpu)
        add_peak_noise(rows, &peak);
    if (!st && !gpu)
        st = add_shares(s, rows, &peak, err);
    peak_clear(&peak);
    return st;
}

/* Of everything that is here and has a clock, or of what backend= names. */
static enum status add_peaks(struct session *s, struct rowset *rows, struct err *err)
{
    const char *asked = s->settings.options.backend;
    enum status st = ST_OK;
    for (const struct backend_info *b = backend_rows; b->name && !st; b++)
        if (asked ? !strcmp(asked, b->name) : b->times && backend_is_here(b))
            st = add_peak_of(s, rows, b->name, err);
    return st;
}

/* ---- another machine ---- */

/* Of the pipe that the answer came through, which nobody looks at. */
static bool is_of_the_asker(const char *row)
{
    static const char *const rows[] = {"terminal", "charset", "colour", "session"};
    bool any = false;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        any |= !strcmp(row, rows[i]);
    return any;
}

/* What its own doctor says. */
static enum status add_answer(struct rowset *rows, const struct str *text)
{
    size_t i;
    const json_t *v;
    json_t *list = json_loadb(str_text(text), text->len, 0, NULL);
    const bool is_list = json_is_array(list) && json_array_size(list);
    json_array_foreach(list, i, v)
    {
        const char *name = json_string_value(json_object_get(v, "name")),
                   *state = json_string_value(json_object_get(v, "state")),
                   *detail = json_string_value(json_object_get(v, "detail"));
        if (name && is_of_the_asker(name))
            continue;
        char *clean_name = sanitize_line(name ? name : "?"),
             *clean_state = sanitize_line(state ? state : "?");
        add(rows, clean_name, clean_state, "%s", detail ? detail : "");
        free(clean_name);
        free(clean_state);
    }
    json_decref(list);
    return is_list ? ST_OK : ST_FAIL;
}

static void add_there(const struct session *s, struct rowset *rows, const struct remote *r)
{
    static const double patience_s = 30;
    struct str text = {0};
    struct err why = ERR_INIT;
    const enum status st =
        remote_ask(r, "doctor --json", patience_s, s->front.cancelled, s->front.ctx, &text, &why);
    if (add_answer(rows, &text) != ST_OK)
        add(rows, "doctor there", "unknown", "%s",
            st ? why.text
               : "it printed no rows: a forced command, which only serves, looks so from here");
    str_free(&text);
}

/* A small run from here to there and back: keys, path, build, worker, judge. */
static bool add_run_there(struct session *s, struct rowset *rows, const char *host)
{
    struct request r;
    struct measured m;
    struct err why = ERR_INIT;
    const struct measure_how how = {.kind = JOB_CHECK, .no_store = true, .verb = "check"};
    const struct request_word more[] = {{"B", "1"},     {"H", "1"},
                                        {"S", "16"},    {"D", "16"},
                                        {"f32", NULL},  {"backend", backend_everywhere()->name},
                                        {"host", host}, {NULL, NULL}};
    const double begun = seconds_now();
    if (request_of(s, "naive", more, REQUEST_FRESH, &r, &why) != ST_OK) {
        add(rows, "a run there", "failed", "%s", why.text);
        return false;
    }
    measure(s, &r, &how, &m);
    const enum status st = measured_status(&m, false, &why);
    if (st)
        add(rows, "a run there", "failed", "%s", why.text);
    else
        add(rows, "a run there", "ok", "%s: connected, run and judged in %.2f s",
            m.rows.v[0].device ? m.rows.v[0].device : "?", seconds_now() - begun);
    measured_clear(&m);
    request_clear(&r);
    return !st;
}

/* What is missing there, and how it comes there. */
static enum status doctor_there(struct session *s, struct rowset *rows, const char *host,
                                struct err *err)
{
    const enum status st = host_choose(s, host, err);
    if (st)
        return st;
    const struct remote *r = hosts_find(&s->settings.hosts, host);
    add(rows, "host", "named", "%s: ssh to %s, where \"%s\" is started", r->name, r->dest,
        r->command ? r->command : "attnscope");
    if (!add_run_there(s, rows, host))
        add(rows, "to install", "there",
            "have ssh %s get in without a question (ssh-copy-id %s); copy the source of this "
            "version, %s, to that "
            "machine, run ./quickstart --no-start in it, and name the program: host %s %s "
            "PATH/build/attnscope",
            r->dest, r->dest, PACKAGE_VERSION, r->name, r->dest);
    add_there(s, rows, r);
    return ST_OK;
}

/* ---- the verb ---- */

static enum status exec_doctor(struct session *s, struct cmd_call *c, struct err *err)
{
    const bool peak = call_option(c, "peak") != NULL;
    const char *host = call_key(c, "host");
    (void)call_format(c);
    enum status st = call_finish(s, c, err);
    if (st)
        return st;
    struct rowset set = {.type = &look_type}, *rows = &set;
    if (host && peak)
        return err_set(err, ST_USAGE, "--peak measures this machine alone; run it there");
    if (host) {
        st = doctor_there(s, rows, host, err);
        if (st)
            call_mark_key(c, "host", st, err);
        else
            rows_format(c->out, rows, &columns, call_format(c), call_width(s, c));
        rowset_clear(rows);
        return st;
    }
    add_versions(rows, s);
    add_cpu(rows);
    add_terminal(rows, s);
    add_worker(rows);
    add_sandbox(rows);
    add_cage(rows);
    add_gpu_locks(rows);
    add_backends(rows);
    add_all_wanted(rows);
    add_tables(rows, s);
    add_plans(rows, s);
    add_store(rows, s);
    add_config(rows, s);
    add_path(rows, "user devices", PATH_CONFIG, "devices", false);
    add_path(rows, "user kernels", PATH_DATA, "kernels", true);
    add_path(rows, "user keys", PATH_CONFIG, "keys", false);
    add_path(rows, "user factors", PATH_DATA, "calibrations", true);
    add_path(rows, "tuned", PATH_DATA, "tuned", true);
    add_path(rows, "state", PATH_STATE, "", true);
    add_path(rows, "cache", PATH_CACHE, "", true);
    if (peak)
        st = add_peaks(s, rows, err);
    rows_format(c->out, rows, &columns, call_format(c), call_width(s, c));
    rowset_clear(rows);
    return st;
}

static const struct cmd_key keys[] = {
    {"host", "of the machine that has this name: the way there, and what its own doctor says",
     NULL},
    {"--peak",
     "also measure what the processor and the GPU can do: arithmetic, caches, memory, launches",
     NULL},
    {0},
};

const struct cmd_entry cmd_doctor = {
    .name = "doctor",
    .alias = "info",
    .group = "Look up",
    .usage = "[--peak] [host=NAME]",
    .summary = "what is there, what is missing, and what that means",
    .help =
        "Nothing that is missing stops the program; the sentence says what does not work\n"
        "without it.\n"
        "\n"
        "--peak measures the ceilings of the processor, and cpu_tiled against them, and of the\n"
        "GPU: bandwidth of DRAM, L2 and shared memory, rates of multiply-adds, exponentials and\n"
        "tensor cores (ours and cuBLAS's), and what a launch costs, each at the clock that was\n"
        "held and with what held it. They are kept: roofline and run show a GPU's beside the data\n"
        "sheet's, and a CPU's as its roof, for runs with the same threads (set threads= before):\n"
        "what these do at once, which is less than as many times one (fma_together_pct).\n"
        "set backend= chooses one of the two.\n"
        "\n"
        "host= asks another machine: whether it can be reached, has the same build and runs a\n"
        "kernel, what its own doctor says, and how what is missing comes there.\n"
        "\n"
        "  doctor --peak\n"
        "  doctor host=box\n",
    .arg = ARG_NONE,
    .keys = keys,
    .flags = CMD_ROWS,
    .exec = exec_doctor,
    .columns = COLUMNS(&columns),
};
