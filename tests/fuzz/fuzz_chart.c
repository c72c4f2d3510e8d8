/* fuzz_chart.c - pictures out of recordings of strangers: bytes become a model by its layout, with values of every kind; an
 * input that begins with { is taken as JSON. What is refused is refused; the rest is drawn in every size and form: inside its
 * rectangle, with coordinates that are numbers, in text that is clean, and comes back from its own JSON.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/str.h"
#include "draw/canvas.h"
#include "draw/chart.h"

const unsigned fuzz_cost = 20;

const char *const fuzz_seeds[] = {
    "{\"kind\":\"window\",\"caption\":{},\"model\":{\"kernel\":\"fa2\",\"bytes\":96,\"cell_bytes\":"
    "16,\"cells\":"
    "\"#+.oc#\",\"access\":\"*     \",\"buffers\":[{\"name\":\"Qs\",\"offset\":0,\"bytes\":48}]}}",
    "\\x00\\x01\\x02\\x03\\x04\\x05\\x06\\x07\\x08\\x09\\x0a\\x0b\\x0c\\x0d\\x0e\\x0f\\x10\\x11\\x1"
    "2\\x13",
    "\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x01\\x0"
    "1",
    "abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz0123456789",
    "The quick brown fox jumps over the lazy dog. The five boxing wizards jump quickly, twice.",
    "\\xff\\xfe\\xfd\\xfc\\xfb\\xfa\\xf9\\xf8\\xf7\\xf6\\xf5\\xf4\\xf3\\xf2\\xf1\\xf0\\xef\\xee\\xe"
    "d\\xec",
    NULL,
};
const char *const fuzz_tokens[] = {
    "\\x00",
    "\\x01",
    "\\x02",
    "\\x03",
    "\\x04",
    "\\x05",
    "\\x06",
    "\\x07",
    "\\x08",
    "\\x09",
    "\\x0a",
    "\\x0b",
    "\\x0c",
    "\\x0d",
    "\\x0e",
    "\\x0f",
    "\\x10",
    "\\x11",
    "\\x12",
    "\\x13",
    "\\x20",
    "\\x40",
    "\\x7f",
    "\\x80",
    "\\xff",
    "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00",
    "\\x02\\x02\\x02\\x02\\x02\\x02\\x02\\x02",
    "null",
    "{}",
    "[]",
    "1e308",
    "-1",
    "9223372036854775807",
    NULL,
};

/* ---- a model out of bytes ---- */

struct bytes_left {
    const uint8_t *at, *end;
};

static unsigned take(struct bytes_left *b)
{
    return b->at < b->end ? *b->at++ : 1;
}

static json_t *some_text(struct bytes_left *b)
{
    static const char *const texts[] = {
        "fa2",       "#+.oc#",     "MC=",
        "SM",        "block",      "GPU",
        "thread",    "",           "L4",
        "live",      "model",      "a long name of a kernel, with words",
        "***   ",    "^%$",        "\xc3\xa9\xe6\xbc\xa2",
        "<&\">",     "'",          "read",
        "write",     "copy",       "work",
        "wait",      "product",    "meet",
        "\x1b[31m",  "0123456789", "AAAA",
        "==XfS",     "producer",   "consumer",
        "pass",      "fail",       "\\",
        "$x << EOD", NULL};
    const unsigned x = take(b) % 40;
    return x < 34 && texts[x] ? json_string(texts[x]) : json_null();
}

static json_t *some_integer(struct bytes_left *b)
{
    static const int64_t values[] = {0,         1,    2,     3,         4,         7,
                                     16,        31,   32,    64,        100,       255,
                                     1024,      4096, 65536, 1 << 30,   INT32_MAX, 1LL << 53,
                                     INT64_MAX, -1,   -7,    INT32_MIN, INT64_MIN};
    const unsigned x = take(b), n = sizeof values / sizeof *values;
    return x == 255 ? json_null() : json_integer(x < 128 ? x % 8 : values[x % n]);
}

static json_t *some_real(struct bytes_left *b)
{
    static const double values[] = {0,      0.5,   1,     2,   3.7,    10,    99.5,
                                    100,    1e3,   1e6,   1e9, 1e12,   1e15,  1e-9,
                                    1e-300, 1e300, 1e308, -1,  -1e308, 5e-324};
    const unsigned x = take(b), n = sizeof values / sizeof *values;
    return x > 240 ? json_null() : json_real(x < 128 ? x % 16 * 0.75 : values[x % n]);
}

static json_t *some_value(const struct field *f, struct bytes_left *b)
{
    switch (f->type) {
    case FIELD_TEXT:
        return some_text(b);
    case FIELD_REAL:
        return some_real(b);
    case FIELD_BOOL:
    case FIELD_FLAG:
        return json_boolean(take(b) % 2);
    case FIELD_WORD:
        return f->words && take(b) % 8 ? json_string(f->words[take(b) % 2]) : some_text(b);
    default:
        return some_integer(b);
    }
}

static json_t *some_model(const struct chart_layout *l, struct bytes_left *b, bool brief);

static json_t *some_list(const struct chart_part *p, struct bytes_left *b)
{
    json_t *list = json_array();
    const unsigned n = b->at < b->end ? take(b) % 6 : 0;
    for (unsigned i = 0; i < n; i++)
        json_array_append_new(list, some_model(p->of, b, p->brief));
    return list;
}

static json_t *some_model(const struct chart_layout *l, struct bytes_left *b, bool brief)
{
    json_t *o = brief ? json_array() : json_object();
    for (const struct field *f = l->fields; f->name; f++)
        if (brief)
            json_array_append_new(o, some_value(f, b));
        else
            json_object_set_new(o, f->name, some_value(f, b));
    for (const struct chart_part *p = l->parts; p && p->name && !brief; p++)
        json_object_set_new(o, p->name, some_list(p, b));
    return o;
}

static json_t *some_chart(struct bytes_left *b)
{
    size_t kinds = 0;
    while (chart_kinds[kinds])
        kinds++;
    const struct chart_kind *k = chart_kinds[take(b) % kinds];
    return json_pack("{s:s, s:{}, s:o}", "kind", k->name, "caption", "model",
                     some_model(k->layout, b, false));
}

/* ---- what holds ---- */

/* A frame of marks around the rectangle stays as it is. */
static int draw_cells(const struct chart *c, int w, int h, enum glyphs glyphs,
                      const struct chart_view *v)
{
    struct canvas *canvas = canvas_new(w + 2, h + 2, glyphs);
    struct str text = {0};
    int broken = 0;
    for (int y = 0; y < h + 2; y++)
        for (int x = 0; x < w + 2; x++)
            if (x == 0 || y == 0 || x == w + 1 || y == h + 1)
                canvas_put(canvas, x, y, ROLE_FRAME, '@');
    c->kind->cells(canvas, (struct rect){1, 1, w, h}, c->model, v);
    for (int y = 0; y < h + 2 && !broken; y++)
        for (int x = 0; x < w + 2 && !broken; x++)
            if ((x == 0 || y == 0 || x == w + 1 || y == h + 1) &&
                canvas->cells[y * canvas->w + x].ch != '@')
                broken = fuzz_broken("%s draws beside its %d x %d cells, at %d, %d", c->kind->name,
                                     w, h, x - 1, y - 1);
    canvas_to_text(canvas, &text);
    for (size_t i = 0; i < text.len && !broken; i++)
        if ((unsigned char)text.data[i] < ' ' && text.data[i] != '\n')
            broken = fuzz_broken("%s shows the byte %d", c->kind->name, text.data[i]);
    str_free(&text);
    canvas_free(canvas);
    return broken;
}

static int check_form(const char *what, const char *name, const struct str *s)
{
    static const char *const bad[] = {"\"nan",  "\"-nan", "\"inf", "\"-inf", " nan ",
                                      " -nan ", " inf ",  "Mnan",  "hnan",   "vnan"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (s->len && strstr(str_text(s), bad[i]))
            return fuzz_broken("%s of %s has the number %s", what, name, bad[i]);
    for (size_t i = 0; i < s->len; i++)
        if ((unsigned char)s->data[i] < ' ' && s->data[i] != '\n' && s->data[i] != '\t')
            return fuzz_broken("%s of %s has the byte %d", what, name, s->data[i]);
    return 0;
}

static int draw(const struct chart *c, struct bytes_left *b)
{
    static const int sizes[][2] = {{80, 24}, {200, 50}, {38, 9}, {24, 5}, {20, 3}};
    struct chart_view v = CHART_WHOLE;
    struct str svg = {0}, gnuplot = {0};
    int broken = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes && !broken; i++) {
        broken = draw_cells(c, sizes[i][0], sizes[i][1], i % 2 ? GLYPHS_ASCII : GLYPHS_BRAILLE, &v);
        v = (struct chart_view){.x = (int)take(b) - 2,
                                .y = (int)take(b) - 2,
                                .part = (int)(take(b) % 5),
                                .bare = take(b) % 2,
                                .zoom = (int)(take(b) % 9)};
    }
    if (!broken && c->kind->svg)
        c->kind->svg(&svg, c, true);
    if (!broken && c->kind->gnuplot)
        c->kind->gnuplot(&gnuplot, c);
    broken = broken || check_form("the SVG", c->kind->name, &svg) ||
             check_form("the script", c->kind->name, &gnuplot);
    str_free(&svg);
    str_free(&gnuplot);
    return broken;
}

static int check_back(const struct chart *c)
{
    json_t *o = chart_to_json(c);
    struct chart *back = chart_from_json(o);
    json_t *again = back ? chart_to_json(back) : NULL;
    const bool same = again && json_equal(o, again);
    json_decref(o);
    json_decref(again);
    if (back)
        chart_free(back);
    return same ? 0 : fuzz_broken("%s does not come back from its JSON", c->kind->name);
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct bytes_left b = {data, data + size};
    json_t *o =
        size && *data == '{' ? json_loadb((const char *)data, size, 0, NULL) : some_chart(&b);
    struct chart *c = o ? chart_from_json(o) : NULL;
    const int broken = c ? draw(c, &b) || check_back(c) : 0;
    if (c)
        chart_free(c);
    json_decref(o);
    return broken;
}
