/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/twin.h"

#include "base/clock.h"
#include "bench/gpu_list.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IDLE_S 2.0
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

static bool is_asked(const char *list, const char *id)
{
	char word[KWHY_LIST_WORD_BYTES];

	if (!list)
		return true;
	while (kwhy_bench_list_next(&list, word))
		if (strcmp(word, id) == 0)
			return true;
	return false;
}

static enum kwhy_status check_variants(const char *list, struct kwhy_error *error)
{
	char word[KWHY_LIST_WORD_BYTES];

	while (list && kwhy_bench_list_next(&list, word))
		if (strcmp(word, CPU_ID) != 0 && !kwhy_twin_variant_find(word, strlen(word)))
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

/* Of a copy, as the order of steps is kept. */
static enum kwhy_status sum_up_steps(
	struct kwhy_bench_twin_row *row, uint32_t steps, struct kwhy_error *error)
{
	size_t count = row->kept_runs * steps;
	double *sorted = malloc((count + 1) * sizeof(*sorted));

	if (!sorted)
		return kwhy_fail_memory(error, "the times of steps");
	memcpy(sorted, row->steps, count * sizeof(*sorted));
	kwhy_median_of(sorted, count, &row->step_s);
	row->step_p99_s = count ? sorted[(count - 1) * 99 / 100] : NAN;
	free(sorted);
	return KWHY_OK;
}

/* Runs of one row: until there are enough and the time is up. */
struct series {
	struct work *work;
	struct kwhy_bench_twin_row *row;
	struct kwhy_twin *twin; /* NULL: the reference */
	const struct kwhy_twin_answer *answer;
	double *run_s; /* [KWHY_BENCH_TWIN_RUNS_KEPT] */
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

static enum kwhy_status run_once(struct series *series, struct kwhy_error *error)
{
	struct kwhy_bench_twin_row *row = series->row;
	uint32_t steps = series->work->bench->shape.steps;
	bool is_kept = row->run_count < KWHY_BENCH_TWIN_RUNS_KEPT;
	struct kwhy_twin_result result = {
		.step_s = is_kept && series->twin ? row->steps + row->run_count * steps : NULL};
	enum kwhy_status status = series->twin
		? kwhy_twin_run(series->twin, series->answer, false, &result, error)
		: run_reference(series->work, &result, error);

	if (status)
		return status;
	if (is_kept)
		series->run_s[row->run_count] = result.run_s;
	if (is_kept && series->twin)
		row->kept_runs++;
	row->run_count++;
	series->busy_s += result.busy_s;
	series->busy_run_s += result.run_s;
	row->tally = result.tally;
	return KWHY_OK;
}

static enum kwhy_status run_times(struct series *series, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

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
	struct kwhy_bench_twin *bench = series->work->bench;

	series->row->steps = kwhy_arena_alloc(&bench->arena,
		(size_t)KWHY_BENCH_TWIN_RUNS_KEPT * bench->shape.steps, sizeof(*series->row->steps));
	series->run_s = kwhy_arena_alloc(&bench->arena, KWHY_BENCH_TWIN_RUNS_KEPT, sizeof(*series->run_s));
	if (!series->row->steps || !series->run_s)
		return kwhy_fail_memory(error, "the times of runs");
	return KWHY_OK;
}

static enum kwhy_status run_series(struct series *series, struct kwhy_error *error)
{
	struct kwhy_bench_twin_row *row = series->row;
	struct kwhy_twin_result warm = {0};
	enum kwhy_status status = make_room(series, error);
	size_t kept;

	/* The first run is not timed: its buffers are poisoned. */
	if (!status && series->twin)
		status = kwhy_twin_run(series->twin, series->answer, true, &warm, error);
	if (!status)
		status = run_times(series, error);
	if (!status)
		status = run_energy(series, error);
	if (status)
		return status;
	kept = row->run_count < KWHY_BENCH_TWIN_RUNS_KEPT ? row->run_count : KWHY_BENCH_TWIN_RUNS_KEPT;
	kwhy_median_of(series->run_s, kept, &row->run_s);
	row->busy_ratio = series->busy_s / series->busy_run_s;
	return sum_up_steps(row, series->work->bench->shape.steps, error);
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
		.busy_ratio = NAN};
	row->energy = (struct kwhy_window_joules){
		NAN, {NAN, NAN, NAN}, {NAN, NAN, NAN}, {NAN, NAN, NAN}, NAN, NULL};
	tell(work, row->id);
	return row;
}

static enum kwhy_status run_cpu(struct work *work, struct kwhy_error *error)
{
	struct series series = {.work = work, .row = add_row(work, NULL)};

	return run_series(&series, error);
}

/* Where the host starts the steps, a run's own events would count the time in which it was late. */
static enum kwhy_status find_busy(
	struct series *series, const struct kwhy_twin_request *request, struct kwhy_error *error)
{
	double busy_s = NAN;
	enum kwhy_status status = kwhy_twin_busy(request, series->answer, &busy_s, error);

	series->row->busy_ratio = busy_s / series->row->run_s.median;
	return status == KWHY_E_UNSUPPORTED ? KWHY_OK : status;
}

static enum kwhy_status run_variant(
	struct work *work, const struct kwhy_twin_variant *variant, struct kwhy_error *error)
{
	struct series series = {.work = work,
		.row = add_row(work, variant),
		.answer = variant->reduce_every == 1 ? &work->each : &work->fourth};
	const struct kwhy_twin_request request = {.gpus = work->gpus.items,
		.gpu_count = work->gpus.count,
		.shape = work->bench->shape,
		.variant = variant,
		.collectives = work->request->collectives};
	uint32_t ranks = work->bench->shape.ranks;
	enum kwhy_status status = kwhy_twin_open(&request, &series.twin, error);

	if (variant->apart)
		series.row->gpus = ranks < work->bench->gpu_count ? ranks : work->bench->gpu_count;
	if (!status)
		status = run_series(&series, error);
	kwhy_twin_close(series.twin);
	if (!status && variant->host != KWHY_TWIN_DEVICE && !work->request->runs_only)
		status = find_busy(&series, &request, error);
	if (status != KWHY_E_UNSUPPORTED)
		return status;
	series.row->missing = kwhy_arena_copy(&work->bench->arena, error->text);
	return series.row->missing ? KWHY_OK : kwhy_fail_memory(error, "a reason");
}

static enum kwhy_status run_rows(struct work *work, struct kwhy_error *error)
{
	const char *list = work->request->variants;
	enum kwhy_status status = KWHY_OK;

	if (is_asked(list, CPU_ID))
		status = run_cpu(work, error);
	for (size_t i = 0; !status && i < kwhy_twin_variant_count; i++)
		if (is_asked(list, kwhy_twin_variants[i].id))
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
	enum kwhy_status status;

	if (work->request->energy_s <= 0) {
		work->bench->energy_missing = "not asked for";
		return KWHY_OK;
	}
	tell(work, "idle");
	status = kwhy_device_energy_open(work->gpus.items, work->gpus.count, &work->energy, error);
	return status ? status : kwhy_device_energy_idle(work->energy, IDLE_S, error);
}

static enum kwhy_status read_meters(struct work *work, struct kwhy_error *error)
{
	const char *missing;
	enum kwhy_status status;

	if (!work->energy)
		return KWHY_OK;
	status = kwhy_device_energy_read(work->energy, error);
	for (size_t i = 0; !status && i < work->bench->row_count; i++) {
		struct kwhy_bench_twin_row *row = &work->bench->rows[i];

		kwhy_device_energy_of(work->energy, row->id, row->gpus, &row->energy);
		if (row->energy.basis)
			row->energy.basis = kwhy_arena_copy(&work->bench->arena, row->energy.basis);
	}
	missing = kwhy_device_energy_missing(work->energy);
	if (!status && missing)
		work->bench->energy_missing = kwhy_arena_copy(&work->bench->arena, missing);
	return status;
}

/* A lost device ends it with what was measured; the row that was at it goes. */
static enum kwhy_status end_early(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_twin *bench = work->bench;

	if (bench->row_count)
		bench->row_count--;
	bench->ended = kwhy_arena_copy(&bench->arena, error->text);
	return bench->row_count && bench->ended ? KWHY_OK : KWHY_E_LOST;
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
	if (status == KWHY_E_LOST)
		status = end_early(work, error);
	return status ? status : read_meters(work, error);
}

static void close_all(struct work *work)
{
	kwhy_device_energy_close(work->energy);
	for (uint32_t i = 0; i < work->gpus.count; i++)
		work->gpus.items[i]->ops->close(work->gpus.items[i]);
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
