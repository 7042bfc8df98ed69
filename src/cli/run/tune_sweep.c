/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/tune_sweep.h"

#include "base/quantity.h"
#include "base/random.h"
#include "cli/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

/* Lowest clock rate of a sweep if the user states none, as a share of the device's highest rate. */
#define CLOCK_FROM 0.4
/*
 * Largest half-width of the 95 % interval of a run's energy, as a share of that energy, with which the sweep
 * goes on. With a wider interval, settings that differ by a few percent cannot be compared.
 */
#define METER_HALF_MAX 0.05

static double unit_of(enum kwhy_tune_kind kind)
{
	return kind == KWHY_TUNE_CAP ? 1000 : 1;
}

static const char *unit_name(enum kwhy_tune_kind kind)
{
	return kind == KWHY_TUNE_CAP ? "W" : "MHz";
}

/*
 * Value number `step`, counted from 0, of `values` (at least 2) values that are evenly spaced from `from` to
 * `to`, rounded.
 */
static unsigned value_at(double from, double to, uint64_t step, uint64_t values)
{
	return (unsigned)lround(from + (to - from) * (double)step / (double)(values - 1));
}

/* Plans the runs: each value once for each repetition, the runs of a repetition in random order. */
static enum kwhy_status plan(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error)
{
	const struct kwhy_tune_setting *setting = &sweep->setting;
	double unit = unit_of(request->kind), least = setting->least, most = setting->most;
	double from = isnan(request->from)
		? fmax(least, request->kind == KWHY_TUNE_CLOCK ? CLOCK_FROM * most : least)
		: request->from * unit;
	double to = isnan(request->to) ? most : request->to * unit;
	uint64_t state = request->seed;

	if (fmin(from, to) < least || fmax(from, to) > most)
		return kwhy_fail(error, KWHY_E_USAGE, "%s takes %g to %g %s", setting->name, least / unit,
			most / unit, unit_name(request->kind));
	if (from >= to)
		return kwhy_fail(error, KWHY_E_USAGE, "--from %g is not below --to %g %s", from / unit,
			to / unit, unit_name(request->kind));
	for (uint64_t i = 0; i < request->values * request->repeats; i++) {
		uint64_t step = i % request->values, other;

		other = i - kwhy_random_next(&state) % (step + 1);
		sweep->points[i] = sweep->points[other];
		sweep->points[other].value = value_at(from, to, step, request->values);
	}
	return KWHY_OK;
}

static enum kwhy_status open_meter(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error)
{
	char device[24];
	const struct kwhy_sensor_request sensors = {.devices = device};
	enum kwhy_status status;

	snprintf(device, sizeof(device), "%" PRIu64, request->device);
	status = kwhy_stat_meter_open(&sweep->meter, &sensors, NULL, error);
	if (!status)
		status = kwhy_stat_meter_describe(&sweep->meter, &sweep->stat, error);
	return status ? status : kwhy_stat_meter_await_first(&sweep->meter, error);
}

static enum kwhy_status prepare(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error)
{
	static const struct kwhy_strings none = {0};
	enum kwhy_status status = KWHY_OK;

	sweep->stat.interval_s = sweep->stat.idle_s = NAN;
	sweep->stat.wanted_runs = request->values * request->repeats;
	sweep->stat.command = request->argv[0];
	sweep->stat.runs = kwhy_arena_alloc(
		&sweep->stat.arena, sweep->stat.wanted_runs, sizeof(*sweep->stat.runs));
	if (!sweep->stat.runs)
		return kwhy_fail_memory(error, "the runs");
	status = kwhy_stat_specs_init(&sweep->specs, request->work, &none, &sweep->stat, error);
	if (!status && sweep->specs.reporting)
		status = kwhy_stat_work_file_open(&sweep->work_file, &sweep->environment, error);
	if (!status)
		status = open_meter(sweep, request, error);
	sweep->runner = (struct kwhy_stat_runner){.argv = request->argv,
		.meter = &sweep->meter,
		.specs = &sweep->specs,
		.environment = &sweep->environment,
		.work_file = &sweep->work_file,
		.signals = &sweep->signals,
		.stat = &sweep->stat};
	return status;
}

static struct kwhy_stat_energy energy_of(const struct kwhy_stat *stat, const struct kwhy_stat_run *run)
{
	for (size_t d = 0; d < stat->domain_count; d++)
		if (stat->domains[d].kind == KWHY_STAT_DEVICE)
			return run->energies[d];
	return (struct kwhy_stat_energy){.joules = NAN, .low_j = NAN, .high_j = NAN};
}

/*
 * Fails with KWHY_E_INPUT if the energy or the work of a run is unknown, or if half of the width of the 95 %
 * interval of its energy is more than METER_HALF_MAX times the energy.
 */
static enum kwhy_status check_run(const struct kwhy_tune_sweep *sweep, const struct kwhy_tune_point *point,
	const struct kwhy_stat_energy *energy, struct kwhy_error *error)
{
	double half_ratio = (energy->high_j - energy->low_j) / 2 / energy->joules;
	char duration[KWHY_QUANTITY_BYTES];

	if (!(point->joules > 0) || !(point->work > 0))
		return kwhy_fail(error, KWHY_E_INPUT,
			"run %zu: %s is not known; see kwhy stat with the same command", sweep->count + 1,
			point->joules > 0 ? "its work" : "the device's energy");
	if (half_ratio > METER_HALF_MAX)
		return kwhy_fail(error, KWHY_E_INPUT,
			"run %zu: too short for the meter, which is sure of the energy of these %s to "
			"\xc2\xb1%.3g %%, not \xc2\xb1%g %%; give a command that runs longer, or that "
			"repeats its work",
			sweep->count + 1, kwhy_quantity_si(duration, point->seconds, "s", 3),
			1e2 * half_ratio, 1e2 * METER_HALF_MAX);
	return KWHY_OK;
}

static enum kwhy_status keep_point(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error)
{
	const struct kwhy_stat_run *run = &sweep->stat.runs[sweep->stat.run_count - 1];
	const struct kwhy_stat_energy energy = energy_of(&sweep->stat, run);
	struct kwhy_tune_point *point = &sweep->points[sweep->count];
	char joules[KWHY_QUANTITY_BYTES], line[160];
	enum kwhy_status status;

	point->seconds = run->seconds;
	point->joules = energy.joules;
	point->work = request->work->count ? run->work[0] : 1;
	snprintf(line, sizeof(line), "%g %s: %.3g s, %s", point->value / unit_of(request->kind),
		unit_name(request->kind), point->seconds, kwhy_quantity_si(joules, point->joules, "J", 4));
	kwhy_output_message(line);
	status = check_run(sweep, point, &energy, error);
	sweep->count += !status;
	return status;
}

/*
 * Whether the sweep goes on: no run has failed, and no signal has asked to end. If a signal has asked to end,
 * sets sweep->exit.
 */
static bool goes_on(struct kwhy_tune_sweep *sweep)
{
	if (!sweep->exit && kwhy_signals_wait(&sweep->signals, 0))
		sweep->exit = KWHY_EXIT_SIGNALLED + sweep->signals.asked;
	return !sweep->exit;
}

static enum kwhy_status run_one(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_tune_setting_set(
		&sweep->setting, sweep->points[sweep->count].value, error);

	if (!status && goes_on(sweep))
		status = kwhy_stat_run(&sweep->runner, &sweep->exit, error);
	return status || !goes_on(sweep) ? status : keep_point(sweep, request, error);
}

static enum kwhy_status measure(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error)
{
	size_t runs = request->values * request->repeats;
	enum kwhy_status status = kwhy_tune_guard_arm(&sweep->guard, &sweep->setting.order, error);

	for (uint64_t i = 0; !status && i < request->warmup && goes_on(sweep); i++)
		status = kwhy_stat_run_unmeasured(&sweep->runner, &sweep->exit, error);
	while (!status && sweep->count < runs && goes_on(sweep))
		status = run_one(sweep, request, error);
	return status;
}

/*
 * Restores the setting and then disarms the guard, which is a process that restores the setting if this
 * process dies. sweep->left becomes the error of the first of these steps that fails; its status is KWHY_OK
 * if none does.
 */
static void put_back(struct kwhy_tune_sweep *sweep)
{
	enum kwhy_status status = kwhy_tune_setting_restore(&sweep->setting, &sweep->left);

	if (!status)
		status = kwhy_tune_guard_disarm(&sweep->guard, &sweep->left);
	sweep->left.status = status;
}

enum kwhy_status kwhy_tune_sweep_run(
	struct kwhy_tune_sweep *sweep, const struct kwhy_tune_request *request, struct kwhy_error *error)
{
	struct kwhy_error ignored = {0};
	enum kwhy_status status = kwhy_tune_guard_open(&sweep->guard, error);

	if (status)
		return status;
	status = kwhy_signals_open(&sweep->signals, error);
	if (status) {
		kwhy_tune_guard_close(&sweep->guard);
		return status;
	}
	status = kwhy_tune_setting_open(&sweep->setting, request->kind, (unsigned)request->device, error);
	sweep->is_open = !status;
	if (!status)
		status = plan(sweep, request, error);
	if (!status)
		status = prepare(sweep, request, error);
	if (!status) {
		status = measure(sweep, request, error);
		put_back(sweep);
	}
	if (sweep->meter.sensors && kwhy_stat_meter_close(&sweep->meter, &sweep->stat.cost, &ignored) &&
		!status)
		*error = ignored;
	kwhy_signals_close(&sweep->signals);
	return status ? status : ignored.status;
}

void kwhy_tune_sweep_done(struct kwhy_tune_sweep *sweep)
{
	if (sweep->is_open)
		kwhy_tune_setting_close(&sweep->setting);
	kwhy_tune_guard_close(&sweep->guard);
	kwhy_stat_work_file_close(&sweep->work_file);
	kwhy_environment_done(&sweep->environment);
	kwhy_stat_specs_done(&sweep->specs);
	kwhy_stat_done(&sweep->stat);
}
