/* lesson_keys.c - which keys of a lesson do something at this moment; the key line offers no others.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/screens/lesson_state.h"

/* Enter turns pages first; then a choice waits for a letter. */
static bool enter_leads_on(const struct lessons *l)
{
    if (l->picking || textview_more(&l->text))
        return true;
    return l->want != LESSON_CHOICE && (l->want != LESSON_LINE || l->nlines > 0);
}

bool lesson_offers(const void *ctx, enum action action)
{
    const struct lessons *l = ctx;
    const bool over = l->want == LESSON_READ || l->want == LESSON_DONE;
    if (!l->run)
        return true;
    switch (action) {
    case ACT_NEXT:
        return enter_leads_on(l);
    case ACT_ANSWER_A:
        return l->want == LESSON_CHOICE;
    case ACT_HINT:
        return l->hints_left > 0 && !over;
    case ACT_EXPLAIN:
        return l->has_words;
    case ACT_TRY:
        return l->try_out != NULL;
    case ACT_VIEW:
        return l->nfigures > 0;
    default:
        return true;
    }
}
