/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/host/perf_power.h"

#include "sensor/attribute.h"

#include <ctype.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { CPUS_MAX = 1 << 16 };

/*
 * Reads a range such as "3" or "3-5" from a list of CPUs, and moves *list past it and the comma that follows.
 * False: the list has ended or is malformed.
 */
static bool take_range(const char **list, long *out_first, long *out_last)
{
	char *end;

	if (!isdigit((unsigned char)**list))
		return false;
	*out_first = *out_last = strtol(*list, &end, 10);
	if (*end == '-' && isdigit((unsigned char)end[1]))
		*out_last = strtol(end + 1, &end, 10);
	*list = *end == ',' ? end + 1 : end;
	return *out_first <= *out_last && *out_last < CPUS_MAX;
}

int kwhy_perf_power_cpus(const char *folder, int *out, int space)
{
	char text[KWHY_ATTRIBUTE_BYTES];
	const char *list = text;
	long first, last;
	int count = 0;

	if (!kwhy_attribute_text(text, folder, "cpumask"))
		return 0;
	while (take_range(&list, &first, &last))
		for (long cpu = first; cpu <= last && count < space; cpu++)
			out[count++] = (int)cpu;
	return count;
}

/* Reads an event's number from its attribute, which has the form "event=0x02". */
static bool read_config(const char *folder, const char *event, uint64_t *out)
{
	char text[KWHY_ATTRIBUTE_BYTES], name[64], *end;

	snprintf(name, sizeof(name), "events/%s", event);
	if (!kwhy_attribute_text(text, folder, name) || strncmp(text, "event=", 6) != 0)
		return false;
	*out = strtoull(text + 6, &end, 0);
	return *end == '\0';
}

/* Reads an event's scale, in joules per count, and converts it to microjoules per count. */
static bool read_scale(const char *folder, const char *event, double *out_uj)
{
	char text[KWHY_ATTRIBUTE_BYTES], name[64];
	double scale;

	snprintf(name, sizeof(name), "events/%s.unit", event);
	if (!kwhy_attribute_text(text, folder, name) || strcmp(text, "Joules") != 0)
		return false;
	snprintf(name, sizeof(name), "events/%s.scale", event);
	if (!kwhy_attribute_text(text, folder, name))
		return false;
	scale = strtod(text, NULL);
	*out_uj = scale * 1e6;
	return scale > 0 && scale <= 1;
}

int kwhy_perf_power_open(const char *folder, const char *event, int cpu, double *out_scale_uj)
{
	struct perf_event_attr attributes;
	int64_t type;
	uint64_t config;
	double scale_uj;
	int fd;

	if (!kwhy_attribute_integer(&type, folder, "type") || !read_config(folder, event, &config) ||
		!read_scale(folder, event, &scale_uj)) {
		errno = ENOENT;
		return -1;
	}
	memset(&attributes, 0, sizeof(attributes));
	attributes.size = sizeof(attributes);
	attributes.type = (uint32_t)type;
	attributes.config = config;
	fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
	if (fd >= 0)
		*out_scale_uj = scale_uj;
	return fd;
}

bool kwhy_perf_power_read(int fd, double scale_uj, int64_t *out_uj)
{
	uint64_t counts;
	double energy_uj;

	if (read(fd, &counts, sizeof(counts)) != (ssize_t)sizeof(counts))
		return false;
	energy_uj = (double)counts * scale_uj;
	if (energy_uj >= (double)INT64_MAX)
		return false;
	*out_uj = (int64_t)energy_uj;
	return true;
}
