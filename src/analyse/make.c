/* SPDX-License-Identifier: Apache-2.0 */
#include "analyse/analysis.h"
#include "analyse/assumed_powers.h"
#include "analyse/powers.h"
#include "analyse/profile_find.h"
#include "base/clock.h"
#include "fit/carbon.h"
#include "import/import.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* State of an analysis while it is made. */
struct work {
	struct kwhy_analysis *analysis;
	const struct kwhy_analysis_options *given;
	const char *const *paths;
	size_t path_count;
	struct kwhy_ledger_options ledger_options;
	struct kwhy_detect_options detect_options;
	struct kwhy_powers_files powers;
	struct kwhy_error *error;
};

static void tell(const struct work *work, const char *step, const char *path)
{
	if (work->given->progress)
		work->given->progress(work->given->progress_context, step, path);
}

static enum kwhy_status choose_intensity(struct work *work)
{
	const struct kwhy_analysis_options *given = work->given;
	struct kwhy_report *report = &work->analysis->report;
	const struct kwhy_carbon_region *place;
	enum kwhy_status status;

	report->intensity_g_per_kwh = given->intensity_g_per_kwh;
	if (given->intensity_g_per_kwh < 0)
		return kwhy_fail(work->error, KWHY_E_USAGE, "--intensity cannot be negative");
	if (!given->place)
		return KWHY_OK;
	if (isfinite(given->intensity_g_per_kwh))
		return kwhy_fail(work->error, KWHY_E_USAGE,
			"--place and --intensity both say what a kWh emits; give one of them");
	status = kwhy_carbon_find(given->place, &place, work->error);
	if (!status) {
		report->intensity_g_per_kwh = place->g_per_kwh;
		report->place = place->name;
		report->carbon_year = place->year;
	}
	return status;
}

static enum kwhy_status choose_price(struct work *work)
{
	const struct kwhy_analysis_options *given = work->given;
	struct kwhy_analysis *analysis = work->analysis;

	analysis->report.price_per_kwh = given->price_per_kwh;
	if (given->price_per_kwh < 0)
		return kwhy_fail(work->error, KWHY_E_USAGE, "--price cannot be negative");
	if (given->currency && *given->currency) {
		analysis->report.currency = kwhy_arena_copy(&analysis->arena, given->currency);
		if (!analysis->report.currency)
			return kwhy_fail_memory(work->error, "a currency");
	}
	if (given->command) {
		analysis->report.command = kwhy_arena_copy(&analysis->arena, given->command);
		if (!analysis->report.command)
			return kwhy_fail_memory(work->error, "a command");
	}
	return KWHY_OK;
}

static enum kwhy_status check_work(const struct work *work)
{
	for (size_t i = 0; i < work->given->work_count; i++) {
		const struct kwhy_analysis_work *one = &work->given->work[i];

		if (!one->unit || !*one->unit || !kwhy_text_is_clean(one->unit, strlen(one->unit)) ||
			!isfinite(one->count) || one->count <= 0)
			return kwhy_fail(work->error, KWHY_E_USAGE,
				"--work takes a unit and a count above 0, as tokens and 4096");
	}
	return KWHY_OK;
}

/*
 * Checks the options, and converts them for the ledger and for the search for waste, before any file is read.
 */
static enum kwhy_status take_options(struct work *work)
{
	const struct kwhy_analysis_options *given = work->given;
	enum kwhy_status status = choose_intensity(work);

	work->ledger_options = kwhy_ledger_options_default();
	work->ledger_options.seed = given->seed;
	work->ledger_options.step_name = given->step_name;
	work->detect_options = kwhy_detect_options_default();
	work->detect_options.thresholds = given->thresholds;
	work->detect_options.threshold_count = given->threshold_count;
	if (isfinite(given->min_gain_percent))
		work->detect_options.min_gain_ratio = given->min_gain_percent / 100;
	work->analysis->min_gain_ratio = work->detect_options.min_gain_ratio;
	if (!status && (given->min_gain_percent < 0 || given->min_gain_percent > 100))
		status = kwhy_fail(work->error, KWHY_E_USAGE,
			"--min-gain takes a percentage of the run's time or energy, from 0 to 100");
	if (!status && given->assumed_power)
		status = kwhy_assumed_powers_read(
			given->assumed_power, &work->ledger_options.assumed, work->error);
	if (!status)
		status = choose_price(work);
	return status ? status : check_work(work);
}

/*
 * Extends the time of the recording to that of the whole run, which the user gave in Unix times (--run), if
 * they did. KWHY_E_INPUT: the trace has no Unix times, or does not lie in the time of the run.
 */
static enum kwhy_status extend_window(struct work *work)
{
	const struct kwhy_analysis_options *given = work->given;
	struct kwhy_recording *recording = work->analysis->recording;
	int64_t start_ns, end_ns;

	if (!given->run_start_unix_ns && !given->run_end_unix_ns)
		return KWHY_OK;
	if (!recording->unix_clock)
		return kwhy_fail(work->error, KWHY_E_INPUT,
			"%.300s: its times are no Unix times, so it cannot be placed in the time of the run; "
			"leave out --run",
			work->paths[0]);
	if (__builtin_sub_overflow(given->run_start_unix_ns, recording->origin_unix_ns, &start_ns) ||
		__builtin_sub_overflow(given->run_end_unix_ns, recording->origin_unix_ns, &end_ns) ||
		start_ns > recording->start_ns || end_ns < recording->end_ns)
		return kwhy_fail(work->error, KWHY_E_INPUT,
			"%.300s: the time of --run does not contain the trace's, %" PRId64 ",%" PRId64,
			work->paths[0], recording->start_ns + recording->origin_unix_ns,
			recording->end_ns + recording->origin_unix_ns);
	recording->start_ns = start_ns;
	recording->end_ns = end_ns;
	return KWHY_OK;
}

static enum kwhy_status finish_recording(struct work *work)
{
	enum kwhy_status status = kwhy_recording_finish(work->analysis->recording, work->error);

	return status ? status : extend_window(work);
}

static enum kwhy_status read_files(struct work *work)
{
	const struct kwhy_analysis_options *given = work->given;
	struct kwhy_import_options import = {.partial = given->partial,
		.collectives_path = given->collectives_path,
		.power_zone = given->power_zone,
		.power_devices = given->power_devices,
		.power_device_count = given->power_device_count,
		.power_paths = given->power_paths,
		.power_path_count = given->power_path_count};
	struct kwhy_recording *recording = work->analysis->recording;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < work->path_count; i++) {
		tell(work, "reading", work->paths[i]);
		status = kwhy_import_trace(recording, work->paths[i], &import, work->error);
	}
	for (size_t i = 0; !status && i < given->power_path_count; i++) {
		tell(work, "reading", given->power_paths[i]);
		status = kwhy_import_power(recording, given->power_paths[i], &import, work->error);
	}
	for (size_t i = 0; !status && i < given->work_count; i++)
		status = kwhy_recording_set_work(
			recording, given->work[i].unit, given->work[i].count, work->error);
	tell(work, "sorting and linking", NULL);
	return status ? status : finish_recording(work);
}

static enum kwhy_status read_powers(struct work *work)
{
	enum kwhy_status status;

	if (!work->given->learnt_path_count)
		return KWHY_OK;
	tell(work, "reading powers", NULL);
	status = kwhy_powers_files_read(&work->powers, work->given, work->analysis->recording, work->error);
	work->ledger_options.learnt = (const struct kwhy_learnt_powers *const *)work->powers.items;
	work->ledger_options.learnt_count = work->powers.count;
	return status;
}

static enum kwhy_status make_ledger(struct work *work)
{
	tell(work, "making the ledger", NULL);
	work->ledger_options.profile = work->analysis->profile;
	return kwhy_ledger_new_of_program(
		work->analysis->recording, &work->ledger_options, &work->analysis->ledger, work->error);
}

/*
 * Sums up the bursts of kwhy probe (a burst repeats one launch). They are read from the recording's table of
 * bursts, since the activities that repeat were removed from the recording.
 */
static enum kwhy_status sum_probing(struct work *work)
{
	struct kwhy_analysis *analysis = work->analysis;
	const struct kwhy_recording *recording = analysis->recording;
	enum kwhy_status status;

	if (!recording->burst_count && !recording->unprobed_count)
		return KWHY_OK;
	status = kwhy_probing_init(&analysis->probing, work->error);
	if (!status)
		status = kwhy_probing_add(&analysis->probing, recording, false, work->error);
	analysis->report.probing = &analysis->probing;
	return status;
}

/* Finds waste and, if savings can be projected for this recording, projects what its cures would save. */
static enum kwhy_status find_waste(struct work *work)
{
	struct kwhy_analysis *analysis = work->analysis;
	struct kwhy_whatif *whatif;
	enum kwhy_status status;

	tell(work, "looking for waste", NULL);
	status = kwhy_detect_run(analysis->recording, analysis->ledger, analysis->profile,
		&work->detect_options, &analysis->findings, work->error);
	if (status || !analysis->findings->count ||
		!kwhy_savings_are_projected(analysis->recording, analysis->ledger))
		return status;
	tell(work, "projecting cures", NULL);
	status = kwhy_analysis_graph(analysis, &whatif, work->error);
	return status ? status : kwhy_savings_project(whatif, analysis->findings, work->error);
}

static enum kwhy_status read_profile(struct work *work)
{
	return kwhy_profile_read(
		work->given->profile_path, work->analysis->recording, &work->analysis->profile, work->error);
}

static enum kwhy_status new_recording(struct work *work)
{
	return kwhy_recording_new(&work->analysis->recording, work->error);
}

static enum kwhy_status check_paths(struct work *work)
{
	return kwhy_powers_check_paths(work->given, work->paths, work->path_count, work->error);
}

static enum kwhy_status (*const steps[])(struct work *work) = {check_paths, take_options, new_recording,
	read_files, read_profile, read_powers, make_ledger, sum_probing, find_waste};

enum kwhy_status kwhy_analysis_make(struct kwhy_analysis *analysis, const char *const *paths,
	size_t path_count, const struct kwhy_analysis_options *given, struct kwhy_error *error)
{
	int64_t start_ns = kwhy_clock_mono_ns();
	struct work work = {.analysis = analysis,
		.given = given,
		.paths = paths,
		.path_count = path_count,
		.error = error};
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(steps) / sizeof(*steps); i++)
		status = steps[i](&work);
	kwhy_powers_files_done(&work.powers);
	if (status)
		return status;
	analysis->report.recording = analysis->recording;
	analysis->report.ledger = analysis->ledger;
	analysis->report.findings = analysis->findings;
	analysis->report.profile = analysis->profile;
	analysis->report.own_seconds = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	return KWHY_OK;
}
