/* SPDX-License-Identifier: Apache-2.0 */
#include "base/launcher.h"
#include "bench/pairs/sweep.h"
#include "cli/bench/options.h"
#include "cli/bench/pairs_lock.h"
#include "cli/bench/pairs_ranks.h"
#include "cli/bench/pairs_show.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "launch/stop.h"
#include "pairs/analysis.h"
#include "report/pairs/compat.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pairs_options {
	struct kwhy_pairs_show show;
	const char *backend, *devices, *engines, *clocks, *least, *most;
	const char *save, *resume, *from;
	uint64_t seed, random_sizes, ranks, communicators, lock_mhz;
	double time_s, clock_s, warm_s, keep_warm_c, burst_s;
	bool no_loads, energy, pinning, allow_set, quiet;
};

static void set_defaults(void *options)
{
	struct pairs_options *pairs = options;

	pairs->backend = "cuda";
	pairs->seed = 42;
	pairs->communicators = 1;
	pairs->ranks = pairs->lock_mhz = KWHY_COUNT_NOT_GIVEN;
	pairs->time_s = pairs->burst_s = NAN;
}

static const char *engine_name(unsigned i)
{
	return kwhy_pair_engine_name((enum kwhy_pair_engine)i);
}

static const char *clock_name(unsigned i)
{
	return kwhy_pair_clock_name((enum kwhy_pair_clock)i);
}

/*
 * Reads a comma-separated list of words; bit i of *out is set if name(i) is in the list. Fails with
 * KWHY_E_USAGE if a word is none of the `count` names.
 */
static enum kwhy_status read_bits(const char *option, const char *list, const char *(*name)(unsigned),
	unsigned count, unsigned *out, struct kwhy_error *error)
{
	struct kwhy_word_list names;
	enum kwhy_status status = kwhy_words_cut(option, list, &names, error);

	*out = 0;
	for (size_t i = 0; !status && i < names.count; i++) {
		unsigned word = 0;

		while (word < count && strcmp(names.items[i], name(word)) != 0)
			word++;
		if (word == count)
			return kwhy_fail(error, KWHY_E_USAGE, "--%s knows no '%.40s'; see --help", option,
				names.items[i]);
		*out |= 1u << word;
	}
	return status;
}

static enum kwhy_status check_seconds(const struct pairs_options *options, struct kwhy_error *error)
{
	if (!isnan(options->time_s) && !(options->time_s > 0 && options->time_s <= 86400))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--time takes more than 0 seconds, at most a day of them");
	if (options->warm_s < 0 || options->warm_s > 3600)
		return kwhy_fail(error, KWHY_E_USAGE, "--warm takes 0 to 3600 seconds");
	if (options->keep_warm_c < 0 || options->keep_warm_c > 100)
		return kwhy_fail(error, KWHY_E_USAGE, "--keep-warm takes 0 to 100 degrees Celsius");
	if (options->clock_s < 0 || options->clock_s > 3600)
		return kwhy_fail(error, KWHY_E_USAGE, "--clock-time takes 0 to 3600 seconds");
	if (!isnan(options->burst_s) && !(options->burst_s >= 0.1 && options->burst_s <= 60))
		return kwhy_fail(error, KWHY_E_USAGE, "--burst takes 0.1 to 60 seconds");
	return KWHY_OK;
}

static bool are_several(const struct pairs_options *options)
{
	return options->ranks == KWHY_COUNT_NOT_GIVEN ? kwhy_launcher_ranks(secure_getenv).world_size > 1
						      : options->ranks > 1;
}

/* Fails with KWHY_E_USAGE if an option is set that only a measurement by a single process supports. */
static enum kwhy_status check_alone(const struct pairs_options *options, struct kwhy_error *error)
{
	bool locks = options->lock_mhz != KWHY_COUNT_NOT_GIVEN;

	if (!locks && options->communicators == 1)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE, "--%s is of one process; give --ranks 1",
		locks ? "lock-clocks" : "communicators");
}

static enum kwhy_status check_lock(const struct pairs_options *options, struct kwhy_error *error)
{
	if (options->lock_mhz == KWHY_COUNT_NOT_GIVEN)
		return KWHY_OK;
	if (!options->allow_set)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--lock-clocks changes a setting of the GPUs while this runs, and puts it back: "
			"allow that with --allow-set");
	if (strcmp(options->backend, "cuda") != 0)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--lock-clocks is of NVIDIA's GPUs, which --backend %s does not measure; leave it "
			"out",
			options->backend);
	return KWHY_OK;
}

static enum kwhy_status check(const struct pairs_options *options, struct kwhy_error *error)
{
	enum kwhy_status status = check_lock(options, error);

	if (status)
		return status;
	if ((options->save != NULL) + (options->resume != NULL) + (options->from != NULL) > 1)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--save, --resume and --from name a folder for different ends; give one of them");
	if (options->communicators < 1 || options->communicators > KWHY_PAIR_SAMPLES_MAX)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--communicators takes 1 to %d", (int)KWHY_PAIR_SAMPLES_MAX);
	if (options->ranks < 1)
		return kwhy_fail(
			error, KWHY_E_USAGE, "--ranks takes 1 to %d processes", (int)KWHY_PAIR_GPUS_MAX);
	if (are_several(options))
		status = check_alone(options, error);
	return status ? status : check_seconds(options, error);
}

/*
 * Checks the file names and options that are used only after measuring, so that an error in them is reported
 * before the minutes of measuring. Only the rank that shows the result needs them.
 */
static enum kwhy_status check_show(const struct kwhy_pairs_show *show, struct kwhy_error *error)
{
	enum kwhy_output_form form;
	enum kwhy_status status = kwhy_pairs_form_of(show, &form, error);

	if (!status && show->compat)
		status = kwhy_report_pairs_compat_check(show->compat, error);
	return status ? status : kwhy_bench_file_check("against", show->against, error);
}

static void tell(void *context, const char *what, double share)
{
	(void)share;
	kwhy_progress_step(context, what, NULL);
}

static enum kwhy_status fill_request(const struct pairs_options *options,
	const struct kwhy_word_list *devices, struct kwhy_pair_request *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_backend_read(options->backend, &out->backend, error);

	if (!status)
		status = read_bits("engine", options->engines, engine_name, KWHY_PAIR_ENGINE_COUNT,
			&out->engines, error);
	if (!status)
		status = read_bits(
			"timing", options->clocks, clock_name, KWHY_PAIR_CLOCK_COUNT, &out->clocks, error);
	if (!status)
		status = kwhy_size_read("min-size", options->least, &out->least_bytes, error);
	if (!status)
		status = kwhy_size_read("max-size", options->most, &out->most_bytes, error);
	if (!status && devices->count > KWHY_PAIR_GPUS_MAX)
		status = kwhy_fail(error, KWHY_E_USAGE, "--device takes at most %d", (int)KWHY_PAIR_GPUS_MAX);
	out->devices = devices->count ? devices->items : NULL;
	out->device_count = (uint32_t)devices->count;
	out->random_sizes = (uint32_t)(options->random_sizes > 1000 ? 1000 : options->random_sizes);
	out->no_loads = options->no_loads;
	out->seed = options->seed;
	out->communicators = (uint32_t)options->communicators;
	out->time_s = isnan(options->time_s) ? 0 : options->time_s; /* 0: the default */
	out->warm_s = options->warm_s;
	out->keep_warm_c = options->keep_warm_c;
	out->clock_s = options->clock_s;
	out->energy = options->energy;
	out->burst_s = isnan(options->burst_s) ? 0 : options->burst_s;
	out->pinning = options->pinning;
	out->folder = options->resume ? options->resume : options->save;
	out->resume = options->resume != NULL;
	out->progress = tell;
	return status;
}

/*
 * Measures with one process or, if the user or a launcher asks for ranks, with several. Only rank 0 gets the
 * result in *out; in the other ranks *out stays NULL.
 */
static enum kwhy_status measure_ranks(const struct pairs_options *options, struct kwhy_pair_request *request,
	struct kwhy_pairs **out, struct kwhy_error *error)
{
	struct kwhy_pairs_ranks ranks;
	enum kwhy_status status = kwhy_pairs_ranks_init(
		options->ranks == KWHY_COUNT_NOT_GIVEN ? 0 : options->ranks, &ranks, error);

	request->ranks = ranks.ranks;
	request->local_rank = ranks.local_rank;
	kwhy_stop_watch(options->quiet ||
		ranks.rank > 0); /* only rank 0 prints that a signal interrupted the measurement */
	request->context = status ? NULL : kwhy_progress_begin(options->quiet || ranks.rank > 0);
	if (!status)
		status = ranks.rank ? kwhy_pairs_follow(request, error)
				    : kwhy_pairs_measure(request, out, error);
	kwhy_progress_end(request->context);
	kwhy_pairs_ranks_done(&ranks);
	return status;
}

/*
 * Locks the GPUs' clocks, measures, and unlocks the clocks. If *out is set although an error is returned, the
 * measurement succeeded, and only unlocking the clocks or adding the note about them failed.
 */
static enum kwhy_status measure_locked(const struct pairs_options *options, struct kwhy_pair_request *request,
	struct kwhy_pairs **out, struct kwhy_error *error)
{
	struct kwhy_pairs_lock lock;
	char note[80];
	unsigned mhz = options->lock_mhz > UINT_MAX
		? UINT_MAX
		: (unsigned)options->lock_mhz; /* the lock refuses UINT_MAX as out of range */
	enum kwhy_status status = kwhy_pairs_lock_begin(&lock, mhz, error);

	snprintf(note, sizeof(note), "clocks were locked to %u MHz", mhz);
	if (!status)
		status = measure_ranks(options, request, out, error);
	if (!status && *out)
		status = kwhy_pairs_add_note(*out, note, error);
	return kwhy_pairs_lock_end(&lock, status, error);
}

static enum kwhy_status measure(
	const struct pairs_options *options, struct kwhy_pairs **out, struct kwhy_error *error)
{
	struct kwhy_pair_request request = {.seed = 0};
	struct kwhy_word_list devices;
	enum kwhy_status status = kwhy_words_cut("device", options->devices, &devices, error);

	if (!status)
		status = fill_request(options, &devices, &request, error);
	if (status)
		return status;
	return options->lock_mhz == KWHY_COUNT_NOT_GIVEN ? measure_ranks(options, &request, out, error)
							 : measure_locked(options, &request, out, error);
}

static enum kwhy_status show(
	const struct pairs_options *options, struct kwhy_pairs *pairs, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pairs_conclude(pairs, error);

	if (!status && pairs->folder && !options->from)
		status = kwhy_pairs_keep(pairs, error);
	return status ? status : kwhy_pairs_show(pairs, &options->show, error);
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct pairs_options *options = invocation->options;
	struct kwhy_error later = {0};
	struct kwhy_pairs *pairs = NULL;
	enum kwhy_status status = check(options, error);

	if (!status && kwhy_launcher_ranks(secure_getenv).rank <= 0)
		status = check_show(&options->show, error);
	if (!status)
		status = options->from ? kwhy_pairs_folder_read(options->from, &pairs, error)
				       : measure(options, &pairs, error);
	if (!pairs)
		return status;
	/*
	 * results are shown even if `status` is an error, because then the measurement succeeded and only the
	 * unlocking of the clocks failed
	 */
	if (show(options, pairs, &later))
		status = kwhy_output_later(status, &later, error);
	if (!status && pairs->is_lost)
		*invocation->exit = KWHY_EXIT_FAILED;
	kwhy_pairs_free(pairs);
	return status;
}

#define PLACE(member) offsetof(struct pairs_options, member)

static const struct kwhy_option options_table[] = {
	{"backend", 0, "NAME", "cuda, hip or host, which needs no GPU; default cuda", KWHY_OPTION_TEXT,
		PLACE(backend)},
	{"device", 0, "LIST", "these GPUs by number or PCI address; default all", KWHY_OPTION_TEXT,
		PLACE(devices)},
	{"ranks", 0, "N", "N processes, one per GPU; default: as a launcher says", KWHY_OPTION_COUNT,
		PLACE(ranks)},
	{"engine", 0, "LIST",
		"write, read, kernel, staged, put, ping-pong, exchange, nccl, nccl-exchange, nccl-full, "
		"socket, all-reduce, all-gather, reduce-scatter, broadcast, all-to-all",
		KWHY_OPTION_TEXT, PLACE(engines)},
	{"timing", 0, "LIST", "back-to-back, isolated, host, call, queued; default all", KWHY_OPTION_TEXT,
		PLACE(clocks)},
	{"min-size", 0, "SIZE", "smallest transfer; default 1 byte", KWHY_OPTION_TEXT, PLACE(least)},
	{"max-size", 0, "SIZE", "largest transfer; default 1GiB, on the host 16MiB", KWHY_OPTION_TEXT,
		PLACE(most)},
	{"random-sizes", 0, "N", "N random sizes besides the powers of two, at most 64", KWHY_OPTION_COUNT,
		PLACE(random_sizes)},
	{"no-loads", 0, NULL, "each pair alone: no contention", KWHY_OPTION_FLAG, PLACE(no_loads)},
	{"communicators", 0, "N", "measure NCCL with N communicators, one after the other; default 1",
		KWHY_OPTION_COUNT, PLACE(communicators)},
	{"time", 0, "S", "stop after S seconds; default 120", KWHY_OPTION_NUMBER, PLACE(time_s)},
	{"warm", 0, "S", "first copy for S seconds, to warm the GPUs", KWHY_OPTION_NUMBER, PLACE(warm_s)},
	{"keep-warm", 0, "C", "copy in between while a GPU is below C degrees", KWHY_OPTION_NUMBER,
		PLACE(keep_warm_c)},
	{"lock-clocks", 0, "MHZ", "lock the GPUs' graphics clocks meanwhile; needs --allow-set",
		KWHY_OPTION_COUNT, PLACE(lock_mhz)},
	{"allow-set", 0, NULL, "allow that a setting is changed while this runs", KWHY_OPTION_FLAG,
		PLACE(allow_set)},
	{"clock-time", 0, "S", "compare the ranks' clocks for S seconds at both ends", KWHY_OPTION_NUMBER,
		PLACE(clock_s)},
	{"energy", 0, NULL, "a second pass, of joules at both ends: about a minute more", KWHY_OPTION_FLAG,
		PLACE(energy)},
	{"burst", 0, "S", "length of each of its bursts, 0.1 to 60; default 1", KWHY_OPTION_NUMBER,
		PLACE(burst_s)},
	{"pinning", 0, NULL, "another pass: what the NUMA node of the host's thread makes", KWHY_OPTION_FLAG,
		PLACE(pinning)},
	{"seed", 0, "N", "of data and order; default 42", KWHY_OPTION_COUNT, PLACE(seed)},
	{"save", 0, "FOLDER", "keep all in a folder there, named by GPU and driver", KWHY_OPTION_TEXT,
		PLACE(save)},
	{"resume", 0, "FOLDER", "carry on with that folder", KWHY_OPTION_TEXT, PLACE(resume)},
	{"from", 0, "FOLDER", "measure nothing: evaluate again what is there", KWHY_OPTION_TEXT, PLACE(from)},
	{"simulators", 0, "FOLDER",
		"write simulators' input files there, a folder for each engine, and their errors",
		KWHY_OPTION_TEXT, PLACE(show.simulators)},
	{"against", 0, "FILE", "compare predictions (src,dst,size,time_ns[,engine]) with it",
		KWHY_OPTION_TEXT, PLACE(show.against)},
	{"compat", 0, "NAME", "print what nccl-tests, nvbandwidth or p2p would; differences",
		KWHY_OPTION_TEXT, PLACE(show.compat)},
	{"output", 'o', "FILE", "write there (.txt, .json, .html, .csv: every sample)", KWHY_OPTION_TEXT,
		PLACE(show.output)},
	{"json", 0, NULL, "as JSON, whatever the extension", KWHY_OPTION_FLAG, PLACE(show.json)},
	{"verbose", 'v', NULL, "every engine's regimes, and contention", KWHY_OPTION_FLAG,
		PLACE(show.verbose)},
	{"no-color", 0, NULL, "no colours on a terminal", KWHY_OPTION_FLAG, PLACE(show.no_color)},
	{"quiet", 'q', NULL, "no progress on standard error", KWHY_OPTION_FLAG, PLACE(quiet)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_bench_pairs = {
	.name = "bench pairs",
	.operands = "",
	.summary = "Measure every method to move bytes between GPUs, for every pair.",
	.options = options_table,
	.options_bytes = sizeof(struct pairs_options),
	.defaults = set_defaults,
	.run = run,
};
