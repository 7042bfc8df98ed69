/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/bench.h"

#include "base/clock.h"
#include "bench/gpu_list.h"
#include "bench/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CPU_ID "cpu"

enum { FLOOR_STEPS = 2000, FLOOR_WARM = 100 };

/* A benchmark under way. */
struct work {
	const struct kwhy_bench_twin_request *request;
	struct kwhy_bench_twin *bench;
	struct kwhy_bench_gpus gpus;
	struct kwhy_device_energy *energy;    /* NULL: not asked for */
	struct kwhy_twin_answer each, fourth; /* with sums in every step, and in every fourth */
};

static void tell(const struct work *work, const char *what)
{
	if (work->request->progress)
		work->request->progress(work->request->context, what);
}

/* --- What is asked for --- */

static bool is_variant(const char *word)
{
	return strcmp(word, CPU_ID) == 0 || kwhy_twin_variant_find(word, strlen(word));
}

static enum kwhy_status check_variants(const char *list, struct kwhy_error *error)
{
	char word[KWHY_LIST_WORD_BYTES];

	if (kwhy_bench_list_unknown(list, is_variant, word))
		return kwhy_fail(error, KWHY_E_USAGE,
			"twin has no variant '%s'; there are v0 to v8, v9, v9b and cpu", word);
	return KWHY_OK;
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

/* --- Times --- */

/* Runs of one row. */
struct runs {
	struct work *work;
	struct kwhy_bench_twin_row *row;
	struct kwhy_twin *twin; /* NULL: the reference */
	const struct kwhy_twin_answer *answer;
	double busy_s, busy_run_s;
};

static enum kwhy_status run_reference(
	const struct work *work, struct kwhy_twin_result *out, struct kwhy_error *error)
{
	struct kwhy_twin_answer answer;
	int64_t start_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = kwhy_twin_reference(&work->bench->shape, &answer, error);

	if (status)
		return status;
	out->run_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9;
	out->busy_s = NAN;
	kwhy_twin_answer_done(&answer);
	return KWHY_OK;
}

static enum kwhy_status run_once(void *context, size_t number, double *out_s, struct kwhy_error *error)
{
	struct runs *runs = context;
	struct kwhy_bench_twin_row *row = runs->row;
	bool is_kept = runs->twin && number < KWHY_BENCH_TWIN_RUNS_KEPT;
	struct kwhy_twin_result result = {
		.step_s = is_kept ? row->steps + number * runs->work->bench->shape.steps : NULL};
	enum kwhy_status status = runs->twin ? kwhy_twin_run(runs->twin, runs->answer, false, &result, error)
					     : run_reference(runs->work, &result, error);

	if (status)
		return status;
	if (is_kept)
		row->kept_runs++;
	runs->busy_s += result.busy_s;
	runs->busy_run_s += result.run_s;
	row->tally = result.tally;
	*out_s = result.run_s;
	return KWHY_OK;
}

static enum kwhy_status run_timed(struct runs *runs, struct kwhy_error *error)
{
	struct work *work = runs->work;
	struct kwhy_bench_twin_row *row = runs->row;
	struct kwhy_bench_series series = {.run = run_once,
		.context = runs,
		.repeat = work->request->repeat,
		.kept_most = KWHY_BENCH_TWIN_RUNS_KEPT,
		.energy = work->energy,
		.window = row->id,
		.window_s = work->request->energy_s};
	enum kwhy_status status = kwhy_bench_series_run(&series, error);

	row->run_count = series.run_count;
	row->energy_runs = series.energy_runs;
	if (status)
		return status;
	row->run_s = series.run_s;
	row->busy_ratio = runs->busy_s / runs->busy_run_s;
	return kwhy_bench_steps_sum_up(
		row->steps, row->kept_runs * work->bench->shape.steps, &row->step_s, &row->step_p99_s, error);
}

/* The first run is not timed: its buffers are poisoned. */
static enum kwhy_status run_row(struct runs *runs, struct kwhy_error *error)
{
	struct kwhy_bench_twin *bench = runs->work->bench;
	struct kwhy_twin_result warm = {0};
	enum kwhy_status status = KWHY_OK;

	runs->row->steps = kwhy_arena_alloc(&bench->arena,
		(size_t)KWHY_BENCH_TWIN_RUNS_KEPT * bench->shape.steps, sizeof(*runs->row->steps));
	if (!runs->row->steps)
		return kwhy_fail_memory(error, "the times of runs");
	if (runs->twin)
		status = kwhy_twin_run(runs->twin, runs->answer, true, &warm, error);
	return status ? status : run_timed(runs, error);
}

/* --- Rows --- */

static struct kwhy_bench_twin_row *add_row(struct work *work, const struct kwhy_twin_variant *variant)
{
	static const struct kwhy_twin_variant reference = {
		.id = CPU_ID, .title = "one core of the host", .change = "no GPU: the reference itself"};
	struct kwhy_bench_twin_row *row = &work->bench->rows[work->bench->row_count++];
	const struct kwhy_median none = {0, NAN, NAN, NAN, NAN, NAN, NAN};

	variant = variant ? variant : &reference;
	*row = (struct kwhy_bench_twin_row){.id = variant->id,
		.title = variant->title,
		.change = variant->change,
		.after = variant->after,
		.gpus = variant->id == reference.id ? 0 : 1,
		.run_s = none,
		.step_s = none,
		.step_p99_s = NAN,
		.device_clock = variant->host == KWHY_TWIN_DEVICE,
		.busy_ratio = NAN,
		.energy = kwhy_window_joules_unknown()};
	tell(work, row->id);
	return row;
}

static enum kwhy_status run_cpu(struct work *work, struct kwhy_error *error)
{
	struct runs runs = {.work = work, .row = add_row(work, NULL)};

	return run_row(&runs, error);
}

/* Where the host starts the steps, a run's own events would count the time in which it was late. */
static enum kwhy_status find_busy(
	struct runs *runs, const struct kwhy_twin_request *request, struct kwhy_error *error)
{
	double busy_s = NAN;
	enum kwhy_status status = kwhy_twin_busy(request, runs->answer, &busy_s, error);

	runs->row->busy_ratio = kwhy_bench_busy_ratio(busy_s, runs->row->run_s.median);
	return status == KWHY_E_UNSUPPORTED ? KWHY_OK : status;
}

static enum kwhy_status run_variant(
	struct work *work, const struct kwhy_twin_variant *variant, struct kwhy_error *error)
{
	struct runs runs = {.work = work,
		.row = add_row(work, variant),
		.answer = variant->reduce_every == 1 ? &work->each : &work->fourth};
	const struct kwhy_twin_request request = {.gpus = work->gpus.items,
		.gpu_count = work->gpus.count,
		.shape = work->bench->shape,
		.variant = variant,
		.collectives = work->request->collectives};
	uint32_t ranks = work->bench->shape.ranks;
	enum kwhy_status status = kwhy_twin_open(&request, &runs.twin, error);

	if (variant->apart)
		runs.row->gpus = ranks < work->bench->gpu_count ? ranks : work->bench->gpu_count;
	if (!status)
		status = run_row(&runs, error);
	kwhy_twin_close(runs.twin);
	if (!status && variant->host != KWHY_TWIN_DEVICE && !work->request->runs_only)
		status = find_busy(&runs, &request, error);
	if (status != KWHY_E_UNSUPPORTED)
		return status;
	runs.row->missing = kwhy_arena_copy(&work->bench->arena, error->text);
	return runs.row->missing ? KWHY_OK : kwhy_fail_memory(error, "a reason");
}

static enum kwhy_status run_rows(struct work *work, struct kwhy_error *error)
{
	const char *list = work->request->variants;
	enum kwhy_status status = KWHY_OK;

	if (kwhy_bench_list_has(list, CPU_ID))
		status = run_cpu(work, error);
	for (size_t i = 0; !status && i < kwhy_twin_variant_count; i++)
		if (kwhy_bench_list_has(list, kwhy_twin_variants[i].id))
			status = run_variant(work, &kwhy_twin_variants[i], error);
	return status;
}

/* --- Around it --- */

static enum kwhy_status measure_floor(struct work *work, struct kwhy_error *error)
{
	double *steps;
	enum kwhy_status status;

	kwhy_median_of(NULL, 0, &work->bench->floor_step_s);
	if (work->request->runs_only)
		return KWHY_OK;
	steps = malloc(FLOOR_STEPS * sizeof(*steps));
	if (!steps)
		return kwhy_fail_memory(error, "the times of steps");
	tell(work, "floor");
	status = kwhy_twin_floor(work->gpus.items[0], steps, FLOOR_STEPS, error);
	if (!status)
		kwhy_median_of(steps + FLOOR_WARM, FLOOR_STEPS - FLOOR_WARM, &work->bench->floor_step_s);
	free(steps);
	return status == KWHY_E_UNSUPPORTED ? KWHY_OK : status;
}

static enum kwhy_status answer(struct work *work, struct kwhy_error *error)
{
	struct kwhy_twin_shape fourth = work->bench->shape;
	enum kwhy_status status = kwhy_twin_reference(&work->bench->shape, &work->each, error);

	fourth.reduce_every = 4;
	return status ? status : kwhy_twin_reference(&fourth, &work->fourth, error);
}

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
	struct kwhy_bench_twin *bench = work->bench;
	enum kwhy_status status = kwhy_bench_meters_read(
		work->energy, &bench->arena, &bench->energy_missing, error);

	for (size_t i = 0; !status && i < bench->row_count; i++) {
		struct kwhy_bench_twin_row *row = &bench->rows[i];

		kwhy_bench_meters_of(work->energy, row->id, row->gpus, &bench->arena, &row->energy);
	}
	return status;
}

static enum kwhy_status run_all(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = answer(work, error);

	if (!status)
		status = open_gpus(work, error);
	if (!status)
		status = open_meters(work, error);
	if (!status)
		status = measure_floor(work, error);
	if (!status)
		status = run_rows(work, error);
	if (!status && work->request->runs_only)
		kwhy_bench_gpus_rest(&work->gpus);
	if (status == KWHY_E_LOST)
		status = kwhy_bench_end_early(
			&work->bench->arena, &work->bench->row_count, &work->bench->ended, error);
	return status ? status : read_meters(work, error);
}

static void close_all(struct work *work)
{
	kwhy_device_energy_close(work->energy);
	kwhy_bench_gpus_close(&work->gpus);
	kwhy_twin_answer_done(&work->each);
	kwhy_twin_answer_done(&work->fourth);
}

enum kwhy_status kwhy_bench_twin(
	const struct kwhy_bench_twin_request *request, struct kwhy_bench_twin **out, struct kwhy_error *error)
{
	struct work work = {.request = request, .bench = calloc(1, sizeof(*work.bench))};
	enum kwhy_status status;

	if (!work.bench)
		return kwhy_fail_memory(error, "a benchmark");
	work.bench->backend = request->backend;
	work.bench->shape = request->shape;
	work.bench->shape.reduce_every = 1;
	work.bench->collectives = request->collectives == KWHY_TWIN_COLLECTIVES_NCCL ? "nccl" : "own";
	status = check_variants(request->variants, error);
	if (!status)
		status = run_all(&work, error);
	close_all(&work);
	if (status)
		kwhy_bench_twin_free(work.bench);
	else
		*out = work.bench;
	return status;
}

void kwhy_bench_twin_free(struct kwhy_bench_twin *bench)
{
	if (!bench)
		return;
	kwhy_arena_done(&bench->arena);
	free(bench);
}
