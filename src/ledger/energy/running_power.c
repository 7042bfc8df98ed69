/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/running_power.h"

#include "ledger/time/resident.h"

#include <math.h>

/*
 * Largest power of an activity in nW; it is far above the power of any device. A larger power counts as
 * unknown, so that sums do not overflow even if a malicious file leads to absurd powers.
 */
#define POWER_LIMIT_NW 1e15

static bool power_of(const struct kwhy_running_power *running, uint32_t row, int64_t *out_nw)
{
	const struct kwhy_activities *rows = &running->recording->activities;
	double length_ns = (double)(rows->end_ns[row] - rows->start_ns[row]);
	double power_nw = kwhy_ledger_activity_nj(running->ledger, running->recording, row) / length_ns * 1e9;

	if (!(fabs(power_nw) <= POWER_LIMIT_NW))
		return false;
	*out_nw = llround(power_nw);
	return true;
}

/*
 * Share of the multiprocessors that a kernel occupies, in units of 1 / KWHY_RESIDENT_FULL. A kernel of
 * unknown grid counts as one that fills the device.
 */
static uint64_t grid_of(const struct kwhy_running_power *running, uint32_t row)
{
	uint32_t blocks = running->recording->activities.blocks[row];
	uint32_t sm_count = running->recording->devices[running->device].sm_count;

	if (blocks == KWHY_UNKNOWN_BLOCKS || sm_count == 0 || blocks >= sm_count)
		return KWHY_RESIDENT_FULL;
	return KWHY_RESIDENT_FULL * blocks / sm_count;
}

static void change(struct kwhy_running_power *running, uint32_t row, int sign)
{
	bool kernel = running->recording->activities.kind[row] <= KWHY_ACTIVITY_GRAPH;
	int64_t power_nw;

	if (!power_of(running, row, &power_nw)) {
		running->unknown_count += (size_t)sign;
		return;
	}
	if (kernel) {
		running->kernel_count += (size_t)sign;
		running->kernel_power_nw += sign * power_nw;
		running->grid_sum += (uint64_t)sign * grid_of(running, row);
	} else {
		running->copy_count += (size_t)sign;
		running->copy_power_nw += sign * power_nw;
	}
}

double kwhy_running_power_nj(struct kwhy_running_power *running, const struct kwhy_sweep_interval *stretch)
{
	double length_s = (double)(stretch->end_ns - stretch->start_ns) * 1e-9;
	double idle_nj = kwhy_ledger_idle_nj(
		running->ledger, running->device, stretch->start_ns, stretch->end_ns);
	double kernel_nj, copy_nj, crowd;

	for (size_t i = 0; i < stretch->ended_count; i++)
		change(running, stretch->ended[i], -1);
	for (size_t i = 0; i < stretch->started_count; i++)
		change(running, stretch->started[i], 1);
	if (running->unknown_count ||
		kwhy_ledger_is_unrecorded(
			&running->ledger->devices[running->device], stretch->start_ns, stretch->end_ns))
		return NAN;
	crowd = fmax(1, (double)running->grid_sum / (double)KWHY_RESIDENT_FULL);
	kernel_nj = (double)running->kernel_power_nw * length_s - (double)running->kernel_count * idle_nj;
	copy_nj = (double)running->copy_power_nw * length_s - (double)running->copy_count * idle_nj;
	return idle_nj + kernel_nj / crowd + copy_nj;
}
