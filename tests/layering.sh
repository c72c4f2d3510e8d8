#!/bin/sh
# Data flows one way: a folder of src/ may include only folders to its left in this line.
# Only tui/ may include curses, only repl/ and tui/ readline.
# SPDX-License-Identifier: GPL-3.0-or-later
order="base spec kernel plan backend measure job store draw export command lesson repl tui"
cd "${ATTNSCOPE_SRCDIR:-.}" || exit 99

rank() {
    i=0
    for f in $order; do
        i=$((i + 1))
        [ "$f" = "$1" ] && { echo $i; return; }
    done
    echo 0
}

# Prints the upward includes of one folder.
upward() {
    grep -Hn '^ *# *include *"[a-z]*/' "src/$1"/*.[ch] 2>/dev/null |
        while IFS= read -r line; do
            to=${line#*\"}
            to=${to%%/*}
            r=$(rank "$to")
            # repl and tui are side by side: neither may see the other, but tui may use repl's
            # completion glue through command/, which is to the left of both.
            if [ "$r" -eq 0 ] || [ "$r" -gt "$2" ]; then echo "$line"; fi
        done
}

# Prints files outside the allowed folders that include a system header.
forbidden() {
    grep -lE "^ *# *include *<($1)" src/*/*.[ch] src/*.c kernels/cpu/*.[ch] 2>/dev/null | grep -vE "$2"
}

n=0
report() { # text, findings
    n=$((n + 1))
    if [ -z "$2" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
    fi
}

# shellcheck disable=SC2086  # a list of words
set -- $order
echo "1..$(($# + 3))"
for folder; do
    report "src/$folder includes nothing to its right" "$(upward "$folder" "$(rank "$folder")")"
done
report "only tui includes curses" "$(forbidden 'n?curses|term\.h' '^src/tui/')"
report "only repl and tui include readline" "$(forbidden readline '^src/(repl|tui)/')"
report "nothing includes NVIDIA's headers" "$(forbidden 'cuda|nvrtc|nvml|cupti' '^$')"
