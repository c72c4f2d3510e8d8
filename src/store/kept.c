/* kept.c - see kept.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "store/kept.h"

#define WHOSE                                                                            \
    FIELD(FIELD_TEXT, kept_row, whose,                                                   \
          .doc = "Who measured it: yours, of this machine; of a recording also shipped " \
                 "or someone's.")

static const struct field stored_fields[] = {
    FIELD(FIELD_INT, kept_row, id, .doc = "Number of the row, growing."),
    FIELD_AT("time", FIELD_TEXT, kept_row, run.time, .doc = "When it was measured, UTC."),
    FIELD(FIELD_TEXT, kept_row, command,
          .doc = "What would measure it again; the other fields are those of run."),
    WHOSE,
    {.name = NULL},
};
const struct row_type stored_type = ROW_TYPE(kept_row, {stored_fields, 0}, {run_fields, 0});

static const struct field recorded_fields[] = {
    FIELD(FIELD_TEXT, kept_row, command,
          .doc = "What would measure it again; the other fields are those of run."),
    FIELD(FIELD_TEXT, kept_row, recording, .doc = "The recording that has it."),
    WHOSE,
    FIELD_AT("recording_hash", FIELD_TEXT, kept_row, hash,
             .doc = "Of that recording: the first digits of its SHA-256."),
    {.name = NULL},
};
const struct row_type recorded_type = ROW_TYPE(kept_row, {run_fields, 0}, {recorded_fields, 0});

const struct kept_row *row_kept(const struct row *row)
{
    const struct kept_row *stored = row_as(row, &stored_type);
    return stored ? stored : row_as(row, &recorded_type);
}
