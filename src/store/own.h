/* own.h - files of the user's that keep what is known of one device, in a folder of the data folder.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_STORE_OWN_H
#define ATTNSCOPE_STORE_OWN_H

#include <jansson.h>

#include "base/status.h"

/* "tuned/NVIDIA-H200.json": what a file may be called everywhere. Devices whose names differ in nothing else have the same.
 * The caller frees it. */
char *own_name(const char *folder, const char *device);
/* In place of what is there, whole or not at all. `flags`: json_dumps()'s. */
enum status own_write(const char *path, const json_t *o, size_t flags, struct err *err);

#endif
