/* SPDX-License-Identifier: Apache-2.0 */
#include "live/process.h"

#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_BYTES = 16 }; /* /proc/PID/comm has at most 15 bytes of the name and a newline */

/*
 * Reads the name of a process from /proc/PID/comm. If there is none, as for a process of another container,
 * the name stays "".
 */
static void read_command(struct kwhy_live_process *process)
{
	char path[64], name[COMMAND_BYTES], clean[3 * COMMAND_BYTES + 1];
	ssize_t length = -1;
	int file;

	snprintf(path, sizeof(path), "/proc/%lld/comm", (long long)process->pid);
	file = open(path, O_RDONLY | O_CLOEXEC);
	if (file < 0)
		return;
	length = read(file, name, sizeof(name));
	close(file);
	if (length > 0 && name[length - 1] == '\n')
		length--;
	if (length <= 0)
		return;
	kwhy_text_sanitize(clean, name, (size_t)length);
	if (strlen(clean) < sizeof(process->command))
		memcpy(process->command, clean, strlen(clean) + 1);
}

static int by_memory(const void *left, const void *right)
{
	const struct kwhy_live_process *a = left, *b = right;

	if (a->memory_bytes != b->memory_bytes)
		return a->memory_bytes < b->memory_bytes ? 1 : -1;
	return (a->pid > b->pid) - (a->pid < b->pid);
}

/* Index of the entry of process `pid`; `count`: there is none. */
static size_t find(const struct kwhy_live_process *processes, size_t count, int64_t pid)
{
	size_t i = 0;

	while (i < count && processes[i].pid != pid)
		i++;
	return i;
}

size_t kwhy_live_processes_make(const struct kwhy_sensor_process *listed, size_t count,
	const struct kwhy_live_process *known, size_t known_count, struct kwhy_live_process *out)
{
	size_t made = 0;

	for (size_t i = 0; i < count; i++) {
		const size_t same = find(out, made, listed[i].pid),
			     before = find(known, known_count, listed[i].pid);

		if (same == made) {
			out[made] = before < known_count ? known[before]
							 : (struct kwhy_live_process){.pid = listed[i].pid};
			out[made].memory_bytes = listed[i].memory_bytes;
			if (before == known_count)
				read_command(&out[made]);
			made++;
		} else if (listed[i].memory_bytes >= 0 && out[same].memory_bytes >= 0) {
			out[same].memory_bytes += listed[i].memory_bytes;
		}
	}
	qsort(out, made, sizeof(*out), by_memory);
	return made;
}
