#!/bin/sh
# kernel add: sources, cubins, libraries; on the CPU, on the fake driver, and with a made-up nvcc.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2016,SC2154,SC3046
. "$(dirname "$0")/lib.sh"
own=$HOME/.local/share/attnscope/kernels
: "${ATTNSCOPE_FAKECUDA:?}"
lib=$ATTNSCOPE_FAKECUDA/attnlib.so
fake=$ATTNSCOPE_FAKECUDA/fakecuda.so

descriptor() { # name, further tags
    printf '/* @name %s\n@title T\n@dtypes f16 f32\n@threads 64\n@grid ceil(Sq/64) H B\n%s\n*/\n' "$1" "$2"
}

# ---- files dropped into the folder ----
mkdir -p "$own"
descriptor mine "" >"$own/mine.cu"
run kernels mine
is "a dropped file is listed" says "$out" '^mine +your own'
run plan mine S=128
is "a dropped file is planned" says "$out" '2 x 8 x 1 blocks'
is "a number is no formula of itself" says "$out" 'threads +64, 2 warps$'
run source mine
is "a dropped file has a source" says "$out" '@name mine'
run complete-line 'plan mi' 7
is "a dropped file is completed" says "$out" 'mine'
run_input "$(printf 'plan mine S=128\n!sed -i "s/ 64$/ 128/" %s/mine.cu\nplan mine S=128\n' "$own")"
is "what is saved during a session is read" says "$out" 'threads +128'
descriptor naive "" >"$own/clash.cu"
run kernels
is "a clash names the file" says "$err" 'clash.cu: the name naive is taken'
is "a clash says what to do" says "$err" 'rename its @name'
rm "$own/clash.cu"
descriptor broken "@grid ceil(Sq" >"$own/broken.cu"
run run broken
is "naming a broken one tells file and line" says "$err" 'broken.cu:6:'
run kernel remove broken
is "a broken one can be removed" [ ! -e "$own/broken.cu" ]
is "its text is kept" [ -e "$own/broken.cu.1" ]
printf '__global__ void plain(float *q) {}\n' >plain.cu
run kernel add plain.cu
is "a source without a descriptor: where to read on" says "$err" 'plain.cu:1:1: .*attnscope-kernel\(5\)'
descriptor moved "" >moves.cu
run kernel add moves.cu
mv moves.cu away.cu
run plan moved
is "a path whose file has moved names that file" says "$err" "$tmp/moves.cu is gone.*kernel remove moved"
run kernel remove moved
is "and is removed" [ "$rc" -eq 0 ]
run kernels backend=cpu
is "a reason that many share is said once" [ "$(printf '%s\n' "$out" | grep -c 'has no source for backend=cpu')" -eq 1 ]
is "with the names of the others" says "$out" '^the same holds for row_atomic qtile_tpq .* mine$'
run source fa2 ptz
is "source says which words it knows" says "$err" 'diff, ptx or sass'
run source naive cuda
is "source K view, without view=" says "$out" '@name +naive'

# ---- a library on the CPU ----
run kernel list --json
is "list" says "$out" '"name":"mine".*"code":"nvrtc"'
run plan ./mine.cu
is "a file in the place of a name: its kernel" says "$err" 'no kernel "./mine\.cu"; did you mean mine\?'
run run ./new_one.cu
is "  or how it is taken in" says "$err" 'no kernel "./new_one\.cu"; "kernel add \./new_one\.cu" takes a file in'
is "  which is a usage error" [ "$rc" -eq 2 ]
run run libx.so:attn_run
is "  a function of a library, too" says "$err" '"kernel add libx\.so:attn_run" takes a file in'
run kernel add "$lib" dtypes=f32 backend=cuda,cpu name=lib
is "add a library" [ "$rc" -eq 0 ]
is "add a library: its row" says "$out" "^lib +library +cpu,cuda +f32 +someone's +[0-9a-f]{12} +/"
run check lib,naive f32 S=33 Sk=57 H=4 Hkv=2 D=24 causal=yes layout=bshd backend=cpu --json
is "a library is checked" [ "$(printf '%s' "$out" | grep -c '"check":"pass"')" -eq 2 ]
printf 'S=32 f32 H=1\nS=64 f32 H=1\n' >shapes
run run naive,lib shapes=shapes n=3 backend=cpu --md
is "shapes=: a geometric mean" says "$out" 'lib speedup, geometric mean of 2 shapes: [0-9]'
is "--md: the machine" says "$out" 'threads?, .*seed 42'
is "--md: the command" says "$out" '^attnscope run naive,lib .*shapes=shapes'
run run lib S=32 backend=cpu
is "a dtype that it does not take" says "$out" 'lib needs f32'
for f in attn_wrong attn_refuses attn_crashes; do
    run kernel add "$lib:$f" dtypes=f32 backend=cpu
done
run check attn_crashes,attn_refuses,attn_wrong,lib f32 S=16 H=1 backend=cpu
is "a crash costs one row" says "$out" 'attn_crashes: .*signal 6'
is "a refusal has its number" says "$out" 'attn_refuses returned 7'
is "a wrong one fails" says "$out" 'attn_wrong .* fail '
is "the good one passes" says "$out" '^lib .* pass '
run kernel add "$lib:no_such" dtypes=f32 backend=cpu
run check no_such f32 S=16 backend=cpu
is "a function that is not there" says "$out" 'neither no_such_f32 nor no_such'

# A library that is built anew during a session is the new one.
cp "$lib" now.so
run kernel add now.so:attn_run dtypes=f32 backend=cpu name=now
printf '@name now\n@title t\n@dtypes f32\n@backend cpu\n@library %s/now.so:attn_wrong\n' "$tmp" >new.attn
run_input "$(printf 'check now f32 S=16 H=1\n!cp %s next.so; mv next.so now.so; cat new.attn > %s/now.attn\nkernel allow now\ncheck now f32 S=16 H=1\n' "$lib" "$own")"
is "a new version is opened" says "$out" '^now .* fail '

# ---- on the fake driver ----
export ATTNSCOPE_LIBCUDA="$fake" ATTNSCOPE_LIBNVRTC="$fake"
run run lib f32 S=16 H=1 n=3 l2=hot --json
is "a library on CUDA" says "$out" '"backend":"cuda".*"check":"pass"'
is "it is launched through the stream" says "$out" '"launch":"stream"'
printf 'FAKECUBIN\n-DATTN_DTYPE=0\n' >pre.cubin
run kernel add pre.cubin
is "a cubin needs a descriptor" says "$err" 'needs a descriptor beside it, pre.attn'
printf '@name pre\n@title t\n@dtypes f16\n@threads 64\n@grid ceil(Sq/64) H B\n@cubin pre.cubin\n@entry _Z3pre8AttnArgs\n' >pre.attn
run kernel add pre.cubin
is "a cubin" says "$out" '^pre +cubin +cuda +f16'
run check pre S=64 H=2
is "a cubin runs" says "$out" '^pre .* pass '
run plan pre S=64
is "a cubin is planned" says "$out" '1 x 8 x 1 blocks'

# ---- nvcc, played by a script that notes in the code how it was called ----
cat >nvcc <<'END'
#!/bin/sh
[ "$1" = --version ] && { echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0; }
args=$(printf '%s\n' "$@")
while [ $# -gt 1 ]; do
    [ "$1" = -o ] && image=$2
    shift
done
grep -q BROKEN "$1" && { echo "$SOURCE(9): error: broken"; exit 2; }
printf 'FAKECUBIN\n%s\nENV=%s\n' "$args" "$NVCC_PREPEND_FLAGS$NVCC_APPEND_FLAGS" >"$image"
END
chmod +x nvcc
cache=$HOME/.cache/attnscope/cubin
noted() {
    grep -aqxF -- "$1" "$cache"/*
}
images() {
    find "$cache" -type f | wc -l
}
mkdir -p work/inc
descriptor eng '@compiler nvcc
@include inc
@flags -O3 -DX=$(touch) -Isub' >work/eng.cu
export ATTNSCOPE_NVCC="$tmp/nvcc" SOURCE="$tmp/work/eng.cu"
rm -rf "$cache"
export NVCC_APPEND_FLAGS=-ccbin=evil
run kernel add work/eng.cu
is "a source for nvcc" says "$out" "^eng +nvcc +cuda .*$tmp/work/eng.cu"
run check eng S=64 H=2
is "it is compiled and run" says "$out" '^eng .* pass '
is "flags reach nvcc as they are" noted '-DX=$(touch)'
is "folders count from the source" noted "-I$tmp/work/inc"
is "folders in flags too" noted "-I$tmp/work/sub"
is "the architecture is the device's" noted '--gpu-architecture=sm_90'
is "the environment adds no flags" noted 'ENV='
is "nothing is left in the cache but code" [ "$(ls "$HOME/.cache/attnscope")" = cubin ]
run check eng S=64 H=2
is "the second time it is in the cache" [ "$(images)" -eq 1 ]
echo "// new" >work/inc/x.h
run check eng S=64 H=2
is "a changed header is compiled" [ "$(images)" -eq 2 ]
echo "// BROKEN" >>work/eng.cu
run check eng S=64 H=2
is "an error of nvcc" says "$out" 'work/eng.cu\(9\): error: broken'
descriptor evil '@compiler nvcc
@flags -O3 -ccbin=./evil' >work/evil.cu
run kernel add work/evil.cu
is "a flag that starts programs is refused" says "$err" 'evil.cu:7:12: @flags: the flag "-ccbin=./evil"'
is "and nothing is added" [ ! -e "$own/evil.cu" ]
descriptor naive '@compiler nvcc' >work/mine.cu
run kernel add work/mine.cu
is "a taken name is said of the file that was named" says "$err" "$tmp/work/mine.cu: the name naive is taken"
odd=$(printf '%s/work/a\n-ccbin=evil' "$tmp")
mkdir -p "$odd/attnscope/kernels"
descriptor odd '@compiler nvcc' >"$odd/attnscope/kernels/odd.cu"
run kernel add "$odd/attnscope/kernels/odd.cu"
is "a path with a line end is not kept" says "$rc $err" '^2 .*a line end'
XDG_DATA_HOME=$odd
export XDG_DATA_HOME
run check odd S=64 H=2
unset XDG_DATA_HOME
is "a folder's name smuggles no flag" says "$out" 'odd.*line break'
run kernel remove eng
is "remove" [ ! -e "$own/eng.cu" ]
is "the source stays" [ -e work/eng.cu ]
run kernel remove naive
is "built-in kernels stay" [ "$rc" -eq 2 ]
run --restricted kernel add work/eng.cu
is "restricted sessions add nothing" says "$err" 'restricted'
run kernel ad x
is "a typing error" says "$err" 'did you mean "add"'
finish
