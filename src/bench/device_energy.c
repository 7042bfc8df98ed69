/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/device_energy.h"

#include "kwhy/measure.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kwhy_device_energy {
	struct kwhy_session *session;
	struct kwhy_results *results; /* NULL: not read yet */
	uint32_t gpu_count, window;
	size_t meters[KWHY_DEVICE_ENERGY_GPUS_MOST]; /* of each GPU; KWHY_ALL_GPUS: it has none */
	char missing[KWHY_DEVICE_ENERGY_REASON_BYTES];
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

static void find_meters(struct kwhy_device_energy *energy, struct kwhy_gpu *const *gpus)
{
	const char *absence = kwhy_session_absence(energy->session, 0);

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
	energy->gpu_count = gpu_count < KWHY_DEVICE_ENERGY_GPUS_MOST ? gpu_count
								     : KWHY_DEVICE_ENERGY_GPUS_MOST;
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
	free(energy);
}

const char *kwhy_device_energy_missing(const struct kwhy_device_energy *energy)
{
	return *energy->missing ? energy->missing : NULL;
}

enum kwhy_status kwhy_device_energy_idle(
	struct kwhy_device_energy *energy, double seconds, struct kwhy_error *error)
{
	char message[KWHY_MESSAGE_BYTES];

	return fail(kwhy_session_idle(energy->session, seconds, message, sizeof(message)), message, error);
}

enum kwhy_status kwhy_device_energy_begin(
	struct kwhy_device_energy *energy, const char *name, struct kwhy_error *error)
{
	energy->window = kwhy_session_name(energy->session, name);
	if (energy->window == KWHY_NO_NAME)
		return kwhy_fail_memory(error, "the names of windows");
	kwhy_region_begin(energy->session, energy->window);
	return KWHY_OK;
}

void kwhy_device_energy_end(struct kwhy_device_energy *energy)
{
	kwhy_region_end(energy->session, energy->window);
}

enum kwhy_status kwhy_device_energy_read(struct kwhy_device_energy *energy, struct kwhy_error *error)
{
	char message[KWHY_MESSAGE_BYTES];

	kwhy_results_free(energy->results);
	energy->results = NULL;
	return fail(kwhy_session_results(energy->session, &energy->results, message, sizeof(message)),
		message, error);
}

/* Adds one meter's figures; an unknown one makes the sum unknown. */
static void add_meter(const struct kwhy_device_energy *energy, size_t region, size_t meter,
	struct kwhy_joules *gross, struct kwhy_joules *net, struct kwhy_window_joules *out)
{
	struct kwhy_region_energy one = {.size = sizeof(one)};

	if (kwhy_results_energy(energy->results, region, meter, &one) ||
		one.state != KWHY_ENERGY_STATE_MEASURED) {
		*gross = *net = unknown;
		return;
	}
	gross->value += one.joules;
	gross->low += one.low_j;
	gross->high += one.high_j;
	net->value += one.net_joules;
	net->low += one.net_low_j;
	net->high += one.net_high_j;
	if (out) {
		out->mean_w += one.mean_w;
		out->basis = one.basis;
	}
}

static void add_host(const struct kwhy_device_energy *energy, size_t region, struct kwhy_window_joules *out)
{
	struct kwhy_joules net = {0, 0, 0};
	size_t count = 0;

	out->host = net;
	for (size_t i = 0; i < kwhy_session_meter_count(energy->session); i++) {
		struct kwhy_meter_info info = {.size = sizeof(info)};

		if (kwhy_session_meter(energy->session, i, &info) || info.kind != KWHY_METER_KIND_HOST)
			continue;
		add_meter(energy, region, i, &out->host, &net, NULL);
		count++;
	}
	if (!count)
		out->host = unknown;
}

/* Its length and the host's share; SIZE_MAX: there is no such window. */
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
	struct kwhy_window_joules *out)
{
	out->gross = out->net = (struct kwhy_joules){0, 0, 0};
	out->mean_w = 0;
	for (uint32_t i = from; i < to; i++)
		add_meter(energy, region, energy->meters[i], &out->gross, &out->net, out);
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
	add_gpus(energy, region, 0, gpu_count, out);
}

void kwhy_device_energy_of_one(const struct kwhy_device_energy *energy, const char *name, uint32_t gpu,
	struct kwhy_window_joules *out)
{
	size_t region = find_window(energy, name, out);

	if (region == SIZE_MAX || gpu >= energy->gpu_count || energy->meters[gpu] == KWHY_ALL_GPUS)
		return;
	add_gpus(energy, region, gpu, gpu + 1, out);
}
