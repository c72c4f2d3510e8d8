/* Rows as field tables: unknown is null, and back.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/record.h"

struct sample {
    char *kernel;
    int needs_optin;
    int64_t n;
    double median_us;
    json_t *grid;
};

static const struct field fields[] = {
    FIELD(FIELD_TEXT, sample, kernel, .doc = "name"),
    FIELD(FIELD_BOOL, sample, needs_optin, .doc = "truth"),
    FIELD(FIELD_INT, sample, n, .doc = "count"),
    FIELD(FIELD_REAL, sample, median_us, .digits = 4, .unit = "us", .doc = "time"),
    FIELD(FIELD_JSON, sample, grid, .doc = "anything"),
    {.name = NULL},
};

static char *dump(const struct sample *row)
{
    json_t *o = record_to_json(fields, row);
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    json_decref(o);
    return text;
}

static void dumps_as(const struct sample *row, const char *want)
{
    char *text = dump(row);
    CU_ASSERT_STRING_EQUAL(text, want);
    free(text);
}

static enum status load(struct sample *row, const char *text, struct err *err)
{
    json_t *o = json_loads(text, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL(o);
    const enum status st = record_from_json(fields, row, o, err);
    json_decref(o);
    return st;
}

static const char nothing[] =
    "{\"kernel\":null,\"needs_optin\":null,\"n\":null,\"median_us\":null,\"grid\":null}";

static void test_unknown(void)
{
    struct sample row;
    record_init(fields, &row);
    CU_ASSERT(!row.kernel && row.needs_optin == -1 && row.n == INT_UNKNOWN &&
              isnan(row.median_us) && !row.grid);
    dumps_as(&row, nothing);
    row.median_us = INFINITY; /* JSON has no infinity */
    dumps_as(&row, nothing);
    record_clear(fields, &row);
}

static void test_round_trip(void)
{
    static const char text[] = "{\"kernel\":\"fa2\",\"needs_optin\":true,\"n\":9007199254740993,"
                               "\"median_us\":4.25,\"grid\":[1,2,3]}";
    struct sample row;
    struct err err = ERR_INIT;
    record_init(fields, &row);
    CU_ASSERT_EQUAL(load(&row, text, &err), ST_OK);
    CU_ASSERT_STRING_EQUAL(row.kernel, "fa2");
    CU_ASSERT(row.needs_optin == 1 && row.n == INT64_C(9007199254740993) && row.median_us == 4.25);
    dumps_as(&row, text);
    CU_ASSERT_EQUAL(load(&row, nothing, &err), ST_OK); /* null makes unknown again */
    dumps_as(&row, nothing);
    record_clear(fields, &row);
}

static void test_partial(void)
{
    struct sample row;
    struct err err = ERR_INIT;
    record_init(fields, &row);
    CU_ASSERT_EQUAL(load(&row, "{\"n\":3,\"kernel\":\"a\"}", &err), ST_OK);
    CU_ASSERT_EQUAL(load(&row, "{\"median_us\":2,\"other\":1,\"n\":4.0}", &err), ST_OK);
    dumps_as(&row,
             "{\"kernel\":\"a\",\"needs_optin\":null,\"n\":4,\"median_us\":2.0,\"grid\":null}");
    record_clear(fields, &row);
    record_clear(fields, &row); /* twice is harmless */
}

static void test_wrong_types(void)
{
    static const char *const wrong[][2] = {
        {"{\"n\":9,\"kernel\":5}", "kernel must be text"},
        {"{\"n\":9,\"needs_optin\":1}", "needs_optin must be true or false"},
        {"{\"median_us\":1,\"n\":1.5}", "n must be a whole number"},
        {"{\"median_us\":1,\"n\":1e300}", "n must be a whole number"},
        {"{\"n\":9,\"median_us\":\"fast\"}", "median_us must be a number"},
        {"[1]", "object"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct sample row;
        struct err err = ERR_INIT;
        record_init(fields, &row);
        CU_ASSERT_EQUAL(load(&row, wrong[i][0], &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, wrong[i][1]));
        dumps_as(&row, nothing); /* untouched, though another member was good */
        record_clear(fields, &row);
    }
}

static void test_foreign_text(void)
{
    struct sample row;
    record_init(fields, &row);
    row.kernel = xstrdup("caf\xE9"); /* Latin-1 */
    dumps_as(&row, "{\"kernel\":\"caf<E9>\",\"needs_optin\":null,\"n\":null,\"median_us\":null,"
                   "\"grid\":null}");
    record_clear(fields, &row);
}

static void test_find(void)
{
    CU_ASSERT_PTR_EQUAL(field_find(fields, "median_us"), &fields[3]);
    CU_ASSERT_PTR_NULL(field_find(fields, "median"));
}

/* ---- keys ---- */

enum hue { HUE_RED, HUE_GREEN, HUE_BLUE };
struct knob {
    int64_t size, half;
    int threads;
    bool on;
    unsigned hue;
    double share;
    char *who;
    uint64_t bits;
};

static void half_follows(void *row)
{
    struct knob *k = row;
    k->half = k->size / 2;
}

static const struct field_hooks on_size = {.after = half_follows};
static const char *const hues[] = {"red", "green", "blue", NULL};
static const char *const hue_docs[] = {"warm", "in between", "cold"};

static const struct field keys[] = {
    FIELD(FIELD_INT, knob, size, .flags = FIELD_DOUBLES, .lo = 1, .hi = 4096, .hooks = &on_size),
    FIELD(FIELD_COUNT, knob, threads, .flags = FIELD_AUTO, .lo = 0, .hi = 64),
    FIELD(FIELD_FLAG, knob, on),
    FIELD(FIELD_WORD, knob, hue, .words = hues, .word_docs = hue_docs),
    FIELD(FIELD_REAL, knob, share, .flags = FIELD_PERCENT, .lo = 0, .hi = 1, .example = "5%"),
    FIELD(FIELD_TEXT, knob, who, .flags = FIELD_AUTO | FIELD_LOCAL),
    FIELD(FIELD_BITS, knob, bits),
    {.name = NULL},
};

static bool reads(const struct knob *k, const char *name, const char *want)
{
    char *text = field_text(field_find(keys, name), k);
    const bool same = strcmp(text, want) == 0;
    if (!same)
        printf("# %s: %s, not %s\n", name, text, want);
    free(text);
    return same;
}

static void test_set_and_get(void)
{
    static const char *const pairs[][3] = {
        {"size", "1k", "1024"},  {"threads", "8", "8"},   {"threads", "auto", "auto"},
        {"on", "true", "yes"},   {"hue", "blue", "blue"}, {"share", "2.5%", "2.5%"},
        {"who", "them", "them"}, {"who", "auto", "auto"}, {"bits", "7", "7"},
    };
    struct knob k = {.size = 2};
    struct err err = ERR_INIT;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        CU_ASSERT_EQUAL(field_set(field_find(keys, pairs[i][0]), &k, pairs[i][1], &err), ST_OK);
        CU_ASSERT(reads(&k, pairs[i][0], pairs[i][2]));
    }
    CU_ASSERT(k.size == 1024 && k.half == 512 && k.hue == HUE_BLUE && k.share == 0.025 && !k.who);
    CU_ASSERT_STRING_EQUAL(field_word_doc(&keys[3], "green"), "in between");
    CU_ASSERT_PTR_NULL(field_word_doc(&keys[3], "grey"));
    record_clear(keys, &k);
}

static void test_set_refused(void)
{
    static const char *const wrong[][3] = {
        {"size", "0", "size=0 is too small; the smallest is 1"},
        {"size", "8k", "size=8k is too large; the largest is 4k"},
        {"threads", "65", "the largest is 64"},
        {"on", "perhaps", "yes or no"},
        {"hue", "bleu", "hue has no value \"bleu\"; did you mean \"blue\"?"},
        {"hue", "octarine", "it has red, green, blue"},
        {"share", "2", "share must lie between 0 and 1, for example share=5%; it is 2"},
    };
    struct knob k = {.size = 2, .hue = HUE_GREEN, .share = 0.5};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct err err = ERR_INIT;
        CU_ASSERT_EQUAL(field_set(field_find(keys, wrong[i][0]), &k, wrong[i][1], &err), ST_USAGE);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, wrong[i][2]));
    }
    CU_ASSERT(k.size == 2 && k.hue == HUE_GREEN && k.share == 0.5);
}

static void test_step(void)
{
    struct knob k = {.size = 2, .hue = HUE_BLUE};
    const struct field *size = &keys[0], *threads = &keys[1];
    field_step(size, &k, 1);
    CU_ASSERT(k.size == 4 && k.half == 2);
    field_step(&keys[3], &k, 1); /* words go round */
    CU_ASSERT_EQUAL(k.hue, HUE_RED);
    field_step(threads, &k, 1);
    field_step(threads, &k, 1);
    CU_ASSERT_EQUAL(k.threads, 2);
    CU_ASSERT_EQUAL(field_check(size, &k, NULL), ST_OK);
    k.size = 1;
    field_step(size, &k, -1);
    CU_ASSERT_EQUAL(field_check(size, &k, NULL), ST_USAGE);
    record_clear(keys, &k);
}

/* What another program sends: all of it, in its ranges; what stays here is not asked for. */
static void test_strict(void)
{
    static const char *const wrong[][2] = {
        {"{\"size\":9.0}", "\"size\" must be a whole number from 1 to 4096"},
        {"{\"size\":5000}", "\"size\" must be"},
        {"{\"threads\":65}", "threads"},
        {"{\"on\":1}", "\"on\" must be true or false"},
        {"{\"hue\":\"grey\"}", "\"hue\" must be one of red, green, blue"},
        {"{\"hue\":null}", "hue"},
        {"{\"share\":1.5}", "a number from 0 to 1"},
    };
    struct knob k = {.size = 8, .hue = HUE_BLUE, .bits = UINT64_MAX - 1, .who = xstrdup("me")},
                back = {0};
    struct err err = ERR_INIT;
    json_t *good = record_to_json(keys, &k);
    CU_ASSERT_PTR_NULL(json_object_get(good, "who"));
    CU_ASSERT_EQUAL(record_read(keys, &back, good, "a knob", &err), ST_OK);
    CU_ASSERT_FALSE(record_equal(keys, &k, &back)); /* who */
    field_copy(&keys[5], &back, &k);
    CU_ASSERT_TRUE(record_equal(keys, &k, &back));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        json_t *bad = json_copy(good), *change = json_loads(wrong[i][0], 0, NULL);
        json_object_update(bad, change);
        CU_ASSERT_EQUAL(record_read(keys, &back, bad, "a knob", &err), ST_USAGE);
        CU_ASSERT(strstr(err.text, wrong[i][1]) && str_starts(err.text, "a knob: "));
        CU_ASSERT_TRUE(record_equal(keys, &k, &back));
        json_decref(bad);
        json_decref(change);
    }
    json_object_del(good, "on");
    CU_ASSERT_EQUAL(record_read(keys, &back, good, "a knob", &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "\"on\" is missing"));
    json_decref(good);
    record_clear(keys, &k);
    record_clear(keys, &back);
}

static json_t *made_json(const void *row)
{
    return json_integer(((const struct knob *)row)->size * 2);
}

static const struct field made[] = {
    FIELD_MADE("twice", made_json, "twice the size"),
    FIELD(FIELD_INT, knob, size),
    {.name = NULL},
};

/* A field that a function makes is written and never read: there is nowhere to put it. */
static void test_made(void)
{
    struct knob k = {.size = 3}, back;
    struct err err = ERR_INIT;
    record_init(made, &back);
    json_t *o = record_to_json(made, &k);
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(o, "twice")), 6);
    json_object_set_new(o, "twice", json_string("x"));
    CU_ASSERT_EQUAL(record_from_json(made, &back, o, &err), ST_OK);
    CU_ASSERT_EQUAL(back.size, 3);
    CU_ASSERT_TRUE(record_equal(made, &k, &back));
    record_clear(made, &back);
    CU_ASSERT_EQUAL(back.size, INT_UNKNOWN);
    json_decref(o);
}

/* A whole number with words is one of them; what an axis of a sweep begins with. */
static void test_choice(void)
{
    struct picked {
        int64_t which, tile, pad, few;
    };
    static const char *const ways[] = {"idle", "duplicate", NULL};
    static const struct field choice[] = {
        FIELD(FIELD_INT, picked, which, .words = ways, .hi = 1),
        FIELD(FIELD_INT, picked, tile, .flags = FIELD_DOUBLES, .lo = 16, .hi = 256),
        FIELD(FIELD_INT, picked, pad, .hi = 8),
        FIELD(FIELD_INT, picked, few, .lo = 1, .hi = 4),
        {.name = NULL},
    };
    static const char *const tries[] = {"idle,duplicate", "16..256:x2", "0,1,2,4,8", "1..4:x2"};
    struct picked p = {.which = 0, .tile = 64, .few = 2};
    struct err err = ERR_INIT;
    CU_ASSERT_EQUAL(field_set(&choice[0], &p, "DUPLICATE", &err), ST_OK);
    CU_ASSERT_EQUAL(p.which, 1);
    CU_ASSERT_EQUAL(field_set(&choice[0], &p, "0", &err), ST_USAGE);
    CU_ASSERT_STRING_EQUAL(err.text, "which has no value \"0\"; it has idle, duplicate");
    json_t *row = record_to_json(choice, &p);
    CU_ASSERT_STRING_EQUAL(json_string_value(json_object_get(row, "which")), "duplicate");
    struct picked back = {0};
    CU_ASSERT_EQUAL(record_read(choice, &back, row, "a choice", &err), ST_OK);
    CU_ASSERT_TRUE(record_equal(choice, &p, &back));
    json_object_set_new(row, "which", json_integer(1));
    CU_ASSERT_EQUAL(record_read(choice, &back, row, "a choice", &err), ST_USAGE);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "one of idle, duplicate"));
    json_decref(row);
    field_step(&choice[0], &p, 1);
    CU_ASSERT_EQUAL(p.which, 0);
    for (size_t i = 0; choice[i].name; i++) {
        struct str text = {0};
        field_tries(&choice[i], &p, &text);
        CU_ASSERT_STRING_EQUAL(str_text(&text), tries[i]);
        str_free(&text);
    }
}

static const struct tap_test tests[] = {
    {"whole numbers with words, and values to try", test_choice},
    {"fields that are made", test_made},
    {"set and get", test_set_and_get},
    {"refused, with range, words and the nearest", test_set_refused},
    {"steps", test_step},
    {"the strict reading of what is sent", test_strict},
    {"unknown is null", test_unknown},
    {"a whole row comes back", test_round_trip},
    {"members that are absent stay", test_partial},
    {"wrong types leave the row alone", test_wrong_types},
    {"text that is not UTF-8", test_foreign_text},
    {"finding a field", test_find},
};

TAP_MAIN("record", tests)
