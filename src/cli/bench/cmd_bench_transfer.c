/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/transfers/compat.h"
#include "bench/transfers/findings.h"
#include "bench/transfers/rows.h"
#include "bench/transfers/store.h"
#include "bench/transfers/sweep.h"
#include "cli/bench/options.h"
#include "cli/bench/profile_part.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "launch/stop.h"
#include "report/page/page.h"
#include "report/transfers.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPAT_BYTES (UINT64_C(512) << 20) /* bytes of each copy, as nvbandwidth's default is */
#define COMPAT_HOST_BYTES (UINT64_C(8) << 20)

struct transfer_options {
	const char *backend, *device, *strategy, *direction, *least, *most, *data;
	const char *save, *resume, *from, *output, *header, *profile, *compat;
	uint64_t seed, random_sizes;
	double time_s, burst_s;
	bool energy, json, quick, verbose, quiet, no_color;
};

static void set_defaults(void *options)
{
	struct transfer_options *transfer = options;

	transfer->backend = "cuda";
	transfer->seed = 1;
	transfer->time_s = transfer->burst_s = NAN;
}

static enum kwhy_status read_directions(const char *list, unsigned *out, struct kwhy_error *error)
{
	struct kwhy_word_list names;
	enum kwhy_status status = kwhy_words_cut("direction", list, &names, error);

	*out = 0;
	for (size_t i = 0; !status && i < names.count; i++) {
		unsigned bit = 0;

		for (int way = 0; way < KWHY_TRANSFER_DIRECTION_COUNT; way++)
			if (strcmp(names.items[i],
				    kwhy_transfer_direction_name((enum kwhy_transfer_direction)way)) == 0)
				bit = KWHY_BENCH_BIT(way);
		if (!bit)
			return kwhy_fail(error, KWHY_E_USAGE,
				"--direction takes h2d, d2h and both, not '%.40s'", names.items[i]);
		*out |= bit;
	}
	return status;
}

static enum kwhy_status check(
	const struct transfer_options *options, enum kwhy_output_form *out_form, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_output_form_of(
		options->output, options->json ? KWHY_OUTPUT_JSON : KWHY_OUTPUT_TEXT, out_form, error);

	if (status)
		return status;
	if (options->compat && *out_form != KWHY_OUTPUT_TEXT)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--compat writes text only; leave out --json, or let -o end in .txt");
	if ((options->save != NULL) + (options->resume != NULL) + (options->from != NULL) > 1)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--save, --resume and --from name the same folder for different ends; give one of "
			"them");
	if (!isnan(options->burst_s) && !(options->burst_s >= 0.1 && options->burst_s <= 60))
		return kwhy_fail(error, KWHY_E_USAGE, "--burst takes 0.1 to 60 seconds");
	if (!isnan(options->time_s) && !(options->time_s > 0 && options->time_s <= 86400))
		return kwhy_fail(
			error, KWHY_E_USAGE, "--time takes more than 0 seconds, at most a day of them");
	status = kwhy_bench_file_check("data", options->data, error);
	return status ? status : kwhy_bench_profile_check(options->profile, error);
}

static void tell(void *context, const char *what, double share)
{
	(void)share;
	kwhy_progress_step(context, what, NULL);
}

static enum kwhy_status measure(
	const struct transfer_options *options, struct kwhy_transfers **out, struct kwhy_error *error)
{
	struct kwhy_bench_request request = {.device = options->device,
		.quick = options->quick,
		.seed = options->seed,
		.time_s = isnan(options->time_s) ? 0 : options->time_s, /* 0: the default */
		.data_path = options->data,
		.random_sizes = (uint32_t)(options->random_sizes > 1000 ? 1000 : options->random_sizes),
		.energy = options->energy,
		.burst_s = isnan(options->burst_s) ? 0 : options->burst_s,
		.folder = options->resume ? options->resume : options->save,
		.resume = options->resume != NULL,
		.progress = tell};
	struct kwhy_word_list strategies;
	enum kwhy_status status = kwhy_words_cut("strategy", options->strategy, &strategies, error);

	if (!status)
		status = read_directions(options->direction, &request.directions, error);
	if (!status)
		status = kwhy_backend_read(options->backend, &request.backend, error);
	if (!status)
		status = kwhy_size_read("min-size", options->least, &request.least_bytes, error);
	if (!status)
		status = kwhy_size_read("max-size", options->most, &request.most_bytes, error);
	if (status)
		return status;
	request.strategies = strategies.count ? strategies.items : NULL;
	request.strategy_count = strategies.count;
	kwhy_stop_watch(options->quiet);
	request.context = kwhy_progress_begin(options->quiet);
	status = kwhy_transfers_measure(&request, out, error);
	kwhy_progress_end(request.context);
	return status;
}

static void write_csv(const struct kwhy_transfers *transfers, struct kwhy_text *out)
{
	kwhy_text_addf(out, "%s\n", kwhy_bench_row_names);
	for (size_t i = 0; i < transfers->point_count; i++)
		for (size_t k = 0; k < transfers->points[i].sample_count; k++)
			kwhy_bench_row_write(&transfers->points[i], k, out);
}

static enum kwhy_status write_page(
	const struct kwhy_transfers *transfers, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_text json = {0};
	enum kwhy_status status = kwhy_report_transfers_json(transfers, &json, error);

	if (!status)
		status = kwhy_report_transfers_page(json.data, out, error);
	kwhy_text_done(&json);
	return status;
}

static enum kwhy_status render(const struct transfer_options *options, const struct kwhy_transfers *transfers,
	enum kwhy_output_form form, struct kwhy_text *out, struct kwhy_error *error)
{
	const struct kwhy_text_style style = {
		.columns = 80, .color = kwhy_output_color(options->no_color), .verbose = options->verbose};

	if (form == KWHY_OUTPUT_JSON)
		return kwhy_report_transfers_json(transfers, out, error);
	if (form == KWHY_OUTPUT_TEXT)
		return kwhy_report_transfers_text(transfers, &style, out, error);
	if (form == KWHY_OUTPUT_HTML)
		return write_page(transfers, out, error);
	write_csv(transfers, out);
	return kwhy_text_check(out, error);
}

static enum kwhy_status show(const struct transfer_options *options, const struct kwhy_transfers *transfers,
	enum kwhy_output_form form, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = render(options, transfers, form, &text, error);

	if (!status)
		return kwhy_output_result(options->output, "transfers", form, &text, error);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status write_header(
	const char *path, const struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct kwhy_text text = {0};
	enum kwhy_status status = kwhy_report_transfers_header(transfers, &text, error);

	if (!status)
		status = kwhy_output_write(path, &text, error);
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status update_profile(
	const char *path, const struct kwhy_transfers *transfers, struct kwhy_error *error)
{
	struct kwhy_text part = {0};
	enum kwhy_status status = kwhy_report_transfers_part(transfers, &part, error);

	if (!status)
		status = kwhy_profile_part_put(path, transfers->device_name, "transfers", &part, error);
	kwhy_text_done(&part);
	return status;
}

/*
 * Writes the results in the form of nvbandwidth's output: for each test case of nvbandwidth a matrix of GB/s,
 * which has one element because there is one GPU, and the sum of the matrix.
 */
static void write_compat(const double gb_per_s[KWHY_BENCH_COMPAT_COUNT], struct kwhy_text *out)
{
	for (int i = 0; i < KWHY_BENCH_COMPAT_COUNT; i++) {
		const char *name = kwhy_bench_compat_name((enum kwhy_bench_compat)i);

		kwhy_text_addf(out, "Running %s.\n%s\n%12d\n%2d%10.2f\n\nSUM %s %.2f\n\n", name,
			kwhy_bench_compat_title((enum kwhy_bench_compat)i), 0, 0, gb_per_s[i], name,
			gb_per_s[i]);
	}
}

static enum kwhy_status run_compat(const struct transfer_options *options, struct kwhy_error *error)
{
	double gb_per_s[KWHY_BENCH_COMPAT_COUNT];
	enum kwhy_gpu_backend backend = KWHY_GPU_CUDA;
	struct kwhy_text text = {0};
	uint64_t bytes = 0;
	enum kwhy_status status = kwhy_backend_read(options->backend, &backend, error);

	if (!status && strcmp(options->compat, "nvbandwidth") != 0)
		status = kwhy_fail(
			error, KWHY_E_USAGE, "--compat takes nvbandwidth, not '%.40s'", options->compat);
	if (!status)
		status = kwhy_size_read("max-size", options->most, &bytes, error);
	if (!status && bytes >> 31)
		status = kwhy_fail(error, KWHY_E_USAGE, "--compat takes a --max-size below 2 GiB");
	if (!bytes)
		bytes = backend == KWHY_GPU_HOST ? COMPAT_HOST_BYTES : COMPAT_BYTES;
	if (!status)
		status = kwhy_bench_compat_measure(
			backend, options->device, bytes, options->seed, gb_per_s, error);
	if (!status) {
		write_compat(gb_per_s, &text);
		status = kwhy_output_write(options->output, &text, error);
	}
	kwhy_text_done(&text);
	return status;
}

static enum kwhy_status run(const struct kwhy_invocation *invocation, struct kwhy_error *error)
{
	const struct transfer_options *options = invocation->options;
	struct kwhy_transfers *transfers = NULL;
	enum kwhy_output_form form;
	enum kwhy_status status = check(options, &form, error);

	if (!status && options->compat)
		return run_compat(options, error);
	if (!status)
		status = options->from ? kwhy_bench_store_read(options->from, &transfers, error)
				       : measure(options, &transfers, error);
	if (!status)
		status = kwhy_transfers_conclude(transfers, error);
	if (!status)
		status = show(options, transfers, form, error);
	if (!status && options->header)
		status = write_header(options->header, transfers, error);
	if (!status && options->profile)
		status = update_profile(options->profile, transfers, error);
	if (!status && transfers->is_lost)
		*invocation->exit = KWHY_EXIT_FAILED;
	kwhy_transfers_free(transfers);
	return status;
}

#define PLACE(member) offsetof(struct transfer_options, member)

static const struct kwhy_option options_table[] = {
	{"backend", 0, "NAME", "cuda, hip or host, which needs no GPU; default cuda", KWHY_OPTION_TEXT,
		PLACE(backend)},
	{"device", 0, "N", "the GPU of this number or PCI address; default the first", KWHY_OPTION_TEXT,
		PLACE(device)},
	{"strategy", 0, "LIST", "only these strategies, such as pinned,packed", KWHY_OPTION_TEXT,
		PLACE(strategy)},
	{"direction", 0, "LIST", "h2d, d2h, both; default all", KWHY_OPTION_TEXT, PLACE(direction)},
	{"min-size", 0, "SIZE", "smallest transfer; default 1 byte", KWHY_OPTION_TEXT, PLACE(least)},
	{"max-size", 0, "SIZE", "largest transfer; default 1GiB, on the host 16MiB", KWHY_OPTION_TEXT,
		PLACE(most)},
	{"random-sizes", 0, "N", "N random sizes besides the powers of two, at most 64", KWHY_OPTION_COUNT,
		PLACE(random_sizes)},
	{"quick", 0, NULL, "every fourth power of two", KWHY_OPTION_FLAG, PLACE(quick)},
	{"time", 0, "S", "stop after S seconds; default 170", KWHY_OPTION_NUMBER, PLACE(time_s)},
	{"seed", 0, "N", "of data and order; default 1", KWHY_OPTION_COUNT, PLACE(seed)},
	{"data", 0, "FILE", "what compressed transfers send; default random bytes", KWHY_OPTION_TEXT,
		PLACE(data)},
	{"energy", 0, NULL, "a second pass, of joules: about a minute more", KWHY_OPTION_FLAG, PLACE(energy)},
	{"burst", 0, "S", "length of each of its bursts, 0.1 to 60; default 1", KWHY_OPTION_NUMBER,
		PLACE(burst_s)},
	{"compat", 0, "NAME", "only what nvbandwidth would print, by its method", KWHY_OPTION_TEXT,
		PLACE(compat)},
	{"save", 0, "FOLDER", "keep all samples there as they come", KWHY_OPTION_TEXT, PLACE(save)},
	{"resume", 0, "FOLDER", "carry on with what --save kept there", KWHY_OPTION_TEXT, PLACE(resume)},
	{"from", 0, "FOLDER", "measure nothing: evaluate again what is there", KWHY_OPTION_TEXT, PLACE(from)},
	{"output", 'o', "FILE", "write there (.txt, .json, .html, .csv: every sample)", KWHY_OPTION_TEXT,
		PLACE(output)},
	{"json", 0, NULL, "write JSON", KWHY_OPTION_FLAG, PLACE(json)},
	{"header", 0, "FILE", "also write the fastest strategies as a C header", KWHY_OPTION_TEXT,
		PLACE(header)},
	{"update-profile", 0, "FILE", "also put curves and table into that machine profile", KWHY_OPTION_TEXT,
		PLACE(profile)},
	{"verbose", 'v', NULL, "every size and number of pieces", KWHY_OPTION_FLAG, PLACE(verbose)},
	{"no-color", 0, NULL, "no colours on a terminal", KWHY_OPTION_FLAG, PLACE(no_color)},
	{"quiet", 'q', NULL, "no progress on standard error", KWHY_OPTION_FLAG, PLACE(quiet)},
	KWHY_OPTION_ROW_HELP,
	KWHY_OPTION_ROW_END,
};

const struct kwhy_command kwhy_command_bench_transfer = {
	.name = "bench transfer",
	.operands = "",
	.summary = "Measure every method to move bytes between host and device.",
	.options = options_table,
	.options_bytes = sizeof(struct transfer_options),
	.defaults = set_defaults,
	.run = run,
};
