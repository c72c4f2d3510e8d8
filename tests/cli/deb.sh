#!/bin/sh
# The Debian package in a clean root: installed, upgraded from an older one, removed, purged; what a user has stays. Root's work.
# $DEB is a package of tools/make-deb (made here when it is unset, which takes minutes), $DEB_ROOT a folder with a root of the same
# release that may be changed (made by mmdebstrap when it is unset).
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2015,SC2016 # lib.sh gives tmp; words of an inner shell; a log is shown where a step failed
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}"
unset MAKEFLAGS MFLAGS MAKELEVEL
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
[ "$(id -u)" -eq 0 ] || skip_all "not root"
for program in dpkg-deb chroot; do
    command -v "$program" >/dev/null 2>&1 || skip_all "no $program"
done
[ -n "${DEB_ROOT:-}" ] || command -v mmdebstrap >/dev/null || skip_all "no mmdebstrap (Debian: mmdebstrap)"

if [ -z "${DEB:-}" ]; then
    git clone -q "$ATTNSCOPE_SRCDIR" source && (cd source && autoreconf -fi && mkdir build && cd build && ../configure -q --without-cuda &&
        make -s dist && DEBEMAIL=nobody@example.com DEB_BUILD_OPTIONS=nocheck sh ../tools/make-deb attnscope-*.tar.xz "$tmp") >deb.log 2>&1 || tail -5 deb.log
    DEB=$(echo "$tmp"/attnscope_*.deb)
fi
is "there is a package" [ -f "$DEB" ]
root=${DEB_ROOT:-$tmp/root}
[ -n "${DEB_ROOT:-}" ] || mmdebstrap -q --variant=minbase "$(. /etc/os-release && echo "$VERSION_CODENAME")" "$root" >root.log 2>&1 || skip_all "no root: $(tail -1 root.log)"
mkdir -p "$root/packages" && rm -f "$root"/packages/*
cp "$DEB" "$root/packages/new.deb"
cp /etc/resolv.conf "$root/etc/" 2>/dev/null
in_root() {
    out=$(chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@" 2>&1)
    rc=$?
}
as_user() { in_root su ann -c "cd; $1"; }
[ -e "$root/proc/self" ] || { mount -t proc proc "$root/proc" && trap 'umount "$root/proc"; rm -rf "$tmp"' EXIT; }
in_root sh -c 'id ann || useradd -m ann'
rm -rf "${root:?}/home/ann"/.[a-z]*

# The same files under an older version, and one that has gone since.
dpkg-deb -R "$DEB" older && version=$(sed -n 's/^Version: //p' older/DEBIAN/control)
sed -i "s/^Version: .*/Version: 0.0.9-1/" older/DEBIAN/control
mkdir -p older/usr/share/attnscope && echo old >older/usr/share/attnscope/gone
dpkg-deb --root-owner-group -b older "$root/packages/old.deb" >/dev/null 2>&1
in_root sh -c 'apt-get update -qq; dpkg -P attnscope; apt-get install -y -qq --no-install-recommends /packages/old.deb'
is "an older one is installed" [ "$rc" -eq 0 ]
as_user 'attnscope -c "run naive S=16 H=1 D=16 f32 n=2 time=0.02 backend=cpu; record mine.rec; run naive S=8 H=1 D=16 f32 n=2 time=0.02 backend=cpu; record off"'
is "its user measures" says "$out" ' pass '
# The results of the first version, as its user would have them beside the new ones.
mkdir -p "$root/home/ann/old/attnscope" && cp "$ATTNSCOPE_SRCDIR/tests/data/v1.db" "$root/home/ann/old/attnscope/results.db"
cp "$ATTNSCOPE_SRCDIR/tests/data/v1.rec" "$root/home/ann/" && chroot "$root" chown -R ann: /home/ann
# A session that goes on while the package is replaced: its worker is then of another build.
as_user 'mkfifo lines; (attnscope --plain <lines >said 2>&1 &) ; exec 3>lines; echo "run naive S=24 H=1 D=16 f32 n=2 time=0.02 backend=cpu" >&3; sleep 3
    cp said before; echo >ready; i=0; while [ ! -e replaced ] && [ $i -lt 100 ]; do sleep 0.3; i=$((i+1)); done
    echo "run naive S=32 H=1 D=16 f32 n=2 time=0.02 backend=cpu; run naive S=40 H=1 D=16 f32 n=2 time=0.02 backend=cpu; quit" >&3; exec 3>&-; sleep 3; cat said' >/dev/null 2>&1 &
i=0
while [ ! -e "$root/home/ann/ready" ] && [ $i -lt 200 ]; do
    sleep 0.3
    i=$((i + 1))
done
in_root apt-get install -y -qq --no-install-recommends /packages/new.deb
is "it is upgraded while a session goes on" [ "$rc" -eq 0 ]
touch "$root/home/ann/replaced"
wait
said=$(cat "$root/home/ann/said")
is "the session that was there ends in order" [ "$(printf '%s\n' "$said" | grep -cE '^naive .* pass ')" -ge 2 ] || printf '%s\n' "$said" | sed 's/^/# /'
in_root dpkg-query -W -f '${Version} ${Status}' attnscope
is "the new version is there" [ "$out" = "$version install ok installed" ]
is "and the file that has gone is gone" [ ! -e "$root/usr/share/attnscope/gone" ]
as_user 'attnscope results --csv'
is "results from before are there" says "$out" ',B=1 H=1 S=16 D=16 f32,'
as_user 'attnscope open mine.rec --csv; XDG_DATA_HOME=$HOME/old attnscope results --csv'
is "so are recordings, and results of the first version" [ "$(printf '%s\n' "$out" | grep -cE '(recorded|live)')" -ge 7 ]
as_user 'attnscope check fa2 backend=sim S=64 H=1; attnscope lessons'
is "kernels run in the simulator, lessons are inside" says "$out" 'fa2 .* pass .*'
in_root sh -c 'dpkg --verify attnscope; find /usr /etc /var/lib -path /var/lib/dpkg -prune -o -user ann -print'
is "its files are as they were packed, and nobody else's" silent "$out"
in_root sh -c 'zcat /usr/share/man/man1/attnscope.1.gz | head -1; ls /usr/share/doc/attnscope/README.md.gz /usr/share/doc/attnscope/copyright /usr/share/doc/attnscope/changelog.gz'
is "manual, licence, changes, read-me" [ "$rc" -eq 0 ]

in_root apt-get remove -y -qq attnscope
is "it is removed" [ "$rc" -eq 0 ] && is "  with all its files" [ -z "$(find "$root/usr" "$root/etc" -name '*attnscope*' | head -3)" ]
in_root sh -c 'apt-get purge -y -qq attnscope; dpkg -l attnscope | tail -1'
is "it is purged" says "$out" '(^un|no packages found)'
is "what its user measured stays" [ -s "$root/home/ann/.local/share/attnscope/results.db" ]
in_root apt-get install -y -qq --no-install-recommends /packages/new.deb
as_user 'attnscope results --csv'
is "and is there for the next one" says "$out" ',B=1 H=1 S=16 D=16 f32,'
finish
