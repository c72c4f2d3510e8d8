/* tsv.c - tables of text.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "lesson/text/tsv.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "kernel/blob.h"

/* Cuts the line into cells, which are appended. The number of cells. */
static size_t cut(struct tsv *t, size_t *cap, char *line, size_t cols)
{
    size_t n = 0;
    for (char *cell; (cell = strsep(&line, "\t")); n++)
        if (n < cols) {
            xgrow((void **)&t->cells, cap, (t->nrows * cols) + n + 1, sizeof *t->cells);
            t->cells[t->nrows * cols + n] = cell;
        }
    return n;
}

enum status tsv_parse(const char *file, const char *text, size_t len, size_t cols, struct tsv *out,
                      struct err *err)
{
    size_t cap = 0;
    int number = 0;
    bool named = false;
    *out = (struct tsv){.text = xstrndup(text, len), .ncols = cols};
    char *rest = out->text;
    for (char *line; (line = strsep(&rest, "\n"));) {
        number++;
        if (!*line || *line == '#')
            continue;
        const size_t n = cut(out, &cap, line, cols);
        if (n != cols) {
            tsv_clear(out);
            return err_set(err, ST_USAGE, "%s:%d: %zu cells where %zu belong", file, number, n,
                           cols);
        }
        out->nrows += named; /* the first line is written over by the next */
        named = true;
    }
    return ST_OK;
}

enum status tsv_blob(const char *path, size_t cols, struct tsv *out, struct err *err)
{
    const struct blob *b = blob_find(path);
    if (b)
        return tsv_parse(path, b->data, blob_size(b), cols, out, err);
    *out = (struct tsv){0};
    return err_set(err, ST_FAIL, "%s did not travel with this program", path);
}

void tsv_clear(struct tsv *t)
{
    free(t->text);
    free(t->cells);
    *t = (struct tsv){0};
}

const char *tsv_cell(const struct tsv *t, size_t row, size_t col)
{
    return t->cells[row * t->ncols + col];
}
