/* mark.h - by what this program knows a recording that was made here by its user.
 *
 * With the first recording a secret of 64 digits is drawn, <data>/attnscope/mark. The first line of each has the hash of it and of
 * the time at which the recording begins: who has the secret can tell his own, and two recordings of one person have nothing in
 * common. Who goes on in somebody else's file puts his own, with the same time, into each of his lines. A processor's name or a file's owner cannot tell: in a room of equal machines all have the one, and a copy has the other.
 * It is a label and no lock, as all that base/whose.h says.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_MARK_H
#define ATTNSCOPE_STORE_MARK_H

#include <stdbool.h>

/* Of a recording that begins at `time`; `make`: with a secret that is drawn where there is none. NULL: there is no secret, or no
 * home to keep one in. The caller frees it. */
char *mark_of(const char *time, bool make);

#endif
