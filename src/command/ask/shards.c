/* shards.c - see shards.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/shards.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/kin.h"
#include "base/mem.h"
#include "base/number.h"
#include "base/path.h"
#include "base/sanitize.h"
#include "base/sha256.h"
#include "command/output.h"
#include "store/merge.h"

enum { PARTS_MAX = 4096, FOLDER_DIGITS = 16 };

const char *const engine_words[] = {"local", "parallel", "slurm", NULL};

/* ---- what is asked ---- */

static enum status read_count(struct cmd_call *c, const char *key, int max, int *out,
                              struct err *err)
{
    const char *text = call_key(c, key);
    double v;
    if (!text)
        return ST_OK;
    if (number_parse(text, &v, NULL) || v != floor(v) || v < 1 || v > max) {
        err_set(err, ST_USAGE, "%s needs a whole number from 1 to %d", key, max);
        return call_mark_key(c, key, ST_USAGE, err);
    }
    *out = (int)v;
    return ST_OK;
}

static enum status read_engine(struct cmd_call *c, struct shards *out, struct err *err)
{
    const char *word = call_key(c, "engine");
    for (int i = 0; word && engine_words[i]; i++)
        if (!strcmp(word, engine_words[i]))
            out->engine = (enum shard_engine)(ENGINE_LOCAL + i);
    if (!word || out->engine)
        return ST_OK;
    err_set(err, ST_USAGE, "there is no engine of that name: local, parallel or slurm");
    return call_mark_key(c, "engine", ST_USAGE, err);
}

enum status shards_read(struct session *s, struct cmd_call *c, struct shards *out, struct err *err)
{
    *out = (struct shards){.folder = call_key(c, "dir"),
                           .options = call_key(c, "sbatch"),
                           .print = call_option(c, "print") != NULL};
    enum status st = read_engine(c, out, err);
    if (!st)
        st = read_count(c, "shards", PARTS_MAX, &out->count, err);
    if (!st)
        st = read_count(c, "jobs", PARTS_MAX, &out->jobs, err);
    if (st)
        return st;
    if (!out->engine && (out->count || out->jobs || out->folder || out->options))
        return err_set(err, ST_USAGE,
                       "shards, jobs, dir and sbatch are for engine=local, parallel or slurm");
    if (out->engine && (!session_may(s, MAY_SHELL) || !session_may(s, MAY_WRITE)))
        return err_set(err, ST_USAGE, "an engine starts programs; this session is restricted");
    if (out->folder &&
        (*out->folder != '/' || strchr(out->folder, '\'') || strchr(out->folder, '\n'))) {
        err_set(err, ST_USAGE, "dir needs a path from the root, without quotes");
        return call_mark_key(c, "dir", ST_USAGE, err);
    }
    if (out->options && strpbrk(out->options, "\n\r")) {
        err_set(err, ST_USAGE, "sbatch needs options in one line");
        return call_mark_key(c, "sbatch", ST_USAGE, err);
    }
    if (!out->count)
        out->count = out->engine == ENGINE_LOCAL ? 1 : 8;
    return ST_OK;
}

/* ---- lists of points ---- */

static enum status read_points(struct sweep *w, const char *list, struct err *err)
{
    const char *p = list;
    while (*p) {
        char *end;
        const long from = strtol(p, &end, 10);
        long to = from;
        if (end > p && !strncmp(end, "..", 2)) {
            p = end + 2;
            to = strtol(p, &end, 10);
        }
        if (end == p || from < 1 || to < from || to > w->npoints || (*end && *end != ','))
            return err_set(err, ST_USAGE, "points needs numbers from 1 to %d, as in 1..8,12",
                           w->npoints);
        for (long i = from; i <= to; i++)
            w->mine[i - 1] = true;
        p = *end ? end + 1 : end;
    }
    return ST_OK;
}

enum status shards_points(struct sweep *w, const char *list, struct err *err)
{
    w->mine = xcalloc((size_t)w->npoints + 1, sizeof *w->mine);
    return read_points(w, list, err);
}

/* The walk's missing points of part `part` of `parts`, every parts-th, so that long ones are spread: "1..3,9". */
static void list_points(const struct sweep_walk *k, int part, int parts, struct str *out)
{
    int n = 0, last = -2, from = -2;
    for (int i = 0; i <= k->sweep->npoints; i++) {
        const bool there =
            i < k->sweep->npoints && isfinite(k->flops[i]) && !sweep_has(k->sweep, i);
        const bool mine = there && n++ % parts == part;
        if (mine && last != i - 1)
            str_addf(out, "%s%d", out->len ? "," : "", (from = i) + 1);
        if (mine)
            last = i;
        if (!mine && last == i - 1 && last > from)
            str_addf(out, "..%d", last + 1);
    }
}

static int count_missing(const struct sweep_walk *k)
{
    int n = 0;
    for (int i = 0; i < k->sweep->npoints; i++)
        n += isfinite(k->flops[i]) && !sweep_has(k->sweep, i);
    return n;
}

/* ---- files ---- */

static void shell_quote(struct str *out, const char *text)
{
    str_addc(out, '\'');
    for (; *text; text++)
        str_addf(out, *text == '\'' ? "'\\''" : "%c", *text);
    str_addc(out, '\'');
}

static void add_host(const struct remote *r, struct str *out)
{
    char *text = r ? xasprintf("host %s %s%s%s", r->name, r->dest, r->command ? " " : "",
                               r->command ? r->command : "")
                   : NULL;
    if (!r)
        return;
    str_add(out, " -c ");
    shell_quote(out, text);
    free(text);
}

/* A process that knows what this session knows besides its configuration: where the hosts are. */
static void add_command(const struct sweep_walk *k, const char *line, const char *folder,
                        const char *run, int part, int parts, struct str *out)
{
    const char *host = k->sweep->base.options.host;
    const struct hosts *known = &k->session->settings.hosts;
    char *self = realpath("/proc/self/exe", NULL);
    struct str points = {0};
    list_points(k, part, parts, &points);
    str_addf(out, "ATTNSCOPE_RESULTS='%s/part-%s-%d.db' ", folder, run, part + 1);
    shell_quote(out, self ? self : "attnscope");
    add_host(host ? hosts_find(known, host) : NULL, out);
    for (int a = 0; a < k->sweep->naxes; a++)
        for (int i = 0; i < k->sweep->axes[a].count && !strcmp(k->sweep->axes[a].key, "host"); i++)
            add_host(hosts_find(known, k->sweep->axes[a].values[i]), out);
    char *text = xasprintf("%s points=%s", line, str_text(&points));
    str_add(out, " -c ");
    shell_quote(out, text);
    str_addf(out, " >'%s/part-%d.log' 2>&1\n", folder, part + 1);
    free(text);
    free(self);
    str_free(&points);
}

static void add_script(const struct shards *x, const struct sweep_walk *k, const char *folder,
                       int parts, struct str *out)
{
    const struct backend_info *b = options_runner(&k->sweep->base.options);
    str_addf(out,
             "#!/bin/sh\n#SBATCH --job-name=attnscope-sweep\n#SBATCH --array=1-%d\n"
             "#SBATCH --output=%s/slurm-%%a.log\n#SBATCH --ntasks=1\n",
             parts, folder);
    if (b && b->gpu && !k->sweep->base.options.host && k->nmachines == 1 && !k->machines[0].dest)
        str_add(out, "#SBATCH --gres=gpu:1\n");
    if (x->options)
        str_addf(out, "#SBATCH %s\n", x->options);
    str_addf(out, "eval \"$(sed -n \"${SLURM_ARRAY_TASK_ID}p\" '%s/commands')\"\n", folder);
}

static enum status put_file(const char *folder, const char *name, const struct str *text,
                            struct err *err)
{
    char *path = xasprintf("%s/%s", folder, name);
    const bool ok =
        file_replace(path, FILE_OWN, 0600, &(struct bytes){str_text(text), text->len}, 1, NULL);
    const int why = errno;
    if (!ok)
        err_set(err, ST_FAIL, "cannot write %s: %s", path, strerror(why));
    free(path);
    return ok ? ST_OK : ST_FAIL;
}

static enum status write_files(const struct shards *x, const struct sweep_walk *k, const char *line,
                               const char *folder, int parts, struct err *err)
{
    struct str commands = {0}, script = {0};
    char run[24]; /* of this time: parts of an earlier one may still be at work */
    snprintf(run, sizeof run, "%lld", (long long)time(NULL));
    for (int i = 0; i < parts; i++)
        add_command(k, line, folder, run, i, parts, &commands);
    enum status st = put_file(folder, "commands", &commands, err);
    if (!st && x->engine == ENGINE_SLURM) {
        add_script(x, k, folder, parts, &script);
        st = put_file(folder, "sweep.sbatch", &script, err);
    }
    str_free(&commands);
    str_free(&script);
    return st;
}

/* The same line has the same folder, so that what a crash has left is found. */
static enum status make_folder(const struct shards *x, const char *line, char **out,
                               struct err *err)
{
    char hash[SHA256_HEX + 1];
    sha256_text(line, strlen(line), hash);
    char *name = xasprintf("sweeps/%.*s", FOLDER_DIGITS, hash);
    enum status st = ST_OK;
    if (x->folder)
        *out = xstrdup(x->folder);
    else
        st = path_for(PATH_STATE, name, "parts of sweeps", out, err);
    char *inner = st ? NULL : xasprintf("%s/commands", *out);
    if (!st)
        st = path_make_parent(inner, err);
    if (!st && strchr(*out, '\''))
        st = err_set(err, ST_FAIL, "%s has a quote in it; dir= names another folder", *out);
    free(inner);
    free(name);
    return st;
}

/* ---- results ---- */

static int is_part(const struct dirent *e)
{
    const char *dot = strrchr(e->d_name, '.');
    return str_starts(e->d_name, "part-") && dot && !strcmp(dot, ".db");
}

/* What the parts have kept so far, in this session's store. */
static enum status collect(const struct sweep_walk *k, const char *folder, int64_t *added,
                           struct err *err)
{
    struct store *into = session_store(k->session);
    struct merge m = {.ours = true};
    struct merged count = {0};
    struct dirent **entries;
    const int n = scandir(folder, &entries, is_part, alphasort);
    enum status st =
        into ? ST_OK : err_set(err, ST_FAIL, "results cannot be kept here, so none are collected");
    if (!st && n > 0)
        st = merge_begin(&m, into, k->begun.after, err);
    for (int i = 0; i < n; i++) {
        struct store *from = NULL;
        char *path = xasprintf("%s/%s", folder, entries[i]->d_name);
        if (!st)
            st = store_open(path, &from, err);
        if (!st)
            st = merge_store(&m, into, from, &count, err);
        store_close(from);
        free(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
    merge_clear(&m);
    *added = count.added;
    return st;
}

/* All points are in the store: the parts and what they said are of no more use. */
static int is_left(const struct dirent *e)
{
    return str_starts(e->d_name, "part-") || str_starts(e->d_name, "slurm-") ||
           !strcmp(e->d_name, "commands") || !strcmp(e->d_name, "sweep.sbatch") ||
           !strcmp(e->d_name, "joblog") || !strcmp(e->d_name, "engine.log");
}

static void clear_folder(const char *folder)
{
    struct dirent **entries;
    const int n = scandir(folder, &entries, is_left, NULL);
    for (int i = 0; i < n; i++) {
        char *path = xasprintf("%s/%s", folder, entries[i]->d_name);
        (void)unlink(path);
        free(path);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

/* Held by this process and, as long as they live, by the parts that it starts on this machine. */
static enum status lock_folder(const char *folder, int *fd, struct err *err)
{
    char *path = xasprintf("%s/lock", folder);
    *fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
    enum status st = ST_OK;
    if (*fd < 0)
        st = err_set(err, ST_FAIL, "cannot write %s: %s", path, strerror(errno));
    else if (flock(*fd, LOCK_EX | LOCK_NB) != 0)
        st = err_set(
            err, ST_FAIL,
            "parts of this sweep are still at work (%s is held): wait for them, or end them", path);
    free(path);
    return st;
}

/* ---- the engine ---- */

static pid_t start(const char *command, const char *folder, char *mark)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    char *log = xasprintf("%s/engine.log", folder),
         *argv[] = {(char *)(uintptr_t) "sh", (char *)(uintptr_t) "-c", NULL, NULL};
    size_t n = 0;
    pid_t pid = -1;
    while (environ[n])
        n++;
    char **envp = xcalloc(n + 2, sizeof *envp);
    memcpy(envp, environ, n * sizeof *envp);
    envp[n] = mark;
    argv[2] = (char *)(uintptr_t)command;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP);
    if (posix_spawn(&pid, "/bin/sh", &actions, &attr, argv, envp) != 0)
        pid = -1;
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&actions);
    free(envp);
    free(log);
    return pid;
}

/* What it started goes, too, wherever it went; Slurm's jobs are Slurm's to end. */
static void stop(pid_t pid, const char *mark, const struct shards *x, const char *folder)
{
    if (x->engine == ENGINE_SLURM) {
        char *cancel =
            xasprintf("scancel $(sed 's/;.*//;q' '%s/engine.log') >/dev/null 2>&1", folder);
        if (system(cancel) != 0)
            (void)0; /* there may be no job yet */
        free(cancel);
    }
    kill(-pid, SIGTERM);
    kill(pid, SIGKILL);
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        ;
    while (kin_end_marked(mark) > 0)
        (void)0;
}

static void say_progress(const struct sweep_walk *k, int *said)
{
    const int tenth = k->total ? 10 * k->done / k->total : 0;
    if (tenth > *said && isatty(STDERR_FILENO))
        session_note(k->session, "%d of %d points", k->done, k->total);
    *said = tenth > *said ? tenth : *said;
}

/* Until the engine has ended; *status: how. Meanwhile rows come in. */
static enum status wait_for(pid_t pid, const char *mark, const struct shards *x,
                            struct sweep_walk *k, const char *line, const char *folder, int *status,
                            struct err *err)
{
    int said = k->total ? 10 * k->done / k->total : 0;
    double pause = 2, next = seconds_now() + pause;
    for (;;) {
        const pid_t ended = waitpid(pid, status, WNOHANG);
        if (ended == pid || (ended < 0 && errno != EINTR))
            return ST_OK;
        if (!session_sleep(k->session, 0.05)) {
            stop(pid, mark, x, folder);
            return err_set(err, ST_CANCELLED, "cancelled");
        }
        if (seconds_now() < next)
            continue;
        int64_t added;
        const double begun = seconds_now();
        if (collect(k, folder, &added, NULL) == ST_OK && added) {
            sweep_walk_renew(k, line);
            say_progress(k, &said);
        }
        pause = fmax(2, 20 * (seconds_now() - begun)); /* a twentieth of the time at most */
        next = seconds_now() + pause;
    }
}

/* Kernels that are timed side by side on one machine are in each other's way. */
static int jobs_of(const struct shards *x, const struct sweep_walk *k)
{
    const struct backend_info *b = options_runner(&k->sweep->base.options);
    return x->jobs                             ? x->jobs
           : b && b->times                     ? 1
           : sysconf(_SC_NPROCESSORS_ONLN) > 0 ? (int)sysconf(_SC_NPROCESSORS_ONLN)
                                               : 1;
}

static enum status engine_command(const struct shards *x, const struct sweep_walk *k,
                                  const char *folder, char **out, struct err *err)
{
    static const char *const programs[] = {NULL, "sh", "parallel", "sbatch"};
    static const char *const packages[] = {NULL, NULL, "parallel", "slurm-client"};
    char *path = path_program(programs[x->engine]);
    if (!path)
        return err_set(err, ST_FAIL, "%s was not found; install %s, or say engine=local",
                       programs[x->engine], packages[x->engine]);
    free(path);
    if (x->engine == ENGINE_LOCAL)
        *out = xasprintf("exec sh '%s/commands'", folder);
    else if (x->engine == ENGINE_PARALLEL)
        *out = xasprintf("exec parallel --will-cite --jobs %d --joblog '%s/joblog' <'%s/commands'",
                         jobs_of(x, k), folder, folder);
    else
        *out = xasprintf("exec sbatch --parsable --wait '%s/sweep.sbatch'", folder);
    return ST_OK;
}

static enum status run_engine(const struct shards *x, struct sweep_walk *k, const char *line,
                              const char *folder, const char *command, struct err *err)
{
    char mark[KIN_MARK];
    int status = 0;
    kin_new_mark(mark);
    const pid_t pid = start(command, folder, mark);
    if (pid < 0)
        return err_set(err, ST_FAIL, "cannot start a shell: %s", strerror(errno));
    return wait_for(pid, mark, x, k, line, folder, &status, err);
}

/* ---- the whole ---- */

static enum status hand_out(const struct shards *x, struct sweep_walk *k, const char *line,
                            const char *folder, struct str *out, struct err *err)
{
    const int missing = count_missing(k), parts = missing < x->count ? missing : x->count;
    char *command = NULL;
    int64_t added;
    if (!missing && !x->print)
        return ST_OK;
    enum status st = write_files(x, k, line, folder, parts, err);
    if (x->print && !st) {
        str_addf(out, "%s/%s\n", folder, x->engine == ENGINE_SLURM ? "sweep.sbatch" : "commands");
        return ST_OK;
    }
    if (!st)
        st = engine_command(x, k, folder, &command, err);
    if (!st)
        st = run_engine(x, k, line, folder, command, err);
    struct err why = ERR_INIT;
    const enum status got = collect(k, folder, &added, &why);
    if (got && !st)
        st = err_set(err, got, "%s", why.text);
    sweep_walk_renew(k, line);
    if (!st && count_missing(k))
        st = err_set(err, ST_FAIL,
                     "%d of %d points are missing: what was in the way is in %s, engine.log and "
                     "part-*.log; the "
                     "same line goes on with them",
                     count_missing(k), k->total, folder);
    free(command);
    return st;
}

enum status shards_run(const struct shards *x, struct sweep_walk *k, const char *line, bool fresh,
                       struct str *out, struct err *err)
{
    char *folder = NULL;
    int64_t added = 0;
    int lock = -1;
    enum status st = make_folder(x, line, &folder, err);
    if (!st)
        st = lock_folder(folder, &lock, err);
    if (!st)
        st = collect(k, folder, &added, err); /* of a run that was cut short */
    if (!st && added && !fresh)
        sweep_walk_renew(k, line);
    if (!st && !k->line)
        st = err_set(err, ST_FAIL, "results cannot be kept here, so parts cannot be collected");
    if (!st)
        st = hand_out(x, k, line, folder, out, err);
    if (!st && !x->print && !count_missing(k))
        clear_folder(folder);
    if (lock >= 0)
        close(lock);
    free(folder);
    return st;
}
