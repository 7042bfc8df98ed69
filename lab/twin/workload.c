/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/workload.h"
#include "base/clock.h"
#include "lab/next.h"
#include "lab/twin/twin.h"

#include <stddef.h>

struct options {
	struct lab_options shared;
	const char *loop, *collectives;
	uint64_t steps, ranks;
};

/* Data of the benchmark. */
struct context {
	struct lab_twin_request request; /* request of all rows, without GPUs and variant */
	struct lab_twin_answer answer;
};

/* A row of the benchmark while it is measured; `twin` NULL: the row is the reference. */
struct opened {
	struct lab_twin *twin;
	struct lab_twin_request request;
	const struct lab_twin_answer *answer;
	struct lab_twin_tally *tally; /* points to the tally in the row's facts */
};

static const struct context *context_of(const struct lab_bench *bench)
{
	return bench->context;
}

/* --- Options --- */

static void set_defaults(void *options)
{
	*(struct options *)options = (struct options){.shared = LAB_OPTIONS_DEFAULT(&lab_twin),
		.loop = "closed",
		.collectives = "own",
		.steps = LAB_TWIN_STEPS,
		.ranks = 1};
}

static enum kwhy_status read_options(
	const struct options *options, struct lab_twin_request *out, struct kwhy_error *error)
{
	static const struct lab_bounds bounds[] = {
		{"steps", offsetof(struct options, steps), 1, LAB_TWIN_STEPS},
		{"ranks", offsetof(struct options, ranks), 1, LAB_TWIN_RANKS_MAX}};
	static const char *const loops[] = {"open", "closed"}, *const collectives[] = {"own", "nccl"};
	size_t loop = 0, group = 0;
	enum kwhy_status status = lab_bounds_check(options, bounds, 2, error);

	NEXT(status, lab_word_find("loop", options->loop, loops, 2, &loop, error));
	NEXT(status, lab_word_find("collectives", options->collectives, collectives, 2, &group, error));
	out->shape = (struct lab_twin_shape){(uint32_t)options->steps, (uint32_t)options->ranks, loop == 1};
	out->by_nccl = group == 1;
	return status;
}

static enum kwhy_status plan(struct lab_bench *bench, struct kwhy_error *error)
{
	struct lab_twin_request *request = &((struct context *)bench->context)->request;
	const struct lab_twin_shape *shape = &request->shape;
	uint32_t named = lab_gpus_named(bench);
	enum kwhy_status status = read_options((const struct options *)bench->options, request, error);

	for (size_t i = 0; !status && i < lab_twin_variant_count; i++) {
		const struct lab_twin_variant *variant = &lab_twin_variants[i];
		bool is_reference = variant->host == LAB_TWIN_REFERENCE;
		struct lab_row *row,
			like = {LAB_ROW_OF(variant), .gpus = is_reference ? 0 : 1,
				.steps = is_reference ? 0 : shape->steps,
				.device_clock = variant->host == LAB_TWIN_DEVICE};

		if (variant->apart)
			like.gpus = shape->ranks < named ? shape->ranks : named;
		status = lab_row_add(bench, &like, 1, &row, error);
	}
	return status;
}

static enum kwhy_status begin(struct lab_bench *bench, struct kwhy_error *error)
{
	struct context *context = bench->context;

	return lab_twin_reference(&context->request.shape, &context->answer, error);
}

static void done(struct lab_bench *bench)
{
	lab_twin_answer_done(&((struct context *)bench->context)->answer);
}

/* --- A row --- */

static enum kwhy_status open_row(
	struct lab_bench *bench, struct lab_row *row, void *out, struct kwhy_error *error)
{
	const struct context *context = context_of(bench);
	struct opened *opened = out;

	opened->tally = row->facts;
	opened->answer = &context->answer;
	opened->request = context->request;
	opened->request.gpus = bench->gpus.items;
	opened->request.gpu_count = bench->gpus.count;
	opened->request.variant = row->variant;
	return row->gpus ? lab_twin_open(&opened->request, &opened->twin, error) : KWHY_OK;
}

/*
 * Makes a run with `poisoned` (twin.h) and compares it with the reference. A row without GPUs, which is the
 * reference, passes.
 */
static enum kwhy_status check(
	struct lab_bench *bench, struct lab_row *row, void *context, struct kwhy_error *error)
{
	const struct opened *opened = context;
	struct lab_twin_result result = {0};

	(void)bench;
	return row->gpus ? lab_twin_run(opened->twin, opened->answer, true, &result, error) : KWHY_OK;
}

static enum kwhy_status run_reference(
	const struct opened *opened, struct lab_run *run, struct kwhy_error *error)
{
	struct lab_twin_answer answer;
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = lab_twin_reference(&opened->request.shape, &answer, error);

	if (status)
		return status;
	run->run_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	lab_twin_answer_done(&answer);
	return KWHY_OK;
}

static enum kwhy_status run(void *context, size_t phase, struct lab_run *run, struct kwhy_error *error)
{
	const struct opened *opened = context;
	struct lab_twin_result result = {.step_s = run->step_s};
	enum kwhy_status status;

	(void)phase;
	if (!opened->twin)
		return run_reference(opened, run, error);
	status = lab_twin_run(opened->twin, opened->answer, false, &result, error);
	if (status)
		return status;
	run->run_s = result.run_s;
	run->busy_s = result.busy_s;
	*opened->tally = result.tally;
	return KWHY_OK;
}

static enum kwhy_status busy(void *context, double *out_s, struct kwhy_error *error)
{
	const struct opened *opened = context;

	return lab_twin_busy(&opened->request, opened->answer, out_s, error);
}

static void close_row(void *context)
{
	lab_twin_close(((struct opened *)context)->twin);
}

/* --- What is shown --- */

static void describe(const struct lab_bench *bench, struct kwhy_text *out)
{
	const struct lab_twin_shape *shape = &context_of(bench)->request.shape;

	kwhy_text_addf(out, "%u step%s, %u rank%s, %s loop", shape->steps, shape->steps == 1 ? "" : "s",
		shape->ranks, shape->ranks == 1 ? "" : "s", shape->closed ? "closed" : "open");
}

static void write_head(const struct lab_bench *bench, struct kwhy_json *json)
{
	const struct options *options = (const struct options *)bench->options;

	kwhy_json_count(json, "steps", options->steps);
	kwhy_json_count(json, "ranks", options->ranks);
	kwhy_json_string(json, "loop", options->loop);
	kwhy_json_string(json, "collectives", options->collectives);
}

#define TALLY(title, key, kind, member) LAB_COLUMN(title, key, kind, struct lab_twin_tally, member, FACTS)

static const struct lab_column tally_columns[] = {
	TALLY("calls", "calls", COUNT, calls),
	TALLY("waits", "waits", COUNT, waits),
	TALLY("to GPU", "h2d_copies", COUNT, copies[LAB_TWIN_TO_GPU]),
	TALLY("bytes", "h2d_bytes", BYTES, bytes[LAB_TWIN_TO_GPU]),
	TALLY("from GPU", "d2h_copies", COUNT, copies[LAB_TWIN_FROM_GPU]),
	TALLY("bytes", "d2h_bytes", BYTES, bytes[LAB_TWIN_FROM_GPU]),
	TALLY("kernels", "kernels", COUNT, kernels),
	TALLY("collectives", "collectives", COUNT, collectives),
	TALLY(NULL, "d2d_copies", COUNT, copies[LAB_TWIN_WITHIN]),
};

static const struct lab_table tables[] = {{"What a run does", "a_run", LAB_COLUMNS(tally_columns)}};

static const struct kwhy_option option_rows[] = {
	LAB_OPTION("steps", "N", COUNT, steps, "of a run, 1 to 288; default 288"),
	LAB_OPTION("ranks", "N", COUNT, ranks, "fields of 256 x 256 cells in a ring, 1 to 8; default 1"),
	LAB_OPTION("loop", "KIND", TEXT, loop,
		"closed: agents act on what they see (default); open: they do not"),
	LAB_OPTION("collectives", "NAME", TEXT, collectives, "own (default), or nccl where it is installed"),
	LAB_OPTION_ROWS(struct options, "of v0 to v9 and cpu; default all",
		"the time of every step of the first 64 runs of each"),
};

const struct lab_workload lab_twin = {
	.command = {.name = "twin",
		.operands = "",
		.summary =
			"Run a workload of many small transfers in every variant; time and energy of each.",
		.options = option_rows,
		.options_bytes = sizeof(struct options),
		.defaults = set_defaults,
		.run = lab_command_run},
	.item = "run",
	.tables = tables,
	.table_count = 1,
	.facts_bytes = sizeof(struct lab_twin_tally),
	.context_bytes = sizeof(struct context),
	.opened_bytes = sizeof(struct opened),
	.plan = plan,
	.begin = begin,
	.done = done,
	.open = open_row,
	.check = check,
	.run = run,
	.busy = busy,
	.close = close_row,
	.verdict = "every step of every run gave the bits of the reference",
	.describe = describe,
	.head = write_head,
};
