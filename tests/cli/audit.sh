#!/bin/sh
# audit: verdicts on the reports' claims, computed here.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2154
. "$(dirname "$0")/lib.sh"

run audit --csv
is "five reports" [ "$(printf '%s\n' "$out" | wc -l)" -eq 6 ]
run audit wmma-occupancy-l4 section=4.3
is "the occupancy table comes out as the profiler had it" says "$out" '^confirmed  Registers allow 2 and 6'
is "on the report's card" says "$out" 'model: L4'
is "and nothing is otherwise than expected" says "$out" '; 0 not as expected'
run audit wmma section=4.3 gpu=H200
is "a unique prefix is enough, and plans are made for another card, too" says "$out" 'here: refuted'
run audit smem-limit-l4 id=smem-010 --json
is "a row has its values" says "$out" '"verdict":"confirmed".*"values":"82432 == 82432'
run audit all verdict=refuted --csv
is "refuted claims of all reports" [ "$(printf '%s\n' "$out" | grep -c ',refuted,')" -gt 50 ]
is "and no others" [ "$(printf '%s\n' "$out" | grep -c ',confirmed,refuted,')" -eq 0 ]
run audit fa1-sequential-l4 section=9 --md
is "Markdown" says "$out" '^\| seq-'
run audit fa1-sequential
is "what a clock decides is recorded, or open without a GPU" says "$out" '(recorded|live): NVIDIA'
is "lines fit 80 columns" [ "$(printf '%s\n' "$out" | awk 'length > 80' | wc -l)" -eq 0 ]
run audit smem-limit-l5
is "an unknown report is a usage error" [ "$rc" -eq 2 ]
is "and names the nearest" says "$err" 'did you mean "smem-limit-l4"'
run audit smem-limit-l4 section=99
is "so is a section that is not there" [ "$rc" -eq 2 ]
run complete-line -- 'audit sm'
is "names of reports complete" says "$out" 'smem-limit-l4'

run audit fa1-sequential-l4 id=seq-028
is "one claim is no claims" says "$out" '^1 claim: 1 refuted; 0 not as expected$'
finish
