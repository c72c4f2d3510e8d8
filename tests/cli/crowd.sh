#!/bin/sh
# One GPU and many users: they take turns, nobody is lost, nobody starves; and programs that know of no turns.
# USERS=30 SECONDS_LONG=600 is a class of half a morning; here fewer and shorter. On the fake driver.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"

: "${ATTNSCOPE_FAKECUDA:?}"
users=${USERS:-6} long=${SECONDS_LONG:-6}
[ -r /proc/locks ] || { echo '1..0 # SKIP no /proc/locks'; exit 77; }
export ATTNSCOPE_LIBCUDA="$ATTNSCOPE_FAKECUDA/fakecuda.so"
export ATTNSCOPE_LIBNVRTC="$ATTNSCOPE_LIBCUDA" ATTNSCOPE_GPU_LOCK="$tmp" FAKECUDA="us=50"
shape='B=1 H=1 S=16 D=32 f16 backend=cuda l2=hot'

# ---- a program that does not queue ----

# others PERCENT: what process 1, which is not ours, does
others() {
    echo "1 $1" >"$tmp/crowd"
}
others 0
FAKECUDA="us=50,crowd=$tmp/crowd"
# shellcheck disable=SC2086
run run fa2 $shape time=2 --json
is "who is there and does nothing disturbs nobody" says "$out" '"gpu_others_pct":0[,.}]'
is "and takes no sample away" says "$out" '"dropped":0,'
others 43
# shellcheck disable=SC2086
run run fa2 $shape time=1 --json
is "beside one that computes all the time there is no time" says "$out" '"median_us":null'
is "it is named, and why" says "$out" '"reason":"[^"]* \(process 1\) computes on this GPU: no sample was taken without it"'
is "the check stands" says "$out" '"check":"pass"'
is "not every kernel could be timed" [ "$rc" -eq 3 ]
{ sleep 2 && others 0; } &
# shellcheck disable=SC2086
run run fa2 $shape time=8 --json
wait
is "one that ends is waited for" says "$out" '"median_us":(50|49\.9)'
is "what was sampled beside it is dropped" says "$out" '"dropped":[1-9]'
is "how much of the time it had is said" says "$out" '"gpu_others_pct":[1-9]'
is "in words, too" says "$out" '"noise":"[^"]*other programs had the GPU for'
others 43
run_input "$(printf 'set backend=cuda\ndoctor --peak')"
is "no peak is measured beside one" says "$out$err" 'computed on this GPU meanwhile: this is no peak'
FAKECUDA="us=50"

# ---- users who queue ----

# A user: asks again and again; a line for each answer, with the seconds that it took.
# shellcheck disable=SC2086
user() {
    home=$tmp/user$1
    mkdir "$home"
    : >"$home/turns"
    while [ "$(date +%s)" -lt "$until" ]; do
        from=$(date +%s%N)
        HOME=$home "$ATTNSCOPE" run fa2 $shape n=3 time=0.1 --json >"$home/out" 2>"$home/err" </dev/null
        status=$?
        if grep -q '"median_us":[0-9]' "$home/out" && [ $status -eq 0 ]; then
            echo $((($(date +%s%N) - from) / 1000000)) >>"$home/turns"
        else
            cat "$home/out" "$home/err" >>"$tmp/lost"
        fi
    done
}
# One who would keep it for the whole time: turns end for such.
hog() {
    mkdir "$tmp/hog"
    # shellcheck disable=SC2086
    HOME=$tmp/hog ATTNSCOPE_GPU_TURN=0.5 "$ATTNSCOPE" run fa2 $shape time=$((long + 1)) cv=0 n=100000 --json \
        >"$tmp/hog/out" 2>"$tmp/hog/err" </dev/null
    echo $? >"$tmp/hog/status"
}
until=$(($(date +%s) + long))
hog &
u=0
while [ $u -lt "$users" ]; do
    u=$((u + 1))
    user $u &
done
# What one of them sees meanwhile, if its turn does not come at once.
sleep 1
places=0
for _ in 1 2 3 4 5 6 7 8; do
    n=$("$ATTNSCOPE" doctor --json </dev/null | sed -n 's/.*somebody measures, \([0-9]*\) wait.*/\1/p' | head -1)
    [ "${n:-0}" -gt "$places" ] && places=$n
done
wait
[ ! -s "$tmp/lost" ] || head -5 "$tmp/lost" | sed 's/^/# /'
is "nobody's answer is lost" [ ! -s "$tmp/lost" ]
turns=$(for u in "$tmp"/user*; do grep -c . "$u/turns"; done 2>/dev/null | sort -n)
least=$(echo "$turns" | head -1) most=$(echo "$turns" | tail -1)
echo "# $users users and one who does not stop, $long s: $least to $most turns each; an answer took $(
    sort -n "$tmp"/user*/turns | awk '{ a[NR] = $1 } END { printf "%d ms in the middle, %d at most", a[int((NR + 1) / 2)], a[NR] }'); doctor saw up to $places wait"
is "nobody starves" [ "$least" -ge 1 ]
is "doctor sees that some wait" [ "$places" -ge 1 ]
is "who would not stop ends well, too" [ "$(cat "$tmp/hog/status")" -eq 0 ]
is "with its time" says "$(cat "$tmp/hog/out")" '"median_us":(50|49\.9)'
finish
