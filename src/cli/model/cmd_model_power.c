/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/profile_find.h"
#include "base/quantity.h"
#include "cli/command.h"
#include "cli/model/page.h"
#include "cli/model/power_rows.h"
#include "import/import.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/*
 * GOOD_RATIO: largest error, relative to the mean power, in windows left out of the fit with which a model
 * counts as good; with a larger error it divides energy no better than a guess. JOINT_RATIO: see
 * is_base_vague().
 */
#define GOOD_RATIO 0.05
#define JOINT_RATIO 0.25

struct power_options {
	struct kwhy_model_options model;
	struct kwhy_strings power;
	const char *fit, *profile;
	uint64_t device;
	double window_s; /* length of the shortest windows as the user gave it, s; NAN: not given */
	/* which GPU of the power files a device of the trace is: "[RANK/]DEVICE=[HOST/]GPU" */
	struct kwhy_strings power_devices;
	const char *power_zone; /* time zone of the times in power files that name none; NULL: not given */
	bool has_partial;
};

/*
 * Length of the shortest windows, in seconds, if --window is not given: WINDOW_S or, if the recording has too
 * few windows of this length for a fit, SHORT_WINDOW_S. Shorter windows are less accurate: the times of the
 * driver's counters are known to about 50 ms, in which the power may change by hundreds of watts. If the work
 * changes each second, this alone causes an error of 3 % of the mean power in windows of 1 s.
 */
#define WINDOW_S 2.0
#define SHORT_WINDOW_S 1.0

static void set_defaults(void *options)
{
	((struct power_options *)options)->window_s = NAN;
}

/* The windows whose power is divided, the windows to which the model is fitted, and the result. */
struct answer {
	struct kwhy_power_rows rows, fitted_rows;
	/* the windows to which the model is fitted; they may be the windows whose power is divided */
	const struct kwhy_power_rows *fitted;
	struct kwhy_power_model model;
	struct kwhy_power_split split;
	double window_s; /* shortest length of the windows that are fitted; NAN: they come from a CSV, with
			    lengths of their own */
	size_t left_out; /* number of gauges that were removed because only one of the two sets of windows has
			    them */
};

static bool is_csv(const char *path)
{
	size_t length = strlen(path);

	return length > 4 && strcmp(path + length - 4, ".csv") == 0;
}

/*
 * Finds the machine profile: the one that the user names or, if none is named, the installed one for the
 * device's name. *out NULL: there is none.
 */
static enum kwhy_status find_profile(const struct power_options *options,
	const struct kwhy_recording *recording, struct kwhy_profile **out, struct kwhy_error *error)
{
	const char *name = recording->devices[options->device].name;

	*out = NULL;
	if (options->profile)
		return kwhy_import_profile(options->profile, out, error);
	return name ? kwhy_profile_find(name, out, error) : KWHY_OK;
}

static enum kwhy_status import_all(struct kwhy_recording *recording, const struct power_options *options,
	const char *path, struct kwhy_error *error)
{
	const struct kwhy_import_options import = {.partial = options->has_partial,
		.power_zone = options->power_zone,
		.power_devices = options->power_devices.items,
		.power_device_count = options->power_devices.count};
	enum kwhy_status status = kwhy_import_trace(recording, path, &import, error);

	for (size_t i = 0; !status && i < options->power.count; i++)
		status = kwhy_import_power(recording, options->power.items[i], &import, error);
	if (!status)
		status = kwhy_recording_finish(recording, error);
	if (!status && options->device >= recording->device_count)
		return kwhy_fail(error, KWHY_E_INPUT, "%.300s has %zu devices, and none of number %llu", path,
			recording->device_count, (unsigned long long)options->device);
	return status;
}

/*
 * Joins the gauge and power readings of a recording to windows of at least about *window_s seconds. If
 * *window_s is NAN, it becomes WINDOW_S or, if the recording has too few windows of that length for a fit,
 * SHORT_WINDOW_S.
 */
static enum kwhy_status join(struct kwhy_power_rows *rows, const struct kwhy_recording *recording,
	const struct kwhy_power_rows_request *given, double *window_s, struct kwhy_error *error)
{
	struct kwhy_power_rows_request request = *given;
	enum kwhy_status status;

	request.window_s = isnan(*window_s) ? WINDOW_S : *window_s;
	status = kwhy_power_rows_of(rows, recording, &request, error);
	if (!status && isnan(*window_s) && rows->data.row_count < KWHY_POWER_ROWS_MIN) {
		kwhy_power_rows_done(rows);
		*rows = (struct kwhy_power_rows){0};
		request.window_s = SHORT_WINDOW_S;
		status = kwhy_power_rows_of(rows, recording, &request, error);
	}
	*window_s = request.window_s;
	return status;
}

/* Reads the windows from the meters and gauges of a recording; no ledger is made. */
static enum kwhy_status read_recording(struct kwhy_power_rows *rows, const struct power_options *options,
	const char *path, double lag_s, double *window_s, struct kwhy_error *error)
{
	struct kwhy_recording *recording = NULL;
	struct kwhy_profile *profile = NULL;
	enum kwhy_status status = kwhy_recording_new(&recording, error);

	if (!status)
		status = import_all(recording, options, path, error);
	if (!status)
		status = find_profile(options, recording, &profile, error);
	if (!status)
		status = join(rows, recording,
			&(struct kwhy_power_rows_request){profile, (uint32_t)options->device, 0, lag_s},
			window_s, error);
	if (profile)
		kwhy_profile_free(profile);
	if (recording)
		kwhy_recording_free(recording);
	return status;
}

static enum kwhy_status read_rows(struct kwhy_power_rows *rows, const struct power_options *options,
	const char *path, double lag_s, double *window_s, struct kwhy_error *error)
{
	return is_csv(path) ? kwhy_power_rows_read(rows, path, error)
			    : read_recording(rows, options, path, lag_s, window_s, error);
}

static size_t terms_of(const struct kwhy_power_rows *rows)
{
	size_t terms = 0;

	for (size_t j = 0; j < rows->data.gauge_count; j++)
		terms |= (size_t)1 << rows->data.terms[j];
	return terms;
}

/*
 * Removes gauges that only one set of windows has, since a model holds only for the gauges to which it was
 * fitted. Fails if a term of the model would lose its last gauge, or if gauges are multiplied by the clock in
 * one set only.
 */
static enum kwhy_status make_alike(struct answer *answer, struct kwhy_error *error)
{
	struct kwhy_power_rows *a = &answer->rows, *b = &answer->fitted_rows;
	size_t terms = terms_of(a) | terms_of(b);

	answer->left_out = kwhy_power_rows_keep_common(a, b);
	answer->left_out += kwhy_power_rows_keep_common(b, a);
	if (a->data.gauge_count && a->has_clock == b->has_clock && terms_of(a) == terms)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_INPUT,
		"the model of --fit does not hold for what is to be split: both need gauges of the same "
		"terms (compute, memory, I/O), and both the clock or neither");
}

/* Writes " of 2 s", or nothing for windows from a CSV, which have lengths of their own. */
static const char *write_length(char out[32], const struct answer *answer)
{
	*out = '\0';
	if (!isnan(answer->window_s))
		snprintf(out, 32, " of %g s", answer->window_s);
	return out;
}

static enum kwhy_status work_out(struct answer *answer, const struct power_options *options, const char *path,
	struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	double window_s = options->window_s;
	char length[32];

	answer->fitted = options->fit ? &answer->fitted_rows : &answer->rows;
	if (options->fit)
		status = read_rows(&answer->fitted_rows, options, options->fit, NAN, &window_s, error);
	/*
	 * The delay between counters and power samples is a property of the driver. So the delay that was
	 * found for the fitted recording is used for the recording whose power is divided, too.
	 */
	if (!status)
		status = read_rows(&answer->rows, options, path,
			options->fit ? answer->fitted_rows.lag_s : NAN, &window_s, error);
	answer->window_s = is_csv(options->fit ? options->fit : path) ? NAN : window_s;
	if (!status && options->fit)
		status = make_alike(answer, error);
	if (!status && answer->fitted->data.row_count < KWHY_POWER_ROWS_MIN)
		return kwhy_fail(error, KWHY_E_INPUT,
			"a power model needs %d windows%s with the device's counters, not %zu: record for "
			"longer (kwhy record --gauges 0.2), or take a shorter --window",
			(int)KWHY_POWER_ROWS_MIN, write_length(length, answer),
			answer->fitted->data.row_count);
	if (!status)
		status = kwhy_power_fit(&answer->fitted->data, &answer->model, error);
	if (!status)
		status = kwhy_power_find_alternatives(&answer->fitted->data, &answer->model, error);
	return status ? status
		      : kwhy_power_split_of(&answer->model, &answer->rows.data, &answer->split, error);
}

/*
 * Writes the unit by which watts are divided in a coefficient of the model: that of the coefficient's gauge
 * (or the name of the gauge, which ends in its unit) and, if the gauge is multiplied by the square of the
 * clock, GHz^2.
 */
static void write_gauge(const struct answer *answer, size_t j, char out[64])
{
	const struct kwhy_power_gauge *gauge = &kwhy_power_gauges[answer->rows.kinds[j]];
	bool by_clock = gauge->by_clock && answer->rows.has_clock;

	snprintf(out, 64, "%s%s", gauge->unit ? gauge->unit : gauge->name, by_clock ? " GHz^2" : "");
}

enum { NAMES_BYTES = 64 };
enum { WATTS_BYTES = 2 * KWHY_QUANTITY_BYTES + 4 };

/*
 * Writes the ends of an interval, "85.8 mW to 95.7 mW". Their SI prefix may differ from that of the value in
 * the next column.
 */
static void write_range(char out[WATTS_BYTES], struct kwhy_interval watts)
{
	char low[KWHY_QUANTITY_BYTES], high[KWHY_QUANTITY_BYTES];

	if (isfinite(watts.low))
		snprintf(out, WATTS_BYTES, "%s to %s", kwhy_quantity_si(low, watts.low, "W", 3),
			kwhy_quantity_si(high, watts.high, "W", 3));
	else
		snprintf(out, WATTS_BYTES, "n/a");
}

static void write_factor(
	struct kwhy_table *table, enum kwhy_power_term term, const char *gauge, struct kwhy_interval watts)
{
	char range[WATTS_BYTES];

	write_range(range, watts);
	kwhy_table_cell(table, kwhy_power_term_name(term));
	kwhy_table_cell(table, gauge);
	kwhy_table_real(table, watts.value, "W");
	kwhy_table_cell(table, range);
}

static void write_metered(const struct answer *answer, size_t j, struct kwhy_model_page *page)
{
	struct kwhy_interval watts = answer->model.metered_per_unit[j];
	char text[KWHY_QUANTITY_BYTES], range[WATTS_BYTES], gauge[64];

	write_gauge(answer, j, gauge);
	write_range(range, watts);
	kwhy_text_context_linef(&page->context, "  ", "%s of %s by the memory's own meter (%s)%s",
		kwhy_quantity_si(text, watts.value, "W", 3), gauge, range,
		watts.value < answer->model.watts_per_unit[j].value
			? "; what is more is drawn elsewhere in the device, to move the bytes"
			: "");
}

static void write_gauges(const struct answer *answer, struct kwhy_model_page *page)
{
	static const struct kwhy_table_column columns[] = {{"term", KWHY_COLUMN_LEFT},
		{"of each", KWHY_COLUMN_LEFT}, {"watts", KWHY_COLUMN_RIGHT}, {"95 %", KWHY_COLUMN_LEFT}};
	const struct kwhy_power_model *model = &answer->model;
	struct kwhy_table table;
	char gauge[64];

	kwhy_table_init(&table, columns, 4);
	write_factor(&table, KWHY_POWER_BASE, "", model->constant_w);
	for (size_t j = 0; j < answer->rows.data.gauge_count; j++) {
		write_gauge(answer, j, gauge);
		write_factor(&table, answer->rows.data.terms[j], gauge, model->watts_per_unit[j]);
	}
	kwhy_table_write(&table, &page->style, &page->text);
	for (size_t j = 0; j < answer->rows.data.gauge_count; j++)
		if (isfinite(model->metered_per_unit[j].value))
			write_metered(answer, j, page);
}

static void write_part(struct kwhy_table *table, const struct kwhy_power_split *split, const char *name,
	struct kwhy_interval joules)
{
	struct kwhy_interval share = kwhy_interval_scaled(joules, 100 / split->total_j);
	char range[64];

	snprintf(
		range, sizeof(range), isfinite(share.low) ? "%.1f to %.1f %%" : "n/a", share.low, share.high);
	kwhy_table_cell(table, name);
	kwhy_table_real(table, joules.value, "J");
	kwhy_table_percent(table, share.value / 100);
	kwhy_table_cell(table, range);
	kwhy_table_real(table, joules.value / split->seconds, "W");
}

/*
 * Writes the names of the terms of the model (base, compute, memory, I/O) of which only the sum is known:
 * "compute and memory" or "base, compute and memory"; "": each term is known.
 */
static void write_grouped_names(const struct kwhy_power_model *model, char out[NAMES_BYTES])
{
	size_t left = 0, length = 0;

	out[0] = '\0';
	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
		left += model->is_grouped[term];
	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
		if (model->is_grouped[term])
			length += (size_t)snprintf(out + length, NAMES_BYTES - length, "%s%s",
				kwhy_power_term_name((enum kwhy_power_term)term),
				--left > 1	    ? ", "
					: left == 1 ? " and "
						    : "");
}

static void write_split(const struct answer *answer, struct kwhy_model_page *page)
{
	static const struct kwhy_table_column columns[] = {{"energy", KWHY_COLUMN_LEFT},
		{"", KWHY_COLUMN_RIGHT}, {"share", KWHY_COLUMN_RIGHT}, {"95 %", KWHY_COLUMN_LEFT},
		{"mean", KWHY_COLUMN_RIGHT}};
	const struct kwhy_power_split *split = &answer->split;
	struct kwhy_table table;
	char joint[NAMES_BYTES];

	kwhy_table_init(&table, columns, 5);
	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
		write_part(
			&table, split, kwhy_power_term_name((enum kwhy_power_term)term), split->joules[term]);
	write_grouped_names(&answer->model, joint);
	if (joint[0])
		write_part(&table, split, joint, split->joint_j);
	kwhy_table_rule(&table);
	kwhy_table_cell(&table, "measured");
	kwhy_table_real(&table, split->total_j, "J");
	kwhy_table_percent(&table, 1);
	kwhy_table_cell(&table, "");
	kwhy_table_real(&table, split->total_j / split->seconds, "W");
	kwhy_table_write(&table, &page->style, &page->text);
}

/*
 * Whether half of the interval of the base energy is more than JOINT_RATIO of its value: the windows then do
 * not distinguish the base from what the gauges explain.
 */
static bool is_base_vague(const struct kwhy_power_split *split)
{
	const struct kwhy_interval *base_j = &split->joules[KWHY_POWER_BASE];

	return !(base_j->high - base_j->low <= 2 * JOINT_RATIO * base_j->value);
}

static void write_trust(const struct answer *answer, struct kwhy_model_page *page)
{
	char gauge[64], joint[NAMES_BYTES];

	if (!(answer->model.held_out_ratio < GOOD_RATIO))
		kwhy_text_context_linef(&page->context, "",
			"that is much: take the shares as a guess, or fit to more kinds of work");
	write_grouped_names(&answer->model, joint);
	if (joint[0])
		kwhy_text_context_linef(&page->context, "",
			"the windows do not distinguish %s: fits without one of them predict as well; fit to "
			"more kinds of work",
			joint);
	else if (is_base_vague(&answer->split))
		kwhy_text_context_linef(&page->context, "",
			"the windows are too much alike to distinguish the parts: only their sum is known");
	if (answer->left_out)
		kwhy_text_context_linef(&page->context, "",
			"without what only one of the two has: %zu counters", answer->left_out);
	if (answer->fitted != &answer->rows)
		kwhy_text_context_linef(&page->context, "", "against the %zu windows split here: %.2g %%",
			answer->rows.data.row_count, 100 * answer->split.error_ratio);
	if (!answer->split.outside_count)
		return;
	write_gauge(answer, answer->split.outside_gauge, gauge);
	kwhy_text_context_linef(&page->context, "",
		"%zu of them lie outside of what was fitted, most by %s: for these the model is a guess",
		answer->split.outside_count, gauge);
}

static void write_text(const struct answer *answer, struct kwhy_model_page *page)
{
	char length[32];

	write_split(answer, page);
	kwhy_text_add(&page->text, "\n");
	write_gauges(answer, page);
	kwhy_text_add(&page->text, "\n");
	kwhy_text_context_linef(&page->context, "",
		"fitted to %zu windows%s: error %.2g %% of the mean power, %.2g %% of windows it had not "
		"seen",
		answer->fitted->data.row_count, write_length(length, answer), 100 * answer->model.rms_ratio,
		100 * answer->model.held_out_ratio);
	write_trust(answer, page);
	kwhy_text_context_linef(&page->context, "",
		"modelled: a meter sees the sum alone; which part is whose follows from the fit");
}

static void write_json_gauges(const struct answer *answer, struct kwhy_json *json)
{
	kwhy_json_array(json, "gauges");
	for (size_t j = 0; j < answer->rows.data.gauge_count; j++) {
		const struct kwhy_power_gauge *gauge = &kwhy_power_gauges[answer->rows.kinds[j]];
		char unit[64];

		write_gauge(answer, j, unit);
		kwhy_json_object(json, NULL);
		kwhy_json_string(json, "name", gauge->name);
		kwhy_json_string(json, "unit", unit);
		kwhy_json_string(json, "term", kwhy_power_term_name(gauge->term));
		kwhy_interval_json(json, "watts_per_unit", answer->model.watts_per_unit[j]);
		kwhy_interval_json(json, "metered_per_unit", answer->model.metered_per_unit[j]);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
}

static void write_json(const struct answer *answer, struct kwhy_json *json)
{
	const struct kwhy_power_model *model = &answer->model;

	kwhy_json_count(json, "fitted_windows", answer->fitted->data.row_count);
	kwhy_json_real(json, "window_s", answer->window_s);
	kwhy_json_count(json, "split_windows", answer->rows.data.row_count);
	kwhy_json_count(json, "outside_windows", answer->split.outside_count);
	kwhy_json_count(json, "left_out_gauges", answer->left_out);
	kwhy_json_real(json, "lag_s", answer->rows.lag_s);
	kwhy_json_real(json, "rms_ratio", model->rms_ratio);
	kwhy_json_real(json, "held_out_ratio", model->held_out_ratio);
	kwhy_json_bool(json, "joint", isfinite(answer->split.joint_j.value) || is_base_vague(&answer->split));
	kwhy_json_array(json, "joint_terms");
	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
		if (model->is_grouped[term])
			kwhy_json_string(json, NULL, kwhy_power_term_name((enum kwhy_power_term)term));
	kwhy_json_array_end(json);
	kwhy_interval_json(json, "joint_joules", answer->split.joint_j);
	kwhy_json_real(json, "split_error_ratio", answer->split.error_ratio);
	kwhy_interval_json(json, "constant_w", model->constant_w);
	write_json_gauges(answer, json);
	kwhy_json_object(json, "joules");
	for (int term = 0; term < KWHY_POWER_TERM_COUNT; term++)
		kwhy_interval_json(
			json, kwhy_power_term_name((enum kwhy_power_term)term), answer->split.joules[term]);
	kwhy_json_real(json, "measured", answer->split.total_j);
	kwhy_json_object_end(json);
}

static void fill(const void *answer, struct kwhy_model_page *page)
{
	if (page->is_json)
		write_json(answer, &page->json);
	else
		write_text(answer, page);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct power_options *options = invocation->options;
	struct answer answer = {0};
	enum kwhy_status status;

	if (!isnan(options->window_s) && !(options->window_s >= 0.1 && options->window_s <= 3600))
		return kwhy_fail(error, KWHY_E_USAGE, "--window takes 0.1 to 3600 seconds");
	if (invocation->operands.count != 1)
		return kwhy_fail(
			error, KWHY_E_USAGE, "model power takes one recording or one CSV of windows");
	status = work_out(&answer, options, invocation->operands.items[0], error);
	if (!status)
		status = kwhy_model_page_write(&options->model, "power", fill, &answer, error);
	kwhy_power_rows_done(&answer.rows);
	kwhy_power_rows_done(&answer.fitted_rows);
	return status;
}

static const struct kwhy_option options_table[] = {
	{"fit", 0, "FILE", "fit the model to these windows instead", KWHY_OPTION_TEXT,
		offsetof(struct power_options, fit)},
	{"power", 0, "FILE", "power readings: CSV, or a log of nvidia-smi, DCGM, ...; may be given again",
		KWHY_OPTION_LIST, offsetof(struct power_options, power)},
	{"machine-profile", 0, "FILE", "machine profile (default: the bundled one of that GPU)",
		KWHY_OPTION_TEXT, offsetof(struct power_options, profile)},
	{"device", 0, "N", "device of the recording; default 0", KWHY_OPTION_COUNT,
		offsetof(struct power_options, device)},
	{"window", 0, "S",
		"join a recording's readings to windows of S seconds or more; default 2, or 1 in a short "
		"recording",
		KWHY_OPTION_NUMBER, offsetof(struct power_options, window_s)},
	{"power-device", 0, "D=GPU",
		"the trace's device D is that GPU of the power files; may be given again", KWHY_OPTION_LIST,
		offsetof(struct power_options, power_devices)},
	{"power-zone", 0, "ZONE", "zone of power logs that name none: +02:00, UTC or local", KWHY_OPTION_TEXT,
		offsetof(struct power_options, power_zone)},
	{"partial", 0, NULL, "read the intact parts of a damaged recording", KWHY_OPTION_FLAG,
		offsetof(struct power_options, has_partial)},
	KWHY_OPTION_ROWS_MODEL(struct power_options, model),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_model_power = {
	.name = "model power",
	.operands = "RECORDING|WINDOWS.csv",
	.summary = "Where each watt goes: base, compute, memory, I/O, by the device's counters.",
	.details = "WINDOWS.csv: columns power_w, seconds (1 where there are none) and gauges: compute, "
		   "memory, io, or gpm_sm_active_permille, gpm_sm_occupancy_permille, "
		   "gpm_fp32_active_permille, gpm_tensor_active_permille, gpm_integer_active_permille, "
		   "gpm_fp16_active_permille, gpm_fp64_active_permille, gpm_dram_active_permille, "
		   "pcie_bytes_per_s, nvlink_bytes_per_s; sm_clock_hz, by whose square compute counts.",
	.options = options_table,
	.options_bytes = sizeof(struct power_options),
	.defaults = set_defaults,
	.run = run,
};
