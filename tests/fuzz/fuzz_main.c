/* fuzz_main.c - a small deterministic fuzzing driver: every machine runs the same inputs.
 *
 * A target is one file that defines fuzz_one(), fuzz_seeds and fuzz_tokens (see fuzz.h) and is
 * linked with this one. Input number N is a pure function of N, the seeds and the tokens, so that
 * one that breaks something is repeated alone by its number.
 *
 *   fuzz_TARGET [inputs [first]]     1,000,000 inputs from number 0 by default; FUZZ_INPUTS in the
 *                                    environment gives another default
 *
 * Before those, the inputs of corpus/TARGET.txt run: what `make fuzz` found worth keeping, one a line,
 * written as seeds are. Reports TAP.
 *
 *   fuzz_TARGET --escape FILE...     prints files as such lines
 *
 * Built with -DFUZZ_LIBFUZZER, a target is a libFuzzer target instead; with FUZZ_SEEDS_TO=DIR in the
 * environment it writes its seeds, its corpus and, as DIR.dict, its tokens, and ends.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <ctype.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int fuzz_broken(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    fputs("# broken: ", stdout);
    vfprintf(stdout, fmt, ap);
    fputc('\n', stdout);
    va_end(ap);
    return 1;
}

enum { INPUT_MAX = 1024, TEXTS_MAX = 256, EDITS_MAX = 8, WORD_EDITS_MAX = 4, HANG_SECONDS = 60 };

struct text {
    size_t len;
    uint8_t bytes[INPUT_MAX];
};

static void load_text(struct text *t, const char *source)
{
    t->len = 0;
    while (*source && t->len < INPUT_MAX) {
        unsigned byte;
        if (source[0] == '\\' && source[1] == 'x' && sscanf(source + 2, "%2x", &byte) == 1) {
            t->bytes[t->len++] = (uint8_t)byte;
            source += 4;
        } else {
            t->bytes[t->len++] = (uint8_t)*source++;
        }
    }
}

static void print_escaped(FILE *f, const uint8_t *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (bytes[i] >= ' ' && bytes[i] < 0x7F && bytes[i] != '"' && bytes[i] != '\\')
            putc(bytes[i], f);
        else
            fprintf(f, "\\x%02x", bytes[i]);
}

/* The kept inputs of a program NAME, or of fuzz_NAME.t; NULL: it has none. */
static FILE *open_corpus(const char *program)
{
    const char *slash = strrchr(program, '/'), *name = slash ? slash + 1 : program;
    const char *dir = getenv("ATTNSCOPE_SRCDIR");
    if (!strncmp(name, "fuzz_", 5))
        name += 5;
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/fuzz/corpus/%.*s.txt", dir ? dir : ".",
             (int)strcspn(name, "."), name);
    return fopen(path, "re");
}

/* The next line as an input; false at the end. */
static bool next_kept(FILE *f, struct text *t)
{
    char line[4 * INPUT_MAX + 2];
    if (!fgets(line, sizeof line, f))
        return false;
    line[strcspn(line, "\n")] = 0;
    load_text(t, line);
    return true;
}

#ifdef FUZZ_LIBFUZZER

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static void write_seed(const char *dir, const char *kind, int number, const struct text *t)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s%d", dir, kind, number);
    FILE *f = fopen(path, "we");
    if (!f || fwrite(t->bytes, 1, t->len, f) != t->len || fclose(f) != 0)
        exit(1);
}

static void write_tokens(const char *dir)
{
    char path[4096];
    struct text t;
    snprintf(path, sizeof path, "%s.dict", dir);
    FILE *f = fopen(path, "we");
    for (int i = 0; f && fuzz_tokens[i]; i++) {
        load_text(&t, fuzz_tokens[i]);
        if (t.len == 0)
            continue;
        putc('"', f);
        print_escaped(f, t.bytes, t.len);
        fputs("\"\n", f);
    }
    if (!f || fclose(f) != 0)
        exit(1);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *dir = getenv("FUZZ_SEEDS_TO");
    (void)argc;
    if (!dir)
        return 0;
    struct text t;
    for (int i = 0; fuzz_seeds[i]; i++) {
        load_text(&t, fuzz_seeds[i]);
        write_seed(dir, "seed", i, &t);
    }
    FILE *kept = open_corpus((*argv)[0]);
    for (int i = 0; kept && next_kept(kept, &t); i++)
        write_seed(dir, "kept", i, &t);
    if (kept)
        fclose(kept);
    write_tokens(dir);
    exit(0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (fuzz_one(data, size))
        abort();
    return 0;
}

#else

struct texts {
    size_t count;
    struct text text[TEXTS_MAX];
};

/* ---- making inputs ------------------------------------------------------------------------ */

static uint64_t next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t below(uint64_t *state, size_t n)
{
    return (size_t)((next(state) >> 11) % n);
}

/* A good start for the generator above; neighbouring numbers give unrelated states. */
static uint64_t scramble(uint64_t number)
{
    uint64_t z = (number + 1) * UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return (z ^ z >> 31) | 1;
}

static void load_texts(struct texts *all, const char *const *sources)
{
    for (all->count = 0; sources[all->count] && all->count < TEXTS_MAX; all->count++)
        load_text(&all->text[all->count], sources[all->count]);
}

/* Puts `len` bytes in the place of `cut` bytes at `at`; what grows too long is cut off. */
static void splice(struct text *t, size_t at, size_t cut, const uint8_t *bytes, size_t len)
{
    struct text out;
    memcpy(out.bytes, t->bytes, at);
    out.len = at;
    if (len > INPUT_MAX - out.len)
        len = INPUT_MAX - out.len;
    memcpy(out.bytes + out.len, bytes, len);
    out.len += len;
    size_t rest = t->len - at - cut;
    if (rest > INPUT_MAX - out.len)
        rest = INPUT_MAX - out.len;
    memcpy(out.bytes + out.len, t->bytes + at + cut, rest);
    t->len = out.len + rest;
    memcpy(t->bytes, out.bytes, t->len);
}

enum edit { FLIP_BIT, SET_BYTE, SET_ASCII, DELETE, REPEAT, TOKEN, REPLACE_BY_TOKEN, CROSS, NEDITS };

static void edit(struct text *t, uint64_t *state, const struct texts *seeds,
                 const struct texts *tokens)
{
    const size_t at = below(state, t->len + 1);
    const size_t span = t->len - at ? 1 + below(state, t->len - at) : 0;
    const size_t some = span > 8 ? 1 + below(state, 8) : span;
    const struct text *token = &tokens->text[below(state, tokens->count)];
    const struct text *other = &seeds->text[below(state, seeds->count)];
    const uint8_t byte = (uint8_t)next(state), ascii = (uint8_t)(' ' + below(state, 95));
    const size_t from = below(state, other->len + 1);
    struct text copy;
    switch ((enum edit)below(state, NEDITS)) {
    case FLIP_BIT:
        if (at < t->len)
            t->bytes[at] ^= (uint8_t)(1 << byte % 8);
        break;
    case SET_BYTE:
        splice(t, at, some ? 1 : 0, &byte, 1);
        break;
    case SET_ASCII:
        splice(t, at, byte % 2 && some, &ascii, 1);
        break;
    case DELETE:
        splice(t, at, byte % 4 ? some : span, &byte, 0);
        break;
    case REPEAT:
        copy = *t;
        splice(t, at, 0, copy.bytes + at, byte % 4 ? some : span);
        break;
    case TOKEN:
        splice(t, at, 0, token->bytes, token->len);
        break;
    case REPLACE_BY_TOKEN:
        splice(t, at, some, token->bytes, token->len);
        break;
    case CROSS:
        splice(t, at, t->len - at, other->bytes + from, other->len - from);
        break;
    case NEDITS:
        break;
    }
}

/* ---- edits of a language ---- */

struct span {
    size_t at, len;
};

static bool in_word(uint8_t c)
{
    return isalnum(c) || c == '_' || c == '%' || c == '$' || c == '.';
}

/* The word, or the single other character, that `at` lies in. */
static struct span word_at(const struct text *t, size_t at)
{
    size_t from = at, to = at;
    if (at >= t->len)
        return (struct span){t->len, 0};
    while (from > 0 && in_word(t->bytes[at]) && in_word(t->bytes[from - 1]))
        from--;
    while (to < t->len && in_word(t->bytes[to]))
        to++;
    return (struct span){from, to > at ? to - from : 1};
}

/* From behind the `;` or line end before `at` to the next one, with it. */
static struct span statement_at(const struct text *t, size_t at)
{
    size_t from = at < t->len ? at : t->len, to = from;
    while (from > 0 && t->bytes[from - 1] != ';' && t->bytes[from - 1] != '\n')
        from--;
    while (to < t->len && t->bytes[to] != ';' && t->bytes[to] != '\n')
        to++;
    return (struct span){from, to - from + (to < t->len)};
}

/* What may stand for what: registers of one kind, numbers, other words; 0: no word. */
static unsigned kind_of(const struct text *t, struct span w)
{
    const uint8_t *c = t->bytes + w.at;
    unsigned kind = 1;
    if (!w.len || !in_word(*c))
        return 0;
    if (isdigit(*c))
        return 2;
    for (size_t i = 0; i < w.len && *c == '%' && !isdigit(c[i]); i++)
        kind = kind * 31 + c[i];
    return kind;
}

/* A word of `from` of the same kind, if a few draws find one. */
static struct span word_like(const struct text *from, unsigned kind, uint64_t *state)
{
    enum { DRAWS = 12 };
    struct span w = {0};
    for (int i = 0; i < DRAWS; i++) {
        w = word_at(from, below(state, from->len + 1));
        if (kind_of(from, w) == kind)
            break;
    }
    return w;
}

/* One part of a word, between dots, for a token that begins with one. */
static void edit_part(struct text *t, size_t at, struct span w, uint64_t *state,
                      const struct texts *tokens)
{
    enum { DRAWS = 12 };
    size_t from = at, to = at + 1;
    const struct text *token = NULL;
    while (from > w.at && t->bytes[from] != '.')
        from--;
    while (to < w.at + w.len && t->bytes[to] != '.')
        to++;
    for (int i = 0; i < DRAWS && (!token || token->bytes[0] != '.'); i++)
        token = &tokens->text[below(state, tokens->count)];
    if (from < to && to <= t->len && t->bytes[from] == '.')
        splice(t, from, to - from, token->bytes, token->len);
}

enum word_edit {
    WORD_OTHER, /* of its kind, of the same text */
    WORD_SEED,  /* of its kind, of a seed */
    WORD_TOKEN, /* any token */
    PART_TOKEN,
    STATEMENT_CUT,
    STATEMENT_TWICE,
    STATEMENT_MOVED,
    STATEMENT_SEED,
    NWORD_EDITS
};

static void edit_words(struct text *t, uint64_t *state, const struct texts *seeds,
                       const struct texts *tokens)
{
    const enum word_edit how = (enum word_edit)below(state, NWORD_EDITS);
    const struct text copy = *t, *seed = &seeds->text[below(state, seeds->count)],
                      *token = &tokens->text[below(state, tokens->count)];
    const size_t at = below(state, t->len + 1), there = below(state, t->len + 1),
                 abroad = below(state, seed->len + 1);
    const struct span w = word_at(t, at), s = statement_at(t, at), s2 = statement_at(t, there),
                      s3 = statement_at(seed, abroad);
    struct span other;
    switch (how) {
    case WORD_OTHER:
        other = word_like(&copy, kind_of(t, w), state);
        splice(t, w.at, w.len, copy.bytes + other.at, other.len);
        break;
    case WORD_SEED:
        other = word_like(seed, kind_of(t, w), state);
        splice(t, w.at, w.len, seed->bytes + other.at, other.len);
        break;
    case WORD_TOKEN:
        splice(t, w.at, there % 4 ? w.len : 0, token->bytes, token->len);
        break;
    case PART_TOKEN:
        edit_part(t, at, w, state, tokens);
        break;
    case STATEMENT_CUT:
        splice(t, s.at, s.len, copy.bytes, 0);
        break;
    case STATEMENT_TWICE:
        splice(t, s.at, 0, copy.bytes + s.at, s.len);
        break;
    case STATEMENT_MOVED:
        splice(t, s2.at, 0, copy.bytes + s.at, s.len);
        break;
    case STATEMENT_SEED:
        splice(t, s.at, 0, seed->bytes + s3.at, s3.len);
        break;
    case NWORD_EDITS:
        break;
    }
}

static bool keeps_words(uint64_t *state)
{
    return &fuzz_words && below(state, 16);
}

static void make_input(uint64_t number, const struct texts *seeds, const struct texts *tokens,
                       struct text *out)
{
    uint64_t state = scramble(number);
    *out = seeds->text[below(&state, seeds->count)];
    const size_t edits = below(&state, &fuzz_words ? WORD_EDITS_MAX + 1 : EDITS_MAX + 1);
    for (size_t i = 0; i < edits; i++)
        (keeps_words(&state) ? edit_words : edit)(out, &state, seeds, tokens);
}

/* ---- running them ------------------------------------------------------------------------- */

/* What a death in the target is reported with. A signal handler can reach nothing else. */
static struct {
    uint64_t number;
    bool kept; /* line `number` of the corpus */
    struct text input;
} current;

static void print_input(const struct text *t)
{
    fputs("# input: \"", stdout);
    print_escaped(stdout, t->bytes, t->len);
    fputs("\"\n", stdout);
}

static void report_failure(const char *how)
{
    const unsigned long long n = current.number;
    if (current.kept)
        printf("not ok 1 - kept input %llu %s\n", n, how);
    else
        printf("not ok 2 - input %llu %s; repeat it with the arguments: 1 %llu\n", n, how, n);
    print_input(&current.input);
    fflush(stdout);
}

static void on_death(void)
{
    report_failure("stopped the program");
}

/* Not async-signal-safe, but the program is lost anyway and the number is worth the risk. */
static void on_signal(int sig)
{
    report_failure(sig == SIGALRM ? "does not end" : "crashed");
    _exit(1);
}

/* Provided by the sanitizers' runtime, if they are linked. */
extern void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

static void watch_for_death(void)
{
    signal(SIGALRM, on_signal);
    if (__sanitizer_set_death_callback) {
        __sanitizer_set_death_callback(on_death);
        return;
    }
    signal(SIGSEGV, on_signal);
    signal(SIGABRT, on_signal);
    signal(SIGFPE, on_signal);
    signal(SIGBUS, on_signal);
}

/* In a block of exactly its size, so that a sanitizer sees a read beyond the end. */
static int run_exact(const struct text *t)
{
    uint8_t *exact = malloc(t->len ? t->len : 1);
    if (!exact)
        return fuzz_broken("no memory");
    memcpy(exact, t->bytes, t->len);
    const int broken = fuzz_one(exact, t->len);
    free(exact);
    return broken;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A number from the command line, else `otherwise`. */
static uint64_t number_or(const char *text, uint64_t otherwise)
{
    return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

static bool run_kept(const char *program)
{
    FILE *f = open_corpus(program);
    current.kept = true;
    bool broken = false;
    while (f && !broken && next_kept(f, &current.input)) {
        current.number++;
        alarm(HANG_SECONDS);
        broken = run_exact(&current.input);
    }
    if (f)
        fclose(f);
    if (broken)
        report_failure("breaks an invariant");
    else
        printf("ok 1 - %llu kept inputs\n", (unsigned long long)current.number);
    current.kept = false;
    return !broken;
}

static void run_made(uint64_t inputs, uint64_t first)
{
    static struct texts seeds, tokens;
    load_texts(&seeds, fuzz_seeds);
    load_texts(&tokens, fuzz_tokens);
    const double begin = seconds();
    const uint64_t each = 1 + 1023 / (&fuzz_cost && fuzz_cost ? fuzz_cost : 1);
    for (uint64_t i = 0; i < inputs; i++) {
        if (i % each == 0) /* a busy machine is no hang */
            alarm(HANG_SECONDS);
        current.number = first + i;
        make_input(current.number, &seeds, &tokens, &current.input);
        if (run_exact(&current.input)) {
            report_failure("breaks an invariant");
            return;
        }
    }
    const double took = seconds() - begin;
    printf("ok 2 - %llu inputs, %.0f a second\n", (unsigned long long)inputs,
           (double)inputs / (took > 0 ? took : 1e-9));
}

/* Each file as a line of a corpus; longer ones would be cut, and are left out. */
static int escape_files(char **files)
{
    uint8_t bytes[INPUT_MAX + 1];
    for (; *files; files++) {
        FILE *f = fopen(*files, "re");
        const size_t len = f ? fread(bytes, 1, sizeof bytes, f) : 0;
        if (!f || fclose(f) != 0)
            return 1;
        if (len <= INPUT_MAX) {
            print_escaped(stdout, bytes, len);
            putchar('\n');
        }
    }
    return 0;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "--escape"))
        return escape_files(argv + 2);
    const unsigned cost = &fuzz_cost ? fuzz_cost : 1;
    const uint64_t inputs =
        number_or(argc > 1 ? argv[1] : NULL, number_or(getenv("FUZZ_INPUTS"), 1000000) / cost);
    printf("1..2\n");
    watch_for_death();
    if (run_kept(argv[0]))
        run_made(inputs, number_or(argc > 2 ? argv[2] : NULL, 0));
    return 0;
}

#endif
