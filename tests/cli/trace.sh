#!/bin/sh
# trace banks, access, reduce: a line of a kernel looked at while it runs; as text, rows and pictures; hostile words.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2016,SC2154
. "$(dirname "$0")/lib.sh"

run trace banks fa2_mma_plain buffer=Ks
is "banks: kernel, shape and whose PTX" says "$out" '^fa2_mma_plain . B=1 H=1 S=64 D=64 f16 . SIM, PTX of nvcc'
is "  the source line" says "$out" '^fa2_mma_plain.cu:[0-9]+  load_matrices\(k, Ks'
is "  what was inlined there" says "$out" '^  mma.cuh:[0-9]+ '
is "  what it cost" says "$out" '^ldmatrix.*: 32 wavefronts, ideal 4; block 0,0,0, warp 0$'
is "  lane 5 by the sixth wavefront" says "$out" '   5  Ks\[5\]\[0\] +6666\.{28} +6$'
run trace banks fa2_mma_swizzle buffer=Ks turn=5 lanes=8
is "a swizzle is undone in names" says "$out" '   7  Ks\[7\]\[16\] '
is "  eight rows in one go" says "$out" ' 1$'
is "  and no more rows than asked for" [ "$(printf '%s\n' "$out" | grep -c ' Ks\[')" -eq 8 ]
run trace access row_online f32 D=256 VEC=1 ACCESS=strided operand=K
is "access: the sum of its loads" says "$out" 'ld.global.f32: 8 accesses, 256 sectors, ideal 32'
run trace reduce row_online f32
is "reduce: who gets from whom" says "$out" '   1 +32  ghijklmnopqrstuv0123456789abcdef +2 '

run trace banks fused_wmma_qk lanes=2
is "static variables go by their names, however a compiler places them" says "$out" '   1  Ss\[1\]\[0\] +2'
run trace access decode_splitkv operand=K
is "a kernel for few queries gets few" says "$out" 'Sq=1 Sk=64'
run trace reduce splitkv_atomic how=atomic
is "what was added by a constant has no right answer here" says "$out" ' 1 +- +-$'

# rows
run trace banks fa2 --json
is "JSON: a row a lane" [ "$(printf '%s' "$out" | grep -o '"lane":' | wc -l)" -eq 32 ]
is "  with kernel, place and origin" says "$out" '"kernel":"fa2".*"origin":"sim".*"place":"fa2.cu:70 \(attn.cuh:[0-9]+\)"'
run trace access fa2 operand=K --csv
is "CSV: a line of names, a line a load" [ "$(printf '%s\n' "$out" | wc -l)" -eq 2 ]
run trace reduce row_full f32 --md
is "Markdown with its command" says "$out" 'trace reduce row_full f32'
run -c 'trace banks fa2_mma_plain lanes=3; show $last.goes; show $2.element'
is "rows have names" says "$out" 'Ks\[1\]\[0\]'

# pictures: of one model
run -c 'trace banks fa2_mma_plain PAD=16 buffer=Ks; export svg b.svg; export html b.html; export gp b.gp; export json b.json'
is "SVG: a cell for each word" [ "$(grep -o '<title>bank ' b.svg | wc -l)" -eq 128 ]
is "  with lane and wavefront" says "$(cat b.svg)" 'bank 0, wavefront 1: the lane that is served 0<'
is "  and no script" [ "$(grep -c '<script' b.svg)" -eq 0 ]
is "HTML has it" says "$(cat b.html)" 'lanes of a warp'
is "gnuplot: lane 4 in the second wavefront" says "$(cat b.gp)" '^0 2 4$'
is "JSON: rows" says "$(cat b.json)" '"wavefronts": ?8'
run -c 'trace access fa2 operand=O; export svg a.svg figure=lanes; trace reduce row_online f32; export svg r.svg'
is "sectors as a picture" says "$(cat a.svg)" 'lanes on it 4<'
is "exchanges as a picture" says "$(cat r.svg)" 'lane 0, step 1: gets from 16<'
run -c 'record x.rec; trace banks fa2_mma_plain; record off'

is "a recording keeps it" says "$(cat x.rec)" '"kind": ?"lanes"|"lanes"'

# what cannot be seen
run trace banks fa2 line=1
is "a line without an access: others are named" says "$rc $err" '^2 .*line 1; lines that have: fa2.cu:[0-9]+'
run trace banks fa2 buffer=Zs
is "a buffer that is none" says "$rc $err" '^2 .*there is Qs, Ks, Vs, Ps'
run trace banks fa2 block=7
is "a block that is none" says "$rc $err" '^2 .*the grid is 1 x 1 x 1'
run trace banks fa2 turn=999
is "a turn that never came" says "$rc $err" '^2 .*comes there 128 times'
run trace banks cublas
is "a kernel that is not simulated" says "$rc $err" '^3 .*another library'
run trace reduce break=step
is "words of the formula are told from" says "$rc $err" '^2 .*this runs a kernel: edit'
run trace banks fa2 'line=attn.cuh:99999999999999999999'
is "a line of a thousand digits" test "$rc" -eq 2
run trace banks fa2 "line=$(printf '%0500d' 1)"
is "  or of five hundred" test "$rc" -eq 2
run trace banks fa2 "line=$(printf 'a\033[31mb:1')"
is "no escape gets out" [ "$(printf '%s' "$out$err" | grep -c "$(printf '\033')")" -eq 0 ]
run trace banks fa2 "buffer=$(printf 'K\033]0;x\007s')"
is "  of a name either" [ "$(printf '%s' "$out$err" | grep -c "$(printf '\033')")" -eq 0 ]
run trace banks fa2 backend=cpu
is "there is one backend for it" test "$rc" -eq 2

# A kernel of one's own, with a line that its text has twice.
cat >mine.cu <<'EOF'
/* mine.cu - a copy of a column.
 *
 * @name     mine
 * @title    A column
 * @dtypes   f32
 * @requires D == 64
 * @threads  32
 * @grid     1 H B
 * @smem     static Ts 32*32*4 type=f32 pitch=32 a tile
 */
#include "attn.cuh"
extern "C" __global__ void mine(const __grid_constant__ AttnArgs a)
{
    __shared__ float Ts[32][32];
    const int lane = threadIdx.x;
    for (int i = 0; i < 32; i++)
        Ts[i][lane] = lane;
    __syncwarp();
    float x = Ts[lane][3];
    __syncwarp();
    if (lane < a.D)
        a.o[lane] = x;
}
EOF
if command -v clang >/dev/null || command -v nvcc >/dev/null || [ -x /usr/local/cuda/bin/nvcc ]; then
    run -c 'kernel add mine.cu; trace banks mine f32 line=19'
    is "one's own: lanes in one bank" says "$out" ': 32 wavefronts, ideal 1'
    is "  its own names" says "$out" ' Ts\[31\]\[3\] '
else
    is "one's own # SKIP no compiler" true
fi

# at 60 columns
if command -v python3 >/dev/null; then
    narrow() { # command: what a terminal of 60 columns gets
        python3 - "$ATTNSCOPE" "$@" 2>/dev/null <<'END'
import fcntl, os, pty, struct, sys, termios
pid, fd = pty.fork()
if not pid:
    fcntl.ioctl(1, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 60, 0, 0))
    os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
    os.execv(sys.argv[1], sys.argv[1:])
while True:
    try:
        data = os.read(fd, 65536)
    except OSError:
        break
    if not data:
        break
    sys.stdout.write(data.decode().replace("\r", ""))
os.waitpid(pid, 0)
END
    }
    for view in 'pipe Sk=32 STAGES=3' 'sum Sk=32' 'splitkv Sk=32' 'softmax Sk=64 BC=16'; do
        # shellcheck disable=SC2086  # words
        out=$(narrow trace $view)
        is "60 columns: trace $view has its table" says "$out" '^ *[a-z]+ .* (right|so far|weight)$'
        is "  in lines that it has room for" [ -z "$(printf '%s\n' "$out" | grep -E '^.{61}')" ]
    done
    out=$(narrow trace pipe)
    is "  and what is left tells whether a tile was there" says "$out" 'waits +K of +V of'
else
    is "60 columns # SKIP no python3" true
fi

# in lessons
printf '# T\n\n## S\n\n```attnscope\nfigure banks D=64 PAD=16\nexpect $last.wavefronts == 8 : no\nhint h\n```\n' >old.md
run lesson check old.md
is "figure banks of older lessons is the command" says "$out" 'gate +ok +\$last.wavefronts == 8'
printf '# T\n\n## S\n\n```attnscope\nfigure banks D=64 --json\nexpect 1 == 1 : no\nhint h\n```\n' >bad.md
run lesson check bad.md
is "  with the same limits" test "$rc" -ne 0
finish
