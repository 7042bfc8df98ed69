/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/account_name.h"

#include "ledger/time/time_copies.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SIZE_NAME_BYTES = 40 };

/*
 * Prefixes of the names that CUPTI-based profilers, Kineto and the ROCm tracers give to copies and memsets.
 */
static const char *const generated_prefixes[] = {
	"Memcpy",
	"Memset",
	"[CUDA mem",
	"CopyHostTo",
	"CopyDeviceTo",
	"FillBuffer",
};

bool kwhy_account_name_is_generated(const char *name)
{
	if (*name == '\0')
		return true;
	for (size_t i = 0; i < sizeof(generated_prefixes) / sizeof(generated_prefixes[0]); i++)
		if (!strncmp(name, generated_prefixes[i], strlen(generated_prefixes[i])))
			return true;
	return false;
}

static const char *unit_of(unsigned power)
{
	static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

	return units[power / 10];
}

static void size_name(char out[SIZE_NAME_BYTES], uint64_t bytes)
{
	uint32_t low = kwhy_size_class_of(bytes);
	unsigned first = 1u << low % 10, last = 1u << (low + 1) % 10;

	if (low == KWHY_NONE)
		snprintf(out, SIZE_NAME_BYTES, "of unknown size");
	else if (low == 0)
		snprintf(out, SIZE_NAME_BYTES, "0-2 B");
	else if (unit_of(low) == unit_of(low + 1))
		snprintf(out, SIZE_NAME_BYTES, "%u-%u %s", first, last, unit_of(low));
	else
		snprintf(out, SIZE_NAME_BYTES, "%u %s-%u %s", first, unit_of(low), last, unit_of(low + 1));
}

void kwhy_account_name_copy(char out[KWHY_ACCOUNT_NAME_BYTES], const struct kwhy_activities *rows, size_t row)
{
	const char *kind = kwhy_copy_kind_name(rows->copy_kind[row]);
	char size[SIZE_NAME_BYTES];

	if (rows->copy_kind[row] == KWHY_COPY_UNKNOWN)
		kind = "copy";
	size_name(size, rows->bytes[row]);
	if (rows->src_memory[row] == KWHY_MEMORY_UNKNOWN && rows->dst_memory[row] == KWHY_MEMORY_UNKNOWN)
		snprintf(out, KWHY_ACCOUNT_NAME_BYTES, "%s %s", kind, size);
	else
		snprintf(out, KWHY_ACCOUNT_NAME_BYTES, "%s %s->%s %s", kind,
			kwhy_memory_kind_name(rows->src_memory[row]),
			kwhy_memory_kind_name(rows->dst_memory[row]), size);
}

void kwhy_account_name_memset(
	char out[KWHY_ACCOUNT_NAME_BYTES], const struct kwhy_activities *rows, size_t row)
{
	char size[SIZE_NAME_BYTES];

	size_name(size, rows->bytes[row]);
	if (rows->dst_memory[row] == KWHY_MEMORY_UNKNOWN)
		snprintf(out, KWHY_ACCOUNT_NAME_BYTES, "memset %s", size);
	else
		snprintf(out, KWHY_ACCOUNT_NAME_BYTES, "memset %s %s",
			kwhy_memory_kind_name(rows->dst_memory[row]), size);
}
