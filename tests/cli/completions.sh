#!/bin/sh
# Completion in real shells: bash always, zsh and fish where they are installed.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2016
. "$(dirname "$0")/lib.sh"

PATH=$(dirname "$ATTNSCOPE"):$PATH
export PATH
touch one.npy two.txt

run completions tcsh
is "a shell without completions is a usage error" [ "$rc" -eq 2 ]
run help
is "the verbs for shells are in no list" [ "$(printf '%s' "$out" | grep -c 'complet.* ')" -eq 0 ]
for shell in bash zsh fish; do
    run completions $shell
    printf '%s\n' "$out" >"$shell.script"
    is "there is a script for $shell" [ "$rc" -eq 0 ]
done

# What all of them ask, behind the program's own options and what these take.
touch plain.run
offers() { # line, the first that is offered
    run complete-line -- "$1"
    is "behind \"$1\": $2" says "$out" "^$2$(printf '\t')"
}
offers 'pla' plan
offers '--plain pla' plan
offers '-c help pla' plan
offers '--command help pla' plan
offers '-f plain.run pla' plan
offers '--file plain.run pla' plan
offers '--file pla' plain.run
offers '--command pla' plan
offers '-c help --versio' --version
# What bash would offer behind the line; COMP_WORDS as readline cuts them, at blanks and =.
in_bash() {
    out=$(bash --norc -c '
        . ./bash.script
        complete -p attnscope >/dev/null || echo "not registered"
        COMP_LINE="attnscope $1" COMP_POINT=$((${#1} + 10))
        spaced="${COMP_LINE//=/ = }"
        read -ra COMP_WORDS <<<"$spaced"
        [[ $spaced == *" " ]] && COMP_WORDS+=("")
        COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
        _attnscope attnscope "${COMP_WORDS[COMP_CWORD]}" ""
        echo "${COMPREPLY[*]}"' bash "$1" 2>&1)
    rc=$?
}
if command -v bash >/dev/null; then
    in_bash ru
    is "bash: a verb" [ "$out" = run ]
    in_bash 'run nai'
    is "bash: a kernel" [ "$out" = naive ]
    in_bash 'run naive,spl'
    is "bash: a kernel in a list keeps the list" [ "$out" = "naive,splitkv naive,splitkv_atomic naive,splitkv_cluster naive,splitkv_columns naive,splitkv_wgmma" ]
    in_bash 'run naive dtype='
    is "bash: values stand behind the sign alone" [ "$out" = "bf16 f16 f32" ]
    in_bash 'set gpu=H2'
    is "bash: a device" [ "$out" = H200 ]
    in_bash 'run naive input=o'
    is "bash: a file where one is due" [ "$out" = "one.npy outlier" ]
    in_bash 'lesson meas'
    is "bash: a lesson" [ "$out" = measure ]
    in_bash '--pl'
    is "bash: an option of the program" [ "$out" = --plain ]
    in_bash 'compare naive --fail-on='
    is "bash: the value of an option" says "$out" '^(.* )?slower( .*)?$'
    in_bash '-f tw'
    is "bash: a script" [ "$out" = two.txt ]
    in_bash '--plain nosuchverb x'
    is "bash: nothing behind nonsense" silent "$out"
fi

if command -v fish >/dev/null; then
    in_fish() {
        out=$(fish --no-config -c 'source ./fish.script; complete -C "attnscope $argv[1]"' "$1" 2>&1)
        rc=$?
    }
    in_fish 'run naive dtype=b'
    is "fish: a value with its meaning" says "$out" '^dtype=bf16	bfloat16'
    in_fish 'comp'
    is "fish: verbs" says "$out" '^compare	'
    in_fish 'source-file t'
    is "fish: a file" says "$out" '^two.txt'
else
    is "fish is not installed # SKIP" true
fi

if command -v zsh >/dev/null; then
    # A real zsh on a pseudo-terminal: Tab, then the line as it stands.
    cat >try.zsh <<'ZSH'
zmodload zsh/zpty
zpty z zsh -f -i
zpty -w z 'PS1= PS2=; unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -D -u; . ./zsh.script'
zpty -w z "show-line() { print -r -- \"<<\$BUFFER>>\"; BUFFER=; zle accept-line }; zle -N show-line; bindkey '^X' show-line; echo rea''dy"
zpty -r -m z text '*ready*'
zpty -n -w z $'attnscope '"$1"$'\t\x18'
zpty -r -m z text '*<<*>>*'
print -r -- "${${text##*<<}%%>>*}"
zpty -d z
ZSH
    in_zsh() {
        out=$(TERM=dumb timeout 20 zsh -f try.zsh "$1" 2>&1)
        rc=$?
    }
    in_zsh 'run nai'
    is "zsh: a kernel" says "$out" '^attnscope run naive *$'
    in_zsh 'set gpu=H20'
    is "zsh: a value" says "$out" '^attnscope set gpu=H200 *$'
    in_zsh 'run naive caus'
    is "zsh: a key, no blank behind its sign" says "$out" '^attnscope run naive causal=$'
else
    is "zsh is not installed # SKIP" true
fi
finish
