/* ptx_names.h - words of PTX that only its parser asks for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_SIM_LOWER_PTX_NAMES_H
#define ATTNSCOPE_SIM_LOWER_PTX_NAMES_H

#include "sim/ptx.h"

/* "shared" and the like; false for other words. */
bool ptx_space_of(const char *word, enum ptx_space *out);
/* "%tid.x", "%laneid", "%envreg3": with the component that it must have, and no other. */
bool ptx_is_special(const char *name);

#endif
