#!/bin/sh
# A thousand cells in one process, in parts here and by GNU parallel: the same rows; `make check` has sixty.
# SPDX-License-Identifier: GPL-3.0-or-later
SHARDS_CELLS=1000 exec sh "${ATTNSCOPE_SRCDIR:?}/tests/cli/shards.sh"
