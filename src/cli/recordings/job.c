/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/job.h"

#include "cli/progress.h"
#include "cli/recordings/powers.h"
#include "cli/values.h"
#include "detect/detect.h"
#include "fit/carbon.h"
#include "import/import.h"
#include "ledger/ledger_new.h"
#include "whatif/findings.h"

#include <math.h>
#include <time.h>

void kwhy_job_options_init(struct kwhy_job_options *options)
{
	*options = (struct kwhy_job_options){.intensity_g_per_kwh = NAN,
		.min_gain_percent = NAN,
		.seed = kwhy_ledger_options_default().seed};
}

/* State of one run of a job. */
struct work {
	struct kwhy_job *job;
	const struct kwhy_job_options *options;
	struct kwhy_ledger_options ledger_options;
	struct kwhy_powers_files powers;
	struct kwhy_progress *progress;
	struct kwhy_error *error;
};

static enum kwhy_status choose_intensity(struct work *work)
{
	const struct kwhy_job_options *options = work->options;
	struct kwhy_report *report = &work->job->report;
	const struct kwhy_carbon_region *place;
	enum kwhy_status status;

	report->intensity_g_per_kwh = options->intensity_g_per_kwh;
	if (options->intensity_g_per_kwh < 0)
		return kwhy_fail(work->error, KWHY_E_USAGE, "--intensity cannot be negative");
	if (!options->place)
		return KWHY_OK;
	if (isfinite(options->intensity_g_per_kwh))
		return kwhy_fail(work->error, KWHY_E_USAGE,
			"--place and --intensity both say what a kWh emits; give one of them");
	status = kwhy_carbon_find(options->place, &place, work->error);
	if (!status) {
		report->intensity_g_per_kwh = place->g_per_kwh;
		report->place = place->name;
		report->carbon_year = place->year;
	}
	return status;
}

/* Checks all options before any file is read. */
static enum kwhy_status check_options(struct work *work)
{
	const struct kwhy_job_options *options = work->options;
	struct kwhy_report *report = &work->job->report;
	enum kwhy_status status = choose_intensity(work);

	work->ledger_options = kwhy_ledger_options_default();
	work->ledger_options.seed = options->seed;
	work->ledger_options.step_name = options->steps;
	report->price_per_kwh = NAN;
	if (!status && options->min_gain_percent < 0)
		return kwhy_fail(work->error, KWHY_E_USAGE, "--min-gain cannot be negative");
	if (!status && options->assume_power)
		status = kwhy_value_powers(options->assume_power, &work->ledger_options.assumed, work->error);
	if (!status && options->price)
		status = kwhy_value_price(
			options->price, &report->price_per_kwh, work->job->currency, work->error);
	for (size_t i = 0; !status && i < options->work.count; i++) {
		char unit[KWHY_WORK_UNIT_BYTES];
		double count;

		status = kwhy_value_work(options->work.items[i], unit, &count, work->error);
	}
	report->currency = *work->job->currency ? work->job->currency : NULL;
	return status;
}

/* Sets a stated amount of work, which replaces the recording's. */
static enum kwhy_status state_work(
	struct kwhy_recording *recording, const char *spec, struct kwhy_error *error)
{
	char unit[KWHY_WORK_UNIT_BYTES];
	double count;
	enum kwhy_status status = kwhy_value_work(spec, unit, &count, error);

	return status ? status : kwhy_recording_set_work(recording, unit, count, error);
}

static enum kwhy_status read_files(
	struct work *work, char *const *traces, size_t trace_count, const struct kwhy_strings *power)
{
	struct kwhy_import_options import = {.partial = work->options->has_partial,
		.collectives_path = work->options->collectives,
		.power_zone = work->options->power_zone,
		.power_devices = work->options->power_devices.items,
		.power_device_count = work->options->power_devices.count};
	struct kwhy_recording *recording = work->job->recording;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < trace_count; i++) {
		kwhy_progress_step(work->progress, "reading", traces[i]);
		status = kwhy_import_trace(recording, traces[i], &import, work->error);
	}
	for (size_t i = 0; !status && i < power->count; i++) {
		kwhy_progress_step(work->progress, "reading", power->items[i]);
		status = kwhy_import_power(recording, power->items[i], &import, work->error);
	}
	for (size_t i = 0; !status && i < work->options->work.count; i++)
		status = state_work(recording, work->options->work.items[i], work->error);
	kwhy_progress_step(work->progress, "sorting and linking", NULL);
	return status ? status : kwhy_recording_finish(recording, work->error);
}

static enum kwhy_status read_powers(struct work *work)
{
	enum kwhy_status status;

	if (!work->options->powers.count)
		return KWHY_OK;
	kwhy_progress_step(work->progress, "reading powers", NULL);
	status = kwhy_powers_files_read(&work->powers, work->options, work->job->recording, work->error);
	work->ledger_options.learnt = (const struct kwhy_learnt_powers *const *)work->powers.items;
	work->ledger_options.learnt_count = work->powers.count;
	return status;
}

static enum kwhy_status make_ledger(struct work *work)
{
	kwhy_progress_step(work->progress, "making the ledger", NULL);
	work->ledger_options.profile = work->job->profile;
	return kwhy_ledger_new_of_program(
		work->job->recording, &work->ledger_options, &work->job->ledger, work->error);
}

/* Sums up the bursts of kwhy probe from the recording's table, since its activities exclude the repeats. */
static enum kwhy_status sum_probing(struct work *work)
{
	struct kwhy_job *job = work->job;
	const struct kwhy_recording *recording = job->recording;
	enum kwhy_status status;

	if (!recording->burst_count && !recording->unprobed_count)
		return KWHY_OK;
	status = kwhy_probing_init(&job->probing, work->error);
	if (!status)
		status = kwhy_probing_add(&job->probing, recording, false, work->error);
	job->report.probing = &job->probing;
	return status;
}

static enum kwhy_status look_for_waste(struct work *work)
{
	struct kwhy_detect_options detect = kwhy_detect_options_default();

	kwhy_progress_step(work->progress, "looking for waste", NULL);
	if (isfinite(work->options->min_gain_percent))
		detect.min_gain_ratio = work->options->min_gain_percent / 100;
	detect.thresholds = work->options->thresholds.items;
	detect.threshold_count = work->options->thresholds.count;
	return kwhy_detect_run(work->job->recording, work->job->ledger, work->job->profile, &detect,
		&work->job->findings, work->error);
}

static enum kwhy_status project_findings(struct work *work)
{
	struct kwhy_job *job = work->job;
	enum kwhy_status status;

	kwhy_progress_step(work->progress, "projecting cures", NULL);
	status = kwhy_whatif_project_findings(
		job->recording, job->ledger, job->profile, job->findings, work->error);
	kwhy_findings_sort(job->findings);
	return status;
}

static enum kwhy_status run_steps(
	struct work *work, char *const *traces, size_t trace_count, const struct kwhy_strings *power)
{
	enum kwhy_status status = check_options(work);

	if (!status)
		status = kwhy_recording_new(&work->job->recording, work->error);
	if (!status)
		status = read_files(work, traces, trace_count, power);
	if (!status)
		status = kwhy_job_profile_read(
			work->options->profile, work->job->recording, &work->job->profile, work->error);
	if (!status)
		status = read_powers(work);
	if (!status)
		status = make_ledger(work);
	if (!status)
		status = sum_probing(work);
	if (!status)
		status = look_for_waste(work);
	if (!status)
		status = project_findings(work);
	return status;
}

static double seconds_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

enum kwhy_status kwhy_job_run(struct kwhy_job *job, const struct kwhy_job_options *options,
	char *const *traces, size_t trace_count, const struct kwhy_strings *power, struct kwhy_error *error)
{
	double start_s = seconds_now();
	struct work work = {.job = job, .options = options, .error = error};
	enum kwhy_status status;

	*job = (struct kwhy_job){0};
	work.progress = kwhy_progress_begin(options->quiet);
	status = kwhy_powers_check_paths(options, traces, trace_count, error);
	if (!status)
		status = run_steps(&work, traces, trace_count, power);
	kwhy_powers_files_done(&work.powers);
	kwhy_progress_end(work.progress);
	if (status) {
		kwhy_job_done(job);
		return status;
	}
	job->report.recording = job->recording;
	job->report.ledger = job->ledger;
	job->report.findings = job->findings;
	job->report.profile = job->profile;
	job->report.own_seconds = seconds_now() - start_s;
	return KWHY_OK;
}

void kwhy_job_done(struct kwhy_job *job)
{
	if (job->report.probing)
		kwhy_probing_done(&job->probing);
	if (job->findings)
		kwhy_findings_free(job->findings);
	if (job->ledger)
		kwhy_ledger_free(job->ledger);
	if (job->profile)
		kwhy_profile_free(job->profile);
	if (job->recording)
		kwhy_recording_free(job->recording);
	*job = (struct kwhy_job){0};
}
