/* services.h - the long-lived helpers of a session, each made on first use but for the two that cost
 * nothing.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_COMMAND_SERVICES_H
#define ATTNSCOPE_COMMAND_SERVICES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "job/foundry.h"
#include "job/super.h"
#include "kernel/registry.h"
#include "plan/device.h"
#include "store/ceilings.h"
#include "store/tuned.h"
#include "store/recall.h"
#include "store/recording.h"
#include "store/store.h"

struct session;
struct calibrations;
struct scaling;
struct carriers;
struct loads;

struct services {
    struct registry *registry;    /* which kernels there are */
    struct device_table *devices; /* which GPUs can be planned for */
    struct super *super;          /* session_super() */
    struct foundry *foundry;      /* session_foundry() */
    struct store *store;          /* session_store() */
    bool store_failed;            /* noted already */
    bool unkept;                  /* a result could not be kept: the program ends with ST_FAIL */
    char *consent_wanted;         /* consent_wanted() */
    bool allowed_noted;           /* that it cannot be read what was allowed */
    struct library *library;      /* session_library() */
    struct recall *recall;        /* session_recall() */
    struct ceilings *ceilings;    /* session_ceilings() */
    struct calibrations *calibrations; /* session_calibrations() */
    struct tunings *tunings;           /* session_tunings() */
    struct loads *loads;               /* ask/loads.h; NULL: likewise */
    struct scaling *scaling;           /* ask/scaling.h; NULL: nothing is remembered */
    struct carriers *carriers;         /* ask/carrier_pairs.h; NULL: nothing was looked up */
    struct {                           /* debug/debugger.h has it */
        void *is;                      /* NULL: nothing is debugged */
        void (*drop)(void *is);
    } debugger;
    struct {         /* the GPU here, see session_gpu() */
        char *name;  /* the driver's, "NVIDIA H200"; NULL: none known */
        bool ran;    /* a worker reported it */
        bool looked; /* at /proc, for device `index` */
        bool noted;  /* that the table does not know it */
        int index;
    } gpu;
};

void services_init(struct services *x);
void services_clear(struct services *x);

/* Takes over what is debugged, in place of what was; lets go of it. */
void services_keep_debugger(struct services *x, void *is, void (*drop)(void *is));
void services_drop_debugger(struct services *x);

struct super *session_super(struct session *s);
/* What compiles for plans; see ask/plan_here.h. */
struct foundry *session_foundry(struct session *s);
/* NULL when it cannot be opened; the reason was noted once. */
struct store *session_store(struct session *s);
/* Recordings by name; its look-ups serve lessons and screens. */
struct library *session_library(struct session *s);
/* What was recorded of a kernel on a GPU. */
struct recall *session_recall(struct session *s);
/* What was measured of GPUs themselves. */
struct ceilings *session_ceilings(struct session *s);
/* The time model's factors, by GPU. */
struct calibrations *session_calibrations(struct session *s);
/* What was fastest here, by class of shapes. */
struct tunings *session_tunings(struct session *s);

/* The device model for plans: `name`; when that is NULL or "auto" the session's gpu=; when that is
 * auto too the GPU of this machine, else L4. ST_USAGE's sentence in `err` when NULL. */
const struct device *session_gpu(struct session *s, const char *name, struct err *err);
/* Is it the GPU of this machine, as far as that is known without starting a worker? */
bool session_gpu_is_here(struct session *s, const struct device *gpu);
/* Why session_gpu() answers as it does: "the GPU of this machine", or for whom and why L4 stands
 * in. NULL when the model was asked for. The text goes into `buf`. */
const char *session_gpu_why(struct session *s, const char *name, char *buf, size_t size);
/* A worker's row says which GPU runs here. Rows of other backends, and NULL, say nothing. */
void session_saw_gpu(struct session *s, const char *backend, const char *device);

#endif
