/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/energy/energy_meter.h"
#include "ledger/parts.h"
#include "ledger/saturate.h"
#include "ledger/sums/sums.h"
#include "model/counter.h"

/*
 * Rise of an energy counter of the host over its readings. Intervals in which the counter falls (by a reset,
 * or by a wrap of unknown range), or rises by more than its owner can draw, are left out and counted in
 * `falls`.
 */
struct rise {
	int64_t counts;
	size_t falls;
	double highest_w, second_w; /* highest and second highest mean power between two readings */
	size_t known;		    /* number of intervals whose power is known */
};

/*
 * A note says that a counter may have jumped if the mean power of one interval between readings is above
 * ALONE_W and above ALONE_RATIO times that of every other interval. Real work of so high a power rarely fits
 * into one interval. Counters with fewer than ALONE_INTERVALS_MIN known intervals are not checked.
 */
#define ALONE_W 300.0
#define ALONE_RATIO 3.0
enum { ALONE_INTERVALS_MIN = 5 };

static void see_power(struct rise *rise, const struct kwhy_power_series *series, size_t i)
{
	double power_w;

	if (!kwhy_counter_power_w(series, i, &power_w))
		return;
	rise->known++;
	if (power_w > rise->highest_w) {
		rise->second_w = rise->highest_w;
		rise->highest_w = power_w;
	} else if (power_w > rise->second_w) {
		rise->second_w = power_w;
	}
}

static struct rise rise_of(const struct kwhy_power_series *series)
{
	struct rise rise = {0};

	for (size_t i = 1; i < series->count; i++) {
		int64_t step = 0;
		const enum kwhy_counter_step how = kwhy_counter_step(series, i, &step);

		if (how == KWHY_COUNTER_FELL || how == KWHY_COUNTER_JUMPED)
			rise.falls++;
		else
			rise.counts = kwhy_saturate_add(rise.counts, step);
		see_power(&rise, series, i);
	}
	return rise;
}

static int64_t counted_nj(const struct kwhy_power_series *series, const struct rise *rise)
{
	int64_t energy_nj;

	return __builtin_mul_overflow(rise->counts, kwhy_meter_unit_nj(series->meter), &energy_nj)
		? KWHY_UNKNOWN_NJ
		: energy_nj;
}

static int64_t integral_nj(const struct kwhy_power_series *series)
{
	int64_t sum_nj = 0, rest = 0, more_nj;

	for (size_t i = 1; i < series->count; i++)
		if (!kwhy_power_trapezoid_nj(series, i, &rest, &more_nj) ||
			__builtin_add_overflow(sum_nj, more_nj, &sum_nj))
			return KWHY_UNKNOWN_NJ;
	return sum_nj;
}

/* Adds notes about falls and a suspected jump of the host counter whose energy was added last. */
static enum kwhy_status note_rise(struct kwhy_ledger *ledger, const struct kwhy_power_series *series,
	const struct rise *rise, struct kwhy_error *error)
{
	const struct kwhy_host_energy *host = &ledger->hosts[ledger->host_count - 1];
	const char *of = host->host ? " of " : "", *name = host->host ? host->host : "";
	enum kwhy_status status = KWHY_OK;

	if (rise->known >= ALONE_INTERVALS_MIN && rise->highest_w > ALONE_W &&
		rise->highest_w > ALONE_RATIO * rise->second_w)
		status = kwhy_ledger_note(ledger, KWHY_NOTE_WARNING, "host-counter-jumped", error,
			"the counter %s%s%s shows %.0f W in one interval and at most %.0f W in all others: "
			"it may "
			"have jumped, and then its energy is too high",
			host->source, of, name, rise->highest_w, rise->second_w);
	if (status || rise->falls == 0)
		return status;
	return kwhy_ledger_note(ledger, KWHY_NOTE_WARNING, "host-counter-fell", error,
		"the counter %s%s%s fell or jumped in %zu of %zu intervals (it was reset, or wrapped at an "
		"unknown "
		"value); these intervals are not counted",
		host->source, of, name, rise->falls, series->count - 1);
}

static enum kwhy_status add_host(struct kwhy_ledger *ledger, const struct kwhy_power_series *series,
	const char *name, struct kwhy_error *error)
{
	struct kwhy_host_energy *host = &ledger->hosts[ledger->host_count];
	const bool is_counter = kwhy_meter_is_counter(series->meter);
	const struct rise rise = is_counter ? rise_of(series) : (struct rise){0};
	char source[KWHY_METER_NAME_BYTES];

	host->source = kwhy_arena_copy(
		&ledger->arena, kwhy_meter_source(source, series->meter, series->domain));
	if (!host->source)
		return kwhy_fail_memory(error, "energy of the host");
	host->host = name ? kwhy_arena_copy(&ledger->arena, name) : NULL;
	if (name && !host->host)
		return kwhy_fail_memory(error, "energy of the host");
	host->machine = series->machine;
	host->start_ns = series->time_ns[0];
	host->end_ns = series->time_ns[series->count - 1];
	host->measured_nj = is_counter ? counted_nj(series, &rise) : integral_nj(series);
	ledger->host_count++;
	return note_rise(ledger, series, &rise, error);
}

enum kwhy_status kwhy_sums_hosts(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	const bool is_named = kwhy_recording_has_hosts(recording);
	enum kwhy_status status = KWHY_OK;

	(void)options;
	ledger->hosts = kwhy_arena_alloc(&ledger->arena, recording->power_count, sizeof(*ledger->hosts));
	if (!ledger->hosts)
		return kwhy_fail_memory(error, "energy of the host");
	for (size_t i = 0; !status && i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];

		if (series->device == KWHY_NONE && series->count > 1)
			status = add_host(ledger, series,
				is_named ? kwhy_recording_host_of(recording, series) : NULL, error);
	}
	return status;
}
