#!/bin/sh
# What the README tells people to type is what the program takes: every command in it runs here, on
# small shapes and with files of the names it uses. Status 0, 1 (a check said no) or 77 (no GPU).
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2016,SC2034,SC2154
. "$(dirname "$0")/lib.sh"
src=${ATTNSCOPE_SRCDIR:?}
readme=$src/README.md
export EDITOR=true

# Commands of the README, without what is said beside them and with sizes for a slow machine.
commands() {
    sed -nE 's/^(    |\$ )(attnscope .*)/\2/p' "$readme" | sed -E 's/  +.*//; s/16k/256/g; s/4k/128/g; s/1k/64/g; s/^attnscope edit [a-z0-9_]+/& S=64/'
}

# The files that it speaks of.
sed -n '/^```python/,/^```/p' "$readme" | sed '1d;$d' >mine.py
mkdir work
"$ATTNSCOPE" source qtile_seq >work/mine.cu 2>/dev/null
sed -i 's/qtile_seq/mine/g' work/mine.cu
echo 'B=1 H=2 S=64 D=32' >shapes.txt
cc -shared -fPIC -I"$src/kernels/cpu" -x c -o libmine.so - <<'C'
int attn_run(const void *args, void *stream);
int attn_run(const void *args, void *stream) { (void)args; (void)stream; return 1; }
C
mkdir -p "$HOME/.config/attnscope"
echo 'set time=0.05' >"$HOME/.config/attnscope/config"
echo 'host box me@gpu.lab' >>"$HOME/.config/attnscope/config"
export ATTNSCOPE_SSH=/bin/false # nobody is there
run record main.rec -- run cpu_tiled S=64 H=1 backend=cpu
is "a recording to begin with" [ "$rc" -eq 0 ]

# What it counts, from the tables, before any kernel of one's own is there: JSON has a row a line.
named() { printf '%s\n' "$out" | grep -c "$1"; }
run kernels --json
all=$(named '"name":') peers=$(named '"group":"peers"')
run devices --json
gpus=$(named '"name":')
run lessons --json
lessons=$(named '"name":')
out=$(tr '\n' ' ' <"$readme" | grep -oE 'Kernels +5-10/[0-9]+ |Here the [0-9]+ kernels|hand or [0-9]+ others|[0-9]+ lessons')
is "as many kernels of ours as there are: $((all - peers))" says "$out" "Here the $((all - peers)) kernels"
is "the list in its picture is as long as the list: $all" says "$out" "Kernels +5-10/$all "
is "as many GPUs besides the one at hand: $((gpus - 1))" says "$out" "hand or $((gpus - 1)) others"
is "as many lessons: $lessons" says "$out" "^$lessons lessons"

# Its callable takes numpy, which python3 of PATH may lack where the system's has it.
numpy=
for python in python3 /usr/bin/python3; do
    [ -n "$numpy" ] || ! "$python" -c 'import numpy' 2>/dev/null || numpy=$python
done
[ -z "$numpy" ] || export ATTNSCOPE_PYTHON="$numpy"

mkdir gpu-box
run run naive S=16 H=1 D=16 f32 backend=cpu n=3
cp "$HOME/.local/share/attnscope/results.db" gpu-box/ 2>/dev/null || find "$HOME" -name results.db -exec cp {} gpu-box/ \;

commands >list
is "the README has commands" [ "$(wc -l <list)" -ge 20 ]
while IFS= read -r line; do
    case $line in
    *--projector* | *--plain*) continue ;; # screens and prompts: tests/tui
    *py:mine.*)
        [ -n "$numpy" ] || { skip "no numpy here: $line" && continue; }
        # shellcheck disable=SC2086
        run ${line#attnscope }
        ;;
    *'lesson measure') run_input q lesson measure ;;
    *'record new.rec'*) run record new.rec -- run cpu_tiled S=64 H=1 backend=cpu ;; # a kernel that runs here
    *)
        # shellcheck disable=SC2086  # words of a command
        run ${line#attnscope }
        ;;
    esac
    case $line in
    *cuda@box) is "$line" says "$rc" '^3$' ;; # nobody is there
    *) is "$line" says "$rc" '^(0|1|77)$' ;;
    esac
    is "no usage error: $line" says "x$(printf '%s' "$err" | grep -c 'did you mean\|has no key\|no option\|there is no')" '^x0$'
done <list

words=$(wc -w <"$readme")
rc=0 out=$words err=
is "the README has at most 1500 words: $words" [ "$words" -le 1500 ]
missing=$(grep -oE '\]\([A-Za-z/.0-9]+\)' "$readme" | tr -d '])(' | while read -r f; do [ -e "$src/$f" ] || echo "$f"; done)
out=$missing
is "what the README links to exists" [ -z "$missing" ]
finish
