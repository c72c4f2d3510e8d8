#!/bin/sh
# A hundred thousand keys into the line reader.
# SPDX-License-Identifier: GPL-3.0-or-later
FUZZ_KEYS=100000 exec "${ATTNSCOPE_BUILDDIR:?}/tests/tui/fuzz_repl.t"
