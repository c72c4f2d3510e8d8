#!/bin/sh
# Five thousand faults: CI draws three hundred.
# SPDX-License-Identifier: GPL-3.0-or-later
FAULTS=5000 exec "${ATTNSCOPE_BUILDDIR:?}/tests/faults/test_faults.t"
