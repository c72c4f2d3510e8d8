/* rename.h - a copy of a kernel's source under another name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_RENAME_H
#define ATTNSCOPE_KERNEL_RENAME_H

#include "base/str.h"
#include "kernel/descriptor.h"

/* Appends d's source to `out` with @name `name`, with entry points named after it, and with @after
 * d's own name, so that `source NAME diff` shows the edit. Words of the code are renamed, comments
 * and strings stay. `folder` (may be NULL) is added to @include: the one that the original's
 * relative includes count from; its relative @include folders become absolute ones. ST_USAGE when
 * the name is too long, or d has no source. */
enum status kernel_rename(const struct kernel_desc *d, const char *name, const char *folder,
                          struct str *out, struct err *err);

#endif
