/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_meter.h"

#include "base/quantile.h"
#include "model/counter.h"
#include "model/response.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/*
 * Units of a trapezoid sum in 1 nJ. A unit is 1 mW * 1 ns = 1e-12 J of the sum of two readings, which is
 * twice their mean.
 */
#define TRAPEZOID_UNITS_PER_NJ 2000

/*
 * Two readings are too far apart to interpolate if the time between them is above HOLE_MIN_NS and above
 * HOLE_STEPS times the median time between readings.
 */
#define HOLE_MIN_NS 250000000
#define HOLE_STEPS 10

/*
 * The driver's ring buffer has a power sample every 20 ms. Between two samples farther apart than this,
 * samples were lost.
 */
#define RING_STEP_NS 100000000

static enum kwhy_status check_powers(
	const struct kwhy_power_series *series, int32_t device, struct kwhy_error *error)
{
	for (size_t i = 0; i < series->count; i++) {
		int64_t value_mw = series->value[i];

		if (value_mw >= 0 && (double)value_mw <= KWHY_POWER_MAX_W * 1e3)
			continue;
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s of device %" PRId32 " reads %" PRId64
			" mW, which no device draws; check the units of the power file",
			kwhy_meter_name(series->meter), device, value_mw);
	}
	return KWHY_OK;
}

/* Replaces the readings by copies without the power that enabled performance counters took. */
static enum kwhy_status correct(
	struct kwhy_device_meters *meters, const struct kwhy_profile *profile, struct kwhy_error *error)
{
	const struct kwhy_power_series *samples = kwhy_device_meters_best(
		meters, KWHY_METER_OWNER_GPU, KWHY_METER_ROLE_SAMPLES);
	enum kwhy_status status = kwhy_counter_windows_measure(&meters->counters, samples, profile, error);

	for (size_t i = 0; !status && i < KWHY_METER_COUNT; i++) {
		if (!meters->series[i] || kwhy_meter_row(i)->owner == KWHY_METER_OWNER_GPU_MEMORY)
			continue;
		status = kwhy_counter_windows_subtract(
			&meters->counters, meters->series[i], profile, &meters->corrected[i], error);
		meters->series[i] = &meters->corrected[i];
	}
	return status;
}

static enum kwhy_status find_series(struct kwhy_device_meters *meters, const struct kwhy_recording *recording,
	uint32_t device, struct kwhy_error *error)
{
	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];
		enum kwhy_status status = KWHY_OK;

		if (series->device != device || series->count < 2 || meters->series[series->meter])
			continue;
		if (!kwhy_meter_is_counter(series->meter))
			status = check_powers(series, recording->devices[device].index, error);
		if (status)
			return status;
		meters->series[series->meter] = series;
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_device_meters_find(struct kwhy_device_meters *meters,
	const struct kwhy_recording *recording, uint32_t device, const struct kwhy_profile *profile,
	struct kwhy_error *error)
{
	enum kwhy_status status;

	*meters = (struct kwhy_device_meters){0};
	status = find_series(meters, recording, device, error);
	if (!status)
		status = kwhy_counter_windows_find(&meters->counters, recording, device, profile, error);
	return status || !meters->counters.count ? status : correct(meters, profile, error);
}

void kwhy_device_meters_done(struct kwhy_device_meters *meters)
{
	for (size_t i = 0; i < KWHY_METER_COUNT; i++) {
		free(meters->corrected[i].time_ns);
		free(meters->corrected[i].value);
	}
	kwhy_counter_windows_done(&meters->counters);
	*meters = (struct kwhy_device_meters){0};
}

const struct kwhy_power_series *kwhy_device_meters_best(
	const struct kwhy_device_meters *meters, unsigned owners, unsigned roles)
{
	const struct kwhy_meter_list list = kwhy_meters_ranked(owners, roles);

	for (size_t i = 0; i < list.count; i++)
		if (meters->series[list.items[i]])
			return meters->series[list.items[i]];
	return NULL;
}

bool kwhy_power_trapezoid_nj(const struct kwhy_power_series *series, size_t i, int64_t *rest, int64_t *out_nj)
{
	__int128 units = ((__int128)series->value[i - 1] + series->value[i]) *
			((__int128)series->time_ns[i] - series->time_ns[i - 1]) +
		*rest;

	*rest = (int64_t)(units % TRAPEZOID_UNITS_PER_NJ);
	units /= TRAPEZOID_UNITS_PER_NJ;
	*out_nj = (int64_t)units;
	return units <= INT64_MAX;
}

/*
 * Whether a jump of a counter between readings i - 1 and i is small enough to be a fault of the counter
 * itself; the interval is then left out. A larger jump comes from wrong units or clocks, and the recording is
 * refused.
 */
static bool is_believable(const struct kwhy_power_series *series, size_t i)
{
	const struct kwhy_counter_span span = {
		.length_ns = (double)series->time_ns[i] - (double)series->time_ns[i - 1],
		.unit_nj = kwhy_meter_unit_nj(series->meter),
	};

	return kwhy_counter_is_plausible(&span, (double)series->value[i] - (double)series->value[i - 1]);
}

static bool counted_nj(
	struct kwhy_metered_total *total, const struct kwhy_power_series *series, size_t i, int64_t *out_nj)
{
	int64_t counts;
	enum kwhy_counter_step step = kwhy_counter_step(series, i, &counts);

	total->wrapped_count += step == KWHY_COUNTER_WRAPPED;
	total->fallen_count += step == KWHY_COUNTER_FELL;
	total->jumped_count += step == KWHY_COUNTER_JUMPED;
	if (step == KWHY_COUNTER_FELL || (step == KWHY_COUNTER_JUMPED && is_believable(series, i))) {
		*out_nj = KWHY_UNKNOWN_NJ;
		return true;
	}
	return !__builtin_mul_overflow(counts, kwhy_meter_unit_nj(series->meter), out_nj);
}

static bool is_possible(const struct kwhy_metered_interval *interval)
{
	double length_ns = (double)interval->end_ns - (double)interval->start_ns;

	return (double)interval->energy_nj <= length_ns * KWHY_POWER_MAX_W;
}

static enum kwhy_status refuse(const struct kwhy_power_series *series, size_t i, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s rises from %" PRId64 " to %" PRId64 " in %" PRId64
		" ns, more than any device draws; check the units and the clock of the power file",
		kwhy_meter_name(series->meter), series->value[i - 1], series->value[i],
		series->time_ns[i] - series->time_ns[i - 1]);
}

enum kwhy_status kwhy_energy_refuse(const char *whose, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"%s more than 9.22 GJ (2,562 kWh), the most that nanojoules can count; report shorter "
		"intervals of trace and power apart",
		whose);
}

/*
 * Cuts an interval to the hull (the time that the ledger accounts for). Its energy becomes that of the
 * remaining part at the interval's mean power.
 */
static void cut_to(const struct kwhy_window *hull, struct kwhy_metered_interval *interval)
{
	const int64_t whole_ns = interval->end_ns - interval->start_ns;

	if (interval->start_ns >= hull->start_ns && interval->end_ns <= hull->end_ns)
		return;
	if (interval->start_ns < hull->start_ns)
		interval->start_ns = hull->start_ns;
	if (interval->end_ns > hull->end_ns)
		interval->end_ns = hull->end_ns;
	interval->energy_nj = (int64_t)((__int128)interval->energy_nj *
		(interval->end_ns - interval->start_ns) / whole_ns);
}

static enum kwhy_status add_interval(struct kwhy_metered_total *total, const struct kwhy_power_series *series,
	const struct kwhy_window *hull, size_t i, int64_t *rest, struct kwhy_error *error)
{
	struct kwhy_metered_interval interval = {series->time_ns[i - 1], series->time_ns[i], 0};
	bool fits = kwhy_meter_is_counter(series->meter)
		? counted_nj(total, series, i, &interval.energy_nj)
		: kwhy_power_trapezoid_nj(series, i, rest, &interval.energy_nj);

	if (fits && interval.energy_nj == KWHY_UNKNOWN_NJ)
		return KWHY_OK;
	if (!fits)
		interval.energy_nj = INT64_MAX; /* too large for an int64_t */
	if (!is_possible(&interval))
		return refuse(series, i, error);
	if (fits)
		cut_to(hull, &interval);
	if (!fits || __builtin_add_overflow(total->sum_nj, interval.energy_nj, &total->sum_nj))
		return kwhy_energy_refuse("readings of one device come to", error);
	total->sum_ns += interval.end_ns - interval.start_ns;
	total->intervals[total->count++] = interval;
	return KWHY_OK;
}

/*
 * Writes the longest time in ns between two readings that is interpolated; longer ones are gaps. A counter
 * has no gaps: INT64_MAX. False: out of memory.
 */
static bool find_longest_step(const struct kwhy_power_series *series, int64_t *out_ns)
{
	size_t count = series->count - 1;
	int64_t *steps_ns, middle_ns;

	*out_ns = INT64_MAX;
	if (kwhy_meter_is_counter(series->meter) || !count)
		return true;
	steps_ns = calloc(count, sizeof(*steps_ns));
	if (!steps_ns)
		return false;
	for (size_t i = 0; i < count; i++)
		steps_ns[i] = series->time_ns[i + 1] - series->time_ns[i];
	middle_ns = kwhy_middle_integer(steps_ns, count);
	if (middle_ns < INT64_MAX / HOLE_STEPS)
		*out_ns = middle_ns * HOLE_STEPS;
	if (*out_ns < HOLE_MIN_NS)
		*out_ns = HOLE_MIN_NS;
	free(steps_ns);
	return true;
}

/*
 * Whether the power between two readings that are step_ns apart is unknown. This holds for instantaneous
 * powers, for samples of the driver's ring buffer if some between them were lost, and for means if more than
 * 10 % of an averaging window lies between their windows.
 */
static bool misses_power(const struct kwhy_power_series *series, int64_t step_ns)
{
	switch (kwhy_meter_row(series->meter)->role) {
	case KWHY_METER_ROLE_INSTANTS:
		return true;
	case KWHY_METER_ROLE_SAMPLES:
		return step_ns > RING_STEP_NS;
	case KWHY_METER_ROLE_MEANS:
		return (double)step_ns > 1.1e9 * kwhy_response_of(series->meter).average_window_s;
	default:
		return false;
	}
}

/*
 * Variance, in nJ^2, of the energy between readings i - 1 and i due to unknown power between them; 0: the
 * readings show all power. It is estimated from the difference of the two readings (von Neumann's successive
 * differences). step_ns: length of that part of the interval that lies in the hull.
 */
static double unrecorded_square(const struct kwhy_power_series *series, size_t i, int64_t step_ns)
{
	double step_nj = ((double)series->value[i] - (double)series->value[i - 1]) * 1e-3 * (double)step_ns;

	return misses_power(series, series->time_ns[i] - series->time_ns[i - 1]) ? step_nj * step_nj / 2 : 0;
}

/*
 * Adds the intervals between readings inside the hull (the time that the ledger accounts for), and sets
 * sampling_ratio, hole_ns and hole_count.
 */
static enum kwhy_status add_intervals(struct kwhy_metered_total *total,
	const struct kwhy_power_series *series, const struct kwhy_covered *covered, int64_t longest_ns,
	struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	double squares = 0;
	int64_t rest = 0;

	for (size_t i = 1; !status && i < series->count; i++) {
		struct kwhy_metered_interval inside = {series->time_ns[i - 1], series->time_ns[i], 0};
		int64_t step_ns = inside.end_ns - inside.start_ns;

		if (!kwhy_covered_in_hull(covered, series->time_ns[i - 1], series->time_ns[i]))
			continue;
		cut_to(&covered->hull, &inside);
		if (step_ns <= longest_ns) {
			status = add_interval(total, series, &covered->hull, i, &rest, error);
			squares += unrecorded_square(series, i, inside.end_ns - inside.start_ns);
		} else {
			total->hole_ns += inside.end_ns - inside.start_ns;
			total->hole_count++;
		}
	}
	total->sampling_ratio = total->sum_nj > 0 ? 1.645 * sqrt(squares) / (double)total->sum_nj : 0;
	return status;
}

/*
 * The first reading after the start of the recording, in mW, if its averaging window overlaps the
 * recording; otherwise -1.
 */
static int64_t first_mean_mw(const struct kwhy_power_series *series, const struct kwhy_window *hull)
{
	const int64_t window_ns = llround(1e9 * kwhy_response_of(series->meter).average_window_s);

	for (size_t i = 0; i < series->count; i++)
		if (series->time_ns[i] > hull->start_ns)
			return series->time_ns[i] - window_ns < hull->end_ns ? series->value[i] : -1;
	return -1;
}

/*
 * If a recording lies between two readings of a meter that reports means, adds one interval for the whole
 * recording. It has the mean power of the first reading after the recording's start, whose window overlaps
 * the recording; deconvolution replaces the interval later. Otherwise adds nothing.
 */
static void add_between_readings(struct kwhy_metered_total *total, const struct kwhy_power_series *series,
	const struct kwhy_covered *covered)
{
	const struct kwhy_window *hull = &covered->hull;
	int64_t mean_mw = first_mean_mw(series, hull), length_ns = hull->end_ns - hull->start_ns;

	if (total->count || !kwhy_meter_is_mean(series->meter) || covered->unrecorded_count ||
		covered->is_all_idle || mean_mw < 0 || length_ns <= 0)
		return;
	total->sum_ns = length_ns;
	total->sum_nj = (int64_t)((__int128)mean_mw * length_ns / 1000);
	total->intervals[total->count++] = (struct kwhy_metered_interval){
		hull->start_ns, hull->end_ns, total->sum_nj};
}

enum kwhy_status kwhy_metered_total_init(struct kwhy_metered_total *total,
	const struct kwhy_power_series *series, const struct kwhy_covered *covered, struct kwhy_error *error)
{
	enum kwhy_status status;
	int64_t longest_ns;

	*total = (struct kwhy_metered_total){
		.meter = series->meter, .intervals = calloc(series->count, sizeof(*total->intervals))};
	if (!total->intervals || !find_longest_step(series, &longest_ns)) {
		kwhy_metered_total_done(total);
		return kwhy_fail_memory(error, "metered intervals");
	}
	total->longest_step_ns = longest_ns;
	status = add_intervals(total, series, covered, longest_ns, error);
	if (!status)
		add_between_readings(total, series, covered);
	if (status)
		kwhy_metered_total_done(total);
	return status;
}

void kwhy_metered_total_done(struct kwhy_metered_total *total)
{
	free(total->intervals);
	*total = (struct kwhy_metered_total){0};
}
