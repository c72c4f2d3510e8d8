#!/bin/sh
# What source lines cost: profile heat=, its rows and pictures, and sweeps of counters, without a GPU.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_PYTHON=none COLUMNS=120

# The number of a line of the source with this text.
line_of() { grep -nF -- "$2" "${ATTNSCOPE_SRCDIR:-$OLDPWD}/kernels/cuda/$1.cu" | head -1 | cut -d: -f1; }

run profile fa2 S=200 H=2 heat=smem_wavefronts
is "the source with its costs" [ "$rc" -eq 0 ]
is "what it is of, and where most of it is" says "$out" '^SMEM wavefronts: [0-9.]+ k, [0-9.]+ % in line [0-9]+$'
n=$(line_of fa2 'const Four k = load4(Ks')
is "a line that reads shared memory has its share" says "$out" "^ +$n +[0-9.]+ k .. +[0-9]+ .*load4\\(Ks"
n=$(line_of fa2 's[i][c] += q[i].x[e]')
is "one that multiplies has none" says "$out" "^ +$n {10,}s\\[i\\]"
all=$(printf '%s\n' "$out" | sed -n 's/^SMEM wavefronts: \([0-9.]*\) k.*/\1/p')

run sweep fa2 BC=64,32 S=200 H=2 metric=smem_wavefronts --json
is "a counter is a metric, without a backend" says "$out" '"smem_wavefronts":[0-9]'
one=$(printf '%s' "$out" | sed -n 's/.*"BC":64.*"smem_wavefronts":\([0-9]*\).*/\1/p' | head -1)
is "  the same in all" [ "$(awk -v a="$all" -v b="$one" 'BEGIN { print (a - b / 1000 < 0.1 && b / 1000 - a < 0.1) }')" -eq 1 ]
run sweep fa2 BC=64,32 S=200 H=2 metric=smem_wavefronts
is "  and says whose it is" says "$out" '\| sim$'
is "  and nothing of times" silent "$(printf '%s\n' "$out" | grep 'times')"
run sweep fa2 BC=64,32 S=200 H=2 metric=predicted_us gpu=H200
is "predicted for a GPU that is not here" says "$out" '^64 +[0-9.]+'
run sweep fa2 BC=64,32 S=200 H=2 metric=smem_wavefronts backend=cpu
is "who names a backend means it" says "$out" '^64 +-$'

run -c 'run naive S=256 H=1 backend=sim' -c 'roofline naive S=256 H=1 gpu=H200 --json'
between() { printf '%s' "$out" | awk -v RS=',' -F: '/"requested_intensity"/ { r = $2 } /"counted_intensity"/ { c = $2 }
    /"compulsory_intensity"/ { o = $2 } END { exit !(r > 0 && c >= r && c <= 1.01 * o) }'; }
is "a point of the roofline by counted bytes, between asked for and needed" between
run -c 'run naive S=256 H=1 backend=sim' -c 'roofline naive S=256 H=1 gpu=H200'
is "  with its sign" says "$out" '\$: with the bytes of DRAM that the simulator counted'
run roofline naive S=256 H=1 gpu=H200
is "  and none where nothing was simulated" silent "$(printf '%s\n' "$out" | grep 'simulator')"

run profile fa2,naive S=72 H=1 heat=global_sectors
is "two kernels, two sources" [ "$(printf '%s\n' "$out" | grep -c '^Global sectors: ')" -eq 2 ]
run profile fa2 S=72 H=1 heat=global_sectors --json
is "JSON has the rows of by=line" says "$out" '"line":[0-9]+.*"global_sectors":'
for bad in 'heat=l2_bytes' 'heat=active_lanes' 'heat=nonesuch' 'heat=barriers by=phase'; do
    # shellcheck disable=SC2086
    run profile fa2 S=72 H=1 $bad
    is "refused: $bad" [ "$rc" -eq 2 ]
done
run profile fa2 heat=smem_wavefront
is "  with its neighbour" says "$err" 'did you mean "smem_wavefronts"'

run -c 'profile fa2 S=72 H=1 by=line' -c "export $tmp/a.svg figure=source" -c "export $tmp/a.html"
is "a picture of it" [ "$rc" -eq 0 ]
is "  is SVG with the source" says "$(cat "$tmp/a.svg")" '<svg .*'
is "  line by line" says "$(cat "$tmp/a.svg")" 'load4\(Ks'
is "  with a hint for who points at it" says "$(cat "$tmp/a.svg")" '<title>line [0-9]+: [0-9.]+ [kM]? ?of Warp instructions'
is "a page has it, too" says "$(cat "$tmp/a.html")" 'load4\(Ks'
hard=$(printf '\302\240\302\240\302\240\302\240')
is "  with its indentation" grep -q ">${hard}[^<]*load4(Ks" "$tmp/a.svg"
is "  and the command that makes it" says "$(cat "$tmp/a.html")" 'profile fa2 H=1 S=72 backend=sim by=line'

# ---- a change of the source, and a block's phases, as pictures of the last command ----
run -c 'plan fa2' -c 'set S=72' -c 'set H=1' -c 'source fa2_mma_async diff' -c "export $tmp/d.svg" -c "export $tmp/d.html" -c "export $tmp/d.json"
is "a diff is a picture" says "$(cat "$tmp/d.svg")" 'fa2_mma_swizzle to fa2_mma_async'
is "  line by line, with what each executes more or less of" says "$(cat "$tmp/d.svg")" '<title>line [0-9]+: [-+][0-9.]+( k)? warp instructions'
is "  also in a page" says "$(cat "$tmp/d.html")" 'copy_tile_async'
is "  its rows are the diff's" says "$(cat "$tmp/d.json")" '"base":"fa2_mma_swizzle"'
run -c 'timeline fa2_mma_async S=256 H=1 origin=sim gpu=L4 block=1' -c "export $tmp/b.svg"
is "phases of a block are a picture" says "$(cat "$tmp/b.svg")" '>block 1 \(query tile 1 of head 0\)'
is "  with what each colour is" says "$(cat "$tmp/b.svg")" '>B .*copies, products'
run -c 'timeline fa2_mma_async S=256 H=1 origin=sim gpu=L4' -c "export $tmp/t.svg"
is "what is said above a timeline is not cut off" [ "$(tr '\n' ' ' <"$tmp/t.svg" | grep -c 'the clock of this.*picture')" -eq 1 ]
is "  and says what comes before the first block" says "$(tr '\n' ' ' <"$tmp/t.svg")" 'the launch takes the first'
finish
