#!/bin/sh
# Every class of code in a session that is free, in a restricted one and in somebody's lesson, really run: what
# SECURITY.md says of each. tests/unit/test_may.c has every cell of the table, lessons of the program among them.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}" "${ATTNSCOPE_FAKECUDA:?}"
data=$HOME/.local/share/attnscope
mkdir -p "$data/lessons" py
tiny='S=16 H=1 D=16 f32'
PYTHONPATH=$PWD/py
export PYTHONPATH

# ---- one kernel of each class ----
cat >inter.ptx <<'END'
.version 7.0
.target sm_80
.address_size 64
.visible .entry inter(.param .align 8 .b8 a[240]) { ret; }
END
printf '@name inter\n@title T\n@dtypes f32\n@threads 64\n@grid 1\n@cubin inter.ptx\n' >inter.attn
printf 'FAKECUBIN\n-DATTN_DTYPE=2\n' >cub.cubin
printf '@name cub\n@title T\n@dtypes f32\n@threads 64\n@grid ceil(Sq/64) H B\n@cubin cub.cubin\n@entry _Z3pre8AttnArgs\n' >cub.attn
sed 's/@name *naive/@name src/; s/ naive\([_(]\)/ src\1/' "$ATTNSCOPE_SRCDIR/kernels/cuda/naive.cu" >src.cu
sed 's/@name *naive/@name nat/; s/attn_naive(/attn_nat(/' "$ATTNSCOPE_SRCDIR/kernels/cpu/naive.c" >nat.c
printf '#include <stdio.h>\n__attribute__((constructor)) static void trace(void)\n{\n    fclose(fopen("%s/ran", "w"));\n}\n' "$tmp" >>nat.c
printf 'import pathlib\npathlib.Path("%s/ran").touch()\ndef f(q, k, v, **x):\n    return q\n' "$tmp" >py/evil.py
for file in inter.ptx cub.cubin src.cu nat.c; do
    run kernel add $file
    is "kernel add $file" [ "$rc" -eq 0 ]
done
run kernel add py:evil.f name=pyt
is "kernel add py:evil.f" [ "$rc" -eq 0 ]

ran() { [ -e "$tmp/ran" ] && rm "$tmp/ran"; }
rm -f ran
try() { # kernel, backend, words of the program...
    kernel=$1 backend=$2
    shift 2
    if [ "$backend" = cuda ]; then
        ATTNSCOPE_LIBCUDA=$ATTNSCOPE_FAKECUDA/fakecuda.so ATTNSCOPE_LIBNVRTC=$ATTNSCOPE_FAKECUDA/fakecuda.so
        export ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC
    fi
    # shellcheck disable=SC2086  # words
    run "$@" check "$kernel" $tiny "backend=$backend"
    unset ATTNSCOPE_LIBCUDA ATTNSCOPE_LIBNVRTC
}
not_refused() { ! says "$out$err" 'restricted|nobody has allowed'; }

try fa2 sim --restricted
is "shipped, restricted: by the simulator" says "$out" '^fa2 .* pass '
try inter sim
is "PTX of somebody's is interpreted" says "$out" '^inter .* FAIL |^inter .* fail '
is "  nothing is asked" not_refused
try inter sim --restricted
is "  restricted, too" says "$out" '^inter .* FAIL |^inter .* fail '
is "  nothing is refused" not_refused
try cub cuda
is "code for the GPU runs" says "$out" '^cub .* pass '
try cub cuda --restricted
is "  restricted, too" says "$out" '^cub .* pass '
try src sim
is "a CUDA source is compiled, where there is a compiler" not_refused
try src sim --restricted
is "  restricted, it is not" says "$out" 'src is CUDA source that is not of this program, which a compiler would take in; this session is restricted'
is "  and the status says so" [ "$rc" -ne 0 ]
try src cuda --restricted
is "  for a GPU neither" says "$out" 'src is CUDA source .*restricted'
run --restricted source src ptx
is "  nor to look at its PTX" says "$rc $err" '^[^0] .*src is CUDA source .*restricted'
run --restricted plan src gpu=L4
is "  a plan has bounds" says "$out" '<='
try nat cpu
is "native code that was added runs" ran
try nat cpu --restricted
is "  restricted, it does not" says "$out" 'nat is native code.*restricted'
is "  really" [ ! -e ran ]
try pyt cpu --restricted
is "nor does Python" says "$out" 'pyt is Python.*restricted'
is "  really" [ ! -e ran ]

# ---- somebody's lesson ----
take() { # command
    # shellcheck disable=SC2016 # Markdown
    printf '# Theirs\n\n## One\n\nText.\n\n```attnscope\n%s\n```\n' "$1" >"$data/lessons/theirs.md"
    rc=0
    yes '' 2>/dev/null | head -4 | timeout 120 "$ATTNSCOPE" lesson theirs --restart >"$tmp/.out" 2>"$tmp/.err" || rc=$?
    out=$(cat "$tmp/.out") err=$(cat "$tmp/.err")
}
take "check inter $tiny backend=sim"
is "a lesson: PTX is interpreted" says "$out" '^inter .* FAIL |^inter .* fail '
take "check src $tiny backend=sim"
is "  sources are compiled" not_refused
take "check nat $tiny backend=cpu"
is "  native code is refused" says "$out" 'nat is native code.*restricted'
is "  really" [ ! -e ran ]
take "check pyt $tiny backend=cpu"
is "  Python is" says "$out" 'pyt is Python.*restricted'
take "check py:evil.f $tiny backend=cpu"
is "  nor by its name, which makes it no lesson at all" [ ! -e ran ]
take "check all $tiny backend=cpu"
is "  all means neither" [ ! -e ran ]
finish
