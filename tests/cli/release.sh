#!/bin/sh
# A release is made of its commit alone: two clones in other folders, of other days, by other users, under another umask, locale
# and time zone give the same tarball, byte for byte; and the tarball, built in two folders, the same programs and pages.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154,SC2016,SC2015 # the words of an inner shell; a log is shown where a step failed
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_SRCDIR:?}"
unset MAKEFLAGS MFLAGS MAKELEVEL SOURCE_DATE_EPOCH
jobs=$(nproc 2>/dev/null || echo 1)
git -C "$ATTNSCOPE_SRCDIR" rev-parse HEAD >/dev/null 2>&1 || {
    echo '1..0 # SKIP no repository (a tarball is made of one)'
    exit 0
}

# clone FOLDER: the last commit; what is not committed is in no release
clone() {
    mkdir -p "$(dirname "$1")" && git clone -q "$ATTNSCOPE_SRCDIR" "$1" >/dev/null 2>&1
}
# tarball FOLDER [COMMAND THAT STARTS IT]: made in FOLDER/build
tarball() {
    folder=$1
    shift
    "$@" sh -c 'unset CC CFLAGS; cd "$1" && autoreconf -fi && mkdir build && cd build && ../configure -q --without-cuda && make -s dist' - "$folder" \
        >"$folder.log" 2>&1 || tail -5 "$folder.log"
    cat "$folder"/build/attnscope-*.tar.xz | sha256sum
}
clone "$tmp/one"
first=$(tarball "$tmp/one")
is "a tarball is made" [ ${#first} -gt 60 ]

umask 077
other=$tmp/another/of_a/longer-name
clone "$other"
find "$other" -exec touch -h -d '2001-02-03 04:05:06' {} +
as=
if [ "$(id -u)" -eq 0 ] && setpriv --reuid=12345 --regid=12345 --clear-groups true 2>/dev/null; then
    chown -R 12345:12345 "$other"
    chmod 711 "$tmp" "$tmp/another" "$tmp/another/of_a"
    as='setpriv --reuid=12345 --regid=12345 --clear-groups'
fi
# shellcheck disable=SC2086 # words
second=$(tarball "$other" env HOME=/dev/null/nowhere LC_ALL=C LANG=C TZ=Pacific/Auckland XZ_OPT=-T4 XZ_DEFAULTS=--threads=4 $as)
umask 022
is "another clone, day, ${as:+user, }umask, locale and zone give the same bytes" [ "$second" = "$first" ]
is "its files are of the commit" [ "$(TZ=UTC tar -tvf "$tmp"/one/build/attnscope-*.tar.xz | awk '{ print $2, $4, $5 }' | sort -u)" = \
    "0/0 $(TZ=UTC git -C "$tmp/one" log -1 --format=%cd --date='format-local:%Y-%m-%d %H:%M')" ]

# build FOLDER: the tarball unpacked and built there, stripped as packages have it; sums of what is installed
# shellcheck disable=SC2086 # words
build() {
    mkdir -p "$1/build" && tar -C "$1" -xf "$tmp"/one/build/attnscope-*.tar.xz --strip-components=1 &&
        cd "$1/build" && { ../configure -q --without-cuda --without-cunit ${ATTNSCOPE_CONFIGURE:-} CFLAGS="${CFLAGS:--O1}" && make -s -j"$jobs" &&
        make -s install-strip DESTDIR="$1/root"; } >log 2>&1 || tail -5 log
    cd "$1/root" && find . -type f | sort | xargs sha256sum
    cd "$tmp" || exit 99
}
programs=$(build "$tmp/here")
is "the tarball builds" says "$programs" 'libexec/attnscope/attnscope-worker'
again=$(build "$tmp/there/in/a/deeper/folder" 2>&1)
is "the same programs and pages, wherever they are built" [ "$again" = "$programs" ]
[ "$again" = "$programs" ] || printf '%s\n%s\n' "$programs" "$again" | sort | uniq -u | sed 's/^/# /'
# The tarball of a tarball, whose files have its date: no repository is needed.
again=$(cd "$tmp/here/build" && make -s dist >/dev/null 2>&1 && cat attnscope-*.tar.xz | sha256sum)
is "a tarball makes itself, in the same bytes" [ "$again" = "$first" ]
finish
