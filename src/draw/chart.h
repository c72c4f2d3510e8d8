/* chart.h - what pictures show, as plain data, and the table of what draws them.
 *
 * A command fills the model of its picture once. The model goes with the command's rows: into the
 * session's last table, into reports and recordings, and from there to where it is drawn again.
 * Cells, SVG and gnuplot draw the same model with the same range and the same words, so that a
 * bound, a stale figure or a missing one looks like itself everywhere.
 *
 * Texts and lists are owned by their model. A real that is not known is NaN, a text NULL. A new kind
 * of picture is one file that defines a struct chart_kind, and one line in local.mk.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_DRAW_CHART_H
#define ATTNSCOPE_DRAW_CHART_H

#include <jansson.h>

#include "base/record.h"
#include "draw/canvas.h"
#include "plan/plan.h"

/* ---- lines and heat maps: a figure over one axis or two ---- */

/* The value of a point. */
struct grid_cell {
    double value, lo,
        hi;        /* lo and hi: quartiles of a median, the interval of a ratio; unknown: none */
    char *bound;   /* "<=" or ">=" where the value only bounds the figure; NULL: it is it */
    char *blocked; /* no value: what stands in the way, see chart_blocks; NULL: not known yet */
    char *why;     /* the same as a sentence */
};
struct grid_text {
    char *text;
};
struct grid_series {
    char *name;
    struct grid_cell *cells; /* row by row: cells[y * nx + x] */
    int n;
};
/* Values of an axis stand at equal distances: a doubling range is logarithmic by itself. */
struct grid_chart {
    char *metric, *unit;     /* "median_us", "us"; the unit may be "" */
    char *xname, *yname;     /* yname NULL: one axis */
    struct grid_text *x, *y; /* y runs downward */
    int nx, ny;              /* ny 0: one axis */
    struct grid_series *series;
    int nseries;
};

/* What may stand in the way of a point. */
struct chart_block {
    const char *word; /* NULL ends: "smem", "check", "none" */
    char letter;      /* in cells */
    const char *text; /* "shared memory" */
};
extern const struct chart_block chart_blocks[];
/* Of a word; of one that is not in the table the last ("none"), which has no more to say. */
const struct chart_block *chart_block_of(const char *word);
/* Room for nx by ny points (ny 0: one axis) of `nseries`; all values unknown. */
void grid_size(struct grid_chart *g, int nx, int ny, int nseries);
/* Has any point of the series a value? */
bool grid_any(const struct grid_chart *g, int series);

/* ---- times and intervals: a row each ---- */

struct spread_item {
    char *name, *note; /* note: what sets it apart from others of its name; NULL: nothing */
    double mid, lo, hi;
    char *bound;          /* "<=" or ">=", NULL */
    char *text;           /* stands there when there is no mid */
    int base, bad, stale; /* the baseline; failed its check; of other settings than are shown */
    int open; /* a ratio whose verdict is AMBIGUOUS: it has no winner, wherever its interval lies */
};
struct spread_chart {
    char *title; /* of the axis: "median time with quartiles" */
    char *unit;  /* "us"; "": a ratio to the base */
    struct spread_item *items;
    int n;
    int64_t left_out;
};
void spread_size(struct spread_chart *s, int n);

/* ---- predicted times and what they go to: a bar of parts each ---- */

struct stack_unit {
    char *what; /* "waiting for shared memory" */
};
struct stack_part {
    int64_t unit; /* among those of the chart */
    double us;
};
struct stack_item {
    char *name, *note; /* note: what sets it apart from others of its name; NULL: nothing */
    double us, error_pct;
    char *text; /* stands there when there is no time */
    int stale;
    struct stack_part *parts; /* they add up to us */
    int n;
};
struct stack_chart {
    char *device;             /* the GPU that the times are predicted for */
    struct stack_unit *units; /* what most of all the time goes to first */
    int nunits;
    struct stack_item *items;
    int n;
    int64_t left_out;
};
enum { STACK_UNITS = 26 }; /* a letter each */
void stack_size(struct stack_chart *s, int nunits, int n);
void stack_parts(struct stack_item *v, int n);

/* ---- samples in the order in which they were taken ---- */

struct sample {
    double us; /* NaN: dropped */
};
struct sample_series {
    char *name;
    int stale; /* of other settings than are shown */
    struct sample *v;
    int n;
};
enum { SAMPLE_SERIES = 16 };
struct sample_chart {
    struct sample_series *series;
    int n;
};
void samples_size(struct sample_chart *s, int n); /* SAMPLE_SERIES at most */
/* The last ones of a list of microseconds into a series that has none; what is no time is dropped. */
void samples_take(struct sample_series *s, const json_t *us);

/* ---- two kernels, figure by figure ---- */

struct pair_bar {
    char *figure, *unit;       /* "waves"; "B" or "": no unit */
    double value, other;       /* of the first kernel and of the other; known of both */
    char *bound, *other_bound; /* "<=" or ">=" where it only bounds the figure; NULL: it is it */
    char *words;               /* beside the pair: "2.01x, as the time" */
};
struct pair_chart {
    char *kernel, *other;
    struct pair_bar *bars; /* what is to be looked at first, first */
    int n;
};
void pairs_size(struct pair_chart *p, int n);
enum { PAIRS_VALUE = 36 };
/* The value of one side (0, 1) with its bound: "<=4", "16.0 KiB". */
const char *pairs_value(char buf[PAIRS_VALUE], const struct pair_bar *b, int side);

/* ---- roofs ---- */

struct roof {
    char *name;
    double peak, scalar, gbs;   /* TFLOP/s, TFLOP/s without tensor instructions, GB/s */
    double held_peak, held_gbs; /* the same as measured of the device itself; unknown: nobody did */
};
struct roof_point {
    char *name, *letter;            /* letter NULL: A, B, C in order */
    double intensity, tflops;       /* FLOP/byte that it requests, and where it may stand at most */
    double ideal, ideal_tflops;     /* with compulsory bytes */
    double counted, counted_tflops; /* with the bytes that the simulator counted behind a cache */
    double measured;                /* TFLOP/s at the intensity that it requests */
    char *origin;                   /* of `measured`, as rows say it: "live"; all else is planned */
    char *text;                     /* "FAIL": why it is not measured; NULL */
    int dot;                        /* one of the rest: a small dot without a letter */
    int64_t kernel;                 /* points of one kernel have one number, for the cursor */
};
struct roof_chart {
    char *dtype;
    struct roof *roofs;
    int nroofs;
    struct roof_point *points;
    int npoints;
    int64_t left_out;
};
/* Room for so many, all unknown. */
void roof_size(struct roof_chart *x, int nroofs, int npoints);
/* Name and rates of the device's table, for `t`; held_peak and held_gbs stay as they are. */
void roof_take(struct roof *r, const struct device *d, enum dtype t);

/* ---- blocks over SMs and time ---- */

struct block_span {
    int64_t pass, row, lane, wave;
    int64_t tile, head, split; /* -1: nothing in particular */
    int64_t course;            /* of the panel's, from 0: what it does when; else none */
    double begin_us, end_us;
};
/* A phase of blocks, from a barrier to the next one, over all of them. */
struct block_phase {
    char *text;   /* "copies, products (fa2.cu:57)" */
    double share; /* of the blocks' time */
};
/* What a block does, one after the other. A loop whose rounds are alike is its phases once, with how often. */
struct block_leg {
    int64_t course, phase;      /* of the panel; by course */
    int64_t rounds, length, at; /* of the loop: rounds, phases in each, which of them this is */
    double share;               /* of the block's time, over all rounds */
};
struct block_panel {
    char *kernel, *params, *device;
    char *origin;        /* "model" "live" "recorded" */
    char *unit;          /* what a row is: "SM", "thread" */
    char *note, *reason; /* beside the picture; why there is none */
    int64_t rows, lanes; /* of the device; slots of a row in the main pass */
    int64_t shown;       /* rows whose blocks are here: the first ones */
    int bound;           /* the registers are not known: at most so many slots */
    int64_t blocks, slots;
    int64_t tile_rows; /* queries of a tile: 1, it is one; else not known, or more */
    double waves, span_us, busy_pct, tail_pct, imbalance;
    double block_us;     /* the model's unit, which times are shown in; 0: they are us */
    double recorded_us;  /* the model: what was recorded of it instead; not above 0: nothing */
    char *recorded;      /* where: "h200-short" */
    double predicted_us; /* the same by the time model; not above 0: nothing */
    double predicted_error_pct; /* by how much that is off */
    struct grid_text *passes;   /* their names; "" where unknown */
    int npasses;
    struct block_span *spans;
    int n;
    struct block_phase *phases; /* A, B, ...; none where it is not known what blocks do */
    int nphases;
    struct block_leg *legs;
    int nlegs;
};
struct block_chart {
    struct block_panel *panels; /* those in us on one scale, each of the model on its own */
    int n;
};
extern const struct chart_layout block_panel_layout;
void block_size(struct block_chart *b, int n);

/* ---- shared memory ---- */

struct smem_buffer {
    char *name, *formula, *doc;
    int64_t offset, bytes;
    int overlay; /* reuses bytes of an earlier one */
};
struct smem_map {
    char *kernel, *params, *device, *reason;
    struct smem_buffer *buffers;
    int n;
    int64_t bytes, limit; /* limit: a block's most on the device; 0: not known */
    int64_t limit_blocks, limit_regs, limit_smem, limit_warps, blocks_per_sm;
    int64_t limiter; /* OCC_ bits */
    double occupancy_pct;
    int bound; /* the registers are not known: blocks_per_sm is at most that */
    int stale; /* the registers are of an older source */
};
struct smem_chart {
    struct smem_map *maps;
    int n;
};
extern const struct chart_layout smem_map_layout;
/* One more map, all unknown; the pointer lasts until the next one. */
struct smem_map *smem_add(struct smem_chart *s);
void smem_buffers(struct smem_map *m, int n); /* room for n */
/* Buffers, limits and marks of a planned pass; `arch` NULL: its limits are not known. Kernel and device
 * are the caller's. */
void smem_take(struct smem_map *m, const struct plan_pass *p, const struct arch_limits *arch);

/* ---- an SM: what its resident blocks take of it ---- */

struct sm_bar {
    char *name, *unit;                    /* "SMEM", "B"; the unit may be "" */
    int64_t capacity;                     /* of the SM; INT_UNKNOWN, as all of them: not known */
    int64_t per_block, used, fits, lacks; /* as in struct occ_room */
    int64_t was_per_block, was_used;      /* of the state before */
    int limits;                           /* stops the next block */
};
struct sm_panel {
    char *kernel, *params, *device; /* kernel NULL: a block given in figures */
    char *reason;                   /* why no block can be launched */
    char *before, *change;          /* "BR=64"; "2 -> 3 blocks"; NULL: no state before */
    struct sm_bar *bars;
    int n;
    int64_t blocks, limiter; /* resident on the SM; OCC_ bits */
    double occupancy_pct;
    int bound, was_bound; /* the registers are not known: at most so many blocks */
    int stale;            /* the registers are of an older source */
};
struct sm_chart {
    struct sm_panel *panels;
    int n;
};
extern const struct chart_layout sm_panel_layout;
/* One more SM, all unknown; the pointer lasts until the next one. */
struct sm_panel *sm_add(struct sm_chart *s);
/* Bars and blocks of an occupancy that was computed for `arch`. Kernel and device are the caller's. */
void sm_take(struct sm_panel *p, const struct occupancy *o, const struct arch_limits *arch);
/* The state before, behind what sm_take() took: its ghost, and the change in words. `before` names
 * it and is copied; NULL: nothing. */
void sm_take_before(struct sm_panel *p, const struct occupancy *was, const struct arch_limits *arch,
                    const char *before);
/* "2 x 16384 of 65536; block 3 lacks 6144": what stands beside bar i. */
void sm_bar_words(const struct sm_panel *p, int i, struct str *out);
/* "2 blocks, 8 of 48 warps (16.7 %): the next is stopped by SMEM". */
void sm_words(const struct sm_panel *p, struct str *out);

/* ---- lanes of a warp: banks, sectors, exchanges ---- */

struct lane_cell {
    int64_t x, y, number; /* what stands there: a lane, or how many */
    double level;         /* its shade, 0 to 1 */
};
enum { LANE_CELLS_MAX = 4096 };
struct lane_map {
    char *kernel, *place, *text; /* "fa2.cu:57"; the line */
    char *words;                 /* "ld.shared.f32: 32 wavefronts, ideal 1" */
    char *xname, *yname;         /* "bank", "wavefront" */
    char *number;                /* what the numbers are: "the lane that is served" */
    bool names_lanes;            /* of neighbours with the same number one is enough */
    int64_t columns, rows;
    struct lane_cell *cells;
    int n;
};
struct lane_chart {
    struct lane_map *maps;
    int n;
};
/* One more map, all unknown; the pointer lasts until the next one. */
struct lane_map *lanes_add(struct lane_chart *c);
void lanes_cells(struct lane_map *m, int n); /* room for n */

/* ---- lines of a source, and what each costs ---- */

struct cost_line {
    int64_t number;
    char *text;   /* "" for an empty line */
    double value; /* of the counter; 0: the line has none of it */
};
enum { COST_LINES_MAX = 4000 };
struct cost_chart {
    char *kernel, *counter, *title, *unit; /* "fa2", "smem_wavefronts", "SMEM wavefronts", "" */
    double total, elsewhere;               /* of the run; what of it belongs to none of the lines */
    struct cost_line *lines;
    int n;
};
void cost_lines(struct cost_chart *c, int n); /* room for n, COST_LINES_MAX at most */
enum { COST_MARGIN = 14 };
/* Value, share and shade of a line in COST_MARGIN columns, its blank at the right included; nothing for 0. `most`: of
 * the costliest line. */
struct canvas;
void cost_margin(struct canvas *c, int x, int y, double value, double most, double total);
/* "SMEM wavefronts: 93.7 k, 40.1 % in line 70; 0.2 % of no line". */
void cost_words(const struct cost_chart *c, struct str *out);

/* ---- lines of a diff, and what each executes more or less of ---- */

struct change_line {
    int64_t old, now;  /* its numbers; 0: it is not there */
    char *mark, *text; /* "-" gone, "+" new, " " in both, "." lines left out */
    double instructions, wavefronts, sectors; /* more, or less than 0, than before */
};
struct change_chart {
    char *before, *after; /* kernels */
    char *words;          /* what all of it comes to; NULL */
    struct change_line *lines;
    int n;
};
void change_lines(struct change_chart *c, int n); /* room for n, COST_LINES_MAX at most */

/* ---- a block held still: its shared memory now, and what its warps did last ---- */

struct window_chart {
    char *kernel, *words;        /* words: the access that is marked; NULL: none is */
    struct smem_buffer *buffers; /* formula and doc are NULL */
    int n;
    int64_t bytes, cell_bytes;
    char *
        cells; /* of each: '.' unwritten, '+' partly, '#' written, 'o' older than its buffer's newest, 'c' to come */
    char *access; /* of each: '*' the access touches it, else ' '; "" */
};
void window_buffers(struct window_chart *w, int n); /* room for n */
const char *window_state(char cell); /* what a state's character means; NULL: it is none */

struct trail_row {
    char *name;  /* "warp 3" */
    char *what;  /* a letter of trail_letters for each column */
    char *lanes; /* '1' to '8' for each: the least eighths of its lanes that ran; ' ' none */
};
struct trail_chart {
    char *kernel;
    int64_t from, to, steps; /* steps from + 1 .. to; of a column */
    struct trail_row *rows;
    int n;
    /* Under way at most, '0' none to '9' the most, and how many the most is; "": unknown. */
    char *copies, *products; /* to shared memory; of wgmma */
    int64_t most_copies, most_products;
};
void trail_rows(struct trail_chart *t, int n); /* room for n */
struct trail_letter {
    char letter;
    const char *what;
    enum role role;
    const char *svg; /* class */
};
extern const struct trail_letter trail_letters[]; /* letter 0 ends; the most telling first */

/* ---- a picture ---- */

/* What is said about a picture as a whole, outside it. */
struct caption {
    char *kernels; /* "fa2,naive"; a picture may name them again */
    char *shape, *device;
    char *origin;  /* "live" "recorded" "sim" "model" */
    char *stale;   /* what of it is of other settings than are shown now; NULL: nothing */
    char *version; /* of the program that filled the model */
};

struct chart {
    const struct chart_kind *kind;
    struct caption caption;
    void *model;
    int owners; /* chart_free() by the last of them frees it */
};
struct charts {
    struct chart **v;
    size_t n, cap;
};

/* What a screen shows of a model beside the model itself. */
enum timeline_mark {
    MARK_TILE,
    MARK_HEAD,
    MARK_SPLIT,
    MARK_WAVE,
    MARK_COUNT, /* so many are of whole blocks */
    MARK_PHASE  /* what a block does at that moment */
};
struct timeline_view {
    double begin_us, end_us; /* what the width shows */
    int row;                 /* first row shown */
    int per_line;            /* rows on a line; 0: all rows fit */
    enum timeline_mark mark;
};
struct chart_view {
    int x, y;  /* the cursor, on an axis or a row; -1: none */
    int part;  /* which of several maps, kernels or panels */
    bool bare; /* no legend */
    int zoom;  /* each step shows 0.7 of the decades, around the centre; 0: the whole */
    double center_x, center_y; /* FLOP/byte, TFLOP/s; 0: the middle */
    struct timeline_view time; /* end_us 0: the whole */
};
#define CHART_WHOLE ((struct chart_view){.x = -1, .y = -1})

/* Members of a model: those of each element in `fields`, lists of elements in `parts`. */
struct chart_layout {
    size_t size;
    const struct field *fields;
    const struct chart_part *parts; /* name NULL ends; NULL: no lists */
};
struct chart_part {
    const char *name;
    size_t at, count; /* where the pointer is, and the int that counts */
    const struct chart_layout *of;
    int most;
    bool brief; /* written as arrays of values in the order of the fields */
};
/* A member in a table of fields. */
#define CHART_FIELD(struct_, member_, type_)                                         \
    {                                                                                \
        .name = #member_, .type = type_, .offset = offsetof(struct struct_, member_) \
    }
#define CHART_PART(struct_, member_, count_, of_, most_)                    \
    {                                                                       \
        .name = #member_, .at = offsetof(struct struct_, member_),          \
        .count = offsetof(struct struct_, count_), .of = of_, .most = most_ \
    }

struct chart_kind {
    const char *name; /* of `export figure=` */
    const char *doc;  /* one line, for help and completion */
    const struct chart_layout *layout;
    /* Can it be drawn: has it a value, and all the names? Asked once of what was filled or read. */
    bool (*sound)(const void *model);
    void (*cells)(struct canvas *c, struct rect r, const void *model, const struct chart_view *v);
    void (*svg)(struct str *out, const struct chart *c, bool alone);
    void (*gnuplot)(struct str *out, const struct chart *c);
};
/* Those that producers fill. */
extern const struct chart_kind chart_heat, chart_lines, chart_ratios, chart_times, chart_stack,
    chart_timeline, chart_smem, chart_lanes, chart_window, chart_trail, chart_sm, chart_pairs,
    chart_roofline, chart_histogram, chart_samples, chart_source, chart_change;
/* Every kind, in the order of local.mk: what says most comes first. NULL ends; so do their names. */
extern const struct chart_kind *const chart_kinds[];        /* NULL ends */
extern const char *const chart_names[];                     /* the words; NULL ends */
const struct chart_kind *chart_kind_find(const char *name); /* NULL: none */
const char *chart_kind_name(const void *unused, size_t i);  /* str_list_fn */

/* A model whose members are all unknown and whose lists are empty; chart_free() frees both. */
struct chart *chart_new(const struct chart_kind *kind);
void chart_free(struct chart *c);
/* A model alone, of a layout. */
void model_init(const struct chart_layout *l, void *model);
void model_clear(const struct chart_layout *l, void *model);
/* n elements, all unknown, in place of a list that was empty. */
void *model_list(const struct chart_layout *of, int n);

json_t *chart_to_json(const struct chart *c);
/* NULL where it is none that this program can draw. Texts are sanitised. */
struct chart *chart_from_json(const json_t *o);

/* `c` is owned by the list from then on. One that cannot be drawn is freed; NULL adds nothing. */
void charts_add(struct charts *l, struct chart *c);
void charts_clear(struct charts *l);
/* Adds the pictures of another list (NULL: none); both own them from then on. */
void charts_share(struct charts *to, const struct charts *from);
/* The first of a kind, else the first whose model that kind can draw as well: kind->svg() and its like
 * then take it. NULL: any kind, in the order of chart_kinds. NULL when there is none. */
const struct chart *charts_find(const struct charts *l, const struct chart_kind *kind);
/* NULL for an empty list. */
json_t *charts_to_json(const struct charts *l);
void charts_from_json(const json_t *list, struct charts *out);

/* Opens the picture of `c` with its caption below; end it with svg_end(). */
void chart_svg_begin(struct str *out, const struct chart *c, double w, double h, const char *title,
                     bool alone);
/* Add a name to those of the caption, unless it is there; NULL adds nothing. Beyond the sixth they are
 * "...". */
void caption_kernel(struct caption *c, const char *name);
void caption_device(struct caption *c, const char *name);
void caption_origin(struct caption *c, const char *name);
/* "fa2,naive | B=1 H=8 S=1024 D=64 f16 | MODEL L4 | attnscope 0.1": nothing where nothing is known. */
void caption_text(const struct caption *c, struct str *out);

#endif
