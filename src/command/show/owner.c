/* owner.c - see owner.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/show/owner.h"

#include <string.h>

#include "command/session.h"
#include "kernel/kernel_whose.h"
#include "measure/origin.h"
#include "store/kept.h"

void owner_text(const struct kernel *k, struct str *out)
{
    if (kernel_whose_is(k) == WHOSE_SHIPPED)
        return;
    const struct whose w = kernel_whose(k);
    str_addf(out, "%s: ", kernel_main(k)->name);
    whose_add(out, &w);
    str_add(out, "\n");
}

static bool is_first(const struct run_rows *rows, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (!strcmp(rows->v[k].kernel, rows->v[i].kernel))
            return false;
    return true;
}

void owners_text(struct session *s, const struct run_rows *rows, struct str *out)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct kernel *k = registry_find(s->services.registry, rows->v[i].kernel);
        if (k && is_first(rows, i))
            owner_text(k, out);
    }
}

static bool is_stranger(const struct kept_row *k)
{
    return k && k->whose && strcmp(k->whose, whose_words[WHOSE_YOURS]) != 0;
}

static bool are_of_one(const struct kept_row *a, const struct kept_row *b)
{
    return !strcmp(a->recording ? a->recording : "", b->recording ? b->recording : "") &&
           !strcmp(a->hash ? a->hash : "", b->hash ? b->hash : "") && !strcmp(a->whose, b->whose);
}

struct strangers {
    size_t rows, altered;
};

/* Rows that are of the same as row i, and those of them that were changed by hand; none: an earlier row has told them, or they
 * are the user's. */
static struct strangers count_of(const struct rowset *rows, size_t i)
{
    const struct kept_row *first = row_kept(rows->rows[i]);
    struct strangers n = {0};
    for (size_t k = 0; is_stranger(first) && k < rows->n; k++) {
        const struct kept_row *other = row_kept(rows->rows[k]);
        const bool same = is_stranger(other) && are_of_one(first, other);
        if (same && k < i)
            return (struct strangers){0};
        n.rows += same;
        n.altered += same && other->run.origin && !strcmp(other->run.origin, ORIGIN_ALTERED);
    }
    return n;
}

void strangers_text(const struct rowset *rows, struct str *out)
{
    for (size_t i = 0; i < rows->n; i++) {
        const struct strangers n = count_of(rows, i);
        if (!n.rows)
            continue;
        const struct kept_row *k = row_kept(rows->rows[i]);
        str_addf(out, "not yours: %zu of %zu row%s", n.rows, rows->n, rows->n == 1 ? "" : "s");
        if (k->recording)
            str_addf(out, ", of the recording %s", k->recording);
        str_addf(out, " (%s%s%s)", k->whose, k->hash ? ", sha256 " : "", k->hash ? k->hash : "");
        if (n.altered)
            str_addf(out, "; ALTERED, changed by hand since: %zu of them", n.altered);
        str_addc(out, '\n');
    }
}
