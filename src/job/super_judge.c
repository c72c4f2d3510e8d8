/* super_judge.c - outputs on their way to a verdict.
 *
 * The supervisor passes outputs on unread. It keeps a descriptor of each until its verdict is in, so
 * that the death of a judge costs no check: another one gets what was not answered. An output over
 * which a judge dies twice, hangs, or talks nonsense stays unjudged and its row says so; the job goes on.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/str.h"
#include "job/super_state.h"

/* Hands entry i's output to the judge that is there. */
static void hand_over(struct super *s, struct job *j, int i, int fd)
{
    struct proc *judge = &s->procs[JUDGE];
    struct err why = ERR_INIT;
    json_t *msg = json_pack("{s:i, s:i, s:o}", "job", j->id, "entry", i, "problem",
                            problem_to_json(&j->request.problem));
    if (j->entries[i].unjudged++ == 0)
        j->entries[i].turn = ++j->last_turn;
    if (j->unjudged++ == 0)
        expect_sign(s, judge, job_silence(j, 0, false));
    if (wire_send(judge->wire, WIRE_JUDGE, msg, fd, 0, &why) != ST_OK)
        judge->closed_since = seconds_now(); /* its end will be told by settle_closed() */
    json_decref(msg);
}

void super_judge(struct super *s, struct job *j, int i, int fd)
{
    struct err why = ERR_INIT;
    job_drop_output(j, i);
    if (super_need_proc(s, JUDGE, &why) != ST_OK) {
        job_leave_unjudged(j, i, why.text);
        return;
    }
    j->entries[i].output = fcntl(fd, F_DUPFD_CLOEXEC, 0); /* without one, there is no second try */
    hand_over(s, j, i, fd);
}

/* The first kernel's output is what the others are compared with, so it stays. */
static bool is_base(const struct job *j, int i)
{
    return i == 0 && j->request.nentries > 1;
}

void super_judged(struct super *s, struct job *j, int i)
{
    struct proc *judge = &s->procs[JUDGE];
    j->unjudged--;
    if (--j->entries[i].unjudged == 0 && !is_base(j, i))
        job_drop_output(j, i);
    if (j->unjudged)
        expect_sign(s, judge, job_silence(j, 0, false));
    else
        judge->deadline = INFINITY;
}

/* The output that the judge was busy with: once more, or not at all. */
static void settle_culprit(struct super *s, struct job *j, bool died, const char *what)
{
    int i = job_judged_entry(j);
    struct entry_state *e = &j->entries[i];
    char *sentence = job_fault_sentence(j, JUDGE, what);
    if (died && !e->retried && e->output >= 0) {
        e->retried = true;
        str_addf(&s->log, "%s; another judge was started\n", sentence);
    } else {
        job_leave_unjudged(j, i, sentence);
    }
    free(sentence);
}

/* Takes back what no judge has answered, and the base if anything else is left. */
static bool take_back(struct job *j)
{
    bool any = false;
    for (int i = 0; i < j->request.nentries; i++) {
        struct entry_state *e = &j->entries[i];
        e->again = e->unjudged > 0;
        e->unjudged = 0;
        any |= e->again;
    }
    j->unjudged = 0;
    if (any && is_base(j, 0) && j->entries[0].output >= 0)
        j->entries[0].again = true;
    return any;
}

void super_judge_again(struct super *s, struct job *j, bool died, const char *what)
{
    struct err why = ERR_INIT;
    s->changed = true;
    settle_culprit(s, j, died, what);
    if (!take_back(j))
        return;
    const bool ready = super_need_proc(s, JUDGE, &why) == ST_OK;
    for (int i = 0; i < j->request.nentries; i++) {
        const struct entry_state *e = &j->entries[i];
        if (e->again && ready && e->output >= 0)
            hand_over(s, j, i, e->output);
        else if (e->again)
            job_leave_unjudged(j, i, ready ? "its output was lost with the judge" : why.text);
    }
}
