#!/bin/sh
# Five hundred kills of the program and of its workers.
# SPDX-License-Identifier: GPL-3.0-or-later
KILLS=500 exec "${ATTNSCOPE_SRCDIR:?}/tests/cli/kills.sh"
