/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/device_energy.h"

#include "base/clock.h"
#include "base/settle.h"
#include "kwhy/measure.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Largest age of the last measurement of the idle level when a window begins (LOOK_OLDEST_NS), and length of
 * such a measurement (LOOK_S).
 */
#define LOOK_OLDEST_NS INT64_C(5000000000)
#define LOOK_S 1.0

enum { LOOKS_MEANT = 64 };

/*
 * The windows of one name, whose energies are added up. Measurements of the idle level are numbered from 0.
 * first_look: number of the last measurement before the first window of this name; last_look: number of the
 * last measurement before the last window of this name.
 */
struct window {
	uint32_t name;
	size_t first_look, last_look;
};

struct kwhy_device_energy {
	struct kwhy_session *session;
	struct kwhy_results *results; /* NULL: kwhy_device_energy_read() has not been called */
	struct window *windows;
	size_t window_count, window_space, look_count;
	int64_t looked_ns;
	uint32_t gpu_count, window;
	size_t meters[KWHY_DEVICE_ENERGY_GPUS_MAX];    /* index of each GPU's meter in the session;
							  KWHY_ALL_GPUS: it has no meter */
	char missing[KWHY_DEVICE_ENERGY_REASON_BYTES]; /* why a GPU has no meter; "": every GPU has one */
	const char *lacking; /* why some window has no energy although every GPU has a meter; NULL: there is
				no such window */
};

static const struct kwhy_joules unknown = {NAN, NAN, NAN};

static enum kwhy_status fail(int code, const char *message, struct kwhy_error *error)
{
	static const enum kwhy_status statuses[] = {[KWHY_MEASURE_E_INPUT] = KWHY_E_INPUT,
		[KWHY_MEASURE_E_IO] = KWHY_E_IO,
		[KWHY_MEASURE_E_MEMORY] = KWHY_E_MEMORY,
		[KWHY_MEASURE_E_UNSUPPORTED] = KWHY_E_UNSUPPORTED,
		[KWHY_MEASURE_E_USAGE] = KWHY_E_INPUT};

	if (!code)
		return KWHY_OK;
	return kwhy_fail(error, statuses[code], "%s", message);
}

static size_t meter_of(const struct kwhy_session *session, const struct kwhy_gpu *gpu)
{
	for (size_t i = 0; i < kwhy_session_meter_count(session); i++) {
		struct kwhy_meter_info info = {.size = sizeof(info)};

		if (!kwhy_session_meter(session, i, &info) && info.kind == KWHY_METER_KIND_GPU &&
			info.pci_address && *gpu->facts.pci_address &&
			strcasecmp(info.pci_address, gpu->facts.pci_address) == 0)
			return i;
	}
	return KWHY_ALL_GPUS;
}

static bool meters_a_gpu(const struct kwhy_session *session)
{
	for (size_t i = 0; i < kwhy_session_meter_count(session); i++) {
		struct kwhy_meter_info info = {.size = sizeof(info)};

		if (!kwhy_session_meter(session, i, &info) && info.kind == KWHY_METER_KIND_GPU)
			return true;
	}
	return false;
}

/*
 * Finds the meters of the opened GPUs by PCI address, and stores in `missing` why the first GPU without a
 * meter has none. The reason that the session states may be about another vendor's GPUs, so it is used only
 * if the session meters no GPU at all.
 */
static void find_meters(struct kwhy_device_energy *energy, struct kwhy_gpu *const *gpus)
{
	const char *absence = meters_a_gpu(energy->session) ? NULL : kwhy_session_absence(energy->session, 0);

	for (uint32_t i = 0; i < energy->gpu_count; i++) {
		energy->meters[i] = meter_of(energy->session, gpus[i]);
		if (energy->meters[i] != KWHY_ALL_GPUS || *energy->missing)
			continue;
		if (gpus[i]->facts.architecture == 0)
			snprintf(energy->missing, sizeof(energy->missing), "the host is no GPU");
		else
			snprintf(energy->missing, sizeof(energy->missing), "%s",
				absence ? absence : "no meter is of this GPU");
	}
}

enum kwhy_status kwhy_device_energy_open(struct kwhy_gpu *const *gpus, uint32_t gpu_count,
	struct kwhy_device_energy **out, struct kwhy_error *error)
{
	const struct kwhy_session_options options = {.size = sizeof(options), .counter_period_s = 0.1};
	struct kwhy_device_energy *energy = calloc(1, sizeof(*energy));
	char message[KWHY_MESSAGE_BYTES];
	enum kwhy_status status;

	if (!energy)
		return kwhy_fail_memory(error, "the meters");
	energy->gpu_count = gpu_count < KWHY_DEVICE_ENERGY_GPUS_MAX ? gpu_count : KWHY_DEVICE_ENERGY_GPUS_MAX;
	status = fail(
		kwhy_session_open(&options, &energy->session, message, sizeof(message)), message, error);
	if (status) {
		free(energy);
		return status;
	}
	find_meters(energy, gpus);
	*out = energy;
	return KWHY_OK;
}

void kwhy_device_energy_close(struct kwhy_device_energy *energy)
{
	if (!energy)
		return;
	kwhy_results_free(energy->results);
	kwhy_session_close(energy->session);
	free(energy->windows);
	free(energy);
}

const char *kwhy_device_energy_missing(const struct kwhy_device_energy *energy)
{
	return *energy->missing ? energy->missing : energy->lacking;
}

static void name_look(size_t number, char out[32])
{
	snprintf(out, 32, "idle level %zu", number);
}

enum kwhy_status kwhy_device_energy_idle(
	struct kwhy_device_energy *energy, double seconds, struct kwhy_error *error)
{
	char text[32];
	uint32_t name;

	if (*energy->missing)
		return KWHY_OK;
	name_look(energy->look_count++, text);
	name = kwhy_session_name(energy->session, text);
	if (name == KWHY_NO_NAME)
		return kwhy_fail_memory(error, "the names of windows");
	kwhy_region_begin(energy->session, name);
	kwhy_settle(llround(seconds * 1e9));
	kwhy_region_end(energy->session, name);
	energy->looked_ns = kwhy_clock_mono_ns();
	return KWHY_OK;
}

/* Returns the windows of a name; NULL: there are none. */
static struct window *window_of(const struct kwhy_device_energy *energy, uint32_t name)
{
	for (size_t i = energy->window_count; i-- > 0;)
		if (energy->windows[i].name == name)
			return &energy->windows[i];
	return NULL;
}

/* Adds the window being begun to the windows of its name. */
static enum kwhy_status note_window(struct kwhy_device_energy *energy, struct kwhy_error *error)
{
	const size_t look = energy->look_count ? energy->look_count - 1 : 0;

	struct window *before = window_of(energy, energy->window);

	if (before) {
		before->last_look = look;
		return KWHY_OK;
	}
	if (energy->window_count == energy->window_space) {
		const size_t space = 2 * energy->window_space + 16;
		struct window *windows = realloc(energy->windows, space * sizeof(*windows));

		if (!windows)
			return kwhy_fail_memory(error, "the windows of a benchmark");
		energy->windows = windows;
		energy->window_space = space;
	}
	energy->windows[energy->window_count++] = (struct window){energy->window, look, look};
	return KWHY_OK;
}

enum kwhy_status kwhy_device_energy_begin(
	struct kwhy_device_energy *energy, const char *name, struct kwhy_error *error)
{
	const bool is_old = !energy->look_count || kwhy_clock_mono_ns() - energy->looked_ns > LOOK_OLDEST_NS;
	enum kwhy_status status = is_old ? kwhy_device_energy_idle(energy, LOOK_S, error) : KWHY_OK;

	if (status)
		return status;
	energy->window = kwhy_session_name(energy->session, name);
	if (energy->window == KWHY_NO_NAME)
		return kwhy_fail_memory(error, "the names of windows");
	status = note_window(energy, error);
	if (!status)
		kwhy_region_begin(energy->session, energy->window);
	return status;
}

void kwhy_device_energy_end(struct kwhy_device_energy *energy)
{
	kwhy_region_end(energy->session, energy->window);
}

static const char *lacking_in(const struct kwhy_device_energy *energy, size_t region)
{
	struct kwhy_region_energy one = {.size = sizeof(one)};

	for (uint32_t i = 0; i < energy->gpu_count; i++)
		if (!kwhy_results_energy(energy->results, region, energy->meters[i], &one) && one.missing)
			return one.missing;
	return NULL;
}

/*
 * Returns why some window has no energy; NULL: every window has, or a GPU has no meter. Regions in which the
 * idle level was measured do not count.
 */
static const char *find_lacking(const struct kwhy_device_energy *energy)
{
	const size_t count = *energy->missing ? 0 : kwhy_results_region_count(energy->results);
	const char *lacking = NULL;

	for (size_t i = 0; !lacking && i < count; i++) {
		struct kwhy_region_info info = {.size = sizeof(info)};

		if (!kwhy_results_region(energy->results, i, &info) && window_of(energy, info.number))
			lacking = lacking_in(energy, i);
	}
	return lacking;
}

enum kwhy_status kwhy_device_energy_read(struct kwhy_device_energy *energy, struct kwhy_error *error)
{
	char message[KWHY_MESSAGE_BYTES];
	enum kwhy_status status = energy->window_count ? kwhy_device_energy_idle(energy, LOOK_S, error)
						       : KWHY_OK;

	kwhy_results_free(energy->results);
	energy->results = NULL;
	if (status)
		return status;
	status = fail(kwhy_session_results(energy->session, &energy->results, message, sizeof(message)),
		message, error);
	energy->lacking = status ? NULL : find_lacking(energy);
	return status;
}

struct kwhy_window_joules kwhy_window_joules_unknown(void)
{
	return (struct kwhy_window_joules){NAN, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, NULL};
}

struct kwhy_joules kwhy_joules_times(const struct kwhy_joules *joules, double factor)
{
	return (struct kwhy_joules){joules->value * factor, joules->low * factor, joules->high * factor};
}

struct kwhy_joules kwhy_joules_above(
	struct kwhy_joules gross, double seconds, const struct kwhy_joules *levels_w, size_t count)
{
	double mean_w = 0, variance_w2 = 0, least_w = INFINITY, most_w = -INFINITY, half_j;

	for (size_t i = 0; i < count; i++) {
		const double half_w = (levels_w[i].high - levels_w[i].low) / 2 / (double)count;

		mean_w += levels_w[i].value / (double)count;
		variance_w2 += half_w * half_w;
		least_w = fmin(least_w, levels_w[i].value);
		most_w = fmax(most_w, levels_w[i].value);
	}
	if (!count || !isfinite(mean_w) || !isfinite(gross.value))
		return unknown;
	half_j = hypot(
		(gross.high - gross.low) / 2, seconds * hypot(sqrt(variance_w2), (most_w - least_w) / 2));
	return (struct kwhy_joules){gross.value - seconds * mean_w, gross.value - seconds * mean_w - half_j,
		gross.value - seconds * mean_w + half_j};
}

/*
 * Adds one meter's energy in a region to `gross` and, if `out` is not NULL, its mean power to `out`. If the
 * energy is unknown, `gross` becomes unknown.
 */
static void add_meter(const struct kwhy_device_energy *energy, size_t region, size_t meter,
	struct kwhy_joules *gross, struct kwhy_window_joules *out)
{
	struct kwhy_region_energy one = {.size = sizeof(one)};

	if (kwhy_results_energy(energy->results, region, meter, &one) ||
		one.state != KWHY_ENERGY_STATE_MEASURED) {
		*gross = unknown;
		return;
	}
	gross->value += one.joules;
	gross->low += one.low_j;
	gross->high += one.high_j;
	if (out) {
		out->mean_w += one.mean_w;
		out->basis = one.basis;
	}
}

static void add_host(const struct kwhy_device_energy *energy, size_t region, struct kwhy_window_joules *out)
{
	size_t count = 0;

	out->host = (struct kwhy_joules){0, 0, 0};
	for (size_t i = 0; i < kwhy_session_meter_count(energy->session); i++) {
		struct kwhy_meter_info info = {.size = sizeof(info)};

		if (kwhy_session_meter(energy->session, i, &info) || info.kind != KWHY_METER_KIND_HOST)
			continue;
		add_meter(energy, region, i, &out->host, NULL);
		count++;
	}
	if (!count)
		out->host = unknown;
}

/*
 * Finds the region with this name, writes its length and host energy to `out`, and returns its index;
 * SIZE_MAX: there is no such region.
 */
static size_t find_window(
	const struct kwhy_device_energy *energy, const char *name, struct kwhy_window_joules *out)
{
	size_t region = energy->results ? kwhy_results_region_find(energy->results, name) : SIZE_MAX;
	struct kwhy_region_info info = {.size = sizeof(info)};

	*out = (struct kwhy_window_joules){NAN, unknown, unknown, unknown, NAN, NULL};
	if (region == SIZE_MAX || kwhy_results_region(energy->results, region, &info))
		return SIZE_MAX;
	out->seconds = info.wall_s;
	add_host(energy, region, out);
	return region;
}

static void add_gpus(const struct kwhy_device_energy *energy, size_t region, uint32_t from, uint32_t to,
	struct kwhy_joules *gross, struct kwhy_window_joules *out)
{
	*gross = (struct kwhy_joules){0, 0, 0};
	for (uint32_t i = from; i < to; i++)
		add_meter(energy, region, energy->meters[i], gross, out);
}

/*
 * Lists the total mean power of the GPUs `from` to `to` - 1 in each measurement of the idle level, from the
 * last one before the first window of this name to the first one after its last; at most LOOKS_MEANT. Unknown
 * powers are left out. Returns how many.
 */
static size_t levels_of(const struct kwhy_device_energy *energy, const char *name, uint32_t from, uint32_t to,
	struct kwhy_joules levels_w[LOOKS_MEANT])
{
	const struct window *window = window_of(energy, kwhy_session_name(energy->session, name));
	size_t count = 0;

	if (!window)
		return 0;
	for (size_t look = window->first_look; look <= window->last_look + 1 && count < LOOKS_MEANT; look++) {
		struct kwhy_region_info info = {.size = sizeof(info)};
		char text[32];
		size_t region;

		name_look(look, text);
		region = kwhy_results_region_find(energy->results, text);
		if (region == SIZE_MAX || kwhy_results_region(energy->results, region, &info))
			continue;
		add_gpus(energy, region, from, to, &levels_w[count], NULL);
		levels_w[count].value /= info.wall_s;
		levels_w[count].low /= info.wall_s;
		levels_w[count].high /= info.wall_s;
		count += isfinite(levels_w[count].value);
	}
	return count;
}

static void add_window(const struct kwhy_device_energy *energy, const char *name, size_t region,
	uint32_t from, uint32_t to, struct kwhy_window_joules *out)
{
	struct kwhy_joules levels_w[LOOKS_MEANT];
	const size_t count = levels_of(energy, name, from, to, levels_w);

	out->mean_w = 0;
	add_gpus(energy, region, from, to, &out->gross, out);
	out->net = kwhy_joules_above(out->gross, out->seconds, levels_w, count);
	if (!isfinite(out->gross.value)) {
		out->mean_w = NAN;
		out->basis = NULL;
	}
}

void kwhy_device_energy_of(const struct kwhy_device_energy *energy, const char *name, uint32_t gpu_count,
	struct kwhy_window_joules *out)
{
	size_t region = find_window(energy, name, out);

	if (region == SIZE_MAX || *energy->missing || gpu_count < 1 || gpu_count > energy->gpu_count)
		return;
	add_window(energy, name, region, 0, gpu_count, out);
}

void kwhy_device_energy_of_one(const struct kwhy_device_energy *energy, const char *name, uint32_t gpu,
	struct kwhy_window_joules *out)
{
	size_t region = find_window(energy, name, out);

	if (region == SIZE_MAX || gpu >= energy->gpu_count || energy->meters[gpu] == KWHY_ALL_GPUS)
		return;
	add_window(energy, name, region, gpu, gpu + 1, out);
}
