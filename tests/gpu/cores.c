/* cores.c - what a machine's processors give, one by one and together: before a kernel is said to scale badly.
 *
 * usage: cores [isa=NAME] [threads=1,2,4,8,16] [rounds=N] [slice=MS] [pairs=0] [read=MIB] [JOB...]
 * A JOB is "S/D/type/BR/BC", one query tile of cpu_tiled over S keys, as phases has them: "1024/64/f32/64/96".
 *
 * First where the processors say they are (cores, caches, nodes), then what pairs of them do: two that share a core's units do
 * half as many multiply-adds each while both are busy, whatever the machine says of them.
 *
 * Then a table by the number of threads, each on a processor of its own, that do the same for a few ms each, in turn, again and
 * again: multiply-adds, products of 16 bits, instructions that do nothing, reading memory, and the jobs. No pool, no grid, no
 * tile to wait for: what is lost here is lost by the machine. Columns: `clock` in MHz, of dependent additions, which a neighbour
 * on the same core cannot slow; multiply-adds of a thread in GFLOP/s, per clock, and of all threads over as many times one
 * thread; `issue`: instructions a clock, and for how much of the time three quarters of the most or less, as a core has them
 * while its other hardware thread runs anything; `away`: time that the thread had no processor. Of a job, GFLOP/s of a thread,
 * of all over as many times one thread, and its share of the multiply-adds of the same threads and ms; then the same apart for
 * moments in which a core gave a thread 0.85 of the most instructions that this run saw, or more, and 0.65 or less: the core's
 * other hardware thread rested or worked, if that most is what such a core can do (4 to 6 on recent ones).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu_simd.h"
#include "backend/cpu_host.h"
#include "base/mem.h"
#include "base/status.h"

enum { SEATS_MAX = 256, ROUNDS_MAX = 200, JOBS_MAX = 8, COUNTS_MAX = 16, CHUNKS_MAX = 1 << 16 };
enum kind { MULTIPLY_ADDS, PRODUCTS, ISSUE, READING, JOBS, KINDS_MAX = JOBS + JOBS_MAX };

/* One query tile, over and over. */
struct job {
    long S, D, BR, BC;
    enum dtype dtype;
    const char *word;
};

/* A thread on a processor. */
struct seat {
    struct machine *m;
    int cpu, number;
    struct tiled_job tiles[JOBS_MAX];
    double rate[KINDS_MAX][ROUNDS_MAX]; /* G a second: FLOPs, instructions, bytes */
    double
        usual[KINDS_MAX]
             [ROUNDS_MAX]; /* the same of the middle bout, which nobody took the processor from */
    double clock[KINDS_MAX][ROUNDS_MAX];
    double slow[ROUNDS_MAX], away[ROUNDS_MAX]; /* of ISSUE, share of the time */
    double chunks[CHUNKS_MAX];
    size_t read_at;
};

struct machine {
    const struct cpu_simd *simd;
    int cpus[SEATS_MAX], ncpus;
    int counts[COUNTS_MAX], ncounts;
    struct job jobs[JOBS_MAX];
    int njobs, rounds;
    double slice_s;
    float *memory;
    size_t memory_bytes;
    struct seat *seats[SEATS_MAX];
    int running; /* seats of this table row */
    _Atomic int arrived;
};

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts x. */
static double middle(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, by_value);
    return n ? n % 2 ? x[n / 2] : (x[n / 2 - 1] + x[n / 2]) / 2 : NAN;
}

static void sit_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0)
        fatal("cores: no thread may be put on processor %d", cpu);
}

/* All seats that run meet here, again and again; they spin, each on its own processor. */
static void meet(struct machine *m)
{
    const int n = m->running, mine = atomic_fetch_add(&m->arrived, 1), until = (mine / n + 1) * n;
    while (atomic_load(&m->arrived) < until)
        ;
}

/* ---- what a thread does ---- */

/* Instructions that nothing waits for and that wait for nothing: as many a clock as the core hands out. */
static double issue_once(void)
{
    enum { LOOPS = 200, INSTRUCTIONS = 64 };
#if defined __x86_64__
    for (int i = 0; i < LOOPS; i++)
        __asm__ volatile(".rept 64\n nopl 0(%%rax)\n .endr" ::);
    return (double)LOOPS * (INSTRUCTIONS + 2);
#elif defined __aarch64__
    for (int i = 0; i < LOOPS; i++)
        __asm__ volatile(".rept 64\n nop\n .endr" ::);
    return (double)LOOPS * (INSTRUCTIONS + 2);
#else
    return 0;
#endif
}

/* Reads on in the seat's share of the memory, which is far larger than the caches. */
static double read_once(struct seat *s)
{
    enum { PIECE = 256 << 10 };
    const struct machine *m = s->m;
    const size_t share = m->memory_bytes / (size_t)m->running / PIECE * PIECE;
    const char *base = (const char *)m->memory + (size_t)s->number * share;
    (void)m->simd->read_burst((const float *)(const void *)(base + s->read_at), PIECE / 4);
    s->read_at = (s->read_at + PIECE) % share;
    return PIECE;
}

static double job_flops(const struct job *j)
{
    return 4.0 * (double)j->BR * (double)j->S * (double)j->D;
}

/* Does some of it; how much was done. */
static double once(struct seat *s, int kind)
{
    enum { BURST = 4000, DOTS = 2000 };
    switch (kind) {
    case MULTIPLY_ADDS:
        return s->m->simd->fma_burst(BURST);
    case PRODUCTS:
        return s->m->simd->dot_burst(DOTS);
    case ISSUE:
        return issue_once();
    case READING:
        return read_once(s);
    default:
        s->m->simd->tiled(&s->tiles[kind - JOBS]);
        return job_flops(&s->m->jobs[kind - JOBS]);
    }
}

static bool does(const struct machine *m, int kind)
{
    return kind == PRODUCTS  ? m->simd->dot_burst != NULL
           : kind == READING ? m->memory_bytes > 0
                             : kind < JOBS + m->njobs;
}

/* Of n times that the same took, sorted: the share of all time in those that took 4/3 of the least or more, and for which
 * others were in the thread's place: what is 20 us above the middle. */
static void look_at_times(struct seat *s, int round, int n)
{
    const double usual = s->chunks[n / 2], least = s->chunks[0];
    double all = 0, slow = 0, away = 0;
    for (int i = 0; i < n; i++) {
        const double over = s->chunks[i] - usual;
        const bool gone = over > 20e-6;
        away += gone ? over : 0;
        slow += !gone && s->chunks[i] > least * 4 / 3 ? s->chunks[i] : 0;
        all += s->chunks[i];
    }
    s->slow[round] = slow / all;
    s->away[round] = away / all;
}

/* One slice of time. The clock is looked at between two bouts, 3 us each. */
static void spend(struct seat *s, int kind, int round)
{
    enum { LOOKS = 64 };
    double done = 0, busy = 0, clocks[LOOKS], now = host_seconds();
    const double end = now + s->m->slice_s;
    double next_look = now;
    int n = 0, looks = 0, bouts = 0;
    do {
        const double begin = host_seconds();
        done += once(s, kind);
        now = host_seconds();
        busy += now - begin;
        bouts++;
        if (n < CHUNKS_MAX)
            s->chunks[n++] = now - begin;
        if (now >= next_look && looks < LOOKS) {
            clocks[looks++] = host_clock_mhz();
            next_look = now + s->m->slice_s / LOOKS;
        }
    } while (now < end);
    s->rate[kind][round] = done / busy * 1e-9;
    s->usual[kind][round] = done / bouts * 1e-9 / middle(s->chunks, n);
    s->clock[kind][round] = middle(clocks, looks);
    if (kind == ISSUE)
        look_at_times(s, round, n);
}

static void *seat_main(void *arg)
{
    struct seat *s = arg;
    struct machine *m = s->m;
    sit_on(s->cpu);
    for (int round = 0; round < m->rounds; round++)
        for (int kind = 0; kind < KINDS_MAX; kind++) {
            if (!does(m, kind))
                continue;
            meet(m);
            spend(s, kind, round);
        }
    return NULL;
}

/* ---- the table ---- */

/* Of the seats that run: x[round] of each, the middle over all. `of` NULL, or what it is a share of. */
static double middle_of(const struct machine *m, size_t at, bool divide, size_t by)
{
    double *all = xcalloc((size_t)(m->running * m->rounds), sizeof *all);
    int n = 0;
    for (int i = 0; i < m->running; i++)
        for (int r = 0; r < m->rounds; r++) {
            const char *seat = (const char *)m->seats[i];
            const double x = ((const double *)(const void *)(seat + at))[r];
            all[n++] = divide ? x / ((const double *)(const void *)(seat + by))[r] : x;
        }
    const double result = middle(all, n);
    free(all);
    return result;
}

#define SEAT_MIDDLE(m, member) middle_of(m, offsetof(struct seat, member), false, 0)
#define SEAT_RATIO(m, what, by_) \
    middle_of(m, offsetof(struct seat, what), true, offsetof(struct seat, by_))

/* All seats together, the middle over the rounds. */
static double together(const struct machine *m, int kind)
{
    double sums[ROUNDS_MAX] = {0};
    for (int r = 0; r < m->rounds; r++)
        for (int i = 0; i < m->running; i++)
            sums[r] += m->seats[i]->rate[kind][r];
    return middle(sums, m->rounds);
}

static double kind_rate(const struct machine *m, int kind)
{
    return middle_of(m, offsetof(struct seat, rate) + (size_t)kind * sizeof m->seats[0]->rate[0],
                     false, 0);
}

static double kind_clock(const struct machine *m, int kind)
{
    return middle_of(m, offsetof(struct seat, clock) + (size_t)kind * sizeof m->seats[0]->clock[0],
                     false, 0);
}

static double kind_share(const struct machine *m, int kind)
{
    return middle_of(m, offsetof(struct seat, usual) + (size_t)kind * sizeof m->seats[0]->usual[0],
                     true, offsetof(struct seat, usual[MULTIPLY_ADDS]));
}

static void run_seats(struct machine *m)
{
    pthread_t ids[SEATS_MAX];
    atomic_store(&m->arrived, 0);
    for (int i = 0; i < m->running; i++)
        if (pthread_create(&ids[i], NULL, seat_main, m->seats[i]) != 0)
            fatal("cores: no thread");
    for (int i = 0; i < m->running; i++)
        pthread_join(ids[i], NULL);
}

static void print_head(const struct machine *m)
{
    printf(
        "\n%s, %d rounds of %.0f ms each\nthreads | clock  fma   /clk   all  scale | issue  slow  "
        "away |",
        m->simd->title, m->rounds, m->slice_s * 1e3);
    if (does(m, PRODUCTS))
        printf(" 16 bits  all  scale |");
    if (does(m, READING))
        printf(" read    all |");
    for (int i = 0; i < m->njobs; i++)
        printf(" %-20s scale of fma |", m->jobs[i].word);
    printf("\n");
}

/* " 83 %", or "  - " where the whole is not known: the table has no row of one thread. */
static const char *percent(char buf[8], double part, double whole)
{
    if (whole > 0)
        snprintf(buf, 8, "%4.0f %%", 100 * part / whole);
    return whole > 0 ? buf : "     -";
}

/* `alone`: a kind's rate of one thread, NaN before it is known. */
static void print_row(const struct machine *m, double *alone)
{
    const double fma = kind_rate(m, MULTIPLY_ADDS), clock = kind_clock(m, MULTIPLY_ADDS),
                 all = together(m, MULTIPLY_ADDS), n = m->running;
    char buf[8];
    for (int k = 0; k < KINDS_MAX; k++)
        if (does(m, k) && m->running == 1)
            alone[k] = kind_rate(m, k);
    printf("%7d | %5.0f %5.1f %5.1f %6.0f %s | %5.2f %4.0f %% %4.0f %% |", m->running, clock, fma,
           fma / clock * 1e3, all, percent(buf, all, n * alone[MULTIPLY_ADDS]),
           SEAT_RATIO(m, usual[ISSUE], clock[ISSUE]) * 1e3, 100 * SEAT_MIDDLE(m, slow),
           100 * SEAT_MIDDLE(m, away));
    if (does(m, PRODUCTS))
        printf(" %6.0f %6.0f %s |", kind_rate(m, PRODUCTS), together(m, PRODUCTS),
               percent(buf, together(m, PRODUCTS), n * alone[PRODUCTS]));
    if (does(m, READING))
        printf(" %5.1f %5.1f |", kind_rate(m, READING), together(m, READING));
    for (int k = JOBS; k < JOBS + m->njobs; k++) {
        printf(" %6.1f all %7.0f %s", kind_rate(m, k), together(m, k),
               percent(buf, together(m, k), n * alone[k]));
        printf(" %s |", percent(buf, kind_share(m, k), 1));
    }
    printf("\n");
    fflush(stdout);
}

/* Of a job: its share of the multiply-adds of the same thread and round, where the round's instructions a clock are within
 * [from, to) of `most`; how many such there were. */
static int share_where(const struct machine *m, int kind, double most, double from, double to,
                       double *share)
{
    double *all = xcalloc((size_t)(m->running * m->rounds), sizeof *all);
    int n = 0;
    for (int i = 0; i < m->running; i++)
        for (int r = 0; r < m->rounds; r++) {
            const struct seat *s = m->seats[i];
            const double issue = s->usual[ISSUE][r] / s->clock[ISSUE][r] / most;
            if (issue >= from && issue < to)
                all[n++] = s->usual[kind][r] / s->usual[MULTIPLY_ADDS][r];
        }
    *share = middle(all, n);
    free(all);
    return n;
}

static double most_issued(const struct machine *m)
{
    double most = 0;
    for (int i = 0; i < m->running; i++)
        for (int r = 0; r < m->rounds; r++)
            most = fmax(most, m->seats[i]->usual[ISSUE][r] / m->seats[i]->clock[ISSUE][r]);
    return most;
}

/* Half of the instructions of a whole core are what one of two busy threads gets; `most` of all rows so far, which is a whole
 * core's only if one was seen, so it is said. */
static void print_shares(const struct machine *m, double most)
{
    for (int k = JOBS; k < JOBS + m->njobs; k++) {
        double quiet, busy;
        const int whole = share_where(m, k, most, 0.85, INFINITY, &quiet),
                  halved = share_where(m, k, most, 0, 0.65, &busy);
        printf("%7d | %-20s", m->running, m->jobs[k - JOBS].word);
        if (whole)
            printf("  %.0f %% of fma at over %.1f instructions a clock (%d)", 100 * quiet,
                   850 * most, whole);
        if (halved)
            printf("  %.0f %% below %.1f (%d)", 100 * busy, 650 * most, halved);
        printf("\n");
    }
}

/* Each processor's own, of the row just printed. */
static void print_seats(const struct machine *m)
{
    printf("processors, multiply-adds in GFLOP/s:");
    for (int i = 0; i < m->running; i++) {
        double x[ROUNDS_MAX];
        memcpy(x, m->seats[i]->rate[MULTIPLY_ADDS], sizeof x);
        printf(" %d:%.0f", m->seats[i]->cpu, middle(x, m->rounds));
    }
    printf("\n");
}

/* ---- pairs ---- */

struct beside {
    struct machine *m;
    int cpu;
    _Atomic int on, stop;
    bool issue;
};

static void *beside_main(void *arg)
{
    struct beside *b = arg;
    sit_on(b->cpu);
    atomic_store(&b->on, 1);
    while (!atomic_load(&b->stop))
        if (b->issue)
            (void)issue_once();
        else
            (void)b->m->simd->fma_burst(200);
    return NULL;
}

/* The most in some bouts of 0.1 ms. */
static double best_rate(const struct machine *m, bool issue)
{
    enum { BOUTS = 12 };
    double best = 0;
    for (int i = 0; i < BOUTS; i++) {
        const double begin = host_seconds();
        double done = 0;
        for (int k = 0; k < (issue ? 100 : 10); k++)
            done += issue ? issue_once() : m->simd->fma_burst(800);
        best = fmax(best, done / (host_seconds() - begin));
    }
    return best;
}

/* What is left of processor a's rate while b is busy with the same. */
static double rate_beside(struct machine *m, int a, int b, bool issue)
{
    pthread_t id;
    struct beside other = {.m = m, .cpu = b, .issue = issue};
    sit_on(a);
    const double alone = best_rate(m, issue);
    if (pthread_create(&id, NULL, beside_main, &other) != 0)
        fatal("cores: no thread");
    while (!atomic_load(&other.on))
        sched_yield();
    const double both = best_rate(m, issue);
    atomic_store(&other.stop, 1);
    pthread_join(id, NULL);
    return both / alone;
}

static void show_pairs(struct machine *m, bool issue)
{
    double least = INFINITY;
    int shared = 0;
    printf("pairs of processors, %s: ", issue ? "instructions" : "multiply-adds");
    for (int i = 0; i < m->ncpus; i++)
        for (int j = i + 1; j < m->ncpus; j++) {
            const double left = rate_beside(m, m->cpus[i], m->cpus[j], issue);
            least = fmin(least, left);
            if (left < 0.7)
                printf("%s%d+%d %.2f", shared++ ? ", " : "", m->cpus[i], m->cpus[j], left);
        }
    printf(shared ? "; no other below 0.7\n" : "none below 0.7 beside the other; least %.2f\n",
           least);
    fflush(stdout);
}

/* ---- what the system says ---- */

static void print_file(const char *title, const char *format, int cpu)
{
    char path[128], line[128] = "-";
    snprintf(path, sizeof path, format, cpu);
    FILE *f = fopen(path, "re");
    if (f) {
        if (!fgets(line, sizeof line, f))
            line[0] = '\0';
        fclose(f);
    }
    line[strcspn(line, "\n")] = '\0';
    printf(" %s %s", title, line);
}

static void show_system(const struct machine *m)
{
    char *name = host_cpu_name();
    printf("%s, %d processors of %d; caches of %zu, %zu, %zu KiB\n", name, m->ncpus, host_cpus(),
           host_cache_bytes(1) >> 10, host_cache_bytes(2) >> 10, host_cache_bytes(3) >> 10);
    free(name);
    for (int i = 0; i<m->ncpus; i += m->ncpus> 4 ? m->ncpus / 4 : 1) {
        printf(" processor %d:", m->cpus[i]);
        print_file("core", "/sys/devices/system/cpu/cpu%d/topology/core_id", m->cpus[i]);
        print_file("threads", "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list",
                   m->cpus[i]);
        print_file("L2 of", "/sys/devices/system/cpu/cpu%d/cache/index2/shared_cpu_list",
                   m->cpus[i]);
        print_file("L3 of", "/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list",
                   m->cpus[i]);
        print_file("MHz/1000", "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_cur_freq",
                   m->cpus[i]);
        printf("\n");
    }
    fflush(stdout);
}

/* ---- what was asked for ---- */

static bool read_job(struct machine *m, const char *word)
{
    char type[8];
    struct job *j = &m->jobs[m->njobs];
    if (m->njobs == JOBS_MAX ||
        sscanf(word, "%ld/%ld/%7[a-z0-9]/%ld/%ld", &j->S, &j->D, type, &j->BR, &j->BC) != 5 ||
        j->S < 1 || j->D < 1 || j->BR < 1 || j->BC < 1)
        return false;
    int t = 0;
    while (t < DTYPE_COUNT && strcmp(type, dtype_name((enum dtype)t)) != 0)
        t++;
    j->dtype = (enum dtype)t;
    j->word = word;
    m->njobs++;
    return t < DTYPE_COUNT;
}

static char *tensor(const struct machine *m, const struct job *j, long rows, unsigned seed)
{
    const size_t n = (size_t)(rows * j->D);
    float *x = xmalloc(n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = (float)(seed >> 8) / 0x1p23f - 1;
    }
    char *out = mem_alloc_wide(n * dtype_size(j->dtype));
    if (!out)
        fatal("cores: no memory");
    m->simd->from_float(j->dtype, x, out, (int64_t)n);
    free(x);
    return out;
}

/* Tensors of its own, as a thread has that works on its own head. They live as long as the program. */
static struct tiled_job make_tile(const struct machine *m, const struct job *j)
{
    struct tiled_job t = {.q = tensor(m, j, j->BR, 1),
                          .k = tensor(m, j, j->S, 2),
                          .v = tensor(m, j, j->S, 3),
                          .o = tensor(m, j, j->BR, 4),
                          .q_stride = j->D,
                          .k_stride = j->D,
                          .v_stride = j->D,
                          .o_stride = j->D,
                          .rows = j->BR,
                          .D = j->D,
                          .BC = j->BC,
                          .first_end = j->S,
                          .Sk = j->S,
                          .scale = 0.125f,
                          .dtype = j->dtype};
    t.room = t.rows;
    t.scratch = mem_alloc_wide(m->simd->tiled_scratch(&t));
    if (!t.scratch)
        fatal("cores: no memory");
    return t;
}

static void make_seats(struct machine *m)
{
    for (int i = 0; i < m->ncpus; i++) {
        struct seat *s = m->seats[i] = xcalloc(1, sizeof *s);
        *s = (struct seat){.m = m, .cpu = m->cpus[i], .number = i};
        for (int k = 0; k < m->njobs; k++)
            s->tiles[k] = make_tile(m, &m->jobs[k]);
    }
}

static void find_processors(struct machine *m)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) != 0)
        fatal("cores: which processors are ours is not known");
    for (int c = 0; c < CPU_SETSIZE && m->ncpus < SEATS_MAX; c++)
        if (CPU_ISSET((size_t)c, &set))
            m->cpus[m->ncpus++] = c;
}

static void read_counts(struct machine *m, const char *list)
{
    for (char *end; *list && m->ncounts < COUNTS_MAX; list = *end ? end + 1 : end) {
        const long n = strtol(list, &end, 10);
        if (end == list || n < 1)
            fatal("cores: threads=1,2,4");
        if (n <= m->ncpus)
            m->counts[m->ncounts++] = (int)n;
    }
}

static void usual_counts(struct machine *m)
{
    for (int n = 1; n < m->ncpus && m->ncounts < COUNTS_MAX - 1; n *= 2)
        m->counts[m->ncounts++] = n;
    m->counts[m->ncounts++] = m->ncpus;
}

struct options {
    const char *isa, *counts;
    int pairs, mib; /* look at pairs; read so much memory */
};

/* How many words of the command line were options. */
static int read_options(struct machine *m, struct options *o, char **words)
{
    double ms;
    int n = 0;
    for (char *word; (word = words[n]) && strchr(word, '='); n++)
        if (strncmp(word, "isa=", 4) == 0)
            o->isa = word + 4;
        else if (strncmp(word, "threads=", 8) == 0)
            o->counts = word + 8;
        else if (sscanf(word, "slice=%lf", &ms) == 1)
            m->slice_s = ms * 1e-3;
        else if (sscanf(word, "rounds=%d", &m->rounds) != 1 &&
                 sscanf(word, "pairs=%d", &o->pairs) != 1 && sscanf(word, "read=%d", &o->mib) != 1)
            fatal("cores: %s?", word);
    if (m->rounds < 1 || m->rounds > ROUNDS_MAX || !(m->slice_s > 0) || o->mib < 0)
        fatal("cores: so many rounds, ms, or MiB?");
    return n;
}

static void take_memory(struct machine *m, int mib)
{
    m->memory_bytes = (size_t)mib << 20;
    m->memory = mib ? mem_alloc_wide(m->memory_bytes) : NULL;
    if (mib && !m->memory)
        fatal("cores: no %d MiB of memory", mib);
    if (m->memory)
        memset(m->memory, 0x3d, m->memory_bytes); /* real pages */
}

static void show_table(struct machine *m)
{
    double alone[KINDS_MAX], most = 0;
    for (int k = 0; k < KINDS_MAX; k++)
        alone[k] = NAN;
    print_head(m);
    for (int c = 0; c < m->ncounts; c++) {
        m->running = m->counts[c];
        run_seats(m);
        print_row(m, alone);
        most = fmax(most, most_issued(m));
        print_shares(m, most);
    }
    print_seats(m);
}

int main(int argc, char **argv)
{
    static struct machine m = {.rounds = 15, .slice_s = 4e-3};
    struct options o = {.pairs = 1};
    struct err err = ERR_INIT;
    const int first = 1 + read_options(&m, &o, argv + 1);
    if (cpu_simd_pick(o.isa, &m.simd, &err) != ST_OK)
        fatal("%s", err.text);
    find_processors(&m);
    if (o.counts)
        read_counts(&m, o.counts);
    else
        usual_counts(&m);
    for (int i = first; i < argc; i++)
        if (!read_job(&m, argv[i]))
            fatal("cores: \"%s\" is no S/D/type/BR/BC", argv[i]);
    take_memory(&m, o.mib);
    show_system(&m);
    if (o.pairs && m.ncpus > 1) {
        show_pairs(&m, false);
        show_pairs(&m, true);
    }
    make_seats(&m);
    show_table(&m);
    return 0;
}
