/* Rows as text, JSON, CSV and Markdown: alignment, unknown values, foreign text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/rows.h"
#include "export/tidy.h"
#include "measure/row.h"
#include "spec/shape.h"

// clang-format off
static const struct column columns[] = {
    {.field = "kernel",    .title = "kernel",    .left = true},
    {.field = "shape",     .title = "shape",     .left = true, .varies = true},
    {.field = "median_us", .title = "median us", .digits = 4},
    {.field = "extra",     .title = "extra",     .drop = 2},
    {.field = "gone",      .title = "gone",      .optional = true},
    {.field = "reason",    .title = "reason",    .left = true, .optional = true},
    {0},
};
// clang-format on

static json_t *two_rows(void)
{
    return json_pack("[{s:s, s:s, s:f, s:i, s:n, s:n}, {s:s, s:s, s:n, s:i, s:n, s:s}]", "kernel",
                     "naive", "shape", "S=64", "median_us", 412.3, "extra", 7, "gone", "reason",
                     "kernel", "fa2", "shape", "S=64", "median_us", "extra", 123456, "gone",
                     "reason", "fa2 needs D <= 128");
}

static char *format_by(const json_t *rows, const struct column *cols, enum format f, int width)
{
    struct str out = {0};
    struct rowset set = {0};
    rowset_add_json(&set, rows);
    rows_format(&out, &set, &(struct columns){.list = cols}, f, width);
    rowset_clear(&set);
    return str_take(&out);
}

static char *format(const json_t *rows, enum format f, int width)
{
    return format_by(rows, columns, f, width);
}

static void expect(const json_t *rows, enum format f, int width, const char *text)
{
    char *got = format(rows, f, width);
    CU_ASSERT_STRING_EQUAL(got, text);
    if (strcmp(got, text))
        printf("# got:\n%s# want:\n%s", got, text);
    free(got);
}

static void test_text(void)
{
    json_t *rows = two_rows();
    expect(rows, FORMAT_TEXT, 0,
           "kernel  median us   extra\n"
           "naive       412.3       7\n"
           "fa2             -  123456\n"
           "fa2 needs D <= 128\n");
    json_object_set_new(json_array_get(rows, 1), "shape", json_string("S=128"));
    expect(rows, FORMAT_TEXT, 0,
           "kernel  shape  median us   extra\n"
           "naive   S=64       412.3       7\n"
           "fa2     S=128          -  123456\n"
           "fa2 needs D <= 128\n");
    json_decref(rows);
}

static void test_narrow(void)
{
    json_t *rows = two_rows();
    expect(rows, FORMAT_TEXT, 24, /* one column less is enough */
           "kernel  median us\n"
           "naive       412.3\n"
           "fa2             -\n"
           "fa2 needs D <= 128\n");
    json_object_set_new(json_array_get(rows, 0), "kernel",
                        json_string("a_kernel_with_a_very_long_name"));
    char *got = format(rows, FORMAT_TEXT, 30);
    CU_ASSERT_PTR_NOT_NULL(strstr(got, "..  "));
    for (char *p = got; *p && strncmp(p, "fa2 needs", 9); p += strcspn(p, "\n") + 1)
        CU_ASSERT(strcspn(p, "\n") <= 30);
    free(got);
    json_decref(rows);
}

/* What explains must not be cut: its column goes on below itself. */
static void test_wrapped_column(void)
{
    static const struct column cols[] = {
        {.field = "key", .title = "key", .left = true},
        {.field = "doc", .title = "doc", .left = true, .wrap = true},
        {0}};
    json_t *rows = json_pack("[{s:s, s:s}, {s:s, s:s}]", "key", "timeout", "doc",
                             "seconds of silence; 0: 5 beyond time", "key", "n", "doc", "samples");
    char *got = format_by(rows, cols, FORMAT_TEXT, 30);
    CU_ASSERT_STRING_EQUAL(got, "key      doc\n"
                                "timeout  seconds of silence;\n"
                                "         0: 5 beyond time\n"
                                "n        samples\n");
    free(got);
    json_decref(rows);
}

/* Where a dot stands for something, two of them mark no cut. */
static void test_map_column(void)
{
    static const struct column cols[] = {
        {.field = "n", .title = "n"},
        {.field = "map", .title = "map", .left = true, .map = true},
        {0}};
    json_t *rows = json_pack("[{s:i, s:s}, {s:i, s:s}]", "n", 1, "map", "88..............", "n", 2,
                             "map", "..............88");
    char *got = format_by(rows, cols, FORMAT_TEXT, 15);
    CU_ASSERT_STRING_EQUAL(got, "n  map\n"
                                "1  88.........>\n"
                                "2  ...........>\n");
    free(got);
    json_decref(rows);
}

/* Columns that are made while the program runs, and a cell as it stands in such a table. */
static void test_texts(void)
{
    char axis[] = "BR=16";
    const struct column cols[] = {
        {.field = "S", .title = "S"}, {.field = axis, .title = axis}, {0}};
    struct row_type *type = columns_texts(cols);
    struct rowset rows = {.type = type};
    struct str out = {0};
    static const char *const cells[][2] = {{"64", "<=1.5"}, {"128", NULL}};
    for (int i = 0; i < 2; i++) {
        char **line = rowset_add(&rows);
        line[0] = xstrdup_if(cells[i][0]);
        line[1] = xstrdup_if(cells[i][1]);
    }
    rows_format(&out, &rows, &(struct columns){.list = cols}, FORMAT_TEXT, 0);
    CU_ASSERT_STRING_EQUAL(str_text(&out), "  S  BR=16\n"
                                           " 64  <=1.5\n"
                                           "128      -\n");
    str_free(&out);
    rowset_clear(&rows);
    row_type_free(type);
    json_t *o = json_pack("{s:f, s:i, s:b, s:f, s:s}", "waves", 1.23456, "blocks_per_sm", 2,
                          "upper_bound", 1, "median_us", 12.34567, "kernel", "a\033b");
    struct row *row = row_of_json(o);
    static const struct {
        const char *field;
        int digits;
        const char *text;
    } wanted[] = {{"waves", 3, ">=1.23"},
                  {"blocks_per_sm", 0, "<=2"},
                  {"median_us", 0, "12.35"},
                  {"nothing", 0, "-"}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        char *got = row_cell(row, wanted[i].field, wanted[i].digits);
        CU_ASSERT_STRING_EQUAL(got, wanted[i].text);
        free(got);
    }
    row_drop(row);
    json_decref(o);
    /* Values that are no single figure; a list for a picture is only counted. */
    json_t *many = json_array();
    for (int i = 0; i < 16; i++)
        json_array_append_new(many, json_integer(i));
    o = json_pack("{s:{s:i, s:f}, s:[s,s], s:[], s:{}, s:O, s:b, s:b, s:s, s:i, s:s}", "worst", "b",
                  1, "row", 0.123456, "limiter", "regs", "smem", "none", "empty", "many", many,
                  "on", 1, "off", 0, "kernel", "a\033b", "count", 1234567, "unsaid", "");
    json_array_append_new(many, json_integer(16)); /* that is one more than is shown */
    json_t *sixteen = json_copy(many);
    json_array_remove(sixteen, 16);
    json_object_set_new(o, "sixteen", sixteen);
    row = row_of_json(o);
    static const char *const others[][2] = {{"worst", "b=1 row=0.1235"},
                                            {"limiter", "regs,smem"},
                                            {"none", "-"},
                                            {"empty", "-"},
                                            {"unsaid", "-"},
                                            {"many", "(17 values)"},
                                            {"sixteen", "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15"},
                                            {"on", "yes"},
                                            {"off", "no"},
                                            {"count", "1234567"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        char *got = row_cell(row, others[i][0], 0);
        CU_ASSERT_STRING_EQUAL(got, others[i][1]);
        free(got);
    }
    json_decref(many);
    json_object_set_new(o, "shares", json_pack("[f,f]", 0.123456, 2.0));
    json_object_set_new(o, "lines", json_pack("{s:s}", "a\nb", "c\nd"));
    json_object_set_new(o, "upper_bound", json_true());
    json_object_set_new(o, "waves", json_null()); /* what is not known has no bound */
    json_object_set_new(o, "blocks_per_sm", json_real(1.23456));
    row_drop(row);
    row = row_of_json(o);
    static const char *const more[][2] = {
        {"shares", "0.1235,2"}, {"waves", "-"}, {"blocks_per_sm", "<=1.235"}};
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) {
        char *got = row_cell(row, more[i][0], 0);
        CU_ASSERT_STRING_EQUAL(got, more[i][1]);
        free(got);
    }
    char *line = row_cell(row, "lines", 0); /* a cell is one line */
    CU_ASSERT(strchr(line, '=') && !strchr(line, '\n'));
    free(line);
    char *clean = row_cell(row, "kernel", 0);
    CU_ASSERT_PTR_NULL(strchr(clean, '\033'));
    free(clean);
    row_drop(row);
    json_decref(o);
}

static void test_foreign_text(void)
{
    json_t *rows = json_pack("[{s:s}]", "kernel", "a\033[2Jb\xe2\x80\xae");
    for (enum format f = FORMAT_TEXT; f <= FORMAT_MD; f++) {
        char *got = format(rows, f, 0);
        CU_ASSERT_PTR_NULL(strchr(got, '\033'));
        CU_ASSERT_PTR_NULL(strstr(got, "\xe2\x80\xae"));
        CU_ASSERT_PTR_NOT_NULL(strchr(got, 'b'));
        free(got);
    }
    json_decref(rows);
}

static void test_json(void)
{
    json_t *rows = two_rows();
    char *got = format(rows, FORMAT_JSON, 0);
    json_t *back = json_loads(got, 0, NULL);
    json_t *row;
    size_t i;
    json_array_foreach(rows, i, row)
    {
        json_t *has = json_array_get(back, i), *both = json_copy(has);
        json_object_update(both, row); /* nothing of it is lost or changed */
        CU_ASSERT(json_equal(both, has));
        json_decref(both);
    }
    CU_ASSERT_PTR_NOT_NULL(strstr(got, ":412.3,")); /* not 412.30000000000001 */
    free(got);
    json_decref(back);
    json_array_clear(rows);
    expect(rows, FORMAT_JSON, 0, "[]\n");
    json_decref(rows);
    rows = json_pack("[{s:f, s:f}]", "flops", 2251799813685248.0, "pi", 3.1415926535897931);
    got = format(rows, FORMAT_JSON, 0); /* counts stay exact, and every real reads back */
    CU_ASSERT_PTR_NOT_NULL(strstr(got, ":2251799813685248.0,"));
    CU_ASSERT_PTR_NOT_NULL(strstr(got, ":3.141592653589793,"));
    free(got);
    json_decref(rows);
}

static void test_csv(void)
{
    json_t *rows = json_pack("[{s:s, s:f, s:n, s:b, s:[s,s]}]", "kernel", "a,\"b\"", "median_us",
                             1.5, "reason", "ok", 1, "limiter", "regs", "smem");
    expect(rows, FORMAT_CSV, 0,
           "kernel,median_us,reason,ok,limiter\n"
           "\"a,\"\"b\"\"\",1.5,,true,\"[\"\"regs\"\",\"\"smem\"\"]\"\n");
    json_decref(rows);
    /* No row: the type says what there could be. */
    const struct rowset none = {.type = &run_type};
    struct str out = {0};
    rows_format(&out, &none, &(struct columns){.list = columns}, FORMAT_CSV, 0);
    CU_ASSERT(str_starts(str_text(&out), "kernel,backend,device,origin,"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&out), "samples_us"));
    CU_ASSERT_PTR_EQUAL(strchr(str_text(&out), '\n') + 1, str_text(&out) + out.len);
    str_free(&out);
}

/* What texts say stands in columns of its own; what a row has already stays. */
static void test_tidy(void)
{
    json_t *rows =
        json_pack("[{s:s,s:s,s:s}, {s:s,s:n,s:s,s:i}, {s:s,s:s,s:s}]", "kernel", "fa2", "shape",
                  "B=2 H=8 Hkv=2 Sq=1 Sk=4096 D=64 bf16 causal page=16", "params",
                  "BR=64 SCALE=0.5 MAP=idle", "kernel", "naive", "shape", "params", "", "D", 7,
                  "kernel", "odd", "shape", "S=64", "params", "what");
    struct rowset set = {0};
    rowset_add_json(&set, rows);
    json_t *first = tidy_row(set.rows[0]), *second = tidy_row(set.rows[1]),
           *third = tidy_row(set.rows[2]);
    json_t *want =
        json_pack("{s:i,s:i,s:i,s:i,s:i,s:i,s:s,s:b,s:s,s:i,s:s,s:{s:i,s:f,s:s},s:i}", "B", 2, "H",
                  8, "Hkv", 2, "Sq", 1, "Sk", 4096, "D", 64, "dtype", "bf16", "causal", 1, "layout",
                  "bhsd", "page", 16, "pages", "shuffled", "param_values", "BR", 64, "SCALE", 0.5,
                  "MAP", "idle", "schema_version", ROW_SCHEMA_VERSION);
    json_object_update(want, json_array_get(rows, 0));
    CU_ASSERT(json_equal(first, want));
    CU_ASSERT(json_is_null(json_object_get(second, "B"))); /* unknown is not zero */
    CU_ASSERT(json_is_null(json_object_get(second, "dtype")));
    CU_ASSERT_EQUAL(json_integer_value(json_object_get(second, "D")), 7);
    CU_ASSERT_EQUAL(json_object_size(json_object_get(second, "param_values")), 0);
    CU_ASSERT(json_is_null(json_object_get(third, "Sq"))); /* no whole shape: nothing is made up */
    CU_ASSERT(json_is_null(json_object_get(third, "param_values")));
    CU_ASSERT_PTR_NULL(json_object_get(json_array_get(rows, 0), "B")); /* who has it keeps it */
    CU_ASSERT_EQUAL(row_path_number(set.rows[0], "Sk"), 4096);
    CU_ASSERT_EQUAL(row_path_number(set.rows[0], "param_values.BR"), 64);
    CU_ASSERT_EQUAL(row_path_number(set.rows[0], "causal"), 1);
    CU_ASSERT(isnan(row_path_number(set.rows[1], "Sk")));
    json_decref(first);
    json_decref(second);
    json_decref(third);
    json_decref(want);
    rowset_clear(&set);
    json_decref(rows);
}

/* The manual has them all: the keys of the shape by their first names, then what else is made. */
static void test_tidy_docs(void)
{
    const char *name = NULL, *doc = NULL;
    size_t i = 0;
    for (const struct field *f = shape_keys; f->name; f++)
        if (strcmp(f->name, "S") != 0) {
            CU_ASSERT_FATAL(tidy_doc(i++, &name, &doc));
            CU_ASSERT_STRING_EQUAL(name, f->name);
            CU_ASSERT_STRING_EQUAL(doc, f->doc);
        }
    bool version = false;
    for (; tidy_doc(i, &name, &doc) && i < 99; i++) {
        CU_ASSERT(*name && *doc);
        version |= !strcmp(name, "schema_version");
    }
    CU_ASSERT(version && i < 99);
}

/* Every shape key is a column, and every JSON row says its version, also where there is no shape. */
static void test_tidy_names(void)
{
    const struct rowset none = {.type = &run_type};
    json_t *names = tidy_names(&none), *rows = json_pack("[{s:s}]", "name", "H200");
    for (const struct field *f = shape_keys; f->name; f++)
        CU_ASSERT_EQUAL(json_object_get(names, f->name) != NULL, strcmp(f->name, "S") != 0);
    CU_ASSERT_PTR_NOT_NULL(json_object_get(names, "worst_row"));
    CU_ASSERT_PTR_NOT_NULL(json_object_get(names, "first_bad_b"));
    CU_ASSERT_PTR_NULL(json_object_get(names, "schema_version"));
    json_decref(names);
    expect(rows, FORMAT_JSON, 0, "[\n {\"name\":\"H200\",\"schema_version\":2}\n]\n");
    expect(rows, FORMAT_CSV, 0, "name\nH200\n");
    json_decref(rows);
    rows = json_pack("[{s:s, s:{s:i,s:i,s:i,s:i}}, {s:s, s:n, s:i}]", "kernel", "a", "worst", "b",
                     0, "h", 1, "row", 2, "col", 3, "kernel", "b", "worst", "late", 9);
    expect(rows, FORMAT_CSV, 0,
           "kernel,worst,late,worst_b,worst_h,worst_row,worst_col\n"
           "a,\"{\"\"b\"\":0,\"\"h\"\":1,\"\"row\"\":2,\"\"col\"\":3}\",,0,1,2,3\n"
           "b,,9,,,,\n");
    json_decref(rows);
}

static void test_markdown(void)
{
    json_t *rows =
        json_pack("[{s:s, s:f, s:s}]", "kernel", "a|b<c", "median_us", 2.0, "reason", "why_not");
    expect(rows, FORMAT_MD, 0,
           "| kernel | shape | median us | extra | reason |\n"
           "|---|---|---:|---:|---|\n"
           "| a\\|b&lt;c | - | 2 | - | why\\_not |\n");
    struct str out = {0};
    rows_md_footer(&out, "run fa2\nS=64");
    CU_ASSERT_PTR_NOT_NULL(strstr(str_text(&out), "\nattnscope run fa2"));
    CU_ASSERT_PTR_NULL(strstr(str_text(&out), "\nS=64"));
    str_free(&out);
    json_decref(rows);
}

static void expect_wrapped(const char *text, int width, const char *want)
{
    struct str out = {0};
    str_add(&out, text);
    lines_wrap(&out, 0, width);
    CU_ASSERT_STRING_EQUAL(str_text(&out), want);
    if (strcmp(str_text(&out), want))
        printf("# got:\n%s# want:\n%s", str_text(&out), want);
    str_free(&out);
}

static void test_wrap(void)
{
    expect_wrapped("short\n\n  also\n", 20, "short\n\n  also\n");
    expect_wrapped("one two three four five\n", 20, "one two three four\nfive\n");
    expect_wrapped("  key   one two three four\n", 20, "  key   one two\n        three four\n");
    expect_wrapped("  one two three four\n", 20, "  one two three four\n");
    expect_wrapped("  one two three fours\n", 20, "  one two three\n    fours\n");
    expect_wrapped("averyveryverylongwordindeed x\n", 20, "averyveryverylongwordindeed\nx\n");
    expect_wrapped("one two three four five\n", 0, "one two three four five\n");
    expect_wrapped(
        "\u00e4\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4\u00e4 xxxxx\n", 20,
        "\u00e4\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4\u00e4 \u00e4\u00e4\u00e4\u00e4 xxxxx\n");
}

static void test_path(void)
{
    static const struct {
        const char *path;
        double want; /* NaN: unknown */
    } cases[] = {
        {"n", 3},           {"nothing", NAN},   {"check", 1},       {"check.pass", 1},
        {"check.fail", 0},  {"worst.row", 7},   {"worst.col", NAN}, {"grid[1]", 8},
        {"grid[9]", NAN},   {"grid.count", 3},  {"grid", NAN},      {"limits.smem", 1},
        {"limits.sm", 0},   {"buf[1].size", 5}, {"buf[1].x[0]", 9}, {"buf[0]x", NAN},
        {"grid[", NAN},     {"grid[]", NAN},    {"grid[-1]", NAN},  {"buf[1].size.x", NAN},
        {"none.word", NAN}, {"yes", 1},         {"n.x", NAN},       {"", NAN},
    };
    json_t *object = json_pack("{s:i,s:s,s:{s:i},s:[i,i,i],s:[s,s],s:[n,{s:i,s:[i]}],s:n,s:b}", "n",
                               3, "check", "pass", "worst", "row", 7, "grid", 4, 8, 1, "limits",
                               "regs", "smem", "buf", "size", 5, "x", 9, "none", "yes", 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(object);
    struct row *row = row_of_json(object);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const double got = row_path_number(row, cases[i].path);
        if (isnan(cases[i].want) ? !isnan(got) : got != cases[i].want)
            printf("# %s: %g\n", cases[i].path, got);
        CU_ASSERT(isnan(cases[i].want) ? isnan(got) : got == cases[i].want);
    }
    CU_ASSERT(isnan(row_path_number(NULL, "n")));
    /* a bound is no figure that a gate could rest on */
    json_t *o = json_pack("{s:i, s:f, s:i, s:b}", "blocks_per_sm", 7, "waves", 0.25, "smem_bytes",
                          4096, "upper_bound", 1);
    struct row *plan = row_of_json(o);
    CU_ASSERT(isnan(row_path_number(plan, "blocks_per_sm")));
    CU_ASSERT(isnan(row_path_number(plan, "waves")));
    CU_ASSERT_EQUAL(row_path_number(plan, "smem_bytes"), 4096);
    CU_ASSERT_EQUAL(row_path_number(plan, "upper_bound"), 1);
    row_drop(plan);
    json_object_set_new(o, "upper_bound", json_false());
    plan = row_of_json(o);
    CU_ASSERT_EQUAL(row_path_number(plan, "blocks_per_sm"), 7);
    row_drop(plan);
    json_decref(o);
    char *text = row_path_text(row, "limits[1]");
    CU_ASSERT_STRING_EQUAL(text, "smem");
    CU_ASSERT_PTR_NULL(row_path_text(row, "limits.smem"));
    free(text);
    row_drop(row);
    json_decref(object);
}

static const struct tap_test tests[] = {
    {"a value within a row, by its path", test_path},
    {"text: aligned, reasons below, equal columns left out", test_text},
    {"text: a narrow terminal loses columns, then cuts names", test_narrow},
    {"a column that wraps", test_wrapped_column},
    {"a map that is cut", test_map_column},
    {"columns made at run time, and one cell", test_texts},
    {"foreign text is harmless in every form", test_foreign_text},
    {"json: round trip, short numbers, exact counts", test_json},
    {"csv: quoting, unknown is empty, order of fields", test_csv},
    {"shape and parameters as fields", test_tidy},
    {"their names, and a version in every row", test_tidy_names},
    {"and what they are", test_tidy_docs},
    {"markdown: escapes, alignment, footer", test_markdown},
    {"long lines break at blanks, below their text", test_wrap},
};
TAP_MAIN("rows", tests)
