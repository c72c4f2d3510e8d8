/* ptx_names.h - which registers of a PTX text hold variables of the source.
 *
 * Compilers keep no names, and asking for one changes the code. A comment costs nothing:
 *
 *     __syncwarp(); // P of these rows is read by this warp alone @show m l acc
 *
 * A marked copy of the source stores these variables there, element by element, into shared memory that nobody reads; it is
 * compiled like the source. Where the two texts are the same instructions but for these stores, the names of registers
 * and labels, the registers that are stored are those of the source's text by that bijection. Where they are not, there
 * are no names, and why is said. Stores, because a volatile asm may end a thread as far as the compiler knows, so that
 * what may not run is no longer moved before it.
 *
 * What was found stands in comments at the end of the text, so that it travels, is kept and is checked with it:
 *
 *     //@show fa2 121 m[0]=%f12 m[1]=%f13             entry, line of the marker; a name may have several registers
 *     //@noshow fa2.cu:121: the marked copy ...        no names of this marker
 *
 * A register is the variable where the marker stands; between markers the compiler may be ahead of the source.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_PTX_NAMES_H
#define ATTNSCOPE_BACKEND_PTX_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "base/str.h"

enum { PTX_NAMES_ALL = -1, PTX_NAMES_MARKERS = 64, PTX_NAMES_MOST = 4096 };

/* Markers in a source. */
int ptx_names_markers(const char *source, size_t len);
/* A copy that stores what all of them name, or one. The caller frees; a zero is behind its *out_len bytes. */
char *ptx_names_mark(const char *source, size_t len, int marker, size_t *out_len);
/* The lines for the text's end. ST_NO: other instructions; *out is as it was. */
enum status ptx_names_find(const char *source, size_t len, const char *plain, const char *marked,
                           struct str *out, struct err *err);
/* All of it: the copy with all markers, or else one for each of them. `compile` gives a copy's PTX, which is freed here;
 * NULL: it does not compile. Lines are added to `out`: of markers that have no names, why. */
typedef char *ptx_names_compile(void *ctx, const char *copy, size_t len);
void ptx_names_add(const char *source, size_t len, const char *plain, ptx_names_compile *compile,
                   void *ctx, struct str *out);
/* Has somebody looked for names in this text? */
bool ptx_names_known(const char *text);

/* The names of one entry, in the order of the text. Foreign, but for their letters. */
struct ptx_names {
    char **name; /* "acc[1][2]" */
    size_t n, cap;
    struct ptx_naming {
        char *reg;
        uint32_t name;
    } * reg;
    size_t regs, regs_cap;
    char *why_not; /* the first marker's that has none; NULL */
};
void ptx_names_read(const char *text, size_t len, const char *entry, struct ptx_names *out);
void ptx_names_clear(struct ptx_names *p);

#endif
