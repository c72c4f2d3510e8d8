/* super.h - the supervisor: starts workers, gives them jobs, survives their deaths.
 *
 * It lives in the interface process and never computes. Two roles of attnscope-worker serve it:
 * a *launch* worker runs and times kernels, a *judge* worker compares outputs with the float64
 * reference; outputs travel between them in a memfd, which the supervisor passes on unread.
 * Everything is driven by file descriptors and deadlines, so that a front end can put it into its
 * own poll loop. Past a deadline: SIGKILL, reap without blocking, restart within a budget (5 in
 * 60 s); rows measured so far are kept.
 *
 * A job whose request names another machine is done there from beginning to end, by a supervisor like this one at the
 * far end of a connection (serve_remote.c), which watches over its workers by its own clock; this one only hears how
 * it goes, and watches over the line. A connection stays for the jobs that follow; when it is cut, its job ends with a
 * sentence, and the next one connects again.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_JOB_SUPER_H
#define ATTNSCOPE_JOB_SUPER_H

#include <poll.h>

#include "job/request.h"
#include "measure/row.h"

enum job_state { JOB_STARTING, JOB_CHECKING, JOB_TIMING, JOB_DONE, JOB_FAILED, JOB_CANCELLED };

struct super;
struct job;

/* `worker` is the path of attnscope-worker, or NULL to find it: $ATTNSCOPE_WORKER, beside the
 * program, libexec. Starts nothing. */
struct super *super_new(const char *worker);
/* For tests, which cannot wait as long as users should: multiplies the silences that are allowed. */
void super_set_patience(struct super *s, double factor);
/* Kills and reaps the workers, within 10 ms. */
void super_free(struct super *s);

/* Queues a job; jobs run one after another. The job belongs to the caller, who frees it. */
struct job *super_submit(struct super *s, const struct job_request *r);
/* Asks the worker to stop between samples; past 50 ms it is killed. Rows stay. */
void job_cancel(struct job *j);
void job_free(struct job *j); /* cancels if it still runs */

/* JOB_DEBUG: asks it, once it is ready and has answered all before; the number under which the answer will be in
 * job_extra(). 0: it cannot be asked now. `ask` NULL: what is being done for the last ask is to stop, and it is to
 * answer with what it has; the number is that of the last. */
int job_ask(struct job *j, const json_t *ask);
/* The answer to ask `number`, borrowed; NULL: not yet. */
const json_t *job_answer(const struct job *j, int number);
/* May it be asked: is it ready, and is no answer missing? */
bool job_listens(const struct job *j);

enum job_state job_state(const struct job *j);
bool job_ended(const struct job *j);
int job_count(const struct job *j);
/* Row i as far as it is known; never NULL. Borrowed until the next dispatch. */
const struct run_row *job_row(const struct job *j, int i);
json_t *job_extra(const struct job *j);
/* Why it failed: one sentence that names the kernel and the cause; NULL when it did not. When a
 * kernel takes its worker down, its row gets the reason and the others go on in a new worker: such
 * a job ends as JOB_FAILED with complete rows of the others. */
const char *job_error(const struct job *j);
/* Did it fail because this machine shows the worker no GPU? */
bool job_no_gpu(const struct job *j);
/* Was a worker of it killed (SIGKILL, SIGTERM), or the line to its machine cut, once that had answered? That is rarely a
 * kernel's doing: the system kills where memory runs short. Another try may have what is missing. */
bool job_was_killed(const struct job *j);
/* Did a run of entry i fail, or could none be made, for a reason that is no refusal of what was asked? */
bool job_entry_failed(const struct job *j, int i);
/* What is being done now: "making the inputs", "first run of fa2"; "" when nothing is known. */
const char *job_phase(const struct job *j);
/* Does it wait for its turn on the GPU? Its phase says at which place. */
bool job_waits(const struct job *j);
/* How long it will take at most, in seconds; NaN: unknown. */
double job_estimate_s(const struct job *j);

/* The backend of the job under way or next in turn; NULL: there is none, or it is another machine's. Borrowed until the next dispatch. */
const char *super_backend(const struct super *s);

/* From now on what `s` is asked to do below is done for `other`, too, until super_part(): jobs of both then run beside
 * each other, and a loop that knows `s` alone drives both. At most SUPERS_BESIDE; each is freed by who made it, parted first. */
void super_join(struct super *s, struct super *other);
void super_part(struct super *s, struct super *other);
/* `turn` (NULL: no more) is called at the end of a dispatch in which a job of `s`, or of one beside it, changed. It may
 * submit jobs and free ended ones, but none that somebody waits for. */
void super_on_turn(struct super *s, void (*turn)(void *ctx), void *ctx);

enum { SUPERS_BESIDE = 8, SUPER_FDS_MAX = 18 + 3 * SUPERS_BESIDE };
/* For poll loops. fds: fills at most `max`, of SUPER_FDS_MAX, returns how many. timeout: ms until the next deadline,
 * -1 for none. dispatch: reads what is there, enforces deadlines; true if any job changed. */
int super_fds(const struct super *s, struct pollfd *fds, int max);
int super_timeout_ms(const struct super *s);
bool super_dispatch(struct super *s);

/* Convenience for front ends without a loop of their own: dispatches until the job ended or
 * `cancelled` (may be NULL) returns true; `progress` (may be NULL) is called on every change. */
void super_wait(struct super *s, struct job *j, bool (*cancelled)(void *ctx),
                void (*progress)(void *ctx, const struct job *j), void *ctx);

/* For doctor and tests: pid of a role's process, 0 when none; restarts so far. */
int super_pid(const struct super *s, const char *role); /* "launch" "judge" */
int super_restarts(const struct super *s);
/* The tail of what the workers printed, sanitised; valid until the next call. */
const char *super_log(struct super *s);

#endif
