/* wire.h - the protocol between the supervisor and its workers.
 *
 * A frame is a 24-byte header - magic, version, type, length (at most 16 MiB), sequence number,
 * CRC-32C of header and payload - and a JSON payload. A frame may carry one file descriptor (an
 * output memfd) over a Unix socket. Anything unexpected is an error, never skipped.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_WIRE_H
#define ATTNSCOPE_JOB_WIRE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

enum { WIRE_VERSION = 2, WIRE_MAX = 16 << 20 };

/* What this program was built from: both ends must have the same, or a frame means one thing here and another
 * there. A hash of all sources of the library, made with it. */
extern const char wire_build[];

/* Every frame of a worker's about a job has clock: seconds_now() there, which the supervisor holds against its
 * own. */
enum wire_type {
    WIRE_HELLO =
        1,    /* worker -> super: role, version, build: wire_build there, program: its version */
    WIRE_JOB, /* super -> launch: job (its number), request, skip: indices of entries that
                       are not to be run, careful: announce every sample; super -> remote: job,
                       request, sources: see remote.h */
    WIRE_ESTIMATE, /* worker -> super: job, seconds until its next frame, entry it works on (-1:
                       several, or none), phase: what it does, by its name below, others: see
                       PHASE_QUEUE, and then also ahead, wait (seconds, if known), or program:
                       who computes without queueing; natives: the entries whose machine code is somebody's and runs
                       in that process; where it is there, processes may be left behind */
    WIRE_OUTPUT, /* launch -> super: job, entry; carries the memfd. Of a run beside the checked one
                       also what: which, and problem: its inputs */
    WIRE_GO,     /* super -> launch: outputs judged, start timing */
    WIRE_ROWS,   /* launch -> super: job, rows as they stand, ready: every entry ran once,
                       extra: of JOB_PROFILE, as far as it is */
    WIRE_DONE,   /* launch -> super: job, final rows, error (a sentence or null),
                       no_gpu: it is for want of one, lost: the
                       entry after which another worker must go on, if so; fault: it is that
                       kernel's, doubtful: one of several did wrong, and each alone will show
                       which, extra */
    WIRE_CANCEL, /* super -> launch; answered by DONE; ignored by an idle worker; super -> remote:
                     answered by nothing, and no more is said of the job */
    WIRE_JUDGE,  /* super -> judge: job, entry, problem, what; carries the memfd */
    WIRE_VERDICT, /* judge -> super: job, entry, row: the check fields, what: as in JUDGE; in place of the row
                     unjudged: why it could not, which is no fault of the kernel's */
    WIRE_ASK, /* super -> launch: job, number, ask: of JOB_DEBUG, as backend/debug.h has it, answered by ROWS whose
                     extra has the number; without ask: stop what is being done, and answer */
    WIRE_STATE, /* remote -> super: job, and what of it is new: state, phase, seconds, entry and row, extra, error,
                   no_gpu, killed; see state.h */
    WIRE_ALIVE, /* super -> remote, and back at once: the line is up */
    WIRE_TYPE_COUNT
};
/* "ROWS"; for messages. */
const char *wire_type_name(enum wire_type type);

/* What a worker is doing, as it says with every estimate. */
enum wire_phase {
    PHASE_OPEN,
    PHASE_INPUTS,
    PHASE_QUEUE, /* the GPU measures for somebody else; `others` says how many wait, too */
    PHASE_LOAD,
    PHASE_FIRST_RUN,
    PHASE_WARM_UP,
    PHASE_TIMING,
    PHASE_PROFILE,
    PHASE_STAMPS, /* compiles a build that stamps its blocks */
    PHASE_TRACE,  /* and runs it */
    PHASE_PEAK,
    PHASE_COMPILE,
    PHASE_REFERENCE,
    PHASE_COUNT
};
/* "first run"; for messages, and its name in frames. */
const char *wire_phase_name(enum wire_phase phase);
/* PHASE_COUNT when there is none of that name; NULL is no name. */
enum wire_phase wire_phase_find(const char *name);
/* Does a kernel run in it? Then the user's own limit counts. */
bool wire_phase_runs(enum wire_phase phase);

struct wire; /* one end: buffers, sequence numbers */
struct wire *wire_new(int fd);
/* The same over plain streams, a pipe each or one socket for both, as ssh gives and takes them: no frame may carry a
 * descriptor. Sending never waits, whatever the time allowed: what does not go at once is kept and goes by
 * wire_flush(), to be called when `out` can be written to, as long as wire_has_more(). */
struct wire *wire_new_stream(int in, int out);
bool wire_has_more(const struct wire *w);
/* Can nothing be sent any more: the peer is gone, or it has not read for 32 MiB? */
bool wire_broken(const struct wire *w);
enum status wire_flush(struct wire *w, struct err *err);
void wire_free(struct wire *w);    /* closes the descriptors */
int wire_fd(const struct wire *w); /* to read from */
int wire_out_fd(const struct wire *w);
/* The last wire_recv() failed because the peer is gone, not because it sent nonsense. */
bool wire_closed(const struct wire *w);

/* Is it short enough for a frame, with what peers add to it? */
bool wire_fits(const json_t *payload);

/* Sends one frame, blocking up to `timeout_ms` (0: not at all, -1: for ever). `fd` -1 for none;
 * OUTPUT and JUDGE carry one, no other type does. The payload, an object or NULL for an empty
 * one, and the descriptor are borrowed. After a frame was cut off, every send fails. */
enum status wire_send(struct wire *w, enum wire_type type, const json_t *payload, int fd,
                      int timeout_ms, struct err *err);

/* Takes in what is readable without blocking and returns the next whole frame, if any: ST_OK with
 * *payload (owned by the caller) and *fd (-1 or owned), ST_NO when more bytes are needed, ST_FAIL
 * with a sentence on a broken frame or a closed peer, after which the wire is of no more use. */
enum status wire_recv(struct wire *w, enum wire_type *type, json_t **payload, int *fd,
                      struct err *err);

/* The pure parser behind wire_recv, for fuzzing: returns the frame's size, 0 if more bytes are
 * needed, -1 if it is broken. */
long wire_parse(const uint8_t *bytes, size_t len, enum wire_type *type, uint32_t *seq,
                const uint8_t **payload, size_t *payload_len, struct err *err);
/* Encodes header and payload into `out` (24 + len bytes). */
void wire_encode(uint8_t *out, enum wire_type type, uint32_t seq, const void *payload, size_t len);

#endif
