#!/bin/sh
# The manual pages are clean, and name every verb, variable and file that the program knows.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2013
src=${ATTNSCOPE_SRCDIR:-.} build=${ATTNSCOPE_BUILDDIR:-.}
man1=$build/man/attnscope.1
n=0
report() { # text, findings
    n=$((n + 1))
    if [ -z "$2" ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        echo "$2" | sed 's/^/# /'
    fi
}
for page in "$man1" "$src/man/attnscope-lesson.5" "$src/man/attnscope-kernel.5"; do
    name=$(basename "$page")
    if command -v mandoc >/dev/null; then
        report "mandoc: $name" "$(mandoc -Tlint -W warning "$page" 2>&1)"
    else
        n=$((n + 1))
        echo "ok $n - mandoc: $name # SKIP no mandoc"
    fi
    if command -v groff >/dev/null; then
        report "groff: $name" "$(groff -mdoc -Tutf8 -ww -z "$page" 2>&1)"
    else
        n=$((n + 1))
        echo "ok $n - groff: $name # SKIP no groff"
    fi
done

missing=
for verb in $("${ATTNSCOPE:-./attnscope}" help | sed -n 's/^  \([a-z-]*\) .*/\1/p'); do
    grep -qF "$(echo ".Cm $verb" | sed 's/-/\\-/g')" "$man1" || missing="$missing $verb"
done
report "every verb is in attnscope(1)" "$missing"

missing=
for name in $(grep -rhoE 'getenv\("[A-Z_]+"' "$src/src" | sed 's/.*"\([A-Z_]*\)"/\1/' | sort -u); do
    case $name in HOME | PATH) continue ;; esac
    grep -q "^\.\(It \)\?Ev .*$name" "$man1" || missing="$missing $name"
done
report "every variable is in attnscope(1)" "$missing"

missing=
for name in $(grep -rhoE 'path_in\(PATH_[A-Z]+, "[a-z.]+"' "$src/src" | sed 's/.*"\([a-z.]*\)"/\1/' | sort -u); do
    grep -q "^\.It Pa ~/.*/attnscope/$name" "$man1" || missing="$missing $name"
done
report "every file is in attnscope(1)" "$missing"

missing=
for code in 0 1 2 3 77 128; do
    sed -n '/^\.Sh EXIT STATUS/,/^\.Sh EX/p' "$man1" | grep -q "^\.It $code" || missing="$missing $code"
done
report "every exit status is in attnscope(1)" "$missing"
echo "1..$n"
