#!/bin/sh
# One figure for one thing: what run, check and profile count of a simulated kernel is of the run that would be timed.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2086  # lib.sh gives tmp, rc, out and err; shapes are words
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none

counters="dram_bytes dram_read_bytes dram_write_bytes l2_bytes smem_wavefronts smem_conflicts
warp_instructions active_lanes divergences tensor_ops smem_requests smem_wavefronts_ideal
global_requests global_sectors global_sectors_ideal local_sectors barriers shuffles votes
atomics async_copies"

# "kernel field:value ..." of every row that was counted, with each counter the simulator has.
counts() {
    printf '%s\n' "$1" | awk -v names="$counters" '
        /"warp_instructions":[0-9]/ {
            match($0, /"kernel":"[^"]*"/)
            line = substr($0, RSTART + 10, RLENGTH - 11)
            n = split(names, name, " ")
            for (i = 1; i <= n; i++)
                if (match($0, "\"" name[i] "\":[^,}]*"))
                    line = line " " substr($0, RSTART, RLENGTH)
            print line
        }' | tr -d '"'
}

same() { [ -s "$tmp/$1" ] && cmp -s "$tmp/$1" "$tmp/$2"; }

# Names of the lines from the n-th on, sixteen at most: as many as profile takes.
names() { sed -n "$1,$(($1 + 15))p" "$2" | cut -d' ' -f1 | paste -sd, -; }

while read -r shape; do
    run run all backend=sim threads=1 $shape --json
    counts "$out" >"$tmp/run"
    n=$(wc -l <"$tmp/run")
    is "kernels were counted: $shape" [ "$n" -gt 0 ]
    : >"$tmp/profile"
    at=1
    while [ "$at" -le "$n" ]; do
        run profile "$(names "$at" "$tmp/run")" backend=sim threads=1 $shape --json
        counts "$out" >>"$tmp/profile"
        at=$((at + 16))
    done
    out=$(diff "$tmp/run" "$tmp/profile") || :
    is "run and profile agree on all $n: $shape" same run profile
done <<'LIST'
S=80 H=2
S=40 H=1 f32 causal
Sq=2 Sk=80 H=2
LIST

# Where races are looked for the LSE is judged, too: in a run beside the one that is counted.
run check fa2 backend=sim S=80 H=2 threads=1 --json
counts "$out" >"$tmp/check"
is "races were looked for" says "$out" '"hazards":0'
run profile fa2 backend=sim S=80 H=2 threads=1 hazards=on --json
counts "$out" >"$tmp/on"
run profile fa2 backend=sim S=80 H=2 threads=1 hazards=off --json
counts "$out" >"$tmp/off"
is "there are figures" says "$(cat "$tmp/off")" '^fa2 .*warp_instructions:[1-9]'
is "a look at races counts nothing" same on off
is "check has the same counts" same check off

# A parameter that a kernel's CUDA source has alone means that source, where nobody names a backend.
untimed() { [ "$rc" -eq 0 ] && ! says "$out" ' live$'; }
unset ATTNSCOPE_LIBCUDA
if [ ! -e /dev/nvidiactl ]; then
    run run fa2 PAD=8 S=64 H=1
    is "it is simulated" says "$out" '^fa2 +PAD=8 .* sim$'
    is "its C version is not timed" untimed
    run run fa2@PAD=8,fa2 S=64 H=1
    is "beside it the C version of the same kernel stands among the times" [ "$(printf '%s\n' "$out" | sed '/^$/,$d' | grep -c ' live$')" -eq 1 ]
    is "and both sources below" [ "$(printf '%s\n' "$out" | sed '1,/^$/d' | grep -Ec '^fa2 .* sim$')" -eq 2 ]
    run run fa2 PAD=2 S=64 H=1
    is "one that the source refuses is a usage error" [ "$rc" -eq 2 ]
    run run fa2 PAD=8 S=64 backend=cpu
    is "a backend by name has no such parameter" [ "$rc" -eq 2 ]
fi
finish
