#!/bin/sh
# Data flows one way: a folder of src/ may include only folders to its left in `order`. Within a
# folder that has rooms the same holds for its rooms in `rooms_NAME`. A folder's own headers are its
# face: every room may include them and they include no room. Its own .c files join the rooms, so
# they may include all of them. No folder holds more than 30 .c files.
# Nor do files need each other in a circle, whichever way they include: see tools/circles.
# Only tui/ may include curses, only repl/ and tui/ readline.
# One concept has one home: requests are made in command/ask/request.c, jobs start in
# command/ask/measure.c, and backends are named in backend/ alone.
# HACKING.md, which says where things are, names files that exist; so do comments.
# SPDX-License-Identifier: GPL-3.0-or-later
order="base sim spec kernel plan backend measure job store draw export command lesson repl tui"
# sim: hazard, what orders accesses; lower, PTX text to a program; exec, what runs it.
rooms_sim="hazard lower exec"
rooms_backend="compile sim cuda peer cpu"
rooms_draw="timeline"
# command: line, a line of text as words, calls, files and programs; ask, what a call asks for and its
# rows; show, what verbs and screens show alike; help, what there is to say: texts, search, completion;
# verbs, of kernels and devices, and desk, of the session itself (what is set, typed, kept, written), one cmd_*.c
# each; edit and debug, verbs of several files.
rooms_command="line ask show help verbs desk edit debug"
rooms_lesson="text take author classroom audit trace"
rooms_tui="kit app screens"
build=$(cd "${ATTNSCOPE_BUILDDIR:-build}" && pwd) || exit 99
cd "${ATTNSCOPE_SRCDIR:-.}" || exit 99

rank() { # name, list
    i=0
    for f in $2; do
        i=$((i + 1))
        [ "$f" = "$1" ] && { echo $i; return; }
    done
    echo 0
}

# Prints the upward includes of one folder.
upward() { # folder, its rank
    grep -HnrE --include='*.[ch]' '^ *# *include *"[a-z]+/' "src/$1" 2>/dev/null |
        while IFS= read -r line; do
            to=${line#*\"}
            to=${to%%/*}
            r=$(rank "$to" "$order")
            # repl and tui are side by side: neither may see the other, but tui may use repl's
            # completion glue through command/, which is to the left of both.
            if [ "$r" -eq 0 ] || [ "$r" -gt "$2" ]; then echo "$line"; fi
        done
}

# Prints the includes within one folder that go to a room further right, or from its face to a room.
upward_rooms() { # folder, its rooms
    grep -HnrE --include='*.[ch]' "^ *# *include *\"$1/[a-z_]+/" "src/$1" 2>/dev/null |
        while IFS= read -r line; do
            from=${line#src/"$1"/}
            from=${from%%:*}
            to=${line#*\"}
            to=${to#*/}
            to=$(rank "${to%%/*}" "$2")
            case $from in
            */*) from=$(rank "${from%%/*}" "$2") ;;
            *.h) from=0 ;;
            *) from=99 ;;
            esac
            if [ "$to" -eq 0 ] || [ "$to" -gt "$from" ]; then echo "$line"; fi
        done
}

# Prints folders with more .c files than one can take in at a look.
crowded() {
    find src -type d | while IFS= read -r d; do
        n=$(find "$d" -maxdepth 1 -name '*.c' | wc -l)
        [ "$n" -le 30 ] || echo "$d: $n .c files"
    done
}

# Prints files that need each other, as the linker sees them.
circles() {
    found=$(python3 tools/circles "$build" 2>&1) && [ "${found%%,*}" = "0 circles" ] || echo "$found"
}

# Prints files outside the allowed folders that include a system header.
forbidden() {
    grep -rlE --include='*.[ch]' "^ *# *include *<($1)" src kernels/cpu 2>/dev/null | grep -vE "$2"
}

# Prints lines of src that match outside the files that may.
outside() { # pattern, pattern of the files
    grep -rnE --include='*.[ch]' "$1" src 2>/dev/null | grep -vE "$2"
}

# Prints where code has a backend's name as a word of its own beside `backend`, or in a command.
# Fields, sides of a kernel and views of a source are called alike: no `backend` stands beside them.
named_backends() {
    names=$(grep -rhE '^BACKEND_ROW\(' src/backend | sed 's/^BACKEND_ROW(\([a-z0-9]*\),.*/\1/' | paste -sd'|')
    [ -n "$names" ] || echo "src/backend: no backend was found"
    outside "(backend|info->name|ops->name)[^;]*\"($names)\"|\"($names)\"[^;]*backend| backend=($names)\"" \
        '^src/(backend/|kernel/desc|store/record|job/request.h)'
}

# Prints files that HACKING.md names and that are not there; NAME stands for any.
missing_files() {
    # shellcheck disable=SC2016  # backticks of the text
    grep -oE '`[A-Za-z0-9_./-]+\.(c|h|cu|py|sh|mk|txt|md)`' HACKING.md | tr -d '`' | sort -u | grep -v NAME |
        while read -r file; do
            [ -n "$(find src kernels lessons man tests -path "*/$file" -print -quit)" ] || [ -e "$file" ] ||
                echo "HACKING.md: $file"
        done
}

# Prints what comments of src/ name and is not there: files of ours, and functions, as in file_open(). What is made by the build
# or is another library's is named here.
missing_in_comments() {
    python3 - <<'END'
import re
from pathlib import Path
others = {"blob_table.c", "backend_table.h", "ladder_table.h", "verb_table.h", "screen_table.h", "history.h", "cublas_v2.h",
          "cuda_occupancy.h", "mine.cu", "timer_create()"}
comment = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
texts = {p: p.read_text(encoding="utf-8") for top in ("src", "kernels") for p in Path(top).rglob("*") if p.suffix in (".c", ".h", ".cu", ".cuh")}
defined = {name for text in texts.values() for name in re.findall(r"\b([a-z_][a-z_0-9]*)\)?\(", comment.sub("", text))}
files = [f"/{p.as_posix()}" for top in ("src", "kernels", "tests", "tools") for p in Path(top).rglob("*.*")]
for path, text in texts.items():
    for note in comment.findall(text) if path.parts[0] == "src" else []:
        named = re.findall(r"(?<![\w/.$<-])([a-z_0-9]+(?:/[a-z_0-9]+)*\.(?:c|h|cu|cuh|sh|py))\b(?![.(])", note)
        gone = [name for name in named if len(name) > 4 and not any(f.endswith(f"/{name}") for f in files)]
        gone += [f"{name}()" for name in re.findall(r"\b([a-z0-9]+_[a-z0-9_]+)\(\)", note) if name not in defined]
        for name in sorted(set(gone) - others):
            print(f"{path}: {name}")
END
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
# Names that two files of the library define: which of them a program gets would hang on its linker.
named_twice() {
    nm -g --defined-only "${ATTNSCOPE_BUILDDIR:-build}"/libattnscope.a 2>/dev/null | awk 'NF == 3 { print $3 }' | grep -v '^__' | sort | uniq -d
}

echo "1..$(($# + 18))"
for folder; do
    report "src/$folder includes nothing to its right" "$(upward "$folder" "$(rank "$folder" "$order")")"
done
report "rooms of sim look one way" "$(upward_rooms sim "$rooms_sim")"
report "rooms of backend look one way" "$(upward_rooms backend "$rooms_backend")"
report "rooms of draw look one way" "$(upward_rooms draw "$rooms_draw")"
report "rooms of command look one way" "$(upward_rooms command "$rooms_command")"
report "rooms of lesson look one way" "$(upward_rooms lesson "$rooms_lesson")"
report "rooms of tui look one way" "$(upward_rooms tui "$rooms_tui")"
report "at most 30 .c files in a folder" "$(crowded)"
if command -v python3 >/dev/null 2>&1 && command -v nm >/dev/null 2>&1; then
    report "no circle among files" "$(circles)"
    report "no two files define one name" "$(named_twice)"
    report "comments name files and functions that exist" "$(missing_in_comments)"
else
    report "no two files define one name # SKIP no python3 or no nm" ""
    report "no circle among files # SKIP no python3 or no nm" ""
    report "comments name files and functions that exist # SKIP no python3 or no nm" ""
fi
report "only tui includes curses" "$(forbidden 'n?curses|term\.h' '^src/tui/')"
report "only repl and tui include readline" "$(forbidden readline '^src/(repl|tui)/')"
report "jobs are asked for in command/ask/measure.c alone" \
    "$(outside 'super_submit\(|\(struct job_request\)|struct job_request [a-z_]+( = \{|;)' \
        '^src/job/|^src/command/ask/measure.c')"
report "requests are made in command/ask/request.c alone" \
    "$(outside '\(struct request\)\{[^0]|struct request [a-z_]+ = ' '^src/command/ask/request.c')"
report "nobody makes a call by hand" "$(outside 'struct cmd_call [a-z_]+ = ' '^src/command/(command.c|line/)')"
report "backends are named in src/backend alone" "$(named_backends)"
report "nothing includes NVIDIA's headers" "$(forbidden 'cuda|nvrtc|nvml|cupti' '^$')"
report "HACKING.md names files that exist" "$(missing_files)"
