/* report.h - one HTML file that says what was measured, where, how it looks and how to repeat it.
 *
 * Self-contained: style, pictures (SVG) and data (JSON) are inside, nothing is fetched, no script
 * runs; light and dark follow the reader's setting. All text in it is sanitised and escaped, and a
 * content security policy forbids what should not be there anyway, for reports are mailed.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_EXPORT_REPORT_H
#define ATTNSCOPE_EXPORT_REPORT_H

#include <jansson.h>

#include "base/str.h"
#include "export/sheet.h"
#include "plan/device.h"

struct recording_header; /* store/recording.h */

struct report {
    const char *title;                     /* NULL: made from what was measured */
    const char *about;                     /* "a session", "the recording h200" */
    const char *note;                      /* what could not be read; NULL: nothing */
    const struct recording_header *header; /* NULL: this machine, now */
    struct sheets sheets;                  /* in order; borrowed */
    const struct device_table *devices;
};
/* Appends the page. A sheet with a title is headed by it; its rows are counted elsewhere. */
void report_html(const struct report *r, struct str *out);

#endif
