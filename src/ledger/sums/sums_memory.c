/* SPDX-License-Identifier: Apache-2.0 */
#include "base/map.h"
#include "ledger/saturate.h"
#include "ledger/sums/sums.h"

#include "base/column.h"

#include <stdlib.h>

/* Memory in bytes that each process has on each device, by the latest statement of the process. */
struct held {
	uint64_t *of_process; /* memory of each pair of device and process, by the number of the pair in
				 watch.keys */
	size_t capacity;
	unsigned __int128 *of_device; /* [device_count] sum over the processes */
};

struct watch {
	struct kwhy_ledger *ledger;
	struct kwhy_map keys;
	struct held allocated, reserved;
};

static void raise_peak(uint64_t *peak, unsigned __int128 now)
{
	uint64_t bytes = now < KWHY_UNKNOWN_BYTES ? (uint64_t)now : KWHY_UNKNOWN_BYTES - 1;

	if (*peak == KWHY_UNKNOWN_BYTES || bytes > *peak)
		*peak = bytes;
}

static void follow_change(struct kwhy_memory_sum *sum, uint64_t before, uint64_t now)
{
	sum->taken_count += now > before;
	sum->given_back_count += now < before;
	if (now > before)
		sum->taken_bytes = kwhy_saturate_add_unsigned(sum->taken_bytes, now - before);
}

/*
 * Sets the memory that a process holds on a device to `bytes` (unknown: no change), and raises *peak to the
 * device's new sum. `changes` counts allocations and frees from the difference; NULL: they are not counted.
 * `number`: of the pair of device and process.
 */
static enum kwhy_status hold(struct held *held, uint32_t number, uint32_t device, uint64_t bytes,
	uint64_t *peak, struct kwhy_memory_sum *changes, struct kwhy_error *error)
{
	size_t known = held->capacity;
	enum kwhy_status status = kwhy_column_reserve((void **)&held->of_process, &held->capacity,
		(size_t)number + 1, sizeof(*held->of_process), "sums of memory", error);

	if (status)
		return status;
	for (size_t i = known; i < held->capacity; i++)
		held->of_process[i] = 0;
	if (bytes == KWHY_UNKNOWN_BYTES)
		return KWHY_OK;
	if (changes)
		follow_change(changes, held->of_process[number], bytes);
	held->of_device[device] += bytes;
	held->of_device[device] -= held->of_process[number];
	held->of_process[number] = bytes;
	raise_peak(peak, held->of_device[device]);
	return KWHY_OK;
}

static enum kwhy_status add_point(
	struct watch *watch, const struct kwhy_memory_point *point, struct kwhy_error *error)
{
	struct kwhy_memory_sum *sum = &watch->ledger->memory[point->device];
	uint64_t key = (uint64_t)point->device << 32 | point->process;
	/*
	 * Allocations and frees are counted from the allocated bytes if the framework's allocator states
	 * these; they are more detailed than the reserved bytes.
	 */
	const bool by_allocator = point->allocated_bytes != KWHY_UNKNOWN_BYTES;
	uint32_t number;
	enum kwhy_status status = kwhy_map_number(&watch->keys, key, &number, error);

	sum->point_count++;
	if (!status)
		status = hold(&watch->allocated, number, point->device, point->allocated_bytes,
			&sum->peak_allocated_bytes, by_allocator ? sum : NULL, error);
	if (!status)
		status = hold(&watch->reserved, number, point->device, point->reserved_bytes,
			&sum->peak_reserved_bytes, by_allocator ? NULL : sum, error);
	return status;
}

static void open_rows(struct kwhy_ledger *ledger, const struct kwhy_recording *recording)
{
	for (size_t device = 0; device < recording->device_count; device++) {
		uint64_t bytes = recording->devices[device].memory_bytes;

		ledger->memory[device] = (struct kwhy_memory_sum){
			.device = (uint32_t)device,
			.peak_allocated_bytes = KWHY_UNKNOWN_BYTES,
			.peak_reserved_bytes = KWHY_UNKNOWN_BYTES,
			.device_bytes = bytes ? bytes : KWHY_UNKNOWN_BYTES,
			.unused_bytes = KWHY_UNKNOWN_BYTES,
		};
	}
	ledger->memory_count = recording->device_count;
}

static void derive_unused(struct kwhy_memory_sum *sum)
{
	uint64_t used = sum->peak_reserved_bytes != KWHY_UNKNOWN_BYTES ? sum->peak_reserved_bytes
								       : sum->peak_allocated_bytes;

	if (sum->device_bytes == KWHY_UNKNOWN_BYTES || used == KWHY_UNKNOWN_BYTES)
		return;
	sum->unused_bytes = used < sum->device_bytes ? sum->device_bytes - used : 0;
}

static void watch_done(struct watch *watch)
{
	kwhy_map_done(&watch->keys);
	free(watch->allocated.of_process);
	free(watch->allocated.of_device);
	free(watch->reserved.of_process);
	free(watch->reserved.of_device);
}

enum kwhy_status kwhy_sums_memory(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	size_t count = recording->device_count;
	struct watch watch = {.ledger = ledger};
	enum kwhy_status status = KWHY_OK;

	(void)options;
	ledger->memory = kwhy_arena_alloc(&ledger->arena, count, sizeof(*ledger->memory));
	watch.allocated.of_device = calloc(count + 1, sizeof(*watch.allocated.of_device));
	watch.reserved.of_device = calloc(count + 1, sizeof(*watch.reserved.of_device));
	if (!ledger->memory || !watch.allocated.of_device || !watch.reserved.of_device)
		status = kwhy_fail_memory(error, "sums of memory");
	else
		open_rows(ledger, recording);
	for (size_t i = 0; !status && i < recording->memory_count; i++)
		status = add_point(&watch, &recording->memory[i], error);
	watch_done(&watch);
	for (size_t i = 0; !status && i < count; i++)
		derive_unused(&ledger->memory[i]);
	return status;
}
