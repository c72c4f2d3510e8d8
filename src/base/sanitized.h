/* sanitized.h - is this a build with the address sanitizer? It takes more time and memory, reserves
 * terabytes of addresses, and looks for leaks in /proc/self.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BASE_SANITIZED_H
#define ATTNSCOPE_BASE_SANITIZED_H

#if defined __SANITIZE_ADDRESS__ /* gcc */
#define SANITIZED 1
#elif defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
