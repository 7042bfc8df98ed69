/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/self_test.h"

#include "base/iso_time.h"
#include "bench/calibration/energies.h"
#include "bench/calibration/lags.h"
#include "bench/calibration/updates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MS INT64_C(1000000)
/* time after a change of power until NVML's power samples show the new level */
#define SETTLE_NS (300 * MS)
/* the power of the FMA kernel is measured in loads whose kernels take at least this long */
#define LONG_ON_NS (400 * MS)
/*
 * About 250 ms after the start of a pulse of the FMA kernel, the power of an H200 rises by 2.5 %. The power
 * before this rise is measured from EARLY_FROM_NS to EARLY_TO_NS after the start of each pulse of the long
 * loads. The expected energy of a load has this power in the first EARLY_END_NS of every pulse.
 */
#define EARLY_FROM_NS (100 * MS) /* by then the power samples show the power of the kernel */
#define EARLY_TO_NS (200 * MS)
#define EARLY_END_NS (250 * MS)
#define JOIN_NS (2 * MS) /* kernels separated by shorter gaps count as one pulse */

/* State of evaluating a calibration. */
struct findings {
	const struct kwhy_calibration *calibration;
	struct kwhy_profile *profile;
	struct kwhy_self_test *test;
	struct kwhy_updates updates[KWHY_METER_COUNT];
	struct kwhy_meter_lag lags[KWHY_METER_COUNT];
	/*
	 * Power of the FMA kernel in the first EARLY_END_NS of a pulse (early_w) and later in it (late_w),
	 * and idle power after loads (off_w); NAN: unknown.
	 */
	struct kwhy_measured early_w, late_w, off_w;
};

static const struct kwhy_measured unknown = {NAN, NAN};

static bool is_tested(enum kwhy_meter meter)
{
	return kwhy_meter_row(meter)->owner == KWHY_METER_OWNER_GPU;
}

static bool is_stamped(enum kwhy_meter meter)
{
	return kwhy_meter_row(meter)->role & (KWHY_METER_ROLE_UPDATES | KWHY_METER_ROLE_SAMPLES);
}

/*
 * The readings of the first power meter, in the order of kwhy_meters_ranked(), that has readings. If no power
 * meter has readings, the empty series of the first meter in that order.
 */
static const struct kwhy_meter_series *power_of(const struct kwhy_calibration *calibration)
{
	const struct kwhy_meter_list powers = kwhy_meters_ranked(KWHY_METER_OWNER_GPU, KWHY_METER_POWERS);

	for (size_t i = 0; i < powers.count; i++)
		if (calibration->meters[powers.items[i]].count)
			return &calibration->meters[powers.items[i]];
	return &calibration->meters[powers.items[0]];
}

/*
 * Adds a note to the profile that says how the figure `key` of section `part` was measured (`source`) and
 * under which conditions. `source` is NULL if there was no memory for its text.
 */
static void add_note(struct findings *findings, const char *part, const char *key, const char *conditions,
	const char *source)
{
	struct kwhy_profile *profile = findings->profile;

	profile->notes[profile->note_count++] = (struct kwhy_profile_note){part, key, source, conditions};
}

#define note(findings, part, key, conditions, ...) \
	add_note(findings, part, key, conditions, kwhy_arena_printf(&(findings)->profile->arena, __VA_ARGS__))

static enum kwhy_status find_meters(struct findings *findings, struct kwhy_error *error)
{
	const struct kwhy_calibration *calibration = findings->calibration;
	enum kwhy_status status = KWHY_OK;

	for (enum kwhy_meter meter = 0; !status && meter < KWHY_METER_COUNT; meter++) {
		struct kwhy_updates *updates = &findings->updates[meter];

		if (!is_tested(meter))
			continue;
		status = kwhy_updates_find(calibration->meters[meter].items, calibration->meters[meter].count,
			is_stamped(meter), updates, error);
		if (!status && !kwhy_meter_is_counter(meter))
			status = kwhy_meter_lag_find(calibration, meter, is_stamped(meter),
				updates->period_s.value, &findings->lags[meter], error);
	}
	return status;
}

static bool is_long(const struct kwhy_phase *phase)
{
	return phase->kind == KWHY_PHASE_LOAD && phase->load.on_ns >= LONG_ON_NS;
}

/* Sums for a mean and a standard deviation. */
struct tally {
	double count, sum, squares;
};

static void add_to(struct tally *tally, double value)
{
	if (!isfinite(value))
		return;
	tally->count++;
	tally->sum += value;
	tally->squares += value * value;
}

static struct kwhy_measured mean_of(const struct tally *tally)
{
	double mean = tally->sum / tally->count;

	if (tally->count == 0)
		return unknown;
	return (struct kwhy_measured){mean, sqrt(fmax(tally->squares / tally->count - mean * mean, 0))};
}

/*
 * Idle power after work, in watts: the mean over all loads of the power in the pause after the load, from
 * SETTLE_NS after its last kernel.
 */
static struct kwhy_measured execution_idle(const struct findings *findings)
{
	const struct kwhy_calibration *calibration = findings->calibration;
	struct tally idle = {0};

	for (size_t i = 0; i < calibration->phase_count; i++) {
		const struct kwhy_phase *phase = &calibration->phases[i];

		if (phase->kind == KWHY_PHASE_LOAD)
			add_to(&idle,
				kwhy_series_watts(power_of(calibration),
					calibration->pulses[phase->first_pulse + phase->pulse_count - 1]
							.end_ns +
						SETTLE_NS,
					phase->end_ns)
					.value);
	}
	return mean_of(&idle);
}

/*
 * Index of the last kernel of the pulse whose first kernel is pulses[i]. Kernels with gaps below JOIN_NS are
 * one pulse.
 */
static size_t joined(const struct kwhy_calibration *calibration, const struct kwhy_phase *phase, size_t i)
{
	size_t end = phase->first_pulse + phase->pulse_count;

	while (i + 1 < end && calibration->pulses[i + 1].start_ns - calibration->pulses[i].end_ns < JOIN_NS)
		i++;
	return i;
}

/*
 * Measures the power of the FMA kernel in loads with kernels of at least LONG_ON_NS, before and after the
 * rise 250 ms after the start of a pulse, and the idle power after the loads.
 */
static void find_levels(struct findings *findings)
{
	const struct kwhy_calibration *calibration = findings->calibration;
	const struct kwhy_meter_series *power = power_of(calibration);
	struct tally early = {0}, late = {0};

	for (size_t p = 0; p < calibration->phase_count; p++) {
		const struct kwhy_phase *phase = &calibration->phases[p];

		if (!is_long(phase) || phase->load.burn != KWHY_BURN_FMA)
			continue;
		for (size_t i = phase->first_pulse; i < phase->first_pulse + phase->pulse_count;) {
			int64_t start_ns = calibration->pulses[i].start_ns,
				end_ns = calibration->pulses[i = joined(calibration, phase, i)].end_ns;

			i++;
			add_to(&early,
				kwhy_series_watts(power, start_ns + EARLY_FROM_NS, start_ns + EARLY_TO_NS)
					.value);
			add_to(&late, kwhy_series_watts(power, start_ns + SETTLE_NS, end_ns).value);
		}
	}
	findings->early_w = mean_of(&early);
	findings->late_w = mean_of(&late);
	findings->off_w = execution_idle(findings);
}

/*
 * Stores the figures of NVML's power samples in the profile. The time constant and the delay are stored only
 * if a low-pass filter fits best, because the ledger models these samples as a low-pass filter.
 */
static void tell_ring(struct findings *findings)
{
	struct kwhy_profile *profile = findings->profile;
	const struct kwhy_updates *ring = &findings->updates[KWHY_METER_NVML_SAMPLE];
	const struct kwhy_meter_lag *lag = &findings->lags[KWHY_METER_NVML_SAMPLE];

	if (isfinite(ring->period_s.value)) {
		profile->sensor.sample_period_s = ring->period_s;
		profile->sensor.late_share = ring->late_share;
		profile->sensor.late_s = ring->late_s;
		note(findings, "sensor", "sample_period_s", "median of the driver's own time stamps",
			"%zu updates of the ring; 98 %% of the gaps are %.1f to %.1f ms", ring->count,
			1e3 * ring->shortest_s, 1e3 * ring->longest_s);
		note(findings, "sensor", "late_ratio", NULL,
			"stamps of the ring after too long a gap and before too short a one");
		note(findings, "sensor", "late_s",
			"the uncertainty is the standard deviation of single stamps", "the same stamps");
	}
	if (!lag->found || lag->kind != KWHY_LAG_LOW_PASS)
		return;
	profile->sensor.time_constant_s = (struct kwhy_measured){lag->lag.width_s, lag->lag.width_sd_s};
	profile->sensor.delay_s = (struct kwhy_measured){lag->lag.delay_s, lag->lag.delay_sd_s};
	note(findings, "sensor", "time_constant_s", "the energy counter integrates the same signal",
		"low-pass fitted to the ring over %zu loads of known times, late stamps left out",
		lag->phase_count);
	note(findings, "sensor", "delay_s", NULL, "the same fit");
}

static void tell_sensors(struct findings *findings)
{
	struct kwhy_profile *profile = findings->profile;
	const struct kwhy_updates *counter = &findings->updates[KWHY_METER_NVML_ENERGY];
	const struct kwhy_meter_lag *average = &findings->lags[KWHY_METER_NVML_AVERAGE];

	tell_ring(findings);
	if (isfinite(counter->period_s.value)) {
		profile->sensor.counter_period_s = counter->period_s;
		note(findings, "sensor", "counter_period_s", NULL,
			"%zu updates of the energy counter, each found by polling round it", counter->count);
	}
	if (average->found && average->kind == KWHY_LAG_MEAN) {
		profile->sensor.average_window_s = average->lag.width_s;
		note(findings, "sensor", "average_window_s", "of this driver; others differ",
			"trailing mean fitted to the averaged power over %zu loads", average->phase_count);
	}
}

static struct kwhy_measured idle_of(const struct findings *findings, enum kwhy_phase_kind kind)
{
	const struct kwhy_calibration *calibration = findings->calibration;

	for (size_t i = 0; i < calibration->phase_count; i++)
		if (calibration->phases[i].kind == kind)
			return kwhy_series_watts(power_of(calibration),
				calibration->phases[i].start_ns + SETTLE_NS, calibration->phases[i].end_ns);
	return unknown;
}

static void tell_powers(struct findings *findings)
{
	struct kwhy_profile *profile = findings->profile;

	profile->clean_idle_w = idle_of(findings, KWHY_PHASE_CLEAN_IDLE);
	profile->context_idle_w = idle_of(findings, KWHY_PHASE_CONTEXT_IDLE);
	profile->execution_idle_w = execution_idle(findings);
	if (isfinite(profile->clean_idle_w.value))
		note(findings, "power", "clean_idle_w",
			"the uncertainty is the standard deviation of single samples",
			"mean before any context, no process on the device");
	if (isfinite(profile->context_idle_w.value))
		note(findings, "power", "context_idle_w",
			"the uncertainty is the standard deviation of single samples",
			"mean with a live context that has run nothing yet");
	if (isfinite(profile->execution_idle_w.value))
		note(findings, "power", "execution_idle_w",
			"the uncertainty is the standard deviation between loads",
			"mean of the idle intervals after each load, from 0.3 s after it");
	if (findings->calibration->limit_mw > 0) {
		profile->limit_w = (double)findings->calibration->limit_mw * 1e-3;
		note(findings, "power", "limit_w", NULL, "enforced limit, as the driver reports it");
	}
}

static void tell_costs(struct findings *findings)
{
	static const char *const sd = "median; the uncertainty is half the interquartile range";
	const struct kwhy_call_costs *costs = &findings->calibration->costs;
	struct kwhy_profile *profile = findings->profile;
	const struct {
		const char *part, *key, *source;
		const struct kwhy_measured *from;
		struct kwhy_measured *to;
	} rows[] = {
		{"cost", "launch_s", "cuLaunchKernel of an empty kernel, call to return, queue not full",
			&costs->launch_s, &profile->launch_s},
		{"cost", "synchronize_s", "cuStreamSynchronize with nothing left to wait for",
			&costs->synchronize_s, &profile->synchronize_s},
		{"cost", "copy_latency_s", "cuMemcpyHtoD of 38 B from pageable memory, call to return",
			&costs->copy_latency_s, &profile->copy_latency_s},
		{"cost", "graph_launch_s", "cuGraphLaunch of one empty kernel, call to return",
			&costs->graph_launch_s, &profile->graph_launch_s},
		{"cost", "graph_launch_node_s",
			"cuGraphLaunch of 16 and of 80 empty kernels in a row, call to return: for each more",
			&costs->graph.launch_node_s, &profile->graph_launch_node_s},
		{"cost", "graph_start_node_s",
			"the same until they are known to be done, less graph_node_s: for each more the "
			"first begins this much later",
			&costs->graph.start_node_s, &profile->graph_start_node_s},
		{"cost", "graph_node_s",
			"graphs of 16 and of 80 empty kernels in a row, by the device's clock: for each more",
			&costs->graph.node_s, &profile->graph_node_s},
		{"cost", "queued_kernel_s",
			"16 and 80 empty kernels queued before the first runs, by the device's clock: for "
			"each more",
			&costs->graph.queued_kernel_s, &profile->queued_kernel_s},
		{"copy", "h2d_pinned_bytes_per_s", "cuMemcpyHtoD of 256 MiB, random data", &costs->h2d_pinned,
			&profile->h2d_pinned_rate_bytes_per_s},
		{"copy", "h2d_pageable_bytes_per_s", "cuMemcpyHtoD of 256 MiB, random data",
			&costs->h2d_pageable, &profile->h2d_pageable_rate_bytes_per_s},
		{"copy", "d2h_pinned_bytes_per_s", "cuMemcpyDtoH of 256 MiB, random data", &costs->d2h_pinned,
			&profile->d2h_pinned_rate_bytes_per_s},
		{"copy", "d2h_pageable_bytes_per_s", "cuMemcpyDtoH of 256 MiB, random data",
			&costs->d2h_pageable, &profile->d2h_pageable_rate_bytes_per_s},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!isfinite(rows[i].from->value))
			continue;
		*rows[i].to = *rows[i].from;
		note(findings, rows[i].part, rows[i].key, sd, "%s", rows[i].source);
	}
}

static void tell_sources(struct findings *findings)
{
	struct kwhy_self_test *test = findings->test;

	for (enum kwhy_meter meter = 0; meter < KWHY_METER_COUNT; meter++) {
		const struct kwhy_updates *updates = &findings->updates[meter];
		const struct kwhy_meter_lag *lag = &findings->lags[meter];
		struct kwhy_measured width = {lag->lag.width_s, lag->lag.width_sd_s};

		if (!is_tested(meter) || !findings->calibration->meters[meter].count)
			continue;
		test->sources[test->source_count++] = (struct kwhy_self_test_source){
			.meter = meter,
			.readings = findings->calibration->meters[meter].count,
			.update_s = updates->period_s,
			.update_low_s = updates->shortest_s,
			.update_high_s = updates->longest_s,
			.time_constant_s = lag->found && lag->kind == KWHY_LAG_LOW_PASS ? width : unknown,
			.window_s = lag->found && lag->kind == KWHY_LAG_MEAN ? width : unknown,
			.delay_s = lag->found ? (struct kwhy_measured){lag->lag.delay_s, lag->lag.delay_sd_s}
					      : unknown,
		};
	}
}

/*
 * Total duration of a load's pulses in seconds: of the first EARLY_END_NS of each pulse (*out_early_s), and
 * of the rest (*out_late_s).
 */
static void on_seconds(const struct kwhy_calibration *calibration, const struct kwhy_phase *phase,
	double *out_early_s, double *out_late_s)
{
	*out_early_s = *out_late_s = 0;
	for (size_t i = phase->first_pulse; i < phase->first_pulse + phase->pulse_count;) {
		size_t last = joined(calibration, phase, i);
		int64_t length_ns = calibration->pulses[last].end_ns - calibration->pulses[i].start_ns,
			early_ns = length_ns < EARLY_END_NS ? length_ns : EARLY_END_NS;

		*out_early_s += (double)early_ns * 1e-9;
		*out_late_s += (double)(length_ns - early_ns) * 1e-9;
		i = last + 1;
	}
}

/*
 * Expected energy in joules of an FMA load in a window of window_s seconds: early_w and late_w while its
 * kernels run, off_w in between. NAN: another load.
 */
static struct kwhy_measured expected_joules(
	const struct findings *findings, const struct kwhy_phase *phase, double window_s)
{
	double early_s, late_s, off_s;

	if (phase->load.burn != KWHY_BURN_FMA)
		return unknown;
	on_seconds(findings->calibration, phase, &early_s, &late_s);
	off_s = window_s - early_s - late_s;
	return (struct kwhy_measured){findings->early_w.value * early_s + findings->late_w.value * late_s +
			findings->off_w.value * off_s,
		hypot(hypot(findings->early_w.sd * early_s, findings->late_w.sd * late_s),
			findings->off_w.sd * off_s)};
}

static enum kwhy_status tell_load(
	struct findings *findings, const struct kwhy_phase *phase, struct kwhy_error *error)
{
	const struct kwhy_calibration *calibration = findings->calibration;
	struct kwhy_self_test_load *load = &findings->test->loads[findings->test->load_count++];
	int64_t start_ns = calibration->pulses[phase->first_pulse].start_ns,
		end_ns = calibration->pulses[phase->first_pulse + phase->pulse_count - 1].end_ns +
		phase->load.off_ns;
	struct kwhy_energies energies;
	enum kwhy_status status = kwhy_energies_of(
		calibration, findings->profile, start_ns, end_ns, &energies, error);

	if (status)
		return status;
	*load = (struct kwhy_self_test_load){
		.name = kwhy_arena_copy(&findings->profile->arena, phase->load.name),
		.kernel = kwhy_burn_name(phase->load.burn),
		.on_s = (double)phase->load.on_ns * 1e-9,
		.off_s = (double)phase->load.off_ns * 1e-9,
		.pulses = (uint32_t)phase->pulse_count,
		.window_s = (double)(end_ns - start_ns) * 1e-9,
		.power_w = unknown,
		.expected_j = expected_joules(findings, phase, (double)(end_ns - start_ns) * 1e-9),
	};
	if (phase->load.off_ns == 0)
		load->power_w = kwhy_series_watts(power_of(calibration), start_ns + SETTLE_NS, end_ns);
	memcpy(load->energy_j, energies.joules, sizeof(load->energy_j));
	return load->name ? KWHY_OK : kwhy_fail_memory(error, "a machine profile");
}

static enum kwhy_status tell_loads(struct findings *findings, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < findings->calibration->phase_count; i++)
		if (findings->calibration->phases[i].kind == KWHY_PHASE_LOAD)
			status = tell_load(findings, &findings->calibration->phases[i], error);
	return status;
}

static void range_of(const struct kwhy_meter_series *series, double scale, double *out_low, double *out_high)
{
	*out_low = *out_high = NAN;
	for (size_t i = 0; i < series->count; i++) {
		double value = scale * (double)series->items[i].value;

		*out_low = i == 0 ? value : fmin(*out_low, value);
		*out_high = i == 0 ? value : fmax(*out_high, value);
	}
}

static unsigned throttled(const struct kwhy_meter_series *series)
{
	unsigned bits = 0;

	for (size_t i = 0; i < series->count; i++)
		bits |= (unsigned)series->items[i].value;
	return bits & ~(unsigned)KWHY_THROTTLE_IDLE;
}

static double ring_to_counter(const struct kwhy_calibration *calibration)
{
	const struct kwhy_meter_series *counter = &calibration->meters[KWHY_METER_NVML_ENERGY];
	double joules;

	if (counter->count < 3)
		return NAN;
	/*
	 * The last two updates of the counter are left out, because they may be later than the last power
	 * sample.
	 */
	joules = (double)(counter->items[counter->count - 3].value - counter->items[0].value) * 1e-9 *
		(double)kwhy_meter_unit_nj(KWHY_METER_NVML_ENERGY);
	return kwhy_series_joules(&calibration->meters[KWHY_METER_NVML_SAMPLE],
		       counter->items[0].time_mono_ns, counter->items[counter->count - 3].time_mono_ns) /
		joules;
}

static void tell_conditions(struct findings *findings)
{
	const struct kwhy_calibration *calibration = findings->calibration;
	struct kwhy_self_test *test = findings->test;

	range_of(&calibration->gauges[KWHY_GAUGE_TEMPERATURE], 1e-3, &test->temperature_low_c,
		&test->temperature_high_c);
	range_of(&calibration->gauges[KWHY_GAUGE_SM_CLOCK], 1, &test->clock_low_hz, &test->clock_high_hz);
	test->throttle_bits = throttled(&calibration->gauges[KWHY_GAUGE_THROTTLE_REASONS]);
	test->seed = calibration->seed;
	test->processes_before = calibration->processes_before;
	test->ring_to_counter_ratio = ring_to_counter(calibration);
}

static enum kwhy_status tell_machine(struct findings *findings, struct kwhy_error *error)
{
	const struct kwhy_calibration *calibration = findings->calibration;
	struct kwhy_profile *profile = findings->profile;
	char date[KWHY_ISO_TIME_BYTES];

	kwhy_iso_time(date, calibration->started_unix_ns);
	date[KWHY_ISO_DATE_LENGTH] = '\0';
	profile->device_name = kwhy_arena_copy(&profile->arena, calibration->gpu.name);
	profile->driver = calibration->driver ? kwhy_arena_copy(&profile->arena, calibration->driver) : NULL;
	profile->cuda = calibration->gpu.driver_api[0]
		? kwhy_arena_copy(&profile->arena, calibration->gpu.driver_api)
		: NULL;
	profile->measured_on = kwhy_arena_copy(&profile->arena, date);
	profile->sm_count = calibration->gpu.sm_count;
	profile->threads_per_sm = calibration->gpu.threads_per_sm;
	profile->registers_per_sm = calibration->gpu.registers_per_sm;
	profile->shared_bytes_per_sm = calibration->gpu.shared_bytes_per_sm;
	return profile->device_name && profile->measured_on ? KWHY_OK
							    : kwhy_fail_memory(error, "a machine profile");
}

static enum kwhy_status find_all(struct findings *findings, struct kwhy_error *error)
{
	enum kwhy_status status = tell_machine(findings, error);

	if (!status)
		status = find_meters(findings, error);
	if (status)
		return status;
	find_levels(findings);
	tell_sensors(findings);
	tell_powers(findings);
	tell_costs(findings);
	tell_sources(findings);
	tell_conditions(findings);
	return tell_loads(findings, error);
}

/* Allocates space for all results of the evaluation. */
static enum kwhy_status reserve(struct findings *findings, struct kwhy_error *error)
{
	struct kwhy_arena *arena = &findings->profile->arena;

	findings->test = kwhy_arena_alloc(arena, 1, sizeof(*findings->test));
	findings->profile->notes = kwhy_arena_alloc(
		arena, kwhy_profile_figure_count, sizeof(*findings->profile->notes));
	if (findings->test) {
		findings->test->sources = kwhy_arena_alloc(
			arena, KWHY_METER_COUNT, sizeof(*findings->test->sources));
		findings->test->loads = kwhy_arena_alloc(
			arena, KWHY_PHASES_MAX, sizeof(*findings->test->loads));
	}
	if (!findings->test || !findings->profile->notes || !findings->test->sources ||
		!findings->test->loads)
		return kwhy_fail_memory(error, "a machine profile");
	findings->profile->self_test = findings->test;
	return KWHY_OK;
}

void kwhy_self_test_profile_free(struct kwhy_profile *profile)
{
	if (!profile)
		return;
	kwhy_arena_done(&profile->arena);
	free(profile);
}

enum kwhy_status kwhy_self_test_profile(
	const struct kwhy_calibration *calibration, struct kwhy_profile **out, struct kwhy_error *error)
{
	struct findings *findings = calloc(1, sizeof(*findings));
	struct kwhy_profile *profile = malloc(sizeof(*profile));
	enum kwhy_status status = findings && profile ? KWHY_OK
						      : kwhy_fail_memory(error, "a machine profile");

	if (!status) {
		kwhy_profile_init(profile);
		findings->calibration = calibration;
		findings->profile = profile;
		status = reserve(findings, error);
	}
	if (!status)
		status = find_all(findings, error);
	if (status && findings && profile)
		kwhy_self_test_profile_free(profile);
	else if (status)
		free(profile);
	else
		*out = profile;
	free(findings);
	return status;
}
