/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/profile.h"
#include "report/table.h"
#include "report/text_context.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Inputs and output that the functions of this file share. */
struct page {
	const struct kwhy_profile *profile;
	const struct kwhy_text_style *style;
	struct kwhy_text *out;
};

enum { CELL_BYTES = 80 };

/*
 * Writes a figure with its standard deviation: "14.5 ms ± 1.5 ms"; "n/a" if the figure is unknown. Returns
 * `out`.
 */
static const char *figure_text(char out[CELL_BYTES], struct kwhy_measured measured, const char *unit)
{
	char value[KWHY_QUANTITY_BYTES], sd[KWHY_QUANTITY_BYTES];

	kwhy_quantity_si(value, measured.value, unit, 4);
	if (isfinite(measured.value) && isfinite(measured.sd))
		snprintf(out, CELL_BYTES, "%s ± %s", value, kwhy_quantity_si(sd, measured.sd, unit, 2));
	else
		snprintf(out, CELL_BYTES, "%s", value);
	return out;
}

static void heading(const struct page *page, const char *title)
{
	const struct kwhy_text_context context = {.style = page->style, .out = page->out};

	kwhy_text_context_heading(&context, title, NULL);
}

static const char *title_of(const struct kwhy_profile_figure *figure)
{
	static const struct {
		const char *key, *title;
	} rows[] = {
		{"clean_idle_w", "idle, no context"},
		{"context_idle_w", "idle, context"},
		{"execution_idle_w", "idle, after work"},
		{"limit_w", "power limit"},
		{"launch_s", "kernel launch"},
		{"synchronize_s", "synchronise, nothing left"},
		{"copy_latency_s", "smallest copy"},
		{"graph_launch_s", "graph launch"},
		{"graph_launch_node_s", "graph launch, a node more"},
		{"graph_start_node_s", "its beginning, a node more"},
		{"graph_node_s", "empty kernel in a graph"},
		{"queued_kernel_s", "empty kernel in a queue"},
		{"h2d_pinned_bytes_per_s", "copy to device, pinned"},
		{"h2d_pageable_bytes_per_s", "copy to device, pageable"},
		{"d2h_pinned_bytes_per_s", "copy to host, pinned"},
		{"d2h_pageable_bytes_per_s", "copy to host, pageable"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].key, figure->key) == 0)
			return rows[i].title;
	return NULL;
}

/*
 * Adds a table of the idle levels, the times of API calls and the latencies and rates of copies that the
 * profile has.
 */
static void add_figures(const struct page *page)
{
	static const struct kwhy_table_column columns[] = {
		{"", KWHY_COLUMN_LEFT}, {"measured", KWHY_COLUMN_LEFT}};
	struct kwhy_table table;
	char text[CELL_BYTES];

	heading(page, "Levels, calls and copies");
	kwhy_table_init(&table, columns, 2);
	for (size_t i = 0; i < kwhy_profile_figure_count; i++) {
		const struct kwhy_profile_figure *figure = &kwhy_profile_figures[i];
		const char *title = title_of(figure);

		if (!title)
			continue;
		kwhy_table_cell(&table, title);
		kwhy_table_cell(&table,
			figure_text(text, kwhy_profile_figure_get(page->profile, figure), figure->unit));
	}
	kwhy_table_write(&table, page->style, page->out);
}

static void add_sources(const struct page *page, const struct kwhy_self_test *test)
{
	static const struct kwhy_table_column columns[] = {{"source", KWHY_COLUMN_LEFT},
		{"update", KWHY_COLUMN_LEFT}, {"shows", KWHY_COLUMN_LEFT}, {"delay", KWHY_COLUMN_LEFT}};
	char name[KWHY_METER_NAME_BYTES], text[CELL_BYTES], shown[CELL_BYTES + 16];
	struct kwhy_table table;

	heading(page, "Meters");
	kwhy_table_init(&table, columns, 4);
	for (size_t i = 0; i < test->source_count; i++) {
		const struct kwhy_self_test_source *source = &test->sources[i];
		bool is_mean = isfinite(source->window_s.value);

		kwhy_table_cell(&table, kwhy_meter_source(name, source->meter, 0));
		kwhy_table_cell(
			&table, figure_text(text, (struct kwhy_measured){source->update_s.value, NAN}, "s"));
		snprintf(shown, sizeof(shown), "%s %s", is_mean ? "mean of" : "low-pass",
			figure_text(text, is_mean ? source->window_s : source->time_constant_s, "s"));
		kwhy_table_cell(&table, kwhy_meter_is_counter(source->meter) ? "energy" : shown);
		kwhy_table_cell(&table,
			kwhy_meter_is_counter(source->meter) ? "" : figure_text(text, source->delay_s, "s"));
	}
	kwhy_table_write(&table, page->style, page->out);
}

static void add_loads(const struct page *page, const struct kwhy_self_test *test)
{
	static const struct kwhy_table_column columns[] = {{"load", KWHY_COLUMN_LEFT},
		{"expected", KWHY_COLUMN_RIGHT}, {"kwhy", KWHY_COLUMN_RIGHT}, {"counter", KWHY_COLUMN_RIGHT},
		{"ring", KWHY_COLUMN_RIGHT}, {"average", KWHY_COLUMN_RIGHT}, {"instant", KWHY_COLUMN_RIGHT}};
	struct kwhy_table table;

	heading(page, "Energy of known loads, and error of each method of reading");
	kwhy_table_init(&table, columns, 7);
	for (size_t i = 0; i < test->load_count; i++) {
		const struct kwhy_self_test_load *load = &test->loads[i];

		if (!isfinite(load->expected_j.value))
			continue;
		kwhy_table_cell(&table, load->name);
		kwhy_table_real(&table, load->expected_j.value, "J");
		for (int method = 0; method < KWHY_SELF_TEST_METHOD_COUNT; method++) {
			double error = load->energy_j[method] / load->expected_j.value - 1;
			char text[32] = "n/a";

			if (isfinite(error))
				snprintf(text, sizeof(text), "%+.1f %%", 100 * error);
			kwhy_table_cell(&table, text);
		}
	}
	kwhy_table_write(&table, page->style, page->out);
	kwhy_text_add(page->out,
		"expected: from the powers of the two long loads and the times the kernels ran.\n"
		"kwhy: counter and ring, lag taken back. counter: updates before begin and end.\n"
		"average, instant: asked every 100 ms and integrated, as other tools do.\n");
}

static void add_powers(const struct page *page, const struct kwhy_self_test *test)
{
	static const struct kwhy_table_column columns[] = {
		{"kernel", KWHY_COLUMN_LEFT}, {"power", KWHY_COLUMN_LEFT}};
	struct kwhy_table table;
	char text[CELL_BYTES];

	heading(page, "Power of kernels");
	kwhy_table_init(&table, columns, 2);
	for (size_t i = 0; i < test->load_count; i++) {
		if (!isfinite(test->loads[i].power_w.value))
			continue;
		kwhy_table_cell(&table, test->loads[i].kernel);
		kwhy_table_cell(&table, figure_text(text, test->loads[i].power_w, "W"));
	}
	kwhy_table_write(&table, page->style, page->out);
}

static void add_conditions(const struct page *page, const struct kwhy_self_test *test)
{
	const struct kwhy_profile *profile = page->profile;

	kwhy_text_addf(page->out, "%s, driver %s, CUDA %s, %s",
		profile->device_name ? profile->device_name : "a GPU",
		profile->driver ? profile->driver : "unknown", profile->cuda ? profile->cuda : "unknown",
		profile->measured_on ? profile->measured_on : "no date");
	if (test && isfinite(test->temperature_low_c))
		kwhy_text_addf(page->out, "\n%.0f to %.0f °C, %.0f to %.0f MHz", test->temperature_low_c,
			test->temperature_high_c, test->clock_low_hz * 1e-6, test->clock_high_hz * 1e-6);
	kwhy_text_add(page->out, "\n");
	if (test && test->processes_before)
		kwhy_text_addf(page->out,
			"%" PRIu32
			" other processes used the GPU: no idle without a context, and all powers\n"
			"may hold theirs. Stop them for a profile to keep.\n",
			test->processes_before);
	for (unsigned bit = 0; test && bit < KWHY_THROTTLE_COUNT; bit++)
		if (test->throttle_bits & 1u << bit)
			kwhy_text_addf(page->out,
				"The GPU held back (%s) for a part of the time: powers are of that.\n",
				kwhy_throttle_name(bit));
}

const char *kwhy_report_profile_meter(char out[KWHY_PROFILE_METER_BYTES], const struct kwhy_profile *profile)
{
	char period[KWHY_QUANTITY_BYTES], lag[CELL_BYTES];

	out[0] = '\0';
	if (!isfinite(profile->sensor.sample_period_s.value) ||
		!isfinite(profile->sensor.time_constant_s.value))
		return out;
	snprintf(out, KWHY_PROFILE_METER_BYTES, "%s samples through a low-pass of %s%s%s%s%s%s",
		kwhy_quantity_si(period, profile->sensor.sample_period_s.value, "s", 3),
		figure_text(lag, profile->sensor.time_constant_s, "s"), profile->measured_on ? " (" : "",
		profile->measured_on ? profile->measured_on : "",
		profile->measured_on && profile->driver ? ", driver " : "",
		profile->measured_on && profile->driver ? profile->driver : "",
		profile->measured_on ? ")" : "");
	return out;
}

enum kwhy_status kwhy_report_profile_text(const struct kwhy_profile *profile,
	const struct kwhy_text_style *style, struct kwhy_text *out, struct kwhy_error *error)
{
	const struct page page = {profile, style, out};
	const struct kwhy_self_test *test = profile->self_test;

	add_conditions(&page, test);
	add_figures(&page);
	if (test) {
		add_powers(&page, test);
		add_sources(&page, test);
		if (isfinite(profile->sensor.late_share))
			kwhy_text_addf(out, "%.0f %% of the ring's time stamps come late, by %.1f ms.\n",
				100 * profile->sensor.late_share, 1e3 * profile->sensor.late_s.value);
		if (isfinite(test->ring_to_counter_ratio))
			kwhy_text_addf(out, "The ring adds up to %+.2f %% of the counter's energy.\n",
				100 * (test->ring_to_counter_ratio - 1));
		add_loads(&page, test);
	}
	kwhy_text_add(out,
		"\nWhat a machine cannot know of its own meter is a constant error of its gain:\n"
		"-5.8 to +4 % on other cards (arXiv 2312.02741). Nothing here contains it.\n");
	return kwhy_text_check(out, error);
}
