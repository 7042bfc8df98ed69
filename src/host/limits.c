/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the limits of CPU time and memory that cgroups set, version 2 and, where it is mounted, version 1,
 * and also the kind of container and the size of the memory.
 */
#include "host/facts.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A memory limit of at least this means "no limit": version 1 writes a number near 2^63, rounded down to
 * pages, for it.
 */
#define UNLIMITED_BYTES (INT64_C(1) << 60)

enum { GROUPS_BYTES = 1 << 14 };

static bool names_controller(const char *list, const char *controller)
{
	const size_t length = strlen(controller);

	for (const char *name = list;; name = strchr(name, ',') + 1) {
		if (strcspn(name, ",") == length && strncmp(name, controller, length) == 0)
			return true;
		if (!strchr(name, ','))
			return false;
	}
}

/*
 * Path of the cgroup of this process in the hierarchy of a controller of version 1, or, for "", in that of
 * version 2: for the lines "4:cpu,cpuacct:/slurm" and "0::/user.slice" of /proc/self/cgroup, "/slurm" with
 * controller "cpu", and "/user.slice" with "". "": the root group, or no such line.
 */
static void own_group(const struct kwhy_host_facts *facts, const char *controller, char out[PATH_MAX])
{
	char text[GROUPS_BYTES], *rest = NULL;

	out[0] = '\0';
	if (!kwhy_host_read_text(facts, "/proc/self/cgroup", text, sizeof(text)))
		return;
	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		char *list = strchr(line, ':'), *path = list ? strchr(list + 1, ':') : NULL;

		if (!path || path[1] != '/' || !path[2] || strlen(path + 1) >= PATH_MAX)
			continue;
		*path = '\0';
		if (names_controller(list + 1, controller)) {
			memcpy(out, path + 1, strlen(path + 1) + 1);
			return;
		}
	}
}

/*
 * Parses a line of cpu.max, quota and period in us, as a number of CPUs: "200000 100000" is 2; "max 100000",
 * no limit, is NAN.
 */
static double quota_of(const char *line)
{
	char *end;
	double granted = strtod(line, &end), period = strtod(end, NULL);

	return end != line && granted > 0 && period > 0 ? granted / period : NAN;
}

static double lower(double a, double b)
{
	return fmin(a, b); /* fmin() returns the other value if one is NAN, which means no limit */
}

static void lower_memory(struct kwhy_host_facts *facts, int64_t limit_bytes)
{
	if (limit_bytes > 0 && limit_bytes < UNLIMITED_BYTES &&
		(facts->memory_limit_bytes < 0 || limit_bytes < facts->memory_limit_bytes))
		facts->memory_limit_bytes = limit_bytes;
}

static void read_version_2(struct kwhy_host_facts *facts, const char *group)
{
	char path[PATH_MAX + 64], line[64];
	int64_t bytes;

	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
	if (kwhy_host_read_line(facts, path, line, sizeof(line)))
		facts->cpu_quota = lower(facts->cpu_quota, quota_of(line));
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/memory.max", group);
	if (kwhy_host_read_number(facts, path, &bytes))
		lower_memory(facts, bytes);
}

static void read_cpu_version_1(struct kwhy_host_facts *facts, const char *group)
{
	char path[PATH_MAX + 64];
	int64_t granted_us, period_us;

	snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_quota_us", group);
	if (!kwhy_host_read_number(facts, path, &granted_us))
		return;
	snprintf(path, sizeof(path), "/sys/fs/cgroup/cpu%s/cpu.cfs_period_us", group);
	if (kwhy_host_read_number(facts, path, &period_us) && granted_us > 0 && period_us > 0)
		facts->cpu_quota = lower(facts->cpu_quota, (double)granted_us / (double)period_us);
}

static void read_memory_version_1(struct kwhy_host_facts *facts, const char *group)
{
	char path[PATH_MAX + 64];
	int64_t bytes;

	snprintf(path, sizeof(path), "/sys/fs/cgroup/memory%s/memory.limit_in_bytes", group);
	if (kwhy_host_read_number(facts, path, &bytes))
		lower_memory(facts, bytes);
}

/*
 * Reads the limits of the cgroup of this process, in the hierarchy of a controller, and of all groups above
 * it: each limits the processes below it. In a container the path may be one of the host's; then only the
 * root group is there, which is the container's own.
 */
static void read_groups(struct kwhy_host_facts *facts, const char *controller,
	void (*read)(struct kwhy_host_facts *facts, const char *group))
{
	char group[PATH_MAX];

	for (own_group(facts, controller, group); *group; *strrchr(group, '/') = '\0')
		read(facts, group);
	read(facts, "");
}

static void read_container(struct kwhy_host_facts *facts)
{
	static const struct {
		const char *path, *kind;
	} marks[] = {
		{"/.dockerenv", "Docker"},
		{"/run/.containerenv", "Podman"},
		{"/var/run/secrets/kubernetes.io", "Kubernetes"},
		{"/.singularity.d", "Apptainer"},
		{"/run/systemd/container", "a container"},
	};

	for (size_t i = 0; !facts->container && i < sizeof(marks) / sizeof(marks[0]); i++)
		if (kwhy_host_exists(facts, marks[i].path))
			facts->container = marks[i].kind;
}

static void read_memory(struct kwhy_host_facts *facts)
{
	static const char key[] = "MemTotal:"; /* first line of /proc/meminfo; a number in KiB follows */
	char line[128];

	if (kwhy_host_read_line(facts, "/proc/meminfo", line, sizeof(line)) &&
		strncmp(line, key, strlen(key)) == 0)
		facts->memory_total_bytes = strtoll(line + strlen(key), NULL, 10) * 1024;
}

void kwhy_host_read_limits(struct kwhy_host_facts *facts)
{
	read_groups(facts, "", read_version_2);
	read_groups(facts, "cpu", read_cpu_version_1);
	read_groups(facts, "memory", read_memory_version_1);
	read_container(facts);
	read_memory(facts);
}
