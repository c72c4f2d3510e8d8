/* Lessons come from strangers: what is refused is refused with a sentence; what parses shows no
 * control character, runs only verbs that change nothing, and can be wrapped and filled in.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lesson/text/parsed.h"
#include "lesson/text/values.h"
#include "lesson/text/wrap.h"

const char *const fuzz_seeds[] = {
    "# T\n\n## S\n\nProse with `code` and *stress*.\n\n- a\n- b\n  1. c\n\n```attnscope\n"
    "predict x = $2.n / $1.n within 30% : How many?\nrun naive S=4 n=1\nsmall = run fa2 S=4\n"
    "reveal x : {$1.n:us} and {x}\nexpect $small.check && $small.1.n > 1 : no\nhint look\n```\n",
    "# T\n## S\n```attnscope\nchoice c : Which?\noption a when $last.m > 1 : this\n"
    "option b when !($last.m > 1) :\n  that\ntrace softmax\nreveal c\nkeep k = max(1, $fa2.n)\n"
    "needs cores 2\nsay {k:pct}\n```\n## Z\n\n> quote\n\n    code\n\n| a | b |\n|---|---|\n",
    "# T\n## S\n```attnscope\norder o within 5% : Which first?\nitem a = $1.n : this\n"
    "item b = $2.n : that\nwhere w in fa2 : Where?\nat exp2f\nfrom // P\nto }\n"
    "run naive S=4 | recorded h200-short\nopen h200-short fa2 S=4\nreveal o : {$1.device:text}\n"
    "figure smem fa2 S=4\nfigure source fa2 from a to b\nfigure timeline fa2\nnote hm\n"
    "reveal w\nexpect known(o) && $1.grid[0] > guess.w && $1.limiter.smem : no\n```\n",
    "T\n=\n\nS\n-\n\n~~~attnscope\ncompare fa2,naive base=naive\n~~~\n<!-- x -->\n&amp; \\x00 "
    "[l](u)\n",
    NULL,
};
const char *const fuzz_tokens[] = {
    "# ",       "## ",      "\n```attnscope\n",
    "\n```\n",  "\n\n",     "\n  ",
    "- ",       "1. ",      "> ",
    "***",      "`",        "run ",
    "check ",   "trace ",   "plan ",
    "predict ", "choice ",  "option ",
    "when ",    "reveal ",  "say ",
    "keep ",    "expect ",  "hint ",
    "needs ",   "gpu",      "cores 2",
    " : ",      " = ",      " within ",
    "$1.",      "$last.",   "{",
    "}",        ":us}",     "output=",
    "input=",   ".npy",     ">",
    ";",        "\x1b[31m", "\xe2\x80\xae",
    "\x9b",     "\\x00",    "\t",
    "\r",       "quit",     "999999999999",
    "order ",   "item ",    "where ",
    "at ",      "from ",    "to ",
    "open ",    " in fa2 ", " | recorded ",
    "[0]",      "known(",   ":text}",
    "py:",      "../",      "guess.",
    "figure ",  "smem ",    "timeline ",
    "source ",  " diff",    "note ",
    " origin=", "view=",    "backend=",
    NULL,
};

static bool is_clean(const char *text, bool lines)
{
    for (; text && *text; text++)
        if ((unsigned char)*text < 0x20 && !(lines && (*text == '\n' || *text == '\t')))
            return false;
    return true;
}

static int check_command(const char *line)
{
    static const char *const verbs[] = {
        "run",     "check",   "compare", "sweep",  "plan",  "occupancy", "roofline", "timeline",
        "kernels", "devices", "explain", "source", "trace", "open",      "audit",
    };
    size_t len = strcspn(line, " \t");
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strlen(verbs[i]) == len && memcmp(verbs[i], line, len) == 0)
            return strpbrk(line, ";><|") || strstr(line, " output=") || strstr(line, "\toutput=") ||
                           strstr(line, " py:") || (str_starts(line, "open ") && strchr(line, '/'))
                       ? fuzz_broken("let through: %s", line)
                       : 0;
    return fuzz_broken("a verb that is not for lessons: %s", line);
}

static int check_item(const struct values *v, const struct item *it)
{
    struct str s = {0};
    if (!is_clean(it->text, it->kind == ITEM_CODE))
        return fuzz_broken("a control character in a text");
    for (size_t i = 0; i < it->nanchors; i++)
        if (!is_clean(it->anchors[i], false) || !is_clean(it->from, false) ||
            !is_clean(it->to, false) || !is_clean(it->kernel, false))
            return fuzz_broken("a control character in a text of the source");
    if (it->recording &&
        strspn(it->recording, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_-") != strlen(it->recording))
        return fuzz_broken("a recording that is no name: %s", it->recording);
    for (size_t i = 0; i < it->noptions; i++)
        if (!is_clean(it->options[i].word, false) || !is_clean(it->options[i].text, false))
            return fuzz_broken("a control character in an option");
    if (it->text) {
        values_fill(v, it->text, &s);
        text_wrap(&s, it->text, 2, 40);
    }
    str_free(&s);
    if (it->kind == ITEM_FIGURE && it->command)
        return is_clean(it->command, false) ? check_command(it->command)
                                            : fuzz_broken("a control character in a figure");
    return it->kind == ITEM_RUN ? check_command(it->text) : 0;
}

static int check_lesson(const struct lesson *l)
{
    struct values v;
    int broken = 0;
    if (lesson_steps(l) < 1 || !is_clean(lesson_title(l), false))
        return fuzz_broken("no step, or a control character in the title");
    values_init(&v);
    for (size_t i = 0; !broken && i < l->nsteps; i++) {
        if (!is_clean(l->steps[i].title, false))
            broken = fuzz_broken("a control character in a heading");
        for (size_t j = 0; !broken && j < l->steps[i].nhints; j++)
            broken = is_clean(l->steps[i].hints[j], false) ? 0 : fuzz_broken("in a hint");
        for (size_t j = 0; !broken && j < l->steps[i].nnotes; j++)
            broken = is_clean(l->steps[i].notes[j], false) ? 0 : fuzz_broken("in a note");
        for (size_t j = 0; !broken && j < l->steps[i].nitems; j++)
            broken = check_item(&v, &l->steps[i].items[j]);
    }
    values_clear(&v);
    return broken;
}

int fuzz_one(const uint8_t *data, size_t size)
{
    struct lesson *l;
    struct err err = ERR_INIT;
    enum status st = lesson_parse("x.md", (const char *)data, size, &l, &err);
    if (st != ST_OK)
        return l || !*err.text || !is_clean(err.text, false)
                   ? fuzz_broken("refused without a clean sentence: %s", err.text)
                   : 0;
    int broken = check_lesson(l);
    lesson_free(l);
    return broken;
}
