/* desc_parse.h - a descriptor out of a file's text, for the registry; others take desc_parse().
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_DESC_PARSE_H
#define ATTNSCOPE_KERNEL_DESC_PARSE_H

#include "kernel/descriptor.h"

/* A descriptor to be: a file's text and what the registry knows about it beforehand. */
struct desc_source {
    const char *file, *text;
    size_t len;
    bool trusted; /* built in: the unit tests have checked it */
};
enum status desc_parse_source(const struct desc_source *src, struct kernel_desc **out,
                              struct err *err);

#endif
