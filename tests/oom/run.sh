#!/bin/sh
# Memory that runs out, once, at every place where it is asked for: see loop.py. Here a sample; `make check-long`
# takes all of them.
# SPDX-License-Identifier: GPL-3.0-or-later
command -v python3 >/dev/null || {
    echo '1..0 # SKIP no python3'
    exit 0
}
exec python3 "${ATTNSCOPE_SRCDIR:?}/tests/oom/loop.py" --sites "${OOM_SITES_EACH:-12}"
