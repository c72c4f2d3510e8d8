/* debug_serve.c - what is asked and answered through the wall of the cage, as text; debug.c does it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdlib.h>
#include <string.h>

#include "backend/sim/debugged.h"

void sim_debug_text(const json_t *answer, struct str *out)
{
    char *dumped = json_dumps(answer, JSON_COMPACT | JSON_ENSURE_ASCII);
    if (dumped && strlen(dumped) <= DEBUG_ANSWER_MAX)
        str_add(out, dumped);
    else
        str_addf(out, "{\"status\": %d, \"error\": \"the answer is too long\"}", (int)ST_USAGE);
    free(dumped);
}

void sim_debug_serve(void *ctx, struct cage_board *board)
{
    struct debugged d;
    struct str text = {0}, out = {0};
    bool heard = true;
    sim_debug_open(&d, ctx, board);
    while (heard && cage_next(&text)) {
        json_t *ask = json_loadb(str_text(&text), text.len, 0, NULL),
               *answer = sim_debug_answer(&d, ask);
        str_clear(&out);
        sim_debug_text(answer, &out);
        json_decref(ask);
        json_decref(answer);
        heard = cage_tell(&out);
    }
    sim_debug_close(&d);
    str_free(&text);
    str_free(&out);
}
