/* fuzz_log.c - a compiler's log: whatever it says, what is read from it is inside it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "backend/compile/compile_log.h"
#include "base/mem.h"

const char *const fuzz_seeds[] = {
    "/home/x/k.cu(5): error: identifier \"y\" is undefined\n      float x = y;\n                "
    "^\n\n"
    "1 error detected in the compilation of \"k.cu\".\n",
    "k.cu:12:5: error: no such thing\n  x = 1;\n  ^\n",
    "ptxas info    : Compiling entry function 'k' for 'sm_89'\n"
    "    0 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads\n"
    "ptxas info    : Used 128 registers, used 1 barriers, 4096 bytes smem, 592 bytes cmem[0]\n",
    "ptxas error   : Entry function 'k' uses too much shared data\n",
    NULL,
};
const char *const fuzz_tokens[] = {
    ": error: ",
    ": warning #177-D: ",
    ": fatal error: ",
    "ptxas fatal   : ",
    "(",
    ")",
    ":",
    "\n",
    "\r\n",
    "^",
    "  ^\n",
    "9999999999999",
    "'k'",
    " registers",
    " bytes smem",
    " bytes spill stores",
    " bytes spill loads",
    "Compiling entry function ",
    "2147483647",
    "\\x00",
    "\\xff",
    NULL,
};

static int check_diagnostic(const struct diagnostic *d, const char *log)
{
    const size_t len = strlen(log);
    if (!d->text || strlen(d->text) > len || strchr(d->text, '\n'))
        return fuzz_broken("a message that is no line of the log");
    if (d->line < 0 || (d->line && !d->file) || (d->file && !d->line))
        return fuzz_broken("a line without a file, or a file without a line");
    if (d->file && (!*d->file || !strstr(log, d->file)))
        return fuzz_broken("a file that the log does not name");
    if (d->source && (!strstr(log, d->source) || strchr(d->source, '\n')))
        return fuzz_broken("a source line that the log does not quote");
    return 0;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    char *log = xstrndup((const char *)data, size);
    int n, broken = 0;
    struct diagnostic *d = diagnostics_read(log, &n);
    for (int i = 0; i < n && !broken; i++)
        broken = check_diagnostic(&d[i], log);
    diagnostics_free(d, n);
    struct code_usage u;
    const int known = usage_read(log, "k", &u);
    if (!broken &&
        (u.regs < -1 || u.spill_bytes < -1 || u.static_smem < -1 || (known && u.regs < 0)))
        broken =
            fuzz_broken("figures below nothing: %d %d %d", u.regs, u.spill_bytes, u.static_smem);
    free(log);
    return broken;
}
