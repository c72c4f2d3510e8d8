#!/bin/sh
# Lessons for a class and for authors: predictions out, packs in, a demo prepared, a lesson written.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC1091,SC2016,SC2154
. "$(dirname "$0")/lib.sh"

# A learner takes a lesson that only computes.
answers=$(i=0; while [ $i -lt 80 ]; do printf '1\n\n'; i=$((i + 1)); done)
run_input "$answers" lesson banks
is "a lesson is taken" [ "$rc" -eq 0 ]
run lesson export
is "predictions as CSV" says "$out" '^time,lesson,step,name,guess,outcome,right'
is "of that lesson" says "$out" ',banks,'
run lesson export measure
is "and of no other" [ "$(printf '%s\n' "$out" | wc -l)" -eq 1 ]
run lesson export banks --json
is "or as JSON" says "$out" '"lesson":"banks"'

mkdir packs
run lesson pack packs/ada.pack name="Ada L."
is "a pack" [ "$rc" -eq 0 ]
run lesson pack packs/ada.pack name=Ada
is "an existing file is not written over" [ "$rc" -eq 2 ]
run lesson pack packs/ada.pack name="Ada L." --force
is "but with --force, by one that is whole" [ "$rc $(grep -c "^{" packs/ada.pack)" = "0 1" ]
run lesson pack packs/eve.pack 'name==cmd|x'
is "a name that is a formula is refused" [ "$rc" -eq 2 ]
sed 's/"right": false/"right": true/' packs/ada.pack >packs/bob.pack
printf 'no pack' >packs/broken.pack
ln -s /etc/passwd packs/link.pack
run lesson grade packs
is "a broken pack among them gives 1" [ "$rc" -eq 1 ]
is "the good one is graded" says "$out" '^ada.pack,Ada L.,'
is "its outcomes come out again" says "$out" '^ada.pack,.*,banks,([0-9]+),\1,'
is "the changed one is told" says "$out" '^bob.pack,.*was changed'
is "the broken one has its reason" says "$out" '^broken.pack,.*not JSON'
is "and nothing of /etc/passwd is shown" [ "$(printf '%s' "$out$err" | grep -c root:)" -eq 0 ]
run lesson grade packs/ada.pack --json
is "a good one alone gives 0" [ "$rc" -eq 0 ]
is "nothing differs" says "$out" '"differ":0'
run --restricted lesson pack x.pack name=Ada
is "--restricted writes no pack" [ ! -e x.pack ]

run lesson route start=10:15
is "the route has a clock" says "$out" '^10:15 '
run lesson route minutes=45 start=10:15
is "a route of 45 minutes has them" says "$out" '^4[2-5] minutes of 45, by the minutes of the steps'
is "and says what it leaves out" says "$out" '^Left out of the course of 90 minutes: .*online-softmax'
run lesson route minutes=3
is "too few are a usage error" [ "$rc" -eq 2 ]
run apropos teacher
is "a teacher finds the verbs" says "$out" 'lesson +route +for the teacher'
is "and the notes" says "$out" 'notes +for the teacher'
run lesson route start=25:00
is "a bad time is a usage error" [ "$rc" -eq 2 ]
run lesson prepare banks --list
is "what a demo runs is listed" says "$out" 'plan fa2'
run lesson prepare banks
is "and is made ready" [ "$rc" -eq 0 ]
is "with a recording" [ -f "$HOME/.local/share/attnscope/recordings/prepared.rec" ]

# What a demo runs is set apart: the numbers of rows and the report stay the session's.
run_input 'plan fa2 S=512 gpu=L4 --json
lesson prepare banks
plan naive S=512 gpu=L4 --json
show $1
report session.html'
is "it ends well" [ "$rc" -eq 0 ]
is "a row from before keeps its number" says "$out" '^kernel +fa2 '
is "the report has what was asked for" grep -q naive session.html
is "and nothing that was prepared" [ "$(grep -c fa2_mma_plain session.html)" -eq 0 ]

run lesson new my-kernel
file=$HOME/.local/share/attnscope/lessons/90-my-kernel.md
is "a new lesson" [ -f "$file" ]
run lesson new my-kernel
is "only once" [ "$rc" -eq 2 ]
run lesson new check
is "not under what lesson does already" says "$err" 'take another name'
run lesson new ../evil
is "and only under a plain name" [ "$rc" -eq 2 ]
run lessons
is "it is listed, so it parses" says "$out" 'my-kernel'
run lesson check my-kernel
is "its gates do not hold" [ "$rc" -eq 1 ]
is "and the check says so" says "$out" 'gate +problem'
sed -e 's/ > \$small.todo \* / > /; s/>= \$tile.todo/>= 1/; s/TODO/Done/' "$file" >done.md
sed -i 's/TODO/Done/g' done.md
run lesson check done.md --csv
is "a finished one says how long it takes" says "$out" ',note,ok,8 minutes'
grep -v '^answer' done.md >mute.md
run lesson check mute.md
is "a step without a note for its teacher is told" says "$out" "note +problem +the teacher's note lacks: answer"
sed 's/here: 15 minutes/here: 20 minutes/' done.md >slow.md
run lesson check slow.md
is "so are minutes that do not add up" says "$out" 'note +problem +the lesson says 20 minutes, its steps take 15'
run lesson check done.md
is "a finished one passes" [ "$rc" -eq 0 ]
run lesson check banks smem-wall
is "so do shipped ones" [ "$rc" -eq 0 ]
printf '# T\n\n## S\n\n```attnscope\nfa2 = plan fa2 gpu=L4\nexpect $fa2.waves > 0 : no\nhint h\n```\n' >named.md
run lesson check named.md
is "rows that are called as a kernel are told" says "$out" 'called "fa2", which is a kernel'
# What a page of 80 columns shows: figures that the step speaks of, whole lines.
printf '# T\n\n## S\n\nLook at `limiter`, `gpu`, `SMEM/block`, `threads`, `SMEM B` and `regs`.\n\n```attnscope\noccupancy threads=96 gpu=L4\nexpect $1.waves > 0 : no\nhint h\n```\n' >wide.md
run lesson check wide.md
is "a table that does not fit a page is told" says "$out" 'page +problem +occupancy threads=96 gpu=L4: prints a line'
printf '# T\n\n## S\n\nThe row is `%s`.\n\n```attnscope\ntrace access D=2048\nexpect $1.sectors > 0 : no\nhint h\n```\n' 'lanes on each sector' >map.md
run lesson check map.md
is "and a column that is cut although the step speaks of it" says "$out" 'page +problem .*"lanes on each sector" is cut'
printf '# T\n\n## S\n\n```attnscope\nplan naive S=256 gpu=L4\nexpect $1.waves > 0 : no\nhint h\n```\n' >long.md
run lesson check long.md
is "a plan of more than a screen is told" says "$out" 'page +problem +plan naive .*only= keeps those that the step speaks of'
sed 's/gpu=L4/gpu=L4 only=waves/' long.md >short.md
run lesson check short.md --csv
is "and none of which a part is asked for" [ "$(printf '%s\n' "$out" | grep -c ',page,')" -eq 0 ]
sed 's/The row is .*/The row is long./' map.md >quiet.md
run lesson check quiet.md --csv
is "and only then" [ "$(printf '%s\n' "$out" | grep -c ',page,')" -eq 0 ]
printf '# T\n\n## S\n\n```attnscope\nfigure source row_online from // Online softmax to m = m_new;\nplan fa2 gpu=L4\nexpect $1.blocks_per_sm > 0 : no\nhint h\n```\n' >code.md
run lesson check code.md
is "long lines of a source go on below" says "$out" 'figure +ok .* lines of [67][0-9] columns'
printf '# T\n\n## S\n\n```attnscope\nrun naive > x\n```\n' >evil.md
run lesson check evil.md
is "a lesson that redirects is refused with file and line" says "$err" 'evil.md:6'
# A lesson that lies elsewhere.
mkdir elsewhere
sed 's/^# .*/# Banks, ours/' done.md >elsewhere/ours.md
run lesson add elsewhere/ours.md
is "a lesson is added" [ "$rc" -eq 0 ]
run lesson list
is "and listed as one that lies elsewhere" says "$out" "ours +Banks, ours +someone's"
is "those of the course are not" [ "$(printf '%s\n' "$out" | grep -c 'banks .*yours')" -eq 0 ]
run_input q lesson ours
is "it is found by its name" says "$out" '1/2 '
is "its path is on record, not its text" [ "$(find "$HOME" -name 'ours*' | grep -c .)" -eq 0 ]
sed -i 's/^# .*/# Banks, changed/' elsewhere/ours.md
run lessons
is "what is changed there is what is taken" says "$out" 'Banks, changed'
run lesson add elsewhere/ours.md
is "a name that is taken is refused" [ "$rc" -eq 2 ]
mkfifo elsewhere/pipe.md
run lesson add elsewhere/pipe.md
is "a pipe is no lesson, and is not waited for" says "$err" 'is a pipe, not a file'
run --restricted lesson add done.md
is "--restricted adds nothing" [ "$rc" -eq 2 ]
mv elsewhere/ours.md elsewhere/gone.md
run lessons
is "one that is gone is told" says "$err" 'ours.md: No such file'
rm -f "$HOME/.local/share/attnscope/lessons/added"
run lesson grade
is "an action without its words is a usage error" [ "$rc" -eq 2 ]
run complete-line -- 'lesson pre'
is "actions complete" says "$out" 'prepare'

finish
