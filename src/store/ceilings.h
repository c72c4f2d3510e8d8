/* ceilings.h - what doctor --peak measured, by device: kept in the user's folder, and shipped with the
 * recordings for devices that not everybody has.
 *
 * A file is one JSON object, peak_to_json(): <data>/ceilings/NAME.json, or lessons/recordings/NAME.ceilings
 * inside the program. Texts of files are sanitized as they are read; a file that is none counts as absent.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_CEILINGS_H
#define ATTNSCOPE_STORE_CEILINGS_H

#include "backend/peak.h"
#include "store/recording.h"

struct ceilings;

/* Both are borrowed and outlive it. Nothing is read before the first question. */
struct ceilings *ceilings_new(const struct library *l, const struct device_table *devices);
void ceilings_free(struct ceilings *c);

/* What was measured of a GPU: here, else shipped; while lessons look (library_look()), what is shipped. `own`
 * says which; it may be NULL. NULL: nothing. Borrowed until ceilings_keep(). */
const struct peak *ceilings_find(struct ceilings *c, const struct device *gpu, bool *own);
/* The one that is shipped, whatever the user has. */
const struct peak *ceilings_shipped(struct ceilings *c, const struct device *gpu);
/* The same by the name that a run gave to its device; of a CPU only what was measured here. */
const struct peak *ceilings_of(struct ceilings *c, const char *device, bool *own);

/* Keeps what was measured, in place of what is there of that device. */
enum status ceilings_keep(struct ceilings *c, const struct peak *p, struct err *err);

#endif
