/* fuzz_command.c - whole commands, from the line to what they print, in a restricted session without a
 * worker: the answer is a status of ours with a sentence, and clean text. (Front ends clean the sentence.)
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sanitize.h"
#include "command/line/parse.h"
#include "command/session.h"

const char *const fuzz_seeds[] = {
    "plan fa2 S=4k f16 causal gpu=L4 --json",
    "plan all D=128 --md; occupancy threads=128 regs=80 smem=43780 gpu=L4 --csv",
    "sweep fa2 BR=16..64:x2 D=64,128 metric=occupancy_pct gpu=A100",
    "set S=2k H=4 gpu=H200; show; reset all; show --json",
    "explain limit_smem fa2 gpu=L4; why fa2,naive gpu=H100",
    "kernels --json; devices --csv; lessons; results last 3",
    "roofline fa2,naive S=1k gpu=L4 --json; timeline fa2 gpu=L4 S=1k",
    "source fa2 diff qtile_seq; help run; help occupancy; apropos smem",
    "alias p = \"plan naive\"; p S=64; alias; history",
    "open h200; compare fa2,fa3_warpspec --md; export figure=ratios",
    "export figure=smem fa2; tune fa2 gpu=L4; doctor",
    "check naive input=a.npy; record x.rec -- plan fa2; kernel add x.cu",
    "plan fa2; show $1.blocks_per_sm; plan $last",
    "plan decode_paged Sq=1 page=16; explain pool_bytes decode_paged page=7; sweep decode_paged "
    "page=1,16 metric=waves; set pages=both",
    NULL,
};
const char *const fuzz_tokens[] = {
    " ",      "=",       ",",       ";",           "..",       ":x2",   "--json",     "--csv",
    "--md",   "$1.",     "$last",   "gpu=",        "gpu=L4",   "S=",    "D=",         "H=",
    "Hkv=",   "B=0",     "Sk=7",    "BR=",         "f16",      "bf16",  "f32",        "fa2",
    "naive",  "splitkv", "all",     "metric=",     "plan",     "sweep", "occupancy ", "explain",
    "why",    "export ", "figure=", "results",     "timeline", "open",  "compare",    "16Ki",
    "1e308",  "-1",      "causal",  "layout=bshd", "base=",    "help ", "set ",       "reset ",
    "alias ", "\\x1b",   "\\xff",   "\\x00",       "\"",       "100%",  "nan",        "by=",
    "where ", "last ",   "page=",   "pages=both",  NULL,
};

const unsigned fuzz_cost = 20;

enum { SESSION_LINES = 100 };

/* A folder of its own, so that no file of the caller's is in the way, and no worker. */
static void leave_home(void)
{
    static char dir[] = "/tmp/attnscope-fuzz-XXXXXX";
    static bool done;
    if (done)
        return;
    done = true;
    if (!mkdtemp(dir) || chdir(dir) != 0)
        abort();
    setenv("HOME", dir, 1);
    setenv("ATTNSCOPE_WORKER", "/nonexistent", 1);
    setenv("ATTNSCOPE_COMPILE", "off", 1);
    setenv("NO_COLOR", "1", 1);
    command_register_core();
}

static struct session *session(void)
{
    static struct session *s;
    static int lines;
    leave_home();
    if (s && ++lines % SESSION_LINES == 0) {
        session_free(s);
        s = NULL;
    }
    if (!s) {
        s = session_new("fuzz");
        s->may = session_kinds[SESSION_RESTRICTED].may;
    }
    return s;
}

/* These wait for time to pass or for a person. */
static bool waits(const struct call_list *list)
{
    static const char *const verbs[] = {"watch", "quit", "lesson", "class", "edit", NULL};
    for (size_t i = 0; i < list->count; i++)
        for (const char *const *v = verbs; *v; v++)
            if (!list->calls[i]->entry || !strcmp(list->calls[i]->entry->name, *v))
                return true;
    return false;
}

static bool is_clean(const char *text, size_t len)
{
    struct str again = {0};
    sanitize(&again, text, len, true);
    const bool same = again.len == len && (!len || !memcmp(str_text(&again), text, len));
    str_free(&again);
    return same;
}

static int check_answer(enum status st, const struct err *err, const struct str *out, int len)
{
    if (!is_clean(str_text(out), out->len))
        return fuzz_broken("prints what no terminal should get");
    if (st == ST_OK)
        return 0;
    if (st != ST_NO && st != ST_USAGE && st != ST_FAIL && st != ST_CANCELLED && st != ST_NO_GPU)
        return fuzz_broken("status %d", (int)st);
    if (st != ST_NO && !*err->text)
        return fuzz_broken("status %d without a sentence", (int)st);
    if (err->at < -1 || (err->at >= 0 && err->at + err->len > len))
        return fuzz_broken("marks %d+%d of %d: %s", err->at, err->len, len, err->text);
    return 0;
}

/* One command that prints JSON and nothing else prints JSON. */
static int check_json(const struct call_list *list, enum status st, const struct str *out)
{
    bool asks = list->count == 1 && out->len && st == ST_OK;
    for (int i = 0; asks && i < list->calls[0]->noptions; i++)
        if (!strcmp(list->calls[0]->options[i].key, "--json")) {
            json_t *j = json_loadb(str_text(out), out->len, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
            const bool good = json_is_array(j);
            json_decref(j);
            return good ? 0 : fuzz_broken("--json gave no array");
        }
    return 0;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    char *line = xstrndup((const char *)data, size);
    struct session *s = session();
    struct call_list list;
    struct err err = ERR_INIT;
    struct str out = {0};
    int broken = 0;
    const bool parsed = parse_line(s, line, &list, &err) == ST_OK;
    if (!parsed || !waits(&list)) {
        err = (struct err)ERR_INIT;
        const enum status st = command_line(s, line, &out, &err);
        broken = check_answer(st, &err, &out, (int)strlen(line));
        if (!broken && parsed)
            broken = check_json(&list, st, &out);
    }
    call_list_clear(&list);
    str_free(&out);
    struct str none = {0};
    (void)command_line(s, "reset all", &none, NULL);
    str_free(&none);
    free(line);
    return broken;
}
