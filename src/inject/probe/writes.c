/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/writes.h"

/*
 * Allocations up to this size that a launch reaches are always predicted to be written, since they may be
 * counters or workspaces.
 */
#define SMALL_BYTES (UINT64_C(2) << 20)
#define MARGIN_BYTES KWHY_PROBE_CHUNK_BYTES
/*
 * If a launch reaches at most this much memory, its writes are observed at every burst, even if predictions
 * were right so far; that takes at most some 10 ms on an H200.
 */
#define LOOKED_AT_BYTES (UINT64_C(8) << 30)
enum { HITS_ENOUGH = 3, MISSES_MAX = 16 };

struct kwhy_probe_writes *kwhy_probe_writes_of(
	struct kwhy_probe_writes *all, const struct kwhy_probe_account *account)
{
	for (size_t i = 0; i < KWHY_PROBE_WRITERS; i++)
		if (!all[i].account || all[i].account == account) {
			all[i].account = account;
			return &all[i];
		}
	return NULL;
}

static uint64_t chunks_of(uint64_t bytes)
{
	return (bytes + KWHY_PROBE_CHUNK_BYTES - 1) / KWHY_PROBE_CHUNK_BYTES;
}

uint64_t kwhy_probe_writes_chunks(const struct kwhy_probe_reach *reach)
{
	uint64_t chunks = 0;

	for (size_t i = 0; i < reach->count; i++)
		chunks += chunks_of(reach->ranges[i].bytes);
	return chunks;
}

static void save(struct kwhy_probe_saved *out, struct kwhy_probe_range range)
{
	for (size_t i = out->count; i-- > 0;) {
		const struct kwhy_probe_range *at = &out->ranges[i];

		/*
		 * Ranges that only touch each other are not merged: they may be two allocations, and one copy
		 * may not span both.
		 */
		if (range.address >= at->address + at->bytes || at->address >= range.address + range.bytes)
			continue;
		const kwhy_cuda_address end = at->address + at->bytes > range.address + range.bytes
			? at->address + at->bytes
			: range.address + range.bytes;

		range.address = at->address < range.address ? at->address : range.address;
		range.bytes = end - range.address;
		out->bytes -= at->bytes;
		out->ranges[i] = out->ranges[--out->count];
		i = out->count; /* the merged range may overlap ranges that were passed already, so the search
				   starts again at the end */
	}
	out->bytes += range.bytes;
	out->ranges[out->count++] = range;
}

static const struct kwhy_probe_range *range_of(
	const struct kwhy_probe_reach *reach, kwhy_cuda_address address)
{
	for (size_t i = 0; i < reach->count; i++)
		if (address - reach->ranges[i].address < reach->ranges[i].bytes)
			return &reach->ranges[i];
	return NULL;
}

static struct kwhy_probe_range stretch_of(
	const struct kwhy_probe_range *range, kwhy_cuda_address pointer, int64_t low, int64_t high)
{
	const int64_t at = (int64_t)(pointer - range->address), end = (int64_t)range->bytes;
	int64_t from = at + low - MARGIN_BYTES, to = at + high + MARGIN_BYTES;

	from = from < 0 ? 0 : from > end ? end : from;
	to = to < from ? from : to > end ? end : to;
	return (struct kwhy_probe_range){range->address + (uint64_t)from, (size_t)(to - from)};
}

void kwhy_probe_writes_predict(const struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach,
	struct kwhy_probe_saved *out)
{
	out->count = 0;
	out->bytes = 0;
	for (size_t i = 0; i < reach->count; i++)
		if (reach->ranges[i].bytes <= SMALL_BYTES)
			save(out, reach->ranges[i]);
	for (size_t i = 0; i < writes->count; i++)
		for (size_t k = 0; k < reach->pointer_count; k++)
			if (reach->pointers[k].slot == writes->at[i].slot) {
				const struct kwhy_probe_range stretch = stretch_of(
					range_of(reach, reach->pointers[k].address),
					reach->pointers[k].address, writes->at[i].low, writes->at[i].high);

				if (stretch.bytes)
					save(out, stretch);
				break;
			}
}

static bool is_saved(const struct kwhy_probe_saved *saved, kwhy_cuda_address address, uint64_t bytes)
{
	for (size_t i = 0; i < saved->count; i++)
		if (address >= saved->ranges[i].address &&
			address + bytes <= saved->ranges[i].address + saved->ranges[i].bytes)
			return true;
	return false;
}

/*
 * The pointer through which a chunk of `range` was presumably written: of the parameters' pointers into that
 * range, the one with the highest address below the chunk's end or, if there is none, the one with the lowest
 * address. NULL: no pointer points into the range.
 */
static const struct kwhy_probe_pointer *writer_of(const struct kwhy_probe_reach *reach,
	const struct kwhy_probe_range *range, kwhy_cuda_address chunk_end)
{
	const struct kwhy_probe_pointer *last = NULL, *first = NULL;

	for (size_t i = 0; i < reach->pointer_count; i++) {
		const struct kwhy_probe_pointer *at = &reach->pointers[i];

		if (at->address - range->address >= range->bytes)
			continue;
		if (at->address < chunk_end && (!last || at->address > last->address))
			last = at;
		if (!first || at->address < first->address)
			first = at;
	}
	return last ? last : first;
}

static void widen(struct kwhy_probe_writes *writes, uint32_t slot, int64_t low, int64_t high)
{
	for (size_t i = 0; i < writes->count; i++)
		if (writes->at[i].slot == slot) {
			writes->at[i].low = low < writes->at[i].low ? low : writes->at[i].low;
			writes->at[i].high = high > writes->at[i].high ? high : writes->at[i].high;
			return;
		}
	if (writes->count == KWHY_PROBE_SLOTS) {
		writes->is_full = true;
		return;
	}
	writes->at[writes->count].slot = slot;
	writes->at[writes->count].low = low;
	writes->at[writes->count++].high = high;
}

static bool learn_range(struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach,
	const struct kwhy_probe_range *range, const struct kwhy_probe_saved *saved, const uint64_t *changed)
{
	const uint64_t chunks = chunks_of(range->bytes);
	bool is_predicted = true;

	for (uint64_t i = 0; i < chunks; i++) {
		const kwhy_cuda_address from = range->address + i * KWHY_PROBE_CHUNK_BYTES;
		const uint64_t left = range->bytes - i * KWHY_PROBE_CHUNK_BYTES,
			       bytes = left < KWHY_PROBE_CHUNK_BYTES ? left : KWHY_PROBE_CHUNK_BYTES;

		if (!changed[i] || is_saved(saved, from, bytes))
			continue;
		const struct kwhy_probe_pointer *pointer = writer_of(reach, range, from + bytes);

		is_predicted = false;
		if (pointer)
			widen(writes, pointer->slot, (int64_t)(from - pointer->address),
				(int64_t)(from + bytes - pointer->address));
	}
	return is_predicted;
}

bool kwhy_probe_writes_learn(struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach,
	const struct kwhy_probe_saved *saved, const uint64_t *changed)
{
	bool is_predicted = true;

	for (size_t i = 0; i < reach->count; i++) {
		is_predicted &= learn_range(writes, reach, &reach->ranges[i], saved, changed);
		changed += chunks_of(reach->ranges[i].bytes);
	}
	writes->hits = is_predicted && (!writes->hits || writes->signature == reach->signature)
		? writes->hits + 1
		: is_predicted;
	writes->misses += !is_predicted;
	writes->launches++;
	writes->signature = reach->signature;
	return is_predicted;
}

bool kwhy_probe_writes_are_sure(const struct kwhy_probe_writes *writes, const struct kwhy_probe_reach *reach)
{
	return reach->bytes > LOOKED_AT_BYTES && writes->hits >= HITS_ENOUGH &&
		writes->signature == reach->signature;
}

bool kwhy_probe_writes_are_regular(const struct kwhy_probe_writes *writes)
{
	return !writes->is_full && writes->misses <= MISSES_MAX + writes->hits;
}
