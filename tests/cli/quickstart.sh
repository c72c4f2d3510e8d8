#!/bin/sh
# When quickstart configures, in a folder whose configure and make only say that they ran.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2034
. "$(dirname "$0")/lib.sh"
pkg-config --exists cunit 2>/dev/null || {
    echo '1..0 # SKIP no CUnit'
    exit 0
}
mkdir bin build m4 src kernels lessons man tests
cp "${ATTNSCOPE_SRCDIR:?}/quickstart" .
touch -d '2 hours ago' configure.ac Makefile.am
printf '#!/bin/sh\necho configured\ntouch config.status\n' >configure
printf '#!/bin/sh\n' >bin/make
chmod +x configure bin/make
touch -d '1 hour ago' configure
PATH=$PWD/bin:$PATH
quick() { # CUnit's condition when the build was configured
    printf "HAVE_CUNIT_TRUE='%s'\n" "$1" >build/config.log
    shift
    rc=0
    out=$(./quickstart "$@" --user --yes 2>&1) || rc=$?
}
quick '' check
says "$out" 'packages are missing' && {
    echo '1..0 # SKIP not all packages are there'
    exit 0
}
is "a fresh folder is configured" says "$rc $out" '^configured$'
quick '' check
is "one that has its tests is not" says "$rc $(printf '%s' "$out" | grep -c '^configured$')" '^0 0$'
quick '#' check
is "one that was configured without CUnit has no unit tests: check configures it again" says "$out" '^configured$'
quick '#' --no-start
is "  where tests are asked for" [ "$(printf '%s' "$out" | grep -c '^configured$')" -eq 0 ]
touch -d '2 hours' configure
quick '' check
is "a newer configure is run" says "$out" '^configured$'
finish
