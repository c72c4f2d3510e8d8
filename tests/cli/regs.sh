#!/bin/sh
# Registers of plans: compiled here by a made-up NVRTC, by a made-up nvcc, recorded, not to be had; and
# where there is a CUDA toolkit, what is shown is what cuobjdump says of the code.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2086,SC2154,SC3046
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_FAKECUDA:?}"
fake=$ATTNSCOPE_FAKECUDA/fakecuda.so
cache=$HOME/.cache/attnscope/cubin
unset ATTNSCOPE_COMPILE ATTNSCOPE_LIBCUDA
# What compilers have said so far: a file each.
said() {
    grep -alE 'Compiling entry|scripted' "$cache"/* 2>/dev/null | wc -l
}
nothing() {
    export ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC=none
}
odd="fa2 BR=32 gpu=H100"

# ---- no compiler: a bound, and what would help ----
nothing
run plan $odd
is "no compiler: planned all the same" [ "$rc" -eq 0 ]
is "no compiler: no figure" says "$out" '^  registers +- a thread: not compiled here \(NVRTC: libnvrtc'
is "no compiler: what would help" says "$out" 'install the CUDA toolkit'
is "no compiler: marked as a bound" says "$out" 'occupancy  at most 7 blocks/SM'
run plan $odd --json
is "no compiler: null, and why" says "$out" '"regs":null,"regs_source":null.*"regs_reason":"NVRTC: libnvrtc'
is "no compiler: a bound" says "$out" '"upper_bound":true'
for form in html svg md; do
    run -c "tune fa2 BR=32,64 BC=64 gpu=H100" -c "export t.$form"
    is "no compiler: a bound is none in .$form either" grep -Eq '&lt;=7|<=7' "t.$form"
done
run plan fa2 gpu=H100 --json
is "the table needs no compiler" says "$out" '"regs_source":"table".*"regs_reason":null'
export ATTNSCOPE_LIBNVRTC="$fake" FAKECUDA=regs=200 ATTNSCOPE_COMPILE=off
run plan $odd --json
is "off: nothing is compiled" says "$out" '"regs":null.*"regs_reason":"compiling is off'
is "off: nothing is kept" [ "$(said)" -eq 0 ]
unset ATTNSCOPE_COMPILE

# ---- NVRTC ----
run plan $odd
is "NVRTC: its registers" says "$out" '^  registers +200 a thread \(nvrtc\), 0 B spilled'
is "NVRTC: they bind" says "$out" 'regs 4 <=='
is "NVRTC: no bound any more" says "$out" '^  occupancy  4 blocks/SM'
is "it is kept" [ "$(said)" -eq 1 ]
FAKECUDA=regs=99
run plan $odd S=4k H=2 --json
is "another shape of the same code is not compiled again" says "$out" '"regs":200,"regs_source":"nvrtc"'
is "no bound" says "$out" '"upper_bound":false'
run plan $odd causal only=registers
is "nor with a mask" says "$out" 'registers  200 '
run plan $odd D=128 only=registers
is "another D is another code" says "$out" 'registers  99 '
run plan fa2 BR=32 gpu=L4 only=registers
is "another architecture, too" says "$out" 'registers  99 '
is "three codes by now" [ "$(said)" -eq 3 ]
run plan fa2 BR=32 gpu=MI300X --json
is "of no CUDA device nothing is compiled" [ "$(said)" -eq 3 ]
run plan fa2_mma BR=256 BC=128 D=256 gpu=H100
is "what cannot be launched is refused" says "$out" '^  no +fa2_mma'
is "and not compiled" [ "$(said)" -eq 3 ]
run explain regs fa2 BR=32 gpu=H100
is "explain says where they come from" says "$out" 'regs = 200 a thread, spills 0 B, from nvrtc'
run why fa2,fa2@BR=32 gpu=H100 --json
is "why ranks what is compiled" says "$out" '"figure":"registers","value":128.*"other_value":200.0?,"bound":null,"other_bound":null'
run sweep fa2 BR=16,32 S=512,1k,2k metric=occupancy_pct gpu=L4 --csv
is "a sweep: every cell is known" [ "$(printf '%s\n' "$out" | grep -c ',false,nvrtc,')" -eq 6 ]
is "a sweep compiles each code once" [ "$(said)" -eq 4 ]
run sweep fa2 BR=16,32,64 metric=smem_bytes gpu=A100 --csv
is "a figure without registers needs no compiler" [ "$(said)" -eq 4 ]
run occupancy fa2 BR=32 gpu=H100 --json
is "occupancy of a kernel" says "$out" '"limit_regs":4'

# ---- tune ----
run tune fa2 gpu=H100 BR=16,32 BC=64,128 --json
is "tune: a row for every tile" [ "$(printf '%s\n' "$out" | grep -c '"tile":"BR=[0-9]* BC=[0-9]*"')" -eq 4 ]
is "tune: compiled" [ "$(printf '%s\n' "$out" | grep -c '"regs_source":"nvrtc"')" -eq 4 ]
is "tune: the fewest bytes first" says "$(printf '%s\n' "$out" | sed -n 2p)" '"rank":1,.*"tile":"BR=32 BC=64"'
is "tune: equal ones are equal" says "$(printf '%s\n' "$out" | sed -n 3p)" '"rank":1,.*"tile":"BR=32 BC=128"'
run tune fa2 gpu=H100 BR=16,32 BC=64,128 sort=regs
is "tune: by another figure" says "$(printf '%s\n' "$out" | sed -n 3p)" '^ +1 +BR=16 BC=64 +99 '
is "tune: the worse one" says "$out" '^ +4 +BR=32 BC=64 +200 '
is "tune: what the order does not say" says "$out" 'no ranking by time, which only a run on H100-SXM tells: compare fa2@BR=16@BC=64,[^ ]* backend=cuda '
run tune fa2 gpu=L4 BR=32 BC=64,128 S=512 D=256
is "tune: what cannot run is below, with its reason" says "$out" '^not possible: BC=128: [0-9]+ B of shared memory'
is "tune: and not in the table" [ "$(printf '%s\n' "$out" | grep -c '^ .*BC=128 ')" -eq 0 ]
run tune fa2 gpu=H100 BR=32,100 BC=64 --json
is "tune: against the kernel's own rule" says "$out" '"rank":null,.*"tile":"BR=100".*"reason":"fa2 needs BR % 16 == 0; BR is 100".*"blocks_per_sm":null'
run tune fa2 gpu=H100 --csv
is "tune: tiles by itself" [ "$(printf '%s\n' "$out" | wc -l)" -eq 13 ]
run tune fa2 gpu=H100 S=20 --csv
is "tune: of tiles that cover all rows and keys the smallest, and the defaults" [ "$(printf '%s\n' "$out" | wc -l)" -eq 7 ]
mkdir -p "$HOME/.local/share/attnscope/kernels"
sed -e 's/^ \* @name.*/ * @name wide/' -e 's/ fa2(const/ wide(const/' -e 's/^\( \* @param *B[RC] [0-9]*\) *\[[0-9.]*\]/\1/' \
    "${ATTNSCOPE_SRCDIR:?}/kernels/cuda/fa2.cu" >"$HOME/.local/share/attnscope/kernels/wide.cu"
ATTNSCOPE_COMPILE=off run tune wide gpu=H100 S=64k --csv
is "tune: without a range a list ends where it is refused" says "$(printf '%s\n' "$out" | grep -o 'BR=[0-9]*' | sort -t= -k2n | uniq | tr '\n' ' ')" '^BR=8 BR=16 BR=32 BR=64 BR=128 BR=256 BR=512 $'
rm "$HOME/.local/share/attnscope/kernels/wide.cu"
run tune naive gpu=H100 S=128 --csv
is "tune: a kernel without tiles" says "$out" ',THREADS=1024,'
run -c "set gpu=L4 BR=64" -c "tune fa2 BC=32,64 S=256" -c "export tuned.csv"
is "tune: exported as it was" [ "$(wc -l <tuned.csv)" -eq 3 ]
run -c "set gpu=H100 BR=48 PAD=8" -c "tune fa2 BR=16,32 BC=64"
is "tune: what is set and varied is varied" says "$out" 'compare fa2@BR=[0-9]+,fa2@BR=[0-9]+ backend=cuda BC=64 PAD=8 gpu=H100$|compare fa2@BR=[0-9]+,fa2@BR=[0-9]+ backend=cuda PAD=8 gpu=H100$'
run tune fa2 S=1k,2k
is "tune: of one shape" [ "$rc" -eq 2 ]
run tune fa2,naive
is "tune: of one kernel" [ "$rc" -eq 2 ]
run tune fa2 sort=time
is "tune: sorted by what it has" says "$err" 'sort= takes one of: bytes, waves'
export ATTNSCOPE_COMPILE=off
run tune fa2 gpu=H100 BR=32,64 BC=64 sort=warps
unset ATTNSCOPE_COMPILE
is "tune: a bound has no rank" says "$out" '^ +- +BR=32 .*<=7 +<=14 '
is "tune: what is known stands before it" says "$(printf '%s\n' "$out" | sed -n 3p)" '^ +1 +BR=64 +128 +table'
is "tune: and that is said" says "$out" '<= and >= are bounds, never ranked'

# ---- source K diff ----
export EDITOR=true
run edit fa2 --no-run gpu=H100
is "an edit is compiled" [ "$rc" -eq 0 ]
run -c "set gpu=H100" -c "source fa2_edit diff"
is "its figures stay known in the diff" says "$out" '^registers +128 +99 '
export ATTNSCOPE_COMPILE=off
run -c "set gpu=H100" -c "source fa2_edit diff"
is "a bound has its mark, and no change" says "$out" '^occupancy +25 % +<=31.2 % +MODEL'
run -c "set gpu=H100" -c "source fa2_edit diff --json"
is "for programs, too" says "$out" '"figure":"occupancy_pct".*"change_pct":null.*"before_bound":null,"after_bound":"<="'
unset ATTNSCOPE_COMPILE

run tune fa2 gpu=H100 BR=32 BC=64
is "tune: nothing varied is one tile" says "$out" '^ +1 +BR=32 BC=64 PAD=4 +200 '

# ---- what the compiler refuses ----
FAKECUDA=nvrtc=6
run plan fa2 BR=48 gpu=H100 --json
is "refused: planned all the same" [ "$rc" -eq 0 ]
is "refused: in the compiler's words" says "$out" '"regs":null.*"regs_reason":"it does not compile: scripted"'
FAKECUDA=regs=99
run plan fa2 BR=48 gpu=H100 only=registers
is "refused: that is kept, too" says "$out" 'not compiled here \(it does not compile: scripted\)'

# ---- Ctrl-C ----
FAKECUDA=nvrtcCompileProgram:1=hang
"$ATTNSCOPE" plan fa2 BR=80 gpu=H100 >out.txt 2>err.txt &
pid=$!
worked_for $pid 0 # the compiler
kill -INT $pid
rc=0
wait $pid || rc=$?
out=$(cat out.txt) err=$(cat err.txt)
is "Ctrl-C ends the compiling, not the plan" says "$out" '^  occupancy  at most'
is "and that is said" says "$err" '1 of 1 kernels are not compiled: figures that hang on their registers are bounds'
FAKECUDA=regs=99
run plan fa2 BR=80 gpu=H100 only=registers
is "the next time it is compiled" says "$out" 'registers  99 '

# ---- nvcc where NVRTC is missing ----
cat >nvcc <<'END'
#!/bin/sh
[ "$1" = --version ] && { echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0; }
while [ $# -gt 1 ]; do
    [ "$1" = -o ] && image=$2
    shift
done
echo "ptxas info    : Compiling entry function 'fa2' for 'sm_90'" >&2
echo "    0 bytes stack frame, 4 bytes spill stores, 8 bytes spill loads" >&2
echo "ptxas info    : Used 77 registers, used 1 barriers, 128 bytes smem" >&2
echo FAKECUBIN >"$image"
END
sed -i '3i case $* in *sm_70*) echo "nvcc fatal   : Unsupported gpu architecture sm_70"; exit 1 ;; esac' nvcc
chmod +x nvcc
export ATTNSCOPE_LIBNVRTC=none ATTNSCOPE_NVCC="$tmp/nvcc"
run plan $odd --json
is "nvcc takes its place" says "$out" '"regs":77,"regs_source":"ptxas","spill_bytes":12'
is "static shared memory is what was compiled" says "$out" '"static_smem_bytes":128'

run plan fa2 BR=32 gpu=V100 --json
is "a device that the compiler does not know" says "$out" '"regs":null.*"regs_reason":"nvcc 13.0.88 makes no code for sm_70"'
run tune fa2 BR=16,32 BC=32 gpu=V100 --json
is "is no fault of the tiles" [ "$(printf '%s\n' "$out" | grep -c '"rank":[12],.*"reason":null')" -eq 2 ]
run -c "plan fa2 BR=32 gpu=V100" -c "plan fa2 BR=32 gpu=L4 only=registers"
is "and says nothing of others" says "$out" 'registers  77 '

# ---- recorded ----
export ATTNSCOPE_LIBCUDA="$fake" ATTNSCOPE_LIBNVRTC="$fake" FAKECUDA=us=70,regs=111
run record mine.rec -- run fa2 BR=96 S=64 H=2 n=5 --json
is "a run on a GPU" says "$out" '"regs":111'
unset ATTNSCOPE_LIBCUDA
nothing
run -c "open mine.rec" -c "plan fa2 BR=96 S=4k gpu=H200 --json"
is "a recorded run of this source has them" says "$out" '"regs":111,"regs_source":"recorded"'
is "and nothing of what it does not say" says "$out" '"spill_bytes":null'
run -c "open mine.rec" -c "plan fa2 BR=96 S=4k gpu=H100 --json"
is "not for another GPU" says "$out" '"regs":null'
run -c "open mine.rec" -c "plan fa2 BR=96 S=4k D=128 gpu=H200 --json"
is "nor another D" says "$out" '"regs":null'
sed 's/"source_hash":"[0-9a-f]*"/"source_hash":"0123456789abcdef"/' mine.rec >old.rec
run -c "open old.rec" -c "plan fa2 BR=96 S=4k gpu=H200 --json"
is "nor an older source" says "$out" '"regs":null'

# ---- what the kernel itself rules out is neither planned nor run under its name ----
run run fa2 BR=100 S=64 H=1 time=0.05
is "BR=100: refused" [ "$rc" -ne 0 ]
is "BR=100: by the kernel's own rule" says "$out" 'fa2 needs BR % 16 == 0; BR is 100; backend=cpu runs its C version'
is "BR=100: no time" [ "$(printf '%s\n' "$out" | grep -c ' pass ')" -eq 0 ]
run run fa2 BR=100 S=64 H=1 time=0.05 backend=cpu
is "BR=100: the C version, where it is asked for" [ "$rc" -eq 0 ]
run run fa2 BR=32 D=300 S=64 H=1 time=0.05
is "a shape that only the C version takes is no fault of a parameter" [ "$rc" -eq 0 ]

# ---- the real ones ----
# real NAME: NAME compiles; what is shown is what ptxas says where nvcc alone compiles the same.
real() {
    export HOME="$tmp/real.$1"
    mkdir "$HOME"
    run plan fa2 BR=32 D=48 gpu=H100 --json
    ours=$(printf '%s' "$out" | sed -n 's/.*"regs":\([0-9]*\),"regs_source":"\([a-z]*\)".*/\1 \2/p')
    echo "# $1: registers $ours; ptxas says ${theirs:-nothing}"
    is "$1: the registers are those that ptxas tells by itself" [ "$ours" = "$theirs $1" ]
    for how in "backend=sim" "time=0.05"; do
        run run fa2 BR=32 D=48 S=64 H=1 gpu=H100 $how
        is "$1: a predicted time stands beside $how" says "$out" '^  fa2: [0-9.]+ us: '
        is "$1: and has the registers of the plan" [ "$(printf '%s' "$out" | grep -c 'registers on that GPU are not known')" -eq 0 ]
    done
}
unset ATTNSCOPE_LIBNVRTC ATTNSCOPE_NVCC FAKECUDA
nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
run -c "set BR=32 D=48 gpu=H100" -c "source fa2 --alone"
printf '%s\n' "$out" >fa2.cu
theirs=$("$nvcc" -std=c++17 -arch=sm_90 -Xptxas -v -cubin -o fa2.cubin fa2.cu 2>&1 | sed -n 's/.*Used \([0-9]*\) registers.*/\1/p')
if [ -n "$theirs" ]; then
    export ATTNSCOPE_LIBNVRTC=none
    real ptxas
    unset ATTNSCOPE_LIBNVRTC
    run doctor
    if says "$out" '^NVRTC +ok'; then real nvrtc; fi
else
    number=$((number + 1))
    echo "ok $number - # SKIP no nvcc here"
fi
finish
