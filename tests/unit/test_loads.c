/* What launches ask of GPUs, remembered: each under its own kernel, parameters, shape and GPU; that it cannot be launched, too; more
 * than there is room for begins anew. And what auto says after others were asked about is what it says when asked first.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/ask/loads.h"

#include <stdlib.h>
#include <string.h>

#include "command/ask/automatic.h"
#include "command/ask/request.h"
#include "command/session.h"
#include "command/show/chosen.h"
#include "home.h"
#include "tap.h"

static struct session *session;

static const struct kernel_desc *desc(const char *name)
{
    const struct kernel *k = registry_find(session->services.registry, name);
    return k ? k->cuda : NULL;
}

static const struct device *gpu(const char *name)
{
    const struct device *d = NULL;
    (void)devices_get(session->services.devices, name, &d, NULL);
    return d;
}

static bool same(const struct loads_key *a, const struct loads_key *b)
{
    return !memcmp(a, b, sizeof *a);
}

static void test_keys(void)
{
    struct shape s = SHAPE_DEFAULT, t = s;
    t.Sk++;
    const struct loads_key k[] = {loads_key(desc("fa2"), NULL, &s, gpu("H200")),
                                  loads_key(desc("fa2"), NULL, &t, gpu("H200")),
                                  loads_key(desc("fa2"), NULL, &s, gpu("L4")),
                                  loads_key(desc("naive"), NULL, &s, gpu("H200")),
                                  loads_key(desc("fa2"), "", &s, gpu("H200")),
                                  loads_key(desc("fa2"), "BR=32", &s, gpu("H200"))};
    const struct loads_key again = loads_key(desc("fa2"), NULL, &s, gpu("H200"));
    CU_ASSERT(same(&k[0], &again));
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < i; j++)
            CU_ASSERT_FALSE(same(&k[i], &k[j]));
}

static void test_kept(void)
{
    enum { MANY = 20000 };
    struct loads *l = loads_new();
    struct nearby_load load = {.sms = 132}, got = {0};
    struct shape s = SHAPE_DEFAULT;
    bool can = true;
    struct loads_key key = loads_key(desc("fa2"), NULL, &s, gpu("H200"));
    CU_ASSERT_FALSE(loads_find(l, &key, &can, &got));
    loads_keep(l, &key, NULL);
    CU_ASSERT(loads_find(l, &key, &can, &got) && !can);
    loads_keep(l, &key, &load); /* it is known better now */
    CU_ASSERT(loads_find(l, &key, &can, &got) && can && got.sms == 132);
    int lost = 0;
    for (int i = 1; i <= MANY; i++) {
        s.Sk = i;
        load.blocks = i;
        key = loads_key(desc("fa2"), NULL, &s, gpu("H200"));
        loads_keep(l, &key, &load);
        lost += !loads_find(l, &key, &can, &got) || got.blocks != i;
    }
    CU_ASSERT_EQUAL(lost, 0); /* what came last is there */
    int old = 0;
    for (int i = 1; i <= MANY; i++) {
        s.Sk = i;
        key = loads_key(desc("fa2"), NULL, &s, gpu("H200"));
        if (loads_find(l, &key, &can, &got))
            old += 1 + MANY * (got.blocks != i); /* never another's */
    }
    CU_ASSERT(old > 0 && old < MANY / 2);
    loads_free(l);
    loads_free(NULL);
}

static void ask(struct session *s, const char *size, struct automatic_ranking *out)
{
    const struct request_word words[] = {{"S", size}, {"gpu", "H200"}, {NULL, NULL}};
    struct request r;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(request_of(s, "fa2", words, REQUEST_PLAN | REQUEST_FRESH, &r, &err),
                          ST_OK);
    automatic_rank(s, &r.problem, &r.options, true, out);
    request_clear(&r);
}

static void test_same(void)
{
    struct session *fresh = session_new("test");
    struct automatic_ranking a, b, other;
    ask(session, "320", &other);
    automatic_ranking_clear(&other);
    ask(session, "4k", &other);
    automatic_ranking_clear(&other);
    ask(session, "777", &a);
    ask(fresh, "777", &b);
    CU_ASSERT(a.n > 8 && a.n == b.n);
    for (size_t i = 0; i < a.n && i < b.n; i++) {
        CU_ASSERT_STRING_EQUAL(a.v[i].kernel->name, b.v[i].kernel->name);
        CU_ASSERT(a.v[i].us == b.v[i].us && a.v[i].error == b.v[i].error);
        CU_ASSERT(a.v[i].blocks == b.v[i].blocks && a.v[i].shapes == b.v[i].shapes);
    }
    automatic_ranking_clear(&a);
    automatic_ranking_clear(&b);
    session_free(fresh);
}

/* What the screen says of one that auto would not take. */
static void why(const char *batch, struct str *out)
{
    const struct request_word words[] = {{"B", batch}, {"H", "16"},     {"S", "4k"},
                                         {"D", "128"}, {"gpu", "H200"}, {NULL, NULL}};
    struct request r;
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL_FATAL(request_of(session, "fa2", words, REQUEST_PLAN | REQUEST_FRESH, &r, &err),
                          ST_OK);
    str_clear(out);
    chosen_why(session, &r, 0, out);
    request_clear(&r);
}

/* Figures that stand on one screen must not contradict each other. */
static void test_beside(void)
{
    struct str text = {0};
    why("2", &text); /* which is recorded: 25 times as long */
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "this one took 2"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), " times that when it was recorded."));
    why("3", &text); /* which is not */
    CU_ASSERT_PTR_NULL(strstr(str_text(&text), "recorded"));
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "give or take"));
    str_free(&text);
}

/* In the place of one that the shape rules out, on a GPU that has no list of times as on one that has. */
static void test_instead(void)
{
    static const char *const gpus[] = {"H200", "L4"};
    for (size_t i = 0; i < sizeof gpus / sizeof *gpus; i++) {
        const struct request_word words[] = {{"D", "1024"}, {"gpu", gpus[i]}, {NULL, NULL}};
        struct request r;
        struct err err = ERR_INIT;
        struct str text = {0};
        CU_ASSERT_EQUAL_FATAL(
            request_of(session, "fa2", words, REQUEST_PLAN | REQUEST_FRESH, &r, &err), ST_OK);
        chosen_instead(session, &r, &text);
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), " auto would take "));
        CU_ASSERT_PTR_NULL(strstr(str_text(&text), "take fa2"));
        CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&text), "give or take"));
        str_free(&text);
        request_clear(&r);
    }
}

static const struct tap_test tests[] = {
    {"each launch has a key of its own", test_keys},
    {"what is kept is found, and never another's", test_kept},
    {"auto says the same, whatever was asked before", test_same},
    {"what it says of another is what was recorded of that, or how sure it is", test_beside},
    {"where a kernel is ruled out it says what would be taken", test_instead},
};

static bool prepare(const char *home)
{
    (void)home;
    session = session_new("test");
    return session != NULL;
}

int main(void)
{
    const int rc = home_run("loads", prepare, tests, sizeof tests / sizeof *tests);
    session_free(session);
    return rc;
}
