/* contender.c - see contender.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/contender.h"

#include <stdlib.h>

#include "base/mem.h"
#include "command/ask/measure.h"
#include "tui/screens/simulation.h"

void contender_clear(struct contender *k)
{
    free(k->label);
    free(k->cannot);
    free(k->untimed);
    free(k->sim_cannot);
    request_clear(&k->request);
    if (k->about)
        subject_clear(k->about);
    free(k->about);
}

/* What cannot be timed may still be simulated. */
static void judge_simulated(struct app *a, struct contender *k)
{
    struct err err = ERR_INIT;
    struct request r;
    const struct session *s = a->session;
    const struct kernel *it = k->request.nkernels ? k->request.kernels[0] : NULL;
    if (!k->in || !simulation_is_on(s))
        return;
    if (it && !simulation_has(it)) {
        k->sim_cannot = xasprintf("%s has no CUDA source of ours", it->name);
        return;
    }
    if (simulation_request(a->session, k->label, &r, &err) != ST_OK || measure_refuses(&r, 0, &err))
        k->sim_cannot = xstrdup(err.text);
    k->simulated = !k->sim_cannot;
    request_clear(&r);
    if (!k->simulated)
        return;
    k->untimed = k->cannot;
    k->cannot = NULL;
    if (!k->untimed && !simulation_leaves_times(s))
        k->untimed = xstrdup("the simulator has no clock");
}

void contender_judge(struct app *a, struct contender *k)
{
    struct err err = ERR_INIT;
    if (request_of(a->session, k->label, NULL, 0, &k->request, &err) != ST_OK ||
        measure_refuses(&k->request, 0, &err))
        k->cannot = xstrdup(err.text);
    judge_simulated(a, k);
    k->recalled = recollect_label(a->session, k->label);
}

/* Only the pair is planned: the rest of the ladder would cost a key its answer. */
const struct subject *contender_about(struct app *a, struct contender *k)
{
    if (!k->about) {
        k->about = xcalloc(1, sizeof *k->about);
        subject_init(k->about, a);
        subject_ask(k->about, k->label, NULL, 0);
        subject_plan(k->about, k->label);
        subject_renew_knobs(k->about, 0);
        knobs_rare_last(&k->about->knobs);
    }
    return k->about;
}

bool contender_is_timed(const struct contender *k)
{
    return !k->untimed;
}

bool contender_is_simulated(const struct contender *k)
{
    return k->simulated;
}
