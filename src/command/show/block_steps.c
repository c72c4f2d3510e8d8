/* block_steps.c - see block_steps.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/block_steps.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "draw/phases.h"

struct step_row {
    char *kernel, *phase, *does, *place, *unit, *in_round;
    int64_t block, step, rounds, together;
    double us, all_us, share_pct, warp_instructions, smem_wavefronts, global_sectors, tensor_ops,
        async_copies, shuffles;
    json_t *pipes;
};
// clang-format off
static const struct field step_fields[] = {
    FIELD(FIELD_TEXT, step_row, kernel, .doc = "Whose block it is."),
    FIELD(FIELD_INT, step_row, block, .doc = "Number of the block, x fastest."),
    FIELD(FIELD_INT, step_row, step, .doc = "Number of the step, from 1: what the block does from one barrier to the next."),
    FIELD(FIELD_TEXT, step_row, phase, .doc = "Letter of the phase in the timeline's picture."),
    FIELD(FIELD_TEXT, step_row, place, .title = "opened at", .doc = "Source line of the barrier that opens it; null: the kernel's entry."),
    FIELD(FIELD_TEXT, step_row, does, .doc = "What it does most of: copies, products, exp2/cvt (exp2 or conversions), shuffles; addresses: none of them."),
    FIELD(FIELD_INT, step_row, rounds, .doc = "How often, of a loop whose rounds did exactly the same; its steps stand beside each other."),
    FIELD(FIELD_TEXT, step_row, in_round, .title = "of round", .doc = "Which of a round's phases it is; null: outside of loops."),
    FIELD(FIELD_INT, step_row, together, .doc = "Above 1: so many phases behind the first 512 that are alike in no round, as one."),
    FIELD(FIELD_REAL, step_row, us, .digits = 3, .unit = "us", .doc = "Predicted, of one round: its share of the block's time."),
    FIELD(FIELD_REAL, step_row, all_us, .title = "all us", .digits = 3, .unit = "us", .doc = "Of all rounds."),
    FIELD(FIELD_REAL, step_row, share_pct, .title = "%", .digits = 3, .unit = "%", .doc = "Of the block's time, all rounds."),
    FIELD(FIELD_TEXT, step_row, unit, .title = "goes to", .doc = "What its time goes to in a lone block, as in predicted_parts."),
    FIELD(FIELD_REAL, step_row, warp_instructions, .doc = "Of one round, all warps."),
    FIELD(FIELD_REAL, step_row, smem_wavefronts, .doc = "Wavefronts of shared memory."),
    FIELD(FIELD_REAL, step_row, global_sectors, .doc = "Sectors of global memory."),
    FIELD(FIELD_REAL, step_row, tensor_ops, .doc = "Products on tensor cores."),
    FIELD(FIELD_REAL, step_row, async_copies, .doc = "cp.async, a warp each."),
    FIELD(FIELD_REAL, step_row, shuffles, .doc = "Shuffles, a warp each."),
    FIELD(FIELD_JSON, step_row, pipes, .doc = "Warp instructions by pipe."),
    {.name = NULL},
};
const struct row_type step_type = ROW_TYPE(step_row, {step_fields, 0});
const struct columns step_columns = {
    .type = &step_type,
    .list = (const struct column[]){
        {.field = "step"},
        {.field = "phase"},
        {.field = "place"},
        {.field = "does"},
        {.field = "rounds"},
        {.field = "in_round", .optional = true},
        {.field = "together", .optional = true},
        {.field = "us"},
        {.field = "all_us"},
        {.field = "share_pct"},
        {.field = "unit"},
        {0},
    },
};
// clang-format on

const struct sched_block *block_find(const struct timeline *t, int64_t block)
{
    for (int64_t i = 0; i < t->schedule.nblocks; i++)
        if (t->schedule.blocks[i].pass == 0 && t->schedule.blocks[i].index == block)
            return &t->schedule.blocks[i];
    return NULL;
}

void block_heading(const struct timeline *t, const struct sched_block *b, struct str *out)
{
    char from[NUMBER_BUF], to[NUMBER_BUF];
    str_addf(out, "block %lld", (long long)b->index);
    if (b->work.tile >= 0)
        str_addf(out, " (query%s %d of head %d)", t->schedule.tile_rows == 1 ? "" : " tile",
                 b->work.tile, b->work.head);
    str_addf(out, " on %s %d, wave %d: %s to %s, predicted", t->schedule.unit, b->row, b->wave + 1,
             number_fmt_us(from, b->begin_us), number_fmt_us(to, b->end_us));
    if (b->course < 0 || (size_t)b->course >= t->courses.n)
        return;
    const struct course *c = &t->courses.course[b->course];
    if (c->block != b->index)
        str_addf(out, "; its phases are those of block %lld, which was simulated",
                 (long long)c->block);
}

static void fill(const struct timeline *t, const struct sched_block *b, const struct course *c,
                 size_t i, struct step_row *row)
{
    const struct course_step *s = &c->step[i];
    const struct course_phase p = course_step_counts(c, s);
    const double us = (b->end_us - b->begin_us) * s->share;
    char does[64];
    size_t k = 0;
    course_does(&p, does, sizeof does);
    while (k < t->courses.phases &&
           (t->courses.phase[k].pass != c->pass || t->courses.phase[k].phase != s->phase))
        k++;
    row->kernel = xstrdup_if(t->panel.kernel);
    row->block = b->index;
    row->step = (int64_t)i + 1;
    row->phase = xasprintf("%c", phase_letter((int)k));
    row->place = xstrdup_if(*t->courses.phase[k].place ? t->courses.phase[k].place : NULL);
    row->does = xstrdup(does);
    row->rounds = s->rounds;
    if (s->rounds > 1)
        row->in_round = xasprintf("%d of %d", s->at + 1, s->length);
    if (s->times > 1)
        row->together = s->times;
    row->us = us / (double)s->rounds;
    row->all_us = us;
    row->share_pct = 100 * s->share;
    row->unit = xstrdup(predict_unit_name(s->unit));
    row->warp_instructions = p.executed;
    row->smem_wavefronts = p.wavefronts;
    row->global_sectors = p.sectors;
    row->tensor_ops = p.products;
    row->async_copies = p.copies;
    row->shuffles = p.shuffles;
    row->pipes = json_object();
    for (int n = 0; n < SIM_PIPE_COUNT; n++)
        if (p.pipe[n] > 0)
            json_object_set_new(row->pipes, sim_pipe_name((enum sim_pipe)n), json_real(p.pipe[n]));
}

enum status block_steps(const struct timeline *t, const struct sched_block *b, struct rowset *rows,
                        struct err *err)
{
    if (b->course < 0 || (size_t)b->course >= t->courses.n)
        return err_set(err, ST_NO,
                       "the phases of block %lld are not known: origin=sim simulates some",
                       (long long)b->index);
    const struct course *c = &t->courses.course[b->course];
    for (size_t i = 0; i < c->steps; i++)
        fill(t, b, c, i, rowset_add(rows));
    return ST_OK;
}
