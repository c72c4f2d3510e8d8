/* What was timed is found by device, cache and class of shapes, else of the nearest shape; the user's before what is shipped; of
 * several what is expected to be fastest. What is shipped is of today's sources.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/tuned.h"

#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/path.h"
#include "base/record.h"
#include "home.h"
#include "kernel/blob.h"
#include "kernel/registry.h"

static struct shape shape_of(const char *text)
{
    struct shape s = SHAPE_DEFAULT;
    CU_ASSERT_EQUAL(shape_parse(text, &s, NULL), ST_OK);
    return s;
}

static struct tuned made(const char *shape, const char *kernel, double us)
{
    struct tuned t;
    const struct shape s = shape_of(shape);
    record_init(tuned_fields, &t);
    t.device = xstrdup("X1");
    t.backend = xstrdup("cuda");
    t.l2 = xstrdup("cold");
    t.alike = tuned_class(&s);
    t.shape = xstrdup(shape);
    t.kernel = xstrdup(kernel);
    t.hash = xstrdup("0123");
    t.median_us = us;
    return t;
}

static void keep(struct tunings *x, const char *shape, const char *kernel, double us)
{
    struct err err = ERR_INIT;
    char *path = NULL;
    struct tuned t = made(shape, kernel, us);
    CU_ASSERT_EQUAL(tunings_keep(x, &t, 1, &path, &err), ST_OK);
    free(path);
    tuned_clear(&t);
}

static struct tuned_found ask(struct tunings *x, const char *device, const char *shape,
                              double (*expect)(const void *, const struct tuned *,
                                               const struct shape *))
{
    const struct shape s = shape_of(shape);
    const struct tuned_query q = {
        .device = device, .backend = "cuda", .l2 = "cold", .shape = &s, .expect = expect};
    return tunings_find(x, &q);
}

static const char *name(struct tunings *x, const char *device, const char *shape)
{
    const struct tuned_found f = ask(x, device, shape, NULL);
    return f.t ? f.t->kernel : "none";
}

static void test_nearest(void)
{
    struct tunings *x = tunings_new();
    keep(x, "H=8 S=512", "fa2", 10);
    keep(x, "H=8 S=512", "splitkv", 9);
    keep(x, "H=8 S=2k", "fa2_mma", 90);
    CU_ASSERT_STRING_EQUAL(name(x, "X1", "H=8 S=512"), "splitkv");
    CU_ASSERT_STRING_EQUAL(name(x, "X1", "H=8 S=600"), "splitkv");
    CU_ASSERT(ask(x, "X1", "H=8 S=600", NULL).apart == 0);
    CU_ASSERT_STRING_EQUAL(name(x, "X1", "H=8 S=900"), "splitkv"); /* 512 is nearer than 2048 */
    CU_ASSERT_STRING_EQUAL(name(x, "X1", "H=8 S=1200"), "fa2_mma");
    CU_ASSERT_DOUBLE_EQUAL(ask(x, "X1", "H=8 S=1k", NULL).apart, 2, 1e-9);
    CU_ASSERT_STRING_EQUAL(name(x, "X1", "H=8 S=512 bf16"), "splitkv"); /* f16's */
    static const char *const none[] = {"H=8 S=16k",        "H=8 S=512 f32",  "H=8 S=512 D=128",
                                       "H=8 S=512 causal", "H=8 S=512 bshd", "H=128 S=512"};
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        CU_ASSERT_STRING_EQUAL(name(x, "X1", none[i]), "none");
    CU_ASSERT_STRING_EQUAL(name(x, "X2", "H=8 S=512"), "none");
    CU_ASSERT_STRING_EQUAL(name(x, NULL, "H=8 S=512"), "splitkv");
    CU_ASSERT_STRING_EQUAL(name(x, NULL, "H=8 S=900"), "none"); /* whose it is, nobody knows */
    tunings_free(x);
}

static double fa2_wins(const void *ctx, const struct tuned *t, const struct shape *at)
{
    (void)ctx;
    CU_ASSERT(at && at->Sq == at->Sk);
    return !strcmp(t->kernel, "fa2") ? 1 : !strcmp(t->kernel, "splitkv") ? 2 : INFINITY;
}

static void test_expected(void)
{
    struct tunings *x = tunings_new(); /* reads what was kept above */
    CU_ASSERT_STRING_EQUAL(ask(x, "X1", "H=8 S=512", fa2_wins).t->kernel, "fa2");
    const struct tuned_found f = ask(x, "X1", "H=8 S=1200", fa2_wins); /* the nearest cannot run */
    CU_ASSERT_STRING_EQUAL(f.t ? f.t->kernel : "none", "fa2");
    CU_ASSERT(!f.shipped);
    tunings_free(x);
}

struct count {
    const char *kernel;
    size_t n;
};

static void count(void *ctx, const struct tuned_seen *x)
{
    struct count *c = ctx;
    c->n += !x->shipped && !strcmp(x->t->kernel, c->kernel);
}

static size_t own_of(struct tunings *x, const char *kernel)
{
    struct count c = {kernel, 0};
    tunings_each(x, count, &c);
    return c.n;
}

/* Sessions that read the file before the others wrote it: what each keeps stays. */
static void test_at_once(void)
{
    enum { SESSIONS = 4, EACH = 6 };
    static const char *const names[SESSIONS] = {"fa2", "splitkv", "naive", "fa2_mma"};
    pid_t pid[SESSIONS];
    struct tunings *before = tunings_new();
    (void)name(before, "X1", "H=8 S=512"); /* it has read what there is */
    for (int i = 0; i < SESSIONS; i++)
        if (!(pid[i] = fork())) {
            for (int k = 0; k < EACH; k++) {
                char shape[32];
                snprintf(shape, sizeof shape, "H=%d S=%d D=48", 1 << k, 64 << i);
                keep(before, shape, names[i], 1 + k);
            }
            _exit(0);
        }
    for (int i = 0; i < SESSIONS; i++) {
        int how = -1;
        CU_ASSERT(waitpid(pid[i], &how, 0) == pid[i] && how == 0);
    }
    keep(before, "H=1 S=32 D=80", "qtile_seq", 3);
    CU_ASSERT_EQUAL(own_of(before, "qtile_seq"), 1);
    tunings_free(before);
    struct tunings *x = tunings_new();
    for (int i = 0; i < SESSIONS; i++)
        for (int k = 0; k < EACH; k++) {
            char shape[32];
            snprintf(shape, sizeof shape, "H=%d S=%d D=48", 1 << k, 64 << i);
            CU_ASSERT_STRING_EQUAL(name(x, "X1", shape), names[i]);
        }
    CU_ASSERT_EQUAL(own_of(x, "qtile_seq"), 1);
    tunings_free(x);
}

/* A lock that somebody holds is waited for, and not for ever. */
static void test_held(void)
{
    struct err err = ERR_INIT;
    struct tunings *x = tunings_new();
    struct tuned t = made("H=8 S=512 D=112", "fa2", 10);
    char *path = NULL, *lock;
    CU_ASSERT_EQUAL(tunings_keep(x, &t, 1, &path, &err), ST_OK);
    lock = xasprintf("%s.lock", path);
    free(path);
    const size_t had = own_of(x, "naive");
    const int fd = open(lock, O_RDWR);
    CU_ASSERT_FATAL(fd >= 0 && flock(fd, LOCK_EX) == 0);
    free(t.kernel);
    t.kernel = xstrdup("naive");
    CU_ASSERT_EQUAL(tunings_keep(x, &t, 1, &path, &err), ST_FAIL);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "another session has been writing"));
    CU_ASSERT_EQUAL(own_of(x, "naive"), had + 1); /* but it is known here */
    free(path);
    close(fd);
    CU_ASSERT_EQUAL(tunings_keep(x, &t, 1, &path, &err), ST_OK);
    free(path);
    free(lock);
    tuned_clear(&t);
    tunings_free(x);
}

/* What was timed of one shape says nothing of its class, replaces only itself, and is bounded in number. */
static void test_of_shape(void)
{
    struct tunings *x = tunings_new();
    struct tuned t[2] = {made("H=8 S=700 D=96", "fa2", 10), made("H=8 S=700 D=96", "splitkv", 12)};
    char *path = NULL;
    for (int i = 0; i < 2; i++)
        t[i].scope = xstrdup(tuned_scope_shape);
    CU_ASSERT_EQUAL(tunings_keep(x, t, 2, &path, NULL), ST_OK);
    free(path);
    CU_ASSERT(ask(x, "X1", "H=8 S=700 D=96", NULL).apart == 0);
    CU_ASSERT(ask(x, "X1", "H=8 S=701 D=96", NULL).apart > 0); /* of the same class */
    CU_ASSERT_STRING_EQUAL(name(x, "X1", "H=8 S=700 D=96"), "fa2");
    const size_t had = own_of(x, "fa2");
    t[0].median_us = 14;
    CU_ASSERT_EQUAL(tunings_keep(x, t, 1, &path, NULL), ST_OK);
    free(path);
    CU_ASSERT_EQUAL(own_of(x, "fa2"), had);
    CU_ASSERT_STRING_EQUAL(name(x, "X1", "H=8 S=700 D=96"), "splitkv");
    keep(x, "H=8 S=700 D=96", "fa2_mma", 90); /* of the class: beside them */
    CU_ASSERT_STRING_EQUAL(name(x, "X1", "H=8 S=700 D=96"), "splitkv");
    CU_ASSERT_STRING_EQUAL(name(x, "X1", "H=8 S=701 D=96"), "fa2_mma");
    tuned_clear(&t[0]);
    tuned_clear(&t[1]);
    tunings_free(x);
}

/* Of single shapes a device has room for 2000: those that came first go, and nobody else's. */
static void test_room(void)
{
    enum { ROOM = 2000, MORE = 3 };
    struct tunings *x = tunings_new();
    struct tuned *t = xcalloc(ROOM + MORE, sizeof *t);
    char *path = NULL;
    for (int i = 0; i < ROOM + MORE; i++) {
        char shape[64];
        snprintf(shape, sizeof shape, "H=8 S=%d D=80", 1000 + i);
        t[i] = made(shape, "roomy", 10);
        t[i].scope = xstrdup(tuned_scope_shape);
        free(t[i].device);
        t[i].device = xstrdup(i == 0 ? "X3" : "X2");
    }
    CU_ASSERT_EQUAL(tunings_keep(x, t, 1, &path, NULL), ST_OK);
    free(path);
    CU_ASSERT_EQUAL(tunings_keep(x, t + 1, ROOM, &path, NULL), ST_OK);
    free(path);
    CU_ASSERT_EQUAL(own_of(x, "roomy"), 1 + ROOM);
    CU_ASSERT_EQUAL(tunings_keep(x, t + 1 + ROOM, MORE - 1, &path, NULL), ST_OK);
    free(path);
    CU_ASSERT_EQUAL(own_of(x, "roomy"), 1 + ROOM);
    CU_ASSERT(ask(x, "X3", "H=8 S=1000 D=80", NULL).apart == 0);
    CU_ASSERT_FALSE(ask(x, "X2", "H=8 S=1001 D=80", NULL).apart == 0);
    CU_ASSERT_FALSE(ask(x, "X2", "H=8 S=1002 D=80", NULL).apart == 0);
    CU_ASSERT(ask(x, "X2", "H=8 S=1003 D=80", NULL).apart == 0);
    CU_ASSERT(ask(x, "X2", "H=8 S=3002 D=80", NULL).apart == 0);
    for (int i = 0; i < ROOM + MORE; i++)
        tuned_clear(&t[i]);
    free(t);
    tunings_free(x);
}

/* Names that differ only in what no file name has share a file, and neither takes the other's place in it. */
static void test_one_file(void)
{
    static const char *const devices[] = {
        "Some Processor 9999X 64-Core with a long name, and more of it @ 2.70GHz, 16 threads, AVX2",
        "Some Processor 9999X 64-Core with a long name, and more of it @ 2.70GHz, 16 threads, "
        "AVX-512"};
    struct tunings *x = tunings_new();
    for (int i = 0; i < 2; i++) {
        char *path = NULL;
        struct tuned t = made("H=8 S=512", i ? "splitkv" : "fa2", 10);
        free(t.device);
        t.device = xstrdup(devices[i]);
        CU_ASSERT_EQUAL(tunings_keep(x, &t, 1, &path, NULL), ST_OK);
        free(path);
        tuned_clear(&t);
    }
    tunings_free(x);
    x = tunings_new();
    CU_ASSERT_STRING_EQUAL(name(x, devices[0], "H=8 S=512"), "fa2");
    CU_ASSERT_STRING_EQUAL(name(x, devices[1], "H=8 S=512"), "splitkv");
    tunings_free(x);
}

static void check_line(const struct registry *r, const json_t *line)
{
    const char *kernel = json_string_value(json_object_get(line, "kernel"));
    const struct kernel *k = kernel ? registry_find(r, kernel) : NULL;
    const struct shape s = shape_of(json_string_value(json_object_get(line, "shape")));
    CU_ASSERT_PTR_NOT_NULL_FATAL(k);
    CU_ASSERT_PTR_NOT_NULL_FATAL(k->cuda);
    char *hash = xasprintf("%016llx", (unsigned long long)desc_hash(k->cuda));
    CU_ASSERT_STRING_EQUAL(hash, json_string_value(json_object_get(line, "hash")));
    free(hash);
    struct param_values v = desc_defaults_for(k->cuda, &s);
    const char *own = json_string_value(json_object_get(line, "own"));
    char *copy = own ? xstrdup(own) : NULL, *rest = copy, *pair;
    while ((pair = strsep(&rest, "@"))) {
        char *value = strchr(pair, '=');
        CU_ASSERT_PTR_NOT_NULL_FATAL(value);
        *value++ = '\0';
        CU_ASSERT_EQUAL(desc_param_set(k->cuda, &v, pair, value, NULL), ST_OK);
    }
    free(copy);
    CU_ASSERT_PTR_NULL(desc_supports(k->cuda, &s, &v, 0, NULL));
}

struct wish {
    const char *device;
    int asked;
};

static bool is_wished(void *ctx, const char *device)
{
    struct wish *w = ctx;
    w->asked++;
    return !strcmp(device, w->device);
}

static bool has(const struct tunings *x, const char *device)
{
    struct wish w = {.device = device};
    return tunings_have_device(x, is_wished, &w);
}

static void write_list(const char *name, const char *text)
{
    char *folder = path_in(PATH_DATA, "tuned"), *path = xasprintf("%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fputs(text, f);
    fclose(f);
    free(folder);
    free(path);
}

/* The same answer by the text of the lists and, once they were read, by their entries. */
static void test_devices(void)
{
    struct tunings *x = tunings_new();
    keep(x, "H=8 S=512", "fa2", 10);
    tunings_free(x);
    x = tunings_new();
    for (int read = 0; read < 2; read++) {
        CU_ASSERT(has(x, "X1") && has(x, "H200"));
        CU_ASSERT(!has(x, "X") && !has(x, "X11") && !has(x, "device") && !has(x, ""));
        CU_ASSERT(strcmp(name(x, "X1", "H=8 S=512"), "none") != 0); /* reads them */
    }
    struct wish w = {.device = "none of them"};
    tunings_free(x);
    x = tunings_new();
    CU_ASSERT(!tunings_have_device(x, is_wished, &w));
    CU_ASSERT(w.asked > 0 && w.asked < 20); /* once where many stand together */
    write_list("other.json",
               "{\"tuned\": [{\"device\" :\n  \"Y 2\"}, {\"device\": 3}, {\"device\"");
    CU_ASSERT(has(x, "Y 2") && !has(x, "3") && has(x, "X1"));
    write_list("other.json", "{\"tuned\": [{\"device\": \"Z\\u0033\"}]}");
    CU_ASSERT(has(x, "none of them")); /* an escape: who reads the entries will know */
    write_list("other.json", "");
    tunings_free(x);
}

static void test_shipped(void)
{
    struct registry *r = registry_new();
    const struct blob *b = blob_find("lessons/recordings/h200.tuned");
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    json_t *o = json_loadb(b->data, blob_size(b), 0, NULL);
    const json_t *list = json_object_get(o, "tuned"), *line;
    size_t i;
    CU_ASSERT(json_array_size(list) > 100);
    json_array_foreach(list, i, line) check_line(r, line);
    json_decref(o);
    registry_free(r);

    struct tunings *x = tunings_new();
    struct tuned_found f = ask(x, "H200", "H=8 S=4k", NULL);
    CU_ASSERT(f.t && f.shipped && f.apart == 0);
    CU_ASSERT_PTR_NULL(ask(x, "L4", "H=8 S=4k", NULL).t);
    CU_ASSERT_PTR_NULL(
        ask(x, NULL, "H=8 S=4k", NULL).t);         /* of a GPU that nobody knows it says nothing */
    struct tuned t = made("H=8 S=4k", "fa2", 1e6); /* slow, and yet the user's */
    char *path = NULL;
    free(t.device);
    t.device = xstrdup("H200");
    CU_ASSERT_EQUAL(tunings_keep(x, &t, 1, &path, NULL), ST_OK);
    f = ask(x, "H200", "H=8 S=4k", NULL);
    CU_ASSERT(f.t && !f.shipped && !strcmp(f.t->kernel, "fa2"));
    CU_ASSERT(ask(x, "H200", "H=8 S=512", NULL).shipped); /* and nothing else went */
    free(path);
    tuned_clear(&t);
    tunings_free(x);
}

static const struct tap_test tests[] = {
    {"the class, else the nearest shape", test_nearest},
    {"what is expected to be fastest", test_expected},
    {"sessions that keep something at once", test_at_once},
    {"a lock that is held", test_held},
    {"of one shape", test_of_shape},
    {"room for single shapes", test_room},
    {"devices that share a file", test_one_file},
    {"devices, without entries", test_devices},
    {"what is shipped", test_shipped},
};
HOME_MAIN("tuned", tests)
