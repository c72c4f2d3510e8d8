/* Counters of the simulator against what machine code does: counters.tsv, a row for each kernel, shape and counter. Of kernels with
 * wgmma instructions tell less than launches do: counters_90a.tsv, a row for each kernel and shape.
 *
 * `test_counters.t print` writes what is counted here, `print KERNEL SHAPE` each PTX instruction of one launch: what
 * tests/gpu/counters works with.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "kernel/registry.h"
#include "sim/statics.h"
#include "trial.h"

/* ---- one launch ---- */

/* Counts of sim.h, and what the table of statics.h makes of the executions. */
struct figures {
    struct sim_counts counts;
    struct statics machine;
    uint64_t
        beside; /* wavefronts of mbarriers, which a GPU counts of a launch, but of no instruction */
    uint64_t
        served; /* wavefronts of reads from other blocks' memory beyond one a warp: it serves them, a GPU counts who asks */
    uint64_t
        outside; /* sectors of tensor maps' boxes that lie outside of the tensor: a GPU counts whole boxes */
};

/* Instructions of a program are those of the text, one by one; those that ptxas joins are one. */
static void add_machine(struct statics *s, const struct trial *t, const char *entry,
                        const struct sim_program *p, const struct sim_result *r)
{
    struct ptx_module *m;
    struct err err = ERR_INIT;
    const struct ptx_function *f = NULL;
    if (ptx_parse(t->ptx.text, t->ptx.len, &m, &err) != ST_OK ||
        ptx_inline(m, ptx_function(m, entry), &f, &err) != ST_OK || f->ninsns != r->insns)
        fatal("%s: %s", entry, err.text);
    for (size_t i = 0; i < r->insns; i++)
        if (sim_program_insn(p, i).part_of == i)
            statics_add(f->insns[i].op, (double)r->insn[i].executions, s);
    ptx_free(m);
}

/* Sectors of a box; 0 where there is none, or they are not all alike. */
static uint64_t box_sectors(const struct trial *t, int pass)
{
    const struct plan_pass *p = &t->plan.passes[pass];
    int64_t elements = 0;
    for (int i = 0; i < p->ntma; i++) {
        const int64_t own = p->tma[i].rows * p->tma[i].columns;
        if (i && own != elements)
            return 0;
        elements = own;
    }
    return (uint64_t)(elements * dtype_size(t->plan.shape.dtype) / 32);
}

/* What the GPU's counters have elsewhere, or not at all. */
static void add_elsewhere(struct figures *f, const struct trial *t, int pass,
                          const struct sim_result *r)
{
    const bool cluster = t->plan.passes[pass].cluster > 1;
    const uint64_t box = box_sectors(t, pass);
    for (size_t i = 0; i < r->insns; i++) {
        const char *name = sim_program_insn(t->program[pass], i).name;
        const struct sim_counts *c = &r->insn[i];
        if (!strncmp(name, "mbarrier", 8))
            f->beside += c->smem_wavefronts;
        else if (cluster && !strncmp(name, "ld.shared::cluster", 18))
            f->served += c->smem_wavefronts - c->smem_requests;
        else if (box && !strncmp(name, "cp.async.bulk.tensor", 20))
            f->outside += c->executions * box - c->global_sectors;
    }
}

static void add_pass(void *ctx, const struct trial *t, int pass, const struct sim_result *r)
{
    struct figures *f = ctx;
    char entry[600];
    desc_entry(t->plan.desc, pass, entry, sizeof entry);
    add_machine(&f->machine, t, entry, t->program[pass], r);
    add_elsewhere(f, t, pass, r);
    sim_counts_add(&f->counts, &r->total);
}

/* What is done with each pass. */
typedef void (*each_pass)(void *ctx, const struct trial *t, int pass, const struct sim_result *r);

static enum status run_trial(const struct trial *t, each_pass what, void *ctx, struct err *err)
{
    struct sim_options o = {.l2_bytes = 50u << 20};
    enum status st = ST_OK;
    struct PagedArgs args;
    struct sim_memory *m = trial_memory(t, &args);
    for (int i = 0; i < t->plan.npasses && st == ST_OK; i++) {
        struct sim_launch l = trial_launch(t, i, &args);
        o.l1_bytes = trial_l1(t, i);
        struct sim_result r;
        st = sim_run(t->program[i], m, &l, &o, &r, err);
        if (st == ST_OK)
            what(ctx, t, i, &r);
        sim_result_clear(&r);
        trial_launch_clear(&l);
    }
    sim_memory_free(m);
    return st;
}

/* Kernel and shape as the tables name them; a message for the test's log when it does not run. */
static bool run_launch(const char *kernel, const char *shape_text, each_pass what, void *ctx)
{
    struct registry *all = registry_new();
    struct device_table *devices = devices_new();
    const struct device *dev;
    const struct kernel *k;
    struct shape shape = SHAPE_DEFAULT;
    struct trial t = {.lower_s = 0};
    struct err err = ERR_INIT;
    enum status st = devices_get(devices, "H200", &dev, &err);
    if (st == ST_OK)
        st = registry_get(all, kernel, &k, &err);
    if (st == ST_OK)
        st = shape_parse(shape_text, &shape, &err);
    if (st == ST_OK)
        st = trial_make(&t, k->cuda, dev, &shape, &err);
    if (st == ST_OK)
        st = run_trial(&t, what, ctx, &err);
    if (st != ST_OK)
        printf("# %s %s: %s\n", kernel, shape_text, err.text);
    trial_clear(&t);
    devices_free(devices);
    registry_free(all);
    return st == ST_OK;
}

/* ---- figures by name ---- */

/* How far the simulator may be off, in percent of the machine code's figure. 0: not at all. */
static const struct counter {
    const char *name;
    int count; /* of sim.h; -1: all machine instructions */
    double percent;
    double goal; /* so many percent of the rows must be that near */
} counters[] = {
    {"tensor_ops", SIM_COUNT_tensor_ops, 0, 100},
    {"barriers", SIM_COUNT_barriers, 0, 97}, /* of a block, and arrivals and waits of a cluster */
    {"shuffles", SIM_COUNT_shuffles, 0, 100},
    {"smem_wavefronts", SIM_COUNT_smem_wavefronts, 2, 97},
    {"smem_wavefronts_ideal", SIM_COUNT_smem_wavefronts_ideal, 2, 97},
    {"global_sectors", SIM_COUNT_global_sectors, 2, 100},
    {"machine_instructions", -1, 15, 82},
};
enum { COUNTERS_N = sizeof counters / sizeof *counters };

static double value_of(const struct figures *f, const struct counter *c)
{
    if (c->count < 0)
        return f->machine.total;
    const double value = (double)sim_count_get(&f->counts, c->count);
    switch (c->count) {
    case SIM_COUNT_smem_wavefronts:
    case SIM_COUNT_smem_wavefronts_ideal:
        return value - (double)(f->beside + f->served);
    case SIM_COUNT_global_sectors:
        return value + (double)f->outside;
    default:
        return value;
    }
}

/* ---- the table ---- */

struct row {
    char *kernel, *shape, *counter, *within, *why;
    double machine, here;
};

struct table {
    char *text;
    struct row *rows;
    size_t n;
};

static char *cell(char **line)
{
    char *at = *line, *tab = at ? strchr(at, '\t') : NULL;
    if (tab)
        *tab = '\0';
    *line = tab ? tab + 1 : NULL;
    return at;
}

static bool read_row(char *line, struct row *r)
{
    *r = (struct row){.kernel = cell(&line)};
    r->shape = cell(&line);
    r->counter = cell(&line);
    const char *value = cell(&line);
    r->within = cell(&line);
    r->why = line;
    r->machine = value ? strtod(value, NULL) : NAN;
    return r->why != NULL;
}

/* Of tests/sim; NULL, with a message for the log, where it cannot be read. */
static char *read_text(const char *name)
{
    size_t len;
    char *text = NULL;
    struct err err = ERR_INIT;
    const char *src = getenv("ATTNSCOPE_SRCDIR");
    char *path = xasprintf("%s/tests/sim/%s", src ? src : ".", name);
    if (str_read_file(path, 16 << 20, &text, &len, &err) != ST_OK)
        printf("# %s\n", err.text);
    free(path);
    return text;
}

static struct table read_table(void)
{
    struct table t = {.text = read_text("counters.tsv")};
    for (char *rest = t.text, *line; rest && (line = strsep(&rest, "\n"));) {
        if (!*line || *line == '#')
            continue;
        t.rows = xrealloc(t.rows, (t.n + 1) * sizeof *t.rows);
        if (!read_row(line, &t.rows[t.n]))
            fatal("counters.tsv: fewer than 6 columns in the row of %s", t.rows[t.n].kernel);
        t.n++;
    }
    return t;
}

static const struct counter *counter_named(const char *name)
{
    for (int i = 0; i < COUNTERS_N; i++)
        if (!strcmp(counters[i].name, name))
            return &counters[i];
    fatal("counters.tsv: no counter is called %s", name);
}

/* Every launch once: rows of one stand together. */
static void run_rows(struct table *t)
{
    struct figures f = {.machine = {.total = 0}};
    bool good = false;
    for (size_t i = 0; i < t->n; i++) {
        struct row *r = &t->rows[i];
        if (!i || strcmp(r[-1].kernel, r->kernel) != 0 || strcmp(r[-1].shape, r->shape) != 0) {
            f = (struct figures){.machine = {.total = 0}};
            good = run_launch(r->kernel, r->shape, add_pass, &f);
        }
        r->here = good ? value_of(&f, counter_named(r->counter)) : NAN;
    }
}

/* ---- tests ---- */

static struct table all;

/* In percent; a figure where there should be none is infinitely off. */
static double off_by(const struct row *r)
{
    if (r->here == r->machine)
        return 0;
    return fabs(r->here - r->machine) / fabs(r->machine) * 100;
}

static bool excepted(const struct row *r)
{
    return strcmp(r->within, "-") != 0;
}

static void every_launch_runs(void)
{
    size_t lost = 0;
    for (size_t i = 0; i < all.n; i++)
        lost += isnan(all.rows[i].here);
    CU_ASSERT(all.n > 0);
    CU_ASSERT_EQUAL(lost, 0);
}

/* What is listed as an exception has its reason, and is one. */
static void exceptions_are_needed(void)
{
    for (size_t i = 0; i < all.n; i++) {
        const struct row *r = &all.rows[i];
        const double off = off_by(r), allowed = excepted(r) ? strtod(r->within, NULL) : 0;
        const struct counter *c = counter_named(r->counter);
        if (!excepted(r))
            continue;
        if (off <= c->percent || off > allowed || strlen(r->why) < 10)
            printf("# %s %s %s: %.15g here, %.15g there, %.2f %% off, %s %% are listed: %s\n",
                   r->kernel, r->shape, r->counter, r->here, r->machine, off, r->within, r->why);
        CU_ASSERT(off > c->percent);
        CU_ASSERT(off <= allowed);
        CU_ASSERT(strlen(r->why) >= 10);
    }
}

static void the_rest_is_near(void)
{
    for (size_t i = 0; i < all.n; i++) {
        const struct row *r = &all.rows[i];
        const struct counter *c = counter_named(r->counter);
        if (excepted(r) || off_by(r) <= c->percent)
            continue;
        printf("# %s %s %s: %.15g here, %.15g there, %.2f %% off, %g %% may be\n", r->kernel,
               r->shape, r->counter, r->here, r->machine, off_by(r), c->percent);
        CU_FAIL("a counter is off");
    }
}

/* How many rows of a counter there are, and how many are as near as it may be. */
static void rows_of(const struct counter *c, size_t *rows, size_t *near)
{
    for (size_t k = 0; k < all.n; k++) {
        const bool own = !strcmp(all.rows[k].counter, c->name);
        *rows += own;
        *near += own && off_by(&all.rows[k]) <= c->percent;
    }
}

static void goals_are_reached(void)
{
    for (int i = 0; i < COUNTERS_N; i++) {
        size_t rows = 0, near = 0;
        rows_of(&counters[i], &rows, &near);
        printf("# %s: %zu of %zu rows within %g %%\n", counters[i].name, near, rows,
               counters[i].percent);
        CU_ASSERT(rows > 0);
        CU_ASSERT((double)near * 100 >= counters[i].goal * (double)rows);
    }
    size_t rows = 0, near = 0; /* both kinds of memory together */
    rows_of(counter_named("smem_wavefronts"), &rows, &near);
    rows_of(counter_named("global_sectors"), &rows, &near);
    CU_ASSERT((double)near >= 0.95 * (double)rows);
}

/* ---- kernels with wgmma: what a GPU counts of a whole launch ---- */

enum { OF_LAUNCH = 5 }; /* columns of counters_90a.tsv behind kernel and shape */

/* How near a figure of ours must be to the GPU's, as a ratio. Wavefronts: warps spin at mbarriers as long as copies took there. TMA: the
 * GPU counts whole boxes and no stores, ours are what lies within the tensor, and O; 320 keys fill 1.25 of splitkv_wgmma's
 * two boxes of 256. L2: blocks that ask for the same lines at once are one request there. */
static const struct launch_bound {
    const char *name;
    double least, most;
} launch_bounds[OF_LAUNCH] = {{"tensor_cycles", 1, 1},
                              {"gmma", 1, INFINITY}, /* there are some */
                              {"wavefronts", 0.94, 1.06},
                              {"tma_sectors", 0.65, 1.15},
                              {"l2_bytes", 0.95, 2.4}};

static void values_of_launch(const struct figures *f, double out[OF_LAUNCH])
{
    const struct sim_counts *c = &f->counts;
    out[0] = 4 * (double)c->tensor_ops;
    out[1] = INFINITY;
    out[2] = (double)(c->smem_wavefronts + c->shuffles - f->served);
    out[3] = (double)c->global_sectors;
    out[4] = 32 * (double)(c->l2_hits + c->l2_misses);
}

/* Is a line of the table as it should be? */
static bool launch_is_near(char *line)
{
    struct figures f = {.machine = {.total = 0}};
    double here[OF_LAUNCH];
    const char *kernel = cell(&line), *shape = cell(&line);
    bool good = shape && run_launch(kernel, shape, add_pass, &f);
    values_of_launch(&f, here);
    for (int i = 0; i < OF_LAUNCH && good; i++) {
        const struct launch_bound *b = &launch_bounds[i];
        const char *value = cell(&line);
        const double there = value ? strtod(value, NULL) : NAN, ratio = here[i] / there;
        if (there > 0 && ratio >= b->least && ratio <= b->most)
            continue;
        printf("# %s %s %s: %.15g here, %.15g there\n", kernel, shape, b->name, here[i], there);
        good = false;
    }
    return good;
}

static void launches_of_wgmma_are_near(void)
{
    size_t rows = 0;
    char *text = read_text("counters_90a.tsv");
    for (char *rest = text, *line; rest && (line = strsep(&rest, "\n"));) {
        if (!*line || *line == '#')
            continue;
        CU_ASSERT(launch_is_near(line));
        rows++;
    }
    CU_ASSERT(rows > 0);
    free(text);
}

static bool has_row(const char *text, const char *kernel)
{
    char *start = xasprintf("\n%s\t", kernel);
    const bool found = strstr(text, start) != NULL;
    free(start);
    return found;
}

/* Is the kernel on the line that begins with `start`, behind a blank? */
static bool is_named(const char *text, const char *start, const char *kernel)
{
    const char *line = strstr(text, start);
    char *word = xasprintf(" %s", kernel);
    const char *at = line ? strstr(line, word) : NULL;
    const bool found =
        at && at < line + 1 + strcspn(line + 1, "\n") && strchr(" \n", at[strlen(word)]);
    free(word);
    return found;
}

/* Kernels of the ladder that neither table has were never held against a GPU. Those that changed since, and wait for one, are named. */
static void every_kernel_was_counted(void)
{
    struct registry *r = registry_new();
    char *own = read_text("counters.tsv"), *wgmma = read_text("counters_90a.tsv");
    for (int i = 0; own && wgmma && i < registry_count(r); i++) {
        const struct kernel_desc *d = registry_at(r, i)->cuda;
        if (!d || d->peer || has_row(own, d->name) || has_row(wgmma, d->name))
            continue;
        const bool waits = is_named(own, "\n# to be counted again:", d->name);
        printf("# %s has no row%s\n", d->name, waits ? ": it is to be counted again" : "");
        CU_ASSERT(waits);
    }
    CU_ASSERT(own && wgmma);
    free(own);
    free(wgmma);
    registry_free(r);
}

/* ---- for tests/gpu/counters ---- */

static void print_insns(void *ctx, const struct trial *t, int pass, const struct sim_result *r)
{
    (void)ctx;
    for (size_t i = 0; i < r->insns; i++) {
        const struct sim_insn in = sim_program_insn(t->program[pass], i);
        const struct sim_counts *c = &r->insn[i];
        char *text = sim_program_ptx_line(t->program[pass], in.ptx_line);
        if (c->executions)
            printf("%d\t%d\t%s\t%s\t%d\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
                   "\t%" PRIu64 "\t%" PRIu64 "\t%s\n",
                   pass, in.ptx_line, in.name, in.at.file ? in.at.file : "-", in.at.line,
                   c->executions, c->lanes, c->smem_wavefronts, c->smem_wavefronts_ideal,
                   c->global_sectors, c->global_sectors_ideal, text);
        free(text);
    }
}

/* Kernels and shapes from standard input, split by tabs; all figures of each. */
static int print_all(void)
{
    char line[512];
    while (fgets(line, sizeof line, stdin)) {
        struct figures f = {.machine = {.total = 0}};
        char *rest = line;
        line[strcspn(line, "\n")] = '\0';
        const char *kernel = cell(&rest);
        if (!rest || !run_launch(kernel, rest, add_pass, &f))
            return 1;
        for (int i = 0; i < COUNTERS_N; i++)
            printf("%s\t%s\t%s\t%.15g\n", kernel, rest, counters[i].name,
                   value_of(&f, &counters[i]));
        for (int i = 0; i < SIM_COUNT_COUNT; i++)
            printf("%s\t%s\tsim.%s\t%" PRIu64 "\n", kernel, rest, sim_count_name(i),
                   sim_count_get(&f.counts, i));
        for (int i = 0; i < SIM_PIPE_COUNT; i++)
            printf("%s\t%s\tpipe.%s\t%.15g\n", kernel, rest, sim_pipe_name((enum sim_pipe)i),
                   f.machine.pipe[i]);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static const struct tap_test tests[] = {
        {"every launch of the table runs", every_launch_runs},
        {"exceptions are exceptions, and have reasons", exceptions_are_needed},
        {"all other counters are near those of the machine code", the_rest_is_near},
        {"and enough of them", goals_are_reached},
        {"launches with wgmma are what a GPU counts", launches_of_wgmma_are_near},
        {"every kernel was held against a GPU", every_kernel_was_counted},
    };
    if (argc == 2 && !strcmp(argv[1], "print"))
        return print_all();
    if (argc == 4 && !strcmp(argv[1], "print"))
        return !run_launch(argv[2], argv[3], print_insns, NULL);
    all = read_table();
    run_rows(&all);
    const int rc = tap_run("counters", tests, sizeof tests / sizeof *tests);
    free(all.rows);
    free(all.text);
    return rc;
}
