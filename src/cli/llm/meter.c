/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/llm/meter.h"

#include "base/clock.h"
#include "base/column.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>

#define SECOND_NS 1000000000
#define TICK_NS (SECOND_NS / 2)

enum kwhy_status kwhy_llm_meter_open(
	struct kwhy_llm_meter *meter, const char *devices, const char *replay_path, struct kwhy_error *error)
{
	const struct kwhy_sensor_request request = {
		.devices = devices, .replay_path = replay_path, .without_host = true};
	enum kwhy_status status;
	size_t gpus = 0;

	*meter = (struct kwhy_llm_meter){.open = true};
	status = kwhy_stat_meter_open(&meter->meter, &request, NULL, error);
	if (!status) {
		meter->domains = calloc(meter->meter.metered_count + 1, sizeof(*meter->domains));
		if (!meter->domains)
			status = kwhy_fail_memory(error, "the meters");
	}
	for (size_t i = 0; !status && i < meter->meter.metered_count; i++)
		gpus += meter->meter.metered[i].kind == KWHY_METERED_DEVICE;
	if (!status && !gpus)
		meter->missing =
			"no GPU of this host has a meter; where the server's GPUs are elsewhere, run "
			"kwhy serve there and name it with --meters";
	if (!status && gpus)
		status = kwhy_stat_meter_await_first(&meter->meter, error);
	return status;
}

enum kwhy_status kwhy_llm_meter_open_remote(
	struct kwhy_llm_meter *meter, const struct kwhy_llm_meters *meters, struct kwhy_error *error)
{
	*meter = (struct kwhy_llm_meter){0};
	return kwhy_llm_scraper_open(meters, &meter->remote, error);
}

void kwhy_llm_meter_close(struct kwhy_llm_meter *meter)
{
	struct kwhy_stat_cost cost;
	struct kwhy_error ignored;

	if (meter->open && kwhy_stat_meter_close(&meter->meter, &cost, &ignored))
		meter->missing = "the meters did not close";
	kwhy_llm_scraper_close(meter->remote);
	kwhy_arena_done(&meter->arena);
	free(meter->domains);
	*meter = (struct kwhy_llm_meter){0};
}

enum kwhy_status kwhy_llm_meter_tick(void *meter, struct kwhy_error *error)
{
	struct kwhy_llm_meter *self = meter;

	return self->open ? kwhy_stat_meter_drain(&self->meter, error) : KWHY_OK;
}

static void add_device(struct kwhy_llm_energy *sum, const struct kwhy_stat_energy *energy)
{
	sum->joules += energy->joules;
	sum->low_j += energy->low_j;
	sum->high_j += energy->high_j;
	sum->basis = energy->basis;
	if (energy->missing)
		sum->missing = energy->missing;
}

/* --- Series --- */

void kwhy_llm_series_done(struct kwhy_llm_series *series)
{
	free(series->items);
	*series = (struct kwhy_llm_series){0};
}

static enum kwhy_status add_reading(
	struct kwhy_llm_series *series, int64_t at_ns, int64_t total_nj, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_column_reserve((void **)&series->items, &series->capacity,
		series->count + 1, sizeof(*series->items), "the readings of the meters", error);

	if (status)
		return status;
	series->items[series->count++] = (struct kwhy_llm_reading){at_ns, total_nj};
	return KWHY_OK;
}

/* Energy of all GPUs from start_ns, the start of the current window, to until_ns, in J; NAN: unknown. */
typedef double energy_until(struct kwhy_llm_meter *meter, int64_t start_ns, int64_t until_ns);

static double local_until(struct kwhy_llm_meter *meter, int64_t start_ns, int64_t until_ns)
{
	double joules = 0;

	(void)start_ns;
	for (size_t i = 0; i < meter->meter.metered_count; i++)
		if (meter->meter.metered[i].kind == KWHY_METERED_DEVICE)
			joules += kwhy_stat_meter_used_j(&meter->meter, i, until_ns);
	return joules;
}

static double remote_until(struct kwhy_llm_meter *meter, int64_t start_ns, int64_t until_ns)
{
	struct kwhy_llm_track_energy energy;
	struct kwhy_error ignored;

	return kwhy_llm_scraper_window(meter->remote, start_ns, until_ns, &energy, &ignored) ? NAN
											     : energy.joules;
}

/*
 * Adds readings to the series, about one for each second of a window: the energy from the start of the series
 * up to that time. If that is unknown at one of these times, stops and sets series->is_broken.
 */
static enum kwhy_status add_window(struct kwhy_llm_series *series, struct kwhy_llm_meter *meter,
	int64_t start_ns, int64_t end_ns, energy_until *until, struct kwhy_error *error)
{
	int64_t parts = (end_ns - start_ns + SECOND_NS / 2) / SECOND_NS, before_nj, last_nj;
	enum kwhy_status status = KWHY_OK;

	if (end_ns <= start_ns)
		return KWHY_OK;
	parts = parts > 0 ? parts : 1;
	if (!series->count)
		status = add_reading(series, start_ns, 0, error);
	before_nj = last_nj = series->count ? series->items[series->count - 1].total_nj : 0;
	for (int64_t part = 1; !status && !series->is_broken && part <= parts; part++) {
		int64_t at_ns = start_ns + (end_ns - start_ns) * part / parts;
		double joules = until(meter, start_ns, at_ns);

		series->is_broken = isnan(joules);
		if (series->is_broken)
			break;
		/*
		 * the energy up to a time may be estimated a little lower once later samples are known, but
		 * the energies in the series must not fall
		 */
		if (before_nj + llround(joules * 1e9) > last_nj)
			last_nj = before_nj + llround(joules * 1e9);
		status = add_reading(series, at_ns, last_nj, error);
	}
	return status;
}

/* --- Windows --- */

/*
 * Reads the energy of a window from the meters of another host. If the other host does not answer, returns
 * KWHY_OK with the energy unknown (out->missing says why), because the other figures of the load remain
 * valid.
 */
static enum kwhy_status window_of_remote(struct kwhy_llm_meter *meter, int64_t start_ns, int64_t end_ns,
	struct kwhy_llm_series *series, struct kwhy_llm_energy *out, struct kwhy_error *error)
{
	struct kwhy_llm_track_energy energy;
	struct kwhy_error failure;

	if (!kwhy_llm_scraper_window(meter->remote, start_ns, end_ns, &energy, &failure)) {
		out->joules = energy.joules;
		out->low_j = energy.low_j;
		out->high_j = energy.high_j;
		out->basis = "remote";
		return add_window(series, meter, start_ns, end_ns, remote_until, error);
	}
	series->is_broken = true;
	out->missing = kwhy_arena_copy(&meter->arena, failure.text);
	return out->missing ? KWHY_OK : kwhy_fail_memory(error, "the meters");
}

enum kwhy_status kwhy_llm_meter_window(struct kwhy_llm_meter *meter, int64_t start_ns, int64_t end_ns,
	struct kwhy_llm_series *series, struct kwhy_llm_energy *out, struct kwhy_error *error)
{
	enum kwhy_status status;

	*out = (struct kwhy_llm_energy){
		(double)(end_ns - start_ns) * 1e-9, NAN, NAN, NAN, NULL, meter->missing};
	if (meter->remote)
		return window_of_remote(meter, start_ns, end_ns, series, out, error);
	series->is_broken |= !meter->open || meter->missing;
	if (!meter->open || meter->missing)
		return KWHY_OK;
	kwhy_stat_meter_begin(&meter->meter, start_ns);
	status = kwhy_stat_meter_await_end(&meter->meter, end_ns, error);
	if (!status)
		status = add_window(series, meter, start_ns, end_ns, local_until, error);
	if (status)
		return status;
	kwhy_stat_meter_sum(&meter->meter, end_ns, meter->domains);
	out->joules = out->low_j = out->high_j = 0;
	for (size_t i = 0; i < meter->meter.metered_count; i++) {
		struct kwhy_stat_energy energy;

		if (meter->meter.metered[i].kind != KWHY_METERED_DEVICE)
			continue;
		kwhy_stat_meter_result(&meter->meter, i, &energy);
		add_device(out, &energy);
	}
	if (out->missing)
		out->joules = out->low_j = out->high_j = NAN;
	return KWHY_OK;
}

static void sleep_until(int64_t mono_ns)
{
	struct timespec until = {mono_ns / SECOND_NS, mono_ns % SECOND_NS};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		;
}

enum kwhy_status kwhy_llm_meter_rest(struct kwhy_llm_meter *meter, double seconds,
	struct kwhy_llm_series *series, struct kwhy_llm_energy *out, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns(), end_ns = start_ns + (int64_t)(seconds * 1e9),
		now_ns = start_ns;
	enum kwhy_status status = KWHY_OK;

	while (!status && now_ns < end_ns && (meter->open || meter->remote) && !meter->missing) {
		sleep_until(now_ns + TICK_NS < end_ns ? now_ns + TICK_NS : end_ns);
		status = kwhy_llm_meter_tick(meter, error);
		now_ns = kwhy_clock_mono_ns();
	}
	return status ? status : kwhy_llm_meter_window(meter, start_ns, end_ns, series, out, error);
}

struct kwhy_llm_energy kwhy_llm_energy_net(
	const struct kwhy_llm_energy *gross, const struct kwhy_llm_energy *idle)
{
	double share = gross->seconds / idle->seconds;
	struct kwhy_llm_energy net = *gross;

	net.joules -= share * idle->joules;
	net.low_j -= share * idle->high_j;
	net.high_j -= share * idle->low_j;
	if (!net.missing)
		net.missing = idle->missing;
	return net;
}
