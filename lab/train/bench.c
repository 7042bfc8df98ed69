/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/bench.h"

#include "bench/gpu_list.h"
#include "bench/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECK_BATCH_MOST = 512 };

/* A benchmark under way. */
struct work {
	const struct kwhy_bench_train_request *request;
	struct kwhy_bench_train *bench;
	struct kwhy_bench_gpus gpus;
	struct kwhy_device_energy *energy; /* NULL: not asked for */
	struct kwhy_train_state expected;  /* of the checked shape */
};

double kwhy_bench_train_step_s(const struct kwhy_bench_train *bench, const struct kwhy_bench_train_row *row)
{
	return row->run_s.median / bench->shape.steps;
}

struct kwhy_joules kwhy_bench_train_step_joules(const struct kwhy_bench_train *bench,
	const struct kwhy_bench_train_row *row, const struct kwhy_joules *joules)
{
	double share = row->energy_runs ? 1.0 / ((double)row->energy_runs * bench->shape.steps) : NAN;

	return kwhy_joules_times(joules, share);
}

static void tell(const struct work *work, const char *what)
{
	if (work->request->progress)
		work->request->progress(work->request->context, what);
}

/* --- What is asked for --- */

static bool is_asked(const struct work *work, const struct kwhy_train_variant *variant)
{
	if (work->request->variants)
		return kwhy_bench_list_has(work->request->variants, variant->id);
	return !(variant->parallel || variant->pipeline) || work->gpus.count > 1;
}

static bool is_variant(const char *word)
{
	return kwhy_train_variant_find(word, strlen(word));
}

static enum kwhy_status check_request(
	const struct kwhy_bench_train_request *request, struct kwhy_error *error)
{
	char word[KWHY_LIST_WORD_BYTES];

	if (kwhy_bench_list_unknown(request->variants, is_variant, word))
		return kwhy_fail(error, KWHY_E_USAGE,
			"train has no variant '%s'; there are fp32, bf16, queued, cublas, fused, graph, "
			"checkpoint, accumulate, pipeline and parallel",
			word);
	return kwhy_train_shape_check(&request->shape, error);
}

static enum kwhy_status open_gpus(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_gpus_open(
		work->request->backend, work->request->devices, &work->gpus, error);

	work->bench->gpu_count = work->gpus.count;
	for (uint32_t i = 0; i < work->gpus.count; i++)
		work->bench->gpus[i] = work->gpus.items[i]->facts;
	return status;
}

/* --- The reference --- */

/* The same depth and parts, a few steps, no wider than asked and not too many samples for one core. */
static void choose_checked(const struct kwhy_bench_train_request *request, struct kwhy_train_shape *out)
{
	*out = request->shape;
	if (out->width > request->check_width)
		out->width = request->check_width;
	while (out->batch > CHECK_BATCH_MOST && out->batch / 2 % (8 * out->parts) == 0)
		out->batch /= 2;
	if (out->steps > KWHY_BENCH_TRAIN_CHECK_STEPS)
		out->steps = KWHY_BENCH_TRAIN_CHECK_STEPS;
	out->samples = out->batch * out->steps;
}

static enum kwhy_status run_reference(struct work *work, struct kwhy_error *error)
{
	struct kwhy_train_shape checked;
	enum kwhy_status status;

	if (!work->request->check_width)
		return KWHY_OK;
	tell(work, "reference");
	choose_checked(work->request, &checked);
	status = kwhy_train_shape_check(&checked, error);
	if (!status)
		status = kwhy_train_state_new(&checked, &work->expected, error);
	work->bench->checked = checked;
	return status ? status : kwhy_train_reference(&checked, &work->expected, error);
}

static struct kwhy_train_request request_of(const struct work *work, const struct kwhy_train_variant *variant)
{
	return (struct kwhy_train_request){.gpus = work->gpus.items,
		.gpu_count = work->gpus.count,
		.variant = variant,
		.shape = work->bench->shape};
}

static enum kwhy_status check_variant(struct work *work, const struct kwhy_train_variant *variant,
	struct kwhy_bench_train_row *row, struct kwhy_error *error)
{
	struct kwhy_train_request request = request_of(work, variant);

	if (!work->bench->checked.steps)
		return KWHY_OK;
	request.shape = work->bench->checked;
	request.like = &work->bench->shape;
	return kwhy_train_check(&request, &work->expected, &row->errors, error);
}

/* --- Runs of one row --- */

struct runs {
	struct work *work;
	struct kwhy_bench_train_row *row;
	struct kwhy_train *train;
	float *losses; /* of the run at hand */
};

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Every sum has its order: what is the same training gives the same bits. */
static enum kwhy_status compare_losses(const struct runs *runs, size_t number, struct kwhy_error *error)
{
	const struct kwhy_bench_train_row *row = runs->row;

	for (uint32_t i = 0; i < runs->work->bench->shape.steps; i++)
		if (bits_of(runs->losses[i]) != bits_of(row->losses[i]))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s: run %zu has a loss of %.9g in step %u where the first had %.9g: the GPU "
				"miscalculates, or the kernels do",
				row->id, number + 1, (double)runs->losses[i], i, (double)row->losses[i]);
	return KWHY_OK;
}

static enum kwhy_status run_once(void *context, size_t number, double *out_s, struct kwhy_error *error)
{
	struct runs *runs = context;
	struct kwhy_train_result result = {.losses = runs->losses};
	enum kwhy_status status = kwhy_train_run(runs->train, &result, error);

	if (!status)
		status = compare_losses(runs, number, error);
	if (status)
		return status;
	runs->row->tally = result.tally;
	*out_s = result.run_s;
	return KWHY_OK;
}

/* The first run is not timed; what it gives, all must give. */
static enum kwhy_status run_timed(struct runs *runs, struct kwhy_error *error)
{
	struct work *work = runs->work;
	struct kwhy_train_result first = {.losses = runs->row->losses};
	struct kwhy_bench_series series = {.run = run_once,
		.context = runs,
		.repeat = work->request->repeat,
		.kept_most = KWHY_BENCH_TRAIN_RUNS_KEPT,
		.energy = work->energy,
		.window = runs->row->id,
		.window_s = work->request->energy_s};
	enum kwhy_status status = kwhy_train_run(runs->train, &first, error);

	if (!status)
		status = kwhy_bench_series_run(&series, error);
	runs->row->run_count = series.run_count;
	runs->row->energy_runs = series.energy_runs;
	if (!status)
		runs->row->run_s = series.run_s;
	return status;
}

static enum kwhy_status run_row(struct runs *runs, struct kwhy_error *error)
{
	struct kwhy_bench_train *bench = runs->work->bench;
	struct kwhy_bench_train_row *row = runs->row;
	enum kwhy_status status;

	row->losses = kwhy_arena_alloc(&bench->arena, bench->shape.steps, sizeof(float));
	runs->losses = kwhy_arena_alloc(&bench->arena, bench->shape.steps, sizeof(float));
	if (!row->losses || !runs->losses)
		return kwhy_fail_memory(error, "the losses of runs");
	status = run_timed(runs, error);
	if (status)
		return status;
	row->products = kwhy_arena_copy(&bench->arena, kwhy_train_products(runs->train));
	row->gpus = kwhy_train_ranks(runs->train);
	row->bytes = kwhy_train_bytes(runs->train);
	row->activation_bytes = kwhy_train_activation_bytes(runs->train);
	return KWHY_OK;
}

/* --- Rows --- */

static struct kwhy_bench_train_row *add_row(struct work *work, const struct kwhy_train_variant *variant)
{
	struct kwhy_bench_train_row *row = &work->bench->rows[work->bench->row_count++];

	*row = (struct kwhy_bench_train_row){.id = variant->id,
		.title = variant->title,
		.change = variant->change,
		.after = variant->after,
		.gpus = 1,
		.errors = {NAN, NAN, NAN, NAN},
		.run_s = {0, NAN, NAN, NAN, NAN, NAN, NAN},
		.energy = kwhy_window_joules_unknown()};
	tell(work, row->id);
	return row;
}

static enum kwhy_status run_variant(
	struct work *work, const struct kwhy_train_variant *variant, struct kwhy_error *error)
{
	const struct kwhy_train_request request = request_of(work, variant);
	struct runs runs = {.work = work, .row = add_row(work, variant)};
	enum kwhy_status status = check_variant(work, variant, runs.row, error);

	if (!status)
		status = kwhy_train_open(&request, &runs.train, error);
	if (!status)
		status = run_row(&runs, error);
	kwhy_train_close(runs.train);
	if (status != KWHY_E_UNSUPPORTED && status != KWHY_E_MEMORY && status != KWHY_E_INPUT)
		return status;
	if (status == KWHY_E_INPUT)
		work->bench->is_wrong = true;
	runs.row->missing = kwhy_arena_copy(&work->bench->arena, error->text);
	return runs.row->missing ? KWHY_OK : kwhy_fail_memory(error, "a reason");
}

static enum kwhy_status run_rows(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < kwhy_train_variant_count; i++)
		if (is_asked(work, &kwhy_train_variants[i]))
			status = run_variant(work, &kwhy_train_variants[i], error);
	return status;
}

/* --- Around it --- */

static enum kwhy_status open_meters(struct work *work, struct kwhy_error *error)
{
	if (work->request->energy_s <= 0) {
		work->bench->energy_missing = kwhy_bench_energy_unasked(work->request->backend);
		return KWHY_OK;
	}
	tell(work, "idle");
	return kwhy_bench_meters_open(work->gpus.items, work->gpus.count, &work->energy, error);
}

static enum kwhy_status read_meters(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_train *bench = work->bench;
	enum kwhy_status status = kwhy_bench_meters_read(
		work->energy, &bench->arena, &bench->energy_missing, error);

	for (size_t i = 0; !status && i < bench->row_count; i++) {
		struct kwhy_bench_train_row *row = &bench->rows[i];

		kwhy_bench_meters_of(work->energy, row->id, row->gpus, &bench->arena, &row->energy);
	}
	return status;
}

static enum kwhy_status run_all(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = check_request(work->request, error);

	if (!status)
		status = open_gpus(work, error);
	if (!status)
		status = run_reference(work, error);
	if (!status)
		status = open_meters(work, error);
	if (!status)
		status = run_rows(work, error);
	if (status == KWHY_E_LOST)
		status = kwhy_bench_end_early(
			&work->bench->arena, &work->bench->row_count, &work->bench->ended, error);
	return status ? status : read_meters(work, error);
}

enum kwhy_status kwhy_bench_train(const struct kwhy_bench_train_request *request,
	struct kwhy_bench_train **out, struct kwhy_error *error)
{
	struct work work = {.request = request, .bench = calloc(1, sizeof(*work.bench))};
	enum kwhy_status status;

	if (!work.bench)
		return kwhy_fail_memory(error, "a benchmark");
	work.bench->backend = request->backend;
	work.bench->shape = request->shape;
	status = run_all(&work, error);
	kwhy_device_energy_close(work.energy);
	kwhy_train_state_done(&work.expected);
	kwhy_bench_gpus_close(&work.gpus);
	if (status)
		kwhy_bench_train_free(work.bench);
	else
		*out = work.bench;
	return status;
}

void kwhy_bench_train_free(struct kwhy_bench_train *bench)
{
	if (!bench)
		return;
	kwhy_arena_done(&bench->arena);
	free(bench);
}
