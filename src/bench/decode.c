/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/decode.h"

#include "bench/gpu_list.h"
#include "bench/series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS_KEPT = 1024, SEQUENCES_MOST = 100000 };

/* A benchmark under way. */
struct work {
	const struct kwhy_bench_decode_request *request;
	struct kwhy_bench_decode *bench;
	struct kwhy_gpu *gpu;
	struct kwhy_device_energy *energy; /* NULL: not asked for */
	struct kwhy_decode_answer answer;
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

/* --- What is asked for --- */

static enum kwhy_status find_weights(
	const char *word, enum kwhy_decode_weights *out, struct kwhy_error *error)
{
	for (int i = 0; i < KWHY_DECODE_WEIGHTS_COUNT; i++)
		if (strcmp(word, kwhy_decode_weights_name((enum kwhy_decode_weights)i)) == 0) {
			*out = (enum kwhy_decode_weights)i;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_USAGE,
		"--weights takes fp32, tf32, bf16, fp16, fp8, int8 and int4, not '%s'", word);
}

static enum kwhy_status find_launching(
	const char *word, enum kwhy_decode_launching *out, struct kwhy_error *error)
{
	for (int i = 0; i < KWHY_DECODE_LAUNCHING_COUNT; i++)
		if (strcmp(word, kwhy_decode_launching_name((enum kwhy_decode_launching)i)) == 0) {
			*out = (enum kwhy_decode_launching)i;
			return KWHY_OK;
		}
	return kwhy_fail(
		error, KWHY_E_USAGE, "--launch takes calls, graph, early and device, not '%s'", word);
}

static enum kwhy_status find_batch(const char *word, uint32_t *out, struct kwhy_error *error)
{
	char *end;
	unsigned long batch = strtoul(word, &end, 10);

	if (*word < '0' || *word > '9' || *end || batch < 1 || batch > KWHY_DECODE_SLOTS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--batch takes numbers from 1 to %d, such as 1,8,64; not '%s'",
			KWHY_DECODE_SLOTS_MOST, word);
	*out = (uint32_t)batch;
	return KWHY_OK;
}

static enum kwhy_status plan_serving(
	struct kwhy_bench_decode *bench, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	const struct kwhy_median none = {0, NAN, NAN, NAN, NAN, NAN, NAN};

	for (int s = 0; s < KWHY_DECODE_SEATING_COUNT; s++) {
		row->serving[s] = (struct kwhy_bench_decode_serving){.busy_ratio = NAN,
			.first_s = none,
			.whole_s = none,
			.energy = kwhy_window_joules_unknown()};
		row->serving[s].window = kwhy_arena_printf(&bench->arena, "%s %s", row->id,
			kwhy_decode_seating_name((enum kwhy_decode_seating)s));
		if (!row->serving[s].window)
			return kwhy_fail_memory(error, "the rows of a benchmark");
	}
	return KWHY_OK;
}

static enum kwhy_status add_row(
	struct kwhy_bench_decode *bench, const struct kwhy_bench_decode_row *like, struct kwhy_error *error)
{
	const struct kwhy_median none = {0, NAN, NAN, NAN, NAN, NAN, NAN};
	struct kwhy_bench_decode_row *row = &bench->rows[bench->row_count];

	if (bench->row_count == KWHY_BENCH_DECODE_ROWS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE, "the lists make more than %d rows; ask for fewer",
			KWHY_BENCH_DECODE_ROWS_MOST);
	*row = *like;
	row->id = kwhy_arena_printf(&bench->arena, "%s b%u %s", kwhy_decode_weights_name(row->weights),
		row->batch, kwhy_decode_launching_name(row->launching));
	row->error = (struct kwhy_decode_error){NAN, NAN, NAN};
	row->step_s = none;
	for (int p = 0; p < KWHY_DECODE_PHASE_COUNT; p++) {
		const char *name = kwhy_decode_phase_name((enum kwhy_decode_phase)p);

		row->phases[p] = (struct kwhy_bench_decode_phase){
			.run_s = none, .energy = kwhy_window_joules_unknown()};
		row->phases[p].tokens = (uint64_t)row->batch * (p ? bench->tokens : bench->prompt);
		row->phases[p].window = kwhy_arena_printf(&bench->arena, "%s %s", row->id, name);
		if (!row->id || !row->phases[p].window)
			return kwhy_fail_memory(error, "the rows of a benchmark");
	}
	bench->row_count++;
	return plan_serving(bench, row, error);
}

static enum kwhy_status plan_batches(
	struct work *work, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	const char *batches = work->request->batches, *launches;
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_bench_list_next(&batches, word)) {
		status = find_batch(word, &row->batch, error);
		launches = work->request->launches;
		while (!status && kwhy_bench_list_next(&launches, word)) {
			status = find_launching(word, &row->launching, error);
			if (!status)
				status = add_row(work->bench, row, error);
		}
	}
	return status;
}

static enum kwhy_status plan(struct work *work, struct kwhy_error *error)
{
	const char *weights = work->request->weights;
	struct kwhy_bench_decode_row row = {0};
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status = KWHY_OK;

	while (!status && kwhy_bench_list_next(&weights, word)) {
		status = find_weights(word, &row.weights, error);
		if (!status)
			status = plan_batches(work, &row, error);
	}
	if (!status && !work->bench->row_count)
		return kwhy_fail(error, KWHY_E_USAGE,
			"bench decode has nothing to run: --weights, --batch and --launch each name at least "
			"one");
	return status;
}

static enum kwhy_status find_shape(struct work *work, struct kwhy_error *error)
{
	const struct kwhy_decode_shape *shape = kwhy_decode_shape_find(work->request->shape);

	if (!shape)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--shape takes opt-125m, opt-1.3b or small, not '%.40s'", work->request->shape);
	if (work->request->prompt < 2 || work->request->tokens < 2 ||
		work->request->prompt + work->request->tokens > shape->positions)
		return kwhy_fail(error, KWHY_E_USAGE,
			"--prompt and --tokens take at least 2 each, and together at most the %u positions "
			"of %s",
			shape->positions, shape->name);
	work->bench->shape = shape;
	return KWHY_OK;
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
static double error_most(enum kwhy_decode_weights weights)
{
	static const double most[KWHY_DECODE_WEIGHTS_COUNT] = {[KWHY_DECODE_FP32] = 1e-3,
		[KWHY_DECODE_TF32] = 0.02,
		[KWHY_DECODE_BF16] = 0.1,
		[KWHY_DECODE_FP16] = 0.02,
		[KWHY_DECODE_FP8] = 0.3,
		[KWHY_DECODE_INT8] = 0.1,
		[KWHY_DECODE_INT4] = 0.8};

	return most[weights];
}

static enum kwhy_status check(struct work *work, struct kwhy_bench_decode_row *row,
	struct kwhy_decode *decode, struct kwhy_error *error)
{
	double most = error_most(row->weights);
	enum kwhy_status status = kwhy_decode_check(decode, &work->answer, &row->error, error);

	if (status || row->error.relative <= most)
		return status;
	return kwhy_fail(error, KWHY_E_UNSUPPORTED,
		"its logits are %.3g of their size from the reference, more than the %.3g of %s: its tokens "
		"are wrong",
		row->error.relative, most, kwhy_decode_weights_name(row->weights));
}

static enum kwhy_status run_decoder(
	struct work *work, struct kwhy_bench_decode_row *row, struct kwhy_error *error)
{
	const struct kwhy_decode_request request = {.gpu = work->gpu,
		.shape = work->bench->shape,
		.weights = row->weights,
		.launching = row->launching,
		.slots = row->batch,
		.prompt = work->bench->prompt,
		.tokens = work->bench->tokens,
		.choice = work->bench->choice};
	struct kwhy_decode *decode = NULL;
	enum kwhy_status status = kwhy_decode_open(&request, &decode, error);

	if (!status)
		status = check(work, row, decode, error);
	if (!status)
		status = run_phases(work, row, decode, error);
	if (!status)
		status = run_steps(work, row, decode, error);
	if (!status)
		status = run_servings(work, row, decode, error);
	if (!status) {
		row->kernels = kwhy_decode_kernel_count(decode);
		row->weight_bytes = kwhy_decode_weights_bytes(decode);
		row->token_bytes = kwhy_decode_token_bytes(decode);
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
		work->bench->energy_missing = "not asked for";
		return KWHY_OK;
	}
	tell(work, "idle");
	return kwhy_bench_meters_open(&work->gpu, 1, &work->energy, error);
}

static void read_row(struct work *work, struct kwhy_bench_decode_row *row)
{
	struct kwhy_arena *arena = &work->bench->arena;

	for (int p = 0; p < KWHY_DECODE_PHASE_COUNT; p++)
		kwhy_bench_meters_of(work->energy, row->phases[p].window, 1, arena, &row->phases[p].energy);
	for (int s = 0; s < KWHY_DECODE_SEATING_COUNT; s++)
		if (row->serving[s].sequences)
			kwhy_bench_meters_of(
				work->energy, row->serving[s].window, 1, arena, &row->serving[s].energy);
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

static enum kwhy_status run_all(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_gpu_open(
		work->request->backend, work->request->device, &work->gpu, error);

	if (status)
		return status;
	work->bench->gpu = work->gpu->facts;
	tell(work, "reference");
	status = kwhy_decode_answer_init(work->bench->shape, &work->answer, error);
	if (!status)
		status = open_meters(work, error);
	if (!status)
		status = run_rows(work, error);
	return status ? status : read_meters(work, error);
}

static void close_all(struct work *work)
{
	kwhy_device_energy_close(work->energy);
	if (work->gpu)
		work->gpu->ops->close(work->gpu);
	kwhy_decode_answer_done(&work->answer);
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
	work.bench->arrivals_per_s = request->arrivals_per_s;
	status = find_shape(&work, error);
	if (!status)
		status = plan(&work, error);
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
