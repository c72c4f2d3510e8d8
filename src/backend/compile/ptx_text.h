/* ptx_text.h - PTX as a text: is it one, and the names of files in it.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_PTX_TEXT_H
#define ATTNSCOPE_BACKEND_PTX_TEXT_H

#include <stddef.h>

/* A copy with short names in its .file lines: "fa2.cu" and "attn.cuh" for ours, "cuda/NAME" for CUDA's headers, and a
 * user's file as it is. Ours were compiled in a folder that is gone, or had no folder, and NVRTC wrote that of
 * its process, `cwd` (NULL: unknown), before them. The caller frees it; a zero is behind its *out_len bytes. */
char *ptx_tidy(const char *text, size_t len, const char *cwd, size_t *out_len);

#endif
