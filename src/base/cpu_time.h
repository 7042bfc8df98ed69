/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_CPU_TIME_H
#define KWHY_BASE_CPU_TIME_H

/*
 * Busy time in s of all CPUs of the machine together since its boot, whatever program used it: user, nice,
 * system and interrupt time of the first line of proc_stat(5), in steps of 10 ms for each CPU. Waiting and
 * time stolen by a hypervisor are not busy. NAN: not reported. `path` NULL: /proc/stat. Any thread.
 */
double kwhy_cpu_busy_s(const char *path);

/*
 * Modelled joules of a thread: packages_j, the energy of the CPU packages, times the thread's share part_s /
 * busy_s of all busy CPU time. NAN: an argument is unknown, packages_j is not above 0, or busy_s is not above
 * 0 or less than part_s.
 */
double kwhy_cpu_part_j(double packages_j, double part_s, double busy_s);

#endif
