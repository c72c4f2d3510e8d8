#!/bin/sh
# Kernels on another machine, which is this one by way of an sshd of the test's own.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR disable=SC2015,SC2016,SC2030,SC2031
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}" "${ATTNSCOPE_FAKECUDA:?}"
. "$ATTNSCOPE_SRCDIR/tests/cli/sshd.sh"

# ---- the far end by itself: what far ends that were killed left behind ----
mkdir -p left/attnscope-serve-99999999-old/attnscope/kernels precious
: >left/attnscope-serve-99999999-old/attnscope/kernels/mine.cu
: >precious/thesis
ln -s "$tmp/precious" left/attnscope-serve-99999998-planted
XDG_RUNTIME_DIR=$tmp/left "$ATTNSCOPE" --serve </dev/null >/dev/null 2>&1
is "the folder of a far end that was killed goes, the present one's too, and no link is followed" \
    [ "$(find left precious -mindepth 1 | sort | tr '\n' ' ')" = 'left/attnscope-serve-99999998-planted precious/thesis ' ]

sshd_start
config=$HOME/.config/attnscope/config
data=$HOME/.local/share/attnscope
mkdir -p "$(dirname "$config")" "$data/kernels"
tiny='S=16 H=1 D=16 f32'
line=$ATTNSCOPE_SRCDIR/tests/cli/line.py
field() { printf '%s' "$out" | python3 -c 'import json, sys; rows = json.load(sys.stdin); print(*[r[sys.argv[1]] for r in rows])' "$1"; }

# ---- a host ----
echo "host box box $far" >"$config"
# shellcheck disable=SC2086 # words
run check fa2,naive $tiny backend=cpu@box --json
is "kernels run on another machine" [ "$rc $(field check)" = '0 pass pass' ]
is "  rows say where" [ "$(field host) $(field backend) $(field origin)" = 'box box cpu cpu live live' ]
is "  nothing outlives the connection" silent "$(far_left)"
# shellcheck disable=SC2086
run run fa2 $tiny host=box backend=cpu n=10
is "runs are timed there" says "$out" 'cpu on box: .*'
run results --json
is "  and kept here with their host" [ "$(field host)" = 'box box box' ]
# shellcheck disable=SC2086
run check fa2 $tiny backend=sim@box --json
is "the simulator, too" [ "$rc $(field check) $(field host) $(field origin)" = '0 pass box sim' ]
# shellcheck disable=SC2086
run check fa2 $tiny backend=cpu --json
is "without a host nothing goes anywhere" [ "$(field host)" = None ]
run check fa2 host=box S=16
is "with a host, cuda is meant" says "$out" 'cuda on box'
is "  and its want is told" [ "$rc" -eq 77 ]
echo 'set host=box backend=cpu' >>"$config"
# shellcheck disable=SC2086
run check fa2 $tiny --json
is "a host may be set" [ "$(field host)" = 'box' ]
# shellcheck disable=SC2086
run check fa2 $tiny host=here --json
is "  and left" [ "$(field host)" = None ]
# shellcheck disable=SC2086
run --restricted check fa2 $tiny --json
is "a restricted session runs where its configuration says" [ "$rc $(field host)" = '0 box' ]
echo "host box box $far" >"$config"
# shellcheck disable=SC2086
run --remote box check fa2 $tiny backend=cpu --json
is "--remote: a host by its name" [ "$rc $(field host)" = '0 box' ]
run --remote=me@gpu.lab -c host -c 'show host'
is "--remote: a machine becomes a host by its name" says "$out" 'gpu\.lab +me@gpu\.lab'
is "  and is where kernels run" says "$out" 'host.*gpu\.lab'
run --remote=192.0.2.7 host
is "--remote: an address is no name" says "$out" '^remote +192\.0\.2\.7'
run --remote=-oProxyCommand=id host
is "--remote: an option of ssh is no machine" [ "$rc" -eq 2 ]
run --restricted --remote=box check fa2 S=16
is "--remote: not in a restricted session" [ "$rc" -eq 2 ]
echo 'set host=box backend=cpu' >>"$config"
run -c 'save'
is "save writes hosts before what needs them" says "$(printf '%s' "$out" | tr '\n' ' ')" "host box box .*set .*host=box"
echo "host box box $far" >"$config"

# A line that stays up and hands on nothing more; looked at below, for it takes 20 seconds.
echo 'hang far 3' >hang.plan
mkdir hang_tmp
(
    LINE_SSH=$ATTNSCOPE_SSH LINE_PLAN=$tmp/hang.plan LINE_LOG=$tmp/hang.log ATTNSCOPE_SSH=$line
    export LINE_SSH LINE_PLAN LINE_LOG ATTNSCOPE_SSH
    "$ATTNSCOPE" -c "host slow box $(printf %s "$far" | sed 's/far_tmp/hang_tmp/')
run fa2,naive $tiny backend=cpu@slow time=2 n=100000" >hang.out 2>&1
    echo "status $?" >>hang.out
) &
hang=$!

# ---- two machines in one command ----
# shellcheck disable=SC2086
run -c "host other box $far
run fa2,naive $tiny backend=cpu host=here,box,other n=5 --json"
is "several machines in one command, rows of one after the other" [ "$rc $(field kernel) | $(field host)" = '0 fa2 naive fa2 naive fa2 naive | None None box box other other' ]
is "  ratios stay within a machine" [ "$(printf '%s' "$out" | python3 -c 'import json, sys; print(*[r["speedup"] for r in json.load(sys.stdin)][::2])')" = '1.0 1.0 1.0' ]
# shellcheck disable=SC2086
run check fa2 $tiny backend=cpu host=here,box
is "  the table says which" says "$out" '^fa2 .* box +live'
is "  and the heading what they are" says "$out" '^here: cpu: '
run check fa2 S=16 backend=cpu host=box,bx
is "  all of them must be named" says "$rc $err" '2 .*there is no host "bx"'
# shellcheck disable=SC2086
run compare fa2,naive $tiny backend=cpu host=here,box n=20 --json
is "compare, on each" [ "$rc $(field host) $(printf '%s' "$out" | grep -o '"verdict":"base"' | wc -l)" = '0 None None box box 2' ]
# shellcheck disable=SC2086
run compare fa2 $tiny backend=cpu@here,box n=20
is "  one kernel, too: a ratio and no verdict" says "$(printf '%s' "$out" | tr '\n' ' ')" 'fa2: box takes [0-9.e+-]+ times the time of here times across hosts .* no verdict'
run compare fa2@host=here,fa2@host=box S=16 backend=cpu
is "  as a list, and not behind @" says "$rc $err" '^2 .*compare fa2 host=here,box'
run compare fa2,naive S=16 backend=cpu host=here,box --fail-on=slower
is "  no gate" says "$rc $err" '^2 .*for one host'
run profile fa2 S=16 H=1 D=16 f32 backend=sim host=here,box
is "a counter is of one machine" says "$out$err" 'several hosts are for run, check, compare and sweep'
run set host=here,box
is "  and so is what is set" says "$rc $err" '^2 .*one host is set'

# ---- what cannot be ----
before=$(connections)
run --restricted check fa2 host=box S=16
is "a restricted session chooses no host" says "$rc $err" "^2 .*user's choice"
run --restricted check fa2 backend=cpu@box S=16
is "  nor by its backend" says "$rc $err" "^2 .*user's choice"
run --restricted set host=box
is "  nor for later" says "$rc $err" "^2 .*user's choice"
run --restricted host evil box
is "  nor names one" says "$rc $err" '^2 .*restricted'
printf '# A\n\n## B\n\n```attnscope\nrun fa2 host=box backend=cpu S=16\n```\n' >evil.md
run lesson check "$tmp/evil.md"
is "a lesson opens no connection" [ "$(connections)" -eq "$before" ]
is "  and says so" says "$out" "a command fails: .*user's choice"
printf '# A\n\n## B\n\n```attnscope\nhost evil box\n```\n' >evil.md
run lesson check "$tmp/evil.md"
is "  nor names a host" says "$rc $err" '^2 .*"host" is neither a directive nor a command for lessons'
run check fa2 host=bx S=16
is "a host that nobody has named is none" says "$rc $err" '2 .*there is no host "bx".*did you mean "box"'
for evil in '-oProxyCommand=touch${IFS}pwned' me@-oProxyCommand=x '-ox@box' 'box;touch pwned' '$(touch pwned)' 'box pwned' "$(printf 'b\033[2Jx')" 'a/b' ''; do
    run host h "$evil"
    is "no machine: $(printf '%s' "$evil" | tr -dc '[:alnum:]=@;')" [ "$rc" -eq 2 ]
done
run host -oX box
is "no name" [ "$rc" -eq 2 ]
run host h box "$(printf 'x\ny')"
is "no command" [ "$rc" -eq 2 ]
is "  nothing was started" [ ! -e pwned ]
is "  and nobody asked" [ "$(connections)" -eq "$before" ]
esc=$(printf '\033')
is "  no escape sequence comes back" sh -c '! printf %s "$1" | grep -q "$2"' - "$err" "$esc"

# ---- what is missing there ----
run -c "host no box /nowhere/attnscope
check fa2 S=16 backend=cpu@no"
is "no attnscope there" says "$out" 'no: attnscope cannot be started there; install it, or say where it is'
run -c "host no nobody-at-all@box $far
check fa2 S=16 backend=cpu@no"
is "no key for it" says "$out" 'no: the connection ended with status 255: .*Permission denied'
run -c "host no box echo Welcome to box;
check fa2 S=16 backend=cpu@no"
is "something else answers" says "$out" 'no: what answers there is not attnscope'
sed 's/ssh-ed25519 ..../ssh-ed25519 AAAB/' sshd/known_hosts >sshd/other_hosts
ssh-keygen -q -t ed25519 -N '' -f sshd/other_key
printf 'box %s\n' "$(cat sshd/other_key.pub)" >sshd/other_hosts
printf '#!/bin/sh\nexec ssh -F %s/sshd/config -oUserKnownHostsFile=%s/sshd/other_hosts "$@"\n' "$tmp" "$tmp" >sshd/ssh2
chmod +x sshd/ssh2
ATTNSCOPE_SSH=$tmp/sshd/ssh2 run check fa2 S=16 backend=cpu@box
is "another machine than it was" says "$out" 'box: the connection ended with status 255: Host key verification failed'
ATTNSCOPE_SSH=/nowhere/ssh run check fa2 S=16 backend=cpu@box
is "no ssh" says "$out$err" '/nowhere/ssh, which ATTNSCOPE_SSH names, is no program'

# ---- doctor ----
run doctor host=box --json
is "doctor runs something there" says "$out" '"name":"a run there","state":"ok"'
is "  and asks the doctor there" says "$out" "$tmp/far_home/.cache"
is "  but for what is of the line to it" [ -z "$(printf '%s' "$out" | grep -oE '"name":"(terminal|charset|colour|session)"')" ]
run -c "host no box /nowhere/attnscope
doctor host=no"
is "  or says how it comes there" says "$out" 'a run there +failed.*' && says "$out" 'ssh-copy-id box'
run doctor host=bx
is "  of no host that nobody has named" [ "$rc" -eq 2 ]
before=$(connections)
run --restricted doctor host=box
is "  nor in a restricted session" [ "$rc $(connections)" = "2 $before" ]

# ---- own kernels ----
touching() { # file, name: C that leaves a trace when it runs
    sed "s/@name *naive/@name $2/; s/attn_naive(/attn_$2(/" "$ATTNSCOPE_SRCDIR/kernels/cpu/naive.c" >"$1"
    printf '#include <stdio.h>\n__attribute__((constructor)) static void trace(void)\n{\n    fclose(fopen("%s/ran", "w"));\n}\n' "$tmp" >>"$1"
}
touching "$data/kernels/mine.c" mine
before=$(connections)
# shellcheck disable=SC2086
run check mine $tiny backend=cpu@box
is "own C needs a yes before it goes anywhere" says "$out" 'mine is native code, .*nobody has allowed it'
is "  and went nowhere" [ "$(connections)" -eq "$before" ]
run kernel allow mine
# shellcheck disable=SC2086
run check mine $tiny backend=cpu@box --json
is "then it is sent as source, compiled and run there" [ "$rc $(field check) $(field host)" = '0 pass box' ]
is "  really" [ -e ran ]
is "  and nothing of it stays" silent "$(far_left)"
mkdir -p "far_home/.local/share/attnscope/kernels"
mv "$data/kernels/mine.c" far_home/.local/share/attnscope/kernels/theirs.c
sed -i 's/mine/theirs/' far_home/.local/share/attnscope/kernels/theirs.c
run check theirs host=box S=16
is "kernels that lie there are not ours" says "$rc $err" '^2 .*theirs'
sed 's/@name *naive/@name mycuda/; s/\bnaive\b/mycuda/g; s/naive_/mycuda_/g' "$ATTNSCOPE_SRCDIR/kernels/cuda/naive.cu" >"$data/kernels/mycuda.cu"
if command -v clang >/dev/null; then
    # shellcheck disable=SC2086
    run check mycuda $tiny backend=sim@box --json
    is "own CUDA is compiled there" [ "$rc $(field check) $(field host)" = '0 pass box' ]
else
    skip "no clang"
fi
before=$(connections)
run --restricted -c "check mycuda S=16 backend=sim"
is "a restricted session compiles nothing, here or there" says "$out" 'restricted'
cp "$ATTNSCOPE_FAKECUDA/attnlib.so" lib.so
run kernel add "$PWD/lib.so" dtypes=f32 backend=cpu name=lib
# shellcheck disable=SC2086
run check lib $tiny backend=cpu@box
is "libraries are not sent" says "$out" 'lib is .*, which is not sent to box'
sed 's/@name *naive/@name latin/; s/attn_naive(/attn_latin(/' "$ATTNSCOPE_SRCDIR/kernels/cpu/naive.c" >"$data/kernels/latin.c"
printf '// caf\351\n' >>"$data/kernels/latin.c"
run kernel allow latin
# shellcheck disable=SC2086
run check latin $tiny backend=cpu
is "a source in another encoding runs here" [ "$rc" -eq 0 ]
# shellcheck disable=SC2086
run check latin $tiny backend=cpu@box
is "  and is not sent, with the reason" says "$out" 'latin is not sent to box: its source is not in UTF-8'
run check py:json.loads host=box S=16
is "nor is Python" says "$out" 'which is not sent to box'
run check fa2 host=box input="$ATTNSCOPE_SRCDIR/tests/data/q.npy,$ATTNSCOPE_SRCDIR/tests/data/q.npy,$ATTNSCOPE_SRCDIR/tests/data/q.npy"
is "nor are files" [ "$rc" -ne 0 ]
# shellcheck disable=SC2086
run run fa2 $tiny backend=cpu@box output=o.npy
is "nor do files come back" says "$out" 'files of tensors are not sent to box'
is "  and for all that nobody was asked" [ "$(connections)" -eq "$before" ]

# ---- bad lines ----
LINE_SSH=$ATTNSCOPE_SSH LINE_PLAN=$tmp/plan LINE_LOG=$tmp/line.log
ATTNSCOPE_SSH=$line
export LINE_SSH LINE_PLAN LINE_LOG ATTNSCOPE_SSH
echo 'build 0123456789abcdef' >plan
run check fa2 S=16 backend=cpu@box
is "another build is told" says "$out" 'box has attnscope 9.9.* of another build \(0123456789abcdef\) than this program .*: install the same on both machines'
is "  safely" sh -c '! printf %s "$1$2" | grep -q "$3"' - "$out" "$err" "$esc"
echo taint >plan
# shellcheck disable=SC2086
run run fa2,naive $tiny backend=cpu@box n=5
is "what the far end says is made safe" sh -c '! printf %s "$1$2" | LC_ALL=C grep -q "$3"' - "$out" "$err" "$esc"
is "  and was said" says "$out" 'said '
echo 'delay 0.05' >plan
# shellcheck disable=SC2086
run check fa2,naive $tiny backend=cpu@box --json
is "50 ms each way" [ "$rc $(field check)" = '0 pass pass' ]

# One session: the first command's line is cut, the second one connects again.
: >line.log
# shellcheck disable=SC2086
run run fa2,naive $tiny backend=cpu@box n=10 time=0.2
near=$(grep -c near line.log) far_frames=$(grep -c far line.log)
is "a whole run is some frames" [ "$near$far_frames" -ge 16 ]
bad=0 cuts=0
broken() { # plan, near|far, frame
    echo "$1 $2 $3" >plan
    cuts=$((cuts + 1))
    run -c "run fa2,naive $tiny backend=cpu@box n=10 time=0.2" 
    first="$rc $out$err"
    # Told, or over before it was cut.
    says "$out$err" 'box: the connection |box: cannot send|box: what answers' || { says "$first" '^0 ' && says "$out" '^naive .*pass'; } || { bad=$((bad + 1)); echo "# $1 $2 $3: $first"; }
    [ "$rc" -lt 4 ] || { bad=$((bad + 1)); echo "# $1 $2 $3: status $rc"; }
    if [ -e plan ]; then bad=$((bad + 1)); echo "# $1 $2 $3: not used"; fi
}
# CUT_EVERY=4: at every fourth one.
for frame in $(seq 0 "${CUT_EVERY:-1}" "$far_frames"); do broken cut far "$frame"; done
for frame in $(seq 0 "${CUT_EVERY:-1}" "$near"); do broken cut near "$frame"; done
for frame in 1 2 4; do broken part far "$frame"; broken bend far "$frame"; done
is "a line that is cut at any message is told ($cuts cuts)" [ "$bad" -eq 0 ]
is "  and nothing stays" silent "$(far_left)"
echo 'cut far 4' >plan
: >line.log
cat >commands <<END
run fa2,naive $tiny backend=cpu@box n=10 time=0.2
check fa2 $tiny backend=cpu@box
check naive $tiny backend=cpu@box
END
run_input "$(cat commands)" --plain
is "the next command connects again" [ "$(printf '%s\n' "$out" | grep -cE ' pass +live')" -ge 2 ]
is "  once for all that follow" [ "$(grep -c begin line.log)" -eq 2 ]
is "  and the first one is told" says "$out$err" 'box: the connection .*; the next command connects again'

wait "$hang"
is "a line that is dead without a word is told" says "$(cat hang.out)" 'slow: the connection gave no sign of life for 15.0 s'
is "  and ends the run" says "$(cat hang.out)" 'status 3'

# ---- ends ----
unset LINE_PLAN
ATTNSCOPE_SSH=$LINE_SSH
busy() { # starts a long run there; $near is ours
    "$ATTNSCOPE" run naive S=1k H=8 backend=cpu@box time=60 n=1000000 >/dev/null 2>busy.err &
    near=$!
    for _ in $(seq 300); do
        [ "$(far_processes | wc -l)" -ge 3 ] && return
        sleep 0.1
    done
}
busy
is "a long run has a supervisor and workers there" [ "$(far_processes | wc -l)" -ge 3 ]
kill -KILL "$near"
wait "$near" 2>/dev/null
is "the program is killed: nothing stays there" silent "$(far_left)"
busy
for pid in $(far_processes); do
    if grep -qzxF remote "/proc/$pid/cmdline"; then kill -KILL "$pid"; fi
done
rc=0
wait "$near" || rc=$?
is "the supervisor there is killed: it is told" says "$rc $(cat busy.err)" '^3 '
is "  and its workers end with it" silent "$(far_left | grep '^[0-9]')"
busy
kill -INT "$near"
wait "$near" 2>/dev/null
is "Ctrl-C ends it there, too" silent "$(far_left | grep '^[0-9]')"
rm -rf far_tmp/*

# A line of no command: what ssh gives a forced one.
printf 'command="%s --serve",restrict %s\n' "$far" "$(cat sshd/user_key.pub)" >sshd/authorized_keys
# shellcheck disable=SC2086
run -c "host forced box /whatever/is/ignored
check fa2 $tiny backend=cpu@forced --json"
is "a forced command serves" [ "$(field check)" = 'pass' ]
finish
