/* fakecuda.h - what tests may ask of the fake driver beyond CUDA's interface.
 *
 * The fake is one shared object that plays libcuda, NVML and NVRTC over host memory. Point
 * ATTNSCOPE_LIBCUDA and ATTNSCOPE_LIBNVRTC at it. $FAKECUDA scripts it, words between commas:
 *
 *   cuMemAlloc_v2:2=2        the second call returns 2; a code that is final for a process is
 *                            returned by every later call, as the driver does
 *   cuMemcpyHtoD_v2:1=skip   it says that all is well and does nothing
 *   cuStreamSynchronize:1=hang, abort, segv, ...   a word of faults.c: what a library can do to the
 *                            process it is loaded into
 *   cuEventElapsedTime:3=is-5   it gives -5 instead of the right value
 *   compute:2=one            the second launch that computes spoils one element; nan, zero, shift,
 *                            scale, half, none, behind, farbehind, before, inputs: see spoil()
 *   once=FILE                a fault only if FILE is empty; it gets the kernel that was hit, so that
 *                            there is one fault in one process
 *   tally=FILE               calls are counted there: records of 60 bytes of name and an int
 *   devices=2 regs=168 static_smem=4096 local=16 optin=101376 l2=50000000 sms=114
 *   name=ABC                 of the device
 *   nvrtc=6                  the compiler refuses everything
 *   stamps=0                 a traced build leaves no stamps
 *   ptx=0                    the driver cannot compile PTX
 *   us=50                    virtual microseconds that every launch takes
 *   mhz=1980 throttle=3      the SM clock; each third look finds half of it
 *   crowd=FILE               what NVML says of processes: lines "PID PERCENT" of the file, of just now; this one
 *                            is always among them
 *   mig=7                    the device is a slice of a GPU, with an id of its own
 *   apart=1                  devices and streams are apart, see apart.h; peer=0: no GPU reaches another; gbs=450:
 *                            what copies between them give; tflops=500: what a launch takes by its work;
 *                            room=1000000 roomof=2: bytes of memory that device 2 has, or each
 *   hold=4                   what keeps the clock down, as NVML's bits: 4 power, 32 heat
 *   wrong=1                  launches write garbage; wrong=2: nothing; wrong=3: behind the output
 *
 * Built with FAKE_OLD it lacks every optional entry point and has the older names of two; with
 * FAKE_BROKEN it lacks a required one.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_FAKECUDA_H
#define ATTNSCOPE_TESTS_FAKECUDA_H

#include <stdint.h>

struct fake_launch {
    char function[96];
    unsigned grid[3], block[3], dynamic_smem, cluster;
    unsigned char args[256]; /* struct PagedArgs as it was passed, which begins with AttnArgs */
};

/* What a stream begins with: another library that puts work into it hands it to `record` while the stream is
 * captured. 1: kept, with a copy of `ctx`, for every replay; 0: nothing is captured, do it at once. */
struct fake_stream {
    int (*record)(void (*work)(const void *ctx), const void *ctx, unsigned long bytes);
    int device;
    /* Copies from a device to another, by a stream of each (struct fake_stream). 0: done. */
    int (*copy)(const void *from, const void *to, void *dst, const void *src, unsigned long bytes);
    /* One end of a copy whose other end is another process. 0: done. */
    int (*touch)(const void *stream, void *at, unsigned long bytes, int writes);
};

/* What a tensor map was made of. */
struct fake_map {
    int type, swizzle;
    void *address;
    uint64_t dims[4], strides[3]; /* in bytes */
    unsigned box[4];
};

/* All are looked up with dlsym; `const char *` are borrowed. */
typedef int fake_calls_fn(const char *entry);            /* calls of an entry point so far */
typedef const struct fake_launch *fake_launch_fn(int i); /* i-th launch; NULL behind the last */
typedef const struct fake_map *fake_map_fn(int i);       /* i-th tensor map made; likewise */
typedef int fake_number_fn(void);                        /* see the names below */
/* fake_calls, fake_launch_at, fake_map_at, fake_live (allocations not freed), fake_given(device) (bytes of
 * them), fake_optin (bytes last asked
 * for), fake_gates (waits for the host that were opened), fake_sweeps (flushes that read), fake_reset (forgets all, reads $FAKECUDA
 * again) */

#endif
