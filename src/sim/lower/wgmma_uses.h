/* wgmma_uses.h - which instructions may use a register while a wgmma that has it is under way, or give one to a wgmma
 * with no wgmma.fence in between.
 *
 * Both are asked of the text, over all ways through it. The first is a "may": it is looked at again when the instruction runs
 * (WGMMA_TOUCH), so that most instructions need no look. The second is told when such a wgmma runs.
 *
 * Source: PTX ISA 9.0, "wgmma.fence", "wgmma.mma_async", "wgmma.wait_group".
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_WGMMA_USES_H
#define ATTNSCOPE_SIM_LOWER_WGMMA_USES_H

#include "sim/code.h"
#include "sim/flow.h"

struct wgmma_uses;

/* NULL: there is no wgmma. `f` is borrowed. */
struct wgmma_uses *wgmma_uses_new(const struct ptx_function *f, const struct flow *w);
void wgmma_uses_free(struct wgmma_uses *u); /* NULL is fine */

/* May a wgmma be under way that has a register of instruction `insn`, which is no wgmma? */
bool wgmma_uses_touch(const struct wgmma_uses *u, uint32_t insn);
/* What was done to a register of wgmma `insn` with no wgmma.fence since, and by which instruction. PTX ISA, "wgmma.fence":
 * reads count as well, since sums may be written before they have happened. */
enum wgmma_unfenced wgmma_uses_unfenced(const struct wgmma_uses *u, uint32_t insn, uint32_t *by);

#endif
