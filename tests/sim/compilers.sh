#!/bin/sh
# Every kernel of the ladder in every dtype as NVRTC, nvcc and clang make it, where they are, and as it ships, on random
# shapes by the simulator: right, and nothing found. Minutes a shape; SHAPES=40 is what a release takes, SEED=N other shapes.
# SPDX-License-Identifier: GPL-3.0-or-later
PTX_SIM=all PTX_SIM_SHAPES=${SHAPES:-4} PTX_SIM_SEED=${SEED:-0} exec "${ATTNSCOPE_BUILDDIR:-build}/tests/unit/test_ptx_sim.t"
