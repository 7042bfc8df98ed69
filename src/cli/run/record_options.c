/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/run/record_job.h"

#include "record/counters.h"
#include "record/ranges.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void kwhy_record_options_init(struct kwhy_record_options *options)
{
	options->delay_s = options->duration_s = options->duty_percent = options->window_s = NAN;
	options->digest_every_s = options->counter_percent = NAN;
	options->gauges_s = 1;
}

enum kwhy_status kwhy_record_read_bytes(
	const char *option, const char *text, uint64_t *out, struct kwhy_error *error)
{
	static const char units[] = "KMG";
	char *end = NULL;
	double bytes = text ? strtod(text, &end) : 0;

	*out = 0;
	if (!text)
		return KWHY_OK;
	for (size_t i = 0; *end && units[i]; i++)
		if (*end == units[i] && !end[1]) {
			bytes *= (double)(UINT64_C(1) << 10 * (i + 1));
			end++;
		}
	if (end == text || *end || !(bytes >= 65536 && bytes < 1e18))
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s takes bytes, 64K or more, like 500M or 2G; not '%.60s'", option, text);
	*out = (uint64_t)bytes;
	return KWHY_OK;
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		if (!strcmp(word, words[i]))
			return true;
	return false;
}

static enum kwhy_status check_windows(const struct kwhy_record_options *options, struct kwhy_error *error)
{
	static const char *const graphs[] = {"node", "graph", NULL};

	if (options->duty_percent < 0.1 || options->duty_percent > 99)
		return kwhy_fail(error, KWHY_E_USAGE, "--duty takes 0.1 to 99 per cent of the time");
	if (options->window_s < 0.001 || options->window_s > 100)
		return kwhy_fail(error, KWHY_E_USAGE, "--window takes 0.001 to 100 seconds");
	if (!isnan(options->window_s) && isnan(options->duty_percent))
		return kwhy_fail(error, KWHY_E_USAGE, "--window goes with --duty");
	if (options->range && (!options->range[0] || strlen(options->range) > 255))
		return kwhy_fail(error, KWHY_E_USAGE, "--range takes a name of 1 to 255 bytes");
	if (options->range && !isnan(options->duty_percent))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--range and --duty exclude each other: a range is recorded whole");
	if (options->graphs && !is_one_of(options->graphs, graphs))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--graphs takes node or graph; not '%.60s'", options->graphs);
	return KWHY_OK;
}

static enum kwhy_status check_counts(const struct kwhy_strings *counts, struct kwhy_error *error)
{
	if (counts->count > KWHY_RECORD_RANGES_MAX)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--count may be given %d times", KWHY_RECORD_RANGES_MAX);
	for (size_t i = 0; i < counts->count; i++) {
		const size_t length = strcspn(counts->items[i], "=");

		if (!length || length > 40 || !counts->items[i][length] || !counts->items[i][length + 1])
			return kwhy_fail(error, KWHY_E_USAGE,
				"--count '%.100s': write UNIT=NAME, like steps='step*', with a unit of up to "
				"40 bytes",
				counts->items[i]);
	}
	return KWHY_OK;
}

static enum kwhy_status check_digest(const struct kwhy_record_options *options, struct kwhy_error *error)
{
	if (!options->digest && !isnan(options->digest_every_s))
		return kwhy_fail(error, KWHY_E_USAGE, "--digest-every goes with --digest");
	if (options->digest_every_s < 1 || options->digest_every_s > 1e6)
		return kwhy_fail(error, KWHY_E_USAGE, "--digest-every takes 1 to 1e6 seconds");
	if (options->digest && options->one_file && !options->output)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--digest keeps no recording that --one-file could pack; name it by -o");
	return KWHY_OK;
}

/*
 * Checks that --counters goes with the other options. Samples of performance counters serve to model the
 * power of kernels, so they are of no use if kernels are not recorded.
 */
static enum kwhy_status check_counters(const struct kwhy_record_options *options, struct kwhy_error *error)
{
	if (options->counters && options->power_only)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--counters and --power-only exclude each other: samples of counters say what "
			"kernels "
			"do, and no kernel is recorded");
	if (options->counters && options->replay)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--counters and --power-file exclude each other: the counters are those of this "
			"machine's GPUs, and the power is not");
	if (isnan(options->counter_percent))
		return KWHY_OK;
	if (!options->counters)
		return kwhy_fail(error, KWHY_E_USAGE, "--counter-share goes with --counters");
	if (options->counter_percent != 100 &&
		!(options->counter_percent >= 1 &&
			options->counter_percent <= 100 * KWHY_RECORD_COUNTERS_SHARE_MAX))
		return kwhy_fail(error, KWHY_E_USAGE, "--counter-share takes 1 to %g %%, or 100 %%",
			100 * KWHY_RECORD_COUNTERS_SHARE_MAX);
	return KWHY_OK;
}

enum kwhy_status kwhy_record_options_check(const struct kwhy_record_options *options,
	const struct kwhy_operands *operands, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!operands->count)
		return kwhy_fail(error, KWHY_E_USAGE, "%s needs a command: kwhy %s -- CMD [ARGS]",
			options->probe ? "probe" : "record", options->probe ? "probe" : "record");
	if (options->delay_s < 0 || options->delay_s > 1e6)
		return kwhy_fail(error, KWHY_E_USAGE, "--delay takes 0 to 1e6 seconds");
	if (options->duration_s <= 0 || options->duration_s > 1e6)
		return kwhy_fail(error, KWHY_E_USAGE, "--duration takes more than 0 and up to 1e6 seconds");
	if (!(options->gauges_s >= 0.15 && options->gauges_s <= 60))
		return kwhy_fail(error, KWHY_E_USAGE, "--gauges takes 0.15 to 60 seconds");
	status = check_counters(options, error);
	if (!status)
		status = check_digest(options, error);
	if (!status)
		status = check_windows(options, error);
	return status ? status : check_counts(&options->counts, error);
}
