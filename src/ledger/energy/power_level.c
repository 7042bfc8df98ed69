/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/power_level.h"

#include <math.h>
#include <stdlib.h>

#define FILL_UNIT 0x1p32

enum kwhy_status kwhy_power_levels_init(struct kwhy_power_levels *levels,
	const struct kwhy_device_ledger *device_ledger, const struct kwhy_power_classes *classes,
	const struct kwhy_recording *recording, uint32_t device, uint32_t sm_count, struct kwhy_error *error)
{
	size_t count = classes->count + 1;

	*levels = (struct kwhy_power_levels){
		.recording = recording,
		.device_ledger = device_ledger,
		.classes = classes,
		.first = recording->activities.first[device],
		.sm_count = sm_count,
		.running = calloc(count, sizeof(*levels->running)),
		.active = calloc(count, sizeof(*levels->active)),
		.is_active = calloc(count, sizeof(*levels->is_active)),
		.net = calloc(count, sizeof(*levels->net)),
		.base = calloc(count, sizeof(*levels->base)),
	};
	if (levels->running && levels->active && levels->is_active && levels->net && levels->base)
		return KWHY_OK;
	kwhy_power_levels_done(levels);
	return kwhy_fail_memory(error, "power classes");
}

void kwhy_power_levels_done(struct kwhy_power_levels *levels)
{
	free(levels->running);
	free(levels->active);
	free(levels->is_active);
	free(levels->net);
	free(levels->base);
	*levels = (struct kwhy_power_levels){0};
}

static uint32_t class_of(const struct kwhy_power_levels *levels, uint32_t row)
{
	return levels->device_ledger->accounts[levels->device_ledger->account_of[row - levels->first]]
		.power_class;
}

static void change(struct kwhy_power_levels *levels, uint32_t row, int sign)
{
	uint32_t class = class_of(levels, row);

	levels->running[class] += (size_t)sign;
	if (!levels->is_active[class]) {
		levels->is_active[class] = true;
		levels->active[levels->active_count++] = class;
	}
	if (!levels->classes->priors[class].beside) {
		double fill = kwhy_power_grid_fill(
			levels->recording->activities.blocks[row], levels->sm_count);

		/* A kernel of unknown grid counts as one that fills the device. */
		levels->fill_sum += (uint64_t)sign * (uint64_t)(isnan(fill) ? FILL_UNIT : fill * FILL_UNIT);
	}
}

/* Removes from `active` the classes that had no running activity in the interval that ends now. */
static void drop_ended(struct kwhy_power_levels *levels)
{
	size_t kept = 0;

	for (size_t i = 0; i < levels->active_count; i++) {
		uint32_t class = levels->active[i];

		levels->is_active[class] = levels->running[class] > 0;
		if (levels->is_active[class])
			levels->active[kept++] = class;
	}
	levels->active_count = kept;
}

void kwhy_power_levels_follow(struct kwhy_power_levels *levels, const struct kwhy_sweep_interval *stretch)
{
	drop_ended(levels);
	for (size_t i = 0; i < stretch->ended_count; i++)
		change(levels, stretch->ended[i], -1);
	for (size_t i = 0; i < stretch->started_count; i++)
		change(levels, stretch->started[i], 1);
}

void kwhy_power_levels_weigh(struct kwhy_power_levels *levels, bool covered, bool clean)
{
	double crowd = fmax(1, (double)levels->fill_sum / FILL_UNIT), sum = 0;

	for (size_t i = 0; i < levels->active_count; i++) {
		uint32_t class = levels->active[i];
		double count = (double)levels->running[class];

		levels->net[class] = levels->classes->priors[class].beside ? count : count / crowd;
		if (!covered)
			levels->net[class] = 0;
		sum += levels->net[class];
	}
	for (size_t i = 0; i < levels->active_count; i++)
		levels->base[levels->active[i]] = sum > 0 ? levels->net[levels->active[i]] / sum : 0;
	levels->idle = covered && !clean && sum <= 0 ? 1 : 0;
	levels->clean = covered && clean && sum <= 0 ? 1 : 0;
	levels->unrecorded = covered ? 0 : 1;
}
