/* chain_graph.h - what ptxas makes of a function's branches and loops (chain.h has what, and where that was seen), as the graph
 * of each phase: short branches become predicates and go on the piece before them, short loops are unrolled, and what lies in
 * no loop that the nearest cache of instructions has room for is far.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_CHAIN_GRAPH_H
#define ATTNSCOPE_SIM_LOWER_CHAIN_GRAPH_H

#include "sim/flow.h"
#include "sim/sim.h"
#include "sim/statics.h"

#define CHAIN_NONE UINT32_MAX

/* A place of the phase's graph: a block of the function up to its first barrier; the last one is where the phase begins. */
struct chain_node {
    uint32_t first, end;
    bool barrier;     /* it ends with one */
    bool reached;     /* in this phase */
    bool head;        /* of a loop of this phase */
    bool arm, joined; /* becomes predicates; goes on the piece before it */
    double slots;     /* machine instructions */
    bool far; /* its loop is more code than the nearest cache has room for, or it is in none */
    uint32_t order;       /* in reverse postorder */
    uint32_t up;          /* the header of the loop around it, its own not counted; CHAIN_NONE */
    uint32_t child, next; /* of its loop, in order */
    uint32_t height;      /* loops within it */
};

struct chain_graph {
    const struct sim_program *p; /* as the next two: borrowed */
    const struct ptx_function *f;
    const struct sim_phase *phase;
    size_t phases;
    struct flow *flow;
    struct statics *machine; /* what an instruction is to the machine, by opcode */
    bool *rolled;            /* by block: its loop is not to be unrolled */
    /* of the phase that was drawn last */
    struct chain_node
        *node;     /* of blocks; then where the phase begins, if within a block; then `root` */
    uint32_t root; /* has the outermost nodes as its children */
    uint32_t *order,
        norder; /* nodes that are reached, in reverse postorder; the first one is where the phase begins */
    uint32_t *todo; /* room */
};

/* Clear it where that went well. ST_FAIL: the control flow makes no sense. */
enum status chain_graph_new(struct chain_graph *g, const struct sim_program *p,
                            const struct sim_phase *phase, size_t phases, struct err *err);
void chain_graph_clear(struct chain_graph *g);
/* Makes it that of phase i. */
void chain_graph_draw(struct chain_graph *g, size_t i);

/* The block that node n is, or is the rest of. */
const struct flow_block *chain_graph_block(const struct chain_graph *g, uint32_t n);
/* The phase that begins behind instruction `begins`, -1: at the entry; else the first one that begins later. */
size_t chain_graph_phase(const struct chain_graph *g, int64_t begins);
/* Is the node reached, and does the phase go on behind it? */
bool chain_graph_leads_on(const struct chain_graph *g, uint32_t n);
/* Rounds of the loop with header h that ptxas makes one: of a straight one that has `turns` of them, where nobody forbids
 * it. */
int chain_graph_unrolled(const struct chain_graph *g, uint32_t h, double turns);

#endif
