/* history.c - see history.h.
 *
 * The file is locked while a line is appended or the file is shortened, so that sessions side by
 * side lose nothing of each other's.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/line/history.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/path.h"
#include "base/sanitize.h"

enum { BYTES_READ = 1 << 20, BYTES_LONG = 1 << 19 };

/* `why`, NULL or empty: gets the sentence when there is something that is no file to read or write. */
static int open_locked(int flags, struct err *why)
{
    char *path = path_in(PATH_STATE, "history");
    int fd = -1;
    if (path && !file_may_open(path, why) && (!(flags & O_CREAT) || !path_make_parent(path, NULL)))
        fd = open(path, flags | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0600);
    free(path);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) && flock(fd, LOCK_EX)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* The end of the file, from a line's beginning on; NULL when it is no plain file or empty. */
static char *read_tail(int fd, size_t *size)
{
    struct stat st;
    if (fstat(fd, &st) || !S_ISREG(st.st_mode) || !st.st_size)
        return NULL;
    *size = (size_t)st.st_size;
    const size_t want = *size < BYTES_READ ? *size : BYTES_READ;
    char *text = xmalloc(want + 1);
    const ssize_t got = pread(fd, text, want, (off_t)(*size - want));
    text[got > 0 ? got : 0] = 0;
    if (want < *size) { /* the first line is a piece */
        const char *next = strchr(text, '\n');
        memmove(text, next ? next + 1 : "", strlen(next ? next + 1 : "") + 1);
    }
    return text;
}

/* ---- each line once ---- */

static uint32_t hash(const char *text)
{
    uint32_t h = 2166136261u; /* FNV-1a */
    for (; *text; text++)
        h = (h ^ (unsigned char)*text) * 16777619u;
    return h;
}

/* Is it in the table already? Puts it there otherwise. */
static bool seen(const char **table, size_t size, const char *line)
{
    size_t i = hash(line) % size;
    while (table[i] && strcmp(table[i], line))
        i = (i + 1) % size;
    const bool before = table[i] != NULL;
    table[i] = line;
    return before;
}

static bool is_clean(const char *line)
{
    char *clean = sanitize_line(line);
    const bool same = !strcmp(clean, line);
    free(clean);
    return *line && same;
}

static size_t split(char *text, char ***out)
{
    size_t n = 0, cap = 0;
    *out = NULL;
    for (char *line; (line = strsep(&text, "\n"));) {
        xgrow((void **)out, &cap, n + 1, sizeof **out);
        (*out)[n++] = line;
    }
    return n;
}

/* From the newest line back, so that the last place of each counts. */
static void pick(char **all, size_t n, struct history *out)
{
    enum { TABLE = 4 * HISTORY_MAX + 1 };
    const char **table = xcalloc(TABLE, sizeof *table);
    char **picked = xcalloc(HISTORY_MAX, sizeof *picked);
    size_t count = 0;
    while (n > 0 && count < HISTORY_MAX) {
        n--;
        if (is_clean(all[n]) && !seen(table, TABLE, all[n]))
            picked[count++] = all[n];
    }
    out->lines = xcalloc(count + 1, sizeof *out->lines);
    for (out->count = 0; out->count < count; out->count++)
        out->lines[out->count] = xstrdup(picked[count - 1 - out->count]);
    free(picked);
    free(table);
}

/* ---- */

static bool write_lines(int fd, const struct history *h)
{
    struct str text = {0};
    for (size_t i = 0; i < h->count; i++)
        str_addf(&text, "%s\n", h->lines[i]);
    const bool ok = !ftruncate(fd, 0) && lseek(fd, 0, SEEK_SET) == 0 &&
                    file_write_all(fd, str_text(&text), text.len);
    str_free(&text);
    return ok;
}

void history_load(struct history *out)
{
    char **all;
    size_t size;
    *out = (struct history){0};
    struct err why = ERR_INIT;
    int fd = open_locked(O_RDWR, &why);
    if (*why.text)
        out->refused = xstrdup(why.text);
    if (fd < 0 && (fd = open_locked(O_RDONLY, NULL)) < 0)
        return;
    char *text = read_tail(fd, &size);
    if (text) {
        const size_t n = split(text, &all);
        pick(all, n, out);
        if (size > BYTES_LONG)
            (void)write_lines(fd, out); /* read-only, or full: it stays long */
        free(all);
        free(text);
    }
    close(fd);
}

void history_forget(struct history *h)
{
    for (size_t i = 0; i < h->count; i++)
        free(h->lines[i]);
    free(h->lines);
    free(h->refused);
    *h = (struct history){0};
}

bool history_keep(const char *line)
{
    if (str_blank(line) || *line == ' ')
        return false;
    const int fd = open_locked(O_WRONLY | O_APPEND | O_CREAT, NULL);
    if (fd >= 0) {
        char *text = xasprintf("%s\n", line);
        const ssize_t n = write(fd, text, strlen(text));
        (void)n; /* on a full disk the line is in memory at least */
        free(text);
        close(fd);
    }
    return true;
}
