/* simulation.h - what a screen has simulated: CUDA kernels where no GPU is, beside the times of their C versions or in
 * their place. A simulation has a check, counters and hazards, and never a time; its figures stand in panes of their
 * own (SIM), apart from those of measurement.h.
 *
 * Three steps. At once, at the key itself, a glance: a few blocks that are taken for all others, their counts alone, and
 * what the time model makes of them. When the keys rest, those that are proven to stand for all, watched for hazards. Then, where that says no more and is
 * done in seconds, the whole grid as the settings say: the check. Whoever shows figures marks those that are of older
 * settings.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TUI_SIMULATION_H
#define ATTNSCOPE_TUI_SIMULATION_H

#include "tui/screens/measurement.h"

struct simulation {
    struct app *app;
    struct request
        request; /* what the settings ask of the simulator; nkernels 0: nothing, see cannot */
    struct str command; /* of the request: whether it is another one */
    char *cannot;       /* why nothing is simulated though something should be; NULL */
    struct measurement glance, part,
        whole;            /* figures of some blocks, of the same when they were watched, and of what
                                               the settings say */
    unsigned code_serial; /* of plans_serial(), when it was predicted */
    bool asked;           /* by a key: the whole grid, however long it takes */
    bool ended;           /* what the request asks is done as far as it goes */
};

/* What is known of one kernel. */
struct sim_known {
    const struct run_row *row;     /* the best that there is; NULL: nothing yet */
    const struct run_row *watched; /* the run in which hazards were looked for; NULL: in none */
    const struct figures *figures; /* of the row */
    bool old;                      /* of older settings */
};

/* Who runs what names no backend: is there something to simulate (no GPU is here, or the simulator was named), and is
 * there something to time? */
bool simulation_is_on(const struct session *s);
bool simulation_leaves_times(const struct session *s);
/* Has this kernel something to simulate, whatever its shape? */
bool simulation_has(const struct kernel *k);

/* A request of the simulator, as request_of() makes it. */
enum status simulation_request(struct session *s, const char *names, struct request *out,
                               struct err *err);

void simulation_init(struct simulation *s, struct app *a);
void simulation_clear(struct simulation *s);
/* The request anew: of kernels between commas as `run` takes them; NULL: of none. What runs goes on: another request
 * wants simulation_stop(). */
void simulation_ask(struct simulation *s, const char *names);
/* Is everything known that the simulator says by itself? Also true where nothing is simulated. */
bool simulation_is_known(const struct simulation *s);
/* Would it begin by itself? Else it waits for a key: it would take too long. */
bool simulation_is_quick(const struct simulation *s);
void simulation_start(struct simulation *s, bool asked);
bool simulation_is_running(const struct simulation *s);
/* True if one ran. */
bool simulation_stop(struct simulation *s);
/* Takes in what there is and goes on to the second step; true when the last one has ended. `remember`: its rows are also
 * $1 .. $last and in the store. */
bool simulation_collect(struct simulation *s, bool remember);
/* Begins the glance, where one would say something new soon; what runs is stopped. It ends by itself, and whoever
 * times something waits for it as long as simulation_glances(). */
void simulation_glance(struct simulation *s);
bool simulation_glances(const struct simulation *s);
/* What is being done, or why nothing came of it; NULL: neither. */
const char *simulation_activity(const struct simulation *s);
const char *simulation_failure(const struct simulation *s);
/* Where figures come from: "PTX simulator, 2 threads". */
const char *simulation_machine(const struct simulation *s);
/* Forgets why nothing came of it. */
void simulation_forgive(struct simulation *s);
/* Of entry i of the request; nothing where there is none. */
struct sim_known simulation_of(const struct simulation *s, int i);
/* The entry of this label; -1: it is not in the request. */
int simulation_entry(const struct simulation *s, const char *label);
/* Of a kernel in this very shape, whatever its parameters; NULL: nothing. */
const struct run_row *simulation_find(const struct simulation *s, const char *label,
                                      const struct shape *shape);
/* Predictions are those of the GPU of the settings, though the run was another's, and of the registers that are known by
 * now: nothing is simulated for it. */
void simulation_predict(struct simulation *s);
void simulation_follow_kernels(struct simulation *s);
bool simulation_is_old(const struct simulation *s, const struct row *row);

/* The source line of a finding's sentence, as it names the first party; 0: it names none. */
int simulation_line(const char *hazard);

json_t *simulation_save(const struct simulation *s);
void simulation_restore(struct simulation *s, const json_t *o);

#endif
