# Lessons travel inside the program; users add theirs in $XDG_DATA_HOME/attnscope/lessons.
include %D%/list.mk
EXTRA_DIST += %D%/README.md %D%/transcripts.md
# What the reports claim, their headings, and the course of 90 minutes.
blob_files += %D%/claims.tsv %D%/headings.tsv %D%/route.tsv
EXTRA_DIST += tools/report-headings tools/lesson-numbers
include %D%/recordings/list.mk
EXTRA_DIST += %D%/recordings/README.md tools/make-recording tools/recording-from-csv tools/thin-recording
