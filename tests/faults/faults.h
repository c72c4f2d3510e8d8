/* faults.h - what can go wrong between a front end and a kernel, as a table of kinds from which
 * injections are drawn.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_TESTS_FAULTS_H
#define ATTNSCOPE_TESTS_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "job/request.h"

/* Where a kind of fault sits. */
enum place {
    IN_CALL,   /* in a call of the driver, of NVML or of the compiler */
    IN_FRAME,  /* in a frame between the supervisor and a worker: proxy.c */
    IN_SIGNAL, /* a signal from outside at some moment */
    IN_CACHE,  /* in the folder of compiled kernels */
    IN_SYSTEM, /* what is named in the environment is not there, or not what it should be */
};

/* What must come of it. */
enum outcome {
    TOLD,   /* a row without a verdict, or with a bad one, that says why */
    EITHER, /* told, or without consequence */
    NONE,   /* without consequence: every row is right */
};

enum patience {
    LONG,    /* as for users: no deadline is met */
    SHORT,   /* a hang, which tests cannot wait for as long as users do */
    COMPILE, /* a hang of the compiler, whose own limit comes first */
};

struct kind {
    const char *name;
    enum place place;
    enum outcome outcome;
    enum patience patience;
    int weight;         /* how often it is drawn, relative to others; 0: 8 */
    const char *target; /* IN_CALL: entry points, "|" between; NULL: any but lenient ones; "*": any.
                           IN_FRAME, IN_SIGNAL: the role. IN_SYSTEM: the variable */
    const char *what;   /* the words for it, "|" between: one is drawn */
    const char *says;   /* words that the sentence must have; NULL: any */
    bool cold;          /* nothing was compiled before */
};
extern const struct kind kinds[];
extern const int nkinds;

/* Is a failure of this entry point without consequence by design? */
bool is_lenient(const char *entry);
/* Is it called when the work is done, perhaps after the job's end? */
bool is_tidying(const char *entry);

/* Kinds of jobs. Each has three kernels. */
enum task { CHECK, HOT, COLD, COMPARE, TASKS };
extern const char *const task_names[TASKS];

/* One of the thousand. Texts are owned. */
struct injection {
    int number;
    const struct kind *kind;
    enum task task;
    enum dtype dtype;
    const char *kernels[3];
    char *script; /* for the fake driver or the proxy */
    char *where;  /* in words: "CHECK f16 cuLaunchKernel:2=segv" */
    int after;    /* IN_SIGNAL: changes of the job to wait for */
    int signal;
    uint64_t random;
};

/* Calls of every entry point in a good job. */
struct tally {
    struct {
        char name[60];
        int count;
    } calls[96];
};

/* Draws injection `number`; `tallies` are of good jobs. The same for the same seed. */
void injection_draw(struct injection *in, uint64_t seed, int number, const struct tally *tallies);
void injection_clear(struct injection *in);

/* Breaks the cache below `folder`, which holds good entries: `how` is a word of kinds[]. */
void break_cache(const char *folder, const char *how, uint64_t random);
/* Is the file that links in a broken cache lead to as it was? */
bool victim_is_whole(const char *folder);

/* A worker's role played by another process that relays every frame and breaks the one that
 * $FAULTS_PROXY names: "role=judge,frame=3,how=flip,once=FILE". Does not return. */
int proxy(const char *role, int fd, const char *worker);

#endif
