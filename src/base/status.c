/* status.c - one sentence for the user, and the one way to die.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/status.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The only mutable globals of the program: fatal() may be reached from anywhere, and the terminal
 * must be given back whoever calls it. */
static void (*fatal_hook)(void);
static int dying; /* how often that was asked for */

/* Formats into `err`, with no mark and nobody caught. Goes through a buffer of its own, because an argument may be err->text. */
__attribute__((format(printf, 2, 0))) static void err_format(struct err *err, const char *fmt,
                                                             va_list ap)
{
    char text[sizeof err->text];
    int n = vsnprintf(text, sizeof text, fmt, ap);
    if (n < 0)
        strcpy(text, "(a message could not be formatted)");
    size_t len = strlen(text);
    if (n >= (int)sizeof text) { /* cut: not in the middle of a UTF-8 sequence */
        while (len > 0 && ((unsigned char)text[len - 1] & 0xC0) == 0x80)
            len--;
        if (len > 0 && (unsigned char)text[len - 1] >= 0xC0)
            len--;
        text[len] = 0;
    }
    memcpy(err->text, text, len + 1);
    err->at = -1;
    err->len = 0;
    err->caught = false;
}

enum status err_set(struct err *err, enum status st, const char *fmt, ...)
{
    if (!err)
        return st;
    va_list ap;
    va_start(ap, fmt);
    err_format(err, fmt, ap);
    va_end(ap);
    return st;
}

enum status err_caught(struct err *err, const char *fmt, ...)
{
    if (!err)
        return ST_FAIL;
    va_list ap;
    va_start(ap, fmt);
    err_format(err, fmt, ap);
    va_end(ap);
    err->caught = true;
    return ST_FAIL;
}

enum status err_mark(struct err *err, enum status st, int at, int len, const char *fmt, ...)
{
    if (!err)
        return st;
    va_list ap;
    va_start(ap, fmt);
    err_format(err, fmt, ap);
    va_end(ap);
    err->at = at;
    err->len = len;
    return st;
}

void err_prefix(struct err *err, const char *fmt, ...)
{
    if (!err)
        return;
    struct err prefix;
    va_list ap;
    va_start(ap, fmt);
    err_format(&prefix, fmt, ap);
    va_end(ap);
    const int at = err->at, len = err->len;
    const bool caught = err->caught;
    err_set(err, ST_OK, "%s: %s", prefix.text, err->text);
    err->at = at;
    err->len = len;
    err->caught = caught;
}

void fatal(const char *fmt, ...)
{
    void (*hook)(void) = fatal_hook;
    fatal_hook = NULL; /* a hook that fails itself must not come back here */
    if (dying++ > 1)
        _exit(ST_FAIL); /* nor what is done at the end */
    if (hook)
        hook();
    va_list ap;
    va_start(ap, fmt);
    fputs("attnscope: ", stderr);
    vfprintf(stderr, fmt, ap);
    fputc('\n', stderr);
    va_end(ap);
    exit(ST_FAIL);
}

void fatal_set_hook(void (*hook)(void))
{
    fatal_hook = hook;
}
