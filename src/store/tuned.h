/* tuned.h - times by which `run auto` chooses: what `tune ... measure` found fastest, by device, cache and class of shapes; what
 * `run auto` timed itself, of one shape; and the list of all that was measured of a device, which is shipped.
 *
 * A class has the shapes that are alike: dtype, mask, layout and D the same, and B * Hkv, H / Hkv, Sq and Sk each within the
 * same power of 2 (its middle: 512 is 363 to 724). Where nothing of the class was timed, the nearest shape that was is taken:
 * mask, layout and D the same, f16 and bf16 for each other, and those four at most a factor of 8 apart, all together.
 * An entry whose scope is "shape" is of no class: it says how long it took at its shape.
 *
 * $ATTNSCOPE_TUNED names a file that stands for all that are built in: how well the choice does without a shape is found so
 * (tests/gpu/auto hold).
 *
 * A file is one JSON object of a list: <data>/tuned/NAME.json, a file a device, or lessons/recordings/NAME.tuned, which is
 * built in. Texts of files are sanitized; what is none, or has no time, counts as absent, which tunings_trouble() tells;
 * nothing is written over such a file. Who writes one waits until nobody else does, and reads it once more before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_TUNED_H
#define ATTNSCOPE_STORE_TUNED_H

#include "base/field.h"
#include "base/status.h"
#include "spec/shape.h"

struct tuned {
    char *device, *backend, *l2;
    char *alike;        /* tuned_class() */
    char *shape;        /* the one that was measured */
    char *kernel, *own; /* "fa2", "BR=32@BC=64": what is to be said of it; own NULL: the defaults */
    char *scope;        /* "shape": it is for its shape alone; NULL: for its class */
    char *hash;         /* of its source then */
    char *time;         /* when, UTC */
    char *verdict;      /* against the defaults of `base`; NULL: it is them */
    char *base;
    double median_us, ratio; /* ratio: to base */
    int64_t tried;           /* combinations that were timed */
};
extern const struct field tuned_fields[];
void tuned_clear(struct tuned *t);

extern const char tuned_scope_shape[]; /* "shape" */
/* "f16 D=64 full bhsd, about 8 x 1 heads, Sq 512, Sk 512"; the caller frees. */
char *tuned_class(const struct shape *s);

/* How far two shapes are apart that one tuning may serve, in powers of 2; INFINITY: it may not. */
double tuned_distance(const struct shape *a, const struct shape *b);

struct tunings;
struct tunings *tunings_new(void); /* nothing is read before the first question */
void tunings_free(struct tunings *t);

/* Every entry whose shape is known, the user's after what is shipped. */
struct tuned_seen {
    const struct tuned *t; /* borrowed until tunings_keep() */
    const struct shape *shape;
    bool shipped;
};
void tunings_each(struct tunings *t, void (*see)(void *ctx, const struct tuned_seen *x), void *ctx);
/* Is there an entry of a device that is wanted? Entries are not kept for that: a session that needs none stays small. */
bool tunings_have_device(const struct tunings *t, bool (*wanted)(void *ctx, const char *device),
                         void *ctx);

/* Of these, device, backend and cache, what was timed of the shape's class, else of the nearest shape; the user's before what is
 * shipped; of several the one whose time is expected to be least. */
struct tuned_query {
    const char *
        device; /* NULL: whichever it is, if it is one; then the class alone, and of the user's alone */
    const char *backend, *l2;
    const struct shape *shape;
    bool own; /* the user's alone */
    /* Its time at the shape, us, when it was timed at `at` (NULL: not known where); INFINITY: it is not today's source, or cannot
     * run it. NULL: its time as it is. */
    double (*expect)(const void *ctx, const struct tuned *t, const struct shape *at);
    const void *ctx;
};
struct tuned_found {
    const struct tuned *t; /* NULL: none. Borrowed until tunings_keep() */
    bool shipped;
    double apart; /* in powers of 2, between the shapes; 0: it is of the class */
};
struct tuned_found tunings_find(struct tunings *t, const struct tuned_query *q);
/* Why a file, `path` or any (NULL), is not read as a whole: a clean sentence; NULL: all are. The caller frees it. */
char *tunings_trouble(const struct tunings *t, const char *path);
/* Keeps these, all of one device, each in the place of what is there of its device, class and kernel; of one shape: of its
 * shape, kernel and parameters. What others have kept meanwhile stays. *path: where; the caller
 * frees it. This session knows them even where they could not be written. */
enum status tunings_keep(struct tunings *t, const struct tuned *x, size_t n, char **path,
                         struct err *err);
/* Grows with each tunings_keep(): what was concluded before may be other by now. */
unsigned tunings_serial(const struct tunings *t);

#endif
