/* table.h - the backends, a row each: the only place, besides the file of each, that knows them by name.
 *
 * BACKEND(NAME, members of struct backend_info). Whoever includes this says first what a row becomes:
 * names.c makes the table that everybody reads, backend.c the one that the worker runs, for which
 * the file of each backend defines `const struct backend_ops backend_NAME`.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
// clang-format off
BACKEND(cpu,
        .title = "CPU",
        .doc = "C kernels on threads",
        .side = SIDE_CPU,
        .rank = 1,
        .origin = "live",
        .devices = 1,
        .options = {"threads"},
        .times = true)
BACKEND(cuda,
        .title = "GPU",
        .doc = "CUDA kernels on the GPU",
        .side = SIDE_CUDA,
        .rank = 2,
        .origin = "live",
        .gpu = true,
        .options = {"launch", "streams"},
        .times = true,
        .counts = true,
        .present = nvidia_present,
        .needs = "a GPU",
        .absent = "no NVIDIA driver is loaded here")
BACKEND(sim,
        .title = "simulator",
        .doc = "CUDA kernels by a simulator of their PTX: check, counters, hazards, no times",
        .side = SIDE_CUDA,
        .origin = "sim",
        .devices = 1,
        .options = {"threads", "blocks", "hazards"},
        .counts = true)
// clang-format on
