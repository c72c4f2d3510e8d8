/* once.c - see once.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/once.h"

enum status once_check(const char *kernel, const char *workspace, const void *bytes, uint64_t n,
                       struct err *err)
{
    const unsigned char *p = bytes;
    uint64_t i = 0;
    while (i < n && !p[i])
        i++;
    return i == n ? ST_OK
                  : err_set(err, ST_FAIL,
                            "%s%sit did not leave its workspace %s clear for the next call, as "
                            "`once` promises: byte %llu is %d",
                            kernel ? kernel : "", kernel ? ": " : "", workspace,
                            (unsigned long long)i, p[i]);
}
