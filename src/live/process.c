/* SPDX-License-Identifier: Apache-2.0 */
#include "live/process.h"

#include "base/text.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COMMAND_BYTES = 16 }; /* the kernel keeps 15 bytes of a name; a newline follows */

/* Reads the kernel's name of a process. A process of another container has no name in this /proc. */
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

static struct kwhy_live_process *find(struct kwhy_live_process *processes, size_t count, int64_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (processes[i].pid == pid)
			return &processes[i];
	return NULL;
}

size_t kwhy_live_processes_make(
	const struct kwhy_sensor_process *listed, size_t count, struct kwhy_live_process *out)
{
	size_t made = 0;

	for (size_t i = 0; i < count; i++) {
		struct kwhy_live_process *same = find(out, made, listed[i].pid);

		if (!same) {
			out[made] = (struct kwhy_live_process){listed[i].pid, listed[i].memory_bytes, ""};
			read_command(&out[made++]);
		} else if (listed[i].memory_bytes >= 0 && same->memory_bytes >= 0) {
			same->memory_bytes += listed[i].memory_bytes;
		}
	}
	qsort(out, made, sizeof(*out), by_memory);
	return made;
}
