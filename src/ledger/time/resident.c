/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/time/resident.h"

/*
 * BLOCKS_MAX: upper bound on the blocks that a multiprocessor holds since compute capability 5.0, but for
 * those in most_blocks() (CUDA programming guide, "Technical Specifications per Compute Capability").
 * Registers are allocated to a warp of 32 threads in units of 256 (CUDA occupancy calculator).
 */
enum { BLOCKS_MAX = 32, WARP_THREADS = 32, REGISTER_UNIT = 256 };

static uint64_t most_blocks(const struct kwhy_device *device)
{
	static const struct {
		uint32_t major, minor;
		uint64_t blocks;
	} fewer[] = {{7, 5, 16}, {8, 6, 16}, {8, 7, 16}, {8, 9, 24}, {11, 0, 24}, {12, 0, 24}, {12, 1, 24}};

	for (size_t i = 0; i < sizeof(fewer) / sizeof(fewer[0]); i++)
		if (fewer[i].major == device->compute_major && fewer[i].minor == device->compute_minor)
			return fewer[i].blocks;
	return BLOCKS_MAX;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
	return (value + unit - 1) / unit * unit;
}

static uint64_t registers_of_block(const struct kwhy_activities *rows, size_t row)
{
	uint64_t warps = round_up(rows->threads_per_block[row], WARP_THREADS) / WARP_THREADS;

	return warps * round_up((uint64_t)rows->registers[row] * WARP_THREADS, REGISTER_UNIT);
}

/*
 * Lowers *blocks to the number of blocks that one resource of a multiprocessor allows: held / need. held:
 * amount that the multiprocessor has; need: amount that a block takes; 0: unknown. False: one of them is
 * unknown, and *blocks stays.
 */
static bool limit_blocks(uint64_t *blocks, uint64_t held, uint64_t need)
{
	if (held == 0 || need == 0)
		return false;
	if (held / need < *blocks)
		*blocks = held / need;
	return true;
}

static uint64_t blocks_per_multiprocessor(
	const struct kwhy_device *device, const struct kwhy_activities *rows, size_t row)
{
	bool threads_known = rows->threads_per_block[row] != KWHY_UNKNOWN_U16;
	uint64_t blocks = most_blocks(device);
	bool limited = false;

	if (threads_known)
		limited |= limit_blocks(&blocks, device->threads_per_sm, rows->threads_per_block[row]);
	if (threads_known && rows->registers[row] != KWHY_UNKNOWN_U16)
		limited |= limit_blocks(&blocks, device->registers_per_sm, registers_of_block(rows, row));
	if (rows->shared_bytes[row] != KWHY_NONE)
		limited |= limit_blocks(&blocks, device->shared_bytes_per_sm, rows->shared_bytes[row]);
	return limited && blocks > 0 ? blocks : 1;
}

bool kwhy_resident_share(
	const struct kwhy_device *device, const struct kwhy_activities *rows, size_t row, uint64_t *out_share)
{
	uint64_t held;

	if (device->sm_count == 0 || rows->blocks[row] == KWHY_UNKNOWN_BLOCKS)
		return false;
	held = device->sm_count * blocks_per_multiprocessor(device, rows, row);
	*out_share = rows->blocks[row] >= held ? KWHY_RESIDENT_FULL
					       : KWHY_RESIDENT_FULL * rows->blocks[row] / held;
	return true;
}

/*
 * Adds (sign 1) or removes (sign -1) a running kernel; other activities are ignored. The sums are unsigned:
 * subtraction by wrapping is exact.
 */
static void change(struct kwhy_resident *resident, const struct kwhy_recording *recording, uint32_t device,
	uint32_t row, int sign)
{
	const struct kwhy_activities *rows = &recording->activities;
	uint64_t share;

	if (rows->kind[row] > KWHY_ACTIVITY_GRAPH)
		return;
	if (kwhy_resident_share(&recording->devices[device], rows, row, &share))
		resident->share_sum += (uint64_t)sign * share;
	else
		resident->unknown_count += (size_t)sign;
}

uint64_t kwhy_resident_follow(struct kwhy_resident *resident, const struct kwhy_recording *recording,
	uint32_t device, const struct kwhy_sweep_interval *stretch)
{
	for (size_t i = 0; i < stretch->ended_count; i++)
		change(resident, recording, device, stretch->ended[i], -1);
	for (size_t i = 0; i < stretch->started_count; i++)
		change(resident, recording, device, stretch->started[i], 1);
	return resident->share_sum < KWHY_RESIDENT_FULL ? resident->share_sum : KWHY_RESIDENT_FULL;
}
