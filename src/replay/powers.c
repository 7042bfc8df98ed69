/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/powers.h"

#include "base/clock.h"
#include "launch/stop.h"
#include "replay/choices.h"

#include <stdio.h>
#include <string.h>

#define POWER_S 0.4
#define AHEAD_NS 10e6
#define LENGTH_MAX_NS 1e6

enum { AHEAD_MAX = 512 };

/* The launches in one power window; all have the same class and grid. */
struct burn {
	char name[32];
	struct kwhy_proxy_launch launch;
	uint64_t launches;
};

/*
 * Describes the launches of one window, in which the power of grid `i` and of one class is measured. Each
 * window has its own name, since the energies of windows with equal names are added up.
 */
static struct burn burn_of(
	struct kwhy_proxies *proxies, const struct kwhy_replay_burns *burns, size_t i, uint32_t class)
{
	uint32_t grid = burns->grids[i];
	struct burn burn = {.launch = {.stream = proxies->stream,
				    .grid = grid,
				    .choice = {class, KWHY_PROXY_BUSY, NAN},
				    .length_ns = fmin(proxies->grids[grid].length_ns, LENGTH_MAX_NS),
				    .queued_ns = burns->queued_ns}};

	snprintf(burn.name, sizeof(burn.name), "power %u", proxies->windows++);
	return burn;
}

static enum kwhy_status run_burn(
	const struct kwhy_proxies *proxies, struct burn *burn, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = proxies->gpu;
	const int ahead = (int)fmin(ceil(AHEAD_NS / fmax(burn->launch.length_ns, 1)), AHEAD_MAX);
	int64_t end_ns = kwhy_clock_mono_ns() + (int64_t)(POWER_S * 1e9);
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_clock_mono_ns() < end_ns) {
		for (int i = 0; !status && i < ahead; i++)
			status = kwhy_proxies_launch(proxies, &burn->launch, error);
		if (!status)
			status = gpu->ops->synchronize(gpu, proxies->stream, error);
		burn->launches += (uint64_t)ahead;
	}
	return status;
}

/*
 * Computes the power of a grid's kernels of one class: idle power, plus the window's energy above idle
 * divided by the sum of the kernels' lengths. That energy includes what is drawn between kernels, and the
 * lengths leave that time out, as the lengths in a recording do.
 */
static void read_power(
	struct kwhy_proxies *proxies, const struct kwhy_device_energy *energy, const struct burn *burn)
{
	struct kwhy_proxy_grid *grid = &proxies->grids[burn->launch.grid];
	struct kwhy_window_joules window;

	kwhy_device_energy_of(energy, burn->name, 1, &window);
	proxies->idle_w = (window.gross.value - window.net.value) / window.seconds;
	grid->power_w[burn->launch.choice.class] = proxies->idle_w +
		window.net.value / ((double)burn->launches * burn->launch.length_ns * 1e-9);
}

/*
 * Gives grids the powers of similar grids that were measured for the previous pattern, if there are any.
 * Writes the grids that remain to be measured to `out` and returns their number.
 */
static size_t find_new(struct kwhy_proxies *proxies, const struct kwhy_replay_burns *burns, uint32_t *out)
{
	size_t count = 0;

	for (size_t i = 0; i < burns->count; i++) {
		struct kwhy_proxy_grid *grid = &proxies->grids[burns->grids[i]];
		const struct kwhy_proxy_grid *known = kwhy_replay_alike(
			proxies->measured, proxies->measured_count, grid);

		if (known)
			memcpy(grid->power_w, known->power_w, sizeof(grid->power_w));
		else
			out[count++] = burns->grids[i];
	}
	return count;
}

static void keep(struct kwhy_proxies *proxies, const struct kwhy_replay_burns *burns)
{
	for (size_t i = 0; i < burns->count; i++)
		proxies->measured[i] = proxies->grids[burns->grids[i]];
	proxies->measured_count = burns->count;
}

enum kwhy_status kwhy_proxies_measure_powers(struct kwhy_proxies *proxies, struct kwhy_device_energy *energy,
	const struct kwhy_replay_burns *burns, struct kwhy_error *error)
{
	struct burn all[KWHY_REPLAY_GRIDS_MEASURED * KWHY_PROXY_CLASS_COUNT];
	uint32_t grids[KWHY_REPLAY_GRIDS_MEASURED];
	const struct kwhy_replay_burns fresh = {grids, find_new(proxies, burns, grids), burns->queued_ns};
	const size_t count = fresh.count * KWHY_PROXY_CLASS_COUNT;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++) {
		all[i] = burn_of(
			proxies, &fresh, i / KWHY_PROXY_CLASS_COUNT, (uint32_t)(i % KWHY_PROXY_CLASS_COUNT));
		status = kwhy_stop_check(error);
		if (!status)
			status = kwhy_device_energy_begin(energy, all[i].name, error);
		if (status)
			return status;
		status = run_burn(proxies, &all[i], error);
		kwhy_device_energy_end(energy);
	}
	if (!status && count)
		status = kwhy_device_energy_read(energy, error);
	if (status)
		return status;
	for (size_t i = 0; i < count; i++)
		read_power(proxies, energy, &all[i]);
	keep(proxies, burns);
	kwhy_replay_spread_powers(proxies->grids, proxies->grid_count, burns->grids, burns->count);
	return KWHY_OK;
}
