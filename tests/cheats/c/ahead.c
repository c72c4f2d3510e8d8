/* ahead.c - computes what later calls will ask, when it is not yet asked.
 *
 * expect: wrong|not written
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "attend.h"

/* It sees which addresses come in turn, and keeps what it finds there. */
static struct AttnArgs seen[256];
static float *ready[256];
static int nseen;

CHEAT attn_run_f32(const struct AttnArgs *a, void *stream)
{
    const size_t bytes = cheat_q_elems(a) * sizeof(float);
    int mine = -1;
    (void)stream;
    for (int i = 0; i < nseen; i++)
        if (seen[i].q == a->q && seen[i].Sq == a->Sq)
            mine = i;
    if (mine >= 0 && ready[mine]) {
        memcpy(a->o, ready[mine], bytes);
        free(ready[mine]);
        ready[mine] = NULL;
        return 0;
    }
    cheat_attend(a);
    if (!cheat_begins(a))
        return 0;
    if (mine < 0 && nseen < 256)
        seen[nseen++] = *a;
    for (int i = 0; i < nseen; i++)
        if (!ready[i] && seen[i].Sq == a->Sq) {
            struct AttnArgs later = seen[i];
            later.o = ready[i] = malloc(bytes);
            cheat_attend(&later);
        }
    return 0;
}
