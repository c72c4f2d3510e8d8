#!/bin/sh
# Kernels of one's own in C: dropped into the folder, added, edited; compiled by the system's compiler,
# run, checked and timed beside the built-in ones; what does not compile, is not allowed or is wrong.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC3046
. "$(dirname "$0")/lib.sh"
unset VISUAL EDITOR ATTNSCOPE_LIBCUDA
own=$HOME/.local/share/attnscope/kernels
src=${ATTNSCOPE_SRCDIR:?}/kernels/cpu
command -v cc >/dev/null || {
    echo "1..0 # SKIP no C compiler"
    exit 0
}
mkdir -p "$own"
# mine NAME SED...: fa2.c under another name, with changes.
mine() {
    name=$1
    shift
    sed -e "s/@name      fa2/@name      $name/" -e "s/@after     qtile_seq/@after     fa2/" -e "s/attn_fa2/attn_$name/" "$@" \
        "$src/fa2.c" >"$own/$name.c"
    "$ATTNSCOPE" kernel allow "$name" >/dev/null 2>&1 || : # one that is broken has no permission to lack
}

# ---- dropped into the folder ----
mine mine
run kernels mine
is "a dropped .c is listed, for the CPU" says "$out" '^mine +your own +cpu'
run kernel list --json
is "and is C" says "$out" '"name":"mine".*"code":"c".*"dtypes":\["f16","bf16","f32"\]'
run check mine S=100 B=1 H=2 D=40 f32 causal backend=cpu
is "it runs and is right" [ "$rc" -eq 0 ]
is "checked like the others" says "$out" '^mine .* pass '
mine other -e 's/correction;$/correction * 0.5f;/'
run check mine,other S=200 H=1 f32 backend=cpu
is "two in one command are two" says "$out" '^mine .* pass '
is "the wrong one of them fails" says "$out" '^other .* fail '
is "and is told where" says "$out" 'other: .*max_diff .* at b0 h0 row'
run compare fa2,mine@BR=32 S=64 H=1 n=3 time=0.05 backend=cpu
is "compared with a parameter of its own" says "$out" '^mine +BR=32 '
run run mine@BR=5000 S=64 H=1 backend=cpu
is "a parameter out of range is refused" says "$err" 'BR'
run timeline mine S=128 H=2 backend=cpu
is "its blocks are seen" says "$out" 'mine'

# ---- the same run twice ----
is "two runs of it are the same" says "$(run check mine S=64 H=1 f32 backend=cpu --json && echo "$out")" '"deterministic":true,"rerun_max_diff":0\.0'
mine moody -e 's/1 \/ t->l\[r\]/(1 + 1.5e-7f * (float)(calls % 7)) \/ t->l[r]/' -e 's/^void attn_moody.*/&/' \
    -e 's/^static void finish_row/static int calls;\nstatic void finish_row/' -e 's/    run_grid(a, l, ceil/    calls++;\n    run_grid(a, l, ceil/'
run check moody S=64 H=1 f32 backend=cpu
is "a right one whose runs differ passes" [ "$rc" -eq 0 ]
is "and is told not to be deterministic" says "$out" 'not deterministic: moody: two runs on the same inputs differ by up to [0-9.]+e-0[678]'
mine wild -e 's/1 \/ t->l\[r\]/(calls % 4 == 0 ? 2 : 1) \/ t->l[r]/' \
    -e 's/^static void finish_row/static int calls;\nstatic void finish_row/' -e 's/    run_grid(a, l, ceil/    calls++;\n    run_grid(a, l, ceil/'
run check wild S=64 H=1 f32 backend=cpu
is "one that is wrong now and then fails by its second run" says "$out" 'wild: (a second run|a neighbouring shape|another seed) is wrong'

# ---- long launches ----
# lazy NAME STATEMENT: fa2, each of whose blocks does that first.
lazy() {
    mine "$1" -e 's/^static void query_tile_block.*/int usleep(unsigned us);\n\n&/' -e "s/^    const int64_t BR = cpu_param.*BC.*/    $2;\n&/"
}
lazy dozing 'usleep(400000)'
run check dozing S=512 H=1 f32 backend=cpu threads=1 timeout=2
is "a launch that takes longer than the limit is no hang while its blocks end" [ "$rc" -eq 0 ]
is "and is judged as any other" says "$out" '^dozing .* pass '
lazy asleep 'if (blk->x == 3) for (;;) usleep(100000)'
run check asleep S=512 H=1 f32 backend=cpu threads=1 timeout=2
is "a block that never ends is one" says "$out" 'asleep: the worker gave no sign of life for 2\.0 s, where timeout=2 is the limit'

# ---- a workspace that is cleared once ----
# once NAME SED...: fa2 that counts its calls in a workspace, and that finds what the call before left.
once() {
    name=$1
    shift
    mine "$name" -e 's/^ \* @grid  .*/&\n * @workspace calls 64 once  calls so far/' "$@"
}
once tidy -e 's/    run_grid(a, l, ceil/    if (((int *)a->ws[0])[3]) return;\n    run_grid(a, l, ceil/'
run run tidy S=64 H=1 f32 backend=cpu n=3 time=0.05
is "a call finds it clear, again and again" says "$out" '^tidy .* pass '
once litter -e 's/    run_grid(a, l, ceil/    ((int *)a->ws[0])[3] = 7;\n    run_grid(a, l, ceil/'
run run litter S=64 H=1 f32 backend=cpu n=3 time=0.05
is "who does not leave it clear fails" [ "$rc" -ne 0 ]
is "and is told where" says "$out" 'litter: it did not leave its workspace calls clear for the next call.* byte 12 is 7'
once late -e 's/    run_grid(a, l, ceil/    static int n;\n    if (n++ > 4) ((int *)a->ws[0])[3] = 7;\n    run_grid(a, l, ceil/'
run run late S=64 H=1 f32 backend=cpu n=30
is "who does so in timed runs alone is told, too" says "$out" 'late: it did not leave its workspace calls clear'

# ---- the cache follows the file ----
is "what was compiled is kept" [ -n "$(ls "$HOME/.cache/attnscope/cubin")" ]
mine mine -e 's/correction;$/correction * 0.5f;/'
run check mine S=200 H=1 f32 backend=cpu
is "a changed file is compiled anew" [ "$rc" -eq 1 ]
mine mine

# ---- what does not compile or load ----
mine broken -e 's/i0 = blk->x \* BR/i0 = blk->x * BRR/'
run run broken S=64 backend=cpu
is "an error of the compiler, with its line" says "$out" 'broken.c:[0-9]+:[0-9]+: error: .BRR. undeclared'
mine named -e 's/attn_named/attn_nomad/'
run run named S=64 backend=cpu
is "the function is missing" says "$out" 'it has no function attn_named'
mine greedy
echo '#include "/etc/passwd"' >>"$own/greedy.c"
run kernel allow greedy
run run greedy S=64 backend=cpu
is "what is not its own cannot be included" says "$out" 'does not compile'
is "and is not shown" [ "$(printf '%s\n' "$out" | grep -c root:)" -eq 0 ]
mine links -e 's/^void attn_links/int nowhere(void);\nvoid attn_links/' -e 's/const int64_t BR = cpu_param(blk->l, "BR")/nowhere(); const int64_t BR = cpu_param(blk->l, "BR")/'
run run links S=64 backend=cpu
is "a symbol that is nowhere" says "$out" 'links: .*nowhere'
ATTNSCOPE_CC=no-such-compiler run run mine S=64 backend=cpu
is "no compiler: says what to install" says "$out" 'no-such-compiler was not found: install gcc or clang'
mine flagged -e 's/@after     fa2/@after     fa2\n * @flags     -O3 -march=native/'
run check flagged S=64 H=1 backend=cpu
is "flags are taken" [ "$rc" -eq 0 ]
mine flagged -e 's/@after     fa2/@after     fa2\n * @flags     -O3 -fplugin=x.so/'
run run flagged S=64 backend=cpu
is "flags that run programs are not" says "$err" 'flagged.c:[0-9]+:[0-9]+: @flags: .*-fplugin=x.so'
mine tagged -e 's/@grid      ceil/@smem      dynamic Ks 64\n * @grid      ceil/'
run run tagged S=64 backend=cpu
is "tags of a GPU mean nothing" says "$err" '@smem means nothing for C'
mine fa2
run kernels
is "a built-in name is taken" says "$err" 'fa2.c: the name fa2 is taken'
rm "$own"/broken.c "$own"/named.c "$own"/greedy.c "$own"/links.c "$own"/flagged.c "$own"/tagged.c "$own"/fa2.c "$own"/other.c

# ---- added from elsewhere, with a header beside it ----
mkdir work
mine added -e 's/#include "attn_cpu.h"/#include "attn_cpu.h"\n#include "add.h"/' -e 's/= blk->x \* BR/= tile(blk->x, BR)/'
mv "$own/added.c" work/
echo 'static int64_t tile(int64_t x, int64_t br) { return x * br; }' >work/add.h
run kernel add work/added.c
is "a .c is added where it lies" says "$out" "^added +c +cpu .*work/added.c"
run check added S=100 H=1 backend=cpu
is "headers beside it are found" [ "$rc" -eq 0 ]
echo 'static int64_t tile(int64_t x, int64_t br) { return x * br + 1; }' >work/add.h
run check added S=100 H=1 backend=cpu
is "a changed header counts" [ "$rc" -eq 1 ]
run kernel remove added
is "and it is let go" [ ! -e "$own/added.c" ]
is "the file stays" [ -e work/added.c ]

# ---- edit ----
run edit fa2 backend=cpu
is "no editor: usage" [ "$rc" -eq 2 ]
EDITOR="sed -i s/correction;/correction*0.5f;/"
export EDITOR
run edit fa2 backend=cpu S=200 H=1 f32 n=3 time=0.05
is "an edit that is wrong: 1" [ "$rc" -eq 1 ]
is "compiled by whom" says "$out" '^compiled by (gcc|clang) [0-9]'
is "both stand there" says "$out" '^fa2 .* pass '
is "and the wrong one is named" says "$out" '^fa2_cpu_edit .* fail '
is "how to go on" says "$err" '"edit fa2 backend=cpu" opens it again'
run source fa2_cpu_edit diff
is "the diff is against the C version" says "$out" '^-.*t->l\[r\] \*= correction;'
is "with the changed line" says "$out" '^\+.*t->l\[r\] \*= correction\*0.5f;'
is "and nothing of the GPU" [ "$(printf '%s\n' "$out" | grep -c __global__)" -eq 0 ]
EDITOR='sed -i s/0.5f/1.0f/'
run edit fa2_cpu_edit S=200 H=1 n=3 time=0.05
is "gone on with by its own name, now right" [ "$rc" -eq 0 ]
EDITOR='sed -i s/1.0f/1.0g/'
run edit fa2 backend=cpu S=64
is "an edit that does not compile: 1" [ "$rc" -eq 1 ]
is "with its line" says "$out" '\| .*1.0g;'
EDITOR=true
run edit fa2 backend=cpu --fresh --no-run
is "--fresh begins anew" says "$err" 'your edit so far is kept in .*fa2_cpu_edit.c.1'
is "--no-run compiles alone" says "$err" 'compiled and not run'
sed -i 's/@name /@nme /' "$own/fa2_cpu_edit.c"
EDITOR="sed -i s/@nme/@name/"
run edit fa2_cpu_edit S=64 H=1 n=3 time=0.05
is "a broken descriptor is mended by the edit's own name" [ "$rc" -eq 0 ]
EDITOR=true
run edit cpu_tiled S=64 H=1 n=3 time=0.05 --json
is "one that is C alone needs no backend=" says "$out" '"kernel":"cpu_tiled_edit"'
run edit wmma_serial backend=cpu --no-run
is "one without C is CUDA" says "$err" 'wmma_serial_edit.cu is a copy'
run edit fa2 S=64
is "the CUDA edit says where the C version is" says "$out" 'edit fa2 backend=cpu'
is "and both edits live beside each other" [ -e "$own/fa2_edit.cu" ] && [ -e "$own/fa2_cpu_edit.c" ]
for k in naive row_online fa1_2022 qtile_seq splitkv; do
    run edit $k backend=cpu S=65 B=1 H=2 D=24 causal f32 n=2 time=0.05
    is "a copy of $k is right" [ "$rc" -eq 0 ]
done
run --restricted edit fa2 backend=cpu
is "not in a restricted session" [ "$rc" -eq 2 ]
finish
