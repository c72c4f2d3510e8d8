/* Rows: structs of a table of fields, held by many, read by name; types that are chains and orders.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/number.h"
#include "base/rowset.h"

struct lamp {
    char *name;
    double watts;
    int64_t hours;
    unsigned colour;
    json_t *places;
    char *secret;
};
static const char *const colours[] = {"white", "warm", NULL};
static json_t *twice(const void *row)
{
    return json_real(2 * ((const struct lamp *)row)->watts);
}
static const struct field lamp_fields[] = {
    FIELD(FIELD_TEXT, lamp, name),
    FIELD(FIELD_REAL, lamp, watts, .unit = "W"),
    FIELD(FIELD_INT, lamp, hours),
    FIELD(FIELD_WORD, lamp, colour, .words = colours),
    FIELD(FIELD_JSON, lamp, places),
    FIELD_MADE("twice", twice, NULL),
    FIELD(FIELD_TEXT, lamp, secret, .flags = FIELD_UNKEPT),
    {.name = NULL},
};
static const struct row_type lamp_type = ROW_TYPE(lamp, {lamp_fields, 0});

/* One that has more, and gives `hours` itself. */
struct lit {
    struct lamp lamp;
    char *since, *axis;
};
static const struct field lit_fields[] = {
    FIELD_AT("hours", FIELD_TEXT, lit, since),
    FIELD(FIELD_TEXT, lit, axis, .flags = FIELD_NUMERIC),
    {.name = NULL},
};
static const struct row_type lit_type =
    ROW_TYPE(lit, {lit_fields, 0}, {lamp_fields, offsetof(struct lit, lamp)});

static void fill(struct lamp *row)
{
    row->name = xstrdup("desk");
    row->watts = 4.5;
    row->hours = 12;
    row->colour = 1;
    row->places = json_pack("[s,s]", "left", "right");
    row->secret = xstrdup("nobody sees it");
}

static void dumps_as(const struct row *row, const char *want)
{
    json_t *o = row_json(row);
    char *text = json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER);
    CU_ASSERT_STRING_EQUAL(text, want);
    if (strcmp(text, want) != 0)
        printf("# got:  %s\n# want: %s\n", text, want);
    free(text);
    json_decref(o);
}

static void test_new(void)
{
    struct rowset rows = {.type = &lamp_type};
    const struct lamp *unknown = rowset_add(&rows);
    CU_ASSERT_PTR_NULL(unknown->name);
    CU_ASSERT(isnan(unknown->watts));
    CU_ASSERT_EQUAL(unknown->hours, INT_UNKNOWN);
    dumps_as(rowset_at(&rows, 0), "{\"name\":null,\"watts\":null,\"hours\":null,"
                                  "\"colour\":\"white\",\"places\":null,\"twice\":null}");
    fill(rowset_add(&rows));
    dumps_as(rowset_at(&rows, 1),
             "{\"name\":\"desk\",\"watts\":4.5,\"hours\":12,\"colour\":\"warm\","
             "\"places\":[\"left\",\"right\"],\"twice\":9.0}");
    CU_ASSERT_PTR_NULL(rowset_at(&rows, 2));
    CU_ASSERT_PTR_EQUAL(row_as(rowset_at(&rows, 0), &lamp_type), unknown);
    CU_ASSERT_PTR_NULL(row_as(rowset_at(&rows, 0), &lit_type));
    rowset_clear(&rows);
    CU_ASSERT_EQUAL(rows.n, 0);
    CU_ASSERT_PTR_EQUAL(rows.type, &lamp_type);
}

static void test_by_name(void)
{
    struct rowset rows = {.type = &lamp_type};
    fill(rowset_add(&rows));
    const struct row *row = rowset_at(&rows, 0);
    CU_ASSERT_EQUAL(row_real(row, "watts"), 4.5);
    CU_ASSERT_EQUAL(row_real(row, "hours"), 12);
    CU_ASSERT(isnan(row_real(row, "name")));
    CU_ASSERT(isnan(row_real(row, "colour"))); /* a word is none, though it has an index */
    CU_ASSERT(isnan(row_real(row, "volts")));
    CU_ASSERT_STRING_EQUAL(row_text(row, "name"), "desk");
    CU_ASSERT_STRING_EQUAL(row_text(row, "colour"), "warm");
    CU_ASSERT_PTR_NULL(row_text(row, "watts"));
    CU_ASSERT(row_is(row, "name", "desk") && !row_is(row, "name", "des"));
    CU_ASSERT(!row_is(row, "volts", "desk") && !row_is(row, "name", NULL));
    CU_ASSERT(row_has(row, "twice") && !row_has(row, "volts"));
    CU_ASSERT(!row_has(row, "secret")); /* neither stored nor printed */
    CU_ASSERT_PTR_NULL(row_value(row, "secret"));
    CU_ASSERT(isnan(row_real(NULL, "watts")) && !row_text(NULL, "name") && !row_name(NULL, 0));
    CU_ASSERT_STRING_EQUAL(row_name(row, 5), "twice");
    CU_ASSERT_PTR_NULL(row_name(row, 6));
    CU_ASSERT_STRING_EQUAL(row_field(row, "watts")->unit, "W");
    rowset_clear(&rows);
}

static void test_known(void)
{
    struct row *row = row_new(&lamp_type);
    struct lamp *lamp = row_data(row);
    CU_ASSERT(!row_known(row, "name") && !row_known(row, "watts") && !row_known(row, "twice"));
    CU_ASSERT(!row_known(row, "volts"));
    lamp->name = xstrdup("");
    lamp->watts = 1;
    CU_ASSERT(!row_known(row, "name")); /* shows nothing */
    CU_ASSERT(row_known(row, "watts") && row_known(row, "twice"));
    lamp->watts = INFINITY;
    CU_ASSERT(isnan(row_real(row, "watts"))); /* as JSON has none */
    row_drop(row);
}

/* Many hold a row, the last one frees it (ASan sees whether), and a copy is one's own. */
static void test_holders(void)
{
    struct rowset rows = {.type = &lamp_type}, more = {0};
    fill(rowset_add(&rows));
    fill(rowset_add(&rows));
    rowset_append(&more, &rows);
    CU_ASSERT_PTR_EQUAL(rowset_at(&rows, 1), rowset_at(&more, 1));
    struct row *copy = row_copy(rowset_at(&rows, 0));
    row_put_text(copy, "name", "roof");
    row_put_real(copy, "watts", 7);
    row_put_text(copy, "volts", "none has it");
    rowset_forget(&rows, 1);
    CU_ASSERT_EQUAL(rows.n, 1);
    CU_ASSERT_PTR_EQUAL(rowset_at(&rows, 0), rowset_at(&more, 1));
    rowset_clear(&rows);
    CU_ASSERT(row_is(rowset_at(&more, 0), "name", "desk"));
    CU_ASSERT(row_is(copy, "name", "roof") && row_real(copy, "watts") == 7);
    CU_ASSERT(row_agrees(copy, rowset_at(&more, 0), "places"));
    CU_ASSERT(!row_agrees(copy, rowset_at(&more, 0), "name"));
    CU_ASSERT(row_agrees(copy, rowset_at(&more, 0), "volts"));
    CU_ASSERT_STRING_EQUAL(((const struct lamp *)row_read(copy))->secret, "nobody sees it");
    rowset_clear(&more);
    row_drop(copy);
}

static void test_move(void)
{
    struct rowset rows = {.type = &lamp_type};
    struct lamp lamp;
    record_init(lamp_fields, &lamp);
    fill(&lamp);
    rowset_move(&rows, &lamp);
    CU_ASSERT_PTR_NULL(lamp.name);
    CU_ASSERT(row_is(rowset_at(&rows, 0), "name", "desk"));
    rowset_clear(&rows);
}

static void test_chain(void)
{
    struct row *row = row_new(&lit_type);
    struct lit *lit = row_data(row);
    fill(&lit->lamp);
    lit->since = xstrdup("noon");
    lit->axis = xstrdup("4k");
    dumps_as(row, "{\"hours\":\"noon\",\"axis\":4096,\"name\":\"desk\",\"watts\":4.5,"
                  "\"colour\":\"warm\",\"places\":[\"left\",\"right\"],\"twice\":9.0}");
    CU_ASSERT_STRING_EQUAL(row_text(row, "hours"), "noon"); /* the first of two names */
    CU_ASSERT_EQUAL(row_real(row, "axis"), 4096);
    row_put_text(row, "axis", "causal");
    CU_ASSERT(isnan(row_real(row, "axis")));
    json_t *word = row_value(row, "axis");
    CU_ASSERT_STRING_EQUAL(json_string_value(word), "causal");
    json_decref(word);
    struct row *copy = row_copy(row);
    row_drop(row);
    CU_ASSERT_EQUAL(row_real(copy, "watts"), 4.5);
    row_drop(copy);
}

/* Fields in order, each with its place in the row; and members made unknown again. */
static void test_walk_and_forget(void)
{
    static const char *const order[] = {"axis", "watts", "volts", "name", NULL};
    struct row *row = row_new(&lit_type);
    struct row_walk all = {.type = &lit_type};
    const struct field *f;
    size_t at, n = 0;
    for (; (f = row_walk(&all, &at)); n++) {
        CU_ASSERT_STRING_EQUAL(f->name, row_name(row, n));
        CU_ASSERT_PTR_EQUAL(f, row_type_field(&lit_type, f->name, NULL));
        CU_ASSERT(at < sizeof(struct lit));
    }
    CU_ASSERT_PTR_NULL(row_name(row, n));
    CU_ASSERT_PTR_NULL(row_walk(&all, NULL)); /* stays at its end */
    struct row_type few = lit_type;
    few.order = order;
    struct row_walk some = {.type = &few};
    CU_ASSERT_STRING_EQUAL(row_walk(&some, NULL)->name, "axis");
    CU_ASSERT_STRING_EQUAL(row_walk(&some, NULL)->name, "watts");
    CU_ASSERT_STRING_EQUAL(row_walk(&some, NULL)->name, "name"); /* there are no volts */
    CU_ASSERT_PTR_NULL(row_walk(&some, NULL));
    fill(&((struct lit *)row_data(row))->lamp);
    row_forget(row, "watts");
    row_forget(row, "name");
    row_forget(row, "volts"); /* none: nothing happens */
    row_forget(row, "twice"); /* made of others */
    CU_ASSERT(!row_known(row, "watts") && !row_known(row, "name") && row_known(row, "colour"));
    row_drop(row);
}

/* A type made at run time outlives who made it as long as it has a row; its names are its own. */
static void test_own_type(void)
{
    char name[] = "BR";
    const struct field axes[] = {FIELD_AT(name, FIELD_TEXT, lit, axis, .flags = FIELD_NUMERIC),
                                 {.name = NULL}};
    const char *order[] = {"name", name, "volts", "watts", NULL};
    struct row_type like =
        ROW_TYPE(lit, {axes, 0}, {lamp_fields, offsetof(struct lit, lamp)}, {lit_fields, 0});
    like.order = order;
    struct row_type *type = row_type_new(&like);
    struct rowset rows = {.type = type};
    struct lit *lit = rowset_add(&rows);
    row_type_free(type);
    name[0] = 'X';
    order[0] = NULL;
    fill(&lit->lamp);
    lit->axis = xstrdup("64");
    const struct row *row = rowset_at(&rows, 0);
    dumps_as(row, "{\"name\":\"desk\",\"BR\":64,\"watts\":4.5}");
    CU_ASSERT(!row_has(row, "places") && !row_has(row, "volts"));
    CU_ASSERT_STRING_EQUAL(row_name(row, 2), "watts");
    CU_ASSERT_PTR_NULL(row_name(row, 3));
    rowset_clear(&rows); /* also of what the order does not show */
}

static void test_json(void)
{
    struct err err = ERR_INIT;
    json_t *o = json_pack("{s:s, s:i, s:i}", "name", "desk", "watts", 4, "volts", 230);
    struct row *row = row_from_json(&lamp_type, o, &err);
    CU_ASSERT_PTR_NOT_NULL_FATAL(row);
    CU_ASSERT_EQUAL(row_real(row, "watts"), 4);
    CU_ASSERT(!row_has(row, "volts"));
    row_drop(row);
    json_object_set_new(o, "watts", json_string("many"));
    CU_ASSERT_PTR_NULL(row_from_json(&lamp_type, o, &err));
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "watts"));
    json_decref(o);
}

static void test_foreign(void)
{
    json_t *all =
        json_loads("[{\"name\":\"desk\",\"volts\":230,\"on\":true,\"nothing\":null}]", 0, NULL);
    struct rowset rows = {0};
    rowset_add_json(&rows, all);
    json_decref(all);
    const struct row *row = rowset_at(&rows, 0);
    CU_ASSERT_EQUAL(row_real(row, "volts"), 230);
    CU_ASSERT(isnan(row_real(row, "on")));
    CU_ASSERT(row_is(row, "name", "desk"));
    CU_ASSERT(row_has(row, "nothing") && !row_known(row, "nothing") && !row_has(row, "watts"));
    CU_ASSERT_STRING_EQUAL(row_name(row, 1), "volts");
    CU_ASSERT_PTR_NULL(row_name(row, 4));
    struct row *copy = row_copy(row);
    row_put_real(copy, "volts", 12);
    CU_ASSERT_EQUAL(row_real(copy, "volts"), 12);
    dumps_as(row, "{\"name\":\"desk\",\"volts\":230,\"on\":true,\"nothing\":null}");
    row_drop(copy);
    rowset_clear(&rows);
}

static const struct tap_test tests[] = {
    {"a new row knows nothing; JSON in the table's order", test_new},
    {"members by name", test_by_name},
    {"known is what shows something", test_known},
    {"many hold a row, a copy is one's own", test_holders},
    {"a struct moves in", test_move},
    {"a chain of tables", test_chain},
    {"fields in order, and forgotten ones", test_walk_and_forget},
    {"a type made at run time, with an order", test_own_type},
    {"from JSON", test_json},
    {"rows of fields that nobody here knows", test_foreign},
};
TAP_MAIN("rowset", tests)
