/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/workload.h"
#include "bench/ops/ops.h"
#include "cli/bench/workload_show.h"
#include "lab/flow/run.h"
#include "lab/next.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PEAK_S 0.2

enum { PEAK_BYTES = 16 << 20, PEAK_SEED = 1 };

/*
 * Number of flows, and of steps, with which the variants are checked if a row has more flows: enough for each
 * team of blocks of a large GPU to process several tiles one after the other.
 */
enum { CROWD_FLOWS = 20000, CROWD_STEPS = 3 };

struct options {
	struct lab_options shared;
	const char *flows, *path, *precision;
	uint64_t steps;
};

/* Data of the benchmark. */
struct context {
	enum lab_flow_precision precision;
	/* shape for which `places` and `numbers` were computed; flows 0: none was computed yet */
	struct lab_flow_shape shape;
	/* measured peak rate of arithmetic by precision, FLOP/s; NAN: not measured */
	double peak_flop_per_s[LAB_FLOW_PRECISION_COUNT];
	/*
	 * Answers of the reference. places: places of flows in the whole run, without energies and states.
	 * numbers: places, energies and states in a shorter run, with the numbers of flows and steps for
	 * which they are checked.
	 */
	struct lab_flow_answer places, numbers;
};

/* Results of a row. */
struct facts {
	const char *precision, *products;
	uint64_t flows, memory_bytes;
	double roofline_ratio; /* reached rate of arithmetic, divided by the measured peak rate */
	struct lab_flow_tally tally;
	struct lab_flow_numbers proof;
};

/* A row of the benchmark while it is measured. */
struct opened {
	struct lab_flow *flow;
	const struct lab_flow_answer *places;
	struct facts *facts;
};

static struct context *context_of(const struct lab_bench *bench)
{
	return bench->context;
}

/* --- Options --- */

static void set_defaults(void *options)
{
	*(struct options *)options = (struct options){.shared = LAB_OPTIONS_DEFAULT(&lab_flow),
		.flows = "1000",
		.path = "fixed",
		.precision = "tf32",
		.steps = LAB_FLOW_STEPS};
}

static uint32_t gpus_of(const struct lab_bench *bench, const struct lab_flow_variant *variant)
{
	uint32_t named = lab_gpus_named(bench);

	return variant->way != LAB_FLOW_SPLIT ? 1 : named < 2 ? 2 : named;
}

static enum kwhy_status add_row(struct lab_bench *bench, const struct lab_flow_variant *variant,
	uint32_t flows, struct kwhy_error *error)
{
	uint32_t steps = context_of(bench)->shape.steps;
	struct lab_row *row,
		like = {LAB_ROW_OF(variant), .gpus = gpus_of(bench, variant), .steps = steps,
			.device_clock = lab_flow_on_device(variant)};
	enum kwhy_status status;

	if (strchr(((const struct options *)bench->options)->flows, ','))
		like.name = kwhy_arena_printf(&bench->arena, "%s, %u flows", variant->id, flows);
	status = lab_row_add(bench, &like, (double)flows * steps, &row, error);
	if (!status)
		((struct facts *)row->facts)->flows = flows;
	return status;
}

static enum kwhy_status add_rows(struct lab_bench *bench, const char *word, struct kwhy_error *error)
{
	char *end;
	unsigned long flows = strtoul(word, &end, 10);
	enum kwhy_status status = KWHY_OK;

	if (word[0] < '0' || word[0] > '9' || *end || flows < 1 || flows > LAB_FLOW_FLOWS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE, "--flows takes numbers from 1 to %d, not '%.40s'",
			LAB_FLOW_FLOWS_MAX, word);
	for (size_t i = 0; !status && i < lab_flow_variant_count; i++)
		status = add_row(bench, &lab_flow_variants[i], (uint32_t)flows, error);
	return status;
}

static enum kwhy_status plan(struct lab_bench *bench, struct kwhy_error *error)
{
	static const struct lab_bounds bounds[] = {
		{"steps", offsetof(struct options, steps), 1, LAB_FLOW_STEPS_MAX}};
	static const char *const paths[] = {"fixed", "argmax"};
	const struct options *options = (const struct options *)bench->options;
	struct context *context = bench->context;
	char word[KWHY_LIST_WORD_BYTES];
	const char *list = options->flows;
	size_t path = 0, precision = 0;
	enum kwhy_status status = lab_bounds_check(options, bounds, 1, error);

	NEXT(status, lab_word_find("path", options->path, paths, 2, &path, error));
	NEXT(status,
		lab_word_find("precision", options->precision, lab_flow_precision_names, LAB_FLOW_TF32 + 1,
			&precision, error));
	context->shape = lab_flow_shape_of(0, (uint32_t)options->steps, path == 1);
	context->precision = (enum lab_flow_precision)precision;
	for (size_t p = 0; p < LAB_FLOW_PRECISION_COUNT; p++)
		context->peak_flop_per_s[p] = NAN;
	while (!status && kwhy_bench_list_next(&list, word))
		status = add_rows(bench, word, error);
	if (!status && !bench->row_count)
		return kwhy_fail(error, KWHY_E_USAGE, "--flows takes numbers, such as 10,1000");
	return status;
}

/* --- Before the rows --- */

/*
 * Measures the peak rates of arithmetic for the roofline, as `kwhy bench ops` does. Nothing is measured on
 * the host back end and with --runs-only.
 */
static enum kwhy_status begin(struct lab_bench *bench, struct kwhy_error *error)
{
	static const char *const ids[LAB_FLOW_PRECISION_COUNT] = {"fp32", "tf32-tensor", "bf16-tensor"};
	const struct kwhy_bench_ops_request request = {.backend = bench->backend,
		.devices = bench->options->device,
		.rows = "fp32,tf32-tensor,bf16-tensor",
		.seconds = PEAK_S,
		.memory_bytes = PEAK_BYTES,
		.seed = PEAK_SEED};
	struct kwhy_bench_ops *ops;
	enum kwhy_status status;

	if (bench->backend == KWHY_GPU_HOST || bench->options->runs_only)
		return KWHY_OK;
	status = kwhy_bench_ops(&request, &ops, error);
	if (status)
		return status;
	for (size_t p = 0; p < LAB_FLOW_PRECISION_COUNT; p++)
		for (size_t i = 0; i < ops->row_count; i++)
			if (strcmp(ops->rows[i].id, ids[p]) == 0 && !ops->rows[i].missing)
				context_of(bench)->peak_flop_per_s[p] = ops->rows[i].count /
					ops->rows[i].seconds;
	kwhy_bench_ops_free(ops);
	return bench->gpus.items[0]->ops->enter(bench->gpus.items[0], error);
}

static void done(struct lab_bench *bench)
{
	lab_flow_answer_done(&context_of(bench)->places);
	lab_flow_answer_done(&context_of(bench)->numbers);
}

/*
 * Computes the reference's results for a number of flows. `places` has the places of flows over all steps; if
 * a flow's state decides where it goes, it is not computed. `numbers` has places, energies and states, of a
 * run that takes seconds on one core: with up to 1,000 flows at most LAB_FLOW_STEPS steps; with more,
 * CROWD_STEPS steps of at most CROWD_FLOWS flows; none with --runs-only.
 */
static enum kwhy_status find_answers(struct lab_bench *bench, uint32_t flows, struct kwhy_error *error)
{
	struct context *context = bench->context;
	uint32_t most = flows <= LAB_FLOW_FLOWS ? LAB_FLOW_STEPS : CROWD_STEPS;
	struct lab_flow_shape proof = context->shape;
	enum kwhy_status status = KWHY_OK;

	if (context->shape.flows == flows)
		return KWHY_OK;
	done(bench);
	context->shape.flows = flows;
	proof.flows = flows < CROWD_FLOWS ? flows : CROWD_FLOWS;
	proof.steps = proof.steps < most ? proof.steps : most;
	if (!bench->options->runs_only)
		status = lab_flow_reference(&proof, true, &context->numbers, error);
	if (!status && !proof.by_argmax)
		status = lab_flow_reference(&context->shape, false, &context->places, error);
	if (status)
		context->shape.flows = 0;
	return status;
}

/* --- A row --- */

static enum kwhy_status open_flow(const struct lab_bench *bench, const struct lab_row *row,
	const struct lab_flow_shape *shape, struct lab_flow **out, struct kwhy_error *error)
{
	const struct lab_flow_request request = {.gpus = bench->gpus.items,
		.gpu_count = row->gpus,
		.shape = *shape,
		.variant = row->variant,
		.precision = context_of(bench)->precision};

	return lab_flow_open(&request, out, error);
}

static enum kwhy_status open_row(
	struct lab_bench *bench, struct lab_row *row, void *out, struct kwhy_error *error)
{
	const struct context *context = context_of(bench);
	const struct lab_flow_facts *found;
	struct opened *opened = out;
	struct facts *facts = row->facts;
	enum kwhy_status status = find_answers(bench, (uint32_t)facts->flows, error);

	opened->places = &context->places;
	opened->facts = facts;
	NEXT(status, open_flow(bench, row, &context->shape, &opened->flow, error));
	if (status)
		return status;
	found = lab_flow_facts(opened->flow);
	facts->precision = lab_flow_precision_names[found->precision];
	facts->products = kwhy_arena_copy(&bench->arena, found->products);
	facts->memory_bytes = found->memory_bytes;
	return KWHY_OK;
}

/*
 * Fails if the states of a run are too far from the reference. In a run of many flows, a few wrong states
 * hardly change error_h, so with more than LAB_FLOW_FLOWS flows the largest difference of a single number
 * (worst_h) may be at most twice the tolerance. On an H100 with bf16, worst_h was within the tolerance in all
 * runs of correct kernels, and beyond the tolerance in each of 16 runs of a kernel whose blocks overwrote
 * data that others still read.
 */
static enum kwhy_status judge(const struct lab_flow_numbers *proof, struct kwhy_error *error)
{
	bool is_crowd = proof->flows > LAB_FLOW_FLOWS;

	if (proof->error_h > proof->tolerance || (is_crowd && proof->worst_h > 2 * proof->tolerance))
		return kwhy_fail(error, KWHY_E_INPUT,
			"the state is further from the reference than its precision allows: %.2g of its "
			"size, one number by %.2g",
			proof->error_h, proof->worst_h);
	return KWHY_OK;
}

/*
 * Opens the row's variant again, with the flows and steps for which the reference has energies and states,
 * runs it, and compares them.
 */
static enum kwhy_status check(
	struct lab_bench *bench, struct lab_row *row, void *unused, struct kwhy_error *error)
{
	const struct lab_flow_answer *answer = &context_of(bench)->numbers;
	struct lab_flow_result result = {0};
	struct lab_flow_numbers *proof = &((struct facts *)row->facts)->proof;
	struct lab_flow *flow = NULL;
	enum kwhy_status status = open_flow(bench, row, &answer->shape, &flow, error);

	(void)unused;
	NEXT(status, lab_flow_run(flow, answer, &result, error));
	NEXT(status, lab_flow_read(flow, answer, proof, error));
	NEXT(status, judge(proof, error));
	lab_flow_close(flow);
	return status;
}

static enum kwhy_status run(void *context, size_t phase, struct lab_run *run, struct kwhy_error *error)
{
	const struct opened *opened = context;
	struct lab_flow_result result = {.step_s = run->step_s};
	enum kwhy_status status;

	(void)phase;
	status = lab_flow_run(opened->flow, opened->places, &result, error);
	if (status)
		return status;
	run->run_s = result.run_s;
	opened->facts->tally = result.tally;
	return KWHY_OK;
}

static enum kwhy_status busy(void *context, double *out_s, struct kwhy_error *error)
{
	const struct opened *opened = context;

	return lab_flow_busy(opened->flow, opened->places, out_s, error);
}

static enum kwhy_status finish(
	struct lab_bench *bench, struct lab_row *row, void *context, struct kwhy_error *error)
{
	const struct opened *opened = context;

	(void)error;
	opened->facts->roofline_ratio = LAB_FLOW_FLOP / lab_phase_item_s(&row->phases[0]) /
		(row->gpus * context_of(bench)->peak_flop_per_s[lab_flow_facts(opened->flow)->precision]);
	return KWHY_OK;
}

static void close_row(void *context)
{
	lab_flow_close(((struct opened *)context)->flow);
}

/* --- What is shown --- */

static void describe(const struct lab_bench *bench, struct kwhy_text *out)
{
	const struct context *context = context_of(bench);

	kwhy_text_addf(out, "%u step%s, %s path", context->shape.steps, context->shape.steps == 1 ? "" : "s",
		context->shape.by_argmax ? "chosen" : "fixed");
}

static void write_head(const struct lab_bench *bench, struct kwhy_json *json)
{
	const struct context *context = context_of(bench);

	kwhy_json_count(json, "steps", context->shape.steps);
	kwhy_json_string(json, "path", context->shape.by_argmax ? "argmax" : "fixed");
	kwhy_json_count(json, "flop_per_item", LAB_FLOW_FLOP);
	kwhy_json_row(json, "peak_flop_per_s");
	for (size_t p = 0; p < LAB_FLOW_PRECISION_COUNT; p++)
		kwhy_json_real(json, lab_flow_precision_names[p], context->peak_flop_per_s[p]);
	kwhy_json_object_end(json);
}

static const struct lab_column use_columns[] = {
	LAB_FACT("flows", "flows", COUNT, flows),
	LAB_FACT("roofline", "roofline_ratio", RATIO, roofline_ratio),
	LAB_FACT("of", "precision", TEXT, precision),
	LAB_FACT("memory", "memory_bytes", BYTES, memory_bytes),
	LAB_FACT(NULL, "products", TEXT, products),
};

static const struct lab_column tally_columns[] = {
	LAB_FACT("calls", "calls", COUNT, tally.calls),
	LAB_FACT("waits", "waits", COUNT, tally.waits),
	LAB_FACT("kernels", "kernels", COUNT, tally.kernels),
	LAB_FACT("to GPU", "h2d_copies", COUNT, tally.h2d_copies),
	LAB_FACT("from GPU", "d2h_copies", COUNT, tally.d2h_copies),
	LAB_FACT(NULL, "allocations", COUNT, tally.allocations),
	LAB_FACT(NULL, "h2d_bytes", BYTES, tally.h2d_bytes),
	LAB_FACT(NULL, "d2h_bytes", BYTES, tally.d2h_bytes),
	LAB_FACT(NULL, "gathers", COUNT, tally.gathers),
	LAB_FACT(NULL, "gathered_bytes", BYTES, tally.gathered_bytes),
};

static const struct lab_column proof_columns[] = {
	LAB_FACT("flows", "flows", COUNT, proof.flows),
	LAB_FACT("steps", "steps", COUNT, proof.steps),
	LAB_FACT("error of h", "error_h", ERROR, proof.error_h),
	LAB_FACT(NULL, "error_e", ERROR, proof.error_e),
	LAB_FACT("worst", "worst_h", ERROR, proof.worst_h),
	LAB_FACT("tolerance", "tolerance_h", ERROR, proof.tolerance),
	LAB_FACT("elsewhere", "elsewhere", COUNT, proof.elsewhere),
	LAB_FACT(NULL, "sum_out", NUMBER, proof.sum_out),
};

static const struct lab_table tables[] = {{"Use of the GPU", NULL, LAB_COLUMNS(use_columns)},
	{"What a run does", "a_run", LAB_COLUMNS(tally_columns)},
	{"How far states are from the reference", "proof", LAB_COLUMNS(proof_columns)}};

static const struct kwhy_option option_rows[] = {
	LAB_OPTION("flows", "LIST", TEXT, flows, "numbers of flows, 1 to 100000; default 1000"),
	LAB_OPTION("steps", "N", COUNT, steps, "of a run, 1 to 4000; default 60"),
	LAB_OPTION("path", "KIND", TEXT, path, "fixed (default), or argmax: flows choose by what they carry"),
	LAB_OPTION("precision", "NAME", TEXT, precision, "of cuBLASLt: fp32 or tf32 (default); n4 has bf16"),
	LAB_OPTION_ROWS(struct options, "of n0, n0c, n0p and n1 to n6; default all",
		"the time of every step of the first 64 runs of each"),
};

const struct lab_workload lab_flow = {
	.command = {.name = "flow",
		.operands = "",
		.summary = "Run a workload of few active places in a large lattice in every variant.",
		.options = option_rows,
		.options_bytes = sizeof(struct options),
		.defaults = set_defaults,
		.run = lab_command_run},
	.item = "flow-step",
	.tables = tables,
	.table_count = sizeof(tables) / sizeof(tables[0]),
	.facts_bytes = sizeof(struct facts),
	.context_bytes = sizeof(struct context),
	.opened_bytes = sizeof(struct opened),
	.plan = plan,
	.begin = begin,
	.done = done,
	.open = open_row,
	.check = check,
	.run = run,
	.busy = busy,
	.finish = finish,
	.close = close_row,
	.verdict = "flows were where the reference has them, in every step of every run",
	.describe = describe,
	.head = write_head,
};
