/* mbarriers.c - see mbarriers.h. No compiler: declarations are taken as the ladder writes them, and what looks otherwise has no name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "plan/mbarriers.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/expr.h"
#include "base/number.h"

static const char word[] = "MemoryBarrier ", buffer[] = "barriers";
enum { BYTES = 8, DEPTH = 4, SIZE_TEXT = 200 };

struct sizes {
    const struct plan *plan;
    int depth;
};

static bool size_of(const struct sizes *s, const char *text, double *out);

/* `constexpr int NAME = EXPR;`, also behind a comma. */
static bool constant(const struct sizes *s, const char *name, double *out)
{
    const char *source = s->plan->desc->source, *p = source;
    char want[80], text[SIZE_TEXT];
    if (!source || s->depth >= DEPTH)
        return false;
    snprintf(want, sizeof want, " %.60s = ", name);
    for (p = strstr(p, want); p; p = strstr(p + 1, want)) {
        const char *from = p + strlen(want);
        const size_t n = strcspn(from, ",;\n");
        const struct sizes deeper = {s->plan, s->depth + 1};
        if (n >= sizeof text || !n)
            continue;
        snprintf(text, sizeof text, "%.*s", (int)n, from);
        return size_of(&deeper, text, out);
    }
    return false;
}

static bool value_of(const void *ctx, const char *name, double *out)
{
    const struct sizes *s = ctx;
    const char *param = strncmp(name, "P_", 2) ? name : name + 2;
    const int i = desc_param_index(s->plan->desc, param);
    if (!strcmp(name, "ATTN_D"))
        *out = (double)((s->plan->shape.D + 15) / 16 * 16);
    else if (i >= 0)
        *out = (double)s->plan->params.v[i];
    else
        return constant(s, name, out);
    return true;
}

static bool size_of(const struct sizes *s, const char *text, double *out)
{
    const struct expr_env env = {.value = value_of, .ctx = s};
    struct err why = ERR_INIT;
    return expr_eval_text(text, &env, out, &why) == ST_OK;
}

/* "k_here[STAGES]" or "q_here"; false: its size is not understood. */
static bool add(const struct sizes *s, const char *from, size_t n, struct mbarriers *out)
{
    char name[MBARRIER_NAME], text[SIZE_TEXT];
    const char *open = memchr(from, '[', n);
    const size_t len = open ? (size_t)(open - from) : n;
    double times = 1;
    if (!len || len > MBARRIER_NAME - 8)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)len, from);
    if (open) {
        const char *close = memchr(open, ']', n - len);
        if (!close || close - open > SIZE_TEXT - 1)
            return false;
        snprintf(text, sizeof text, "%.*s", (int)(close - open - 1), open + 1);
        if (!size_of(s, text, &times))
            return false;
    }
    if (!(times >= 1) || times > MBARRIERS_MAX - out->n)
        return false;
    for (int i = 0; i < (int)times; i++)
        if (open)
            snprintf(out->name[out->n++], MBARRIER_NAME, "%.30s[%d]", name, i % MBARRIERS_MAX);
        else
            snprintf(out->name[out->n++], MBARRIER_NAME, "%.38s", name);
    return true;
}

/* A line of declarations. */
static bool add_line(const struct sizes *s, const char *p, struct mbarriers *out)
{
    for (const char *end = p + strcspn(p, ";\n"); p < end;) {
        p += strspn(p, " ");
        const size_t n = strcspn(p, ",;\n");
        if (!add(s, p, n, out))
            return false;
        p += n + (p[n] == ',');
    }
    return true;
}

void mbarriers_read(const struct plan *p, struct mbarriers *out)
{
    const struct sizes s = {p, 0};
    const struct plan_pass *pass = &p->passes[p->main_pass];
    const char *at = p->desc->source;
    out->n = 0;
    out->offset = INT_UNKNOWN;
    for (int i = 0; i < pass->nsmem; i++)
        if (!strcmp(pass->smem[i].name, buffer))
            out->offset = pass->smem[i].offset;
    if (!at || out->offset == INT_UNKNOWN)
        return;
    for (at = strstr(at, word); at; at = strstr(at + 1, word)) {
        const char *line = at;
        while (line > p->desc->source && line[-1] == ' ')
            line--;
        const char *end = at + strcspn(at, ";\n");
        if (line == at || line == p->desc->source || line[-1] != '\n' || *end != ';')
            continue; /* a parameter, or no member */
        if (!add_line(&s, at + strlen(word), out)) {
            out->n = 0;
            return;
        }
    }
}

const char *mbarriers_find(const struct mbarriers *m, int64_t address)
{
    if (!m->n || address < m->offset)
        return NULL;
    const int64_t at = address - m->offset;
    return at % BYTES == 0 && at / BYTES < m->n ? m->name[at / BYTES] : NULL;
}
