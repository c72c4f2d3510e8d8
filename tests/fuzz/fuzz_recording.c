/* Recordings from strangers: whatever the bytes, reading ends in rows that passed the field table or
 * in a sentence; nothing claims to be live; what is shown of it has no control byte.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "export/rows.h"
#include "store/recording.h"

#define HEAD "{\"type\":\"header\",\"format\":\"attnscope-recording\",\"format_version\":1"
#define ROW                                                                                       \
    "{\"type\":\"row\",\"command\":\"run fa2\",\"row\":{\"kernel\":\"fa2\",\"backend\":\"cuda\"," \
    "\"device\":\"NVIDIA H200\",\"origin\":\"live\",\"shape\":\"B=1 H=8 S=1024 D=64 f16\","       \
    "\"params\":\"BR=64\",\"median_us\":12.5,\"min_us\":12.25,\"n\":3,\"check\":\"pass\","        \
    "\"worst\":{\"b\":0,\"h\":1}},\"samples_us\":[12.5,12.25,13],\"samples_of\":3,"               \
    "\"plan\":{\"smem\":[{\"name\":\"Ks\",\"offset\":0,\"bytes\":8192}]}}\n"

const char *const fuzz_seeds[] = {
    HEAD "}\n",
    HEAD ",\"device\":\"NVIDIA H200\",\"driver\":\"580\",\"cuda\":\"13.0\",\"seed\":42}\n" ROW ROW,
    HEAD "}\n" ROW
         "{\"type\":\"table\",\"command\":\"sweep fa2 S=1..2\",\"columns\":[{\"field\":\"kernel\","
         "\"title\":\"kernel\",\"left\":true,\"digits\":4}],\"rows\":[{\"kernel\":\"fa2\","
         "\"origin\":\"live\"}]}\n{\"type\":\"later\"}\n",
    HEAD "}\n{\"type\":\"row\",\"row\":{\"kernel\":\"\\u001b[2Jx\",\"reason\":\"\\u202e\"}}\n",
    NULL,
};
const char *const fuzz_tokens[] = {
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\n",
    "\\u001b",
    "\\u0000",
    "\\ud800",
    "null",
    "true",
    "-1",
    "1e308",
    "1e999",
    "-0.0",
    "99999999999999999999",
    "\"row\"",
    "\"table\"",
    "\"header\"",
    "\"samples_us\":",
    "\"rows\":",
    "\"columns\":",
    "\"kernel\":",
    "\"median_us\":",
    "\"origin\":",
    "\"plan\":",
    "[[[[[[[[[[[[[[[[",
    "{\"a\":{\"a\":{\"a\":",
    "\\x00",
    "\\xff",
    NULL,
};

static const struct column columns[] = {
    {.field = "kernel", .title = "kernel", .left = true},
    {.field = "device", .title = "device", .left = true},
    {.field = "median_us", .title = "median us"},
    {.field = "worst", .title = "worst"},
    {.field = "reason", .title = "reason", .left = true},
    {0},
};

static int check_shown(const struct rowset *rows)
{
    int broken = 0;
    for (enum format f = FORMAT_TEXT; f <= FORMAT_MD && !broken; f++) {
        struct str out = {0};
        rows_format(&out, rows, &(struct columns){.list = columns}, f, 0);
        for (size_t i = 0; i < out.len && !broken; i++)
            if ((unsigned char)out.data[i] < ' ' && out.data[i] != '\n')
                broken = fuzz_broken("form %d shows the byte %d", (int)f, out.data[i]);
        str_free(&out);
    }
    return broken;
}

static int check_row(const struct recorded_row *r)
{
    const char *origin = r->run->origin;
    const double median = r->run->median_us;
    if (!r->run->kernel)
        return fuzz_broken("a row without a kernel");
    if (!origin || strcmp(origin, "live") == 0)
        return fuzz_broken("a recorded row says that it is live");
    if (median < 0 || isinf(median))
        return fuzz_broken("a median of %g", median);
    for (size_t i = 0; i < r->nsamples; i++)
        if (!(r->samples[i] > 0) || isinf(r->samples[i]))
            return fuzz_broken("a sample of %g", r->samples[i]);
    return 0;
}

static int check_tables(const struct recording *rec)
{
    size_t i;
    json_t *table;
    json_array_foreach(rec->tables, i, table)
    {
        if (!json_array_size(json_object_get(table, "columns")) ||
            !json_is_array(json_object_get(table, "rows")))
            return fuzz_broken("a table that cannot be shown");
    }
    return 0;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct recording *rec;
    struct err err = ERR_INIT;
    if (recording_parse("fuzz", (const char *)data, size, &rec, &err))
        return rec || !*err.text ? fuzz_broken("refused without a sentence") : 0;
    int broken = check_tables(rec);
    for (size_t i = 0; i < rec->nrows && !broken; i++)
        broken = check_row(&rec->rows[i]);
    struct rowset rows = {.type = &recorded_type};
    recording_rows(rec, &rows);
    if (!broken)
        broken = check_shown(&rows);
    rowset_clear(&rows);
    recording_free(rec);
    return broken;
}
