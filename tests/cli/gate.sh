#!/bin/sh
# Every way by which a file comes in, with everything that is no file of ours in its place: a pipe, a socket,
# a device, a folder, a link, what is huge, and what is gone. None is waited for, each has its sentence.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}"
data=$HOME/.local/share/attnscope
config=$HOME/.config/attnscope
state=$HOME/.local/state/attnscope
mkdir -p "$data/kernels" "$data/lessons" "$data/recordings" "$data/ceilings" "$config" "$state"

put() { # kind, path
    rm -rf "$2"
    case $1 in
    pipe) mkfifo "$2" ;;
    socket) python3 -c 'import os, socket, sys
os.chdir(os.path.dirname(sys.argv[1])) # names of sockets are short
socket.socket(socket.AF_UNIX).bind(os.path.basename(sys.argv[1]))' "$2" ;;
    device) ln -s /dev/zero "$2" ;;
    folder) mkdir "$2" ;;
    gone) ln -s "$tmp/nowhere" "$2" ;;
    huge) truncate -s 3G "$2" ;;
    esac
}
# What the sentence of a kind says: of a file that was named, and of one that lies in our own folders, where
# links are not followed at all.
word() { # kind, "own" or "named"
    case $1,$2 in
    device,own | gone,own) echo 'is a link|is gone' ;;
    pipe,*) echo 'is a pipe, not a file' ;;
    socket,*) echo 'is a socket, not a file' ;;
    device,*) echo 'is a device, not a file' ;;
    folder,*) echo 'is a folder, not a file' ;;
    gone,*) echo 'No such file|there is no|no results|is gone' ;;
    huge,*) echo 'too large|larger than|at most' ;;
    esac
}
quick() { # the program, in ten seconds or not at all
    rc=0
    timeout -k 1 20 "$ATTNSCOPE" "$@" >"$tmp/.out" 2>"$tmp/.err" </dev/null || rc=$?
    out=$(head -c 20000 "$tmp/.out")
    err=$(head -c 20000 "$tmp/.err")
}
told() { # pattern: at an end, and in a sentence on either stream
    [ "$rc" -ne 124 ] && [ "$rc" -lt 128 ] && says "$out
$err" "$1"
}
named() { # what, words with @ for the file
    what=$1
    shift
    for kind in pipe socket device folder gone huge; do
        case $what,$kind in
        input,huge) continue ;;   # what its header promises is refused elsewhere
        grade,folder) continue ;; # of packs
        library,huge) continue ;; # it is mapped, not read
        esac
        put $kind "$tmp/x$ending"
        for word; do
            shift
            case $word in *@*) word=${word%%@*}$tmp/x$ending${word#*@} ;; esac
            set -- "$@" "$word"
        done
        quick "$@"
        is "$what: $kind" told "$(word $kind named)"
        rm -rf "$tmp/x$ending"
    done
}
laid() { # what, path, "own" or "named", words
    what=$1 path=$2 place=$3
    shift 3
    for kind in pipe socket device folder gone huge; do
        case $what,$place,$kind in
        *,named,gone) continue ;;  # as if there were none
        history,*,huge) continue ;; # its end is read
        esac
        put $kind "$path"
        quick "$@"
        is "$what: $kind" told "$(word $kind "$place")"
        rm -rf "$path"
    done
}

ending=
named "script" -f @
named "commands of a file" source-file @
named "shapes" run naive shapes=@
named "lesson check" lesson check @
named "grade" lesson grade @
ending=.md
named "lesson add" lesson add @
ending=.cu
named "kernel add" kernel add @
ending=.so
named "library" kernel add @
ending=.npy
named "input" run naive backend=cpu input=@,@,@
ending=.rec
named "recording" open @
laid "kernel" "$data/kernels/own.cu" own kernels
laid "path of a kernel" "$data/kernels/own.path" own kernels
laid "lesson" "$data/lessons/own.md" own lessons
laid "own recording" "$data/recordings/own.rec" own open own
laid "config" "$config/config" named show S
laid "devices" "$config/devices" named devices
laid "history" "$state/history" named history

# PTX, which a descriptor names: opened when it runs.
printf '@name own\n@title T\n@dtypes f32\n@threads 64\n@grid 1\n@cubin own.ptx\n' >own.attn
printf '.version 7.0\n.target sm_80\n.address_size 64\n.visible .entry own(.param .align 8 .b8 a[240]) { ret; }\n' >own.ptx
run kernel add own.attn
is "a kernel that is PTX" [ "$rc" -eq 0 ]
laid "PTX" "$tmp/own.ptx" ptx check own S=8 H=1 D=16 f32 backend=sim
run kernel remove own

# What an editor leaves in the place of the text.
for kind in pipe socket device folder gone huge; do
    put $kind "$tmp/left"
    # shellcheck disable=SC2016  # the editor's own words
    printf '#!/bin/sh\nrm -rf "$1"; mv "%s" "$1"\n' "$tmp/left" >editor
    chmod +x editor
    EDITOR=$tmp/editor
    export EDITOR
    quick edit naive S=8 H=1 D=16 f32 backend=cpu
    unset EDITOR
    is "edited text: $kind" told "$(word $kind own)"
    is "  which is no success" [ "$rc" -ne 0 ]
    rm -rf "$data/kernels"/*
done

# Folders whose files come and go while they are read.
(
    while [ ! -e "$tmp/enough" ]; do
        for i in 1 2 3; do sed "s/@name *naive/@name v$i/; s/ naive\\([_(]\\)/ v$i\\1/" "$ATTNSCOPE_SRCDIR/kernels/cuda/naive.cu" >"$data/kernels/v$i.cu"; done
        cp "$ATTNSCOPE_SRCDIR"/lessons/recordings/h200.ceilings "$data/ceilings/v.json"
        printf '# V\n' >"$data/lessons/v.md"
        rm -f "$data/kernels"/v* "$data/ceilings/v.json" "$data/lessons/v.md"
    done
) &
bad=0
for i in 1 2 3 4 5 6 7 8 9 10; do
    for words in kernels lessons 'plan fa2 gpu=H200' 'check v1 S=8 H=1 D=16 f32 backend=sim'; do
        # shellcheck disable=SC2086  # words
        quick $words
        case $words,$rc in check*,[0123]) ;; *,0) ;; *) bad=$((bad + 1)) && echo "# $words: $rc $err" ;; esac
    done
done
: >"$tmp/enough"
wait
is "files that vanish while they are read" [ "$bad" -eq 0 ]

# What nobody may read; root may.
if [ "$(id -u)" -ne 0 ]; then
    for file in "$data/kernels/own.cu" "$data/lessons/own.md" "$config/config" "$config/devices"; do
        echo x >"$file"
        chmod 0 "$file"
        quick kernels
        quick -c 'kernels; lessons; devices; show S'
        is "unreadable: ${file##*/}" told 'Permission denied|cannot be read|not readable'
        rm -f "$file"
    done
fi

# SQLite opens by name, its side files too.
for kind in pipe socket device folder; do
    for file in results.db results.db-wal results.db-journal; do
        put $kind "$data/$file"
        quick run naive S=8 H=1 n=3 time=0.02 backend=cpu
        is "$file: $kind" told "results are not kept: .*$(word $kind named)"
        is "  which is no success" [ "$rc" -eq 3 ]
        rm -rf "${data:?}/$file"
    done
done

# What no sentence is due for is passed over, but not waited for.
for kind in pipe socket device folder gone huge; do
    put $kind "$data/ceilings/x.json"
    quick roofline gpu=L4 naive
    is "ceilings: $kind" [ "$rc" -eq 0 ]
    rm -rf "$data/ceilings/x.json"
done

# A private file that is linked into the folder is nobody's to hand in, nor is what is no kernel.
mkdir "$tmp/secret"
printf '/* @name x_edit\n@title T\n@dtypes f16\n@threads 64\n@grid 1\n*/\n// PRIVATE KEY\n' >"$tmp/secret/key"
ln -s "$tmp/secret/key" "$data/kernels/x_edit.cu"
printf 'PASSWORD\n' >"$data/kernels/y_edit.cu"
sed 's/@name *naive/@name naive_edit/; s/ naive(/ naive_edit(/' "$ATTNSCOPE_SRCDIR/kernels/cuda/naive.cu" >"$data/kernels/naive_edit.cu"
run lesson pack hw.pack name=Ada
is "a pack is written" [ "$rc" -eq 0 ]
is "  without what a link leads to" [ "$(grep -c 'PRIVATE' hw.pack)" -eq 0 ]
is "  without what is no kernel" [ "$(grep -c 'PASSWORD' hw.pack)" -eq 0 ]
is "  which is said" says "$err" 'left out: .*x_edit.cu is a link, which is not followed here'
is "  with the edit" says "$(cat hw.pack)" '"kernel": "naive_edit"'
run kernels x_edit
is "a linked kernel says how to take it in" says "$err" "is a link.*kernel remove x_edit.*kernel add $tmp/secret/key"
rm "$data/kernels"/*

# The path is recorded; what it names is read there.
printf '/* @name mine\n@title T\n@dtypes f16\n@threads 64\n@grid 1\n*/\n' >mine.cu
run kernel add mine.cu
is "kernel add keeps the path" [ "$(cat "$data/kernels/mine.path")" = "$tmp/mine.cu" ]
is "  and makes no link" [ -z "$(find "$data/kernels" -type l)" ]
run kernel remove mine
is "kernel remove forgets it" [ ! -e "$data/kernels/mine.path" ]
is "  and leaves the file alone" [ -e mine.cu ]
printf '/etc/passwd\n' >"$data/kernels/p.path"
run kernels
is "a path of something else is refused" says "$err" 'p.path holds no path of a .cu, .c or .attn'
rm "$data/kernels/p.path"

# ---- nobody opens a file beside the gate ----
# Who calls open() and its like, and why that is no file that somebody names: what is written (w), of the system
# (s: /proc, /sys, /dev), for a sandbox's rules (r), locked or cached by us with O_NOFOLLOW (c), code that was
# allowed (a).
known() {
    sed 's/^ *//; s/ .*//' <<'END'
    base/file.c the gate itself
    base/confine.c r
    base/kin.c s
    base/mem.c s
    base/procstate.c s
    backend/compile/build.c r: O_DIRECTORY, for times alone
    backend/compile/cubin_cache.c c
    backend/compile/programs.c w: a log, /dev/null
    backend/cpu/cpu_own.c a: from memory
    backend/cpu_host.c s
    backend/finder.c a: libraries of the system
    backend/foreign.c a
    backend/names.c s: the linker's list
    backend/quota.c s: /proc, the file system of control groups
    backend/sim/walls.c s
    command/ask/shards.c w: a log, /dev/null; locked with O_NOFOLLOW
    command/ask/consent.c w: after file_may_open()
    command/line/history.c w
    command/line/shell.c s
    command/line/write.c w
    job/gpu_lock.c c
    job/lateness.c s
    job/proc.c s
    job/serve_remote.c s: /dev/null; our own folder, O_DIRECTORY and O_NOFOLLOW, to empty it
    main.c s
    measure/load.c s
    store/recorder.c w
    store/store.c after file_may_open()
    store/tuned.c c: a lock beside the user's file
    tui/app/prompt.c s
    tui/kit/outlet.c s: the terminal
    worker.c s
END
}
(cd "$ATTNSCOPE_SRCDIR/src" && grep -rlE --include='*.c' '(^|[^_a-zA-Z>.])(open|open64|openat|fopen|freopen|creat|popen|dlopen|sqlite3_open[a-z0-9_]*|json_load_file)\(' .) |
    sed 's#^\./##' | sort >opens
is "the search finds some" [ "$(wc -l <opens)" -gt 10 ]
known | sort >allowed_to
is "no source opens files beside base/file.h (or say here why)" [ -z "$(comm -23 opens allowed_to)" ]
is "and the list has none that does not" [ -z "$(comm -13 opens allowed_to)" ]

# ---- a lesson cannot take a shipped one's name ----
cp "$ATTNSCOPE_SRCDIR"/lessons/01-*.md "$data/lessons/"
run lessons
is "a lesson that is named as a shipped one is refused" says "$err$out" '01-.*there is a lesson ".*" already'
finish
