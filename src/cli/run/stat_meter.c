/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/stat_meter.h"

#include "analyse/profile_find.h"
#include "base/clock.h"
#include "base/cpu_time.h"
#include "import/import.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define SECOND_NS 1000000000
/*
 * longest wait in ns for the first two readings of each meter; the first update of a counter is detected
 * within a second
 */
#define FIRST_NS (3 * (int64_t)SECOND_NS)
/*
 * longest wait in ns for readings that are still missing after the time by which all readings of a window
 * should have come
 */
#define LATE_NS (2 * (int64_t)SECOND_NS)
#define RETRY_NS (SECOND_NS / 20)

static enum kwhy_status start_sampling(struct kwhy_stat_meter *meter,
	const struct kwhy_sensor_request *request, const char *save_path, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_sensors_open(request, &meter->sensors, error);

	if (!status)
		status = kwhy_history_new(meter->sensors, 0, &meter->history, error);
	if (!status && save_path)
		status = kwhy_sensor_csv_open(save_path, meter->sensors, &meter->kept, error);
	if (!status && meter->sensors->task_count)
		status = kwhy_sampler_start(meter->sensors, NULL, &meter->sampler, error);
	return status;
}

enum kwhy_status kwhy_stat_meter_open(struct kwhy_stat_meter *meter,
	const struct kwhy_sensor_request *request, const char *save_path, struct kwhy_error *error)
{
	enum kwhy_status status;

	*meter = (struct kwhy_stat_meter){.replayed = request->replay_path != NULL};
	status = start_sampling(meter, request, save_path, error);
	if (status)
		return status;
	meter->metered = kwhy_history_metered(meter->history, &meter->metered_count);
	meter->windows = calloc(meter->metered_count + 1, sizeof(*meter->windows));
	if (!meter->windows)
		return kwhy_fail_memory(error, "the meters");
	return KWHY_OK;
}

static void close_curves(struct kwhy_stat_meter *meter)
{
	for (size_t d = 0; meter->windows && d < meter->metered_count; d++) {
		kwhy_curve_free(meter->windows[d].curve);
		meter->windows[d].curve = NULL;
	}
}

double kwhy_stat_meter_cpu_s(const struct kwhy_stat_meter *meter)
{
	struct kwhy_sampler_cost cost;

	if (!meter->sampler)
		return 0;
	kwhy_sampler_cost(meter->sampler, &cost);
	return (double)cost.cpu_ns * 1e-9;
}

double kwhy_stat_meter_busy_s(const struct kwhy_stat_meter *meter)
{
	return meter->replayed ? NAN : kwhy_cpu_busy_s(NULL);
}

static void tell_cost(struct kwhy_stat_meter *meter, struct kwhy_stat_cost *cost)
{
	struct kwhy_history_losses losses = kwhy_history_losses(meter->history);
	struct kwhy_sampler_cost all = {.drift_ratio = NAN};

	if (meter->sampler)
		kwhy_sampler_stop(meter->sampler, &all);
	meter->sampler = NULL;
	cost->all_s = (double)all.running_ns * 1e-9;
	cost->all_cpu_s = (double)all.cpu_ns * 1e-9;
	cost->reads = all.reads;
	cost->missed = all.missed;
	cost->longest_read_s = (double)all.longest_read_ns * 1e-9;
	cost->drift_ratio = all.drift_ratio;
	cost->step_s = (double)all.step_ns * 1e-9;
	cost->lost = losses.lost + (meter->kept ? kwhy_sensor_csv_lost(meter->kept) : 0);
	cost->failures = losses.failures;
}

enum kwhy_status kwhy_stat_meter_close(
	struct kwhy_stat_meter *meter, struct kwhy_stat_cost *cost, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (meter->history)
		tell_cost(meter, cost);
	if (meter->sampler)
		kwhy_sampler_stop(meter->sampler, NULL);
	status = kwhy_sensor_csv_close(meter->kept, error);
	close_curves(meter);
	free(meter->windows);
	kwhy_history_free(meter->history);
	if (meter->sensors)
		kwhy_sensors_close(meter->sensors);
	*meter = (struct kwhy_stat_meter){0};
	return status;
}

static enum kwhy_status copy_text(
	struct kwhy_stat *stat, const char *text, const char **out, struct kwhy_error *error)
{
	*out = text ? kwhy_arena_copy(&stat->arena, text) : NULL;
	return text && !*out ? kwhy_fail_memory(error, "the names of the meters") : KWHY_OK;
}

/*
 * Sets the domain's idle powers with and without a context from the installed machine profile of its device,
 * if there is one.
 */
static enum kwhy_status know_context(
	struct kwhy_stat *stat, struct kwhy_stat_domain *domain, struct kwhy_error *error)
{
	struct kwhy_profile *profile = NULL;
	enum kwhy_status status = KWHY_OK;

	if (domain->device)
		status = kwhy_profile_find(domain->device, &profile, error);
	if (status || !profile)
		return status;
	domain->context_idle_w = profile->context_idle_w.value;
	domain->clean_idle_w = profile->clean_idle_w.value;
	if (isfinite(domain->context_idle_w) || isfinite(domain->clean_idle_w))
		status = copy_text(stat, profile->path, &domain->profile, error);
	kwhy_profile_free(profile);
	return status;
}

/*
 * Whether a domain is part of the total. GPUs always are. CPU packages and their memory (RAPL) are, unless
 * the meter of one of the GPUs includes the energy of the CPU (GH200). Sensors on boards and the user's
 * meters are not, because they measure parts that other domains include.
 */
static bool adds_up(const struct kwhy_stat_meter *meter, const struct kwhy_metered *item)
{
	const struct kwhy_sensors *sensors = meter->sensors;

	if (item->kind == KWHY_METERED_DEVICE)
		return true;
	for (size_t d = 0; d < sensors->device_count; d++)
		if (sensors->devices[d].energy_is_module)
			return false;
	return item->kind == KWHY_METERED_HOST && item->counter != KWHY_HISTORY_NO_SOURCE &&
		kwhy_meter_row(sensors->sources[item->counter].meter)->owner != KWHY_METER_OWNER_BOARD;
}

static size_t count_instances(const struct kwhy_sensors *sensors, int32_t index)
{
	size_t count = 0;

	for (size_t i = 0; i < sensors->device_count; i++)
		count += sensors->devices[i].index == index && sensors->devices[i].mig_index >= 0;
	return count;
}

static enum kwhy_status describe(
	const struct kwhy_stat_meter *meter, size_t index, struct kwhy_stat *stat, struct kwhy_error *error)
{
	static const enum kwhy_stat_kind kinds[] = {[KWHY_METERED_DEVICE] = KWHY_STAT_DEVICE,
		[KWHY_METERED_HOST] = KWHY_STAT_HOST,
		[KWHY_METERED_WALL] = KWHY_STAT_WALL};
	const struct kwhy_metered *item = &meter->metered[index];
	struct kwhy_stat_domain *domain = &stat->domains[index];
	enum kwhy_status status;

	domain->kind = kinds[item->kind];
	domain->in_total = adds_up(meter, item);
	domain->is_package = item->counter != KWHY_HISTORY_NO_SOURCE &&
		kwhy_meter_row(meter->sensors->sources[item->counter].meter)->owner ==
			KWHY_METER_OWNER_PACKAGE;
	status = copy_text(stat, item->name, &domain->name, error);
	if (!status && item->device != KWHY_SENSOR_NO_DEVICE) {
		const struct kwhy_sensor_device *device = &meter->sensors->devices[item->device];

		domain->is_module = device->energy_is_module;
		domain->instances = count_instances(meter->sensors, device->index);
		status = copy_text(stat, device->name, &domain->device, error);
		if (!status)
			status = copy_text(stat, device->uuid, &domain->uuid, error);
	}
	return status ? status : know_context(stat, domain, error);
}

static enum kwhy_status describe_absences(
	const struct kwhy_stat_meter *meter, struct kwhy_stat *stat, struct kwhy_error *error)
{
	const struct kwhy_sensors *sensors = meter->sensors;
	enum kwhy_status status = KWHY_OK;

	stat->absences = kwhy_arena_alloc(&stat->arena, sensors->absence_count + 1, sizeof(*stat->absences));
	if (!stat->absences)
		return kwhy_fail_memory(error, "the names of the meters");
	for (size_t i = 0; !status && i < sensors->absence_count; i++) {
		struct kwhy_stat_absence *absence = &stat->absences[stat->absence_count++];

		absence->is_refused = sensors->absences[i].is_refused;
		absence->is_choice = sensors->absences[i].is_choice;
		status = copy_text(stat, sensors->absences[i].backend, &absence->backend, error);
		if (!status)
			status = copy_text(stat, sensors->absences[i].text, &absence->text, error);
	}
	return status;
}

enum kwhy_status kwhy_stat_meter_describe(
	const struct kwhy_stat_meter *meter, struct kwhy_stat *stat, struct kwhy_error *error)
{
	const struct kwhy_stat_domain unknown = {
		.idle = {NAN, NAN, NAN, -1}, .context_idle_w = NAN, .clean_idle_w = NAN, .name = "total"};
	size_t count = meter->metered_count, adding = 0;
	enum kwhy_status status = KWHY_OK;

	stat->domains = kwhy_arena_alloc(&stat->arena, count + 1, sizeof(*stat->domains));
	if (!stat->domains)
		return kwhy_fail_memory(error, "the names of the meters");
	for (size_t d = 0; !status && d < count; d++) {
		stat->domains[d] = unknown;
		status = describe(meter, d, stat, error);
		adding += stat->domains[d].in_total;
	}
	stat->domain_count = count;
	if (adding > 1) {
		stat->domains[stat->domain_count] = unknown;
		stat->domains[stat->domain_count++].kind = KWHY_STAT_TOTAL;
	}
	return status ? status : describe_absences(meter, stat, error);
}

enum kwhy_status kwhy_stat_meter_drain(struct kwhy_stat_meter *meter, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_history_drain(meter->history, error);

	if (!status && meter->kept)
		kwhy_sensor_csv_drain(meter->kept);
	return status;
}

static void sleep_until(int64_t mono_ns)
{
	struct timespec until = {mono_ns / SECOND_NS, mono_ns % SECOND_NS};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

static bool has_readings(const struct kwhy_stat_meter *meter, size_t source)
{
	return source != KWHY_HISTORY_NO_SOURCE && kwhy_history_readings(meter->history, source).count >= 2;
}

/*
 * Whether the meters of a metered domain have given at least two readings each. If the domain has an energy
 * counter and a power meter, both must have given them; if readings are played back from a file, either is
 * enough.
 */
static bool is_ready(const struct kwhy_stat_meter *meter, const struct kwhy_metered *item)
{
	bool counted = has_readings(meter, item->counter), powered = has_readings(meter, item->power);

	if (meter->replayed)
		return counted || powered;
	return (counted || item->counter == KWHY_HISTORY_NO_SOURCE) &&
		(powered || item->power == KWHY_HISTORY_NO_SOURCE);
}

static bool all_are_ready(const struct kwhy_stat_meter *meter)
{
	for (size_t d = 0; d < meter->metered_count; d++)
		if (!is_ready(meter, &meter->metered[d]))
			return false;
	return true;
}

enum kwhy_status kwhy_stat_meter_await_first(struct kwhy_stat_meter *meter, struct kwhy_error *error)
{
	int64_t latest_ns = kwhy_clock_mono_ns() + FIRST_NS;
	enum kwhy_status status = kwhy_stat_meter_drain(meter, error);

	while (!status && meter->sampler && !all_are_ready(meter) && kwhy_clock_mono_ns() < latest_ns) {
		sleep_until(kwhy_clock_mono_ns() + RETRY_NS);
		status = kwhy_stat_meter_drain(meter, error);
	}
	return status;
}

void kwhy_stat_meter_begin(struct kwhy_stat_meter *meter, int64_t start_ns)
{
	meter->summed_ns = start_ns;
	for (size_t d = 0; d < meter->metered_count; d++)
		kwhy_window_sum_init(&meter->windows[d].sum);
}

enum kwhy_status kwhy_stat_meter_open_curves(struct kwhy_stat_meter *meter, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_stat_meter_drain(meter, error);

	close_curves(meter);
	for (size_t d = 0; !status && d < meter->metered_count; d++)
		status = kwhy_history_curve(meter->history, d, NULL, &meter->windows[d].curve, error);
	return status;
}

static bool all_reach(const struct kwhy_stat_meter *meter, int64_t end_ns)
{
	for (size_t d = 0; d < meter->metered_count; d++)
		if (kwhy_curve_last_ns(meter->windows[d].curve) < end_ns)
			return false;
	return true;
}

enum kwhy_status kwhy_stat_meter_await_end(
	struct kwhy_stat_meter *meter, int64_t end_ns, struct kwhy_error *error)
{
	int64_t ready_ns = kwhy_history_ready_ns(meter->history, end_ns, NULL);
	int64_t latest_ns = ready_ns + LATE_NS;
	enum kwhy_status status;

	if (!meter->sampler)
		return kwhy_stat_meter_open_curves(meter, error);
	for (;;) {
		sleep_until(ready_ns);
		kwhy_sampler_flush(meter->sampler);
		status = kwhy_stat_meter_open_curves(meter, error);
		ready_ns = kwhy_clock_mono_ns() + RETRY_NS;
		if (status || all_reach(meter, end_ns) || ready_ns > latest_ns)
			return status;
	}
}

int64_t kwhy_stat_meter_known_ns(const struct kwhy_stat_meter *meter, int64_t now_ns)
{
	int64_t known_ns = INT64_MAX;

	for (size_t d = 0; d < meter->metered_count; d++) {
		int64_t last_ns = kwhy_curve_last_ns(meter->windows[d].curve);

		if (last_ns < known_ns && kwhy_history_goes_on(meter->history, d, last_ns, now_ns))
			known_ns = last_ns;
	}
	return known_ns == INT64_MAX ? 0 : known_ns;
}

double kwhy_stat_meter_used_j(const struct kwhy_stat_meter *meter, size_t domain, int64_t until_ns)
{
	const struct kwhy_window_sum *sum = &meter->windows[domain].sum;
	struct kwhy_energy energy;

	if (sum->state != KWHY_ENERGY_MEASURED)
		return NAN;
	if (until_ns <= meter->summed_ns)
		return sum->joules;
	kwhy_window_energy(
		meter->windows[domain].curve, meter->summed_ns, until_ns, KWHY_ENOUGH_RATIO, &energy);
	return energy.state == KWHY_ENERGY_MEASURED ? sum->joules + energy.joules : NAN;
}

static void add_window(struct kwhy_stat_meter *meter, size_t domain, int64_t until_ns)
{
	struct kwhy_window_sum *sum = &meter->windows[domain].sum;

	/* the energy of the window is already unknown; sum->state keeps the first reason */
	if (sum->state != KWHY_ENERGY_MEASURED)
		return;
	sum->curve = meter->windows[domain].curve;
	if (kwhy_curve_first_ns(sum->curve) == 0 && kwhy_curve_last_ns(sum->curve) == 0)
		sum->state = KWHY_ENERGY_NOT_METERED;
	else
		kwhy_window_sum_add(sum, meter->summed_ns, until_ns);
}

void kwhy_stat_meter_sum(struct kwhy_stat_meter *meter, int64_t until_ns, struct kwhy_stat_domain *domains)
{
	for (size_t d = 0; d < meter->metered_count; d++) {
		struct kwhy_curve_faults faults = kwhy_curve_faults(meter->windows[d].curve);

		domains[d].counter_reset |= faults.resets > 0;
		domains[d].counter_stuck |= faults.counter_stuck;
		domains[d].counter_misread |= faults.misread > 0;
		if (meter->metered[d].device != KWHY_SENSOR_NO_DEVICE)
			domains[d].divided_anew = atomic_load_explicit(
				&meter->sensors->devices[meter->metered[d].device].divided_anew,
				memory_order_relaxed);
		if (meter->metered[d].kind == KWHY_METERED_WALL)
			domains[d].bad_line = atomic_load_explicit(
				&meter->sensors->sources[meter->metered[d].power].bad_line,
				memory_order_relaxed);
		add_window(meter, d, until_ns);
	}
	close_curves(meter);
	meter->summed_ns = until_ns;
	kwhy_history_forget(meter->history, until_ns - KWHY_HISTORY_KEPT_NS);
}

/*
 * Gets the energy and the powers of a domain in the window. In a short run all power samples may be from a
 * time when the power still rose; a peak power below the mean power is therefore replaced by the mean power.
 */
void kwhy_stat_meter_result(const struct kwhy_stat_meter *meter, size_t domain, struct kwhy_stat_energy *out)
{
	const bool is_lost = !meter->replayed && kwhy_history_is_lost(meter->history, domain);
	struct kwhy_energy energy;

	kwhy_window_sum_result(&meter->windows[domain].sum, KWHY_ENOUGH_RATIO, &energy);
	*out = (struct kwhy_stat_energy){
		.joules = energy.joules,
		.low_j = energy.low_j,
		.high_j = energy.high_j,
		.mean_w = energy.mean_w,
		.peak_w = energy.peak_w < energy.mean_w ? energy.mean_w : energy.peak_w,
		.missing = kwhy_energy_missing(energy.state, is_lost),
	};
	if (energy.state == KWHY_ENERGY_MEASURED)
		out->basis = kwhy_energy_basis_name(energy.basis);
}
