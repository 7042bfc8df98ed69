/* SPDX-License-Identifier: Apache-2.0 */
#include "measure/results.h"

#include "base/cpu_time.h"

#include <inttypes.h>
#include <math.h>

/* docs/formats/measure.schema.json describes the output. */

static void add_string(struct kwhy_text *text, const char *string)
{
	if (!string) {
		kwhy_text_add(text, "null");
		return;
	}
	kwhy_text_add(text, "\"");
	for (const char *at = string; *at; at++) {
		if (*at == '"' || *at == '\\')
			kwhy_text_addf(text, "\\%c", *at);
		else if ((unsigned char)*at < ' ')
			kwhy_text_addf(text, "\\u%04x", *at);
		else
			kwhy_text_add_bytes(text, at, 1);
	}
	kwhy_text_add(text, "\"");
}

static void add_real(struct kwhy_text *text, const char *key, double value)
{
	if (isfinite(value))
		kwhy_text_addf(text, ", \"%s\": %.9g", key, value);
	else
		kwhy_text_addf(text, ", \"%s\": null", key);
}

static const char *state_name(int32_t state)
{
	static const char *const names[] = {
		[KWHY_ENERGY_STATE_MEASURED] = "measured",
		[KWHY_ENERGY_STATE_NOT_METERED] = "not metered",
		[KWHY_ENERGY_STATE_NOT_YET] = "the meter has stopped reporting",
		[KWHY_ENERGY_STATE_FORGOTTEN] = "began before the meter's first reading",
	};

	return names[state];
}

static void add_energy(struct kwhy_text *text, const char *meter, const struct kwhy_region_energy *energy)
{
	kwhy_text_add(text, "        { \"meter\": ");
	add_string(text, meter);
	kwhy_text_addf(
		text, ", \"state\": \"%s\", \"basis\": \"%s\"", state_name(energy->state), energy->basis);
	add_real(text, "joules", energy->joules);
	add_real(text, "low_j", energy->low_j);
	add_real(text, "high_j", energy->high_j);
	add_real(text, "net_joules", energy->net_joules);
	add_real(text, "net_low_j", energy->net_low_j);
	add_real(text, "net_high_j", energy->net_high_j);
	add_real(text, "mean_w", energy->mean_w);
	add_real(text, "peak_w", energy->peak_w);
	kwhy_text_addf(text, ", \"enough\": %s, \"repetitions_needed\": %" PRIu64 " }",
		energy->enough ? "true" : "false", energy->repetitions_needed);
}

static void add_work(struct kwhy_text *text, const struct kwhy_region_work_done *work)
{
	kwhy_text_add(text, "        { \"unit\": ");
	add_string(text, work->unit);
	add_real(text, "amount", work->amount);
	add_real(text, "joules_per_unit", work->joules_per_unit);
	add_real(text, "low_j_per_unit", work->low_j_per_unit);
	add_real(text, "high_j_per_unit", work->high_j_per_unit);
	add_real(text, "units_per_joule", 1 / work->joules_per_unit);
	add_real(text, "seconds_per_unit", work->seconds_per_unit);
	kwhy_text_add(text, " }");
}

static void add_region(struct kwhy_text *text, const struct kwhy_results *results, size_t i)
{
	const struct kwhy_result_region *region = &results->regions[i];
	const struct kwhy_region_info *info = &region->info;

	kwhy_text_add(text, "    { \"name\": ");
	add_string(text, info->name);
	kwhy_text_addf(text, ", \"count\": %" PRIu64 ", \"open\": %" PRIu64 ", \"unmatched\": %" PRIu64,
		info->count, info->open, info->unmatched);
	add_real(text, "total_s", info->total_s);
	add_real(text, "wall_s", info->wall_s);
	kwhy_text_add(text, ",\n      \"energies\": [\n");
	for (size_t m = 0; m < results->meter_count; m++) {
		add_energy(text, results->meters[m].name, &region->energies[m]);
		kwhy_text_add(text, ",\n");
	}
	add_energy(text, "all gpus", &region->energies[results->meter_count]);
	kwhy_text_add(text, "\n      ],\n      \"work\": [");
	for (size_t w = 0; w < region->work_count; w++) {
		kwhy_text_add(text, w ? ",\n" : "\n");
		add_work(text, &region->works[w]);
	}
	kwhy_text_add(text, " ] }");
}

static void add_meters(struct kwhy_text *text, const struct kwhy_results *results)
{
	static const char *const kinds[] = {"gpu", "host", "wall"};

	for (size_t m = 0; m < results->meter_count; m++) {
		const struct kwhy_result_meter *meter = &results->meters[m];

		kwhy_text_addf(
			text, "%s\n    { \"kind\": \"%s\", \"name\": ", m ? "," : "", kinds[meter->kind]);
		add_string(text, meter->name);
		kwhy_text_add(text, ", \"product\": ");
		add_string(text, meter->product);
		kwhy_text_add(text, ", \"uuid\": ");
		add_string(text, meter->uuid);
		kwhy_text_add(text, " }");
	}
}

/*
 * Energy in J of all CPU packages over the session (region 0); *out_net: true if the energy is net of the
 * packages' idle level, false if it is gross because that level was not measured. NAN: no package is metered,
 * or the energy is unknown.
 */
static double packages_j(const struct kwhy_results *results, bool *out_net)
{
	const struct kwhy_region_energy *energies = results->regions[0].energies;
	double joules = 0, net_j = 0;
	bool metered = false;

	for (size_t m = 0; m < results->meter_count; m++)
		if (results->meters[m].is_package) {
			metered = true;
			joules += energies[m].joules;
			net_j += energies[m].net_joules;
		}
	*out_net = metered && isfinite(net_j);
	return !metered ? NAN : *out_net ? net_j : joules;
}

static void add_sampler(struct kwhy_text *text, const struct kwhy_results *results)
{
	bool net = false;
	double modelled_j = results->region_count
		? kwhy_cpu_part_j(packages_j(results, &net), results->session_cpu_s, results->session_busy_s)
		: NAN;

	kwhy_text_addf(text, "  \"sampler\": { \"cpu_s\": %.9g, \"running_s\": %.9g",
		(double)results->sampler_cpu_ns * 1e-9, (double)results->sampler_running_ns * 1e-9);
	add_real(text, "session_cpu_s", results->session_cpu_s);
	add_real(text, "machine_busy_s", results->session_busy_s);
	add_real(text, "modelled_j", modelled_j);
	kwhy_text_addf(text, ", \"above_idle\": %s }", net ? "true" : "false");
}

enum kwhy_status kwhy_results_write(struct kwhy_results *results, struct kwhy_error *error)
{
	struct kwhy_text *text = &results->json;

	kwhy_text_add(text, "{\n  \"schema\": \"kwhy.measure/1\",\n  \"library\": \"" KWHY_VERSION "\",\n");
	kwhy_text_addf(text,
		"  \"interval_ratio\": 0.95, \"enough_ratio\": %.9g,\n"
		"  \"gain\": { \"known\": false, \"low_ratio\": %.9g, \"high_ratio\": %.9g },\n  \"meters\": "
		"[",
		results->enough_ratio, KWHY_GAIN_LOW_RATIO, KWHY_GAIN_HIGH_RATIO);
	add_meters(text, results);
	kwhy_text_add(text, " ],\n  \"not_available\": [");
	for (size_t i = 0; i < results->absence_count; i++) {
		kwhy_text_add(text, i ? ",\n    " : "\n    ");
		add_string(text, results->absences[i]);
	}
	kwhy_text_add(text, " ],\n  \"regions\": [\n");
	for (size_t i = 0; i < results->region_count; i++) {
		add_region(text, results, i);
		kwhy_text_add(text, i + 1 < results->region_count ? ",\n" : "\n");
	}
	kwhy_text_addf(text,
		"  ],\n  \"lost\": { \"events\": %" PRIu64 ", \"readings\": %" PRIu64
		", \"failed_readings\": %" PRIu64 " },\n",
		results->lost_events, results->lost_readings, results->failed_readings);
	add_sampler(text, results);
	kwhy_text_add(text, "\n}\n");
	return kwhy_text_check(text, error);
}
