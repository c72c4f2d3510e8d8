/* kept.h - a measurement that was kept, in the store or in a recording: as run has it, and where it stands.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_KEPT_H
#define ATTNSCOPE_STORE_KEPT_H

#include "measure/row.h"

struct kept_row {
    struct run_row run; /* without its samples */
    char *command;      /* what would measure it again */
    int64_t id;         /* in the store, growing; else unknown */
    char *recording;    /* the name of the one that it is of; NULL: it is stored */
    bool damaged;       /* what is stored cannot be read: only kernel, time and command are known */
    char *whose, *hash; /* base/whose.h: of that recording; of the file of results, without hash */
};

/* In the order of old: a stored row begins with id, time and command, a recorded one ends with command,
 * recording and whose that is. */
extern const struct row_type stored_type, recorded_type;

/* Its struct where it is of one of the two, else NULL. */
const struct kept_row *row_kept(const struct row *row);

#endif
