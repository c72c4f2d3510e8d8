/* device_rows.h - the built-in device table; only for device.c.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_PLAN_DEVICE_ROWS_H
#define ATTNSCOPE_PLAN_DEVICE_ROWS_H

#include "plan/device.h"

extern const struct device device_rows[]; /* name NULL at the end */

/* Other names for the same card, as drivers and people write them; both sides without blanks,
 * dashes and capitals. */
struct device_alias {
    const char *from, *to;
};
extern const struct device_alias device_aliases[]; /* from NULL at the end */

#endif
