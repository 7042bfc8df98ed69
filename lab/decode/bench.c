/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/bench.h"

#include "bench/gpu_list.h"
#include "bench/series.h"
#include "lab/decode/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { RUNS_KEPT = 1024, SEQUENCES_MOST = 100000 };

#define SHORT_CACHE_ERROR 0.1 /* as error_most(), of keys and values in fp8 */

static const char first_gpus[] = "0,1,2,3,4,5,6,7"; /* where none are named */

/* A benchmark under way. */
struct work {
	const struct kwhy_bench_decode_request *request;
	struct kwhy_bench_decode *bench;
	struct kwhy_bench_gpus gpus;
	struct kwhy_device_energy *energy;	  /* NULL: not asked for */
	struct kwhy_decode_answer answer, pruned; /* pruned.shape NULL: no row wants it */
	enum kwhy_decode_products products;
};

static void tell(const struct work *work, const char *what)
{
	if (work->request->progress)
		work->request->progress(work->request->context, what);
}

const char *kwhy_decode_phase_name(enum kwhy_decode_phase phase)
{
	return phase == KWHY_DECODE_READING ? "reading" : "writing";
}

const char *kwhy_decode_seating_name(enum kwhy_decode_seating seating)
{
	return seating == KWHY_DECODE_TOGETHER ? "together" : "continuous";
}

struct kwhy_joules kwhy_bench_decode_per_token(
	const struct kwhy_bench_decode_phase *phase, const struct kwhy_joules *joules)
{
	double share = phase->energy_runs ? 1 / ((double)phase->energy_runs * (double)phase->tokens) : NAN;

	return kwhy_joules_times(joules, share);
}

double kwhy_bench_decode_exposed_s(const struct kwhy_bench_decode_row *row, enum kwhy_decode_phase phase)
{
	return (row->phases[phase].run_s.median - row->alone[phase].run_s.median) /
		(double)row->phases[phase].tokens;
}

struct kwhy_joules kwhy_bench_decode_exposed_joules(
	const struct kwhy_bench_decode_row *row, enum kwhy_decode_phase phase)
{
	struct kwhy_joules with = kwhy_bench_decode_per_token(
				   &row->phases[phase], &row->phases[phase].energy.gross),
			   without = kwhy_bench_decode_per_token(
				   &row->alone[phase], &row->alone[phase].energy.gross);

	return (struct kwhy_joules){
		with.value - without.value, with.low - without.high, with.high - without.low};
}

/* --- A row --- */

/* A phase of a row, by its reading or its writing of tokens. */
struct runs {
	struct kwhy_decode *decode;
	enum kwhy_status (*run)(struct kwhy_decode *decode, double *out_s, struct kwhy_error *error);
};

static enum kwhy_status run_once(void *context, size_t number, double *out_s, struct kwhy_error *error)
{
	const struct runs *runs = context;

	(void)number;
	return runs->run(runs->decode, out_s, error);
}

/* The first run is not timed. */
static enum kwhy_status run_phase(
	struct work *work, struct runs *runs, struct kwhy_bench_decode_phase *phase, struct kwhy_error *error)
{
	struct kwhy_bench_series series = {.run = run_once,
		.context = runs,
		.repeat = work->request->repeat,
		.kept_most = RUNS_KEPT,
		.energy = work->energy,
		.window = phase->window,
		.window_s = work->request->energy_s};
	enum kwhy_status status = runs->run(runs->decode, NULL, error);

	if (!status)
		status = kwhy_bench_series_run(&series, error);
	phase->energy_runs = series.energy_runs;
	if (!status)
		phase->run_s = series.run_s;
	return status;
}

static enum kwhy_status run_phases(struct work *work, struct kwhy_bench_decode_row *row,
	struct kwhy_decode *decode, struct kwhy_error *error)
{
	struct runs reading = {decode, kwhy_decode_prefill}, writing = {decode, kwhy_decode_write};
	enum kwhy_status status = run_phase(work, &reading, &row->phases[KWHY_DECODE_READING], error);

	return status ? status : run_phase(work, &writing, &row->phases[KWHY_DECODE_WRITING], error);
}

/* The same without communication, at last: what is written then is wrong. */
static enum kwhy_status run_alone(struct work *work, struct kwhy_bench_decode_row *row,
	struct kwhy_decode *decode, struct kwhy_error *error)
{
	struct runs reading = {decode, kwhy_decode_prefill}, writing = {decode, kwhy_decode_write};
	enum kwhy_status status = kwhy_decode_met(decode, error);

	if (status || row->ranks < 2)
		return status;
	status = kwhy_decode_leave_alone(decode, true, error);
	if (!status)
		status = run_phase(work, &reading, &row->alone[KWHY_DECODE_READING], error);
	return status ? status : run_phase(work, &writing, &row->alone[KWHY_DECODE_WRITING], error);
}

/* Steps of as many runs as were asked for, apart from those that are timed as a whole. */
static enum kwhy_status run_steps(struct work *work, struct kwhy_bench_decode_row *row,
	struct kwhy_decode *decode, struct kwhy_error *error)
{
	size_t each = work->request->tokens - 1, count = 0;
	double *steps = malloc(each * work->request->repeat * sizeof(*steps));
	enum kwhy_status status = KWHY_OK;

	if (!steps)
		return kwhy_fail_memory(error, "the times of tokens");
	for (uint32_t i = 0; !status && i < work->request->repeat; i++) {
		status = kwhy_decode_write(decode, NULL, error);
		if (!status)
			status = kwhy_decode_steps(decode, steps + count, error);
		count += each;
	}
	if (!status)
		kwhy_median_of(steps, count, &row->step_s);
	free(steps);
	return status;
}

/* Sequences come for as long as a phase's window; each slot is taken twice at least. */
static uint32_t sequence_count(const struct work *work, uint32_t batch)
{
	double count = work->request->arrivals_per_s *
		(work->request->energy_s > 0 ? work->request->energy_s : 1);

	count = fmin(count, SEQUENCES_MOST);
	return count < 2.0 * batch ? 2 * batch : (uint32_t)count;
}

static enum kwhy_status run_window(struct work *work, struct kwhy_decode *decode,
	const struct kwhy_decode_arrivals *arrivals, const char *window, struct kwhy_decode_served *served,
	struct kwhy_error *error)
{
	enum kwhy_status status = work->energy ? kwhy_device_energy_begin(work->energy, window, error)
					       : KWHY_OK;

	if (status)
		return status;
	status = kwhy_decode_serve(decode, arrivals, served, error);
	if (work->energy)
		kwhy_device_energy_end(work->energy);
	return status;
}

static enum kwhy_status run_serving(struct work *work, const struct kwhy_bench_decode_row *row,
	struct kwhy_bench_decode_serving *serving, bool continuous, struct kwhy_decode *decode,
	struct kwhy_error *error)
{
	const struct kwhy_decode_arrivals arrivals = {.rate_per_s = work->request->arrivals_per_s,
		.count = sequence_count(work, row->batch),
		.seed = 1,
		.continuous = continuous};
	double *times = calloc(arrivals.count, 2 * sizeof(*times));
	struct kwhy_decode_served served = {.first_s = times, .whole_s = times + arrivals.count};
	enum kwhy_status status;

	if (!times)
		return kwhy_fail_memory(error, "the times of sequences");
	status = run_window(work, decode, &arrivals, serving->window, &served, error);
	if (!status) {
		serving->sequences = arrivals.count;
		serving->seconds = served.seconds;
		serving->pages_most = served.pages_most;
		if (row->page)
			serving->pages_mean = (double)served.page_steps / (double)served.steps;
		serving->tokens = served.tokens;
		serving->steps = served.steps;
		serving->busy_ratio = (double)served.seat_steps / ((double)served.steps * row->batch);
		kwhy_median_of(served.first_s, arrivals.count, &serving->first_s);
		kwhy_median_of(served.whole_s, arrivals.count, &serving->whole_s);
	}
	free(times);
	return status;
}

/* What cannot be launched so says why. */
static enum kwhy_status run_servings(struct work *work, struct kwhy_bench_decode_row *row,
	struct kwhy_decode *decode, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (int s = 0; !status && work->request->arrivals_per_s > 0 && s < KWHY_DECODE_SEATING_COUNT; s++) {
		status = run_serving(work, row, &row->serving[s], s == KWHY_DECODE_CONTINUOUS, decode, error);
		if (status != KWHY_E_UNSUPPORTED)
			continue;
		row->serving[s].missing = kwhy_arena_copy(&work->bench->arena, error->text);
		status = row->serving[s].missing ? KWHY_OK : kwhy_fail_memory(error, "a reason");
	}
	return status;
}

/* Root of the mean square of what logits are off by, of theirs: more than so is no rounding. */
static double error_most(const struct kwhy_bench_decode_row *row)
{
	static const double most[KWHY_DECODE_WEIGHTS_COUNT] = {[KWHY_DECODE_FP32] = 1e-3,
		[KWHY_DECODE_TF32] = 0.02,
		[KWHY_DECODE_BF16] = 0.1,
		[KWHY_DECODE_FP16] = 0.02,
		[KWHY_DECODE_FP8] = 0.3,
		[KWHY_DECODE_INT8] = 0.1,
		[KWHY_DECODE_INT4] = 0.8,
		[KWHY_DECODE_SPARSE] = 0.1};

	return row->has_short_cache ? fmax(most[row->weights], SHORT_CACHE_ERROR) : most[row->weights];
}

static enum kwhy_status check(struct work *work, struct kwhy_bench_decode_row *row,
	struct kwhy_decode *decode, struct kwhy_error *error)
{
	double most = error_most(row);
	struct kwhy_decode_error found;
	enum kwhy_status status = kwhy_decode_check(decode, &work->answer, &row->error, error);

	found = row->error;
	/* What is dropped is no mistake: what is kept is held against a reference that lacks it, too. */
	if (!status && row->weights == KWHY_DECODE_SPARSE) {
		status = kwhy_decode_check(decode, &work->pruned, &found, error);
		row->pruned_error = found.relative;
	}
	if (status || found.relative <= most)
		return status;
	return kwhy_fail(error, KWHY_E_UNSUPPORTED,
		"its logits are %.3g of their size from the reference, more than the %.3g of %s: its tokens "
		"are wrong",
		found.relative, most,
		row->has_short_cache && most == SHORT_CACHE_ERROR ? "keys and values in fp8"
								  : kwhy_decode_weights_name(row->weights));
}

static enum kwhy_status check_beams(struct work *work, struct kwhy_bench_decode_row *row,
	struct kwhy_decode *decode, struct kwhy_error *error)
{
	double most = 2 * error_most(row);
	enum kwhy_status status;

	if (work->bench->beams < 2)
		return KWHY_OK;
	/* Logits have a standard deviation of 2, so that their errors are twice as large as relative ones. */
	status = kwhy_decode_beam_check(decode, &row->beam_error, error);
	if (status || row->beam_error <= most)
		return status;
	return kwhy_fail(error, KWHY_E_UNSUPPORTED,
		"the likeliest way of its beams is %.3g a token from the reference, more than the %.3g of "
		"%s: its "
		"tokens are wrong",
		row->beam_error, most, kwhy_decode_weights_name(row->weights));
}

static enum kwhy_status name_products(struct work *work, struct kwhy_bench_decode_row *row,
	const struct kwhy_decode *decode, struct kwhy_error *error)
{
	for (int p = 0; p < KWHY_DECODE_PHASE_COUNT; p++) {
		row->phases[p].products = kwhy_arena_copy(
			&work->bench->arena, kwhy_decode_products(decode, p == KWHY_DECODE_READING));
		if (!row->phases[p].products)
			return kwhy_fail_memory(error, "who made the products");
	}
	return KWHY_OK;
}

static enum kwhy_status run_decoder(
	struct work *work, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	const struct kwhy_decode_request request = {.gpu = work->gpus.items[0],
		.peers = work->gpus.items + 1,
		.peer_count = row->ranks - 1,
		.shape = work->bench->shape,
		.weights = row->weights,
		.launching = row->launching,
		.products = work->products,
		.slots = row->batch * work->bench->beams,
		.beams = work->bench->beams,
		.prompt = work->bench->prompt,
		.tokens = work->bench->tokens,
		.page = row->page,
		.has_short_cache = row->has_short_cache,
		.choice = work->bench->choice};
	struct kwhy_decode *decode = NULL;
	enum kwhy_status status;

	if (row->ranks > work->gpus.count)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s %u of the %u GPUs that it is to run on",
			work->request->devices ? "--device names" : "this machine has", work->gpus.count,
			row->ranks);
	status = kwhy_decode_open(&request, &decode, error);
	if (!status)
		status = check(work, row, decode, error);
	if (!status)
		status = check_beams(work, row, decode, error);
	if (!status)
		status = run_phases(work, row, decode, error);
	if (!status)
		status = run_steps(work, row, decode, error);
	if (!status)
		status = run_servings(work, row, decode, error);
	if (!status)
		status = run_alone(work, row, decode, error);
	if (!status)
		status = name_products(work, row, decode, error);
	if (!status) {
		row->kernels = kwhy_decode_kernel_count(decode);
		row->weight_bytes = kwhy_decode_weights_bytes(decode);
		row->token_bytes = kwhy_decode_token_bytes(decode);
		row->cache_bytes = kwhy_decode_cache_bytes(decode);
	}
	kwhy_decode_close(decode);
	return status;
}

/* What it lacks the memory for is a row without figures, as is what the GPU cannot do. */
static enum kwhy_status run_row(
	struct work *work, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	enum kwhy_status status;

	tell(work, row->id);
	status = run_decoder(work, row, error);
	if (status != KWHY_E_UNSUPPORTED && status != KWHY_E_MEMORY)
		return status;
	row->missing = kwhy_arena_copy(&work->bench->arena, error->text);
	return row->missing ? KWHY_OK : kwhy_fail_memory(error, "a reason");
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

static void read_row(struct work *work, struct kwhy_bench_decode_row *row)
{
	struct kwhy_arena *arena = &work->bench->arena;

	for (int p = 0; p < KWHY_DECODE_PHASE_COUNT; p++) {
		kwhy_bench_meters_of(
			work->energy, row->phases[p].window, row->ranks, arena, &row->phases[p].energy);
		if (row->ranks > 1)
			kwhy_bench_meters_of(
				work->energy, row->alone[p].window, row->ranks, arena, &row->alone[p].energy);
	}
	for (int s = 0; s < KWHY_DECODE_SEATING_COUNT; s++)
		if (row->serving[s].sequences)
			kwhy_bench_meters_of(work->energy, row->serving[s].window, row->ranks, arena,
				&row->serving[s].energy);
}

static enum kwhy_status read_meters(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_decode *bench = work->bench;
	enum kwhy_status status = kwhy_bench_meters_read(
		work->energy, &bench->arena, &bench->energy_missing, error);

	for (size_t i = 0; !status && i < bench->row_count; i++)
		read_row(work, &bench->rows[i]);
	return status;
}

static enum kwhy_status run_rows(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_decode *bench = work->bench;
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < bench->row_count; i++) {
		status = run_row(work, &bench->rows[i], error);
		if (status == KWHY_E_LOST) {
			bench->row_count = i + 1;
			return kwhy_bench_end_early(&bench->arena, &bench->row_count, &bench->ended, error);
		}
	}
	return status;
}

/* As many of the first ones as any row wants and there are; none is left to the opening, which says so. */
static enum kwhy_status list_first(
	const struct work *work, char out[sizeof(first_gpus)], struct kwhy_error *error)
{
	const struct kwhy_bench_decode *bench = work->bench;
	uint32_t wanted = 1, count = 0;
	enum kwhy_status status = kwhy_gpu_count(work->request->backend, &count, error);

	for (size_t i = 0; i < bench->row_count; i++)
		wanted = bench->rows[i].ranks > wanted ? bench->rows[i].ranks : wanted;
	if (count > 0 && wanted > count)
		wanted = count;
	snprintf(out, (size_t)2 * wanted, "%s", first_gpus);
	return status;
}

static enum kwhy_status open_gpus(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_decode *bench = work->bench;
	char first[sizeof(first_gpus)];
	enum kwhy_status status = work->request->devices ? KWHY_OK : list_first(work, first, error);

	if (!status)
		status = kwhy_bench_gpus_open(work->request->backend,
			work->request->devices ? work->request->devices : first, &work->gpus, error);
	if (status)
		return status;
	bench->gpu = work->gpus.items[0]->facts;
	bench->gpu_count = work->gpus.count;
	return KWHY_OK;
}

static enum kwhy_status run_references(struct work *work, struct kwhy_error *error)
{
	const struct kwhy_bench_decode *bench = work->bench;
	bool is_pruned = false;
	enum kwhy_status status = kwhy_decode_answer_init(bench->shape, &work->answer, error);

	for (size_t i = 0; i < bench->row_count; i++)
		is_pruned = is_pruned || bench->rows[i].weights == KWHY_DECODE_SPARSE;
	return status || !is_pruned ? status
				    : kwhy_decode_answer_init_pruned(bench->shape, &work->pruned, error);
}

static enum kwhy_status run_all(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = open_gpus(work, error);

	if (status)
		return status;
	tell(work, "reference");
	status = run_references(work, error);
	if (!status)
		status = open_meters(work, error);
	if (!status)
		status = run_rows(work, error);
	return status ? status : read_meters(work, error);
}

static void close_all(struct work *work)
{
	kwhy_device_energy_close(work->energy);
	kwhy_bench_gpus_close(&work->gpus);
	kwhy_decode_answer_done(&work->answer);
	kwhy_decode_answer_done(&work->pruned);
}

enum kwhy_status kwhy_bench_decode(const struct kwhy_bench_decode_request *request,
	struct kwhy_bench_decode **out, struct kwhy_error *error)
{
	struct work work = {.request = request, .bench = calloc(1, sizeof(*work.bench))};
	enum kwhy_status status;

	if (!work.bench)
		return kwhy_fail_memory(error, "a benchmark");
	work.bench->backend = request->backend;
	work.bench->prompt = request->prompt;
	work.bench->tokens = request->tokens;
	work.bench->choice = request->choice;
	work.bench->beams = request->beams;
	work.bench->arrivals_per_s = request->arrivals_per_s;
	status = kwhy_bench_decode_plan(request, work.bench, &work.products, error);
	if (!status)
		status = run_all(&work, error);
	close_all(&work);
	if (status)
		kwhy_bench_decode_free(work.bench);
	else
		*out = work.bench;
	return status;
}

void kwhy_bench_decode_free(struct kwhy_bench_decode *bench)
{
	if (!bench)
		return;
	kwhy_arena_done(&bench->arena);
	free(bench);
}
