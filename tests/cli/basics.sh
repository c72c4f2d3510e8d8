#!/bin/sh
# Options, help, output forms, exit statuses, redirection, configuration: nothing that needs a worker.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC3046,SC2086
. "$(dirname "$0")/lib.sh"

run --version
is "--version goes to standard output" says "$out" '^attnscope [0-9]+\.[0-9]+'
is "--version ends with 0" [ "$rc" -eq 0 ]
run --help
is "--help lists options and commands" says "$out" '--restricted'
is "--help names a verb" says "$out" '^  compare +'
run --hlep
is "an unknown option is a usage error" [ "$rc" -eq 2 ]
is "an unknown option gets the nearest" says "$err" 'did you mean "help"'
run --color=sometimes
is "--color checks its value" [ "$rc" -eq 2 ]
rc=0
"$ATTNSCOPE" --help >/dev/full 2>"$tmp/.err" || rc=$?
is "--help that cannot be written is an error" [ "$rc" -eq 3 ]
run --help-mdoc
is "the manual's sections come from the table" says "$out" '^\.Sh COMMANDS'
run help run
is "help of a verb shows an example" says "$out" 'run cpu_tiled,naive S=2048'
is "  and the forms of its rows" says "$out" '^Output: --json, --csv, --md, else text\.$'
run run --help
is "--help after a verb is the same" says "$out" 'run cpu_tiled,naive S=2048'
run help lse-no-such-word
is "help for nothing is a usage error" [ "$rc" -eq 2 ]

# bad input: one sentence, status 2, nothing on standard output
bad() {
    want=$1
    shift
    run "$@"
    is "refused: $*" [ "$rc" -eq 2 ]
    is "  and says why: $want" says "$err" "$want"
    is "  in one line, and prints nothing" [ "$(printf '%s\n' "$err" | wc -l)$out" = 1 ]
}
bad 'did you mean "run"' rnu naive
bad 'did you mean naive' run naiv
bad 'S=0' run naive S=0
bad 'Hkv=3 .*H=8' plan naive H=8 Hkv=3
bad 'H=[0-9]+ would fit' run naive B=1M H=1M
bad 'f16 and dtype=f32 contradict' plan fa2 f16 dtype=f32
bad 'causal and causal=no contradict' run naive causal causal=no
bad 'S=2k sets Sq and Sk, and so takes back Sq=1; write S=2k Sq=1' plan fa2 Sq=1 S=2k
bad 'H200' plan naive gpu=H20
bad 'nope\.npy' run naive input=nope.npy,k.npy,v.npy
bad 'did you mean "Sq"|did you mean "S"' plan naive Sx=4
bad 'did you mean "S"' run naive s=64
bad 'did you mean "D"' plan naive d=64
bad 'did you mean "B"' run naive b=2
bad 'no-such-file' run naive shapes=no-such-file
bad 'no-such-file' -f no-such-file
bad 'cpu' run naive backend=gpu
bad '--json' plan naive --jsno
bad 'not closed' -c 'show "S'
run -c "set S=512 causal f32" -c "show"
is "set takes words of the shape as run does" says "$out" '^causal +yes'
is "  all of them" says "$out" '^dtype +f32'
run plan fa2 D=128 gpu=H100
is "a roof without tensor cores says so" says "$out" 'compute-bound; at least 64\.2 us without tensor cores$'
run plan fa2_mma D=128 gpu=H100
is "one with them bounds every kernel" says "$out" 'compute-bound; at least 4\.34 us$'
run plan fa2 Sk=64 Sq=1 gpu=H100
is "nor does memory ask for them" says "$out" 'memory-bound; at least 0\.0397 us$'
run plan fa2_mma gpu=Orin
is "a peak that is not known bounds nothing" says "$out" 'unknown: the table has no peak of .*Orin.* for f16'
is "  and no question mark stands for it" [ -z "$(printf '%s' "$out" | grep -F '?-bound')" ]
bad 'BR is 63' plan fa2 BR=63
bad 'PAD is a parameter of the CUDA kernel; on backend=cpu fa2 has BR BC' run fa2 PAD=0 backend=cpu
bad 'fa2 has no WARPS any more: with WARPS=keys it is fa2_keys now' run fa2 WARPS=keys
bad 'with OWN=16 it is fa2_mma_async now' plan fa2_mma@OWN=16
bad 'with STAGES=2 it is wmma_stages now' set wmma_serial STAGES=2
bad 'PAD is a parameter of the CUDA kernel' sweep fa2 PAD=0,4 backend=cpu
bad 'there is no device=3' run naive device=3 backend=cpu
bad 'nowhere/x\.npy' run naive output=nowhere/x.npy
bad 'no plain file' run naive output=/dev/null
bad 'o<FF>\.npy: a file name must be UTF-8' run naive "output=$(printf 'o\377').npy"
bad 'takes no value' kernels --json=3
bad '"3" is one too many' quit 3
bad '--json and --csv: rows have one form' plan naive --json --csv
bad 'help is text' help --json
bad 'set fa2 needs a parameter' set fa2
bad 'no GPU "H20"' plan naive gpu=L4,H20
bad 'no GPU ""' plan naive gpu=L4,
printf '# none yet\n\n' >none.shapes
bad 'none\.shapes names no shape' run naive shapes=none.shapes

run help occupancy --json
is "help WORD --json is rows, for a verb too" says "$out" '"name":'
run occupancy threads=1025
is "none is not 'at most none'" [ "$(printf '%s' "$out" | grep -c '<=0')" -eq 0 ]

run -c 'set fa2 BR=32; set qtile_seq BR=16; show fa2'
is "show K: what is set for a kernel" says "$out" '^fa2 BR +32'
is "and for no other" [ "$(printf '%s' "$out" | grep -c qtile)" -eq 0 ]
run plan splitkv gpu=L4 only=grid,waves
is "plan: only the lines that are asked for" says "$(echo "$out" | tr '\n' '|')" '^splitkv on L4 [^|]*[|]  -- pass splitkv .main.[|]  grid [^|]*[|]  waves [^|]*[|]  -- pass combine[|]  grid [^|]*[|]  waves [^|]*[|]*$'
run plan fused_warp_softmax BR=64 BC=64 gpu=L4 only=traffic
is "  and why there is no plan" says "$out" '^  no  .*static buffers take'
bad 'grid,trafic.*\^|only= takes .*"trafic"' plan fa2 only=grid,trafic
run plan cublas,fa2 S=128M B=1 H=16 --json
is "a workspace beyond every machine is a plan's reason" says "$out" 'beyond every machine: .* = 1\.15e\+18'
is "and no number" [ "$(printf '%s' "$out" | grep -c -- '-922')" -eq 0 ]
is "and the next kernel has its plan" says "$out" '"kernel":"fa2"'
run show naive --json
is "a kernel with nothing set" [ "$(printf '%s' "$out" | tr -d ' \n')" = '[]' ]

# -c takes several lines, as a CI file writes them
run -c 'set S=64   # a comment
show S

set D=128; show D'
is "-c runs every line" says "$out" '^D +128'
is "-c: and the first" says "$out" '^S +64'
run -c 'show S
nosuch
show D'
is "-c stops at the first line that fails" [ "$rc" -eq 2 ]
is "-c names the line" says "$err" '^attnscope: -c:2: there is no command "nosuch"'
is "-c: what came before is there" says "$out" '^S +1024'
is "-c: what comes after is not" [ "$(printf '%s' "$out" | grep -c '^D')" -eq 0 ]

# standard output: a reader that left is no news, a full disk is
many=$(printf 'source fa2\n%.0s' 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20)
{
    rc=0
    "$ATTNSCOPE" -c "$many" 2>"$tmp/.err" </dev/null || rc=$?
    echo $rc >"$tmp/.rc"
} | true
rc=$(cat "$tmp/.rc") out='' err=$(cat "$tmp/.err")
is "a reader that left ends the program" [ "$rc" -eq 3 ]
is "without a word" silent "$err"
if [ -c /dev/full ]; then
    rc=0
    "$ATTNSCOPE" show S >/dev/full 2>"$tmp/.err" </dev/null || rc=$?
    err=$(cat "$tmp/.err")
    is "a full disk is a failure" [ "$rc" -eq 3 ]
    is "and says so" says "$err" 'cannot write to standard output: No space left'
fi

run plan qtile_seq gpu=L4 --json
is "plan --json ends with 0" [ "$rc" -eq 0 ]
is "plan --json is an array" says "$out" '^\['
is "plan --json has the design's fields" says "$out" '"smem_per_block_bytes":[0-9]+'
is "unknown is null" says "$out" '"reason":null'
run plan cpu_tiled,qtile_seq gpu=L4 --csv
is "plan --csv: a kernel without a plan takes no column from the others" says "$out" '^kernel,.*,waves,'
is "its figures are unknown, not zero" says "$out" '^cpu_tiled,.*no CUDA source to plan,model,,,'
is "the other's are there" says "$out" '^qtile_seq,.*"\[""regs""\]"'
run plan qtile_seq gpu=L4
is "plan explains the grid" says "$out" 'ceil\(Sq/BR\)'
is "plan names its limiter" says "$out" '<=='
run plan fused_warp_softmax BR=64 BC=64 gpu=L4
is "no opt-in helps a static block" says "$out" '80\.5 KiB a block .*no opt-in helps'
is "and none of it fits an SM" says "$out" 'occupancy +cannot launch: static buffers take 82432 B'
run plan fused_warp_softmax BR=64 BC=64 gpu=L4 --json
is "  in figures, too" says "$out" '"limit_smem":0,.*"blocks_per_sm":0,"active_warps":0,"occupancy_pct":0\.0,"waves":null'
run explain limit_smem fused_warp_softmax BR=64 BC=64 gpu=L4
is "  and in words" says "$out" 'limit_smem = 0, though an SM would have room: static buffers take 82432 B'
run plan fused_dyn_smem gpu=L4
is "a dynamic one needs it" says "$out" '80\.5 KiB a block .*needs the opt-in'
run plan fa1_2022 BC=256 S=512 gpu=L4
is "plan: one block is no blocks" says "$out" 'occupancy +1 block/SM, 8 of 48 warps'
is "  a formula that is its value is left out" says "$out" 'grid +1 x 8 x 1 blocks +H = 8, B = 1'
is "  what lies in global memory beside the tensors is said" says "$out" 'workspace +o_acc 1\.00 MiB, m 16\.0 KiB, l 16\.0 KiB in global memory'
run timeline fa1_2022 B=1 H=1 S=512 D=64 f16 gpu=H200 origin=model
is "timeline: slots without work have a name on a single SM, too" says "$(printf '%s\n' "$out" | sed -n 4p)" '^  slot 1-2'
run plan naive gpu=MI300X
is "plan on a GPU that is not modelled says so" says "$out" 'occupancy +- : it is modelled for NVIDIA only'
is "and shows no number there" [ "$(printf '%s' "$out" | grep -c 9223)" -eq 0 ]
run plan row_full S=1M D=64
is "a plan that hits a wall is an answer" [ "$rc" -eq 0 ]
run plan row_full S=1M --json
is "counts are exact" says "$out" '"flops":2251799813685248\.0,'
run plan qtile_seq BC=16 gpu=L4 --md
is "plan --md marks an upper bound" says "$out" '\| &lt;=6 \| &lt;=100 \|.*>=0\.368'
run plan qtile_seq BC=16 gpu=L4 --json
is "plan --json keeps the number" says "$out" '"blocks_per_sm":6,.*"upper_bound":true'
run explain occupancy qtile_seq BC=16 gpu=L4
is "explain takes a unique prefix" [ "$rc" -eq 0 ]
is "explain writes a bound as one" says "$out" 'warps of an SM <= 100 \* '
run explain deterministic
is "explain knows a field without a unit" says "$out" '^deterministic: Did two runs'
run explain colour fa2
is "explain suggests nothing that is far off" says "$err" 'no metric "colour"; there are '
run explain waves qtile_seq BC=64 gpu=L4
is "and an exact figure as one" says "$out" 'slots = '
run -c 'plan row_online S=2k gpu=T4; explain flops'
is "explain speaks of what was planned last" says "$out" 'row_online on T4, .*S=2048'
run roofline --json gpu=T4
is "roofline without a kernel gives the device" says "$out" '"gpu":"T4".*"peak_tflops":65\.0'
run roofline fa2,naive gpu=L4,H200 phase=both S=2k --json
is "roofline: a row for each device, phase and kernel" [ "$(printf '%s' "$out" | grep -c '"kernel"')" -eq 8 ]
is "roofline: decode has one query" says "$out" '"phase":"decode","shape":"[^"]*Sq=1 '
is "roofline: what the requested bytes allow" says "$out" '"reach_tflops":[0-9.]+'
is "roofline: nothing was measured there" says "$out" '"measured_tflops":null'
run roofline fa2 gpu=L4,H200
is "roofline: each roof has its name" says "$out" 'H200 989'
bad 'phase is given or both' roofline fa2 phase=decode
run roofline fa2 S=64 H=1 gpu=L4 backend=sim
is "roofline: who asks for the simulator's bytes is told how they come" says "$out" 'profile fa2 H=1 S=64 backend=sim gpu=L4, then roofline'
run -c 'profile fa2 S=64 H=1 backend=sim' -c 'roofline fa2 S=64 H=1 gpu=L4 backend=sim'
is "  and has them afterwards" says "$out" 'with the bytes of DRAM that the simulator counted'
run roofline gpu=T4
is "and names it" says "$out" '^T4, f16: 65 TFLOP/s'

# every field of the JSON is in the manual
run --help-mdoc
manual=$out
documented() {
    run "$@" --json
    for key in $(printf '%s' "$out" | grep -o '"[a-z0-9_]*":' | tr -d '":' | sort -u); do
        says "$manual" "^\.It Va (.*, )?$key(,|\$)|(^|[( ])${key}[,. ]" || missing="$missing $key"
    done
}
missing=
documented plan splitkv,row_full gpu=L4,MI300X
documented occupancy threads=64
documented why fa2,qtile_seq gpu=L4
documented roofline fa2
documented devices
documented kernels
documented lessons
documented trace softmax
documented trace access
documented trace reduce
documented trace splitkv
documented trace sum
documented trace pipe
documented trace banks
documented trace calls
documented doctor
documented show
documented show S
is "every field is in the manual:$missing" silent "$missing"

run why row_full,qtile_seq gpu=H200 S=512
is "why names what differs most" says "$out" 'Of what goes the way of the time, they differ most in requested: 513 MiB +against +9\.00 MiB, +which +speaks +for +qtile_seq'
is "  and the recorded times" says "$out" 'RECORDED on H200: row_full [0-9.]+ us, qtile_seq [0-9.]+ us'
is "  and claims no cause" says "$out" 'goes the way of the time; that it is the cause is +not +shown'
run -c 'why fa2,fa2@BR=32 gpu=H200 S=512; export svg pairs.svg; export gp pairs.gp; export html pairs.html'
is "why exports its bars" says "$(cat pairs.svg)" '>fa2 and fa2@BR=32</text>'
missing=
says "$(cat pairs.svg)" "over the base's" && missing=ratios
is "  and not as ratios of times" [ -z "$missing" ]
is "  for gnuplot" says "$(cat pairs.gp)" 'title "fa2.BR=32"'
is "  in a page" says "$(cat pairs.html)" 'two kernels, figure by figure'
run why row_full,qtile_seq gpu=H200 S=512 --json
is "why --json ranks" says "$out" '"rank":1,"figure":"requested"'
is "  and says whether it agrees with the time" says "$out" '"favours":"qtile_seq","agrees":true'
run why fa2,fa2@BR=32 gpu=L4 D=128
is "bounds are not ranked" says "$out" 'warps an SM .*bounds: not ranked'
is "  nor is a time made up" says "$out" 'what the differences cost +is +not +known'
run why naive,fa2 gpu=L4
is "why names what may explain a time, not what is furthest apart" says "$out" 'Of what by itself speaks for one of them, they differ most in requested: 2\.28 +GiB +against +34\.0 MiB'
run why qtile_seq,fa2 gpu=H200 B=4 H=16 S=2k
is "  and that nothing does" says "$out" 'Nothing that differs speaks for one of them by itself; they differ most in'
run plan fa3_streamk BORDER=0 gpu=H200
is "a plan leaves out a buffer that its parameters empty" [ "$(printf '%s' "$out" | grep -c 'Os')" -eq 0 ]
run plan fa3_streamk BORDER=1 gpu=H200
is "  and has it where it holds something" says "$out" '^ +[0-9]+ +27648  Os '
run -c 'plan fa3_streamk BORDER=0 gpu=H200; export svg held.svg; export html held.html'
is "  in pictures, too" [ "$(cat held.svg held.html | grep -c '>Os\b')" -eq 0 ]
run why fa2
is "why needs two kernels" test "$rc" -eq 2
run why fa2,fa2 gpu=H100
is "that differ" says "$rc $err" '^2 .*why needs two kernels that differ; both are fa2'
run tune cudnn gpu=H100
is "a kernel without parameters has no name of a tile" says "$out" '^not possible: cudnn launches'
run why fa2,cpu_tiled
is "  of CUDA" says "$err" 'cpu_tiled has no CUDA source to plan'
run occupancy fa2 gpu=L4
is "occupancy K draws the SM" says "$out" 'SMEM +\[1+2+[^]]*\].*2 x 44\.0 KiB of 100 KiB; block 3 lacks 32\.0 KiB'
is "  and what is not short" says "$out" 'warps +\[1+2+.*room for 10 more'
run plan fa2 gpu=L4 --json
blocks=$(printf '%s\n' "$out" | grep -o '"blocks_per_sm":[0-9]*' | head -1)
run occupancy fa2 gpu=L4 --json
is "  with the blocks of the plan" says "$out" "$blocks,"
is "  and its kernel" says "$out" '"kernel":"fa2"'
run occupancy fa2 gpu=L4 smem=24k
is "a what-if says the change" says "$out" '2 -> 4 blocks; a block takes SMEM 44\.0 KiB -> 25\.0 KiB'
run occupancy fa2 gpu=H200 D=128 BC=112
is "what cannot run has its reason and no figures" says "$out" '^fa2 needs BC % 32 == 0; BC is 112'
is "  nor a picture" [ "$(printf '%s\n' "$out" | grep -Ec 'registers \[|blocks/SM +[0-9]|<=')" -eq 0 ]
run occupancy fa3_warpspec gpu=A100 smem=24k
is "  nor a state before a what-if" [ "$(printf '%s\n' "$out" | grep -c -- '->')" -eq 0 ]
export ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC=none
run occupancy fa2 gpu=H200 D=128 BC=96
unset ATTNSCOPE_LIBNVRTC ATTNSCOPE_NVCC
is "unknown registers are hatched" says "$out" 'registers +\[/+\] +not known'
is "  and blocks at most" says "$out" '<=2 x '
run occupancy fa3_warpspec gpu=A100
is "occupancy of a kernel that this GPU does not take says so" says "$out" '^fa3_warpspec needs sm == 90; sm is 80'
run occupancy fa3_warpspec gpu=A100 smem=24k --json
is "but a what-if is of a block" says "$out" '"reason":null'
run occupancy fa2,naive
is "occupancy of two kernels is refused" test "$rc" -eq 2
run occupancy fa2 cc=8.9
is "a kernel needs a model" says "$err" 'give gpu= instead of cc='
run -c 'occupancy fa2 gpu=L4 smem=24k; export svg sm.svg figure=sm; export gp sm.gp figure=sm'
is "an SM is exported" says "$(cat sm.svg)" 'block 5 lacks 25.0 KiB'
is "  with the change" says "$(cat sm.svg)" '2 -&gt; 4 blocks'
is "  for gnuplot, too" says "$(cat sm.gp)" 'boxxyerror'
rm -f sm.svg sm.gp
run occupancy threads=256 regs=168 smem=96k gpu=H200 --csv
is "occupancy --csv begins with names" says "$out" '^gpu,threads,regs'
is "occupancy: one block, limited by registers" says "$out" '^H200,256,168,98304,.*,32,1,2,8,1,8,12\.5,'
run occupancy threads=2048 gpu=H200 --json
is "what cannot launch has no blocks" says "$out" '"blocks_per_sm":0'
is "what cannot launch has a reason" says "$out" '"reason":"[^"]+'
run devices --md
is "--md is a table" says "$out" '^\| name '
is "--md ends with the command" says "$out" '^attnscope devices --md'
run kernels --json
is "kernels have names" says "$out" '"name":"naive"'
run kernels backend=cuda D=100000 --json
is "kernels say why not" says "$out" '"reason":"[^"]*D'
run explain occupancy_pct qtile_seq gpu=L4
is "explain puts the values in" says "$out" '= [0-9]'
run source fa2 diff
is "source diff shows what is new" says "$out" '^\+'
run sweep qtile_seq BR=32,64 BC=32,64,7 metric=occupancy_pct gpu=L4 --json
is "sweep has a row per cell" [ "$(printf '%s' "$out" | grep -c '"BR"')" -eq 6 ]
is "an impossible cell has its reason" says "$out" '"BC":7.*"reason":"[^"]+'
is "and no value" says "$out" '"BC":7.*"occupancy_pct":null'
run sweep qtile_seq BC=16,64 metric=occupancy_pct gpu=L4
is "sweep marks an upper bound" says "$out" '^16 +<=100$'
is "and leaves exact values alone" says "$out" '^64 +33\.33$'
run sweep qtile_seq BC=16,64 metric=occupancy_pct gpu=L4 --csv
is "its rows say it too" says "$out" '^qtile_seq,16,.*,true,,100'
run sweep qtile_seq BR=32,128 BC=32,64,128 D=128 f32 metric=occupancy_pct gpu=L4 --json
is "an impossible cell names what it is short of" says "$out" '"BR":128,"BC":128.*"blocked_by":"smem"'
run sweep qtile_seq BR=32,128 BC=32,64,128 D=128 f32 metric=occupancy_pct gpu=L4
is "two axes give a heat map with its letters" says "$out" '^128 .* S +S *$'
is "and their legend" says "$out" 'S shared memory'
bad 'qtile_seq has no parameter "BX"' plan qtile_seq@BX=3
bad 'comes a parameter' compare fa2,fa2@BR
bad 'base=fa2@BR=8 is not among' compare fa2,fa2@BR=32 base=fa2@BR=8 backend=cpu
run plan qtile_seq,qtile_seq@BR=32@BC=32 BC=16 gpu=L4 --json
is "an entry's own parameters win" says "$out" '"params":"BR=32 BC=32 '
is "and are its own" says "$out" '"params":"BR=64 BC=16 '
run run naive backend=cuda --json
is "no GPU: 77" [ "$rc" -eq 77 ]
is "no GPU: rows with a reason" says "$out" '"reason":"backend=cuda needs a GPU'

run -c 'set S=4k; show S > s.txt; show D >> s.txt'
is "redirection writes files" [ "$(grep -Ec '^(S +4096|D +64)' s.txt)" -eq 2 ]
run -c 'devices L4 > d.json'
is "the file's ending chooses the form" says "$(cat d.json)" '^\['
run --restricted -c 'show S > r.txt'
is "--restricted writes nothing" [ "$rc" -eq 2 ]
is "--restricted leaves no file" [ ! -e r.txt ]
printf 'precious\n' >keep.txt
run -c 'plan naive S=0 > keep.txt'
is "a failed command leaves the file alone" [ "$(cat keep.txt)" = precious ]

ln -s keep.txt link.txt
run -c 'devices L4 > link.txt'
is "a link stays a link" [ -h link.txt ]
is "and its file is written" says "$(cat keep.txt)" '^L4 '
before=$(cat keep.txt)
rc=0
(trap '' XFSZ; ulimit -f 1; exec "$ATTNSCOPE" -c 'devices --json > keep.txt') 2>"$tmp/.err" || rc=$?
err=$(cat "$tmp/.err")
is "a file that cannot grow is reported" [ "$rc" -eq 3 ]
is "and the old text stays" [ "$(cat keep.txt)" = "$before" ]
is "with nothing beside it" [ "$(find . -name 'keep.txt.*' | wc -l)" -eq 0 ]

run_input 'set S=256
show S
nonsense
show D'
is "a pipe reads commands" says "$out" '^S +256'
is "an error does not end it" says "$out" '^D +64'
is "the error names its line" says "$err" 'line 3: .*nonsense'
is "the status is the first failure's" [ "$rc" -eq 2 ]
run_input 'show S
show D'
is "without a failure it is 0" [ "$rc" -eq 0 ]
run_input 'show S
nonsense'
is "a failing last command is the status" [ "$rc" -eq 2 ]
run_input 'show S; quit; show D
show B'
is "quit ends it" [ "$(printf '%s' "$out" | grep -Ec '^(D|B) ')" -eq 0 ]
printf 'set S=512\nshow S\nbroken\nshow D\n' >script
run -f script
is "a script stops at its first error" [ "$rc" -eq 2 ]
is "with file and line" says "$err" 'script:3: '
is "what ran before was printed" says "$out" '^S +512'

mkdir -p "$HOME/.config/attnscope"
printf '# mine\nset S=2k gpu=H200\nset foo=1\nrun naive\nset D=128\n' >"$HOME/.config/attnscope/config"
run show S gpu D
is "the configuration is read" says "$out" '^S +2048'
is "past its errors" says "$out" '^D +128'
is "which name file and line" says "$err" 'config:3: .*foo'
is "and it runs nothing" says "$err" 'config:4: only set'
run doctor
is "doctor calls it broken, with the first line" says "$out" '^config +broken .*config:3: .*foo'
is "and says how many more there are" says "$out" 'and 1 more'
printf 'set S=2k\nset D=128\n' >"$HOME/.config/attnscope/config"
run doctor
is "a good one is ok" says "$out" '^config +ok '
printf 'set S=2k\n\0set D=128\n' >"$HOME/.config/attnscope/config"
run show S
is "what is no text is not taken, which is said" says "$err" 'config has a zero byte'
run doctor
is "and doctor says it" says "$out" '^config +broken .*a zero byte'
rm "$HOME/.config/attnscope/config"

run show S >/dev/full
rc=0
"$ATTNSCOPE" devices >/dev/full 2>"$tmp/.err" || rc=$?
err=$(cat "$tmp/.err")
is "a full disk is reported" [ "$rc" -eq 3 ]
touch "$tmp/attnscope-gpu-0000:01:00.0.lock"
export ATTNSCOPE_GPU_LOCK="$tmp"
run doctor
unset ATTNSCOPE_GPU_LOCK
is "doctor ends with 0" [ "$rc" -eq 0 ]
is "doctor speaks of the driver" says "$out" 'NVIDIA driver'
is "doctor lists the backends" says "$out" '^backend cpu +ok +C kernels'
is "doctor says of no lock, left of another day, that it is free: there is no GPU" silent "$(printf '%s\n' "$out" | grep '^GPU lock')"
is "doctor says why a backend is absent" says "$out" '^backend cuda +absent +needs a GPU, and no NVIDIA driver'
run help wave
is "help of a word: what is named so before what mentions it" [ "$(printf '%s\n' "$out" | awk '$1 == "term" && $2 == "wave" { named = NR } $1 == "command" && $2 == "tune" { mentions = NR } END { print (named && named < mentions) }')" = 1 ]
run help cuda
is "help knows backends" says "$out" '^backend +cuda +CUDA kernels on the GPU'
run apropos threads
is "apropos finds a key by what its values mean" says "$out" '^key +backend'
before=$(find "$HOME" -type f | grep -cv results.db)
is "nothing is written at start" [ "$before" -eq 0 ]
mkdir -p "$HOME/.local/share/attnscope"
printf 'no database at all, only words that take the place of one\n' >"$HOME/.local/share/attnscope/results.db"
run results
is "a broken database is a failure" [ "$rc" -eq 3 ]
is "said once, with its path and cause" [ "$(printf '%s\n' "$err" | grep -c 'results\.db.*not a database')" -eq 1 ]
finish
