#!/bin/sh
# Two hours of work with a fault each second: see soak.py. SOAK=600 shortens it; SOAK_LOG=DIR keeps what it writes.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}" "${ATTNSCOPE_FAKECUDA:?}"
command -v python3 >/dev/null || {
    echo '1..0 # SKIP no python3'
    exit 0
}
# Copies: a build meanwhile writes over the others.
mkdir bin
cp "$ATTNSCOPE" "$ATTNSCOPE_WORKER" "$ATTNSCOPE_FAKECUDA/fakecuda.so" bin
ATTNSCOPE=$tmp/bin/attnscope ATTNSCOPE_WORKER=$tmp/bin/attnscope-worker ATTNSCOPE_FAKECUDA=$tmp/bin
export ATTNSCOPE ATTNSCOPE_WORKER ATTNSCOPE_FAKECUDA
log=${SOAK_LOG:-$tmp/soak}
python3 "$ATTNSCOPE_SRCDIR/tests/cli/soak.py" "${SOAK:-7200}" "$log"
