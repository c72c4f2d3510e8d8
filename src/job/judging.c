/* judging.c - outputs on their way to the judge, and again to another where one is gone.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/judging.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"

/* Hands entry i's output to the judge that is there. */
static void hand_over(struct crew *c, struct job *j, int i, int fd)
{
    struct proc *judge = &c->procs[JUDGE];
    struct err why = ERR_INIT;
    json_t *msg = json_pack("{s:i, s:i, s:o}", "job", j->id, "entry", i, "problem",
                            problem_to_json(&j->request.problem));
    if (j->entries[i].unjudged++ == 0)
        j->entries[i].turn = ++j->last_turn;
    if (j->unjudged++ == 0 && j->asked < 0) /* else it is at work, for as long as it has said */
        crew_expect(c, JUDGE, job_silence(j, 0, false));
    if (wire_send(judge->wire, WIRE_JUDGE, msg, fd, 0, &why) != ST_OK)
        judge->closed_since = seconds_now(); /* its end will be told by settle_closed() */
    json_decref(msg);
}

void judging_send(struct crew *c, struct job *j, int i, int fd)
{
    struct err why = ERR_INIT;
    job_drop_output(j, i);
    if (crew_need(c, JUDGE, &why) != ST_OK) {
        job_leave_unjudged(j, i, why.text);
        return;
    }
    j->entries[i].output = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* without one, there is no second try */
    hand_over(c, j, i, fd);
}

void judging_take(struct crew *c, struct job *j, int i)
{
    struct proc *judge = &c->procs[JUDGE];
    if (job_take_answer(j, i))
        crew_expect(c, JUDGE, job_silence(j, 0, false));
    else
        judge->deadline = INFINITY;
}

/* The output that the judge was busy with: once more, or not at all. */
static void settle_culprit(struct crew *c, struct job *j, bool died, const char *what)
{
    int i = job_judged_entry(j);
    struct entry_state *e = &j->entries[i];
    char *sentence = job_fault_sentence(j, JUDGE, what);
    if (died && !e->retried && e->output >= 0) {
        e->retried = true;
        str_addf(&c->log, "%s; another judge was started\n", sentence);
    } else {
        job_leave_unjudged(j, i, sentence);
    }
    free(sentence);
}

/* ---- further outputs ---- */

/* Gives the judge extra i. */
static void hand_over_extra(struct crew *c, struct job *j, int i)
{
    struct extra_output *x = &j->extras[i];
    struct err why = ERR_INIT;
    if (crew_need(c, JUDGE, &why) != ST_OK) {
        job_leave_extra(j, i, why.text);
        return;
    }
    struct proc *judge = &c->procs[JUDGE];
    json_t *msg = json_pack("{s:i, s:i, s:O, s:s}", "job", j->id, "entry", x->entry, "problem",
                            x->problem, "what", x->what);
    j->asked = i;
    json_decref(j->judged);
    j->judged = json_incref(x->problem);
    crew_expect(c, JUDGE, job_silence(j, 0, false));
    if (wire_send(judge->wire, WIRE_JUDGE, msg, x->fd, 0, &why) != ST_OK)
        judge->closed_since = seconds_now();
    json_decref(msg);
}

bool judging_extras(struct crew *c, struct job *j)
{
    for (int i; j->asked < 0 && (i = job_next_extra(j)) >= 0;)
        hand_over_extra(c, j, i);
    return j->asked >= 0;
}

/* The judge is gone over it: once more, or not at all. */
static void extra_again(struct job *j, bool died, const char *what)
{
    const int i = j->asked;
    struct extra_output *x = &j->extras[i];
    j->asked = -1;
    if (died && !x->retried) {
        x->retried = true; /* judging_extras() finds it */
        return;
    }
    char *sentence = xasprintf("the judge %s", what);
    job_leave_extra(j, i, sentence);
    free(sentence);
}

void judging_again(struct crew *c, struct job *j, bool died, const char *what)
{
    struct err why = ERR_INIT;
    if (j->asked >= 0)
        extra_again(j, died, what);
    else
        settle_culprit(c, j, died, what);
    if (!job_take_back(j))
        return;
    const bool ready = crew_need(c, JUDGE, &why) == ST_OK;
    for (int i = 0; i < j->request.nentries; i++) {
        const struct entry_state *e = &j->entries[i];
        if (e->again && ready && e->output >= 0)
            hand_over(c, j, i, e->output);
        else if (e->again)
            job_leave_unjudged(j, i, ready ? "its output was lost with the judge" : why.text);
    }
}
