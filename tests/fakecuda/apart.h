/* apart.h - several devices that are really apart, and streams that are: for rings of GPUs.
 *
 * The fake driver runs everything at once, so a wait that is missing would do no harm there. With apart=1 in $FAKECUDA
 * every operation is held against what its stream has waited for, by vector clocks: one that reads what another stream
 * writes, or writes what another still reads, without a wait between them, is a fault, as is an address of another
 * device. Time is kept for each stream, so that what runs side by side costs the longer one's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_FAKECUDA_APART_H
#define ATTNSCOPE_TESTS_FAKECUDA_APART_H

#include <stddef.h>

enum { APART_STREAMS = 72 /* number 0 is the host */ };

/* What has happened for certain, of each stream. */
struct apart_clock {
    unsigned seen[APART_STREAMS];
    double us;
};

int apart_is_on(void);
void apart_reset(void);

/* Memory of a device; -1: of the host. */
void apart_add(const void *p, size_t bytes, int device);
void apart_remove(const void *p);
/* The device that has it; -1: none. */
int apart_owner(const void *p);
/* Bytes that a device has given out. */
size_t apart_used(int device);

/* The stream gets a number. Without apart=1 all of this does nothing. */
void apart_stream(const void *stream, int device);
int apart_device(const void *stream);

/* An operation of `us` is queued into a stream by the host. Then what it touches: 0, or 1 after a line on stderr. */
void apart_queue(const void *stream, double us);
int apart_reads(const void *stream, const void *p, size_t bytes);
int apart_writes(const void *stream, const void *p, size_t bytes);
/* The same of one end of a copy: memory of whatever device. */
int apart_peer(const void *stream, const void *p, size_t bytes, int writes);
/* The same of the host itself, which has waited for `stream` or, NULL, for nothing. */
int apart_host_reads(const void *p, size_t bytes);
int apart_host_writes(const void *p, size_t bytes);

void apart_record(const void *stream, struct apart_clock *event);
void apart_wait(const void *stream, const struct apart_clock *event);
/* The host waits: for a stream, or, NULL, for all of a device. */
void apart_sync(const void *stream, int device);
/* Both streams meet: what comes behind this in either knows all that was before in both; `us` pass. */
void apart_meet(const void *a, const void *b, double us);

#endif
