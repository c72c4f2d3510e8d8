/* assert.h - assert() of device code, which clang_cuda.h has, in place of the system's of this name.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
