/* desc_parse.h - between the descriptor's parser and its neighbours in this folder; not for others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_KERNEL_DESC_PARSE_H
#define ATTNSCOPE_KERNEL_DESC_PARSE_H

#include "kernel/descriptor.h"

/* A descriptor to be: a file's text and what the registry knows about it beforehand. */
struct desc_source {
    const char *file, *text;
    size_t len;
    uint64_t hash; /* desc_source_hash */
    bool trusted;  /* built in: the unit tests have made the checks of desc_check.c */
};
enum status desc_parse_source(const struct desc_source *src, struct kernel_desc **out,
                              struct err *err);

/* The shared headers that a kernel of this file name and text sees, as a set; kernels of equal sets
 * begin their source hash alike. */
uint64_t desc_header_set(const char *file, const char *text, size_t len);
/* FNV-1a of the headers of a set, in the order of the build's list: the start of a source hash. */
uint64_t desc_header_hash(uint64_t set);
/* Continues each of `n` hashes over its text. */
void desc_hash_texts(int n, const char *const *texts, const size_t *lens, uint64_t *hashes);

/* Is it "module.function": Python names with dots between them? */
bool desc_is_python_path(const char *path);

/* The i-th name that every expression may use (shape letters, T, causal, ...), NULL at the end. */
const char *desc_fixed_name(size_t i);
/* The i-th name known to this descriptor's expressions, its parameters included (str_list_fn). */
const char *desc_known_name(const void *desc, size_t i);

#endif
