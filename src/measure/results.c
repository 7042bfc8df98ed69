/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_S 1e9

_Static_assert(KWHY_ENERGY_STATE_NOT_METERED == (int)KWHY_ENERGY_NOT_METERED, "states");
_Static_assert(KWHY_ENERGY_STATE_NOT_YET == (int)KWHY_ENERGY_NOT_YET, "states");
_Static_assert(KWHY_ENERGY_STATE_FORGOTTEN == (int)KWHY_ENERGY_FORGOTTEN, "states");
_Static_assert(KWHY_METER_KIND_WALL == (int)KWHY_METERED_WALL, "kinds");

/*
 * The idle level of a meter, above which net energy is counted: its mean power in the region "(idle)" and
 * half of that power's 95 % interval.
 */
struct idle_level {
	double watts, half_w;
};

static struct idle_level idle_of(const struct kwhy_results_request *request, size_t meter)
{
	struct idle_level level = {NAN, NAN};
	const struct kwhy_region *region;
	struct kwhy_energy energy;

	if (request->idle_name >= kwhy_regions_count(request->regions))
		return level;
	region = kwhy_regions_get(request->regions, request->idle_name);
	if (!region->used || region->wall_ns == 0)
		return level;
	kwhy_window_sum_result(&region->sums[meter], request->enough_ratio, &energy);
	level.watts = energy.joules / energy.seconds;
	level.half_w = (energy.high_j - energy.low_j) / 2 / energy.seconds;
	return level;
}

static bool is_lost(const struct kwhy_results_request *request, size_t meter)
{
	const struct kwhy_metered *item = &request->metered[meter];

	return item->kind == KWHY_METERED_DEVICE &&
		atomic_load_explicit(&request->sensors->devices[item->device].lost, memory_order_acquire);
}

static struct kwhy_region_energy energy_of(
	const struct kwhy_results_request *request, const struct kwhy_region *region, size_t meter)
{
	struct idle_level idle = idle_of(request, meter);
	struct kwhy_energy energy;
	struct kwhy_region_energy out = {.size = sizeof(out)};
	double half_j;

	kwhy_window_sum_result(&region->sums[meter], request->enough_ratio, &energy);
	half_j = hypot((energy.high_j - energy.low_j) / 2, idle.half_w * energy.seconds);
	out.state = (int32_t)energy.state;
	out.missing = kwhy_energy_missing(energy.state, is_lost(request, meter));
	out.enough = energy.enough;
	out.repetitions_needed = energy.repetitions_needed;
	out.basis = kwhy_energy_basis_name(energy.basis);
	out.joules = energy.joules;
	out.low_j = energy.low_j;
	out.high_j = energy.high_j;
	out.net_joules = energy.joules - idle.watts * energy.seconds;
	out.net_low_j = out.net_joules - half_j;
	out.net_high_j = out.net_joules + half_j;
	out.mean_w = energy.mean_w;
	out.peak_w = energy.peak_w;
	return out;
}

/*
 * Adds the energy on one meter to a sum over meters. If that energy was not measured, the sum takes over its
 * state and reason. Half-widths add in quadrature, as errors of different meters are independent.
 */
static void add_up(struct kwhy_region_energy *sum, const struct kwhy_region_energy *one)
{
	double half_j = hypot((sum->high_j - sum->low_j) / 2, (one->high_j - one->low_j) / 2);
	double net_half_j = hypot(
		(sum->net_high_j - sum->net_low_j) / 2, (one->net_high_j - one->net_low_j) / 2);

	if (one->state != KWHY_ENERGY_STATE_MEASURED) {
		sum->state = one->state;
		sum->missing = one->missing;
	}
	if (one->repetitions_needed == 0 || one->repetitions_needed > sum->repetitions_needed)
		sum->repetitions_needed = one->repetitions_needed;
	sum->basis = sum->basis && strcmp(sum->basis, one->basis) != 0 ? "mixed" : one->basis;
	sum->joules += one->joules;
	sum->low_j = fmax(sum->joules - half_j, 0);
	sum->high_j = sum->joules + half_j;
	sum->net_joules += one->net_joules;
	sum->net_low_j = sum->net_joules - net_half_j;
	sum->net_high_j = sum->net_joules + net_half_j;
	sum->mean_w += one->mean_w;
}

static struct kwhy_region_energy none(void)
{
	return (struct kwhy_region_energy){.size = sizeof(struct kwhy_region_energy),
		.state = KWHY_ENERGY_STATE_NOT_METERED,
		.basis = "none",
		.joules = NAN,
		.low_j = NAN,
		.high_j = NAN,
		.net_joules = NAN,
		.net_low_j = NAN,
		.net_high_j = NAN,
		.mean_w = NAN,
		.peak_w = NAN,
		.missing = "no meter is of that kind"};
}

/*
 * Sum over all meters of a kind; if there is only one, a copy of it. A sum has no peak power, as the meters'
 * peaks may be at different times. A kind without meters gives none().
 */
static struct kwhy_region_energy sum_of(
	const struct kwhy_results *results, const struct kwhy_region_energy *energies, int32_t kind)
{
	struct kwhy_region_energy sum = {.size = sizeof(sum), .repetitions_needed = 1, .peak_w = NAN};
	const struct kwhy_region_energy *last = NULL;
	size_t count = 0;

	for (size_t m = 0; m < results->meter_count; m++) {
		if (results->meters[m].kind != kind)
			continue;
		last = &energies[m];
		add_up(&sum, last);
		count++;
	}
	if (count <= 1)
		return last ? *last : none();
	sum.enough = (sum.high_j - sum.low_j) / 2 <= results->enough_ratio * sum.joules;
	if (sum.enough)
		sum.repetitions_needed = 1;
	return sum;
}

static const struct kwhy_region_energy *energy_for_work(const struct kwhy_results *results,
	const struct kwhy_result_region *region, struct kwhy_region_energy *host)
{
	const struct kwhy_region_energy *gpus = &region->energies[results->meter_count];

	if (gpus->state != KWHY_ENERGY_STATE_NOT_METERED)
		return gpus;
	*host = sum_of(results, region->energies, KWHY_METER_KIND_HOST);
	return host;
}

static bool make_works(struct kwhy_results *results, const struct kwhy_results_request *request,
	const struct kwhy_region *from, struct kwhy_result_region *to)
{
	struct kwhy_region_energy host;
	const struct kwhy_region_energy *energy = energy_for_work(results, to, &host);

	to->works = kwhy_arena_alloc(&results->arena, from->work_count + 1, sizeof(*to->works));
	if (!to->works)
		return false;
	for (size_t i = 0; i < from->work_count; i++) {
		double amount = from->works[i].amount;

		to->works[to->work_count++] = (struct kwhy_region_work_done){
			.size = sizeof(*to->works),
			.unit = kwhy_arena_copy(
				&results->arena, kwhy_names_get(request->names, from->works[i].unit)),
			.amount = amount,
			.joules_per_unit = energy->joules / amount,
			.low_j_per_unit = energy->low_j / amount,
			.high_j_per_unit = energy->high_j / amount,
			.seconds_per_unit = to->info.wall_s / amount,
		};
		if (!to->works[i].unit)
			return false;
	}
	return true;
}

static bool make_region(
	struct kwhy_results *results, const struct kwhy_results_request *request, uint32_t name)
{
	const struct kwhy_region *from = kwhy_regions_get(request->regions, name);
	struct kwhy_result_region *to = &results->regions[results->region_count];
	const char *text = kwhy_arena_copy(&results->arena, kwhy_names_get(request->names, name));

	to->energies = kwhy_arena_alloc(&results->arena, results->meter_count + 1, sizeof(*to->energies));
	if (!text || !to->energies)
		return false;
	to->info = (struct kwhy_region_info){.size = sizeof(to->info),
		.name = text,
		.count = from->count,
		.open = from->active,
		.unmatched = from->unmatched,
		.total_s = (double)from->total_ns / NS_PER_S,
		.wall_s = (double)from->wall_ns / NS_PER_S,
		.number = name};
	for (size_t m = 0; m < results->meter_count; m++)
		to->energies[m] = energy_of(request, from, m);
	to->energies[results->meter_count] = sum_of(results, to->energies, KWHY_METER_KIND_GPU);
	results->region_count++;
	return make_works(results, request, from, to);
}

static bool make_meters(struct kwhy_results *results, const struct kwhy_results_request *request)
{
	const struct kwhy_sensors *sensors = request->sensors;

	results->meters = kwhy_arena_alloc(
		&results->arena, request->metered_count + 1, sizeof(*results->meters));
	results->absences = kwhy_arena_alloc(
		&results->arena, sensors->absence_count + 1, sizeof(*results->absences));
	if (!results->meters || !results->absences)
		return false;
	for (size_t m = 0; m < request->metered_count; m++) {
		const struct kwhy_metered *item = &request->metered[m];
		struct kwhy_result_meter *meter = &results->meters[results->meter_count++];
		const struct kwhy_sensor_device *device = item->kind == KWHY_METERED_DEVICE
			? &sensors->devices[item->device]
			: NULL;

		*meter = (struct kwhy_result_meter){.kind = (int32_t)item->kind,
			.index = device ? device->index : -1,
			.name = kwhy_arena_copy(&results->arena, item->name),
			.is_package = item->counter != KWHY_HISTORY_NO_SOURCE &&
				kwhy_meter_row(sensors->sources[item->counter].meter)->owner ==
					KWHY_METER_OWNER_PACKAGE};
		if (device && device->name)
			meter->product = kwhy_arena_copy(&results->arena, device->name);
		if (device && device->uuid)
			meter->uuid = kwhy_arena_copy(&results->arena, device->uuid);
		if (!meter->name)
			return false;
	}
	for (size_t i = 0; i < sensors->absence_count; i++)
		results->absences[results->absence_count++] = kwhy_arena_copy(
			&results->arena, sensors->absences[i].text);
	return true;
}

static bool make_all(struct kwhy_results *results, const struct kwhy_results_request *request)
{
	size_t count = kwhy_regions_count(request->regions);

	if (!make_meters(results, request))
		return false;
	results->regions = kwhy_arena_alloc(&results->arena, count + 1, sizeof(*results->regions));
	if (!results->regions)
		return false;
	for (uint32_t name = 0; name < count; name++)
		if (kwhy_regions_get(request->regions, name)->used && !make_region(results, request, name))
			return false;
	return true;
}

enum kwhy_status kwhy_results_make(
	const struct kwhy_results_request *request, struct kwhy_results **out, struct kwhy_error *error)
{
	struct kwhy_results *results = calloc(1, sizeof(*results));

	if (!results)
		return kwhy_fail_memory(error, "the results of a session");
	results->enough_ratio = request->enough_ratio;
	if (!make_all(results, request)) {
		kwhy_results_free(results);
		return kwhy_fail_memory(error, "the results of a session");
	}
	*out = results;
	return KWHY_OK;
}

void kwhy_results_free(struct kwhy_results *results)
{
	if (!results)
		return;
	kwhy_text_done(&results->json);
	kwhy_arena_done(&results->arena);
	free(results);
}

size_t kwhy_results_region_count(const struct kwhy_results *results)
{
	return results->region_count;
}

size_t kwhy_results_region_find(const struct kwhy_results *results, const char *name)
{
	for (size_t i = 0; i < results->region_count; i++)
		if (strcmp(results->regions[i].info.name, name) == 0)
			return i;
	return SIZE_MAX;
}

/*
 * Copies the library's struct `from` to a caller's struct of out_size bytes, as much of it as fits, and
 * leaves the member `size` of the caller's struct as it is, so that callers with an older or newer struct
 * work, too.
 */
static int give(void *out, size_t out_size, const void *from, size_t from_size)
{
	size_t bytes = out_size < from_size ? out_size : from_size;

	if (out_size < 2 * sizeof(size_t))
		return KWHY_MEASURE_E_USAGE;
	memcpy(out, from, bytes);
	memcpy(out, &out_size, sizeof(out_size));
	return KWHY_MEASURE_OK;
}

int kwhy_results_region(const struct kwhy_results *results, size_t region, struct kwhy_region_info *out)
{
	if (region >= results->region_count)
		return KWHY_MEASURE_E_USAGE;
	return give(out, out->size, &results->regions[region].info, sizeof(*out));
}

int kwhy_results_energy(
	const struct kwhy_results *results, size_t region, size_t meter, struct kwhy_region_energy *out)
{
	size_t at = meter == KWHY_ALL_GPUS ? results->meter_count : meter;

	if (region >= results->region_count || at > results->meter_count)
		return KWHY_MEASURE_E_USAGE;
	return give(out, out->size, &results->regions[region].energies[at], sizeof(*out));
}

size_t kwhy_results_work_count(const struct kwhy_results *results, size_t region)
{
	return region < results->region_count ? results->regions[region].work_count : 0;
}

int kwhy_results_work(
	const struct kwhy_results *results, size_t region, size_t work, struct kwhy_region_work_done *out)
{
	if (work >= kwhy_results_work_count(results, region))
		return KWHY_MEASURE_E_USAGE;
	return give(out, out->size, &results->regions[region].works[work], sizeof(*out));
}

uint64_t kwhy_results_lost_events(const struct kwhy_results *results)
{
	return results->lost_events;
}

uint64_t kwhy_results_lost_readings(const struct kwhy_results *results)
{
	return results->lost_readings;
}

const char *kwhy_results_json(const struct kwhy_results *results)
{
	return results->json.data;
}
