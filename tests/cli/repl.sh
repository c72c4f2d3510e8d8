#!/bin/sh
# The line reader and scripts: what a session is made of, from the outside.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2016
. "$(dirname "$0")/lib.sh"

run_input 'alias big = plan naive S=4k --csv
big | tail -1 | cut -d, -f1
big gpu=H200 > a.csv
!head -1 a.csv | cut -c1-6
unalias big
big'
is "an alias takes what follows, a pipe and a file" says "$out" '^naive$'
is "the shell sees the file" says "$out" '^kernel$'
is "a forgotten alias is unknown" says "$err" 'line 6: there is no command "big"'
is "and the status says so" [ "$rc" -eq 2 ]

printf 'set S=256 D=32\nset qtile_seq BR=32\nalias p = "plan qtile_seq; show S"\n' >first.atn
printf '@first.atn\nset gpu=H200 dt=f32\n' >second.atn
run -f second.atn -c 'save one.atn; reset; unalias p; @one.atn; save two.atn; p'
is "scripts run scripts" [ "$rc" -eq 0 ]
is "a saved session replays to the same session" cmp -s one.atn two.atn
is "with its shape, options, parameters" [ "$(grep -c '^set' one.atn)" -eq 3 ]
is "and aliases" says "$out" '^S +256'
run @second.atn
is "a script runs as a command" [ "$rc" -eq 0 ]
run nosuch.atn
is "a file alone is no command" [ "$rc" -eq 2 ]
printf 'show S\n@first.atn\nshwo\n' >third.atn
run -f third.atn
is "errors name the line of the script" says "$err" 'third.atn:3: .*did you mean "show"'
printf '@loop.atn\n' >loop.atn
run @loop.atn
is "a script that runs itself ends" [ "$rc" -eq 2 ]

run -c 'plan naive,fa2; show $1.flops / $2.flops --json; show $fa2.kernel; show "$1.regs"'
is "rows are values" says "$out" '"value":1\.0'
is "also by kernel" says "$out" 'fa2'
run -c 'plan naive; show $last.flps'
is "an unknown field gets the nearest" says "$err" 'did you mean "flops"'

run -c 'watch 0.1 count=3 show S --csv >> w.csv'
is "watch repeats and appends" [ "$(grep -c '^S,' w.csv)" -eq 3 ]
run watch 0.1 count=2 plan naive --csv
is "watch from the shell" [ "$(printf '%s\n' "$out" | grep -c '^naive')" -eq 2 ]
run -c 'devices L4 --csv > d.csv; devices T4 --csv >> d.csv'
is "rows that are appended bring no second heading" [ "$(grep -c '^name' d.csv)" -eq 1 ]
run -c 'plan naive --csv >> d.csv'
is "rows of other columns bring theirs, and it is said" [ "$(grep -c '^kernel,' d.csv)" -eq 1 ]
is "in a sentence" says "$err" 'd.csv has other columns than these rows'

run --restricted -c 'show S | cat'
is "--restricted: no pipes" says "$err" 'pipes are off'
run --restricted -c '!touch made'
is "--restricted: no shell" says "$err" 'shell is off'
run --restricted save made
is "--restricted: no saving" [ "$rc" -eq 2 ]
is "--restricted: nothing was made" [ ! -e made ]
run -c 'show S | false'
is "a pipe that fails is a no" [ "$rc" -eq 1 ]
run -c 'devices | head -1'
is "a reader that leaves early is none" [ "$rc" -eq 0 ]

run help bank conflict
is "help explains a term" says "$out" '^bank conflict: '
run apropos shared memory --json
is "apropos ranks: the term first" says "$out" '^ *\{"kind":"term","name":"shared memory"'
is "and finds kernels" says "$out" '"kind":"kernel"'
run apropos xyzzy
is "nothing is a usage error" [ "$rc" -eq 2 ]
run info
is "info is doctor" says "$out" 'NVIDIA driver'
is "with versions" says "$out" '^attnscope +ok +[0-9]+\.'
run set dt=f16 ba=cpu
is "keys may be shortened" [ "$rc" -eq 0 ]
is "a session of one set is told that it ends" says "$err" 'lasts as long as the session'
run -c 'set dt=f16; show dtype'
is "one with more to come is not" silent "$err"
run set la=3
is "while they are unique" says "$err" 'may be any of layout, launch'
run_input 'show S; log --csv'
is "the log has what was run" says "$out" '^1,0,.*,show S$'

out=$(TERM=dumb "$ATTNSCOPE" </dev/null 2>&1)
is "TERM=dumb sends no escape" [ "$(printf '%s' "$out" | tr -d '\n' | tr -cd '\001-\037' | wc -c)" -eq 0 ]

# hostile names of everything, through the real program
evil=$(printf 'x\033[2J\302\233m\342\200\256y')
clean() {
    [ "$(printf '%s' "$out$err" | tr -d '\n\t' | tr -cd '\001-\037\177' | wc -c)" -eq 0 ] &&
        ! printf '%s' "$out$err" | grep -q "$(printf '\302\233\|\342\200\256')"
}
mkdir -p "$HOME/.config/attnscope" "$HOME/.local/share/attnscope/kernels"
printf 'set %s=1\n' "$evil" >"$HOME/.config/attnscope/config"
printf '/*\n * @name %s\n */\n' "$evil" >"$HOME/.local/share/attnscope/kernels/$evil.cu"
for words in kernels doctor "run $evil" "show $evil" "-f $evil" "$evil" "lesson $evil"; do
    # shellcheck disable=SC2086
    TERM=$evil run $words
    is "clean: $(printf '%s' "$words" | tr -cd 'a-z -')" clean
done
if [ -n "${ATTNSCOPE_FAKECUDA:-}" ]; then
    fake=$ATTNSCOPE_FAKECUDA/fakecuda.so
    for words in --version --help 'show S' 'plan naive gpu=L4' complete-line; do
        # shellcheck disable=SC2086
        ATTNSCOPE_LIBCUDA=$fake ATTNSCOPE_LIBNVRTC=$fake FAKECUDA="tally=$tmp/tally" run $words
        is "no driver is asked: $words" [ "$rc" -eq 0 ]
    done
    is "not once" [ ! -e "$tmp/tally" ]
    ATTNSCOPE_LIBCUDA=$fake ATTNSCOPE_LIBNVRTC=$fake FAKECUDA="tally=$tmp/tally" run check naive S=16 H=1
    is "as it is for a run" [ -s "$tmp/tally" ]
    for form in '' --json --csv --md; do
        # shellcheck disable=SC2086
        ATTNSCOPE_LIBCUDA=$ATTNSCOPE_FAKECUDA/fakecuda.so ATTNSCOPE_LIBNVRTC=$ATTNSCOPE_FAKECUDA/fakecuda.so \
            FAKECUDA="name=$evil" run check naive S=16 H=1 $form
        is "clean: a device's name $form" clean
        is "  and it was there" says "$out" 'x'
    done
fi
finish
