#!/bin/sh
# Puts the screens of tests/tui/golden.txt into README.md, between its two marks.
#
# SPDX-License-Identifier: GPL-3.0-or-later
set -eu
cd "$(dirname "$0")/.."
screens=$(mktemp)
trap 'rm -f "$screens" "$screens.md"' EXIT

one() { # heading in golden.txt, title
    printf '<details><summary>%s</summary>\n\n```text\n' "$2"
    awk -v want="== $1" '$0 == want { on = 1; next } /^== / { on = 0 } on { print substr($0, 2) }' \
        tests/tui/golden.txt
    printf '```\n\n</details>\n'
}

for name in explore compare sweep roofline timeline source lessons; do
    for size in 80x24 200x50; do
        one "$name, ascii, $size" "$name at $size"
    done
done >"$screens"
awk -v file="$screens" '
    /<!-- screens -->/ { print; print ""; while ((getline line < file) > 0) print line; skip = 1 }
    /<!-- end of screens -->/ { skip = 0; print "" }
    !skip { print }' README.md >"$screens.md"
cat "$screens.md" >README.md
