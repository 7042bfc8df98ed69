/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_HOST_PERF_POWER_H
#define KWHY_SENSOR_HOST_PERF_POWER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Energy counters of Linux's perf device "power", whose folder is for example
 * /sys/bus/event_source/devices/power. They count 64 bits from their opening, so they do not wrap.
 */

/*
 * Lists the CPUs to read, one for each package, from the device's "cpumask"; returns how many. 0: the device
 * does not exist.
 */
int kwhy_perf_power_cpus(const char *folder, int *out, int space);

/*
 * Opens an event such as "energy-pkg" on a CPU, for the whole machine. -1 with errno: ENOENT, the event does
 * not exist; EACCES, perf_event_paranoid is above 0 and the caller lacks CAP_PERFMON. Close with close().
 */
int kwhy_perf_power_open(const char *folder, const char *event, int cpu, double *out_scale_uj);

/* Reads the microjoules since the opening. */
bool kwhy_perf_power_read(int fd, double scale_uj, int64_t *out_uj);

#endif
