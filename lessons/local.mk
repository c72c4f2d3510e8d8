# Lessons travel inside the program; users add theirs in $XDG_DATA_HOME/attnscope/lessons.
include %D%/list.mk
EXTRA_DIST += %D%/README.md
include %D%/recordings/list.mk
EXTRA_DIST += %D%/recordings/README.md tools/make-recording tools/recording-from-csv
