/* ptxnames.c - which registers of a kernel's PTX hold the variables that its source marks with @show: prints the lines that
 * belong at the text's end, or nothing where the source has no marker. See backend/compile/ptx_names.h.
 *
 * usage: ptxnames SOURCE PTX COMMAND...     COMMAND compiles the file that is its last argument to stdout
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend/compile/ptx_names.h"
#include "base/mem.h"

enum { TEXT_MAX = 64 << 20, WORDS_MAX = 1000 };

static char *read_text(const char *path, size_t *len)
{
    struct err err = ERR_INIT;
    char *text;
    if (str_read_file(path, TEXT_MAX, &text, len, &err) != ST_OK) {
        fprintf(stderr, "ptxnames: %s\n", err.text);
        exit(1);
    }
    return text;
}

/* What the command prints; NULL: it fails, with its own words. */
static char *output_of(char **words)
{
    int ends[2], status;
    if (pipe(ends))
        return NULL;
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], 1);
        close(ends[0]);
        execvp(words[0], words);
        _exit(127);
    }
    close(ends[1]);
    FILE *in = fdopen(ends[0], "r");
    struct str text = {0};
    for (int c; in && (c = getc(in)) != EOF;)
        str_addc(&text, (char)c);
    if (in)
        fclose(in);
    const bool ok =
        waitpid(child, &status, 0) == child && WIFEXITED(status) && !WEXITSTATUS(status);
    if (ok)
        return str_take(&text);
    str_free(&text);
    return NULL;
}

static char *compile(void *ctx, const char *copy, size_t len)
{
    char **given = ctx, *words[WORDS_MAX + 2] = {NULL};
    char path[] = "/tmp/ptxnames-XXXXXX.cu";
    const int fd = mkstemps(path, 3);
    const bool written = fd >= 0 && write(fd, copy, len) == (ssize_t)len;
    if (fd >= 0)
        close(fd);
    size_t n = 0;
    for (; n < WORDS_MAX && given[n]; n++)
        words[n] = given[n];
    words[n] = path;
    char *text = written ? output_of(words) : NULL;
    unlink(path);
    return text;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "usage: ptxnames SOURCE PTX COMMAND...\n");
        return 2;
    }
    size_t len, ptx_len;
    char *source = read_text(argv[1], &len), *plain = read_text(argv[2], &ptx_len);
    struct str out = {0};
    ptx_names_add(source, len, plain, compile, argv + 3, &out);
    fputs(str_text(&out), stdout);
    str_free(&out);
    free(plain);
    free(source);
    return 0;
}
