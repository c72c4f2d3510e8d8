/* sim.c - names, facts and sentences; see sim.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "base/str.h"
#include "sim/code.h"

static const struct {
    const char *name, *what;
} pipes[] =
    {
#define X(name, what) {#name, what},
        SIM_PIPES(X)
#undef X
},
  counts[] =
      {
#define X(name, what) {#name, what},
          SIM_COUNTS(X)
#undef X
},
  faults[] = {
#define X(id, name, what) {name, what},
      SIM_FAULTS(X)
#undef X
};

const char *sim_beat_name(enum sim_beat_kind k)
{
    static const char *const names[] = {
#define X(name, what) #name,
        SIM_BEATS(X)
#undef X
    };
    return names[k];
}

const char *sim_pipe_name(enum sim_pipe p)
{
    return pipes[p].name;
}

const char *sim_count_name(int count)
{
    return counts[count].name;
}

void sim_counts_add(struct sim_counts *to, const struct sim_counts *from)
{
    uint64_t *a = (uint64_t *)(void *)to;
    const uint64_t *b = (const uint64_t *)(const void *)from;
    for (int i = 0; i < SIM_COUNT_COUNT; i++)
        a[i] += b[i];
}

const char *sim_space_name(enum sim_space s)
{
    static const char *const names[] = {"global", "shared", "local", "parameter", "constant", "no"};
    return names[s];
}

const char *sim_fault_name(enum sim_fault_kind k)
{
    return faults[k].name;
}

const char *sim_fault_what(enum sim_fault_kind k)
{
    return faults[k].what;
}

struct sim_facts sim_program_facts(const struct sim_program *p)
{
    return p->facts;
}

struct sim_insn sim_program_insn(const struct sim_program *p, size_t insn)
{
    return p->insn[insn];
}

const char *sim_program_shared(const struct sim_program *p, uint64_t addr, uint64_t *offset)
{
    for (uint32_t i = 0; i < p->nshared; i++)
        if (addr >= p->shared[i].at && addr - p->shared[i].at < p->shared[i].bytes) {
            *offset = addr - p->shared[i].at;
            return p->shared[i].name;
        }
    return NULL;
}

char *sim_program_ptx_line(const struct sim_program *p, int line)
{
    const char *at = p->text;
    for (int i = 1; i < line && at; i++) {
        at = strchr(at, '\n');
        at = at ? at + 1 : NULL;
    }
    if (!at || line < 1)
        return xstrdup("");
    at += strspn(at, " \t");
    size_t n = strcspn(at, "\r\n");
    while (n && strchr(" \t", at[n - 1]))
        n--;
    struct str s = {0};
    char *text = xstrndup(at, n);
    for (char *tab = text; (tab = strchr(tab, '\t'));)
        *tab = ' '; /* between the instruction and its operands */
    sanitize(&s, text, n, false);
    free(text);
    return str_take(&s);
}

static void add_address(struct str *s, const struct sim_memory *m, const struct sim_fault *f)
{
    int64_t offset;
    uint64_t bytes;
    const char *name = f->space == SIM_GLOBAL || f->space == SIM_CONST
                           ? sim_memory_name(m, f->addr, &offset, &bytes)
                           : NULL;
    if (name)
        str_addf(s, ", byte %" PRId64 " of %s (%" PRIu64 " bytes)", offset, name, bytes);
    else if (f->space != SIM_NOWHERE)
        str_addf(s, ", address 0x%" PRIx64 " of %s memory", f->addr, sim_space_name(f->space));
}

char *sim_fault_sentence(const struct sim_program *p, const struct sim_memory *m,
                         const struct sim_launch *launch, const struct sim_fault *f)
{
    struct str s = {0};
    const uint32_t *g = launch->grid;
    str_addf(&s, "%s: block (%" PRIu64 ", %" PRIu64 ", %" PRIu64 ")", sim_fault_what(f->kind),
             f->block % g[0], f->block / g[0] % g[1], f->block / g[0] / g[1]);
    if (f->warp >= 0)
        str_addf(&s, ", warp %d", f->warp);
    if (f->lane >= 0)
        str_addf(&s, ", lane %d", f->lane);
    add_address(&s, m, f);
    if (f->insn < p->facts.insns) {
        const struct sim_insn *i = &p->insn[f->insn];
        const char *base = i->at.file ? strrchr(i->at.file, '/') : NULL;
        str_addf(&s, ", %s, ", i->name);
        if (i->at.file)
            str_addf(&s, "%s:%d, ", base ? base + 1 : i->at.file, i->at.line);
        str_addf(&s, "PTX line %d", i->ptx_line);
    }
    if (*f->text)
        str_addf(&s, ": %s", f->text);
    char *clean = sanitize_line(str_text(&s));
    str_free(&s);
    return clean;
}
