/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/numa.h"

#include <linux/mempolicy.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NUMBERS_MAX = CPU_SETSIZE };

/* Reads the first line of the file `name` in <sys>/devices/system/node. false: it could not be read. */
static bool read_line(const char *sys, const char *name, char *line, size_t line_bytes)
{
	char path[512];
	FILE *file;
	bool read;

	snprintf(path, sizeof(path), "%s/devices/system/node/%s", sys, name);
	file = fopen(path, "re");
	if (!file)
		return false;
	read = fgets(line, (int)line_bytes, file) != NULL;
	fclose(file);
	return read;
}

/* Sets *out to the numbers of a list such as "0-3,8". Numbers that are too large for the set are ignored. */
static void parse_list(const char *list, cpu_set_t *out)
{
	CPU_ZERO(out);
	while (*list >= '0' && *list <= '9') {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < NUMBERS_MAX; first++)
			CPU_SET(first, out);
		list = *end == ',' ? end + 1 : end;
	}
}

static void read_node(const char *sys, struct kwhy_numa_node *node)
{
	static const char title[] = "MemTotal:";
	char name[64], line[4096];
	const char *total;

	snprintf(name, sizeof(name), "node%d/cpulist", node->node);
	if (read_line(sys, name, line, sizeof(line)))
		parse_list(line, &node->cpus);
	snprintf(name, sizeof(name), "node%d/meminfo", node->node);
	total = read_line(sys, name, line, sizeof(line)) ? strstr(line, title) : NULL;
	if (total)
		/* the file has the unit kB, which here is 1024 bytes */
		node->memory_bytes = (uint64_t)strtoull(total + strlen(title), NULL, 10) * 1024;
}

void kwhy_numa_read(const char *sys, struct kwhy_numa *out)
{
	char line[4096];
	cpu_set_t nodes;

	memset(out, 0, sizeof(*out));
	if (!read_line(sys, "has_memory", line, sizeof(line)))
		return;
	parse_list(line, &nodes);
	for (int node = 0; node < NUMBERS_MAX && out->count < KWHY_NUMA_NODES_MAX; node++) {
		if (!CPU_ISSET(node, &nodes))
			continue;
		out->nodes[out->count].node = node;
		read_node(sys, &out->nodes[out->count++]);
	}
}

/*
 * Number of bits of a mask, as it is passed to Linux, which reads one bit less than this number; so it is one
 * more than the mask has.
 */
static const unsigned long mask_bits = NUMBERS_MAX + 1UL;

static bool prefer(int node, struct kwhy_numa_policy *out)
{
	const size_t bits = 8 * sizeof(out->mask[0]);

	if (node < 0 || node >= NUMBERS_MAX)
		return false;
	*out = (struct kwhy_numa_policy){.mode = MPOL_PREFERRED};
	out->mask[(size_t)node / bits] = 1UL << ((size_t)node % bits);
	return true;
}

bool kwhy_numa_bind(void *memory, size_t bytes, int node)
{
	struct kwhy_numa_policy policy;

	return prefer(node, &policy) &&
		syscall(SYS_mbind, memory, bytes, policy.mode, policy.mask, mask_bits, 0) == 0;
}

bool kwhy_numa_prefer(int node, struct kwhy_numa_policy *out_before)
{
	struct kwhy_numa_policy policy;

	return prefer(node, &policy) &&
		syscall(SYS_get_mempolicy, &out_before->mode, out_before->mask, mask_bits, NULL, 0) == 0 &&
		syscall(SYS_set_mempolicy, policy.mode, policy.mask, mask_bits) == 0;
}

void kwhy_numa_restore(const struct kwhy_numa_policy *before)
{
	(void)syscall(SYS_set_mempolicy, before->mode, before->mask, mask_bits);
}

void kwhy_numa_stay(const cpu_set_t *cpus)
{
	cpu_set_t allowed;

	if (sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
		return;
	CPU_AND(&allowed, &allowed, cpus);
	if (CPU_COUNT(&allowed) > 0)
		sched_setaffinity(0, sizeof(allowed), &allowed);
}
