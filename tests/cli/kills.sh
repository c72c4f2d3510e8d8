#!/bin/sh
# Ten kills; `make check-long` has five hundred.
# SPDX-License-Identifier: GPL-3.0-or-later
command -v python3 >/dev/null || {
    echo '1..0 # SKIP no python3'
    exit 0
}
exec python3 "${ATTNSCOPE_SRCDIR:?}/tests/cli/kills.py" "${KILLS:-10}"
