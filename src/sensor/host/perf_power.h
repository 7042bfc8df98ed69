/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SENSOR_HOST_PERF_POWER_H
#define KWHY_SENSOR_HOST_PERF_POWER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Energy counters of Linux's perf device "power". Its folder is for example
 * /sys/bus/event_source/devices/power. The counters have 64 bits and start at 0 when they are opened, so they
 * do not wrap.
 */

/*
 * Gets the CPUs on which to read the counters, one for each package, from the device's attribute "cpumask".
 * Writes at most `space` and returns how many; 0: the device does not exist or its list is malformed.
 */
int kwhy_perf_power_cpus(const char *folder, int *out, int space);

/*
 * Opens the counter of an event such as "energy-pkg" on a CPU. It counts for all processes. Returns a
 * descriptor, to be closed with close(), or -1 with errno. ENOENT: the event does not exist. EACCES:
 * perf_event_paranoid is above 0 and the caller lacks CAP_PERFMON.
 */
int kwhy_perf_power_open(const char *folder, const char *event, int cpu, double *out_scale_uj);

/* Reads the microjoules that were counted since the counter was opened. False: the read failed. */
bool kwhy_perf_power_read(int fd, double scale_uj, int64_t *out_uj);

#endif
