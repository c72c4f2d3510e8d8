# sshd.sh - an ssh daemon of the test's own on the loopback: own keys, own port, own folder; ended with the test.
#
#   sshd_start       or says why not and ends the test (TAP's skip); what was tested before stands
#   $ATTNSCOPE_SSH   then reaches it as "box"; $far is what starts attnscope there, in a home of its own
#   (The shell there reads the start files of that home: of the user's own one may start a hundred programs at each connection.)
#   far_left         prints the processes there that are still alive
#
# To be read after lib.sh.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154,SC2034,SC2015 # tmp; far is for who reads this

far_skip() { # the whole test, or what is left of it
    [ "$number" -eq 0 ] || { skip "$1" && finish && exit 0; }
    echo "1..0 # SKIP $1"
    exit 0
}

sshd_config() { # port
    cat >sshd/sshd_config <<END
Port $1
ListenAddress 127.0.0.1
HostKey $tmp/sshd/host_key
AuthorizedKeysFile $tmp/sshd/authorized_keys
PidFile $tmp/sshd/pid
UsePAM no
StrictModes no
PasswordAuthentication no
KbdInteractiveAuthentication no
MaxStartups 100
SetEnv HOME=$tmp/far_home
END
    cat >sshd/config <<END
Host box other
  HostName 127.0.0.1
  Port $1
  User $(id -un)
  IdentityFile $tmp/sshd/user_key
  IdentitiesOnly yes
  IdentityAgent none
  HostKeyAlias box
  UserKnownHostsFile $tmp/sshd/known_hosts
  GlobalKnownHostsFile /dev/null
Host *
  UserKnownHostsFile $tmp/sshd/known_hosts
  GlobalKnownHostsFile /dev/null
  IdentityFile $tmp/sshd/user_key
  # What is safe from quantum computers takes a fifth of the time of a test that connects a hundred times.
  KexAlgorithms curve25519-sha256
END
}

tests_made_run() {
    for file in /run/sshd/attnscope-*; do
        [ ! -e "$file" ] || return 0
    done
    return 1
}

sshd_start() {
    sshd=$(PATH=$PATH:/usr/sbin:/sbin command -v sshd) || far_skip 'no sshd (openssh-server)'
    { command -v ssh && command -v ssh-keygen; } >/dev/null || far_skip 'no ssh'
    command -v python3 >/dev/null || far_skip 'no python3'
    made_run=no
    # One that a test has made has a file of each test that needs it still.
    if [ "$(id -u)" -eq 0 ] && { [ ! -d /run/sshd ] || tests_made_run; }; then
        mkdir -p /run/sshd 2>/dev/null && : >"/run/sshd/attnscope-$$" || far_skip 'sshd needs /run/sshd'
        made_run=yes
    fi
    mkdir sshd far_home far_tmp
    chmod 700 sshd
    ssh-keygen -q -t ed25519 -N '' -f sshd/host_key && ssh-keygen -q -t ed25519 -N '' -f sshd/user_key || far_skip 'no keys'
    cp sshd/user_key.pub sshd/authorized_keys
    echo "box $(cat sshd/host_key.pub)" >sshd/known_hosts
    printf '#!/bin/sh\nexec ssh -F %s/sshd/config "$@"\n' "$tmp" >sshd/ssh
    chmod +x sshd/ssh
    ATTNSCOPE_SSH=$tmp/sshd/ssh
    export ATTNSCOPE_SSH
    far="env HOME=$tmp/far_home TMPDIR=$tmp/far_tmp XDG_RUNTIME_DIR= ATTNSCOPE_GPU_LOCK=off $ATTNSCOPE"
    for try in 1 2 3 4 5; do
        sshd_config $((20000 + ($$ * 7 + try * 1031) % 12000))
        "$sshd" -f "$tmp/sshd/sshd_config" -E "$tmp/sshd/log" 2>/dev/null || continue
        for _ in 1 2 3 4 5 6 7 8 9 10; do
            [ -s sshd/pid ] && "$ATTNSCOPE_SSH" -oBatchMode=yes box true 2>/dev/null && break 2
            sleep 0.2
        done
        sshd_stop
    done
    [ -s sshd/pid ] || far_skip "sshd does not run here: $(head -1 sshd/log 2>/dev/null)"
    trap 'sshd_stop; [ "$made_run" = no ] || { rm -f "/run/sshd/attnscope-$$"; rmdir /run/sshd 2>/dev/null; }; rm -rf "$tmp"' EXIT
}

sshd_stop() {
    if [ -s sshd/pid ]; then kill "$(cat sshd/pid)"; fi 2>/dev/null
    rm -f sshd/pid
}

connections() { grep -c '^Accepted' sshd/log; }

far_processes() {
    grep -lzxF "TMPDIR=$tmp/far_tmp" /proc/[0-9]*/environ 2>/dev/null | sed 's,/proc/\([0-9]*\)/.*,\1,'
}

# They have two seconds.
far_left() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        left="$(far_processes) $(ls -A far_tmp)"
        [ "$left" = ' ' ] && return
        sleep 0.1
    done
    printf '%s\n' "$left"
}
