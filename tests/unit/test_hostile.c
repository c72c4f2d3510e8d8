/* Foreign text through every way out of the program: no control byte, no broken or reordering
 * character reaches a terminal, whatever is typed, stored, compiled or received.
 *
 * 5 000 texts, each through every channel below. What a terminal obeys is judged here without the
 * gate's own tables.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/mem.h"
#include "base/sanitize.h"
#include "command/line/config.h"
#include "command/line/history.h"
#include "command/line/lex.h"
#include "command/session.h"
#include "kernel/desc_parse.h"
#include "lesson/text/parsed.h"
#include "repl/front.h"
#include "tap.h"
#include "tui/app/prompt.h"
#include "tui/kit/popup.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXTS = 5000 };

/* So many hostile texts; HOSTILE_TEXTS takes fewer where sanitizers make each slow. */
static int text_count(void)
{
    const char *n = getenv("HOSTILE_TEXTS");
    return n && atoi(n) > 0 ? atoi(n) : TEXTS;
}

static struct session *session;
static int messages = -1; /* stands in for standard error */
static char dir[] = "/tmp/attnscope-test-XXXXXX";

/* ---- hostile texts ---- */

static const char *const pieces[] = {
    "\033[2J",
    "\033]0;title\007",
    "\033]52;c;QUJD\033\\",
    "\033P+q544e\033\\",
    "\033[6n",
    "\x9b"
    "31m",
    "\xc2\x9b"
    "2J",
    "\xc2\x90q",
    "\x90",
    "\xe2\x80\xae"
    "txt.exe",
    "\xe2\x81\xa6",
    "\xe2\x80\x8f",
    "\xd8\x9c",
    "\xc0\xaf",
    "\xe0\x80\xaf",
    "\xed\xa0\x80",
    "\xf4\x90\x80\x80",
    "\xff\xfe",
    "\xe2\x82",
    "\r",
    "\n",
    "\r\n",
    "\b\b\b",
    "\x7f",
    "\x0e\x0f",
    "\x05",
    "\x01",
    "\x1b",
    "\t",
    "\xe2\x80\x8b",
    "\xef\xbb\xbf",
    "\xe2\x80\xa8",
    "\xf3\xa0\x81\x81",
    "e\xcc\x81\xcc\x82\xcc\x83\xcc\x84",
    "%s%n%d",
    "\\",
    "\"",
    "'",
    "|",
    "`id`",
    "$(id)",
    "&#27;",
    "<script>alert(1)</script>",
    "]]>",
    "--",
    "=",
    ",",
    ";",
    "#",
    "{",
    "}",
    "a",
    "naive",
    "S=4k",
    "\xe4\xbd\xa0",
    "\xf0\x9f\x94\xa5\xe2\x80\x8d\xf0\x9f\x94\xa5",
    "\033",
    " ",
};
enum { PIECES = sizeof pieces / sizeof *pieces, SHORT = 240, LONG = 9000 };

static uint32_t seed = 1;

static unsigned draw(unsigned below)
{
    seed = seed * 1664525u + 1013904223u;
    return (unsigned)((uint64_t)(seed >> 8) * below >> 24);
}

/* Pieces and random bytes; now and then very long. Never holds a 0. */
static char *hostile(int i)
{
    struct str s = {0};
    const size_t want = i % 500 == 7 ? LONG : 1 + draw(SHORT);
    while (s.len < want) {
        if (draw(4))
            str_add(&s, pieces[draw(PIECES)]);
        else
            str_addc(&s, (char)(1 + draw(255)));
    }
    return str_take(&s);
}

/* ---- the judge ---- */

/* Where the first thing stands that a terminal could obey, or -1. */
static long dirt(const char *text, size_t len)
{
    for (size_t i = 0; i < len;) {
        unsigned c;
        const int used = str_utf8_next(text + i, &c);
        if ((c < 0x20 && c != '\n' && c != '\t') || (c >= 0x7F && c < 0xA0) ||
            (used == 1 && c == 0xFFFD) || (c >= 0x202A && c <= 0x202E) ||
            (c >= 0x2066 && c <= 0x2069) || c == 0x200E || c == 0x200F || c == 0x061C ||
            c == 0x200B || c == 0xFEFF || c == 0x2028 || c == 0x2029 ||
            (c >= 0xE0000 && c < 0xE1000))
            return (long)i;
        i += (size_t)used;
    }
    return -1;
}

static int dirty; /* texts of the test that runs */

static void clean(const char *channel, const char *text, size_t len)
{
    const long at = dirt(text, len);
    if (at < 0 || dirty++ >= 5)
        return;
    char *name = sanitize_line(channel);
    printf("# %.60s: byte %02x at %ld of %zu\n", name, (unsigned char)text[at], at, len);
    free(name);
}

/* What went to standard error since the last look. */
static void clean_messages(const char *channel)
{
    const off_t len = lseek(messages, 0, SEEK_END);
    if (len <= 0)
        return;
    char *text = xcalloc(1, (size_t)len + 4);
    if (pread(messages, text, (size_t)len, 0) == len)
        clean(channel, text, (size_t)len);
    free(text);
    CU_ASSERT_EQUAL(ftruncate(messages, 0), 0);
    lseek(messages, 0, SEEK_SET);
}

static int saved_stderr;

static void hide_messages(void)
{
    dirty = 0;
    fflush(stderr);
    saved_stderr = dup(STDERR_FILENO);
    dup2(messages, STDERR_FILENO);
}

static void show_messages(void)
{
    CU_ASSERT_EQUAL(dirty, 0);
    fflush(stderr);
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
}

/* Each text through one channel. */
static void all(void (*channel)(const char *evil))
{
    hide_messages();
    seed = 1;
    for (int i = 0, n = text_count(); i < n; i++) {
        char *evil = hostile(i);
        channel(evil);
        free(evil);
    }
    show_messages();
}

/* ---- commands: what is typed, and what is said of it ---- */

/* Runs the line as the line reader would, and judges output and messages. */
static enum status run(const char *line)
{
    struct str out = {0};
    struct err err = ERR_INIT;
    const enum status st = command_line(session, line, &out, &err);
    clean(line, str_text(&out), out.len);
    front_report(session, st, &err, line, NULL);
    fflush(stderr);
    clean_messages(line);
    str_free(&out);
    return st;
}

/* @ is the text, quoted. */
static void run_with(const char *template, const char *evil)
{
    struct str line = {0};
    for (; *template; template ++)
        if (*template == '@')
            word_quote(&line, evil);
        else
            str_addc(&line, *template);
    run(str_text(&line));
    str_free(&line);
}

static void typed(const char *evil)
{
    static const char *const lines[] = {
        "@",
        "plan @",
        "plan naive gpu=@",
        "plan naive dtype=@",
        "plan naive --@",
        "explain @",
        "set @",
        "set input=@",
        "show @",
        "reset @",
        "source naive @",
        "kernels @",
        "devices @",
        "run naive shapes=@",
        "lesson @",
        "help @",
        "apropos @",
        "unalias @",
        "alias @ = show",
        "watch @ show",
        "history @",
        "occupancy threads=@",
        "compare naive,fa2 base=@",
        "open @",
        "record @",
        "source-file @",
        "timeline @",
        "sweep fa2 BR=16,@ metric=threads",
        "sweep fa2 S=@",
        "sweep @ S=1,2",
        "compare naive,@ gpu=L4",
        "report @",
        "export @",
        "edit @",
        "kernel @",
    };
    enum { LINES = sizeof lines / sizeof *lines };
    static unsigned turn;
    for (int i = 0; i < 3; i++) /* each text three lines, each line hundreds of texts */
        run_with(lines[turn++ % LINES], evil);
    run(evil);
    if (*evil != '!' && !strchr(evil, '|') && !strchr(evil, '>')) {
        struct str line = {0};
        str_addf(&line, "plan %s", evil);
        run(str_text(&line));
        str_free(&line);
    }
}

static void test_typed(void)
{
    session->may = session_kinds[SESSION_RESTRICTED]
                       .may; /* no shell and no files: thousands of them would be made */
    all(typed);
    session->may = session_kinds[SESSION_FREE].may;
}

static void aliased(const char *evil)
{
    run_with("alias zz = @", evil);
    run("alias");
    run("alias zz");
    run("save");
    run("log --csv");
    run("zz");
    int at, count;
    struct completion *c = command_complete(session, "z", 1, &at, &count);
    for (int i = 0; i < count; i++) {
        char *doc = sanitize_line(c[i].doc ? c[i].doc : "");
        clean("completion", c[i].text, strlen(c[i].text));
        free(doc);
    }
    command_complete_free(c, count);
    for (size_t i = 0; i < session->log.count; i++)
        free(session->log.items[i].text);
    session->log.count = 0;
}

static void test_aliased(void)
{
    session->may = session_kinds[SESSION_RESTRICTED].may;
    all(aliased);
    session->may = session_kinds[SESSION_FREE].may;
    run("unalias zz");
}

/* ---- rows: what workers, drivers, compilers, recordings and databases say ---- */

static const struct column row_columns[] = {
    {.field = "kernel", .title = "kernel", .left = true},
    {.field = "device", .title = "device", .left = true},
    {.field = "median_us", .title = "us"},
    {0},
};

/* As JSON has it: what is no UTF-8 cannot be in a string. */
static json_t *evil_string(const char *evil)
{
    json_t *s = json_string(evil);
    if (s)
        return s;
    struct str repaired = {0};
    for (const char *p = evil; *p;) {
        unsigned c;
        char utf8[4];
        p += str_utf8_next(p, &c);
        str_addn(&repaired, utf8, (size_t)str_utf8_put(utf8, c));
    }
    s = json_string(str_text(&repaired));
    str_free(&repaired);
    return s ? s : json_string("");
}

static void in_rows(const char *evil)
{
    json_t *row = json_object(), *rows = json_array();
    static const char *const fields[] = {"kernel", "device", "driver", "shape", "params", "reason"};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        json_object_set_new(row, fields[i], evil_string(evil));
    json_object_set_new(row, "median_us", json_real(1.5));
    json_object_set_new(row, "list",
                        json_pack("[o,{s:o}]", evil_string(evil), "x", evil_string(evil)));
    json_array_append_new(rows, row);
    static const enum format formats[] = {FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, FORMAT_MD};
    static const char *const names[] = {"text", "JSON", "CSV", "Markdown"};
    struct rowset set = {0};
    rowset_add_json(&set, rows);
    for (int f = 0; f < 4; f++) {
        struct str out = {0};
        rows_format(&out, &set, &(struct columns){.list = row_columns}, formats[f], 80);
        if (formats[f] == FORMAT_MD)
            rows_md_footer(&out, evil);
        clean(names[f], str_text(&out), out.len);
        str_free(&out);
    }
    session_remember_runs(session, &set, false, "run naive");
    rowset_clear(&set);
    json_decref(rows);
    run("show $last");
    run("show $last.device --json");
}

static void test_rows(void)
{
    all(in_rows);
}

/* ---- files from strangers: kernels, lessons, recordings, databases, settings ---- */

static void write_text(const char *path, const char *text, size_t len)
{
    FILE *f = fopen(path, "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    fwrite(text, 1, len, f);
    fclose(f);
}

/* Fifty texts a file. */
enum { BATCH = 50 };
static void batches(void (*channel)(const struct str *texts))
{
    struct str texts[BATCH] = {{0}};
    hide_messages();
    seed = 1;
    for (int i = 0, n = text_count(); i < n; i += BATCH) {
        for (int k = 0; k < BATCH; k++) {
            char *evil = hostile(i + k);
            str_add(&texts[k], evil);
            free(evil);
        }
        channel(texts);
        for (int k = 0; k < BATCH; k++)
            str_clear(&texts[k]);
    }
    show_messages();
    for (int k = 0; k < BATCH; k++)
        str_free(&texts[k]);
}

/* The text on one line, and without the end of a comment. */
static void add_flat(struct str *out, const char *text)
{
    for (; *text; text++)
        str_addc(out, *text == '\n' || *text == '*' ? '?' : *text);
}

static void in_kernel(const struct str *texts)
{
    char *path = xasprintf("%s/attnscope/kernels/evil.cu", dir);
    struct str s = {0};
    str_add(&s, "/*\n * @name evil\n * @title ");
    add_flat(&s, str_text(&texts[0]));
    str_add(&s, "\n * @idea ");
    add_flat(&s, str_text(&texts[1]));
    str_add(&s, "\n * @dtypes f32\n * @param BR 64 ");
    add_flat(&s, str_text(&texts[2]));
    str_add(&s, "\n * @threads BR\n * @smem dynamic Ks BR*4 ");
    add_flat(&s, str_text(&texts[3]));
    str_add(&s, "\n * @grid Sq H B\n * @requires D <= 128\n");
    for (int i = 4; i < BATCH; i++) {
        str_add(&s, " * ");
        add_flat(&s, str_text(&texts[i]));
        str_add(&s, "\n");
    }
    str_add(&s, " */\n");
    for (int i = 0; i < BATCH; i++)
        str_addf(&s, "// %s\n", str_text(&texts[i]));
    write_text(path, str_text(&s), s.len);
    registry_free(session->services.registry);
    session->services.registry = registry_new();
    static const char *const lines[] = {"kernels",
                                        "kernels --md",
                                        "kernels --json",
                                        "source evil",
                                        "plan evil f32",
                                        "plan evil f32 --json",
                                        "explain smem_bytes evil f32",
                                        "apropos evil"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        run(lines[i]);
    for (int i = 0; registry_problem(session->services.registry, i); i++)
        session_note(session, "%s", registry_problem(session->services.registry, i));
    clean_messages("a kernel's faults");
    unlink(path);
    free(path);
    str_free(&s);
}

static void test_kernels(void)
{
    batches(in_kernel);
    registry_free(session->services.registry);
    session->services.registry = registry_new();
}

static void in_broken_kernel(const struct str *texts)
{
    static const char *const tags[] = {"@name", "@param", "@grid", "@smem", "@requires", "@dtypes"};
    for (int i = 0; i < BATCH; i++) {
        char *path = xasprintf("%s/attnscope/kernels/evil.cu", dir);
        struct str s = {0};
        str_addf(&s, "/*\n * %s ", i % 6 ? "@name evil" : "");
        str_addf(&s, "\n * %s ", tags[i % 6]);
        add_flat(&s, str_text(&texts[i]));
        str_add(&s, "\n */\n");
        struct kernel_desc *d = NULL;
        struct err err = ERR_INIT;
        const struct desc_source src = {.file = path, .text = str_text(&s), .len = s.len};
        const enum status st = desc_parse_source(&src, &d, &err);
        front_report(session, st, &err, NULL, NULL);
        fflush(stderr);
        clean_messages("a descriptor's error");
        desc_free(d);
        free(path);
        str_free(&s);
    }
}

static void test_broken_kernels(void)
{
    batches(in_broken_kernel);
}

static void in_lesson(const struct str *texts)
{
    struct str s = {0};
    str_addf(&s, "# %s\n\n## %s\n\n", str_text(&texts[0]), str_text(&texts[1]));
    for (int i = 2; i < BATCH - 4; i++)
        str_addf(&s, "%s\n\n", str_text(&texts[i]));
    str_add(&s, "```attnscope\nchoice c : ");
    add_flat(&s, str_text(&texts[BATCH - 4]));
    str_add(&s, "\noption a when 1 : ");
    add_flat(&s, str_text(&texts[BATCH - 3]));
    str_add(&s, "\noption b when 0 : no\nhint ");
    add_flat(&s, str_text(&texts[BATCH - 2]));
    str_add(&s, "\nnote ");
    add_flat(&s, str_text(&texts[BATCH - 3]));
    str_add(&s, "\n```\n");
    struct lesson *l = NULL;
    struct err err = ERR_INIT;
    const enum status st = lesson_parse(str_text(&texts[BATCH - 1]), str_text(&s), s.len, &l, &err);
    front_report(session, st, &err, NULL, NULL);
    fflush(stderr);
    clean_messages("a lesson's error");
    if (!st) {
        clean("a lesson's title", lesson_title(l), strlen(lesson_title(l)));
        for (int i = 0; i < lesson_steps(l); i++)
            clean("a step's title", lesson_step_title(l, i), strlen(lesson_step_title(l, i)));
        struct lesson_run *r = lesson_run_new(session, l, 0, 80);
        struct str out = {0};
        for (int i = 0; r && i < 6; i++) {
            const struct lesson_screen *at = lesson_step(r);
            clean("a lesson's text", at->text, strlen(at->text));
            if (at->question)
                clean("a question", at->question, strlen(at->question));
            for (int k = 0; k < at->noptions; k++)
                clean("an option", at->options[k].text, strlen(at->options[k].text));
            (void)lesson_answer(r, i == 1 ? "words" : i ? "hint" : "", &out, &err);
            clean("an answer", str_text(&out), out.len);
            str_clear(&out);
        }
        lesson_run_free(r);
        str_clear(&out);
        lesson_notes(l, 0, 80, &out);
        clean("a note", str_text(&out), out.len);
        str_free(&out);
    }
    lesson_free(l);
    str_free(&s);
}

/* The questions, recordings and figures of a lesson, one hostile text each. */
static void in_directives(const char *evil)
{
    static const char *const lines[] = {
        "order o : @\nitem a = 1 : @\nitem b = 2 : x",
        "where w in fa2 : @\nat exp2f\nfrom // P = 2^\nto __syncwarp",
        "where w in @ : x\nat @",
        "where w in fa2 : x\nat @\nfrom @\nto @",
        "open @",
        "run naive | recorded @",
        "run @ | recorded h200-short",
        "figure smem @",
        "figure source fa2 from @ to @",
        "figure source @ diff",
        "say {$1.@:text} {@}",
    };
    static unsigned turn, text;
    struct str s = {0}, out = {0};
    struct lesson *l = NULL;
    if (text++ % 8) /* each takes a lesson from its beginning to its record */
        return;
    struct err err = ERR_INIT;
    str_add(&s, "# T\n\n## S\n\n```attnscope\n");
    for (const char *p = lines[turn++ % (sizeof lines / sizeof *lines)]; *p; p++)
        if (*p == '@')
            add_flat(&s, evil);
        else
            str_addc(&s, *p);
    str_add(&s, "\nhint h\n```\n");
    if (lesson_parse("x.md", str_text(&s), s.len, &l, &err) == ST_OK) {
        struct lesson_run *r = lesson_run_new(session, l, 0, 80);
        const struct lesson_screen *at = lesson_step(r);
        clean("a step's text", at->text, strlen(at->text));
        clean("a question", at->question ? at->question : "",
              at->question ? strlen(at->question) : 0);
        clean("a command", at->command ? at->command : "", at->command ? strlen(at->command) : 0);
        for (int i = 0; i < at->nlines; i++)
            clean("a line", at->lines[i], strlen(at->lines[i]));
        if (at->want == LESSON_RUN && str_starts(at->command, "open "))
            (void)lesson_answer(r, "", &out, &err);
        (void)lesson_answer(r, evil, &out, &err);
        clean("an answer", str_text(&out), out.len);
        lesson_run_free(r);
    }
    clean("a sentence", err.text, strlen(err.text));
    lesson_free(l);
    str_free(&out);
    str_free(&s);
}

static void test_directives(void)
{
    session->may = session_kinds[SESSION_RESTRICTED].may;
    all(in_directives);
    session->may = session_kinds[SESSION_FREE].may;
}

static void test_lessons(void)
{
    batches(in_lesson);
}

/* Rows with these texts in a database, as `results` finds them. */
static void in_results(const struct str *texts)
{
    struct store *st = session_store(session);
    CU_ASSERT_PTR_NOT_NULL_FATAL(st);
    for (int i = 0; i < BATCH; i++) {
        json_t *text = evil_string(str_text(&texts[i]));
        char *word = xstrdup(json_string_value(text));
        struct run_row row;
        record_init(run_fields, &row);
        row.kernel = word, row.device = word, row.shape = word, row.params = word;
        row.backend = word, row.driver = word, row.reason = word;
        row.median_us = 2;
        struct err err = ERR_INIT;
        (void)store_add(st, &row, word, NULL, &err);
        free(word);
        json_decref(text);
    }
    run("results limit=50");
    run("results limit=50 --json");
    run("results limit=50 --csv");
    run("results limit=50 --md");
}

static void test_results(void)
{
    batches(in_results);
}

static void in_recording(const struct str *texts)
{
    struct str file = {0};
    str_add(&file, "{\"type\":\"header\",\"format\":\"attnscope-recording\",\"format_version\":1,");
    for (int i = 0; i < BATCH; i++) {
        json_t *text = evil_string(str_text(&texts[i]));
        char *dumped = json_dumps(text, JSON_ENCODE_ANY);
        if (!i)
            str_addf(&file, "\"device\":%s,\"driver\":%s,\"time\":%s}\n", dumped, dumped, dumped);
        str_addf(&file,
                 "{\"type\":\"row\",\"time\":%s,\"command\":%s,\"row\":{\"kernel\":%s,\"shape\":%s,"
                 "\"device\":%s,\"backend\":%s,\"median_us\":3.5,\"reason\":%s}}\n",
                 dumped, dumped, dumped, dumped, dumped, dumped, dumped);
        free(dumped);
        json_decref(text);
    }
    char *path = xasprintf("%s/evil.rec", dir), *line = xasprintf("open %s/evil.rec", dir);
    char *json = xasprintf("%s --json", line);
    write_text(path, str_text(&file), file.len);
    run(line);
    run(json);
    write_text(path, str_text(&texts[1]), texts[1].len);
    run(line);
    unlink(path);
    free(path), free(line), free(json);
    str_free(&file);
}

static void test_recordings(void)
{
    batches(in_recording);
}

static void in_settings(const struct str *texts)
{
    char *path = xasprintf("%s/attnscope/config", dir);
    char *devices = xasprintf("%s/attnscope/devices", dir);
    struct str s = {0};
    for (int i = 0; i < BATCH; i++)
        str_addf(&s, "%s\nset %s\nset gpu=%s\n", str_text(&texts[i]), str_text(&texts[i]),
                 str_text(&texts[i]));
    session->may = session_kinds[SESSION_RESTRICTED].may;
    write_text(path, str_text(&s), s.len);
    session_load_config(session);
    fflush(stderr);
    clean_messages("the configuration");
    unlink(path);
    write_text(devices, str_text(&s), s.len);
    struct device_table *table = devices_new();
    for (int i = 0; devices_problem(table, i); i++)
        session_note(session, "%s", devices_problem(table, i));
    fflush(stderr);
    clean_messages("device models");
    devices_free(table);
    unlink(devices);
    char *history = xasprintf("%s/attnscope/history", dir);
    write_text(history, str_text(&s), s.len);
    run("history 100");
    unlink(history);
    session->may = session_kinds[SESSION_FREE].may;
    run("reset");
    free(history), free(devices), free(path);
    str_free(&s);
}

static void test_settings(void)
{
    batches(in_settings);
}

/* ---- the screen ---- */

static void on_screen(const char *evil)
{
    static struct canvas *c;
    if (!c)
        c = canvas_new(80, 24, GLYPHS_BLOCK);
    struct popup p = {0};
    struct str out = {0};
    char *line = sanitize_line(evil);
    canvas_clear(c);
    canvas_text(c, 0, 0, -1, ROLE_NORMAL, line); /* app_message() and all screens do it like this */
    popup_open(&p, evil, evil);
    popup_draw(&p, c);
    popup_close(&p);
    if (strlen(evil) <= SHORT) {
        prompt_open(session, ":", evil, true, NULL, NULL);
        prompt_draw(c, (struct rect){0, 23, 80, 1});
        prompt_close();
    }
    canvas_to_text(c, &out);
    clean("the canvas", str_text(&out), out.len);
    str_free(&out);
    free(line);
}

static void test_screen(void)
{
    all(on_screen);
}

static const struct tap_test tests[] = {
    {"typed, and in messages", test_typed},
    {"in aliases, scripts and the log", test_aliased},
    {"in rows as text, JSON, CSV and Markdown", test_rows},
    {"in kernels and their descriptors", test_kernels},
    {"in broken descriptors", test_broken_kernels},
    {"in lessons", test_lessons},
    {"in a lesson's questions, recordings and figures", test_directives},
    {"in the results database", test_results},
    {"in recordings", test_recordings},
    {"in the configuration, device models, history", test_settings},
    {"on the screen, in popups, at the prompt", test_screen},
};

static char *make_folder(const char *name)
{
    char *path = xasprintf("%s/%s", dir, name);
    mkdir(path, 0700);
    return path;
}

int main(void)
{
    static const char *const variables[] = {"HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME",
                                            "XDG_STATE_HOME", "XDG_CACHE_HOME"};
    if (!mkdtemp(dir) || chdir(dir))
        return 99;
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        setenv(variables[i], dir, 1);
    setenv("TERM", "xterm", 1);
    char *folder = make_folder("attnscope"), *kernels = make_folder("attnscope/kernels");
    messages = memfd_create("messages", MFD_CLOEXEC);
    command_register_core();
    session = session_new("test");
    lesson_register();
    front_plain(session);
    session->front.output = NULL;
    const int rc = tap_run("hostile", tests, sizeof tests / sizeof *tests);
    session_free(session);
    char *sweep = xasprintf("rm -rf '%s'", dir);
    if (system(sweep))
        fprintf(stderr, "%s stays\n", dir);
    free(sweep), free(folder), free(kernels);
    return rc;
}
