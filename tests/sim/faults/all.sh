#!/bin/sh
# Every planted fault, simulated: minutes.
# SPDX-License-Identifier: GPL-3.0-or-later
FAULTS_OF=all
export FAULTS_OF
exec "$(dirname "$0")/faults.sh"
