#!/bin/sh
# The whole loop: every site of every command, of the worker and of the full screen.
# SPDX-License-Identifier: GPL-3.0-or-later
exec python3 "${ATTNSCOPE_SRCDIR:?}/tests/oom/loop.py"
