# slurm.sh - a Slurm of the test's own on this machine: munged, slurmctld and slurmd with keys, ports and state in its
# folder; ended with the test.
#
#   slurm_start      false: it is not to be had here; else $SLURM_CONF says to sbatch and others where it is
#   slurm_stop
#
# To be read after lib.sh. Packages: slurmctld slurmd slurm-client munge.
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# shellcheck disable=SC2154 # tmp

slurm_write() { # port
    cat >slurm/slurm.conf <<END
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$(id -un)
SlurmdUser=$(id -un)
SlurmctldPort=$1
SlurmdPort=$(($1 + 1))
AuthType=auth/munge
AuthInfo=socket=$tmp/slurm/munge.sock
StateSaveLocation=$tmp/slurm/state
SlurmdSpoolDir=$tmp/slurm/spool
SlurmctldPidFile=$tmp/slurm/slurmctld.pid
SlurmdPidFile=$tmp/slurm/slurmd.pid
SlurmctldLogFile=$tmp/slurm/slurmctld.log
SlurmdLogFile=$tmp/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SchedulerType=sched/builtin
SchedulerParameters=sched_interval=1,batch_sched_delay=0,sched_min_interval=0
SelectType=select/cons_tres
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
ReturnToService=2
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
}

slurm_start() {
    [ "$(id -u)" -eq 0 ] || return 1 # slurmd starts jobs as their user
    for program in munged slurmctld slurmd sbatch squeue; do
        PATH=$PATH:/usr/sbin:/sbin command -v $program >/dev/null || return 1
    done
    PATH=$PATH:/usr/sbin:/sbin
    host=$(hostname -s) || return 1
    mkdir slurm slurm/state slurm/spool
    chmod 755 "$tmp" slurm
    (umask 077; head -c 1024 /dev/urandom >slurm/munge.key)
    munged --force --key-file="$tmp/slurm/munge.key" --socket="$tmp/slurm/munge.sock" --pid-file="$tmp/slurm/munged.pid" \
        --log-file="$tmp/slurm/munge.log" --seed-file="$tmp/slurm/munge.seed" >/dev/null 2>&1 || return 1
    slurm_write $((20000 + ($$ * 11) % 12000))
    SLURM_CONF=$tmp/slurm/slurm.conf
    export SLURM_CONF
    trap 'slurm_stop; rm -rf "$tmp"' EXIT
    slurmctld -f "$SLURM_CONF" 2>/dev/null && slurmd -f "$SLURM_CONF" 2>/dev/null || return 1
    for _ in $(seq 100); do
        sinfo -h -o %T 2>/dev/null | grep -q idle && return 0
        sleep 0.1
    done
    return 1
}

slurm_stop() {
    for daemon in slurmd slurmctld munged; do
        if [ -s "slurm/$daemon.pid" ]; then kill "$(cat "slurm/$daemon.pid")"; fi 2>/dev/null
    done
    sleep 0.5
    for daemon in slurmd slurmctld munged; do
        if [ -s "slurm/$daemon.pid" ]; then kill -KILL "$(cat "slurm/$daemon.pid")"; fi 2>/dev/null
    done
    unset SLURM_CONF
}
