// mine.h - what eng.cu includes.
// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once
#define MINE_ONE 1.f
