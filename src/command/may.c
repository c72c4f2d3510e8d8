/* may.c - see may.h.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#include "command/may.h"

#include <stddef.h>

#include "command/session.h"

const struct may_word may_words[] = {
    {MAY_WRITE, "write", "files that a command names"},
    {MAY_READ, "read", "packs, lessons, commands and shapes by their path"},
    {MAY_SHELL, "shell", "! and |, an editor"},
    {MAY_COMPILE, "compile", "sources that are not of this program"},
    {MAY_NATIVE, "native", "C and libraries that you have allowed"},
    {MAY_PYTHON, "python", "Python that you have allowed"},
    {MAY_ALLOW, "allow", "to allow it"},
    {MAY_CONNECT, "connect", "to choose another machine to run on"},
    {0},
};

const struct session_info session_kinds[SESSION_KINDS] = {
    [SESSION_FREE] = {"free", "as it is started",
                      MAY_WRITE | MAY_READ | MAY_SHELL | MAY_COMPILE | MAY_NATIVE | MAY_PYTHON |
                          MAY_ALLOW | MAY_CONNECT},
    [SESSION_RESTRICTED] = {"restricted", "attnscope --restricted", 0},
    [SESSION_COURSE] = {"course", "a lesson of this program",
                        MAY_COMPILE | MAY_NATIVE | MAY_PYTHON},
    [SESSION_LESSON] = {"lesson",
                        "a lesson of yours or someone's, its check, a pack that is graded",
                        MAY_COMPILE},
};

bool session_may(const struct session *s, enum may what)
{
    return (s->may & what) != 0;
}
