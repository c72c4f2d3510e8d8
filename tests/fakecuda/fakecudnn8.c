/* fakecudnn8.c - a cuDNN that says that it is of version 8, which is too old to be a peer.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stddef.h>

__attribute__((visibility("default"))) size_t cudnnGetVersion(void);

size_t cudnnGetVersion(void)
{
    return 8907;
}
