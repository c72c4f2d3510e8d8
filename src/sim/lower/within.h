/* within.h - in which array of shared memory an access has to stay: that whose address its own is made of.
 *
 * C++ has no way from one array to another, and compilers make none. So an address that is a variable's plus numbers is for that
 * variable, wherever it leads. What is followed: copies, sums, differences and sums of products of registers, whatever way
 * control takes. Nothing is said of addresses that may be of several variables, that went through memory, masks,
 * shuffles or another block, and none of dynamic shared memory, which is one variable whatever a kernel has in it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_WITHIN_H
#define ATTNSCOPE_SIM_LOWER_WITHIN_H

#include "sim/ptx.h"

/* By instruction: the static variable in shared memory that its first address is made of; NULL: none, or it is not known. The
 * caller frees the array. */
const struct ptx_variable **within_new(const struct ptx_function *f);

#endif
