/* trace_warp.c - `trace access` and `trace reduce`: what the 32 lanes of a warp do in one load, and how
 * they add up their parts.
 *
 * The addresses are those that dot_share() of kernels/cuda/row_online.cu computes with a warp a key.
 * Sectors are what a load asks the caches for: 32 bytes each, however few of them a lane wants. The
 * sums are made in float, addition by addition, in the order that is asked for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "lesson/trace/trace_query.h"

enum { LANES = 32, SECTOR = 32, D_MAX = 8192, MAP_MAX = 64 };

/* ---- one row of K, read by a warp ---- */

struct access_row {
    int64_t load, lanes, used_bytes, sectors;
    double used_pct;
    int64_t sectors_so_far;
    char *map;
};

// clang-format off
#define INT(m_, ...) FIELD(FIELD_INT, access_row, m_, .doc = __VA_ARGS__)
static const struct field access_fields[] = {
    INT(load,  "A load of the warp, from 1."),
    INT(lanes, "How many of its lanes read."),
    INT(used_bytes, "What they read.", .title = "bytes", .unit = "B"),
    INT(sectors,    "The 32-byte sectors it is in."),
    FIELD(FIELD_REAL, access_row, used_pct, .title = "used %", .unit = "%", .digits = 3,
          .doc = "Its share of them."),
    INT(sectors_so_far, "Sectors of all loads up to it.", .title = "so far"),
    FIELD(FIELD_TEXT, access_row, map, .title = "lanes on each sector",
          .doc = "For each sector of the row, how many lanes touch it (a is 10)."),
    {.name = NULL},
};
#undef INT
static const struct row_type access_type = ROW_TYPE(access_row, {access_fields, 0});

const struct columns trace_access_columns = {
    .type = &access_type,
    .list = (const struct column[]){
        {.field = "load"},
        {.field = "lanes"},
        {.field = "used_bytes"},
        {.field = "sectors"},
        {.field = "used_pct"},
        {.field = "sectors_so_far"},
        {.field = "map"},
        {0},
    },
};
// clang-format on

struct access {
    int64_t D, vec, bytes, rounds; /* vec: elements of a load; bytes: of an element */
    bool strided;
};

/* First element that a lane reads in a round; at or beyond D: the lane has nothing to do. */
static int64_t first_element(const struct access *a, int64_t round, int64_t lane)
{
    return (a->strided ? lane * a->rounds + round : round * LANES + lane) * a->vec;
}

static char map_char(int lanes)
{
    return lanes == 0 ? '.' : lanes < 10 ? (char)('0' + lanes) : (char)('a' + lanes - 10);
}

/* How many lanes touch each sector of the row. */
static void count_lanes(const struct access *a, int64_t round, int *touched, int *lanes)
{
    *lanes = 0;
    for (int64_t lane = 0; lane < LANES; lane++) {
        const int64_t first = first_element(a, round, lane) * a->bytes;
        const int64_t end = first + a->vec * a->bytes;
        if (first >= a->D * a->bytes)
            continue;
        (*lanes)++;
        for (int64_t s = first / SECTOR; s <= (end - 1) / SECTOR; s++)
            touched[s]++;
    }
}

/* Nothing where no lane has anything to read. */
static void add_load(struct rowset *rows, const struct access *a, int64_t round,
                     int64_t *sectors_before)
{
    const int64_t nsectors = (a->D * a->bytes + SECTOR - 1) / SECTOR;
    int *touched = xcalloc((size_t)nsectors, sizeof *touched), lanes;
    char map[MAP_MAX + 1] = "";
    int64_t sectors = 0;
    count_lanes(a, round, touched, &lanes);
    for (int64_t s = 0; s < nsectors; s++) {
        sectors += touched[s] > 0;
        if (s < MAP_MAX)
            map[s] = map_char(touched[s]);
    }
    free(touched);
    *sectors_before += sectors;
    if (!lanes)
        return;
    const int64_t used = lanes * a->vec * a->bytes;
    struct access_row *row = rowset_add(rows);
    row->load = round + 1;
    row->lanes = lanes;
    row->used_bytes = used;
    row->sectors = sectors;
    row->used_pct = 100.0 * (double)used / (double)(sectors * SECTOR);
    row->sectors_so_far = *sectors_before;
    row->map = xstrdup(map);
}

static enum status follow_access(struct session *s, struct cmd_call *c, struct err *err)
{
    static const char *const accesses[] = {"coalesced", "strided", NULL};
    static const char *const dtypes[] = {"f32", "f16", "bf16", NULL};
    struct access a = {.D = 64};
    int strided = 0, dtype = 0;
    a.vec = 1;
    enum status st = trace_key_int(c, "D", 1, D_MAX, &a.D, err);
    if (st == ST_OK)
        st = trace_key_int(c, "VEC", 1, 4, &a.vec, err);
    if (st == ST_OK)
        st = trace_key_word(c, "ACCESS", accesses, &strided, err);
    if (st == ST_OK)
        st = trace_key_word(c, "dtype", dtypes, &dtype, err);
    if (st == ST_OK && (a.vec & (a.vec - 1) || a.D % a.vec))
        st = err_set(err, ST_USAGE, "VEC is 1, 2 or 4, and D a multiple of it");
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st != ST_OK)
        return st;
    a.strided = strided == 1;
    a.bytes = dtype == 0 ? 4 : 2;
    a.rounds = (a.D / a.vec + LANES - 1) / LANES;
    struct rowset rows = {.type = &access_type};
    int64_t sectors = 0;
    for (int64_t r = 0; r < a.rounds; r++)
        add_load(&rows, &a, r, &sectors);
    st = call_rows(s, c, &rows, &trace_access_columns);
    rowset_clear(&rows);
    return st;
}

/* ---- a sum over the lanes ---- */

enum { HOW_SHUFFLE, HOW_ONE, HOW_ATOMIC };

struct reduce_row {
    int64_t step, adds;
    double value, want, max_diff;
};
static const struct field reduce_fields[] = {
    FIELD(FIELD_INT, reduce_row, step, .doc = "A step of the reduction, from 1."),
    FIELD(FIELD_INT, reduce_row, adds, .title = "lanes that add",
          .doc = "How many lanes add in it."),
    FIELD(FIELD_REAL, reduce_row, value, .title = "lane 0 or the word", .digits = 9,
          .doc = "What lane 0 or the one word then holds."),
    FIELD(FIELD_REAL, reduce_row, want, .title = "right", .digits = 9, .doc = "The right answer."),
    FIELD(FIELD_REAL, reduce_row, max_diff, .title = "off by", .digits = 3,
          .doc = "The distance to it."),
    {.name = NULL},
};
static const struct row_type reduce_type = ROW_TYPE(reduce_row, {reduce_fields, 0});

// clang-format off
const struct columns trace_reduce_columns = {
    .type = &reduce_type,
    .list = (const struct column[]){
        {.field = "step"},
        {.field = "adds"},
        {.field = "value"},
        {.field = "want"},
        {.field = "max_diff", .drop = 1},
        {0},
    },
};
// clang-format on

struct sum {
    float x[LANES]; /* what each lane has */
    int64_t lanes;
    bool max;           /* the largest instead of the sum */
    int order[LANES];   /* in which the lanes get at the word; how=atomic */
    int skip_last;      /* break=step */
    float start, right; /* of the word; the answer */
    struct rowset *rows;
};

static float combine(const struct sum *t, float a, float b)
{
    return t->max ? fmaxf(a, b) : a + b;
}

static void add_step(const struct sum *t, int64_t adds, float value)
{
    struct reduce_row *row = rowset_add(t->rows);
    row->step = (int64_t)t->rows->n;
    row->adds = adds;
    row->value = (double)value;
    row->want = (double)t->right;
    row->max_diff = fabs((double)value - (double)t->right);
}

/* As warp_sum() of attn.cuh: every lane adds what the lane at a distance has, half the distance each
 * time. All lanes add at once; so they read what was before the step. */
static void by_shuffles(struct sum *t)
{
    for (int64_t step = t->lanes / 2; step > t->skip_last; step /= 2) {
        float before[LANES];
        memcpy(before, t->x, sizeof before);
        for (int64_t lane = 0; lane < t->lanes; lane++)
            t->x[lane] = combine(t, before[lane], before[lane ^ step]);
        add_step(t, t->lanes, t->x[0]);
    }
}

/* One word that all lanes want to change: one after another. */
static void one_by_one(struct sum *t)
{
    float word = t->start;
    for (int64_t i = 0; i < t->lanes; i++) {
        word = combine(t, word, t->x[t->order[i]]);
        add_step(t, 1, word);
    }
}

/* A different order for each seed (Fisher and Yates); 0: as the lanes are numbered. */
static void shuffle_order(struct sum *t, uint64_t seed)
{
    for (int i = 0; i < LANES; i++)
        t->order[i] = i;
    for (int i = (int)t->lanes - 1; i > 0 && seed; i--) {
        uint32_t w[4];
        input_words(seed, TENSOR_Q, 2, (uint64_t)i, w);
        const int j = (int)(w[0] % (uint32_t)(i + 1)), other = t->order[i];
        t->order[i] = t->order[j];
        t->order[j] = other;
    }
}

/* In double: of floats of one size its rounding does not show. */
static float right_answer(const struct sum *t)
{
    double sum = 0, most = -INFINITY;
    for (int64_t i = 0; i < t->lanes; i++) {
        sum += (double)t->x[i];
        most = fmax(most, (double)t->x[i]);
    }
    return (float)(t->max ? most : sum);
}

struct sum_keys {
    int64_t seed, order;
    double shift;
    int how, op, broken;
};

static enum status read_sum(struct cmd_call *c, struct sum *t, struct sum_keys *k, struct err *err)
{
    static const char *const hows[] = {"shuffle", "one", "atomic", NULL};
    static const char *const ops[] = {"sum", "max", NULL};
    static const char *const breaks[] = {"nothing", "step", "start", NULL};
    const char *shift = call_key(c, "shift");
    enum status st = trace_key_int(c, "lanes", 1, LANES, &t->lanes, err);
    if (st == ST_OK)
        st = trace_key_int(c, "seed", 0, INT64_MAX, &k->seed, err);
    if (st == ST_OK)
        st = trace_key_int(c, "order", 0, INT64_MAX, &k->order, err);
    if (st == ST_OK)
        st = trace_key_word(c, "how", hows, &k->how, err);
    if (st == ST_OK)
        st = trace_key_word(c, "op", ops, &k->op, err);
    if (st == ST_OK)
        st = trace_key_word(c, "break", breaks, &k->broken, err);
    if (st == ST_OK && shift)
        st = number_parse(shift, &k->shift, err);
    if (st == ST_OK && (t->lanes & (t->lanes - 1)))
        st = err_set(err, ST_USAGE, "lanes is 1, 2, 4, 8, 16 or 32");
    return st;
}

static enum status follow_reduce(struct session *s, struct cmd_call *c, struct err *err)
{
    struct sum t = {.lanes = LANES};
    struct sum_keys k = {.seed = (int64_t)s->settings.problem.seed};
    enum status st = read_sum(c, &t, &k, err);
    if (st == ST_OK)
        st = call_finish(s, c, err);
    if (st != ST_OK)
        return st;
    struct shape shape = SHAPE_DEFAULT;
    shape.B = shape.H = shape.Hkv = shape.Sq = shape.Sk = 1;
    shape.D = LANES;
    input_values(INPUT_NORMAL, (uint64_t)k.seed, TENSOR_Q, &shape, 0, LANES, t.x);
    for (int i = 0; i < LANES; i++)
        t.x[i] += (float)k.shift;
    t.max = k.op == 1;
    t.start = t.max && k.broken != 2 ? -INFINITY : 0;
    t.skip_last = k.broken == 1;
    t.right = right_answer(&t);
    struct rowset rows = {.type = &reduce_type};
    t.rows = &rows;
    shuffle_order(&t, k.how == HOW_ATOMIC ? (uint64_t)k.order : 0);
    if (k.how == HOW_SHUFFLE)
        by_shuffles(&t);
    else
        one_by_one(&t);
    st = call_rows(s, c, &rows, &trace_reduce_columns);
    rowset_clear(&rows);
    return st;
}

const struct trace_view trace_access = {
    .word = "access", .columns = &trace_access_columns, .exec = follow_access};

const struct trace_view trace_reduce = {
    .word = "reduce", .columns = &trace_reduce_columns, .exec = follow_reduce};
