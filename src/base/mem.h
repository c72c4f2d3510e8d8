/* mem.h - allocation that cannot fail, and arenas.
 *
 * Ownership in one sentence: who calls X_new calls X_free; a const pointer argument is borrowed
 * for the call; what must outlive the call is copied.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_MEM_H
#define ATTNSCOPE_BASE_MEM_H

#include <stdarg.h>
#include <stddef.h>

/* As their namesakes; they end the program through fatal() when memory runs out. */
void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *text);
char *xstrdup_if(const char *text); /* NULL of NULL */
char *xstrndup(const char *text, size_t len);
char *xasprintf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *xvasprintf(const char *fmt, va_list ap);

/* Grows `*items` so that it holds at least `need` elements of `size` bytes; `*cap` is updated. */
void xgrow(void **items, size_t *cap, size_t need, size_t size);

/* Memory for tensors: 64-byte aligned, in huge pages where they exist. NULL when there is none; free() ends it. */
void *mem_alloc_wide(size_t bytes);

/* Bytes that can be allocated without swapping, the container's limit included; NaN if unknown. */
double mem_available_bytes(void);

/* Many small allocations that die together. */
struct arena;
struct arena *arena_new(void);
void arena_free(struct arena *a);
void arena_reset(struct arena *a);
void *arena_alloc(struct arena *a, size_t size); /* zeroed, 16-byte aligned */
char *arena_strndup(struct arena *a, const char *text, size_t len);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
