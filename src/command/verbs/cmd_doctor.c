/* cmd_doctor.c - what is there, what is missing, and what that means; with --peak, how fast this
 * machine is.
 *
 * Nothing of NVIDIA's is ever loaded into this process: a child tries the libraries.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <langinfo.h>
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
#include "command/ask/measure.h"
#include "command/ask/request.h"
#include "command/line/config.h"
#include "command/output.h"
#include "command/session.h"
#include "command/show/peaks.h"
#include "command/verbs/doctor_peak.h"
#include "command/verbs/doctor_rows.h"
#include "command/verbs/verbs.h"
#include "job/gpu_lock.h"
#include "job/proc.h"
#include "job/remote_ask.h"

#ifndef PACKAGE_VERSION
#define PACKAGE_VERSION "dev"
#endif

// clang-format off
static const struct columns columns = {
    .of = FIELD_TABLES(doctor_fields, peak_figure_fields, ceiling_fields),
    .list = (const struct column[]){
        {.field = "name"},
        {.field = "state"},
        {.field = "detail", .wrap = true},
        {0},
    },
};
// clang-format on

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
        doctor_add(rows, w->name, a->found.state == FOUND_OLD ? "too old" : "missing", "%s: %s",
                   w->without, a->why);
    else
        doctor_add(rows, w->name, "ok", "%s%s%s%s%s", library && base ? base + 1 : a->found.path,
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
            doctor_add(rows, w->name, "unknown", "trying %s did not end", w->names[0]);
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
    doctor_add(rows, "attnscope", "ok", "%s, with SQLite %s and jansson %s", PACKAGE_VERSION,
               sqlite3_libversion(), jansson_version_str());
    const bool whole = s->may == session_kinds[SESSION_FREE].may;
    doctor_add(
        rows, "session", session_kinds[whole ? SESSION_FREE : SESSION_RESTRICTED].name, "%s",
        whole
            ? "files, pipes and ! are on; native code and Python run once you have allowed them"
            : "measures and keeps results; no files that you name are written, no pipe, no shell, "
              "no compiler but for what is shipped, no native code or Python of anybody's");
}

static void add_terminal(struct rowset *rows, const struct session *s)
{
    static const char *const tiers[] = {"ascii", "blocks", "braille"};
    const char *term = getenv("TERM");
    doctor_add(rows, "terminal", term && strcmp(term, "dumb") ? "ok" : "plain",
               "TERM=%s, output %s a terminal", term ? term : "(unset)",
               isatty(STDOUT_FILENO) ? "is" : "is not");
    doctor_add(rows, "charset", "ok", "%s, figures in %s", nl_langinfo(CODESET),
               tiers[s->front.glyphs]);
    const bool none = getenv("NO_COLOR") && *getenv("NO_COLOR");
    doctor_add(rows, "colour", s->front.color ? "on" : "off", "%s",
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
        doctor_add(rows, name, "missing", "%s", err.text);
    else if (written && path_may_write(path, &err))
        doctor_add(rows, name, access(path, R_OK) ? "broken" : "read-only", "%s", err.text);
    else {
        if (!written)
            add_hash(&hash, path);
        doctor_add(rows, name, access(path, F_OK) ? "absent" : "ok", "%s%s", path, str_text(&hash));
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
        doctor_add(rows, "config", "broken", "%s", all.first);
    else
        doctor_add(rows, "config", "broken", "%s; and %d more lines are not taken", all.first,
                   all.n - 1);
    free(all.first);
}

static void add_sandbox(struct rowset *rows)
{
    const int abi = confine_abi();
    if (abi)
        doctor_add(
            rows, "sandbox", "on",
            "Landlock %d: compilers read headers and libraries, and write to no file of yours",
            abi);
    else
        doctor_add(
            rows, "sandbox", "off",
            "this kernel has no Landlock: compilers have limits of time and memory alone, and a "
            "source can include any file that you can read");
}

/* tests/unit/test_cage.c tries to get through each wall. */
static void add_cage(struct rowset *rows)
{
    const struct cage_walls w = cage_walls();
    doctor_add(rows, "cage",
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
            doctor_add(rows, "GPU lock", "free", "%s: nobody measures", l.name);
        else if (l.waiting < 0)
            doctor_add(rows, "GPU lock", "held", "%s: somebody measures", l.name);
        else
            doctor_add(rows, "GPU lock", "held", "%s: somebody measures, %d wait%s", l.name,
                       l.waiting, l.waiting == 1 ? "s" : "");
}

static void add_worker(struct rowset *rows)
{
    char *path = NULL;
    struct err err = ERR_INIT;
    if (proc_find(NULL, &path, &err))
        doctor_add(rows, "worker", "missing", "%s; nothing can be measured", err.text);
    else
        doctor_add(
            rows, "worker", "ok",
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
        doctor_add(rows, "results", "read-only", "%s", err.text);
    else if (open)
        doctor_add(rows, "results", "ok", "%s", path ? path : "-");
    else
        doctor_add(rows, "results", "broken", "%s", err.text);
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
    doctor_add(rows, "CPU", ok ? "ok" : "broken", "%s", str_text(&s));
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
        doctor_add(rows, "plans", "ok", "are for %s%s%s", d->name, why ? ", " : "", why ? why : "");
    else
        doctor_add(rows, "plans", "broken", "%s", err.text);
}

static void add_tables(struct rowset *rows, const struct session *s)
{
    int broken = 0;
    while (registry_problem(s->services.registry, broken))
        doctor_add(rows, "user kernel", "broken", "%s",
                   registry_problem(s->services.registry, broken++));
    for (int i = 0; devices_problem(s->services.devices, i); i++)
        doctor_add(rows, "user device", "broken", "%s", devices_problem(s->services.devices, i));
    doctor_add(rows, "kernels", "ok", "%d known", registry_count(s->services.registry));
    doctor_add(rows, "devices", "ok", "%d models known", devices_count(s->services.devices));
}

/* Who could run kernels here. */
static void add_backends(struct rowset *rows)
{
    for (const struct backend_info *b = backend_rows; b->name; b++) {
        char *name = xasprintf("backend %s", b->name);
        if (backend_is_here(b))
            doctor_add(rows, name, "ok", "%s", b->doc);
        else
            doctor_add(rows, name, "absent", "needs %s, and %s", b->needs, b->absent);
        free(name);
    }
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
        doctor_add(rows, clean_name, clean_state, "%s", detail ? detail : "");
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
        doctor_add(
            rows, "doctor there", "unknown", "%s",
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
        doctor_add(rows, "a run there", "failed", "%s", why.text);
        return false;
    }
    measure(s, &r, &how, &m);
    const enum status st = measured_status(&m, false, &why);
    if (st)
        doctor_add(rows, "a run there", "failed", "%s", why.text);
    else
        doctor_add(rows, "a run there", "ok", "%s: connected, run and judged in %.2f s",
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
    doctor_add(rows, "host", "named", "%s: ssh to %s, where \"%s\" is started", r->name, r->dest,
               r->command ? r->command : "attnscope");
    if (!add_run_there(s, rows, host))
        doctor_add(
            rows, "to install", "there",
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
    struct rowset set = {.type = &doctor_look_type}, *rows = &set;
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
        st = doctor_add_peaks(s, rows, err);
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
