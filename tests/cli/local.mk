# The program from the outside, as a shell sees it. lib.sh has the few words these scripts use.
long_run_tests += %D%/hostile_ptx.sh %D%/lesson.sh %D%/predicted.sh %D%/readme.sh %D%/peers.sh %D%/measure.sh %D%/secrets.sh %D%/own_c.sh %D%/gate.sh
long_run_tests += %D%/tune.sh
shell_tests += %D%/repl.sh %D%/frozen.sh
shell_tests += %D%/basics.sh %D%/bench.sh %D%/data.sh %D%/sweep.sh %D%/cuda.sh %D%/completions.sh %D%/record.sh
shell_tests += %D%/audit.sh %D%/class.sh %D%/profile.sh %D%/trace.sh
shell_tests += %D%/edit.sh %D%/edit_sim.sh %D%/regs.sh %D%/kernel.sh %D%/views.sh %D%/alone.sh %D%/gpu.sh %D%/home.sh %D%/consent.sh %D%/whose.sh %D%/classes.sh %D%/seal.sh %D%/kills.sh
shell_tests += %D%/hour.sh %D%/quickstart.sh %D%/blame.sh %D%/caught.sh %D%/caged.sh %D%/far.sh
long_run_tests += %D%/remote.sh %D%/hosts.sh %D%/shards.sh %D%/crowd.sh
EXTRA_DIST += %D%/sshd.sh %D%/slurm.sh %D%/line.py %D%/far.py %D%/near.py
long_tests += %D%/shards_long.sh %D%/lesson_long.sh %D%/newkey.sh %D%/verdicts.sh %D%/kills_long.sh %D%/release.sh %D%/aarch64.sh %D%/deb.sh %D%/soak.sh
EXTRA_DIST += %D%/shards_long.sh %D%/lesson_long.sh %D%/newkey.sh %D%/verdicts.sh %D%/kills_long.sh %D%/kills.py %D%/release.sh %D%/aarch64.sh %D%/deb.sh %D%/soak.sh %D%/soak.py
EXTRA_DIST += tests/data/v1.rec tests/data/v1.db
EXTRA_DIST += %D%/lib.sh %D%/frozen.txt tests/peers/mine.py tests/peers/torch.py

# What tests/cli/frozen.sh holds still, taken anew from the program; read the diff.
.PHONY: update-frozen
update-frozen: all
	$(AM_TESTS_ENVIRONMENT) $(SHELL) $(srcdir)/tests/cli/frozen.sh --update

# CUDA kernels without a GPU.
long_run_tests += %D%/sim.sh %D%/counts.sh %D%/reports.sh
shell_tests += %D%/calibrate.sh
shell_tests += %D%/pages.sh
shell_tests += %D%/debug.sh %D%/without.sh %D%/ring.sh %D%/gpus.sh %D%/nodes.sh %D%/costs.sh %D%/timeline.sh
