/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/job.h"

#include "base/large.h"
#include "cli/progress.h"
#include "cli/recordings/spool.h"
#include "cli/values.h"

#include <math.h>
#include <stdlib.h>

void kwhy_job_options_init(struct kwhy_job_options *options)
{
	struct kwhy_analysis_options defaults;

	kwhy_analysis_options_init(&defaults, sizeof(defaults));
	*options = (struct kwhy_job_options){
		.intensity_g_per_kwh = NAN, .min_gain_percent = NAN, .seed = defaults.seed};
}

enum kwhy_status kwhy_job_status(int code, struct kwhy_error *error)
{
	error->status = (enum kwhy_status)code;
	return error->status;
}

/* The options of an analysis in the form of kwhy/analyse.h, and the memory that they point to. */
struct work {
	struct kwhy_analysis_options options;
	struct kwhy_analysis_work *work;
	char (*units)[KWHY_COUNT_NAME_BYTES];
	char currency[16];
};

static enum kwhy_status read_work(
	struct work *work, const struct kwhy_strings *texts, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	work->work = calloc(texts->count + 1, sizeof(*work->work));
	work->units = calloc(texts->count + 1, sizeof(*work->units));
	if (!work->work || !work->units)
		return kwhy_fail_memory(error, "work");
	for (size_t i = 0; !status && i < texts->count; i++) {
		work->work[i].unit = work->units[i];
		status = kwhy_value_work(texts->items[i], work->units[i], &work->work[i].count, error);
	}
	work->options.work = work->work;
	work->options.work_count = texts->count;
	return status;
}

static void name_files(struct kwhy_analysis_options *out, const struct kwhy_job_options *options,
	const struct kwhy_strings *power)
{
	out->power_paths = power->items;
	out->power_path_count = power->count;
	out->power_devices = options->power_devices.items;
	out->power_device_count = options->power_devices.count;
	out->power_zone = options->power_zone;
	out->profile_path = options->profile;
	out->learnt_paths = options->powers.items;
	out->learnt_path_count = options->powers.count;
	out->collectives_path = options->collectives;
	out->partial = options->has_partial;
}

static enum kwhy_status take_options(struct work *work, const struct kwhy_job_options *options,
	const struct kwhy_strings *power, struct kwhy_error *error)
{
	struct kwhy_analysis_options *out = &work->options;
	enum kwhy_status status;

	kwhy_analysis_options_init(out, sizeof(*out));
	name_files(out, options, power);
	out->step_name = options->steps;
	out->assumed_power = options->assume_power;
	out->thresholds = options->thresholds.items;
	out->threshold_count = options->thresholds.count;
	out->min_gain_percent = options->min_gain_percent;
	out->intensity_g_per_kwh = options->intensity_g_per_kwh;
	out->place = options->place;
	out->seed = options->seed;
	out->run_start_unix_ns = options->run_start_unix_ns;
	out->run_end_unix_ns = options->run_end_unix_ns;
	status = read_work(work, &options->work, error);
	if (!status && options->price) {
		status = kwhy_value_price(options->price, &out->price_per_kwh, work->currency, error);
		out->currency = work->currency;
	}
	return status;
}

static void show_step(void *context, const char *step, const char *path)
{
	kwhy_progress_step(context, step, path);
}

enum kwhy_status kwhy_job_open(struct kwhy_analysis **out, const struct kwhy_job_options *options,
	char *const *traces, size_t trace_count, const struct kwhy_strings *power, const char *command,
	struct kwhy_error *error)
{
	struct work work = {0};
	enum kwhy_status status = take_options(&work, options, power, error);

	if (!status)
		status = kwhy_spool_pipes(traces, trace_count, error);
	kwhy_large_heap();
	if (!status) {
		work.options.command = command;
		work.options.progress = show_step;
		work.options.progress_context = kwhy_progress_begin(options->quiet);
		status = kwhy_job_status(kwhy_analysis_open((const char *const *)traces, trace_count,
						 &work.options, out, error->text, sizeof(error->text)),
			error);
		kwhy_progress_end(work.options.progress_context);
	}
	free(work.work);
	free(work.units);
	return status;
}
