/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_PERF_POWER_H
#define KWHY_SENSOR_PERF_POWER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Energy counters of Linux's perf device "power", found under a folder such as
 * /sys/bus/event_source/devices/power: 64 bits from their opening on, so that they do not wrap.
 */

/* The CPUs to ask, one for each package, as the device's "cpumask" lists them; gives how many, 0: no such
 * device. */
int kwhy_perf_power_cpus(const char *folder, int *out, int space);

/*
 * Opens an event such as "energy-pkg" on a CPU, for the whole machine. -1 with errno: ENOENT, there is no
 * such event; EACCES, perf_event_paranoid is above 0 and the caller lacks CAP_PERFMON. Close with close().
 */
int kwhy_perf_power_open(const char *folder, const char *event, int cpu, double *out_scale_uj);

/* Microjoules since the opening. */
bool kwhy_perf_power_read(int fd, double scale_uj, int64_t *out_uj);

#endif
