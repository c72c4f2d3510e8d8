/* faults.h - the fake driver's script: which call breaks, and how. See fakecuda.h for its words.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_FAKECUDA_FAULTS_H
#define ATTNSCOPE_TESTS_FAKECUDA_FAULTS_H

/* The text of "key=..." in the script; until the next call. */
const char *fake_text(const char *key, const char *fallback);
/* The number of "key=..." in the script. */
int fake_number(const char *key, int fallback);

/* Counts a call of `entry`; what the script wants to happen in it, or NULL. Borrowed until the next
 * call. */
const char *fake_scripted(const char *entry);
/* The code to return; most faults do their damage here, and many do not return. */
int fake_break(const char *what);
/* `usual`, or what the script has for the call under way: "cuEventElapsedTime:1=is-5". */
double fake_value(double usual);

/* The kernel whose code is being used, told to who asks which one was hit. */
void fake_at_kernel(const char *name);
/* Forgets all calls. */
void fake_forget(void);

#endif
