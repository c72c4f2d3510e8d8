#!/bin/sh
# calibrate: the time model's factors fitted to a recording, kept, used and forgotten again.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2016  # lib.sh gives tmp, rc, out and err
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none COLUMNS=160

# The value of a field of the first row.
field() { printf '%s' "$out" | sed -n "s/.*\"$1\":\\([^,}]*\\)[,}].*/\\1/p" | head -1; }
not() { ! "$@"; }
kept() { find "$HOME" -path '*calibrations*' -type f; }

# A recording of runs that never were: kernel, shape, time.
head='{"type":"header","format":"attnscope-recording","format_version":1,"program_version":"0.1.0","time":"2026-11-23T12:00:00Z","backend":"cuda","device":"NVIDIA L4"}'
row() { # kernel, shape, us, more members
    printf '{"type":"row","time":"2026-11-23T12:00:00Z","command":"run","row":{"kernel":"%s","backend":"cuda","device":"NVIDIA L4","origin":"live","shape":"%s","params":"","median_us":%s,"l2":"cold","launch":"stream","check":"pass"%s}}\n' "$1" "$2" "$3" "${4:-}"
}
{
    echo "$head"
    row naive 'B=1 H=1 S=16 D=64 f32' 18
    row fa2 'B=1 H=1 S=24 D=64 f32' 19
    row qtile_seq 'B=1 H=1 S=32 D=64 f32' 20
    row row_full 'B=1 H=1 S=40 D=64 f32' 21
    row fa2_keys 'B=1 H=1 S=48 D=64 f32' 21
    row fa2_keys 'B=1 H=1 S=48 D=64 f32' 23
    row fa2 'B=1 H=1 S=48 D=64 f32' 1 ',"source_hash":"0123456789abcdef"' # of another source
    row fa2 'B=1 H=1 S=56 D=64 f32' -1
    row nobody 'B=1 H=1 S=56 D=64 f32' 10
    row fa2 'not a shape' 10
} > l4.rec

# ---- looked at
run calibrate "$tmp/l4.rec" gpu=L4 --each --json --dry-run
is "it stands" [ "$rc" -eq 0 ]
is "a row for each configuration" [ "$(printf '%s' "$out" | grep -o '"kernel":' | wc -l)" -eq 5 ]
is "of one that was measured twice the median" says "$out" '"kernel":"fa2_keys".*"measured_us":22'
is "all of them the model's" [ "$(printf '%s' "$out" | grep -o '"origin":"model"' | wc -l)" -eq 5 ]
is "a dry run keeps nothing" [ -z "$(kept)" ]

# ---- kept
run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim --json
before=$(field predicted_us)
is "nobody has fitted it" [ "$(field predicted_error_pct)" = 26.0 ]
run calibrate "$tmp/l4.rec" gpu=L4
is "it fits" [ "$rc" -eq 0 ]
is "what to what" says "$out" '^L4: 5 of 6 recorded configurations \(5 kernels, 5 shapes\)'
is "what is left out" says "$out" '^1 are of another source'
is "the error before" says "$out" '^all factors 1 +[0-9.e+]+ %'
is "of what was left out" says "$out" '^kernels left out +[0-9.e+]+ %'
is "eight factors" [ "$(printf '%s\n' "$out" | grep -Ec '^(alu|shared|global|issue|smem|tensor|l2|launch) +[0-9.]+  ')" -eq 8 ]
is "where it is kept" says "$out" '^kept in '
is "there it is" [ "$(kept | wc -l)" -eq 1 ]
run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim --json
is "predictions use it" [ "$(field predicted_us)" != "$before" ]
is "towards what was measured" awk -v a="$(field predicted_us)" -v b="$before" 'BEGIN { exit !(a > b && a < 40) }'
run run fa2 S=32 H=1 D=64 f32 gpu=H200 backend=sim --json
is "not for another GPU" [ "$(field predicted_error_pct | cut -d. -f1)" -lt 23 ]

# ---- a file that is none
echo '{"gpu":"L4","recording":"x","alu":-3}' > "$(kept)"
run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim --json
is "a damaged file counts as absent" [ "$(field predicted_us)" = "$before" ]

# ---- forgotten
run calibrate gpu=L4 --forget
is "it can be forgotten" [ "$rc" -eq 0 ]
is "and is gone" [ -z "$(kept)" ]
run calibrate gpu=L4 --forget
is "once" [ "$rc" -ne 0 ]

# ---- refused
{ echo "$head"; row fa2 'B=1 H=1 S=24 D=64 f32' 120; } > few.rec
run calibrate "$tmp/few.rec" gpu=L4
is "too few say nothing" [ "$rc" -ne 0 ]
is "in words" says "$err" 'too few to say'
is "and are not kept" [ -z "$(kept)" ]
run calibrate "$tmp/l4.rec" gpu=H200
is "a recording of another GPU" says "$err" 'no recording here has cold times of an H200'
run calibrate gpu=A100
is "no recording at all" says "$err" 'no recording here'
run calibrate "$tmp/none.rec" gpu=L4
is "no such recording" [ "$rc" -eq 2 ]
run calibrate "$tmp/l4.rec" gpu=nothing
is "no such GPU" [ "$rc" -eq 2 ]
run calibrate n=some
is "no such number" [ "$rc" -eq 2 ]
run --restricted -c "calibrate gpu=H200"
is "a restricted session keeps nothing" says "$err" 'restricted'
finish
