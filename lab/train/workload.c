/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/bench/workload_show.h"
#include "lab/next.h"
#include "lab/train/train.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

enum { CHECK_WIDTH = 512, CHECK_BATCH_MAX = 512, CHECK_STEPS = 3, HOST_WIDTH = 128, HOST_STEPS = 8 };

/* Data of the benchmark. */
struct context {
	/*
	 * shape: of the timed runs; checked: of the run that is compared with the reference; checked.steps 0:
	 * none is compared
	 */
	struct lab_train_shape shape, checked;
	/* state of the reference after a run of the checked shape */
	struct lab_train_state expected;
	struct lab_train_options options; /* options in which all counts are set */
};

/* Results of a row. */
struct facts {
	struct lab_train_errors errors;
	struct lab_train_facts of;
	double last_loss, flop_per_s;
	/* [shape.steps] loss of each step; they must have the same bits in all runs of the row */
	float *losses;
};

/* A row of the benchmark while it is measured. */
struct opened {
	const struct lab_row *row;
	struct lab_train_request request;
	struct lab_train *train;
	float *losses; /* [shape.steps] losses of the current run */
	bool has_run;
};

static const struct context *context_of(const struct lab_bench *bench)
{
	return bench->context;
}

/* --- Options --- */

/* Options that are counts: X(name, member, least, most, help). */
#define COUNTS(X)                                                                                        \
	X("dp", dp, 2, LAB_TRAIN_RANKS_MAX, "GPUs of 'parallel', which share the batch; default 2")      \
	X("width", width, 32, LAB_TRAIN_WIDTH_MAX, "features of a layer; default 4096, on the host 128") \
	X("layers", layers, 1, LAB_TRAIN_LAYERS_MAX, "default 2")                                        \
	X("batch", batch, 8, LAB_TRAIN_BATCH_MAX, "samples a step; default 64")                          \
	X("parts", parts, 1, UINT32_MAX / 8, "of a batch in 'accumulate'; default 4")                    \
	X("samples", samples, 8, UINT32_MAX, "of the data; default 2048")                                \
	X("steps", steps, 1, LAB_TRAIN_STEPS_MAX, "of a run; default 96, on the host 8")                 \
	X("check-width", check_width, 0, LAB_TRAIN_WIDTH_MAX, "most of the check; default 512, 0: no check")

static void set_defaults(void *options)
{
	*(struct lab_train_options *)options = (struct lab_train_options){LAB_OPTIONS_DEFAULT(&lab_train), 2,
		KWHY_COUNT_NOT_GIVEN, LAB_TRAIN_LAYERS, LAB_TRAIN_BATCH, LAB_TRAIN_PARTS, LAB_TRAIN_SAMPLES,
		KWHY_COUNT_NOT_GIVEN, CHECK_WIDTH};
}

/*
 * Shape of the run that is compared with the reference: at most `width` (--check-width) wide, CHECK_STEPS
 * steps, and batches of at most CHECK_BATCH_MAX if they can be halved.
 */
static struct lab_train_shape checked_of(const struct lab_train_shape *shape, uint32_t width)
{
	struct lab_train_shape checked = *shape;

	checked.width = width < shape->width ? width : shape->width;
	while (checked.batch > CHECK_BATCH_MAX && checked.batch / 2 % (8 * checked.parts) == 0)
		checked.batch /= 2;
	checked.steps = shape->steps < CHECK_STEPS ? shape->steps : CHECK_STEPS;
	checked.samples = checked.batch * checked.steps;
	return checked;
}

static enum kwhy_status read_options(
	const struct lab_bench *bench, struct context *context, struct kwhy_error *error)
{
#define BOUNDS(name, member, least, most, help) \
	{name, offsetof(struct lab_train_options, member), least, most},
	static const struct lab_bounds bounds[] = {COUNTS(BOUNDS)};
	struct lab_train_options options = *(const struct lab_train_options *)bench->options;
	bool on_host = bench->backend == KWHY_GPU_HOST;

	/*
	 * Counts that are not given get the values of the published guide (lab/README.md). On the host,
	 * which is slow, they are small.
	 */
	if (options.width == KWHY_COUNT_NOT_GIVEN)
		options.width = on_host ? HOST_WIDTH : LAB_TRAIN_WIDTH;
	if (options.steps == KWHY_COUNT_NOT_GIVEN)
		options.steps = on_host ? HOST_STEPS : LAB_TRAIN_STEPS;
	if (lab_bounds_check(&options, bounds, sizeof(bounds) / sizeof(bounds[0]), error))
		return KWHY_E_USAGE;
	context->options = options;
	context->shape = (struct lab_train_shape){(uint32_t)options.width, (uint32_t)options.layers,
		(uint32_t)options.batch, (uint32_t)options.parts, (uint32_t)options.samples,
		(uint32_t)options.steps};
	if (options.check_width && !bench->options->runs_only)
		context->checked = checked_of(&context->shape, (uint32_t)options.check_width);
	if (lab_train_shape_check(&context->shape, error) ||
		(context->checked.steps && lab_train_shape_check(&context->checked, error)))
		return KWHY_E_USAGE;
	return KWHY_OK;
}

static enum kwhy_status plan(struct lab_bench *bench, struct kwhy_error *error)
{
	struct context *context = bench->context;
	enum kwhy_status status = read_options(bench, context, error);
	double samples = (double)context->shape.steps * context->shape.batch; /* samples in a run */

	for (size_t i = 0; !status && i < lab_train_variant_count; i++) {
		const struct lab_train_variant *v = &lab_train_variants[i];
		const struct lab_row like = {
			LAB_ROW_OF(v), .gpus = v->parallel ? (uint32_t)context->options.dp : 1};
		struct lab_row *row;

		status = lab_row_add(bench, &like, samples, &row, error);
	}
	return status;
}

static enum kwhy_status begin(struct lab_bench *bench, struct kwhy_error *error)
{
	struct context *context = bench->context;
	enum kwhy_status status;

	if (!context->checked.steps)
		return KWHY_OK;
	status = lab_train_state_new(&context->checked, &context->expected, error);
	return status ? status : lab_train_reference(&context->checked, &context->expected, error);
}

static void done(struct lab_bench *bench)
{
	lab_train_state_done(&((struct context *)bench->context)->expected);
}

/* --- A row --- */

static enum kwhy_status open_row(
	struct lab_bench *bench, struct lab_row *row, void *out, struct kwhy_error *error)
{
	const struct context *context = context_of(bench);
	struct opened *opened = out;
	struct facts *facts = row->facts;

	opened->row = row;
	facts->losses = kwhy_arena_alloc(&bench->arena, 2 * context->shape.steps, sizeof(float));
	if (!facts->losses)
		return kwhy_fail_memory(error, "the losses of a row");
	opened->losses = facts->losses + context->shape.steps;
	opened->request = (struct lab_train_request){.gpus = bench->gpus.items,
		.gpu_count = row->gpus,
		.variant = row->variant,
		.shape = context->shape};
	return lab_train_open(&opened->request, &opened->train, error);
}

static enum kwhy_status check(
	struct lab_bench *bench, struct lab_row *row, void *context, struct kwhy_error *error)
{
	const struct opened *opened = context;
	struct lab_train_request request = opened->request;
	struct facts *facts = row->facts;

	request.shape = context_of(bench)->checked;
	return request.shape.steps
		? lab_train_check(&request, &context_of(bench)->expected, &facts->errors, error)
		: KWHY_OK;
}

/* Makes a run. KWHY_E_INPUT: a loss differs in its bits from the row's first run. */
static enum kwhy_status run(void *context, size_t phase, struct lab_run *run, struct kwhy_error *error)
{
	struct opened *opened = context;
	struct facts *facts = opened->row->facts;
	enum kwhy_status status = lab_train_run(opened->train, opened->losses, &run->run_s, error);
	size_t bytes = opened->request.shape.steps * sizeof(float);

	(void)phase;
	if (status)
		return status;
	if (opened->has_run && memcmp(facts->losses, opened->losses, bytes) != 0)
		return kwhy_fail(error, KWHY_E_INPUT, "%s gave other losses in another run", opened->row->id);
	memcpy(facts->losses, opened->losses, bytes);
	opened->has_run = true;
	return KWHY_OK;
}

static enum kwhy_status finish(
	struct lab_bench *bench, struct lab_row *row, void *context, struct kwhy_error *error)
{
	const struct opened *opened = context;
	const struct lab_train_shape *shape = &context_of(bench)->shape;
	struct facts *facts = row->facts;

	lab_train_facts(opened->train, &facts->of);
	facts->of.products = kwhy_arena_copy(&bench->arena, facts->of.products);
	facts->last_loss = (double)facts->losses[shape->steps - 1];
	facts->flop_per_s = lab_train_step_flop(shape) * shape->steps / row->phases[0].run_s.median;
	return facts->of.products ? KWHY_OK : kwhy_fail_memory(error, "a name");
}

static void close_row(void *context)
{
	lab_train_close(((struct opened *)context)->train);
}

/* --- What is shown --- */

static void describe(const struct lab_bench *bench, struct kwhy_text *out)
{
	const struct lab_train_shape *shape = &context_of(bench)->shape;

	kwhy_text_addf(out, "layers %u x %u, batches of %u, steps %u a run", shape->layers, shape->width,
		shape->batch, shape->steps);
}

static void write_head(const struct lab_bench *bench, struct kwhy_json *json)
{
#define HEAD(name, member, least, most, help) kwhy_json_count(json, #member, context->options.member);
	const struct context *context = context_of(bench);

	COUNTS(HEAD)
	kwhy_json_real(json, "flop_a_step", lab_train_step_flop(&context->shape));
}

/*
 * Writes the CSV with a line for each step: the loss before the step's update, and the time and energy that
 * were needed until then. As all steps do the same work, these are the time and energy of the whole run,
 * times the share of steps before this one.
 */
static void write_csv(const struct lab_bench *bench, struct kwhy_text *out)
{
	uint32_t batch = context_of(bench)->shape.batch;

	kwhy_text_add(out, "variant,step,loss,seconds,joules\n");
	for (size_t i = 0; i < bench->row_count; i++) {
		const struct lab_phase *phase = &bench->rows[i].phases[0];
		const struct facts *facts = bench->rows[i].facts;
		double seconds = lab_phase_item_s(phase) * batch, joules = phase->gross.value * batch;

		for (uint32_t s = 0; lab_row_has_run(&bench->rows[i]) && s < context_of(bench)->shape.steps;
			s++) {
			kwhy_text_addf(out, "%s,%u,%.9g,%.9g,", bench->rows[i].id, s,
				(double)facts->losses[s], seconds * s);
			if (isfinite(joules))
				kwhy_text_addf(out, "%.9g", joules * s);
			kwhy_text_add(out, "\n");
		}
	}
}

static const struct lab_column figure_columns[] = {
	LAB_FACT("FLOP/s", "flop_per_s", RATE, flop_per_s),
	LAB_FACT("loss", "last_loss", NUMBER, last_loss),
	LAB_FACT("off by", "first_moment_error", ERROR, errors.first),
	LAB_FACT("activations", "activation_bytes", BYTES, of.activation_bytes),
	LAB_FACT(NULL, "memory_bytes", BYTES, of.bytes),
	LAB_FACT(NULL, "products", TEXT, of.products),
	LAB_FACT(NULL, "adds", TEXT, of.adds),
	LAB_FACT(NULL, "loss_error", ERROR, errors.loss),
	LAB_FACT(NULL, "second_moment_error", ERROR, errors.second),
	LAB_FACT(NULL, "weights_change_error", ERROR, errors.weights),
};

static const struct lab_table table = {
	"The training", NULL, figure_columns, sizeof(figure_columns) / sizeof(figure_columns[0])};

#define COUNT(name, member, least, most, help) \
	{name, 0, "N", help, KWHY_OPTION_COUNT, offsetof(struct lab_train_options, member)},

static const struct kwhy_option option_rows[] = {
	COUNTS(COUNT) LAB_OPTION_ROWS(struct lab_train_options,
		"of plain, tf32, bf16, pinned, prefetch, queued, fused, graph, checkpoint, accumulate "
		"and parallel; default all",
		"loss against time and energy, of every step and variant"),
};

const struct lab_workload lab_train = {
	.command = {.name = "train",
		.operands = "",
		.summary =
			"Train a perceptron in every variant; time and energy a sample, loss against energy.",
		.options = option_rows,
		.options_bytes = sizeof(struct lab_train_options),
		.defaults = set_defaults,
		.run = lab_command_run},
	.item = "sample",
	.tables = &table,
	.table_count = 1,
	.facts_bytes = sizeof(struct facts),
	.context_bytes = sizeof(struct context),
	.opened_bytes = sizeof(struct opened),
	.plan = plan,
	.begin = begin,
	.done = done,
	.open = open_row,
	.check = check,
	.run = run,
	.finish = finish,
	.close = close_row,
	.describe = describe,
	.head = write_head,
	.csv = write_csv,
};
