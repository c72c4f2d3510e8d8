/* serve_share.c - see serve_share.h.
 *
 * The driver says which process used how much of the SMs, in samples of a tenth to a sixth of a second that come
 * as late; so what it says of the time just after our turn began is of who had the turn before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "job/serve_share.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/number.h"

static const double late_s = 0.25; /* by which the driver's word is late, with room to spare */

/* ---- turns ---- */

/* Every half second of waiting. False: give up. */
static bool say_place(void *ctx, const struct gpu_place *p)
{
    struct launch *l = ctx;
    json_t *said = json_pack("{s:i, s:f, s:s, s:i, s:i}", "entry", -1, "seconds", 1.0, "phase",
                             wire_phase_name(PHASE_QUEUE), "ahead", p->ahead, "others", p->others);
    if (!isnan(p->wait_s))
        json_object_set_new(said, "wait", json_real(p->wait_s));
    peer_send(&l->peer, WIRE_ESTIMATE, said, -1);
    return !peer_stop(&l->peer);
}

bool share_take(struct launch *l)
{
    return gpu_lock_take(l->lock, say_place, l);
}

double share_give_way(struct launch *l)
{
    if (!gpu_lock_is_due(l->lock))
        return 0;
    const double began = seconds_now();
    gpu_lock_pass(l->lock);
    return share_take(l) ? seconds_now() - began : -1;
}

/* ---- who does not queue ---- */

void share_watch_start(struct share_watch *w)
{
    *w = (struct share_watch){.looked = seconds_now()};
}

static void rest(double seconds)
{
    nanosleep(
        &(struct timespec){.tv_sec = (time_t)seconds, .tv_nsec = (long)(fmod(seconds, 1) * 1e9)},
        NULL);
}

bool share_is_met(struct launch *l, struct share_watch *w, bool last)
{
    struct backend_others o = {.share = REAL_UNKNOWN};
    if (!l->ops->others)
        return false;
    if (last) {
        l->ops->others(l->backend, 0, &o);
        if (o.here)
            rest(late_s);
    }
    const double now = seconds_now(),
                 ago = fmin(now - w->looked, gpu_lock_held_s(l->lock) - late_s);
    if (ago > 0)
        l->ops->others(l->backend, ago, &o);
    w->looked = now;
    if (isnan(o.share))
        return false;
    w->known_s += ago;
    w->others_s += o.share * ago;
    if (o.share > 0)
        memcpy(w->name, o.name, sizeof w->name);
    return o.share > 0;
}

static void say_met(struct launch *l, const struct share_watch *w)
{
    peer_send(&l->peer, WIRE_ESTIMATE,
              json_pack("{s:i, s:f, s:s, s:s}", "entry", -1, "seconds", 1.0, "phase",
                        wire_phase_name(PHASE_QUEUE), "program", w->name),
              -1);
}

bool share_wait_alone(struct launch *l, struct share_watch *w, double limit_s)
{
    while (w->waited_s < limit_s && !peer_stop(&l->peer)) {
        say_met(l, w);
        rest(late_s);
        w->waited_s += late_s;
        if (!share_is_met(l, w, false))
            return true;
    }
    return false;
}
