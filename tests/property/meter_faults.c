/* SPDX-License-Identifier: Apache-2.0 */
#include "meter_faults.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)
/*
 * How meters of an H200 respond: time constant of the low-pass filter, delay, and the periods of samples,
 * counter updates and power readings, and the time over which a power is averaged.
 */
#define TAU_MS 14.5
enum { DELAY_MS = 3, SAMPLE_MS = 20, COUNTER_MS = 100, POWER_MS = 100, MEAN_MS = 1000, AFTER_MS = 1500 };

struct random {
	uint64_t state;
};

static double between(struct random *random, double low, double high)
{
	random->state = random->state * 6364136223846793005u + 1442695040888963407u;
	return low + (high - low) * (double)(random->state >> 40) * 0x1p-24;
}

static int below(struct random *random, int limit)
{
	return (int)between(random, 0, limit - 1e-6);
}

const char *meter_fault_words(enum meter_fault fault)
{
	static const char *const words[] = {
#define X(kind, text) text,
		METER_FAULTS(X)
#undef X
	};

	return words[fault];
}

double fault_energy_j(
	const struct fault_case *made, const struct fault_device *device, int64_t start_ns, int64_t end_ns)
{
	double sum_j = 0;

	for (size_t i = 0; i < made->length_ms; i++) {
		int64_t from_ns = ((int64_t)i - FAULT_BEFORE_MS) * MS, to_ns = from_ns + MS;

		from_ns = from_ns > start_ns ? from_ns : start_ns;
		to_ns = to_ns < end_ns ? to_ns : end_ns;
		if (to_ns > from_ns)
			sum_j += device->power_w[i] * (double)(to_ns - from_ns) * 1e-9;
	}
	return sum_j;
}

/*
 * Adds runs of the three kinds of work in random order, with random pauses, until `span_ms` after the start.
 */
static void make_work(struct fault_device *device, struct random *random, int64_t span_ms)
{
	int64_t at_ms = 0;

	device->idle_w = between(random, 60, 130);
	for (int kind = 0; kind < FAULT_KINDS; kind++)
		device->kind_w[kind] = device->idle_w * between(random, 1.4, 5);
	while (at_ms < span_ms && device->run_count < FAULT_RUNS) {
		const int64_t end_ms = at_ms + 4 + below(random, 60);

		device->runs[device->run_count++] = (struct fault_run){
			at_ms * MS, end_ms * MS, below(random, FAULT_KINDS)};
		at_ms = end_ms + (below(random, 3) ? below(random, 6) : below(random, 80));
	}
}

static void make_power(struct fault_device *device, size_t length_ms)
{
	device->power_w = calloc(length_ms, sizeof(double));
	for (size_t i = 0; i < length_ms; i++)
		device->power_w[i] = device->idle_w;
	for (size_t r = 0; r < device->run_count; r++)
		for (int64_t ms = device->runs[r].start_ns / MS; ms < device->runs[r].end_ns / MS; ms++)
			device->power_w[ms + FAULT_BEFORE_MS] = device->kind_w[device->runs[r].kind];
}

static void add(struct fault_series *series, int64_t time_ns, double value)
{
	series->time_ns[series->count] = time_ns;
	series->value[series->count++] = llround(value);
}

/*
 * What meters show at one millisecond: the filtered power, the mean power of the last second (W), and the
 * counter in its unit.
 */
struct shown {
	double filtered_w, mean_w, counter;
};

/* Adds a reading if one is due. */
static void read_once(struct fault_series *series, size_t ms, int64_t shown_ns, const struct shown *shown,
	struct random *random)
{
	if (kwhy_meter_is_counter(series->meter) && ms % COUNTER_MS == 0)
		add(series, shown_ns, shown->counter);
	if (series->meter == KWHY_METER_NVML_SAMPLE && ms % SAMPLE_MS == 0)
		add(series, shown_ns, 1e3 * shown->filtered_w * between(random, 0.997, 1.003));
	if (series->meter == KWHY_METER_NVML_INSTANT && ms % POWER_MS == 0)
		add(series, shown_ns, 1e3 * shown->filtered_w);
	if (series->meter == KWHY_METER_NVML_AVERAGE && ms % POWER_MS == 0)
		add(series, shown_ns, 1e3 * shown->mean_w);
}

/*
 * Makes the readings of a meter over the whole length. `counter` is the value of a counter before its first
 * reading.
 */
static void read_meter(struct fault_series *series, const struct fault_device *device, size_t length_ms,
	double counter, struct random *random)
{
	const double unit_j = (double)kwhy_meter_unit_nj(series->meter) * 1e-9;
	double filtered_w = device->power_w[0], sum_w[MEAN_MS] = {0}, mean_w = 0;
	const bool prompt = series->device < 0;

	for (int i = 0; i < MEAN_MS; i++) {
		sum_w[i] = filtered_w;
		mean_w += filtered_w / MEAN_MS;
	}
	for (size_t ms = 0; ms < length_ms; ms++) {
		const int64_t shown_ns = ((int64_t)ms + 1 + (prompt ? 0 : DELAY_MS) - FAULT_BEFORE_MS) * MS;

		filtered_w = prompt
			? device->power_w[ms]
			: filtered_w + (device->power_w[ms] - filtered_w) * (1 - exp(-1 / TAU_MS));
		mean_w += (filtered_w - sum_w[ms % MEAN_MS]) / MEAN_MS;
		sum_w[ms % MEAN_MS] = filtered_w;
		if (kwhy_meter_is_counter(series->meter))
			counter += filtered_w * 1e-3 / unit_j;
		read_once(series, ms, shown_ns, &(struct shown){filtered_w, mean_w, counter}, random);
	}
}

static void add_series(
	struct fault_case *made, enum kwhy_meter meter, int device, double counter, struct random *random)
{
	struct fault_series *series = &made->series[made->series_count++];

	*series = (struct fault_series){meter, device, calloc(2 * made->length_ms, sizeof(int64_t)),
		calloc(2 * made->length_ms, sizeof(int64_t)), 0};
	read_meter(
		series, device < 0 ? &made->host : &made->devices[device], made->length_ms, counter, random);
}

/* Sets of meters that drivers and tools provide together. */
static void add_meters(struct fault_case *made, struct random *random)
{
	static const enum kwhy_meter sets[][FAULT_METERS + 1] = {
		{KWHY_METER_NVML_ENERGY, KWHY_METER_COUNT},
		{KWHY_METER_NVML_ENERGY, KWHY_METER_NVML_SAMPLE, KWHY_METER_COUNT},
		{KWHY_METER_NVML_SAMPLE, KWHY_METER_COUNT},
		{KWHY_METER_NVML_INSTANT, KWHY_METER_COUNT},
		{KWHY_METER_NVML_AVERAGE, KWHY_METER_COUNT},
		{KWHY_METER_NVML_ENERGY, KWHY_METER_NVML_AVERAGE, KWHY_METER_COUNT},
		{KWHY_METER_NVML_ENERGY, KWHY_METER_NVML_SAMPLE, KWHY_METER_NVML_INSTANT,
			KWHY_METER_NVML_AVERAGE, KWHY_METER_COUNT},
	};
	/*
	 * These faults are made in counters only. In a power meter, values that are too large from some time
	 * on cannot be distinguished from a wrong gain.
	 */
	const bool counter_only = made->fault == FAULT_WRAPPED || made->fault == FAULT_RESET ||
		made->fault == FAULT_JUMP;
	const int set = counter_only ? below(random, 2)
				     : below(random, (int)(sizeof(sets) / sizeof(sets[0])));

	for (int device = 0; device < made->device_count; device++)
		for (int i = 0; sets[set][i] != KWHY_METER_COUNT; i++)
			add_series(made, sets[set][i], device, between(random, 1e6, 4e9), random);
	made->faulty = below(random, (int)made->series_count / made->device_count);
	if (below(random, 4) == 0) {
		/*
		 * If a host meter was added, it gets the fault in half of the cases. Not if the fault is a
		 * clock that is set: that shifts the times of its readings and not its energy.
		 */
		if (below(random, 2) == 0 && made->fault != FAULT_CLOCK_STEP)
			made->faulty = (int)made->series_count;
		add_series(made, KWHY_METER_RAPL_PACKAGE, -1, between(random, 1e6, 1e9), random);
	}
	if (counter_only && made->faulty >= 0 && !kwhy_meter_is_counter(made->series[made->faulty].meter))
		made->faulty = 0;
}

static void remove_between(struct fault_series *series, int64_t from_ns, int64_t to_ns)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->count; i++) {
		if (series->time_ns[i] >= from_ns && series->time_ns[i] < to_ns)
			continue;
		series->time_ns[kept] = series->time_ns[i];
		series->value[kept++] = series->value[i];
	}
	series->count = kept;
}

static size_t first_from(const struct fault_series *series, int64_t time_ns)
{
	size_t i = 0;

	while (i < series->count && series->time_ns[i] < time_ns)
		i++;
	return i;
}

static void set_values(struct fault_series *series, size_t from, size_t to, int64_t value)
{
	for (size_t i = from; i < to && i < series->count; i++)
		series->value[i] = value;
}

static void add_to_values(struct fault_series *series, size_t from, size_t to, int64_t value)
{
	for (size_t i = from; i < to && i < series->count; i++)
		series->value[i] += value;
}

static void divide_values(struct fault_series *series, size_t from, int64_t by)
{
	for (size_t i = from; i < series->count; i++)
		series->value[i] /= by;
}

static void shift_times(struct fault_series *series, size_t from, int64_t by_ns)
{
	for (size_t i = from; i < series->count; i++)
		series->time_ns[i] += by_ns;
}

static void repeat_rows(struct fault_series *series, struct random *random)
{
	struct fault_series old = *series;
	const bool same_time = below(random, 2) == 0;

	series->time_ns = calloc(2 * old.count, sizeof(int64_t));
	series->value = calloc(2 * old.count, sizeof(int64_t));
	series->count = 0;
	for (size_t i = 0; i < old.count; i++) {
		add(series, old.time_ns[i], (double)old.value[i]);
		if (below(random, 3) == 0)
			add(series, old.time_ns[i] + (same_time ? 0 : 7 * MS), (double)old.value[i]);
	}
	free(old.time_ns);
	free(old.value);
}

static void disorder(struct fault_series *series, struct random *random)
{
	for (size_t i = series->count - 1; i > 0; i--) {
		const size_t other = (size_t)below(random, (int)i + 1);
		const int64_t time_ns = series->time_ns[i], value = series->value[i];

		series->time_ns[i] = series->time_ns[other];
		series->value[i] = series->value[other];
		series->time_ns[other] = time_ns;
		series->value[other] = value;
	}
}

static void jitter(struct fault_series *series, struct random *random)
{
	const int64_t most_ns = below(random, 2) ? 15 * MS : 90 * MS;

	for (size_t i = 0; i < series->count; i++)
		series->time_ns[i] += (int64_t)between(random, 0, (double)most_ns);
}

/*
 * Returns how much a fault adds to a value, in the meter's unit: for a counter, 3 % to 316 % of its
 * rise in the whole run; for a power meter, 3 % to 316 % of the middle one of its readings.
 */
static int64_t jump_of(const struct fault_series *series, struct random *random)
{
	const double ratio = pow(10, between(random, -1.5, 0.5));

	if (kwhy_meter_is_counter(series->meter))
		return llround(ratio * (double)(series->value[series->count - 1] - series->value[0]));
	return llround(ratio * (double)series->value[series->count / 2]);
}

static void wrap(struct fault_series *series, size_t at)
{
	const int64_t before = series->value[at];

	for (size_t i = 0; i < series->count; i++)
		series->value[i] = (series->value[i] - before + (INT64_C(1) << 32)) % (INT64_C(1) << 32);
}

static void keep_each(struct fault_series *series, size_t step)
{
	size_t kept = 0;

	for (size_t i = 0; i < series->count; i += step) {
		series->time_ns[kept] = series->time_ns[i];
		series->value[kept++] = series->value[i];
	}
	series->count = kept;
}

/* Changes the values of the readings from number `at` on as the fault prescribes. */
static void spoil_values(
	struct fault_case *made, struct fault_series *series, size_t at, struct random *random)
{
	const size_t few = at + 1 + (size_t)below(random, 3), many = at + 3 + (size_t)below(random, 30);

	switch (made->fault) {
	case FAULT_STUCK_FROM:
		set_values(series, at, series->count, series->value[at]);
		break;
	case FAULT_STUCK_WHILE:
		set_values(series, at, many, series->value[at]);
		break;
	case FAULT_STUCK_ALWAYS:
		set_values(series, 0, series->count, series->value[0]);
		break;
	case FAULT_ZERO_FROM:
		set_values(series, at, series->count, 0);
		break;
	case FAULT_NEGATIVE:
		set_values(series, at, few, -1 - below(random, 100000));
		break;
	case FAULT_NOT_A_NUMBER:
		set_values(series, at, below(random, 2) ? few : series->count, FAULT_NO_NUMBER);
		break;
	case FAULT_WRAPPED:
		wrap(series, at);
		break;
	case FAULT_RESET:
		add_to_values(series, at, series->count, -series->value[at]);
		break;
	case FAULT_DIP:
		set_values(series, at, few, below(random, 2) ? 0 : series->value[at] / 2);
		break;
	case FAULT_PEAK:
		add_to_values(series, at, few, jump_of(series, random));
		break;
	case FAULT_JUMP:
		add_to_values(series, at, series->count, jump_of(series, random));
		break;
	case FAULT_UNIT_FROM:
		divide_values(series, at, 1000);
		break;
	case FAULT_UNIT_ALWAYS:
		divide_values(series, 0, 1000);
		break;
	default:
		break;
	}
}

static void spoil_times(
	const struct fault_case *made, struct fault_series *series, int64_t at_ns, struct random *random)
{
	const size_t at = first_from(series, at_ns);
	const int64_t back_ns = at_ns + (int64_t)between(random, 300e6, 2000e6), last_ns = INT64_MAX;

	switch (made->fault) {
	case FAULT_LATE:
		shift_times(series, 0, (int64_t)between(random, 30e6, 1200e6));
		break;
	case FAULT_JITTER:
		jitter(series, random);
		break;
	case FAULT_REPEATED:
		repeat_rows(series, random);
		break;
	case FAULT_DISORDERED:
		disorder(series, random);
		break;
	case FAULT_LOST_WHILE:
		remove_between(series, at_ns, back_ns);
		break;
	case FAULT_RELOADED:
		remove_between(series, at_ns, back_ns);
		if (kwhy_meter_is_counter(series->meter) && at < series->count)
			add_to_values(series, at, series->count, -series->value[at]);
		break;
	case FAULT_WITHDRAWN:
		remove_between(series, at_ns, last_ns);
		break;
	case FAULT_LATE_START:
		remove_between(series, INT64_MIN, at_ns);
		break;
	case FAULT_CLOCK_STEP:
		shift_times(series, at, (int64_t)between(random, -1500e6, 1500e6));
		break;
	case FAULT_SPARSE:
		keep_each(series, (size_t)between(random, 5, series->count / 3.0));
		break;
	default:
		break;
	}
}

/*
 * Whether the fault is one of the driver, which all meters of a device have at once: the driver loses the
 * device, exchanges device numbers, or sets its clock.
 */
static bool is_of_driver(enum meter_fault fault)
{
	return fault == FAULT_LOST_WHILE || fault == FAULT_RELOADED || fault == FAULT_WITHDRAWN ||
		fault == FAULT_LATE_START || fault == FAULT_CLOCK_STEP;
}

/* Exchanges the readings of two devices from some time on. */
static void exchange(struct fault_case *made, int64_t at_ns)
{
	const size_t each = made->series_count / FAULT_DEVICES;

	for (size_t s = 0; s < each; s++) {
		struct fault_series *left = &made->series[s], *right = &made->series[s + each];

		for (size_t i = first_from(left, at_ns); i < left->count; i++) {
			const int64_t value = left->value[i];

			left->value[i] = right->value[i];
			right->value[i] = value;
		}
	}
}

static void spoil(struct fault_case *made, struct random *random, int64_t span_ms)
{
	const int64_t at_ns = (int64_t)(between(random, 0.1, 0.9) * (double)span_ms) * MS;
	struct random same = {random->state};

	if (made->fault == FAULT_RENUMBERED) {
		exchange(made, at_ns);
		return;
	}
	for (size_t s = 0; s < made->series_count; s++) {
		struct random own = is_of_driver(made->fault) ? same : *random;
		struct fault_series *series = &made->series[s];

		if ((int)s != made->faulty &&
			!(is_of_driver(made->fault) && made->faulty < 2 && series->device == 0))
			continue;
		spoil_values(made, series, first_from(series, at_ns), &own);
		spoil_times(made, series, at_ns, &own);
	}
}

struct fault_case *fault_case_new(uint64_t seed, enum meter_fault fault)
{
	struct fault_case *made = calloc(1, sizeof(*made));
	struct random random = {seed * 7919 + 13};
	const int64_t span_ms = 2000 + below(&random, 4000);
	int64_t end_ms = 0;

	made->seed = seed;
	made->fault = fault;
	made->device_count = fault == FAULT_RENUMBERED ? 2 : 1;
	for (int d = 0; d < made->device_count; d++) {
		const struct fault_device *device = &made->devices[d];

		make_work(&made->devices[d], &random, span_ms);
		if (device->runs[device->run_count - 1].end_ns / MS > end_ms)
			end_ms = device->runs[device->run_count - 1].end_ns / MS;
	}
	made->host.idle_w = between(&random, 80, 300);
	made->length_ms = (size_t)(FAULT_BEFORE_MS + end_ms + AFTER_MS);
	for (int d = 0; d < made->device_count; d++)
		make_power(&made->devices[d], made->length_ms);
	make_power(&made->host, made->length_ms);
	add_meters(made, &random);
	spoil(made, &random, span_ms);
	return made;
}

void fault_case_free(struct fault_case *made)
{
	for (size_t s = 0; s < made->series_count; s++) {
		free(made->series[s].time_ns);
		free(made->series[s].value);
	}
	for (int d = 0; d < FAULT_DEVICES; d++)
		free(made->devices[d].power_w);
	free(made->host.power_w);
	free(made);
}
