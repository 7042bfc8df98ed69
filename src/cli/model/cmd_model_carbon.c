/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command.h"
#include "cli/model/running.h"
#include "fit/carbon.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

struct carbon_options {
	struct kwhy_running_options running;
	const char *region;
	double intensity_g_per_kwh, car_g_per_mile;
	bool list;
};

static void set_defaults(void *options)
{
	struct carbon_options *carbon = options;

	kwhy_running_options_init(&carbon->running);
	carbon->intensity_g_per_kwh = NAN;
	carbon->car_g_per_mile = KWHY_CARBON_CAR_G_PER_MILE;
}

static void add_place(
	const struct kwhy_carbon_region *region, struct kwhy_table *table, struct kwhy_json *json)
{
	char year[16];

	if (!table) {
		kwhy_json_row(json, NULL);
		kwhy_json_string(json, "key", region->key);
		kwhy_json_string(json, "name", region->name);
		kwhy_json_int(json, "year", region->year);
		kwhy_json_real(json, "g_per_kwh", region->g_per_kwh);
		kwhy_json_string(json, "source", region->source);
		kwhy_json_object_end(json);
		return;
	}
	snprintf(year, sizeof(year), "%d", region->year);
	kwhy_table_cell(table, region->key);
	kwhy_table_cell(table, region->name);
	kwhy_table_real(table, region->g_per_kwh, "g");
	kwhy_table_cell(table, year);
}

static enum kwhy_status list_places(const struct kwhy_model_options *model, struct kwhy_error *error)
{
	static const struct kwhy_table_column columns[] = {{"place", KWHY_COLUMN_LEFT},
		{"", KWHY_COLUMN_LEFT}, {"CO2e", KWHY_COLUMN_RIGHT}, {"year", KWHY_COLUMN_RIGHT}};
	size_t count;
	const struct kwhy_carbon_region *regions = kwhy_carbon_regions(&count);
	struct kwhy_model_page page;
	struct kwhy_table table;
	enum kwhy_status status = kwhy_model_page_begin(&page, model, "carbon-places", error);

	if (status)
		return status;
	kwhy_table_init(&table, columns, 4);
	if (page.is_json)
		kwhy_json_array(&page.json, "places");
	for (size_t i = 0; i < count; i++)
		add_place(&regions[i], page.is_json ? NULL : &table, &page.json);
	if (page.is_json)
		kwhy_json_array_end(&page.json);
	if (!page.is_json)
		kwhy_text_context_linef(&page.context, "", "CO2e of a kWh, mean of the year");
	kwhy_table_write(&table, &page.style, &page.text);
	return kwhy_model_page_end(&page, model, KWHY_OK, error);
}

/*
 * Miles after which a car has emitted as much CO2e as the runs of a year cause or, if no number of runs per
 * day is given, as one run causes. If two runs are compared, it is as much as the first causes more than the
 * second; below 0 if it causes less.
 */
static double miles_of(const struct kwhy_runs *runs, double g_per_mile)
{
	bool yearly = isfinite(runs->questions[0].runs_per_day);
	double grams = 0;

	for (size_t i = 0; i < runs->count; i++)
		grams += (i ? -1 : 1) *
			(yearly ? runs->answers[i].per_year.value : runs->answers[i].per_run.value);
	return grams / g_per_mile;
}

static void write_sources(const struct kwhy_runs *runs, const struct carbon_options *options,
	const struct kwhy_carbon_region *region, struct kwhy_model_page *page)
{
	double miles = miles_of(runs, options->car_g_per_mile);
	bool yearly = isfinite(runs->questions[0].runs_per_day);

	if (page->is_json) {
		kwhy_json_string(&page->json, "place", region ? region->key : NULL);
		kwhy_json_real(&page->json, "g_per_kwh", runs->questions[0].per_kwh);
		kwhy_json_string(&page->json, "source", region ? region->source : "given");
		kwhy_json_real(&page->json, "year", region ? region->year : NAN);
		kwhy_json_real(&page->json, "car_g_per_mile", options->car_g_per_mile);
		kwhy_json_real(&page->json, "car_miles", miles);
		return;
	}
	if (region)
		kwhy_text_context_linef(&page->context, "", "%s: %.4g g CO2e per kWh, mean of %d (%s)",
			region->name, region->g_per_kwh, region->year, region->source);
	else
		kwhy_text_context_linef(
			&page->context, "", "%.4g g CO2e per kWh, as given", runs->questions[0].per_kwh);
	kwhy_text_context_linef(&page->context, "",
		"%s%s: as much as %.3g miles (%.3g km) by car at %.4g g a mile%s",
		runs->count < 2	    ? "emitted"
			: miles < 0 ? "emitted more"
				    : "saved",
		yearly ? " in a year" : " by a run", fabs(miles), fabs(miles) * KWHY_CARBON_KM_PER_MILE,
		options->car_g_per_mile,
		options->car_g_per_mile == KWHY_CARBON_CAR_G_PER_MILE ? " (EPA-420-F-23-014)" : "");
	kwhy_runs_write_source(runs, &options->running, page);
}

struct answer {
	const struct kwhy_runs *runs;
	const struct carbon_options *options;
	/* region whose carbon intensity is used; NULL: the user stated the intensity */
	const struct kwhy_carbon_region *region;
};

static void fill(const void *given, struct kwhy_model_page *page)
{
	const struct answer *answer = given;

	kwhy_runs_write(answer->runs, NULL, "carbon", page);
	write_sources(answer->runs, answer->options, answer->region, page);
}

static enum kwhy_status choose(const struct carbon_options *options,
	const struct kwhy_carbon_region **out_region, double *out_g_per_kwh, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (!options->region == !isfinite(options->intensity_g_per_kwh))
		return kwhy_fail(error, KWHY_E_USAGE,
			"model carbon needs --place (see --list) or --intensity G of a kWh, and not both");
	if (options->intensity_g_per_kwh < 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--intensity cannot be negative");
	if (!(options->car_g_per_mile > 0))
		return kwhy_fail(error, KWHY_E_USAGE, "--car takes grams a mile above 0");
	*out_g_per_kwh = options->intensity_g_per_kwh;
	if (options->region)
		status = kwhy_carbon_find(options->region, out_region, error);
	if (*out_region)
		*out_g_per_kwh = (*out_region)->g_per_kwh;
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct carbon_options *options = invocation->options;
	const struct kwhy_carbon_region *region = NULL;
	struct kwhy_runs runs = {0};
	double g_per_kwh;
	enum kwhy_status status;

	if (options->list)
		return list_places(&options->running.model, error);
	status = choose(options, &region, &g_per_kwh, error);
	if (!status)
		status = kwhy_runs_read(&runs, &options->running, &invocation->operands, error);
	if (!status)
		status = kwhy_runs_answer(&runs, g_per_kwh, NAN, error);
	if (!status)
		status = kwhy_model_page_write(&options->running.model, "carbon", fill,
			&(struct answer){&runs, options, region}, error);
	kwhy_runs_done(&runs);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"place", 0, "PLACE", "country or cloud region: THA, Thailand, gcp:us-west1", KWHY_OPTION_TEXT,
		offsetof(struct carbon_options, region)},
	{"intensity", 0, "G", "your own grams of CO2e per kWh", KWHY_OPTION_NUMBER,
		offsetof(struct carbon_options, intensity_g_per_kwh)},
	{"list", 0, NULL, "list the places, their values and years", KWHY_OPTION_FLAG,
		offsetof(struct carbon_options, list)},
	{"car", 0, "G", "grams CO2 that a car emits on a mile; default 400", KWHY_OPTION_NUMBER,
		offsetof(struct carbon_options, car_g_per_mile)},
	KWHY_OPTION_ROWS_RUNNING(struct carbon_options, running),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_model_carbon = {
	.name = "model carbon",
	.operands = "[RUN.json [RUN.json]]",
	.summary = "What a run emits, by country or cloud region; what another saves.",
	.details = "RUN.json: of kwhy stat --json or kwhy report --json; two are compared.",
	.options = options_table,
	.options_bytes = sizeof(struct carbon_options),
	.defaults = set_defaults,
	.run = run,
};
