/* status.h - how functions report that something went wrong.
 *
 * A function that can fail returns an `enum status` and, on failure, leaves one sentence for the
 * user in the caller's `struct err`. The values are the program's exit statuses, so that the last
 * status of a command needs no translation.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_STATUS_H
#define ATTNSCOPE_BASE_STATUS_H

#include <stdarg.h>
#include <stdbool.h>

enum status {
    ST_OK = 0,        /* done */
    ST_NO = 1,        /* it ran, and the answer is no: a check failed, a kernel is slower */
    ST_USAGE = 2,     /* the request makes no sense: unknown word, bad value, bad file */
    ST_FAIL = 3,      /* the world failed: worker lost, disk full, driver error */
    ST_CANCELLED = 4, /* the user stopped it */
    ST_NO_GPU = 77,   /* a GPU is needed and absent */
};

/* One sentence for the user. `at` and `len` mark the offending word as byte offsets into the text
 * that was being parsed; `at` is -1 when there is no such text. `caught`: it says what a kernel did and must not,
 * so that its check has failed, whatever else is known of it. */
struct err {
    char text[480];
    int at, len;
    bool caught;
};

#define ERR_INIT ((struct err){.at = -1})

/* Stores the formatted sentence and returns `st`, so that callers write
 * `return err_set(err, ST_USAGE, "...")`. `err` may be NULL. Clears the mark. */
enum status err_set(struct err *err, enum status st, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* As err_set with ST_FAIL, since what the kernel ran in is spoilt, and says that the kernel was caught. */
enum status err_caught(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* As err_set, and marks `len` bytes at offset `at` of the parsed text as the culprit. */
enum status err_mark(struct err *err, enum status st, int at, int len, const char *fmt, ...)
    __attribute__((format(printf, 5, 6)));

/* Puts "prefix: " before the sentence that is already there (a file name, a kernel name). */
void err_prefix(struct err *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Ends the program: out of memory or a broken invariant, nothing else. Calls the hook first, so
 * that the terminal is given back. */
void fatal(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* The one hook that fatal() calls before it prints; the TUI sets it. NULL removes it. */
void fatal_set_hook(void (*hook)(void));

#endif
