/* speed.c - how fast the simulator is, and one number of all that it counts: `make sim-speed`.
 *
 * Every kernel of the ladder with every dtype, its shipped PTX, 1024 queries and keys of one head. Times are processor
 * time, so other work on the machine counts only as far as it takes caches and shared cores away; what is compared is
 * run in turn, round by round. The goals are those of a core that nobody else uses.
 *
 * SIM_SPEED: words, separated by blanks: names of kernels or of kernels with a dtype (`fa2`, `fa2/f32`); names of modes
 * (`avx512`, `avx2`, `generic`, `hazards`, `two`, `beside`: one thread while another process does the same, which shares
 * nothing with it but the machine, so that two threads cannot do better); `sums`: the checksum of every count, hazard and output instead of
 * times; `rounds=9`; `size=256`: so many queries and keys instead of 1024. From the environment too: ATTNSCOPE, the program whose `run` is timed from start to end;
 * without it that part is left out.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "backend/cpu_host.h"
#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "kernel/registry.h"
#include "sim/hazard.h"
#include "trial.h"

enum { ROUNDS_MAX = 99, SETS = 3 };
enum mode { HAZARDS = SETS, TWO, BESIDE, MODES };
static const char *const modes[MODES] = {"avx512", "avx2", "generic", "hazards", "two", "beside"};

static const char *wishes;
static int rounds = 5;

static bool wished(const char *word)
{
    const size_t n = strlen(word);
    for (const char *at = wishes; at && (at = strstr(at, word)); at += n)
        if ((at == wishes || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

static int number_of(const char *key, int most, int usual)
{
    const char *at = strstr(wishes, key);
    const int n = at ? atoi(at + strlen(key)) : 0;
    return n > 0 && n <= most ? n : usual;
}

/* A mode, when no other is asked for. */
static bool wishes_mode(int mode)
{
    bool any = false;
    for (int i = 0; i < MODES; i++)
        any |= wished(modes[i]);
    return !any || wished(modes[mode]);
}

static bool is_mode(const char *word, size_t n)
{
    bool is = false;
    for (int i = 0; i < MODES; i++)
        is |= strlen(modes[i]) == n && !strncmp(word, modes[i], n);
    return is;
}

/* Is any kernel named? */
static bool chooses(void)
{
    for (const char *at = wishes; *at;) {
        const size_t n = strcspn(at, " ");
        if (n && strncmp(at, "sums", n) && !memchr(at, '=', n) && !is_mode(at, n))
            return true;
        at += n + (at[n] == ' ');
    }
    return false;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* ---- a run of it ---- */

struct outcome {
    double cpu_s, wall_s;
    uint64_t winsts, sum;
    uint64_t hazards;
};

/* All that was counted and found: nothing of it depends on threads, on the instruction set, or on time. Counts of
 * hazards depend on who came first where blocks race, and no kernel of the ladder does. */
static uint64_t sum_of(uint64_t h, const struct sim_result *r)
{
    h = hash_bytes(h, &r->total, sizeof r->total);
    h = hash_bytes(h, r->pipe, sizeof r->pipe);
    h = hash_bytes(h, r->insn, r->insns * sizeof *r->insn);
    for (size_t i = 0; i < r->phases; i++)
        h = hash_bytes(h, &r->phase[i], sizeof r->phase[i]);
    h = hash_bytes(h, r->block_instructions, r->blocks_run * sizeof *r->block_instructions);
    h = hash_bytes(h, r->block_class, r->blocks_run * sizeof *r->block_class);
    for (size_t i = 0; i < r->faults; i++) {
        const struct sim_fault *f = &r->fault[i];
        const uint64_t v[] = {f->kind, f->block, (uint64_t)f->warp, (uint64_t)f->lane,
                              f->insn, f->addr,  f->count};
        h = hash_bytes(h, v, sizeof v);
    }
    for (size_t i = 0; i < r->hazards; i++) {
        const struct hazard_report *z = &r->hazard[i];
        const uint64_t v[] = {z->kind, z->a.insn, z->b.insn, z->addr, z->count};
        h = hash_bytes(h, v, sizeof v);
    }
    return hash_bytes(h, &r->hazards_unwatched, sizeof r->hazards_unwatched);
}

static uint64_t sum_output(uint64_t h, const struct trial *t, const struct sim_memory *m,
                           const struct PagedArgs *args)
{
    void *out = xcalloc(1, t->tensors.q_bytes + 1);
    sim_memory_read(m, (uint64_t)(uintptr_t)args->attn.o, out, t->tensors.q_bytes);
    h = hash_bytes(h, out, t->tensors.q_bytes);
    free(out);
    return h;
}

static struct outcome run(const struct trial *t, const struct sim_options *o)
{
    struct outcome out = {.sum = HASH_START};
    struct err err = ERR_INIT;
    struct PagedArgs args;
    struct sim_memory *m = trial_memory(t, &args);
    for (int i = 0; i < t->plan.npasses; i++) {
        struct sim_launch l = trial_launch(t, i, &args);
        struct sim_options one = *o;
        struct sim_result r;
        one.l1_bytes = trial_l1(t, i); /* as `run` has it */
        const double cpu = cpu_seconds(), wall = seconds_now();
        if (sim_run(t->program[i], m, &l, &one, &r, &err) != ST_OK)
            fatal("%s: %s", t->plan.desc->name, err.text);
        out.cpu_s += cpu_seconds() - cpu;
        out.wall_s += seconds_now() - wall;
        out.winsts += r.total.executions;
        out.hazards += r.hazards + r.faults;
        if (wished("sums"))
            out.sum = sum_of(out.sum, &r);
        sim_result_clear(&r);
        trial_launch_clear(&l);
    }
    if (wished("sums"))
        out.sum = sum_output(out.sum, t, m, &args);
    sim_memory_free(m);
    return out;
}

/* ---- the table ---- */

struct figures {
    double s[MODES][ROUNDS_MAX], wall[2][ROUNDS_MAX];
    uint64_t winsts, hazards;
};

static struct sim_options options_of(int mode)
{
    return (struct sim_options){
        .threads = mode == TWO ? 2 : 1, .hazards = mode == HAZARDS, .l2_bytes = 50u << 20};
}

/* One that does the same until it is killed; from when it has begun on. */
static pid_t neighbour(const struct trial *t, const struct sim_options *o)
{
    int begun[2];
    char c;
    if (pipe(begun) != 0)
        return -1;
    const pid_t pid = fork();
    while (pid == 0) {
        (void)!write(begun[1], "", 1);
        run(t, o);
    }
    if (pid < 0 || read(begun[0], &c, 1) != 1)
        fatal("no process for a neighbour");
    close(begun[0]);
    close(begun[1]);
    return pid;
}

/* Every mode once, one after the other. */
static void round_of(const struct trial *t, struct figures *f, int n)
{
    for (int mode = 0; mode < MODES; mode++) {
        const struct sim_options o = options_of(mode);
        f->s[mode][n] = NAN;
        if (!wishes_mode(mode) || (mode < SETS && !sim_force_isa(modes[mode])))
            continue;
        const pid_t other = mode == BESIDE ? neighbour(t, &o) : -1;
        const struct outcome out = run(t, &o);
        if (other > 0) {
            kill(other, SIGKILL);
            waitpid(other, NULL, 0);
        }
        f->s[mode][n] = out.cpu_s;
        if (mode == TWO)
            f->wall[1][n] = out.wall_s;
        if (mode == 0)
            f->wall[0][n] = out.wall_s;
        f->winsts = out.winsts;
        f->hazards += mode == HAZARDS ? out.hazards : 0;
        sim_force_isa(NULL);
    }
}

static double best(double v[ROUNDS_MAX])
{
    qsort(v, (size_t)rounds, sizeof *v, ascending);
    return v[0];
}

static void print_figures(const char *name, const struct trial *t, struct figures *f)
{
    double low[MODES], middle[MODES];
    for (int i = 0; i < MODES; i++) {
        low[i] = best(f->s[i]);
        middle[i] = f->s[i][rounds / 2];
    }
    const double ns = 1e9 / (double)f->winsts;
    printf("%-22s %7.2f", name, (double)f->winsts * 1e-6);
    for (int i = 0; i < SETS; i++)
        printf(" %6.1f %5.1f", low[i] * ns, middle[i] * ns);
    printf(" %7.2f %6.2f %6.2f %6.2f %6.2f %7.1f %s\n", t->plan.flops / low[0] * 1e-9,
           low[HAZARDS] / low[0], low[TWO] / low[0], low[BESIDE] / low[0],
           best(f->wall[0]) / best(f->wall[1]), t->lower_s * 1e3, f->hazards ? "FINDINGS" : "");
    fflush(stdout);
}

static void head(void)
{
    printf("%-22s %7s %12s %12s %12s %7s %6s %6s %6s %6s %7s\n", "", "M warp", "AVX-512", "AVX2",
           "generic", "GFLOP/s", "with", "2 thr.", "beside", "2 thr.", "PTX to");
    printf("%-22s %7s %6s %5s %6s %5s %6s %5s %7s %6s %6s %6s %6s %7s\n", "kernel", "insns", "ns",
           "mid", "ns", "mid", "ns", "mid", "a core", "haz.", "cpu", "cpu", "wall", "code ms");
}

static void time_kernel(const char *name, const struct trial *t)
{
    struct figures *f = xcalloc(1, sizeof *f);
    for (int i = 0; i < rounds; i++)
        round_of(t, f, i);
    print_figures(name, t, f);
    free(f);
}

static void sum_kernel(const char *name, const struct trial *t)
{
    printf("%-22s", name);
    for (int mode = 0; mode < MODES; mode++) {
        const struct sim_options o = options_of(mode);
        if (!wishes_mode(mode) || (mode < SETS && !sim_force_isa(modes[mode])))
            continue;
        printf(" %016" PRIx64, run(t, &o).sum);
        sim_force_isa(NULL);
    }
    printf("\n");
    fflush(stdout);
}

static void each_kernel(void (*what)(const char *name, const struct trial *t), int64_t S)
{
    struct registry *all = registry_new();
    struct device_table *devices = devices_new();
    const struct device *dev;
    devices_get(devices, "H100", &dev, NULL);
    for (int i = 0; i < registry_count(all); i++) {
        const struct kernel_desc *d = registry_at(all, i)->cuda;
        for (int k = 0; d && !d->peer && k < DTYPE_COUNT; k++) {
            char name[80];
            struct shape shape = SHAPE_DEFAULT;
            struct trial t;
            struct err err = ERR_INIT;
            shape.H = shape.Hkv = 1;
            shape.Sq = shape.Sk = S;
            shape.dtype = (enum dtype)k;
            snprintf(name, sizeof name, "%s/%s", d->name, dtype_name(shape.dtype));
            if (!(d->dtypes & 1u << k) || (chooses() && !wished(d->name) && !wished(name)))
                continue;
            if (trial_make(&t, d, dev, &shape, &err) == ST_OK)
                what(name, &t);
            trial_clear(&t);
        }
    }
    devices_free(devices);
    registry_free(all);
}

/* ---- from the command to the answer ---- */

static double command_seconds(const char *line, double *cpu)
{
    const char *program = getenv("ATTNSCOPE");
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    const double begin = seconds_now();
    const pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(1);
        execl(program, program, "-c", line, (char *)NULL);
        _exit(127);
    }
    int how = 0;
    if (pid < 0 || waitpid(pid, &how, 0) != pid || !WIFEXITED(how) || WEXITSTATUS(how))
        return NAN;
    const double s = seconds_now() - begin;
    getrusage(RUSAGE_CHILDREN, &after);
    *cpu = (double)(after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
                    before.ru_stime.tv_sec) +
           1e-6 * (double)(after.ru_utime.tv_usec - before.ru_utime.tv_usec +
                           after.ru_stime.tv_usec - before.ru_stime.tv_usec);
    return s;
}

/* The default shape: 8 heads, 1024 queries and keys. */
static void time_commands(void)
{
    static const struct {
        const char *line;
        double goal;
    } all[] = {{"run fa2 backend=sim blocks=some hazards=off", 0.1},
               {"run fa2 backend=sim hazards=off", 0.6},
               {"run fa2 backend=sim hazards=on", 2},
               {"run fa2 backend=sim dtype=f32 blocks=some hazards=off", NAN},
               {"run fa2 backend=sim dtype=f32 hazards=off", NAN},
               {"run fa2 backend=sim dtype=f32 hazards=on", NAN}};
    printf("\n%-58s %8s %8s %8s %6s\n", "from the command to its end, ms", "best", "median", "cpu",
           "goal");
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        double wall[ROUNDS_MAX], cpu[ROUNDS_MAX];
        for (int k = 0; k < rounds; k++)
            wall[k] = command_seconds(all[i].line, &cpu[k]);
        const double least = best(wall), cpu_s = best(cpu);
        printf("%-58s %8.0f %8.0f %8.0f", all[i].line, least * 1e3, wall[rounds / 2] * 1e3,
               cpu_s * 1e3);
        printf(isnan(all[i].goal) ? "\n" : " %6.0f\n", all[i].goal * 1e3);
    }
}

int main(void)
{
    char *cpu = host_cpu_name();
    wishes = getenv("SIM_SPEED") ? getenv("SIM_SPEED") : "";
    rounds = number_of("rounds=", ROUNDS_MAX, rounds);
    if (wished("sums")) {
        each_kernel(sum_kernel, number_of("size=", 65536, 130));
    } else {
        printf("%s, %d cores, %d rounds, best and median; processor time\n", cpu,
               host_usable_cpus(), rounds);
        head();
        each_kernel(time_kernel, number_of("size=", 65536, 1024));
        if (getenv("ATTNSCOPE") && !chooses())
            time_commands();
    }
    free(cpu);
    return 0;
}
