/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/powers.h"

#include "base/clock.h"
#include "replay/choices.h"

#include <stdio.h>

#define POWER_S 0.4
#define POWER_LENGTH_NS 1e6

enum { POWER_AHEAD = 16 };

static void power_name(char out[32], uint32_t grid, size_t class)
{
	snprintf(out, 32, "%s %u", kwhy_standin_class_name((enum kwhy_standin_class) class), grid);
}

static enum kwhy_status burn(
	struct kwhy_standins *standins, uint32_t grid, uint32_t class, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = standins->gpu;
	const struct kwhy_standin_launch launch = {.stream = standins->stream,
		.grid = grid,
		.choice = {class, KWHY_STANDIN_BUSY, NAN},
		.length_ns = POWER_LENGTH_NS};
	int64_t end_ns = kwhy_clock_mono_ns() + (int64_t)(POWER_S * 1e9);
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_clock_mono_ns() < end_ns) {
		for (int i = 0; !status && i < POWER_AHEAD; i++)
			status = kwhy_standins_launch(standins, &launch, error);
		if (!status)
			status = gpu->ops->synchronize(gpu, standins->stream, error);
	}
	return status;
}

static enum kwhy_status burn_grid(struct kwhy_standins *standins, struct kwhy_device_energy *energy,
	uint32_t grid, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t class = 0; !status && class < KWHY_STANDIN_CLASS_COUNT; class ++) {
		char name[32];

		power_name(name, grid, class);
		status = kwhy_device_energy_begin(energy, name, error);
		if (status)
			return status;
		status = burn(standins, grid, class, error);
		kwhy_device_energy_end(energy);
	}
	return status;
}

static void read_powers(
	struct kwhy_standins *standins, const struct kwhy_device_energy *energy, uint32_t grid)
{
	for (size_t class = 0; class < KWHY_STANDIN_CLASS_COUNT; class ++) {
		struct kwhy_window_joules window;
		char name[32];

		power_name(name, grid, class);
		kwhy_device_energy_of(energy, name, 1, &window);
		standins->grids[grid].power_w[class] = window.mean_w;
		standins->idle_w = (window.gross.value - window.net.value) / window.seconds;
	}
}

enum kwhy_status kwhy_standins_measure_powers(struct kwhy_standins *standins,
	struct kwhy_device_energy *energy, const uint32_t *grids, size_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = burn_grid(standins, energy, grids[i], error);
	if (!status)
		status = kwhy_device_energy_read(energy, error);
	if (status)
		return status;
	for (size_t i = 0; i < count; i++)
		read_powers(standins, energy, grids[i]);
	kwhy_replay_spread_powers(standins->grids, standins->grid_count, grids, count);
	return KWHY_OK;
}
