#!/bin/sh
# debug: a block held still. Words in a line, a script and after the verb; text, rows and what is refused; back; and a planted
# race that is found by words alone.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2016,SC2154
. "$(dirname "$0")/lib.sh"
export COLUMNS=200
unset ATTNSCOPE_COMPILE

# ---- a stop ----
run debug fa2 S=64 f32
is "it begins before the first step" says "$out" '^fa2, block 0,0,0, warp 0 of 4, lane 0, step 0$'
is "  with the source" says "$out" '^>  +[0-9]+ +fa2\('
run -c 'debug fa2 S=64 f32; stepi'
is "a line may go on with its words" says "$out" 'step 1$'
is "  what the step did" says "$out" '^did warp 0, fa2.cu:[0-9]+: '
run -c 'debug fa2 S=64 f32' -c 'warp 2' -c 'until shared' -c 'info warps'
is "a warp, to its access" says "$out" '^did warp 2, fa2.cu:[0-9]+ \(attn.cuh:[0-9]+\): st.shared'
is "  three lines before the next and two behind it" [ "$(printf '%s\n' "$out" | sed -n '/^fa2, /,/^> inlined/s/^\([> ]\)  *[0-9][0-9]* .*/\1/p' | tail -6 | tr ' ' .  | tr -d '\n')" = '...>..' ]
is "  and that of the code inlined there" says "$out" '^> inlined there, attn.cuh:[0-9]+  for \(int e = threadIdx'
is "  by element" says "$out" 'writes shared from Qs\[[0-9]+\]\[[0-9]+\] on: 16 bytes a lane, 32 lanes, 4 wavefronts \(ideal 4\)'
is "  at the banks" says "$out" '^  wavefronts of banks 0-31: 4{32}'
is "  the others have not moved" says "$out" '^  warp 0 .* 0 steps$'

# ---- what is under way: the copy engine, products of a warpgroup ----
line=$(grep -n 'await_products<0>(s)' "$ATTNSCOPE_SRCDIR/kernels/cuda/fa3_warpspec.cu" | head -1 | cut -d: -f1)
run -c 'debug fa3_warpspec S=200 D=64 H=1' -c "until $line" -c 'info warps'
is "products that nobody has waited for" says "$out" '^> warp 0 .* 4 products under way$'
run -c 'debug fa3_warpspec S=400 D=64 H=1' -c "until $line" -c 'info barriers'
is "mbarriers by their names in the source: what a phase still lacks" says "$out" '^v_here\[0\]: phase of parity 0 lacks 0 arrivals and 16384 bytes'
is "  of those that wait for warps" says "$out" '^k_free\[1\]: phase of parity 0 lacks 12 arrivals$'
run -c 'debug fa3_warpspec S=200 D=64 H=1' -c "until $line" -c 'back 40' -c 'info warps' -c 'info copies'
is "before them a copy that comes when it is waited for" says "$out" '^  warp 12 .*, 1 copy under way$'
is "  which, and whom it is announced to" says "$out" '^warp 12 to [KQ]s\[0\].*lanes of [0-9]+ bytes, announced to the mbarrier at byte [0-9]+'

run -c 'debug fa3_warpspec S=512 D=64 H=1 order=3' -c 'until 95' -c 'until barrier' -c 'info barriers' -c trail
is "until barrier stops at an mbarrier that is asked in vain" says "$out" '^asks an mbarrier, fa3_warpspec.cu:[0-9]+ '
is "  which one, who asks, what it lacks" says "$out" '^v_here\[0\]: phase of parity 0 lacks 0 arrivals and 16384 bytes; asked by warp 0$'
is "  copies and products on the line of steps" says "$out" '; under way at most \(a 9\): copies [0-9]+, products [0-9]+$'
is "  with the warp that waits" says "$out" '^warp 0 .*={4}'
run -c 'debug fused_warp_spec S=200 D=64 H=1; until barrier; until barrier; until barrier; info barriers; warp 8; until barrier; info barriers'
is "mbarriers that warps ask, where the copy engine is not used" says "$out" '^full\[0\]: phase of parity 0 lacks 32 arrivals; asked by warp 0 1 2 3 4 5 6 7$'
is "  a phase that is over by now" says "$out" '^full\[0\]: phase of parity 1 lacks 64 arrivals; over is the phase before, asked by warp 0 1 2 3 4 5 6 7$'
is "  and who waits for those" says "$out" '^empty\[0\]: phase of parity 0 lacks 256 arrivals; asked by warp 8$'
run -c 'debug fa3_warpspec S=200 D=64 H=1' -c 'until 95' -c 'stepi 9'
is "an instruction of many registers shows some" says "$out" '^  \.\.\. and [0-9]+ registers more$'
run -c 'debug fa2_mma S=200 H=1' -c 'until barrier' -c 'info barriers'
is "a barrier says how many are expected" says "$out" '^barrier 0: 32 of 128 threads have arrived: warp 0$'

# ---- what is asked for is what runs ----
run debug fa2 D=512
is "a head dimension that the kernel does not take is refused, not replaced" says "$err" 'fa2 needs D <= 256; D is 512'
is "  with a status" [ "$rc" -eq 2 ]
run debug fa2
is "the problem that nobody typed is told" says "$out" '^before the first step of B=1 H=2 S=200 D=64 f16, whose grid is 4 x 2 x 1$'
run step 3
is "a word before there is a block says what comes first" says "$err" '"step" is a word of debug, which comes first: debug K$'
run info warps
is "  also where it is another verb's name" says "$err" 'as a word of debug it comes behind: debug K$'

# ---- words that are wrong say what would be right ----
cat >script <<'END'
debug fa2_mma S=200 H=1
until 63
x/3f Ks[5][0]
print m[0]
END
run -f script
is "f has the width of the elements" says "$out" '^Ks\[5\]\[1\] = '
is "what every lane has is said once" says "$out" '^m\[0\] f32 = -inf in every lane$'
for line in 'print Ks[999][0]|Ks has 64 rows of 64 elements' 'print foo|a variable \(info variables lists them\)' \
    'warp 7|a warp of the block, 0 to 3' 'goto 99999999|a step that was made, 0 to 0' 'step 99999999999|how often, 1 to 16777216' \
    'x|an element to begin with'; do
    run -c 'debug fa2_mma S=200 H=1' -c "${line%%|*}"
    is "  ${line%%|*}" says "$err" "${line#*|}"
done
run -c 'debug splitkv S=200 H=1' -c 'until shared'
is "halves on their way to memory are no integers" says "$out" '^    %rs[0-9]+ f16 '
run -c 'debug fa2 S=64 f32' -c 'info copies' -c 'info breaks' -c 'rwatch Ks[0][0]' -c delete
is "nothing is said in words" says "$out" '^no copy is under way$'
is "  of breaks" says "$out" '^no break is set, and nothing watched$'
is "  a watch in words" says "$out" '^1  read of Ks\[0\]\[0\], met 0 times$'
is "  when they are gone" says "$out" '^no break is left$'
run -c 'debug fa2 S=64 f32 order=7' -c 'warp 2' -c 'until shared' -c 'export stop.html'
is "a page of a stop has the line that comes to it" grep -q 'debug fa2 S=64 dtype=f32 order=7; warp 2; until shared<' stop.html
is "  and says where it comes from" grep -q 'sim: 1 row' stop.html

# ---- values, watches, back ----
cat >script <<'END'
debug fa2 S=64 f32
print Ks[5][12]
watch Ks[5][12]
continue
print Ks[5][12]
back
print Ks[5][12]
stepi
print Ks[5][12]
END
run -f script
is "a value that nobody wrote" says "$out" '^Ks\[5\]\[12\] = - \(not written\)$'
is "a watch stops at it" says "$out" '^1 \(value Ks\[5\]\[12\]\): it was not written, and is -?[0-9.]+$'
is "back it is unwritten, and with the step there again" \
    [ "$(printf '%s\n' "$out" | grep '^Ks.5..12. = ' | sed 's/.*= //' | sed 's/-\{0,1\}[0-9.]\{3,\}/V/' | tr '\n' ' ')" = \
    '- (not written) V - (not written) V ' ]
run -c 'debug fa2 S=64 f32; break 70 warp 3 lane 5; continue'
is "a break stops where the warp comes" says "$out" '^warp 3 has come to break 1 \(at 70 warp 3 lane 5\)$'
run -c 'debug fa2 S=64 f32; break 70 if Ks[0][0] > 1000; break 70 if Ks[0][0] >= -1000; continue'
is "a condition compares, and writes no file" says "$out" 'come to break 2 \(at 70 if Ks\[0\]\[0\] >= -1000\)'
is "  of that name" [ ! -e 1000 ]
run -c 'debug fa2 S=64 f32; continue; where'
is "to the end, without a hazard" says "$out" '^the block has ended without a hazard; back, goto N and restart go into it again$'
is "  which is the end" [ "$rc" -eq 0 ]
run -c 'debug splitkv S=64 pass=combine; until global; print/f32 O[0][0][0][0]; export figure=lanes lanes.svg'
is "another pass" says "$out" '^did warp 0, splitkv'
is "  a sector with the lanes that it serves, all of its bytes" [ "$(grep -c 'class="h8"\|class="s k8">8<' lanes.svg)" -eq 2 ]
run -c "debug fused_cp_async S=64; break 1; info breaks; until 1"
is "a line without code means the next that has some" says "$out" "^> +[0-9]+ +[^ ]"
is "  and is named so" says "$out" "^1  at ([2-9]|[0-9]{2,}), met 0 times"

# ---- values that every stop shows ----
run -c 'debug fused_cp_async S=128; display ms[5]; display Os[5][0]; until barrier; warp 3; continue; undisplay 1; where'
is "a value is shown at every stop, unwritten at first" says "$out" '^shows 1  ms\[5\] = -$'
is "  and as it grew" says "$out" '^shows 1  ms\[5\] = -?[0-9.]+$'
is "  until it is dropped" [ "$(printf '%s\n' "$out" | tail -4 | grep -c '^shows 1')" -eq 0 ]
run -c 'debug fused_cp_async S=128; display nobody'
is "  what is no value is refused" [ "$rc" -eq 2 ]
run -c 'debug fa2 S=200 H=1 f32; continue; past m; goto 30000; past m; past acc' -c 'past O[0][0][0][0]'
is "how a variable came to be what it is: m of a row that begins at -inf and never falls" \
    [ "$(printf '%s\n' "$out" | awk '/^lane/ { part++ } part == 1 && NF == 6 && $1 ~ /^[0-9]+$/ { n++; if ($4 != "-inf" && $4 < last) n = -9; last = n == 1 ? -1e9 : $4; if (n == 1 && $4 != "-inf") n = -9 } END { print n }')" = 4 ]
is "  of a step in the middle only what was until then" \
    [ "$(printf '%s\n' "$out" | awk '/^lane/ { part++ } part == 2 && $1 ~ /^[0-9]+$/ && NF == 6 && $1 > 30000' | wc -l)" -eq 0 ]
is "  of many elements some, and says so" says "$out" '^lane 0 of warp [0-9], 4 of 32 elements:$'
is "  and what nobody wrote" says "$out" '^it has not been written yet$'

# ---- variables by the source's names ----
# At the end O is acc over the sum of l: of lane 0 and column 0 that of the eight lanes that share the row.
cat >variables <<'END'
continue
warp 0
lane 0
print acc[0][0][0]
print l[0]
print O[0][0][0][0]
END
for dtype in f32 f16 bf16; do
    { echo "debug fa2 S=96 D=64 $dtype"; cat variables; } >script
    run -f script
    is "m, l and acc of $dtype are those that O comes from" [ "$(printf '%s\n' "$out" | awk '
        /^acc.0..0..0. f32 = / { acc = $4 }
        /^l.0. f32 = / { for (i = 4; i < 12; i++) sum += $i }
        /^O.0..0..0..0. = / { o = $3 }
        END { d = acc / sum - o; print (sum > 0 && acc != 0 && d < 2e-3 && d > -2e-3) }')" = 1 ]
done
run -c 'debug fa2 S=128 f32; print m; watch m[1]; continue; continue; delete; until 115; info variables; display m; back 400; where'
is "a variable has no value before its first" says "$out" '^m\[0\] = - \(not written\)$'
is "  is watched" says "$out" '^1 \(value m\[1\]\): it was -inf and is -?[0-9.]+$'
is "  is listed with the line that wrote it" says "$out" '^m\[0-3\]  .*by line 89$'
is "  is shown at every stop" says "$out" '^shows 1  m = \(-?[0-9.]+, .*\)$'
run -c 'debug fa2 S=128 f32; break 111 if m[0] > -100; continue; watch m'
is "  is a condition" says "$out" 'come to break 1 \(at 111 if m\[0\] > -100\)'
is "  and one element of it is watched" says "$err" 'm has several elements: m\[0\] is one'
run -c 'debug fa2 S=64 f32; until 115; until 115; info registers %f --json'
is "registers have the source's name, too" says "$out" '"source":"acc\[[0-9]+\]\[[0-9]+\]\[[0-9]+\]"'
is "  and the stop its variables" says "$out" '"names":\[\{"name":"m","elements":4,'
run -c 'debug fa2_mma D=128 S=64; print o'
is "where the marked copy is other code there are no names" says "$err" 'there is no o: a value is'
run -c 'debug fa2_mma_plain D=256 S=64; print m'
is "  and it is said" says "$err" 'variables of this kernel have no names here: line [0-9]+: the copy'
run -c 'debug naive S=64; info variables'
is "a source without markers says how" says "$out" 'the source marks no variables'

# ---- pictures ----
run -c 'debug fused_cp_async S=128; until shared; info map; info access'
is "shared memory, by buffer" says "$out" '^ +0 \*.*~*' && says "$out" 'Q Qs 8.00 KiB'
is "  where the copy will land" says "$out" '~ a copy will land  \* this access'
is "the access at the banks" says "$out" '^ +1 +0 - - - 1 - - - 2'
run -c 'debug fa2_mma_async S=256; continue; trail 6000; export figure=trail trail.svg; export figure=window window.svg; info memory'
is "what warps did: copies under way while they multiply" says "$out" '^copies +[0-9 ]*9+[0-9 ]*$'
is "  and what they did" says "$out" '^warp 0 .*C.*M.*X.*M'
is "  as a picture of its own" grep -q 'multiplies on tensor cores' trail.svg
is "  and shared memory" grep -q 'Ks' window.svg
is "what the way back takes" says "$out" '^for the way back [0-9]+ moments are kept'
run -c 'debug fa2_mma_async S=256; continue; export stop.html; where --json'
is "in a page" grep -q 'what warps did, step by step' stop.html
is "  and as data" says "$out" '"trail":.*"what":"[^"]*M'
run -c 'debug fa2 S=64 f32; trail'
is "before a step there is no trail" says "$out" 'nothing to draw'

# ---- rows ----
run -c 'debug fa2 S=64 f32; until shared --json'
is "JSON of a stop" says "$out" '"why":"goal".*"wavefronts":4'
is "  lane by lane" [ "$(printf '%s' "$out" | grep -o '"wavefront":' | wc -l)" -eq 32 ]
run -c 'debug fa2 S=64 f32; until shared; show $last.wavefronts; show $last.step'
is "a stop is a row of its own" says "$out" '^.last.wavefronts +4 '
is "  with its step" says "$out" '^.last.step +[0-9]+ '

# ---- one block ----
run -c 'debug fa2 S=128 H=2 f32; stepi 5; block 1,1; order against; stepi; restart'
is "another block begins anew" says "$out" 'block 1,1,0, warp 0 of 4, lane 0, step 0$'
run debug fa2 S=64 f32 block=9,9,9
is "a block that is not there is told" says "$err" 'there is no block 9,9,9'
is "  as misuse" [ "$rc" -eq 2 ]

# ---- what is refused ----
run -c 'debug step'
is "without a kernel" says "$err" 'nothing is debugged'
run -c 'debug fa2 S=64 f32; stpe'
is "a word that is none has a neighbour" says "$err" 'did you mean "step"'
run -c 'debug fa2 S=64 f32; debug stpe'
is "  after the verb, too" says "$err" 'did you mean "step"'
run -c 'debug fa2 S=64 f32; until'
is "until without a goal names all of them" says "$err" 'a line, or one of barrier access shared global hazard fault nan inf join$'
run -c 'debug fa2 S=64 f32; until nowhere'
is "  and so where there is none of that name" says "$err" 'no line, and none of barrier .* hazard fault nan inf join$'
run help until
is "help finds a word of the debugger, with what may follow it" \
    says "$out" '^word of debug +until +the warp, .*\(until LINE.barrier.access.shared.global.hazard.fault.nan.inf.join\)'
for words in 'stepi x' 'stepi 0' 'warp 31' 'lane 32' 'print Zs[1]' 'print %nonesuch' 'until nowhere' 'info nothing' \
    'delete 7' 'goto 5' 'order backwards' 'break 70 if' 'break 70 if Ks[0][0] ? 1' 'x/99999f Ks' 'step/f' 'kill now'; do
    run -c "debug fa2 S=64 f32; $words"
    is "refused: $words" [ "$rc" -eq 2 ]
done
run -c 'debug fa2 S=64 f32; kill; step'
is "kill lets go, and the words with it" says "$err" 'nothing is debugged|there is no command'
run -c 'debug naive,fa2 S=64'
is "one kernel at a time" says "$err" 'one kernel'
run -c 'debug cublas S=64'
is "another library's is refused" [ "$rc" -ne 0 ]
run -c 'debug fa2 S=64 f32; check fa2 S=64 f32 backend=sim; stepi'
is "others run meanwhile" says "$out" '^fa2, block .* step 1$'

# ---- a planted race, by words alone ----
if ! command -v python3 >/dev/null || ! command -v clang >/dev/null; then
    skip "a planted kernel needs python3 and clang"
    finish
    exit
fi
export ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC=/nonexistent/nvcc
kernels=$HOME/.local/share/attnscope/kernels
mkdir -p "$kernels"
PYTHONDONTWRITEBYTECODE=1 python3 "$ATTNSCOPE_SRCDIR/tests/sim/faults/faults.py" plant fa2-no-release "$kernels" >planted
is "a race is planted" says "$(cat planted)" "^fa2_no_release"
for order in turns against 7; do
    run -c "debug fa2_no_release S=200 H=1 f32 order=$order; until hazard; info hazards"
    is "the race is found, order $order" says "$out" '^hazard: (warps of one block|lanes of one warp) use the same bytes with no '
    is "  with both parties and the element" says "$out" "(Ks|Vs)\[[0-9]+\]\[[0-9]+\].*lane [0-9]+ of warp [0-9]+ .*(fa2_no_release.cu|attn.cuh):[0-9]+"
    is "  where the tile is loaded" says "$out" '^> +[0-9]+ .*\*\(Vec<V> \*\)\(tile \+ r \* PITCH'
done
run -c "debug fa2_no_release S=200 H=1 f32; until hazard; back; info hazards"
is "a step before it is not there" says "$out" '^no hazard and no fault so far$'

# ---- where a NaN comes from: a sum that stays 0, so that one tile ends with infinities, which the next one multiplies by it
sed -e 's/^ \* @name.*/ * @name nothing/' -e 's/qtile_seq(const/nothing(const/' -e 's/l += sum;/l += 0 * sum;/' \
    "$ATTNSCOPE_SRCDIR/kernels/cuda/qtile_seq.cu" >"$kernels/nothing.cu"
line=$(grep -n 'acc\[d\] \*= l' "$kernels/nothing.cu" | cut -d: -f1)
run sanitize nothing S=200 H=1 D=32 f32
is "a NaN in the output, and how its maker is found" says "$out" '^  "debug nothing B=1 H=1 S=200 D=32 f32", then "until nan"'
run -c 'debug nothing S=200 H=1 D=32 f32; until nan'
is "until nan stops at the first instruction that makes one" says "$out" "^did warp [0-9]+, nothing\.cu:$line: "
is "  which shows it" says "$out" '^  = .* nan in every lane$'
run -c 'debug nothing S=200 H=1 D=32 f32; until nan; until nan; until nan'
is "  and the others that make one, none that hands it on" [ "$(printf '%s\n' "$out" | grep -c "^did warp [0-9]*, nothing\.cu:$line: ")" -eq 3 ]
run -c 'debug qtile_seq S=200 H=1 D=64 f32; until nan'
is "  where there is none, the block ends" says "$out" 'the block has ended'

# ---- where an infinity comes from: it is computed; first maxima and masked scores are none that is
divides=$(grep -n 'acc\[d\] /= l' "$kernels/nothing.cu" | cut -d: -f1)
run -c 'debug nothing S=200 H=1 D=32 f32; until inf'
is "until inf stops at a division by zero, long before the NaN that comes of it" says "$out" "^did warp [0-9]+, nothing\.cu:$divides: div"
is "  which shows it" says "$out" '^  = .*inf; lanes 0-7:.* -?inf'
sed -e 's/fa2\b/large/g' -e 's/x\[e\] \* inverse)/x[e] * inverse * 1e6f)/' "$ATTNSCOPE_SRCDIR/kernels/cuda/fa2.cu" >"$kernels/large.cu"
run -c 'debug large S=64 H=1 D=64 f16; until inf'
is "and at an overflow of f16" says "$out" '^did warp [0-9]+, .*: cvt\.rn\.f16\.f32'
sed -e 's/fa2_mma\b/largest/g' -e 's/pack(x\[0\] \* inverse,/pack(x[0] * 1e6f * inverse,/' "$ATTNSCOPE_SRCDIR/kernels/cuda/fa2_mma.cu" >"$kernels/largest.cu"
run -c 'debug largest S=64 H=1 D=64 f16; until inf'
is "  of one of two halves" says "$out" '^did warp [0-9]+, .*: cvt\.rn\.f16x2\.f32'
endless=
for kernel in fa2 fa2_mma qtile_seq fused_warp_spec row_online; do
    run -c "debug $kernel Sq=100 Sk=70 H=1 D=64 f16 causal; until inf"
    says "$out" 'the block has ended' || endless="$endless $kernel"
done
[ -z "$endless" ] || echo "# stops in:$endless"
is "kernels that are right have none, though rows are masked" [ -z "$endless" ]
run -c 'debug fa2 B=1 H=1 S=64 D=64 f32; debug until barrier; debug'
is "debug alone, while a block is held: where it stands" [ "$rc $(printf '%s\n' "$out" | grep -c 'waits at its barrier, fa2')" = "0 2" ]
run -c 'debug fa2 B=1 H=1 S=64 D=64 f32; debug --json'
is "  as rows, too" says "$rc $out" '"step":0,'
run debug
is "  and asks for a kernel before" says "$err" 'debug needs a kernel'
finish
