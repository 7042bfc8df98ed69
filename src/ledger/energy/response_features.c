/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/response_features.h"

#include <math.h>
#include <stdlib.h>

/*
 * A moment at which the sweep reads the levels: one end of a reading's window, minus one of the delays of the
 * response grid.
 */
struct look {
	int64_t time_ns;
	uint32_t reading;
	uint8_t delay;
	bool is_from; /* true: start of the averaging window of a mean; false: end of the window, or time of a
			 reading without one */
};

struct building {
	struct kwhy_response_features *features;
	const struct kwhy_power_readings *readings;
	struct look *looks;
	size_t look_count;
	uint32_t clean; /* class of time without a context; KWHY_NONE: no such class */
	double *from_s; /* integrals in s of the filtered levels up to the starts of the readings' averaging
			   windows, indexed like features->net; NULL: the meter has no averaging window */
};

static int compare_looks(const void *a, const void *b)
{
	const struct look *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	if (left->reading != right->reading)
		return left->reading < right->reading ? -1 : 1;
	return (int)left->delay - (int)right->delay;
}

static void add_look(struct building *building, size_t reading, int delay, bool is_from)
{
	const struct kwhy_response_grid *grid = &building->features->grid;
	const struct kwhy_power_reading *item = &building->readings->items[reading];
	double delay_s = grid->delay_s + (delay - KWHY_GRID_DELAYS / 2) * grid->delay_step_s;

	building->looks[building->look_count++] = (struct look){
		.time_ns = (is_from ? item->from_ns : item->to_ns) - llround(delay_s * 1e9),
		.reading = (uint32_t)reading,
		.delay = (uint8_t)delay,
		.is_from = is_from,
	};
}

static enum kwhy_status list_looks(struct building *building, struct kwhy_error *error)
{
	size_t count = building->readings->count;
	bool windows = false;

	building->looks = calloc(2 * KWHY_GRID_DELAYS * count + 1, sizeof(*building->looks));
	if (!building->looks)
		return kwhy_fail_memory(error, "power readings");
	for (size_t i = 0; i < count; i++) {
		const struct kwhy_power_reading *item = &building->readings->items[i];

		for (int delay = 0; delay < KWHY_GRID_DELAYS; delay++) {
			if (item->from_ns != item->to_ns)
				add_look(building, i, delay, true);
			add_look(building, i, delay, false);
		}
		windows |= item->from_ns != item->to_ns;
	}
	qsort(building->looks, building->look_count, sizeof(*building->looks), compare_looks);
	if (windows)
		building->from_s = calloc(
			KWHY_GRID_POINTS * building->features->class_count * count + 1, sizeof(double));
	return windows && !building->from_s ? kwhy_fail_memory(error, "power readings") : KWHY_OK;
}

/*
 * Sign of a class's level: -1 for time without a context, whose positive power is subtracted from the idle
 * level.
 */
static float sign_of(const struct building *building, size_t class)
{
	return class == building->clean ? -1 : 1;
}

static double filtered(const struct kwhy_filtered_levels *response, size_t tau, size_t class)
{
	return response->level[class] - response->lag[tau * response->channel_count + class];
}

/*
 * Integral of the filtered level of a power class, in s, from the beginning of the hull to the current
 * readout.
 */
static double integral_s(const struct kwhy_filtered_levels *response, size_t tau, size_t class)
{
	return response->area_s[class] - response->tau_s[tau] * filtered(response, tau, class);
}

static void visit(void *context, const struct kwhy_filtered_levels *response, size_t readout)
{
	struct building *building = context;
	struct kwhy_response_features *features = building->features;
	const struct look *look = &building->looks[readout];
	const struct kwhy_power_reading *item = &building->readings->items[look->reading];
	double length_s = (double)(item->to_ns - item->from_ns) * 1e-9;

	for (size_t tau = 0; tau < KWHY_GRID_TAUS; tau++) {
		size_t point = tau * KWHY_GRID_DELAYS + look->delay;

		for (size_t c = 0; c < features->class_count; c++) {
			size_t at = (point * features->class_count + c) * features->reading_count +
				look->reading;

			if (look->is_from)
				building->from_s[at] = integral_s(response, tau, c);
			else if (length_s > 0)
				features->net[at] = sign_of(building, c) *
					(float)((integral_s(response, tau, c) - building->from_s[at]) /
						length_s);
			else
				features->net[at] = sign_of(building, c) * (float)filtered(response, tau, c);
		}
	}
}

static enum kwhy_status walk_looks(
	struct building *building, struct kwhy_response_walk walk, struct kwhy_error *error)
{
	const struct kwhy_response_grid *grid = &building->features->grid;
	int64_t *times_ns = calloc(building->look_count + 1, sizeof(*times_ns));
	enum kwhy_status status;

	if (!times_ns)
		return kwhy_fail_memory(error, "power readings");
	for (size_t i = 0; i < building->look_count; i++)
		times_ns[i] = building->looks[i].time_ns;
	walk.with_base = false;
	walk.tau_count = KWHY_GRID_TAUS;
	for (int i = 0; i < KWHY_GRID_TAUS; i++)
		walk.tau_s[i] = grid->tau_s + (i - KWHY_GRID_TAUS / 2) * grid->tau_step_s;
	walk.times_ns = times_ns;
	walk.readout_count = building->look_count;
	walk.visit = visit;
	walk.context = building;
	status = kwhy_response_walk(&walk, error);
	free(times_ns);
	return status;
}

enum kwhy_status kwhy_response_features_init(struct kwhy_response_features *features,
	const struct kwhy_response_grid *grid, const struct kwhy_power_readings *readings,
	const struct kwhy_response_walk *walk, struct kwhy_error *error)
{
	struct building building = {
		.features = features, .readings = readings, .clean = walk->classes->clean};
	enum kwhy_status status;

	*features = (struct kwhy_response_features){
		.grid = *grid,
		.reading_count = readings->count,
		.class_count = walk->classes->count,
	};
	features->net = calloc(
		KWHY_GRID_POINTS * features->class_count * features->reading_count + 1, sizeof(float));
	status = features->net ? list_looks(&building, error) : kwhy_fail_memory(error, "power readings");
	if (!status)
		status = walk_looks(&building, *walk, error);
	free(building.looks);
	free(building.from_s);
	if (status)
		kwhy_response_features_done(features);
	return status;
}

void kwhy_response_features_done(struct kwhy_response_features *features)
{
	free(features->net);
	*features = (struct kwhy_response_features){0};
}
