/* python.h - kernels that live in Python: PyTorch's attention, and the user's callables.
 *
 * Each runs in a child process of the worker, one for PyTorch and one for every callable, so that
 * what one of them breaks is its own. The child finds Q, K, V and the guarded output in a memfd: on
 * the CPU it works in that very memory, for a GPU it keeps copies. (CUDA's IPC handles would save the
 * copies, but they need both processes in one container, whole 2 MiB blocks and a driver that allows
 * them; a memfd always works and costs once a problem.) The output is poisoned here and read here.
 *
 * The child dies with the worker; every wait for it has a deadline; it is reaped at once.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_PYTHON_H
#define ATTNSCOPE_BACKEND_PYTHON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "spec/input.h"

/* What the children work on. */
struct python_problem {
    struct shape shape;
    int device;         /* of CUDA; -1: the CPU */
    int threads;        /* CPU */
    size_t sweep_bytes; /* that a cold sample on a GPU reads first */
    /* Copies Q, K, V to where the children see them. */
    enum status (*copy)(void *ctx, void *q, void *k, void *v, struct err *err);
    void *ctx;
};

struct pythons;     /* the children of one backend, and their problem */
struct python_slot; /* a loaded kernel */

struct pythons *pythons_new(void);
void pythons_free(struct pythons *p);
/* The problem has changed: forgets it and every slot; the children stay. */
void pythons_drop(struct pythons *p);

/* Loads `name` ("torch:flash", "py:module.function") for the problem, starting a child if need be.
 * ST_NO when the library, the module or the library's own limits stand in the way, ST_FAIL when
 * the child fails; the sentence begins with the name. */
enum status python_load(struct pythons *p, const struct python_problem *problem, const char *name,
                        struct python_slot **out, struct err *err);
void python_unload(struct python_slot *s);
/* One run into a poisoned output. */
enum status python_run(struct python_slot *s, struct err *err);
/* The output with OUTPUT_GUARD_BYTES before and behind, as the last run left it. */
const void *python_output(const struct python_slot *s);
/* Before a sample: the inputs of this turn, and a poisoned output. */
enum status python_prepare(struct python_slot *s, uint64_t turn, struct err *err);
/* After one, and `all`: after all. ST_FAIL when it wrote to its inputs or had not written its output when it
 * returned, when a row of that, any, is wrong, or when its process's clock and ours do not agree. */
enum status python_inspect(struct python_slot *s, bool all, struct err *err);
/* Makes the last sample's output what python_output() has. */
enum status python_fetch(struct python_slot *s, struct err *err);
/* One timed sample: seconds per run. `cold` flushes a GPU's L2 first; `graph` asks for one. */
enum status python_sample(struct python_slot *s, int repeat, bool cold, bool graph, double *seconds,
                          struct err *err);
/* {peer_version, launch, reason?} for the row; the caller owns it. */
json_t *python_describe(const struct python_slot *s);
/* The shared memory, for flushing CPU caches; NULL when there is none. */
const void *pythons_memory(const struct pythons *p, size_t *bytes);

#endif
