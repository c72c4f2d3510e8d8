/* quota.h - how much of the processors' time this process may have, where its control group says so.
 *
 * SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef ATTNSCOPE_BACKEND_QUOTA_H
#define ATTNSCOPE_BACKEND_QUOTA_H

/* In processors: 1.5 is a processor and a half, as `docker run --cpus=1.5` gives. The least of the process's control group and of
 * all groups around it, in version 1 or 2; INFINITY: none says so. */
double quota_cpus(void);
/* The same of a group file, as /proc/self/cgroup is one, and where groups are mounted. */
double quota_read(const char *group_file, const char *mounted);

#endif
