/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes the parser that finds a process's owner in /proc/PID/cgroup. Containers choose the paths in that
 * file.
 */
#include "owners/cgroup.h"

#include "base/text.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	char *text = malloc(length + 1);
	struct kwhy_cgroup cgroup;
	const struct kwhy_owner *owner = &cgroup.owner;

	if (!text)
		return 0;
	if (length)
		memcpy(text, data, length);
	kwhy_cgroup_parse(text, length, &cgroup);
	if (!kwhy_text_is_clean(owner->name, strlen(owner->name)) ||
		!kwhy_text_is_clean(owner->part, strlen(owner->part)) || *owner->user || *owner->space)
		abort();
	if (cgroup.cpu_path.length && (cgroup.cpu_path.bytes < text || cgroup.cpu_path.length > length))
		abort();
	free(text);
	return 0;
}
