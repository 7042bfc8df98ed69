/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantile.h"
#include "digest/making.h"

#include <stdlib.h>
#include <string.h>

static const char *text_of(const struct kwhy_recording *recording, uint32_t name)
{
	return name ? kwhy_names_get(&recording->names, name) : NULL;
}

static bool is_of_part(const struct kwhy_digest_making *making, uint32_t device)
{
	return device == KWHY_NONE ? making->is_first : making->place_of[device] != KWHY_NONE;
}

/* Energy that a host's meter measured; KWHY_UNKNOWN_NJ: unknown, or the meter is that of a device. */
static int64_t host_energy(
	const struct kwhy_digest_making *making, const struct kwhy_power_series *series, const char *source)
{
	for (size_t i = 0; series->device == KWHY_NONE && i < making->ledger->host_count; i++)
		if (making->ledger->hosts[i].machine == series->machine &&
			strcmp(making->ledger->hosts[i].source, source) == 0)
			return making->ledger->hosts[i].measured_nj;
	return KWHY_UNKNOWN_NJ;
}

static enum kwhy_status add_meter(
	const struct kwhy_digest_making *making, const struct kwhy_power_series *series)
{
	const struct kwhy_recording *recording = making->recording;
	const uint32_t machine = kwhy_recording_machine_of_meter(recording, series);
	struct kwhy_digest_meter *row = KWHY_DIGEST_ADD(making->digest, meter, making->error);
	char source[KWHY_METER_NAME_BYTES];

	if (!row)
		return making->error->status;
	row->source = kwhy_arena_copy(
		&making->digest->arena, kwhy_meter_source(source, series->meter, series->domain));
	if (!row->source)
		return kwhy_fail_memory(making->error, "a digest");
	row->device = series->device == KWHY_NONE ? KWHY_NONE : making->place_of[series->device];
	if (machine != KWHY_NONE) {
		row->host = text_of(recording, recording->machines[machine].host);
		row->boot = text_of(recording, recording->machines[machine].boot);
	} else if (!recording->machine_count) {
		row->host = kwhy_digest_about(making->digest)->host;
		row->boot = kwhy_digest_about(making->digest)->boot;
	}
	row->readings = (int64_t)series->count;
	row->start_ns = series->time_ns[0];
	row->end_ns = series->time_ns[series->count - 1];
	row->energy_nj = host_energy(making, series, source);
	return KWHY_OK;
}

static enum kwhy_status add_throttle(
	const struct kwhy_digest_making *making, const struct kwhy_gauge_series *series)
{
	for (unsigned bit = 0; bit < KWHY_THROTTLE_COUNT; bit++) {
		struct kwhy_digest_throttle *row;
		size_t count = 0;

		for (size_t i = 0; i < series->count; i++)
			count += (size_t)(series->value[i] >> bit & 1);
		if (!count)
			continue;
		row = KWHY_DIGEST_ADD(making->digest, throttle, making->error);
		if (!row)
			return making->error->status;
		row->device = making->place_of[series->device];
		row->reason = kwhy_throttle_name(bit);
		row->ratio = (double)count / (double)series->count;
	}
	return KWHY_OK;
}

static enum kwhy_status add_gauge(
	const struct kwhy_digest_making *making, const struct kwhy_gauge_series *series)
{
	struct kwhy_digest_gauge *row = KWHY_DIGEST_ADD(making->digest, gauge, making->error);
	int64_t *values;

	if (!row)
		return making->error->status;
	values = malloc(series->count * sizeof(*values));
	if (!values)
		return kwhy_fail_memory(making->error, "gauges");
	memcpy(values, series->value, series->count * sizeof(*values));
	row->device = series->device == KWHY_NONE ? KWHY_NONE : making->place_of[series->device];
	row->gauge = kwhy_gauge_name((enum kwhy_gauge)series->gauge);
	row->readings = (int64_t)series->count;
	row->median = kwhy_middle_integer(values, series->count); /* sorts `values`, too */
	row->least = values[0];
	row->most = values[series->count - 1];
	free(values);
	return KWHY_OK;
}

static enum kwhy_status add_clocks(const struct kwhy_digest_making *making)
{
	const struct kwhy_recording *recording = making->recording;

	for (size_t i = 0; i < kwhy_digest_kept(making, recording->machine_count); i++) {
		struct kwhy_digest_clock *row;

		if (recording->machines[i].width_ns < 0)
			continue;
		row = KWHY_DIGEST_ADD(making->digest, clock, making->error);
		if (!row)
			return making->error->status;
		row->host = text_of(recording, recording->machines[i].host);
		row->boot = text_of(recording, recording->machines[i].boot);
		row->offset_ns = recording->machines[i].offset_ns;
		row->width_ns = recording->machines[i].width_ns;
	}
	return KWHY_OK;
}

enum kwhy_status kwhy_digest_make_meters(const struct kwhy_digest_making *making)
{
	const struct kwhy_recording *recording = making->recording;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < recording->power_count; i++)
		if (recording->power[i].count && is_of_part(making, recording->power[i].device))
			status = add_meter(making, &recording->power[i]);
	for (size_t i = 0; !status && i < recording->gauge_count; i++) {
		const struct kwhy_gauge_series *series = &recording->gauges[i];

		if (!series->count || !is_of_part(making, series->device))
			continue;
		status = series->gauge == KWHY_GAUGE_THROTTLE_REASONS && series->device != KWHY_NONE
			? add_throttle(making, series)
			: add_gauge(making, series);
	}
	return status ? status : add_clocks(making);
}
