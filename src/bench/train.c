/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/train.h"

#include "base/clock.h"
#include "bench/gpu_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_S 2.0

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

static bool is_named(const char *list, const char *id)
{
	char word[KWHY_LIST_WORD_BYTES];

	while (list && kwhy_bench_list_next(&list, word))
		if (strcmp(word, id) == 0)
			return true;
	return false;
}

static bool is_asked(const struct work *work, const struct kwhy_train_variant *variant)
{
	if (work->request->variants)
		return is_named(work->request->variants, variant->id);
	return !(variant->parallel || variant->pipeline) || work->gpus.count > 1;
}

static enum kwhy_status check_request(
	const struct kwhy_bench_train_request *request, struct kwhy_error *error)
{
	const char *list = request->variants;
	char word[KWHY_LIST_WORD_BYTES];

	while (list && kwhy_bench_list_next(&list, word))
		if (!kwhy_train_variant_find(word, strlen(word)))
			return kwhy_fail(error, KWHY_E_USAGE,
				"train has no variant '%s'; there are fp32, bf16, queued, cublas, fused, "
				"graph, "
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

struct series {
	struct work *work;
	struct kwhy_bench_train_row *row;
	struct kwhy_train *train;
	float *losses; /* of the run at hand */
	double *run_s; /* [KWHY_BENCH_TRAIN_RUNS_KEPT] */
};

static uint32_t bits_of(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

/* Every sum has its order: what is the same training gives the same bits. */
static enum kwhy_status compare_losses(const struct series *series, struct kwhy_error *error)
{
	const struct kwhy_bench_train_row *row = series->row;

	for (uint32_t i = 0; i < series->work->bench->shape.steps; i++)
		if (bits_of(series->losses[i]) != bits_of(row->losses[i]))
			return kwhy_fail(error, KWHY_E_INPUT,
				"%s: run %zu has a loss of %.9g in step %u where the first had %.9g: the GPU "
				"miscalculates, or the kernels do",
				row->id, row->run_count + 1, (double)series->losses[i], i,
				(double)row->losses[i]);
	return KWHY_OK;
}

static enum kwhy_status run_once(struct series *series, struct kwhy_error *error)
{
	struct kwhy_bench_train_row *row = series->row;
	struct kwhy_train_result result = {.losses = series->losses};
	enum kwhy_status status = kwhy_train_run(series->train, &result, error);

	if (!status)
		status = compare_losses(series, error);
	if (status)
		return status;
	if (row->run_count < KWHY_BENCH_TRAIN_RUNS_KEPT)
		series->run_s[row->run_count] = result.run_s;
	row->run_count++;
	row->tally = result.tally;
	return KWHY_OK;
}

/* The first run is not timed; what it gives, all must give. */
static enum kwhy_status run_times(struct series *series, struct kwhy_error *error)
{
	struct kwhy_train_result first = {.losses = series->row->losses};
	enum kwhy_status status = kwhy_train_run(series->train, &first, error);

	for (uint32_t i = 0; !status && i < series->work->request->repeat; i++)
		status = run_once(series, error);
	return status;
}

/* One window, in which runs follow each other. */
static enum kwhy_status run_energy(struct series *series, struct kwhy_error *error)
{
	struct work *work = series->work;
	size_t before = series->row->run_count;
	int64_t end_ns;
	enum kwhy_status status;

	if (!work->energy)
		return KWHY_OK;
	status = kwhy_device_energy_begin(work->energy, series->row->id, error);
	end_ns = kwhy_clock_mono_ns() + (int64_t)(work->request->energy_s * 1e9);
	while (!status && kwhy_clock_mono_ns() < end_ns)
		status = run_once(series, error);
	kwhy_device_energy_end(work->energy);
	series->row->energy_runs = series->row->run_count - before;
	return status;
}

static enum kwhy_status make_room(struct series *series, struct kwhy_error *error)
{
	struct kwhy_bench_train *bench = series->work->bench;
	size_t steps = bench->shape.steps;

	series->row->losses = kwhy_arena_alloc(&bench->arena, steps, sizeof(float));
	series->losses = kwhy_arena_alloc(&bench->arena, steps, sizeof(float));
	series->run_s = kwhy_arena_alloc(&bench->arena, KWHY_BENCH_TRAIN_RUNS_KEPT, sizeof(double));
	if (!series->row->losses || !series->losses || !series->run_s)
		return kwhy_fail_memory(error, "the times of runs");
	return KWHY_OK;
}

static enum kwhy_status run_series(struct series *series, struct kwhy_error *error)
{
	struct kwhy_bench_train_row *row = series->row;
	enum kwhy_status status = make_room(series, error);
	size_t kept;

	if (!status)
		status = run_times(series, error);
	if (!status)
		status = run_energy(series, error);
	if (status)
		return status;
	row->products = kwhy_arena_copy(&series->work->bench->arena, kwhy_train_products(series->train));
	row->gpus = kwhy_train_ranks(series->train);
	kept = row->run_count < KWHY_BENCH_TRAIN_RUNS_KEPT ? row->run_count : KWHY_BENCH_TRAIN_RUNS_KEPT;
	kwhy_median_of(series->run_s, kept, &row->run_s);
	row->bytes = kwhy_train_bytes(series->train);
	row->activation_bytes = kwhy_train_activation_bytes(series->train);
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
		.energy = {NAN, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, NULL}};
	tell(work, row->id);
	return row;
}

static enum kwhy_status run_variant(
	struct work *work, const struct kwhy_train_variant *variant, struct kwhy_error *error)
{
	const struct kwhy_train_request request = request_of(work, variant);
	struct series series = {.work = work, .row = add_row(work, variant)};
	enum kwhy_status status = check_variant(work, variant, series.row, error);

	if (!status)
		status = kwhy_train_open(&request, &series.train, error);
	if (!status)
		status = run_series(&series, error);
	kwhy_train_close(series.train);
	if (status != KWHY_E_UNSUPPORTED && status != KWHY_E_MEMORY && status != KWHY_E_INPUT)
		return status;
	if (status == KWHY_E_INPUT)
		work->bench->is_wrong = true;
	series.row->missing = kwhy_arena_copy(&work->bench->arena, error->text);
	return series.row->missing ? KWHY_OK : kwhy_fail_memory(error, "a reason");
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
	enum kwhy_status status;

	if (work->request->energy_s <= 0) {
		work->bench->energy_missing = work->request->backend == KWHY_GPU_HOST
			? "the host back end has no GPU's meters"
			: "not asked for";
		return KWHY_OK;
	}
	tell(work, "idle");
	status = kwhy_device_energy_open(work->gpus.items, work->gpus.count, &work->energy, error);
	return status ? status : kwhy_device_energy_idle(work->energy, IDLE_S, error);
}

static enum kwhy_status read_meters(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_train *bench = work->bench;
	const char *missing;
	enum kwhy_status status;

	if (!work->energy)
		return KWHY_OK;
	status = kwhy_device_energy_read(work->energy, error);
	for (size_t i = 0; !status && i < bench->row_count; i++) {
		struct kwhy_bench_train_row *row = &bench->rows[i];

		kwhy_device_energy_of(work->energy, row->id, row->gpus, &row->energy);
		if (row->energy.basis)
			row->energy.basis = kwhy_arena_copy(&bench->arena, row->energy.basis);
	}
	missing = kwhy_device_energy_missing(work->energy);
	if (!status && missing)
		bench->energy_missing = kwhy_arena_copy(&bench->arena, missing);
	return status;
}

/* A lost device ends it with what was measured; the row that was at it goes. */
static enum kwhy_status end_early(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_train *bench = work->bench;

	if (bench->row_count)
		bench->row_count--;
	bench->ended = kwhy_arena_copy(&bench->arena, error->text);
	return bench->row_count && bench->ended ? KWHY_OK : KWHY_E_LOST;
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
		status = end_early(work, error);
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
	for (uint32_t i = 0; i < work.gpus.count; i++)
		work.gpus.items[i]->ops->close(work.gpus.items[i]);
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
