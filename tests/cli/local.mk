# The program from the outside, as a shell sees it. lib.sh has the few words these scripts use.
shell_tests += %D%/repl.sh
shell_tests += %D%/basics.sh %D%/lesson.sh %D%/measure.sh %D%/cuda.sh %D%/completions.sh %D%/record.sh
shell_tests += %D%/audit.sh %D%/class.sh %D%/profile.sh
shell_tests += %D%/peers.sh %D%/edit.sh %D%/kernel.sh %D%/views.sh %D%/gpu.sh %D%/home.sh
EXTRA_DIST += %D%/lib.sh tests/peers/mine.py tests/peers/torch.py
