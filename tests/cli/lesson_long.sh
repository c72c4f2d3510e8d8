#!/bin/sh
# Every lesson through a pipe; lesson.sh by itself takes some.
# SPDX-License-Identifier: GPL-3.0-or-later
LESSONS=all exec "$(dirname "$0")/lesson.sh"
