/* kernel_whose.h - whose a kernel is (base/whose.h), and the hash that tells its code from any other.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_WHOSE_H
#define ATTNSCOPE_KERNEL_WHOSE_H

#include "base/sha256.h"
#include "base/whose.h"
#include "kernel/registry.h"

/* SHA-256 over descriptor and code, which may lie in a file of its own. ST_USAGE where that cannot be read. */
enum status desc_sha256(const struct kernel_desc *d, char out[SHA256_HEX + 1], struct err *err);
/* Of the file that has the code: a descriptor of yours may name somebody's library. The hash is that of
 * kernel_main()'s side; none where code cannot be read, is larger than WHOSE_CODE_MAX, or is a Python callable's
 * that was only named. */
enum { WHOSE_CODE_MAX = 256 << 20 };
struct whose kernel_whose(const struct kernel *k);
/* The same without the hash, which takes reading its code. */
enum whose_is kernel_whose_is(const struct kernel *k);

#endif
