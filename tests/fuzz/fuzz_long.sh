#!/bin/sh
# A million inputs of every target, fewer of those that take long (fuzz_cost); CI has a fiftieth of that under sanitizers.
# SPDX-License-Identifier: GPL-3.0-or-later
set -u
unset FUZZ_INPUTS
number=0
for target in "${ATTNSCOPE_BUILDDIR:?}"/tests/fuzz/fuzz_*.t; do
    number=$((number + 1)) name=${target##*/}
    if said=$("$target") && ! printf '%s\n' "$said" | grep -q '^not ok'; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        printf '%s\n' "$said" | sed 's/^/# /'
    fi
done
echo "1..$number"
[ "$number" -gt 0 ]
