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
{ echo "$head"; for s in 1 2 3 4 5 6 7 8 9 10; do row fa2 "B=1 H=1 S=$s D=16 f32" 10; done; } > ten.rec
run calibrate "$tmp/ten.rec" gpu=L4 --json --dry-run
is "before many simulations it says how many, for a script waits in silence" says "$err" '10 configurations are simulated first'
run calibrate "$tmp/l4.rec" gpu=L4 --each --json --dry-run
is "of a few nothing is said" [ -z "$err" ]
is "it stands" [ "$rc" -eq 0 ]
is "a row for each configuration" [ "$(printf '%s' "$out" | grep -o '"kernel":' | wc -l)" -eq 5 ]
is "of one that was measured twice the median" says "$out" '"kernel":"fa2_keys".*"measured_us":22'
is "all of them the model's" [ "$(printf '%s' "$out" | grep -o '"origin":"model"' | wc -l)" -eq 5 ]
is "a dry run keeps nothing" [ -z "$(kept)" ]

# ---- of a GPU that was not fitted no more is known than of one that was
within() { # GPU
    run tune fa2 H=1 S=128 "gpu=$1" sort=predicted
    printf '%s' "$out" | sed -n 's/.*lie within \([0-9.]*\) times.*/\1/p'
}
l4=$(within L4) h200=$(within H200)
is "tiles share a rank on both: $l4, $h200" [ -n "$l4" ] && [ -n "$h200" ]
is "no nearer on the GPU that was not fitted" \
    env LC_ALL=C awk -v a="$l4" -v b="$h200" 'BEGIN { exit !(a >= b) }'

# ---- kept
run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim --json
before=$(field predicted_us)
is "nobody has fitted it" [ "$(field predicted_error_pct)" = 40.0 ]
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
is "  and say whose it is" [ "$(field predicted_whose)" = '"yours"' ]
is "towards what was measured" awk -v a="$(field predicted_us)" -v b="$before" 'BEGIN { exit !(a > b && a < 40) }'
run run fa2 S=32 H=1 D=64 f32 gpu=H200 backend=sim --json
is "not for another GPU" [ "$(field predicted_error_pct | cut -d. -f1)" -lt 23 ]
is "  whose factors are shipped" [ "$(field predicted_whose)" = '"shipped"' ]
shipped=$(field predicted_us)
run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim
is "below the table, too, with a hash" says "$out" "^model, on L4 \\(factors: yours, sha256 $(sha256sum "$(kept)" | cut -c1-12), fitted [0-9-]{10} to l4; by their own account off"
run run fa2 S=32 H=1 D=64 f32 gpu=H200 backend=sim
is "of shipped ones the error alone" says "$out" '^model, on H200 \(off by '

# ---- files that are none, or of somebody who means ill: not used, and that is said
own=$(kept)
cp "$own" good.json
refused() { # what, pattern, words of sed over a good file
    sed "$3" good.json > "$own"
    run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim --json
    is "$1: not used" [ "$rc $(field predicted_us) $(field predicted_whose)" = "0 $before null" ]
    is "  and that is told" says "$err" "factors of L4 are not used: .*/calibrations/L4.json: .*$2"
    is "  once" [ "$(printf '%s\n' "$err" | grep -c 'not used')" -eq 1 ]
}
refused "NaN" 'no JSON' 's/"alu": [^,]*/"alu": NaN/'
refused "more than a double holds" 'no JSON' 's/"alu": [^,]*/"alu": 1e400/'
refused "huge" 'alu' 's/"alu": [^,]*/"alu": 1e300/'
refused "negative" 'alu' 's/"alu": [^,]*/"alu": -3/'
refused "zero" 'alu' 's/"alu": [^,]*/"alu": 0/'
refused "null" 'null' 's/"smem": [^,]*/"smem": null/'
refused "one that is missing" 'smem' '/"smem":/d'
refused "no error" 'null' 's/"kernels_pct": [^,]*/"kernels_pct": null/'
refused "an error below none" 'kernels_pct' 's/"kernels_pct": [^,]*/"kernels_pct": -5/'
refused "a text for a number" 'launch' 's/"launch": [^,]*/"launch": "1"/'
refused "another GPU's, shipped ones'" 'they are of H200' 's/"gpu": [^,]*/"gpu": "H200"/'
run run fa2 S=32 H=1 D=64 f32 gpu=H200 backend=sim --json
is "whose own factors stay" [ "$(field predicted_us)" = "$shipped" ]
refused "a GPU that is none" 'nonesuch' 's/"gpu": [^,]*/"gpu": "nonesuch"/'
refused "nothing at all" 'no JSON' 's/.*//'
truncate -s 3G "$own"
run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim
is "too long a file is told" says "$rc $err" '^0 .*factors of L4 are not used: '
rm "$own" && mkfifo "$own"
run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim
is "a pipe is not waited for" says "$rc $err" '^0 .*factors of L4 are not used: .* is a pipe, not a file'
rm "$own"
{ sed 's/"recording": .*/"recording": "\\u001b[31m%s%n/; /recording/q' good.json | tr -d '\n'
  printf '%100000s",' ''; sed '1,/"recording"/d' good.json; } > "$own"
run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim
is "a name without an end" says "$err" 'not used: .*L4.json'
sed 's/"recording": .*/"recording": "\\u001b[31m%s%n\\u202e",/' good.json > "$own"
run run fa2 S=32 H=1 D=64 f32 gpu=L4 backend=sim
is "a name for the terminal alone" says "$out" 'to \^\[\[31m%s%n'
is "  has nothing raw" [ "$(printf '%s' "$out" | LC_ALL=C tr -d '\n\t -~' | LC_ALL=C grep -c "$(printf '\033')")" -eq 0 ]
cp good.json "$own"

# ---- a restricted session neither keeps nor drops
for words in '--forget' '--forget --dry-run' '--dry-run --forget'; do
    # shellcheck disable=SC2086  # words
    run --restricted calibrate gpu=L4 $words
    is "restricted: $words is refused" [ "$rc" -eq 2 ]
    is "  and drops nothing" cmp -s good.json "$own"
done
run calibrate gpu=L4 --forget --dry-run
is "both at once are refused elsewhere, too" says "$rc $err" '^2 .*one of them'
is "  and drop nothing" cmp -s good.json "$own"

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
