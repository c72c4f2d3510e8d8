#!/bin/sh
# Fifty thousand inputs of the debugger.
# SPDX-License-Identifier: GPL-3.0-or-later
exec "${ATTNSCOPE_BUILDDIR:?}/tests/fuzz/fuzz_debug.t" 50000
