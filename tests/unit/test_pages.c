/* K and V in pages: the block table, the pool, and the PTX that fills and judges pools on a GPU, run in the simulator.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/args.h"
#include "base/mem.h"
#include "kernel/blob.h"
#include "sim/sim.h"
#include "spec/input.h"
#include "spec/pages.h"

static struct shape shape_of(const char *text)
{
    struct shape s = SHAPE_DEFAULT;
    CU_ASSERT_EQUAL_FATAL(shape_parse(text, &s, NULL), ST_OK);
    return s;
}

/* ---- the keys ---- */

static void keys_are_read_and_written(void)
{
    static const struct {
        const char *words, *text;
    } cases[] = {
        {"page=16", "B=1 H=8 S=1024 D=64 f16 page=16"},
        {"page=16 pages=ordered", "B=1 H=8 S=1024 D=64 f16 page=16 pages=ordered"},
        {"page=none", "B=1 H=8 S=1024 D=64 f16"},
        {"pages=ordered", "B=1 H=8 S=1024 D=64 f16"}, /* of no pages the order is nothing */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct shape s = shape_of(cases[i].words);
        char text[SHAPE_TEXT];
        shape_format(&s, text, sizeof text);
        CU_ASSERT_STRING_EQUAL(text, cases[i].text);
    }
    struct shape s = SHAPE_DEFAULT;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(shape_parse("page=-1", &s, &err), ST_USAGE);
    CU_ASSERT_EQUAL(shape_parse("page=128k", &s, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "the largest is 64k"));
    CU_ASSERT_EQUAL(shape_parse("pages=mixed", &s, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "shuffled"));
}

static void a_pool_has_limits(void)
{
    struct err err = ERR_INIT;
    struct shape s = shape_of("B=64k H=8 Sq=1 Sk=1 D=64 page=64k");
    CU_ASSERT_EQUAL(shape_check(&s, &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a smaller page"));
    s.page = 1;
    CU_ASSERT_EQUAL(shape_check(&s, &err), ST_OK);
}

/* ---- the table ---- */

static bool is_injective(const int32_t *table, const struct page_pool *p)
{
    bool *seen = xcalloc((size_t)p->total, sizeof *seen), good = true;
    for (int64_t i = 0; i < p->used; i++) {
        good = good && table[i] >= 0 && table[i] < p->total && !seen[table[i]];
        if (good)
            seen[table[i]] = true;
    }
    free(seen);
    return good;
}

static int64_t in_order(const int32_t *table, int64_t n)
{
    int64_t pairs = 0;
    for (int64_t i = 1; i < n; i++)
        pairs += table[i] == table[i - 1] + 1;
    return pairs;
}

static void tables_are_drawn(void)
{
    const struct shape s = shape_of("B=3 H=2 Sq=1 Sk=1000 page=7");
    const struct page_pool p = shape_pool(&s);
    CU_ASSERT_EQUAL(p.each, 143);
    CU_ASSERT_EQUAL(p.used, 429);
    CU_ASSERT_EQUAL(p.total, 429 + 53 + 1); /* an eighth more, and one that nobody has */
    CU_ASSERT_EQUAL(page_table_bytes(&s), 429 * 4);
    int32_t *a = xmalloc(page_table_bytes(&s)), *b = xmalloc(page_table_bytes(&s));
    page_table_fill(&s, 1, a);
    page_table_fill(&s, 1, b);
    CU_ASSERT_EQUAL(memcmp(a, b, page_table_bytes(&s)), 0);
    CU_ASSERT(is_injective(a, &p));
    CU_ASSERT(in_order(a, p.used) < 10);
    page_table_fill(&s, 2, b);
    CU_ASSERT(is_injective(b, &p));
    CU_ASSERT_NOT_EQUAL(memcmp(a, b, page_table_bytes(&s)), 0);
    struct shape ordered = s;
    ordered.pages = PAGES_ORDERED;
    page_table_fill(&ordered, 1, b);
    CU_ASSERT_EQUAL(in_order(b, p.used), p.used - 1);
    free(a);
    free(b);
}

/* ---- the pool ---- */

struct made {
    struct shape s;
    struct tensors t;
    int32_t *table;
    unsigned char *pool;
};

static struct made make(const char *text)
{
    struct made m = {.s = shape_of(text)};
    const struct problem p = {.shape = m.s, .seed = 5};
    CU_ASSERT_EQUAL_FATAL(tensors_make(&p, &m.t, NULL), ST_OK);
    m.table = xmalloc(page_table_bytes(&m.s));
    page_table_fill(&m.s, 5, m.table);
    m.pool = xmalloc(page_pool_bytes(&m.s));
    page_pool_fill(&m.s, m.table, m.t.k, m.pool);
    return m;
}

static void drop(struct made *m)
{
    tensors_free(&m->t);
    free(m->table);
    free(m->pool);
}

/* Finds a key as kernels do, by what they are given. */
static const unsigned char *key_of(const struct made *m, int64_t b, int64_t h, int64_t j)
{
    const struct PagedArgs a = paged_args(&m->s, 5, true);
    const int64_t page = m->table[b * a.pages + j / a.page];
    return m->pool + (size_t)(page * a.attn.k_stride[0] + h * a.attn.k_stride[1] +
                              j % a.page * a.attn.k_stride[2]) *
                         dtype_size(m->s.dtype);
}

/* Bytes of the pool that are not a NaN's: those of keys have at least one other. */
static int64_t rows_of_somebody(const struct made *m)
{
    const size_t row = (size_t)m->s.D * dtype_size(m->s.dtype), n = page_pool_bytes(&m->s) / row;
    int64_t found = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < row; k++)
            if (m->pool[i * row + k] != 0xff) {
                found++;
                break;
            }
    return found;
}

static const char *const shapes[] = {
    "B=2 H=4 Hkv=2 Sq=1 Sk=50 D=16 page=8 f16",
    "B=3 H=3 Sq=1 Sk=33 D=9 page=16 bf16 bshd", /* rows of no whole 16 bytes */
    "B=1 H=2 Sq=1 Sk=5 D=8 page=64 f32",        /* a page larger than its sequence */
    "B=2 H=1 Sq=1 Sk=7 D=24 page=1 f16 pages=ordered",
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

static void every_key_is_where_the_table_says(void)
{
    for (int i = 0; i < SHAPES; i++) {
        struct made m = make(shapes[i]);
        const struct shape *s = &m.s;
        const struct strides st = shape_strides(s, s->Hkv, s->Sk);
        const size_t size = dtype_size(s->dtype);
        int64_t wrong = 0;
        for (int64_t b = 0; b < s->B; b++)
            for (int64_t h = 0; h < s->Hkv; h++)
                for (int64_t j = 0; j < s->Sk; j++)
                    wrong += memcmp(key_of(&m, b, h, j),
                                    (char *)m.t.k + (size_t)(b * st.b + h * st.h + j * st.s) * size,
                                    (size_t)s->D * size) != 0;
        CU_ASSERT_EQUAL(wrong, 0);
        CU_ASSERT_EQUAL(rows_of_somebody(&m), s->B * s->Hkv * s->Sk);
        drop(&m);
    }
}

static void the_contiguous_have_no_table(void)
{
    const struct shape s = shape_of("B=2 H=4 Hkv=2 Sq=1 Sk=50 D=16 page=8 pages=both");
    const struct PagedArgs a = paged_args(&s, 1, false);
    const struct AttnArgs plain = attn_args(&s, 1);
    CU_ASSERT_EQUAL(memcmp(&a.attn, &plain, sizeof plain), 0);
    CU_ASSERT_PTR_NULL(a.table);
    CU_ASSERT_EQUAL(a.page, 0);
}

/* ---- kernels/pages/pages.ptx ---- */

/* As in backend/cuda/pools.c. */
struct pool_args {
    uint64_t from, pool, owners, differs;
    int64_t from_stride[3], pool_stride[3], rows;
    int32_t Hkv, page, each, Sk, row_bytes, pad;
};

struct ran {
    struct sim_memory *memory;
    struct pool_args args;
    uint64_t differs;
};

static uint64_t add(struct ran *r, const char *name, const void *data, size_t bytes)
{
    uint64_t at = 0;
    CU_ASSERT_EQUAL_FATAL(sim_memory_add(r->memory, name, bytes, &at, NULL), ST_OK);
    CU_ASSERT_FATAL(sim_memory_write(r->memory, at, data, bytes));
    return at;
}

static void put(int64_t dst[3], struct strides st, size_t size)
{
    dst[0] = st.b * (int64_t)size;
    dst[1] = st.h * (int64_t)size;
    dst[2] = st.s * (int64_t)size;
}

static struct ran prepare(const struct made *m)
{
    const struct shape *s = &m->s;
    const struct page_pool p = shape_pool(s);
    const size_t size = dtype_size(s->dtype);
    struct ran r = {.memory = sim_memory_new(8 << 20)};
    int32_t *owners = xcalloc((size_t)p.total, sizeof *owners);
    unsigned char *dirt = xcalloc(page_pool_bytes(s), 1);
    const uint32_t none = 0;
    page_owners(s, m->table, owners);
    r.args = (struct pool_args){.rows = p.total * s->Hkv * s->page,
                                .Hkv = (int32_t)s->Hkv,
                                .page = (int32_t)s->page,
                                .each = (int32_t)p.each,
                                .Sk = (int32_t)s->Sk,
                                .row_bytes = (int32_t)((size_t)s->D * size)};
    put(r.args.from_stride, shape_strides(s, s->Hkv, s->Sk), size);
    put(r.args.pool_stride, page_strides(s), size);
    r.args.from = add(&r, "from", m->t.k, m->t.kv_bytes);
    r.args.pool = add(&r, "pool", dirt, page_pool_bytes(s));
    r.args.owners = add(&r, "owners", owners, (size_t)p.total * sizeof *owners);
    r.differs = add(&r, "differs", &none, sizeof none);
    free(owners);
    free(dirt);
    return r;
}

/* Returns how many faults and hazards there were. */
static uint64_t launch(struct ran *r)
{
    const struct blob *b = blob_find("kernels/pages/pages.ptx");
    const struct sim_launch l = {
        .grid = {3, 1, 1}, .block = {256, 1, 1}, .params = &r->args, .param_bytes = sizeof r->args};
    const struct sim_options o = {.threads = 1, .hazards = true};
    struct sim_program *p = NULL;
    struct sim_result got = {0};
    struct err err = ERR_INIT;
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    enum status st = sim_program_new(b->data, blob_size(b), "attnscope_pool", &p, &err);
    if (st == ST_OK)
        st = sim_run(p, r->memory, &l, &o, &got, &err);
    if (st != ST_OK)
        printf("# %s\n", err.text);
    CU_ASSERT_EQUAL(st, ST_OK);
    const uint64_t found = got.faults + got.hazards;
    sim_result_clear(&got);
    sim_program_free(p);
    return found;
}

static uint32_t differs(struct ran *r)
{
    uint32_t x = 0;
    r->args.differs = r->differs;
    CU_ASSERT(sim_memory_write(r->memory, r->differs, &x, sizeof x));
    (void)launch(r); /* threads that all find a difference all write 1: a race of equals */
    CU_ASSERT(sim_memory_read(r->memory, r->differs, &x, sizeof x));
    return x;
}

static void the_gpu_fills_pools_as_the_host_does(void)
{
    for (int i = 0; i < SHAPES; i++) {
        struct made m = make(shapes[i]);
        struct ran r = prepare(&m);
        const size_t bytes = page_pool_bytes(&m.s);
        unsigned char *got = xcalloc(bytes, 1);
        CU_ASSERT_EQUAL(differs(&r), 1);
        r.args.differs = 0;
        CU_ASSERT_EQUAL(launch(&r), 0);
        CU_ASSERT(sim_memory_read(r.memory, r.args.pool, got, bytes));
        CU_ASSERT_EQUAL(memcmp(got, m.pool, bytes), 0);
        CU_ASSERT_EQUAL(differs(&r), 0);
        free(got);
        sim_memory_free(r.memory);
        drop(&m);
    }
}

/* A bit of a key, of a sequence's end, of a page that is nobody's. */
static void a_write_to_a_pool_is_seen(void)
{
    struct made m = make(shapes[0]);
    const size_t bytes = page_pool_bytes(&m.s);
    int found = 0;
    for (size_t at = 0; at < bytes; at += bytes / 7) {
        struct ran r = prepare(&m);
        unsigned char x = 0;
        CU_ASSERT(sim_memory_write(r.memory, r.args.pool, m.pool, bytes));
        CU_ASSERT_EQUAL(differs(&r), 0);
        x = m.pool[at] ^ 1;
        CU_ASSERT(sim_memory_write(r.memory, r.args.pool + at, &x, 1));
        found += differs(&r) == 1;
        sim_memory_free(r.memory);
    }
    CU_ASSERT(found >= 7);
    drop(&m);
}

static const struct tap_test tests[] = {
    {"page= and pages= are read and written", keys_are_read_and_written},
    {"a pool has limits", a_pool_has_limits},
    {"a table is drawn from the seed, and no page has two owners", tables_are_drawn},
    {"every key is where the table says, and all else is NaN", every_key_is_where_the_table_says},
    {"who takes no pages is given none", the_contiguous_have_no_table},
    {"pages.ptx fills a pool as the host does", the_gpu_fills_pools_as_the_host_does},
    {"pages.ptx sees a write to a pool", a_write_to_a_pool_is_seen},
};
TAP_MAIN("pages", tests)
