#!/bin/sh
# tools/same-code: code that moves into a header keeps the hash that it was measured by; code that changes does not. In a repository of its
# own, with the preprocessor in nvcc's place. Needs python3, git and a C compiler.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
src=$(cd "${ATTNSCOPE_SRCDIR:-.}" && pwd) || exit 99
for program in python3 git cc; do
    command -v $program >/dev/null || { echo "1..0 # SKIP no $program"; exit 0; }
done
. "$src/tests/cli/lib.sh"
mkdir -p tree/tools tree/kernels/cuda tree/kernels/suites tree/lessons/recordings
cp "$src/tools/same-code" "$src/tools/update-ptxas" "$src/tools/descriptor.py" tree/tools/
cp "$src"/kernels/cuda/*.cu "$src"/kernels/cuda/*.cuh "$src"/kernels/cuda/*.tsv "$src/kernels/cuda/local.mk" tree/kernels/cuda/
cp "$src"/kernels/suites/*.suite tree/kernels/suites/ # what auto and the suites choose has rows of ptxas.tsv, too
cp "$src"/lessons/recordings/*.tuned tree/lessons/recordings/
chmod -R u+w tree
cat >nvcc <<'EOF'
#!/bin/sh
# The tokens of the source with its headers in it, into what -o names; options of nvcc's own are left out.
options=
while [ $# -gt 0 ]; do
    case $1 in
    -o) out=$2; shift ;;
    -D*) options="$options $1" ;;
    *.cu) file=$1 ;;
    esac
    shift
done
# shellcheck disable=SC2086
cc -E -P -x c++ $options "$file" | tr -s ' \n' '\n' >"$out"
EOF
chmod +x nvcc
NVCC=$tmp/nvcc PYTHONDONTWRITEBYTECODE=1
export NVCC PYTHONDONTWRITEBYTECODE
tool() {
    rc=0
    "$@" >.out 2>.err || rc=$?
    out=$(cat .out) err=$(cat .err)
}
commit() {
    git -C tree add -A && git -C tree -c user.name=t -c user.email=t@t -c commit.gpgsign=false commit -qm "$1"
}
lacks() {
    ! says "$1" "$2"
}
row() {
    grep "^fa2_mma_short	" tree/kernels/cuda/same.tsv
}
git -c init.defaultBranch=main init -q tree 2>.err
sed '/^fa2_mma_short	/d' "$src/kernels/cuda/same.tsv" >tree/kernels/cuda/same.tsv # of others what is known, or their figures are stale, too
commit begin

tool tree/tools/same-code HEAD fa2_mma_short
is "what has not changed has no row" [ "$rc" -eq 0 ]
is "and nothing is said" [ -z "$out$(row)" ]

# The declarations behind the include go to a header.
python3 - tree/kernels/cuda <<'EOF'
import pathlib, re, sys
cuda = pathlib.Path(sys.argv[1])
kernel = cuda / "fa2_mma_short.cu"
head, rest = kernel.read_text().split('#include "mma.cuh"\n', 1)
moved, rest = rest.split("extern \"C\"", 1)
kernel.write_text(head + '#include "mma.cuh"\n#include "moved.cuh"\nextern "C"' + rest)
(cuda / "moved.cuh").write_text("#pragma once\n" + moved)
mk = cuda / "local.mk"
mk.write_text(re.sub("%D%/mma.cuh", "%D%/mma.cuh %D%/moved.cuh", mk.read_text(), count=1))
EOF
tool tree/tools/update-ptxas --check
is "moved code alone is stale" says "$out$err" 'stale row: fa2_mma_short'
tool tree/tools/same-code HEAD fa2_mma_short
is "the compiler makes the same of it" says "$out" '^same-code: fa2_mma_short: the same code, [1-9][0-9]* configurations$'
first=$(row)
is "and a row says so" says "$first" '^fa2_mma_short	[0-9a-f]{16}	[0-9a-f]{16}$'
tool tree/tools/update-ptxas --check
is "so its figures stand" lacks "$out$err" 'fa2_mma_short'
commit moved

sed 's/^#include "moved.cuh"/#include "moved.cuh" \/\/ declarations/' tree/kernels/cuda/fa2_mma_short.cu >k && cp k tree/kernels/cuda/fa2_mma_short.cu
tool tree/tools/same-code HEAD fa2_mma_short
is "a comment changes nothing" [ "$(row)" = "$first" ]
sed 's/^constexpr int BR = P_BR, BC = P_BC;/constexpr int BR = P_BR; constexpr int BC = P_BC;/' tree/kernels/cuda/moved.cuh >k && cp k tree/kernels/cuda/moved.cuh
tool tree/tools/same-code HEAD fa2_mma_short
is "code that changed is named" says "$out" '^same-code: fa2_mma_short: another code: fa2_mma_short fa2_mma_short f16 [0-9]+ '
is "and its row goes" [ -z "$(row)" ]
tool tree/tools/update-ptxas --check
is "its figures are stale" says "$out$err" 'stale row: fa2_mma_short'
git -C tree checkout -q kernels/cuda/moved.cuh
sed 's/^#include "moved.cuh".*/#include "moved.cuh"\n#include "async.cuh"/' tree/kernels/cuda/fa2_mma_short.cu >k && cp k tree/kernels/cuda/fa2_mma_short.cu
tool tree/tools/same-code HEAD fa2_mma_short
is "moved twice it is known by the first hash" says "$(row)" "	$(printf '%s' "$first" | cut -f3)\$"
is "under a name of today's text" [ "$(row)" != "$first" ]
finish
