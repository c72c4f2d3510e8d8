/* cpu_simd.c - which instruction set this machine can run, and the one the user asks for.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "backend/cpu/cpu_simd.h"

#include <string.h>

#include "backend/cpu_host.h"
#include "base/status.h"
#include "base/str.h"

const struct cpu_simd *const *cpu_simd_table(void)
{
    static const struct cpu_simd *const table[] = {
#if defined __x86_64__
        &cpu_simd_amx,
        &cpu_simd_avx512_bf16,
        &cpu_simd_avx512,
        &cpu_simd_avx2,
#elif defined __aarch64__
        &cpu_simd_neon,
#endif
        &cpu_simd_generic,
        NULL,
    };
    return table;
}

bool cpu_simd_usable(const struct cpu_simd *s)
{
    return s && host_isa_runs(s->name);
}

static const struct cpu_simd *find(const char *name)
{
    const struct cpu_simd *const *t = cpu_simd_table();
    while (*t && strcmp((*t)->name, name) != 0)
        t++;
    return *t;
}

enum status cpu_simd_pick(const char *name, const struct cpu_simd **out, struct err *err)
{
    if (name && *name) {
        const struct cpu_simd *s = find(name);
        if (s && cpu_simd_usable(s)) {
            *out = s;
            return ST_OK;
        }
        struct str usable = {0};
        for (const struct cpu_simd *const *t = cpu_simd_table(); *t; t++)
            if (cpu_simd_usable(*t))
                str_addf(&usable, " %s", (*t)->name);
        enum status st =
            err_set(err, s ? ST_FAIL : ST_USAGE, "ATTNSCOPE_CPU=%s: this machine can run%s", name,
                    str_text(&usable));
        str_free(&usable);
        return st;
    }
    for (const struct cpu_simd *const *t = cpu_simd_table(); *t; t++)
        if (cpu_simd_usable(*t)) {
            *out = *t;
            return ST_OK;
        }
    return err_set(err, ST_FAIL, "no vector code can run on this machine");
}
