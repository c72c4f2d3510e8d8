/* number.h - numbers as people write and read them.
 *
 * Suffixes k M G (and Ki Mi Gi) are powers of 1024, as in sequence lengths; us ms s are times and
 * give seconds; % divides by 100. Numbers have a decimal point in every language: the program must
 * leave LC_NUMERIC at "C" (curses needs LC_CTYPE only).
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_NUMBER_H
#define ATTNSCOPE_BASE_NUMBER_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"

/* Unknown is not zero: an unknown integer is INT_UNKNOWN, an unknown real is NaN (REAL_UNKNOWN). */
#define INT_UNKNOWN  INT64_MIN
#define REAL_UNKNOWN (__builtin_nan(""))

/* Parses the whole of `text`. On ST_USAGE the sentence names the text. */
enum status number_parse(const char *text, double *out, struct err *err);
/* Reads the unsigned number that `text` begins with, suffix included; returns the bytes used, 0 if
 * there is none. Without `percent` a % is left alone. *out may be infinite. For lexers. */
size_t number_scan(const char *text, bool percent, double *out);
/* The whole of `text` as an integer, exact over all of int64_t; sizes only, no times, no %. Refuses
 * fractions and values outside [lo, hi]. `what` names the key in messages. */
enum status number_parse_int(const char *what, const char *text, int64_t lo, int64_t hi,
                             int64_t *out, struct err *err);
/* yes/no/true/false/on/off/1/0. */
enum status number_parse_bool(const char *what, const char *text, bool *out, struct err *err);

/* Formatting. Every function writes "-" for an unknown value and returns `buf`. */
#define NUMBER_BUF 40
char *number_fmt(char buf[NUMBER_BUF], double value,
                 int digits); /* significant digits, no exponent where avoidable */
char *number_fmt_int(char buf[NUMBER_BUF], int64_t value);
char *number_fmt_count(char buf[NUMBER_BUF], double value); /* 4.29 G (powers of 1000) */
char *number_fmt_bytes(char buf[NUMBER_BUF], double bytes); /* 512 B, 64.0 KiB, 1.50 GiB */
char *number_fmt_us(char buf[NUMBER_BUF], double us);       /* 4.21 us, 1.23 ms, 2.05 s */
char *number_fmt_size(char buf[NUMBER_BUF], int64_t value); /* 4k where exact, else 4095 */

/* Of two doubles, for qsort(): the smaller first. */
int number_order(const void *a, const void *b);

#endif
