#!/bin/sh
# The simulator's own process goes wrong, in every way: the kernel whose it was is named, with the reason, and the others
# of the command are run by the same worker. See tests/sim/caged.c.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/lib.sh"
: "${ATTNSCOPE_BUILDDIR:?}"
if grep -q __asan_init "$ATTNSCOPE_WORKER"; then
    echo '1..0 # SKIP a sanitizer must come before what is preloaded'
    exit 0
fi
export ATTNSCOPE_LIBCUDA=none ATTNSCOPE_SIM_SECONDS=1
# Only the worker is to have it.
worker=$ATTNSCOPE_WORKER
cat >preloaded <<END
#!/bin/sh
LD_PRELOAD=$ATTNSCOPE_BUILDDIR/tests/sim/caged.so exec "$worker" "\$@"
END
chmod +x preloaded
ATTNSCOPE_WORKER=$tmp/preloaded
each='naive,fa2,qtile_seq'
run check $each S=16 H=1 D=16 f32 backend=sim hazards=on
is "without a fault all pass" [ "$(printf '%s\n' "$out" | grep -Ec '^(naive|fa2|qtile_seq) .* pass ')" -eq 3 ]
# fault, which process (each kernel has two: one judged, one counted), whose it is, its sentence
blamed() {
    export CAGED_FAULT="$1" CAGED_AT="$2"
    run check $each S=16 H=1 D=16 f32 backend=sim hazards=on
    is "$1 in process $2: its kernel is named" says "$out$err" "^$3: .*$4"
    is "  and no other" [ "$(printf '%s\n' "$out$err" | grep -Ec "^[a-z_0-9]+: .*(process|stopped)")" -eq 1 ]
    is "  the others pass" [ "$(printf '%s\n' "$out" | grep -Ec '^(naive|fa2|qtile_seq) .* pass ')" -eq 2 ]
    is "  the status says it" says "$rc" '^[13]$'
    is "  it does not" [ "$(printf '%s\n' "$out" | grep -Ec "^$3 .* pass ")" -eq 0 ]
    is "  and the status is no success" [ "$rc" -ne 0 ]
}
blamed signal 1 naive 'its process died \(signal 11'
blamed signal 3 fa2 'its process died \(signal 11'
blamed signal 4 fa2 'its process died \(signal 11'
blamed signal 5 qtile_seq 'its process died \(signal 11'
blamed memory 3 fa2 'its process, which may use .*, gave no answer: .*out of memory'
blamed exit 3 fa2 'its process, which may use .*, gave no answer$'
blamed nothing 3 fa2 'its process, which may use .*, gave no answer$'
blamed words 3 fa2 'its process sent what is no answer'
blamed huge 3 fa2 'its process sent what is no answer'
blamed endless 3 fa2 'it was not done after 11 s and was stopped'
# Somebody else kills it, in the run that is judged or the one that is counted: that is no verdict on the kernel.
for at in 3 4; do
    blamed killed $at fa2 'its process died \(signal 9'
    is "  nor is it called wrong" [ "$(printf '%s\n' "$out$err" | grep -Ec "^fa2 .* fail |check failed")" -eq 0 ]
    is "  status 3" [ "$rc" -eq 3 ]
done
finish
