/* ptxas.c - looks up registers, spills and static shared memory in kernels/cuda/ptxas.tsv.
 *
 * The row's key columns are written out once and searched for as one string: the table is a few
 * hundred lines, a plan asks once per launch, and nothing needs to be parsed or kept.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "kernel/blob.h"
#include "kernel/registry.h"

/* "\nkernel\tpass\tdtype\tD\tparams\tsm_NN" */
static void add_key(struct str *key, const struct kernel_desc *d, const char *pass,
                    enum dtype dtype, int64_t D, const struct param_values *v, int sm)
{
    char params[1024];
    desc_params_format(d, v, false, params, sizeof params);
    str_addf(key, "\n%s\t%s\t%s\t%lld\t%s\tsm_%d", d->name, pass, dtype_name(dtype),
             (long long)desc_compiled_d(D), *params ? params : "-", sm);
}

/* Reads one tab-separated number; the row is followed by more text or by the blob's zero byte. */
static bool take_int(const char **p, int *out)
{
    char *end;
    errno = 0;
    long value = strtol(*p, &end, 10);
    if (errno || end == *p || *end != '\t' || value < 0 || value > INT32_MAX)
        return false;
    *out = (int)value;
    *p = end + 1;
    return true;
}

static bool read_row(const char *p, const struct kernel_desc *d, struct ptxas_row *out)
{
    struct ptxas_row row = {0};
    if (!take_int(&p, &row.regs) || !take_int(&p, &row.spill_bytes) ||
        !take_int(&p, &row.static_smem))
        return false;
    char *end;
    row.stale = strtoull(p, &end, 16) != desc_hash(d) || end == p;
    *out = row;
    return true;
}

static bool find_row(const char *table, size_t len, const char *key, const char **after)
{
    size_t n = strlen(key);
    const char *end = table + len, *at = table;
    while ((at = memmem(at, (size_t)(end - at), key, n))) {
        at += n;
        at += *at == 'a'; /* sm_90a is what a kernel for sm_90 may need */
        if (*at == '\t') {
            *after = at + 1;
            return true;
        }
    }
    return false;
}

bool ptxas_lookup(const struct kernel_desc *d, const char *pass, enum dtype dtype, int64_t D,
                  const struct param_values *v, int sm, struct ptxas_row *out)
{
    const struct blob *table = blob_find("kernels/cuda/ptxas.tsv");
    if (!table)
        return false;
    struct str key = {0};
    add_key(&key, d, pass, dtype, D, v, sm);
    const char *row;
    bool found =
        find_row(table->data, blob_size(table), str_text(&key), &row) && read_row(row, d, out);
    str_free(&key);
    return found;
}
