/* SPDX-License-Identifier: GPL-2.0-only */
/* Units of the service manager, by the control groups that it makes for them. Pure. */
#ifndef QUARTZ_CORE_SYSTEMD_UNIT_H
#define QUARTZ_CORE_SYSTEMD_UNIT_H

#define QZ_UNIT_LENGTH 256 /* of a unit's name with its NUL; systemd allows no longer ones */

/*
 * The unit of a control group by its path: the innermost component with the name of a unit, a slice only if there is no
 * other; "" if there is none.
 */
void qz_systemd_unit__of_cgroup(const char *cgroup, char unit[QZ_UNIT_LENGTH]);

/*
 * The path of a process' control group, from the contents of /proc/PID/cgroup: that of the unified
 * hierarchy; where that is the root, of systemd's own, or of the first hierarchy in which it has another
 * one. "/" when it is the root of all, "" when text makes no sense. At most size - 1 bytes, cut.
 */
void qz_systemd_unit__cgroup_of(const char *text, char *cgroup, int size);

#endif
