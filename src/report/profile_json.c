/* SPDX-License-Identifier: Apache-2.0 */
#include "report/json/writer.h"
#include "report/profile.h"

#include <math.h>
#include <string.h>

static const char gain_note[] = "the meter's constant gain error is not known; published figures for other "
				"cards are -5.8 to +4 % (arXiv 2312.02741)";

static void add_text(struct kwhy_json *json, const char *key, const char *text)
{
	if (text)
		kwhy_json_string(json, key, text);
}

static void add_real(struct kwhy_json *json, const char *key, double value)
{
	if (isfinite(value))
		kwhy_json_real(json, key, value);
}

static void add_count(struct kwhy_json *json, const char *key, uint32_t count)
{
	if (count)
		kwhy_json_count(json, key, count);
}

/* Adds a figure unless it is unknown. */
static void add_measured(struct kwhy_json *json, const char *key, struct kwhy_measured measured,
	const char *unit, const struct kwhy_profile_note *note)
{
	if (!isfinite(measured.value))
		return;
	kwhy_json_row(json, key);
	kwhy_json_real(json, "value", measured.value);
	add_real(json, "spread", measured.sd);
	kwhy_json_string(json, "unit", unit);
	if (note) {
		add_text(json, "source", note->source);
		add_text(json, "conditions", note->conditions);
	}
	kwhy_json_object_end(json);
}

static const struct kwhy_profile_note *find_note(
	const struct kwhy_profile *profile, const struct kwhy_profile_figure *figure)
{
	for (size_t i = 0; i < profile->note_count; i++)
		if (strcmp(profile->notes[i].part, figure->part) == 0 &&
			strcmp(profile->notes[i].key, figure->key) == 0)
			return &profile->notes[i];
	return NULL;
}

static void add_figures(struct kwhy_json *json, const struct kwhy_profile *profile, const char *part)
{
	for (size_t i = 0; i < kwhy_profile_figure_count; i++) {
		const struct kwhy_profile_figure *figure = &kwhy_profile_figures[i];

		if (strcmp(figure->part, part) == 0)
			add_measured(json, figure->key, kwhy_profile_figure_get(profile, figure),
				figure->unit, find_note(profile, figure));
	}
}

static void add_device(struct kwhy_json *json, const struct kwhy_profile *profile)
{
	kwhy_json_object(json, "device");
	add_text(json, "name", profile->device_name);
	add_count(json, "multiprocessors", profile->sm_count);
	add_count(json, "threads_per_multiprocessor", profile->threads_per_sm);
	add_count(json, "registers_per_multiprocessor", profile->registers_per_sm);
	add_count(json, "shared_bytes_per_multiprocessor", profile->shared_bytes_per_sm);
	add_figures(json, profile, "device");
	kwhy_json_object_end(json);
}

static void add_conditions(struct kwhy_json *json, const struct kwhy_profile *profile)
{
	kwhy_json_object(json, "conditions");
	add_text(json, "driver", profile->driver);
	add_text(json, "cuda", profile->cuda);
	add_text(json, "measured_on", profile->measured_on);
	kwhy_json_string(json, "gain", gain_note);
	kwhy_json_object_end(json);
}

static void add_range(struct kwhy_json *json, const char *key, double low, double high, const char *unit)
{
	if (!isfinite(low))
		return;
	kwhy_json_row(json, key);
	kwhy_json_real(json, "low", low);
	kwhy_json_real(json, "high", high);
	kwhy_json_string(json, "unit", unit);
	kwhy_json_object_end(json);
}

static void add_source(struct kwhy_json *json, const struct kwhy_self_test_source *source)
{
	char name[KWHY_METER_NAME_BYTES];

	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "source", kwhy_meter_source(name, source->meter, 0));
	kwhy_json_count(json, "readings", source->readings);
	add_measured(json, "update_s", source->update_s, "s", NULL);
	add_range(json, "update_range_s", source->update_low_s, source->update_high_s, "s");
	add_measured(json, "time_constant_s", source->time_constant_s, "s", NULL);
	add_measured(json, "window_s", source->window_s, "s", NULL);
	add_measured(json, "delay_s", source->delay_s, "s", NULL);
	kwhy_json_object_end(json);
}

static void add_energies(struct kwhy_json *json, const struct kwhy_self_test_load *load)
{
	kwhy_json_object(json, "energies");
	for (int method = 0; method < KWHY_SELF_TEST_METHOD_COUNT; method++) {
		if (!isfinite(load->energy_j[method]))
			continue;
		kwhy_json_row(json, kwhy_self_test_method_name((enum kwhy_self_test_method)method));
		kwhy_json_real(json, "energy_j", load->energy_j[method]);
		add_real(json, "error_ratio", load->energy_j[method] / load->expected_j.value - 1);
		kwhy_json_object_end(json);
	}
	kwhy_json_object_end(json);
}

static void add_load(struct kwhy_json *json, const struct kwhy_self_test_load *load)
{
	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "name", load->name);
	kwhy_json_string(json, "kernel", load->kernel);
	kwhy_json_real(json, "on_s", load->on_s);
	kwhy_json_real(json, "off_s", load->off_s);
	kwhy_json_count(json, "pulses", load->pulses);
	kwhy_json_real(json, "window_s", load->window_s);
	add_measured(json, "power_w", load->power_w, "W", NULL);
	add_measured(json, "expected_j", load->expected_j, "J", NULL);
	add_energies(json, load);
	kwhy_json_object_end(json);
}

static void add_throttle(struct kwhy_json *json, unsigned bits)
{
	kwhy_json_list(json, "throttle_reasons");
	for (unsigned bit = 0; bit < KWHY_THROTTLE_COUNT; bit++)
		if (bits & 1u << bit)
			kwhy_json_string(json, NULL, kwhy_throttle_name(bit));
	kwhy_json_array_end(json);
}

static void add_self_test(struct kwhy_json *json, const struct kwhy_self_test *test)
{
	kwhy_json_object(json, "self_test");
	add_range(json, "temperature_c", test->temperature_low_c, test->temperature_high_c, "degree C");
	add_range(json, "sm_clock_hz", test->clock_low_hz, test->clock_high_hz, "Hz");
	add_throttle(json, test->throttle_bits);
	kwhy_json_count(json, "seed", test->seed);
	kwhy_json_count(json, "processes_before", test->processes_before);
	add_real(json, "ring_to_counter_ratio", test->ring_to_counter_ratio);
	kwhy_json_array(json, "sources");
	for (size_t i = 0; i < test->source_count; i++)
		add_source(json, &test->sources[i]);
	kwhy_json_array_end(json);
	kwhy_json_array(json, "loads");
	for (size_t i = 0; i < test->load_count; i++)
		add_load(json, &test->loads[i]);
	kwhy_json_array_end(json);
	kwhy_json_object_end(json);
}

static void add_known_powers(struct kwhy_json *json, const struct kwhy_profile *profile)
{
	kwhy_json_array(json, "known_powers");
	for (size_t i = 0; i < profile->known_power_count; i++) {
		kwhy_json_object(json, NULL);
		kwhy_json_string(json, "pattern", profile->known_powers[i].pattern);
		add_measured(json, "power_w", profile->known_powers[i].power_w, "W", NULL);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

enum kwhy_status kwhy_report_profile_json(
	const struct kwhy_profile *profile, struct kwhy_text *out, struct kwhy_error *error)
{
	static const char *const parts[] = {"sensor", "power", "cost", "copy"};
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", KWHY_PROFILE_SCHEMA);
	add_device(&json, profile);
	add_conditions(&json, profile);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		kwhy_json_object(&json, parts[i]);
		add_figures(&json, profile, parts[i]);
		kwhy_json_object_end(&json);
	}
	if (profile->known_power_count)
		add_known_powers(&json, profile);
	if (profile->self_test)
		add_self_test(&json, profile->self_test);
	kwhy_json_object_end(&json);
	kwhy_text_add(out, "\n");
	return kwhy_text_check(out, error);
}
