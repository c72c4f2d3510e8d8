#!/bin/sh
# Peers and Python callables: plain Python, a stub of PyTorch on the CPU and on the fake GPU, and
# everything that can be missing or go wrong.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"

: "${ATTNSCOPE_SRCDIR:?}" "${ATTNSCOPE_FAKECUDA:?}"
if ! python3 -c 'import socket; socket.CMSG_SPACE' 2>/dev/null; then
    echo "1..0 # SKIP no python3"
    exit 77
fi
mkdir plain stub
cp "$ATTNSCOPE_SRCDIR/tests/peers/mine.py" plain/
cp "$ATTNSCOPE_SRCDIR/tests/peers/torch.py" stub/
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$tmp/plain"
shape="H=4 Hkv=2 Sq=9 Sk=12 D=8 f32 causal=yes"
field() { # KERNEL FIELD: its value in the rows of $out
    printf '%s' "$out" | python3 -c 'import json, sys
print(next(r[sys.argv[2]] for r in json.load(sys.stdin) if r["kernel"] == sys.argv[1]))' "$1" "$2"
}
reason() { # KERNEL PATTERN
    says "$(field "$1" reason)" "$2"
}

# shellcheck disable=SC2086
run run naive,py:mine.right $shape layout=bshd n=3 --json
is "a callable is checked and timed" [ "$rc" -eq 0 ]
is "it passes" [ "$(field py:mine.right check)" = pass ]
is "it has a time" says "$(field py:mine.right median_us)" '^[0-9.]+$'
is "its version is Python's" says "$(field py:mine.right peer_version)" '^python 3'
run check py:mine.arrays S=3 H=2 D=4 f32 layout=bshd --json
is "numpy would see the tensors themselves" [ "$(field py:mine.arrays check)" = pass ]
run compare naive,py:mine.right,py:mine.wrong Sq=4 Sk=6 H=1 D=4 f32 n=4 --json
is "compare interleaves it" says "$(field py:mine.right verdict)" 'SLOWER|FASTER|AMBIGUOUS|SAME'
is "its wrong rows are counted and mapped" says "$out" '"bad_rows":[1-9].*"first_bad":\{"b":0.*"error_map":\{"tile_rows"'
is "one that fails is not ranked" [ "$(field py:mine.wrong verdict)" = None ]

run check py:mine.wrong Sq=4 Sk=6 H=2 D=4 f32
is "and told" says "$out" '^wrong rows of py:mine.wrong: [0-9.]+ % of 8; '
is "and shown" says "$out" '^b0 h1 +[1-9#.]+$'
bad=py:mine.wrong,py:mine.lazy,py:mine.spoils,py:mine.overrun,py:mine.raises,py:mine.dies,py:mine.leaves,py:mine.mute
bad=$bad,py:mine.NUMBER,py:mine.nothing,py:nowhere.f,torch:math,py:mine.right
# shellcheck disable=SC2086
run check naive,$bad $shape --json
is "what is wrong makes status 1" [ "$rc" -eq 1 ]
is "a wrong one fails" [ "$(field py:mine.wrong check)" = fail ]
is "an output that nobody wrote" reason py:mine.lazy 'never written'
is "a write behind the output" reason py:mine.overrun 'after the output'
is "a write into the inputs" reason py:mine.spoils 'overwrote its inputs'
is "an exception, sanitised" reason py:mine.raises 'ValueError: no \^\[\[31mway'
is "a killed child" reason py:mine.dies 'Python process died \(signal 11'
is "a child that leaves" reason py:mine.leaves 'ended with status 3'
is "a result that is no tensor" reason py:mine.mute 'must write into out='
is "no callable" reason py:mine.NUMBER 'is int and cannot be called'
is "no such name" reason py:mine.nothing 'mine has no nothing'
is "no such module" reason py:nowhere.f 'no module nowhere'
is "no PyTorch: what to do" reason torch:math 'needs PyTorch.*ATTNSCOPE_PYTHON'
is "the others go on" [ "$(field py:mine.right check)" = pass ]
run check py:mine.hangs S=4 f32 timeout=0.5
is "an endless one ends" says "$out" 'no sign of life'
is "nothing is left behind" [ -z "$(pgrep -f "$tmp/plain" || :)" ]
ATTNSCOPE_PYTHON=/nonexistent/python run check py:mine.right S=4 f32
is "no Python at all" says "$out" 'no /nonexistent/python here'
run check py:mine S=4
is "no module.function is a usage error" [ "$rc" -eq 2 ]
run check all S=5 H=1 f32 --json
is "all means no peers" [ "$(printf '%s' "$out" | grep -c 'torch:\|cudnn\|py:')" -eq 0 ]
run check cublas S=5 --json
is "a peer of the GPU says so" reason cublas 'GPU'
run kernel add py:mine.right name=mine_right dtypes=f32
is "a callable is added under a name" [ "$rc" -eq 0 ]
run kernels own --json
is "and listed" says "$out" '"name":"mine_right"'
run check mine_right S=5 H=1 f32 --json
is "and checked" [ "$(field mine_right check)" = pass ]
run check peers S=5 H=1 f32 --json
is "it is no peer" [ "$(printf '%s' "$out" | grep -c mine_right)" -eq 0 ]
run check mine_right S=5 f16
is "for the types that it takes" says "$out" 'mine_right needs f32'
run kernel add py:not-a-name
is "what cannot be one is not added" [ "$rc" -eq 2 ]
run kernel remove mine_right
is "and removed" [ "$rc" -eq 0 ]
run doctor
is "doctor names the Python" says "$out" 'Python.*ok.*python3 runs py'
run plan torch:flash
is "there is no plan of a library's launches" says "$out$err" 'launches its kernels by itself'

export PYTHONPATH="$tmp/plain:$tmp/stub"
# shellcheck disable=SC2086
run run torch:math,torch:flash,naive $shape n=3 --json
is "PyTorch on the CPU passes" [ "$(field torch:math check)" = pass ]
is "version and backend" [ "$(field torch:math peer_version)" = "torch 9.9.stub, MATH" ]
export STUB_TORCH=refuse=flash
run check torch:flash,torch:math S=4 H=1 D=4 f32 --json
is "a refusal is PyTorch's own" reason torch:flash 'refuses: Flash attention requires a better day.$'
is "and concerns that backend alone" [ "$(field torch:math check)" = pass ]

export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so" ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_FAKECUDA/fakecuda.so"
export FAKECUDA="" STUB_TORCH="us=50"
# shellcheck disable=SC2086
run run torch:flash,naive $shape l2=both n=3 --json
is "on a GPU: PyTorch passes" [ "$(field torch:flash check)" = pass ]
is "its time is that of its events" says "$(field torch:flash median_us)" '^(49|5[0-9])\.'
is "a cold sample is launched" says "$out" '"torch:flash".*"l2":"cold","launch":"stream"'
is "hot ones replay a graph" says "$out" '"torch:flash".*"l2":"hot","launch":"graph"'
run check torch:math,py:mine.lazy,py:mine.right S=4 H=1 D=4 f32 --json
is "what another has left there is no output" reason py:mine.lazy 'never written'
is "  and who writes passes" [ "$(field py:mine.right check)" = pass ]
export STUB_TORCH="us=50,nograph"
run run torch:math,torch:flash,py:mine.right Sq=9 Sk=12 H=2 D=8 f32 l2=cold n=40 --json
is "rows of samples on turned copies are right" [ "$(field torch:math check)$(field torch:flash check)$(field py:mine.right check)" = passpasspass ]
run run torch:flash S=4 H=1 D=4 f32 l2=hot n=2 --json
is "what cannot be recorded is launched" [ "$(field torch:flash launch)" = stream ]
run run py:mine.right,py:mine.elsewhere,py:mine.waits,py:mine.spoils S=4 H=1 D=4 f32 n=9 --json
is "a callable on a GPU" [ "$(field py:mine.right check)" = pass ]
is "its version names PyTorch" says "$(field py:mine.right peer_version)" 'torch 9.9.stub, python 3'
cat >plain/patched.py <<'END'
"""Replaces the clock that PyTorch times with: a tenth of what has passed."""
import mine
import torch

true = torch.cuda.Event.elapsed_time
torch.cuda.Event.elapsed_time = lambda self, end: true(self, end) / 10
attend = mine.right
END
run run py:patched.attend,torch:flash S=4 H=1 D=4 f32 n=5 --json
is "one that replaces PyTorch's clock has no time" reason py:patched.attend 'Event.elapsed_time was replaced'
is "and who is beside it, in another process, has one" [ "$(field torch:flash check)" = pass ]
run run py:mine.right,py:mine.elsewhere,py:mine.waits,py:mine.spoils S=4 H=1 D=4 f32 n=9 --json
is "one that writes into its inputs there" reason py:mine.spoils 'overwrote its inputs'
is "work in another stream is no time" reason py:mine.elsewhere 'another stream'
is "one that waits has host time in it, and says so" reason py:mine.waits "host's in it"
export STUB_TORCH=other=yes
run check torch:flash S=4 H=1 D=4 f32 --json
is "another backend in its place is refused" reason torch:flash 'another backend \(number 0\)'
export STUB_TORCH=nogpu
run check torch:math,naive S=4 H=1 D=4 f32 --json
is "PyTorch without a GPU" reason torch:math 'sees no GPU'
is "the kernel beside it passes" [ "$(field naive check)" = pass ]
export STUB_TORCH=fault
run check torch:math,torch:flash,naive S=4 H=1 D=4 f32 --json
is "a fault is named" reason torch:math 'illegal memory access'
is "the kernel beside it passes again" [ "$(field naive check)" = pass ]
run check torch:math S=4 H=1 D=4 f32 streams=2 --json
is "streams are for kernels in this process" reason torch:math 'one stream'
export ATTNSCOPE_LIBCUBLAS="$ATTNSCOPE_FAKECUDA/fakecublas.so"
for s in "S=33 H=2 f32" "B=2 H=6 Hkv=2 Sq=9 Sk=20 causal=yes f16" "B=2 H=4 Hkv=2 S=12 layout=bshd bf16 D=24" \
    "Sq=20 Sk=9 H=2 causal=yes layout=bshd f32" "Sq=40 Sk=300 H=2 D=16 f16" "Sq=40 Sk=300 H=2 D=16 bf16"; do
    # shellcheck disable=SC2086
    run check cublas $s --json
    is "cuBLAS $s" [ "$(field cublas check)" = pass ]
done
is "its version" [ "$(field cublas peer_version)" = "cuBLAS 1.2.3" ]
run run cublas S=16 H=2 l2=both n=3 streams=2 --json
is "cuBLAS is timed like a kernel" says "$out" '"l2":"hot","launch":"graph".*"check":"pass"'
FAKECUBLAS=2 run check cublas,naive S=16 H=2 --json
is "a product that fails" reason cublas 'cublasGemmStridedBatchedEx returned 13'
is "costs that row alone" [ "$(field naive check)" = pass ]
export ATTNSCOPE_LIBCUBLAS=/nonexistent ATTNSCOPE_LIBCUDNN=/nonexistent
run check cublas,cudnn S=16 H=1 --json
is "no cuBLAS: what to do" reason cublas 'libcublas.so.13.*not found.*install'
is "no cuDNN: what to do" reason cudnn 'libcudnn.so.9 was not found.*install'

# ---- doctor looks where peers look, and says what they say

says_alike() { # name of doctor's row, state, kernel, sentence
    run check "$3" S=16 H=1 --json
    reason "$3" "$4" || return 1
    run doctor --json
    says "$out" "\"name\":\"$1\",\"state\":\"$2\",\"detail\":\"[^\"]*$4"
}
is "doctor has the peer's sentence for no cuBLAS" says_alike cuBLAS missing cublas \
    'libcublas.so.13, .12 or .11 was not found, neither by the system.s loader'
is "doctor has the peer's sentence for no cuDNN" says_alike cuDNN missing cudnn \
    'libcudnn.so.9 was not found, neither by the system.s loader'
export ATTNSCOPE_LIBCUDNN="$ATTNSCOPE_FAKECUDA/fakecudnn8.so"
is "a cuDNN 8 is too old, for both" says_alike cuDNN "too old" cudnn \
    'fakecudnn8.so \(8.9.7\) is too old: cuDNN 9 is needed; install cuDNN 9'
export ATTNSCOPE_LIBCUBLAS="$ATTNSCOPE_FAKECUDA/fakecublas.so"
run doctor
is "what will do is ok, with its version" says "$out" '^cuBLAS +ok +fakecublas.so, version 1.2.3'
# where there is no cuDNN 9, one of version 8 that the loader finds
unset ATTNSCOPE_LIBCUDNN
mkdir -p home/bin
printf '#!/bin/sh\nexec %s "$@"\n' "$(command -v python3)" >home/bin/python3
chmod +x home/bin/python3
PATH="$tmp/home/bin:$PATH" # a Python with no packages of NVIDIA's beside it
run doctor
if says "$out" '^cuDNN +missing'; then
    cp "$ATTNSCOPE_FAKECUDA/fakecudnn8.so" "$tmp/libcudnn.so.8"
    export LD_LIBRARY_PATH="$tmp"
    is "so for the loader's cuDNN 8" says_alike cuDNN "too old" cudnn \
        'libcudnn.so.8 \(8.9.7\) is too old: cuDNN 9 is needed'
    unset LD_LIBRARY_PATH
    for place in CUDA_HOME/lib64 CUDA_PATH/lib64 VIRTUAL_ENV/lib/python3.9/site-packages/nvidia/cudnn/lib; do
        mkdir -p "$tmp/$place"
        mv "$(find "$tmp" -name libcudnn.so.8)" "$tmp/$place"
        export "${place%%/*}=$tmp/${place%%/*}"
        is "and for one in $place" says_alike cuDNN "too old" cudnn \
            'libcudnn.so.8 \(8.9.7\) is too old: cuDNN 9 is needed'
        unset "${place%%/*}"
    done
    is "in none of them, all are named" says_alike cuDNN missing cudnn \
        'nor in CUDA_HOME, CUDA_PATH, /usr/local/cuda, /opt/cuda or Python.s nvidia packages'
fi
finish
