/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BASE_CPU_TIME_H
#define KWHY_BASE_CPU_TIME_H

/*
 * CPU time in seconds that all CPUs of the machine together were busy since its start, for anybody: user,
 * nice, system and interrupts of the first line of proc_stat(5), in steps of 10 ms a CPU. Waiting and time
 * stolen by a hypervisor are none. NAN: not reported. `path` NULL: /proc/stat. Any thread.
 */
double kwhy_cpu_busy_s(const char *path);

/*
 * The part of the packages' joules that a thread's CPU time stands for, modelled: as much as of all CPU time.
 * NAN: one of them is not known, no energy is there to be shared out, or the whole is less than its part.
 */
double kwhy_cpu_part_j(double packages_j, double part_s, double busy_s);

#endif
