/* bodies.h - all that a file of ops_*.c builds for its instruction set. What does not depend on it, and so must not
 * be compiled for it, is included before.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/pattern.h" /* its loops, too */

#include "sim/exec/cvt.h"
#include "sim/exec/flight.h"
#include "sim/exec/guest.h"
#include "sim/exec/worker.h"

#include "sim/exec/ops_body.h"
/* Behind it, in this order. */
#include "sim/exec/half_body.h"
#include "sim/exec/quick_body.h"
#include "sim/exec/mem_body.h"
#include "sim/exec/async_body.h"
#include "sim/exec/warp_body.h"
