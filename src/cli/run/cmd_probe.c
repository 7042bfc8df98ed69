/* SPDX-License-Identifier: Apache-2.0 */
#include "base/clock.h"
#include "cli/run/record_job.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

struct probe_options {
	struct kwhy_record_options record;
	double within_percent, budget_s, share_percent, burst_ms, seed;
	const char *memory, *verify;
	struct kwhy_strings skip;
};

static void set_defaults(void *options)
{
	struct probe_options *probe = options;

	kwhy_record_options_init(&probe->record);
	probe->within_percent = 5;
	probe->budget_s = probe->share_percent = probe->burst_ms = probe->seed = NAN;
	probe->verify = "first";
}

static enum kwhy_status check(const struct probe_options *options, struct kwhy_error *error)
{
	if (!(options->within_percent >= 2.5 && options->within_percent <= 50))
		return kwhy_fail(error, KWHY_E_USAGE, "--within takes 2.5 to 50 per cent");
	if (options->budget_s <= 0 || options->budget_s > 1e6)
		return kwhy_fail(error, KWHY_E_USAGE, "--budget takes more than 0 and up to 1e6 seconds");
	if (options->share_percent <= 0 || options->share_percent > 100)
		return kwhy_fail(error, KWHY_E_USAGE, "--share takes more than 0 and up to 100 per cent");
	if (options->burst_ms < 0.1 || options->burst_ms > 1000)
		return kwhy_fail(error, KWHY_E_USAGE, "--burst takes 0.1 to 1000 milliseconds");
	if (options->seed < 0 || options->seed > 0x1p53)
		return kwhy_fail(error, KWHY_E_USAGE, "--seed takes a whole number from 0 on");
	if (strcmp(options->verify, "first") != 0 && strcmp(options->verify, "all") != 0 &&
		strcmp(options->verify, "none") != 0)
		return kwhy_fail(error, KWHY_E_USAGE, "--verify takes first, all or none; not '%.60s'",
			options->verify);
	return KWHY_OK;
}

static uint64_t seed_of(const struct probe_options *options)
{
	uint64_t seed;

	if (!isnan(options->seed))
		return (uint64_t)options->seed;
	if (getrandom(&seed, sizeof(seed), 0) != sizeof(seed))
		seed = (uint64_t)kwhy_clock_unix_ns();
	return seed >> 11; /* at most 53 bits, which the option --seed, a double, can have exactly */
}

/*
 * Joins the patterns of the kernels that are not to be probed (--skip), one per line, as the injected library
 * reads them.
 */
static enum kwhy_status join_skips(
	const struct kwhy_strings *skip, struct kwhy_text *out, struct kwhy_error *error)
{
	for (size_t i = 0; i < skip->count; i++)
		kwhy_text_addf(out, "%s%s", i ? "\n" : "", skip->items[i]);
	return kwhy_text_check(out, error);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct probe_options *options = invocation->options;
	struct kwhy_record_options record = options->record;
	struct kwhy_inject_probe probe = {.within_ratio = options->within_percent / 100,
		.budget_s = options->budget_s,
		.verify = options->verify,
		.seed = seed_of(options),
		.share_ratio = options->share_percent / 100,
		.burst_ms = options->burst_ms};
	struct kwhy_text skip = {0};
	enum kwhy_status status = check(options, error);

	if (!status)
		status = kwhy_record_read_bytes("--memory", options->memory, &probe.memory_bytes, error);
	if (!status)
		status = join_skips(&options->skip, &skip, error);
	probe.skip = skip.length ? skip.data : NULL;
	record.probe = &probe;
	if (!status)
		status = kwhy_record_job_run(&record, &invocation->operands, invocation->exit, error);
	kwhy_text_done(&skip);
	return status;
}

static const struct kwhy_option options_table[] = {
	KWHY_OPTION_ROWS_RECORDING(struct probe_options, record),
	{"within", 0, "P%", "half-width at which a kernel's power is known; default 5", KWHY_OPTION_NUMBER,
		offsetof(struct probe_options, within_percent)},
	{"budget", 0, "S", "seconds for repeats; default three times the rest of the run, at most 300",
		KWHY_OPTION_NUMBER, offsetof(struct probe_options, budget_s)},
	{"memory", 0, "BYTES", "device memory for copies, like 4G; default a tenth of the free, at most 1G",
		KWHY_OPTION_TEXT, offsetof(struct probe_options, memory)},
	{"verify", 0, "WHEN",
		"compare all device memory before and after bursts: first of a kernel (default), all, none",
		KWHY_OPTION_TEXT, offsetof(struct probe_options, verify)},
	{"skip", 0, "NAME", "never repeat kernels of that mangled name, like '*spin*'; may be given again",
		KWHY_OPTION_LIST, offsetof(struct probe_options, skip)},
	{"seed", 0, "N", "of what is repeated when; default a random one", KWHY_OPTION_NUMBER,
		offsetof(struct probe_options, seed)},
	{"share", 0, "P%", "repeat each launch with this chance, whatever is known of it; for tests",
		KWHY_OPTION_NUMBER, offsetof(struct probe_options, share_percent)},
	{"burst", 0, "MS", "milliseconds that a burst of repeats lasts at most; default 30",
		KWHY_OPTION_NUMBER, offsetof(struct probe_options, burst_ms)},
	{"append", 0, "FILE",
		"carry on from a recording of kwhy probe: leave alone what it taught; may be given again",
		KWHY_OPTION_LIST, offsetof(struct probe_options, record.earlier)},
	{"progress", 0, NULL, "show progress: what is known; the default on a terminal", KWHY_OPTION_FLAG,
		offsetof(struct probe_options, record.progress)},
	KWHY_OPTION_ROWS_RECORD(struct probe_options, record),
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_probe = {
	.name = "probe",
	.operands = "[--] CMD [ARGS]",
	.summary = "Record a command and learn what each of its kernels draws, by repeating them in place.",
	.details = "Memory that a kernel may write is copied before and put back after, so the command's "
		   "results stay what they are. The exit status is the command's, or 125 where memory was "
		   "not put back.",
	.options = options_table,
	.options_bytes = sizeof(struct probe_options),
	.defaults = set_defaults,
	.run = run,
	.operand_is_command = true,
};
