/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/flow/bench.h"

#include "bench/busy_gauge.h"
#include "bench/gpu_list.h"
#include "bench/ops/ops.h"
#include "bench/series.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEAK_S 0.2
#define CPU_ID "cpu"

enum { PEAK_BYTES = 16 << 20, PEAK_SEED = 1 };

/* Of the proof with many flows: enough for each block of a large GPU to take several parts of them in turn.
 */
enum { CROWD_FLOWS = 20000, CROWD_STEPS = 3 };

/* A benchmark under way. */
struct work {
	const struct kwhy_bench_flow_request *request;
	struct kwhy_bench_flow *bench;
	struct kwhy_bench_gpus gpus;
	struct kwhy_gpu *gpu;		   /* the first of them; NULL: there is none */
	struct kwhy_device_energy *energy; /* NULL: not asked for */
	struct kwhy_busy_gauge gauge;
	/* Of the number of flows at hand: places over all steps, and a shorter run with its numbers. */
	struct kwhy_flow_answer places, numbers;
	struct kwhy_flow_answer crowd; /* numbers of more flows and fewer steps; flows 0: there are none */
};

static void tell(const struct work *work, const char *what)
{
	if (work->request->progress)
		work->request->progress(work->request->context, what);
}

/* --- What is asked for --- */

static bool is_variant(const char *word)
{
	return strcmp(word, CPU_ID) == 0 || kwhy_flow_variant_find(word);
}

static enum kwhy_status check_variants(const char *list, struct kwhy_error *error)
{
	char word[KWHY_LIST_WORD_BYTES];

	if (kwhy_bench_list_unknown(list, is_variant, word))
		return kwhy_fail(error, KWHY_E_USAGE,
			"flow has no variant '%s'; there are n0, n0c, n0p, n0t, n1 to n5, n2t, n5w, n6 and "
			"cpu",
			word);
	return KWHY_OK;
}

/* The next number of flows of a list; *out is 0 at its end. */
static enum kwhy_status next_flows(const char **list, uint32_t *out, struct kwhy_error *error)
{
	char word[KWHY_LIST_WORD_BYTES], *end;
	unsigned long value;

	*out = 0;
	if (!kwhy_bench_list_next(list, word))
		return KWHY_OK;
	value = strtoul(word, &end, 10);
	if (word[0] < '0' || word[0] > '9' || *end || value < 1 || value > KWHY_FLOW_FLOWS_MOST)
		return kwhy_fail(error, KWHY_E_USAGE, "--flows takes numbers from 1 to %d, not '%.40s'",
			KWHY_FLOW_FLOWS_MOST, word);
	*out = (uint32_t)value;
	return KWHY_OK;
}

/* All must fit and be numbers before anything is measured. */
static enum kwhy_status check_flows(const char *list, struct kwhy_error *error)
{
	size_t count = 0;
	uint32_t flows;
	enum kwhy_status status = next_flows(&list, &flows, error);

	for (; !status && flows; count++)
		status = next_flows(&list, &flows, error);
	if (!status && (count < 1 || count * (kwhy_flow_variant_count + 1) > KWHY_BENCH_FLOW_ROWS_MOST))
		return kwhy_fail(error, KWHY_E_USAGE, "--flows takes 1 to %zu numbers, not %zu",
			KWHY_BENCH_FLOW_ROWS_MOST / (kwhy_flow_variant_count + 1), count);
	return status;
}

/* --- Peaks of arithmetic, by the rows of bench ops --- */

static enum kwhy_status measure_peaks(struct work *work, struct kwhy_error *error)
{
	static const char *const ids[KWHY_FLOW_PRECISION_COUNT] = {"fp32", "tf32-tensor", "bf16-tensor"};
	const struct kwhy_bench_ops_request request = {.backend = work->request->backend,
		.devices = work->request->device,
		.rows = "fp32,tf32-tensor,bf16-tensor",
		.seconds = PEAK_S,
		.memory_bytes = PEAK_BYTES,
		.seed = PEAK_SEED};
	struct kwhy_bench_ops *ops;
	enum kwhy_status status;

	for (size_t p = 0; p < KWHY_FLOW_PRECISION_COUNT; p++)
		work->bench->peak_flop_per_s[p] = NAN;
	if (!work->request->peaks)
		return KWHY_OK;
	tell(work, "peaks of arithmetic");
	status = kwhy_bench_ops(&request, &ops, error);
	if (status)
		return status;
	for (size_t p = 0; p < KWHY_FLOW_PRECISION_COUNT; p++)
		for (size_t i = 0; i < ops->row_count; i++)
			if (strcmp(ops->rows[i].id, ids[p]) == 0 && !ops->rows[i].missing)
				work->bench->peak_flop_per_s[p] = ops->rows[i].count / ops->rows[i].seconds;
	kwhy_bench_ops_free(ops);
	return KWHY_OK;
}

/* --- Times --- */

/* Runs of one row. */
struct runs {
	struct work *work;
	struct kwhy_bench_flow_row *row;
	struct kwhy_flow *flow;
	double busy_s, busy_run_s;
};

static enum kwhy_status run_once(void *context, size_t number, double *out_s, struct kwhy_error *error)
{
	struct runs *runs = context;
	struct kwhy_bench_flow_row *row = runs->row;
	bool is_kept = number < KWHY_BENCH_FLOW_RUNS_KEPT;
	struct kwhy_flow_result result = {.step_s = is_kept ? row->step_times + number * row->steps : NULL};
	enum kwhy_status status = kwhy_flow_run(runs->flow, &runs->work->places, &result, error);

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

static enum kwhy_status sum_up(struct runs *runs, struct kwhy_error *error)
{
	struct kwhy_bench_flow_row *row = runs->row;
	double flow_steps = (double)row->flows * row->steps,
	       peak = runs->work->bench->peak_flop_per_s[row->precision];

	row->flow_steps_per_s = flow_steps / row->run_s.median;
	row->busy_ratio = runs->busy_s / runs->busy_run_s;
	row->roofline_ratio = row->flow_steps_per_s * KWHY_FLOW_FLOP / (peak * row->gpu_count);
	return kwhy_bench_steps_sum_up(
		row->step_times, row->kept_runs * row->steps, &row->step_s, &row->step_p99_s, error);
}

static enum kwhy_status run_timed(struct runs *runs, struct kwhy_error *error)
{
	struct work *work = runs->work;
	struct kwhy_bench_flow_row *row = runs->row;
	struct kwhy_bench_series series = {.run = run_once,
		.context = runs,
		.repeat = work->request->repeat,
		.kept_most = KWHY_BENCH_FLOW_RUNS_KEPT,
		.energy = work->energy,
		.window = row->name,
		.window_s = work->request->energy_s,
		.gauge = &work->gauge};
	enum kwhy_status status = kwhy_bench_series_run(&series, error);

	row->run_count = series.run_count;
	row->energy_runs = series.energy_runs;
	if (series.energy_runs)
		row->nvml_ratio = kwhy_busy_gauge_mean(&work->gauge);
	if (status)
		return status;
	row->run_s = series.run_s;
	return sum_up(runs, error);
}

/* The first run is not timed. */
static enum kwhy_status run_row(struct runs *runs, struct kwhy_error *error)
{
	struct kwhy_bench_flow_row *row = runs->row;
	struct kwhy_flow_result warm = {0};
	enum kwhy_status status;

	row->step_times = kwhy_arena_alloc(&runs->work->bench->arena,
		(size_t)KWHY_BENCH_FLOW_RUNS_KEPT * row->steps, sizeof(*row->step_times));
	if (!row->step_times)
		return kwhy_fail_memory(error, "the times of runs");
	status = kwhy_flow_run(runs->flow, &runs->work->places, &warm, error);
	return status ? status : run_timed(runs, error);
}

/* --- Rows --- */

static const struct kwhy_bench_flow_proof no_proof = {
	.numbers = {NAN, NAN, NAN, NAN, NAN, NAN, 0}, .tolerance = NAN};

static enum kwhy_status add_row(struct work *work, const struct kwhy_flow_variant *variant, uint32_t flows,
	struct kwhy_bench_flow_row **out, struct kwhy_error *error)
{
	static const struct kwhy_flow_variant reference = {
		.id = CPU_ID, .title = "one core of the host", .change = "no GPU: the reference itself"};
	struct kwhy_bench_flow_row *row = &work->bench->rows[work->bench->row_count++];
	const struct kwhy_median none = {0, NAN, NAN, NAN, NAN, NAN, NAN};
	bool on_gpu = variant != NULL;
	char name[48];

	variant = variant ? variant : &reference;
	snprintf(name, sizeof(name), "%s, %u flows", variant->id, flows);
	*row = (struct kwhy_bench_flow_row){.id = variant->id,
		.title = variant->title,
		.change = variant->change,
		.after = variant->after,
		.name = kwhy_arena_copy(&work->bench->arena, name),
		.on_gpu = on_gpu,
		.flows = flows,
		.steps = on_gpu ? work->bench->steps : work->numbers.shape.steps,
		.products = "own code",
		.run_s = none,
		.step_s = none,
		.step_p99_s = NAN,
		.flow_steps_per_s = NAN,
		.nvml_ratio = NAN,
		.busy_ratio = NAN,
		.roofline_ratio = NAN,
		.proof = no_proof,
		.crowd = no_proof,
		.apart_run_s = NAN,
		.energy = kwhy_window_joules_unknown()};
	for (size_t c = 0; c < KWHY_FLOW_COMPONENT_COUNT; c++)
		row->components[c] = (struct kwhy_bench_flow_component){NAN, NAN, NAN};
	*out = row;
	if (!row->name)
		return kwhy_fail_memory(error, "a row");
	tell(work, row->name);
	return KWHY_OK;
}

/* The run that made the reference's numbers, once more: it was timed. */
static enum kwhy_status run_cpu(struct work *work, uint32_t flows, struct kwhy_error *error)
{
	struct kwhy_bench_flow_row *row;
	double seconds = work->numbers.seconds;
	enum kwhy_status status = add_row(work, NULL, flows, &row, error);

	if (status)
		return status;
	if (work->numbers.shape.flows != flows) {
		row->missing = "one core has no part in so many flows; see its row of fewer";
		return KWHY_OK;
	}
	row->run_count = 1;
	kwhy_median_of(&seconds, 1, &row->run_s);
	row->flow_steps_per_s = (double)flows * row->steps / seconds;
	return KWHY_OK;
}

/* For the variant that takes several. */
static struct kwhy_gpu *const *others_of(const struct work *work)
{
	return work->gpus.items + 1;
}

/* What it carries, after a run of a shape that the reference has numbers of. */
static enum kwhy_status prove(struct work *work, const struct kwhy_flow_variant *variant,
	const struct kwhy_flow_answer *answer, struct kwhy_bench_flow_proof *out, struct kwhy_error *error)
{
	const struct kwhy_flow_request request = {work->gpu, answer->shape, variant, work->request->precision,
		others_of(work), work->gpus.count - 1, work->request->by_nccl};
	struct kwhy_flow_result result = {0};
	struct kwhy_flow *flow = NULL;
	enum kwhy_status status = kwhy_flow_open(&request, &flow, error);

	if (!status)
		status = kwhy_flow_run(flow, answer, &result, error);
	if (!status)
		status = kwhy_flow_read(flow, answer, &out->numbers, error);
	if (!status) {
		out->flows = request.shape.flows;
		out->steps = request.shape.steps;
		out->tolerance = kwhy_flow_tolerance(kwhy_flow_precision(flow));
	}
	kwhy_flow_close(flow);
	return status;
}

/*
 * A few flows that got wrong numbers hardly move the distance of all, so of many flows it is the worst number
 * that counts. In bf16 on an H100 it was within the tolerance in all runs of kernels that are right, and
 * beyond it in each of 16 runs of one whose blocks overwrote what they read.
 */
static enum kwhy_status prove_both(struct work *work, const struct kwhy_flow_variant *variant,
	struct kwhy_bench_flow_row *row, struct kwhy_error *error)
{
	enum kwhy_status status = prove(work, variant, &work->numbers, &row->proof, error);

	if (!status && work->crowd.shape.flows && variant->way != KWHY_FLOW_EACH)
		status = prove(work, variant, &work->crowd, &row->crowd, error);
	if (!status &&
		(row->proof.numbers.error_h > row->proof.tolerance ||
			row->crowd.numbers.worst_h > 2 * row->crowd.tolerance))
		row->wrong = "the state is further from the reference than its precision allows";
	return status;
}

/* Of variants that are no single kernel; what cannot be held back has none. */
static enum kwhy_status measure_busy(
	struct work *work, struct kwhy_flow *flow, struct kwhy_bench_flow_row *row, struct kwhy_error *error)
{
	double busy_s = NAN;
	enum kwhy_status status = kwhy_flow_busy(flow, &work->places, &busy_s, error);

	if (status == KWHY_E_UNSUPPORTED)
		return KWHY_OK;
	row->busy_ratio = kwhy_bench_busy_ratio(busy_s, row->run_s.median);
	return status;
}

/* A component that takes less of a run has no utilisation: its events cost as much. */
#define COMPONENT_LEAST_RATIO 1e-3

/* One by one, of variants whose components the host queues. */
static enum kwhy_status measure_components(
	struct work *work, struct kwhy_flow *flow, struct kwhy_bench_flow_row *row, struct kwhy_error *error)
{
	double flow_steps = (double)row->flows * row->steps,
	       peak = work->bench->peak_flop_per_s[row->precision];
	struct kwhy_flow_components parts;
	enum kwhy_status status = kwhy_flow_components_measure(flow, &work->places, &parts, error);

	if (status)
		return status == KWHY_E_UNSUPPORTED ? KWHY_OK : status;
	row->apart_run_s = parts.run_s;
	for (size_t c = 0; c < KWHY_FLOW_COMPONENT_COUNT; c++) {
		double seconds = parts.host_s[c], flop = flow_steps * kwhy_flow_components_all[c].flop;

		if (!(seconds > 0))
			continue;
		row->components[c].time_ratio = seconds / parts.run_s;
		if (row->components[c].time_ratio >= COMPONENT_LEAST_RATIO)
			row->components[c].busy_ratio = kwhy_bench_busy_ratio(parts.busy_s[c], seconds);
		if (flop > 0)
			row->components[c].roofline_ratio = flop / seconds / peak;
	}
	return KWHY_OK;
}

static enum kwhy_status measure(struct work *work, const struct kwhy_flow_variant *variant,
	struct kwhy_bench_flow_row *row, struct kwhy_error *error)
{
	struct runs runs = {.work = work, .row = row};
	const struct kwhy_flow_request request = {work->gpu,
		kwhy_flow_shape_of(row->flows, row->steps, work->bench->by_argmax), variant,
		work->request->precision, others_of(work), work->gpus.count - 1, work->request->by_nccl};
	enum kwhy_status status = kwhy_flow_open(&request, &runs.flow, error);

	if (status)
		return status;
	row->precision = kwhy_flow_precision(runs.flow);
	row->device_clock = kwhy_flow_on_device(runs.flow);
	row->gpu_count = kwhy_flow_gpu_count(runs.flow);
	row->memory_bytes = kwhy_flow_memory_bytes(runs.flow);
	row->products = kwhy_arena_copy(&work->bench->arena, kwhy_flow_products(runs.flow));
	status = row->products ? run_row(&runs, error) : kwhy_fail_memory(error, "a row");
	if (!status && isnan(row->busy_ratio) && !work->request->runs_only)
		status = measure_busy(work, runs.flow, row, error);
	if (!status && work->request->components)
		status = measure_components(work, runs.flow, row, error);
	kwhy_flow_close(runs.flow);
	return status;
}

static enum kwhy_status run_variant(
	struct work *work, const struct kwhy_flow_variant *variant, uint32_t flows, struct kwhy_error *error)
{
	struct kwhy_bench_flow_row *row;
	const char **reason;
	enum kwhy_status status = add_row(work, variant, flows, &row, error);

	if (!status && variant->way == KWHY_FLOW_SPLIT && work->gpus.count < 2) {
		row->missing = "it is for several GPUs; name them, as --device 0,1";
		return KWHY_OK;
	}
	if (!status && !work->request->runs_only)
		status = prove_both(work, variant, row, error);
	if (!status)
		status = measure(work, variant, row, error);
	if (status != KWHY_E_UNSUPPORTED && status != KWHY_E_INPUT)
		return status;
	reason = status == KWHY_E_INPUT ? &row->wrong : &row->missing;
	*reason = kwhy_arena_copy(&work->bench->arena, error->text);
	return *reason ? KWHY_OK : kwhy_fail_memory(error, "a reason");
}

/* Where a variant that has text will run. */
static bool wants_texts(const struct work *work, uint32_t flows)
{
	bool found = false;

	for (size_t i = 0; i < kwhy_flow_variant_count; i++)
		found = found ||
			(kwhy_flow_variants[i].text &&
				kwhy_bench_list_has(work->request->variants, kwhy_flow_variants[i].id));
	return found && (uint64_t)flows * work->bench->steps <= KWHY_FLOW_TEXT_FLOW_STEPS;
}

static enum kwhy_status answer(struct work *work, uint32_t flows, struct kwhy_error *error)
{
	const struct kwhy_bench_flow *bench = work->bench;
	const struct kwhy_flow_shape whole = kwhy_flow_shape_of(flows, bench->steps, bench->by_argmax),
				     part = kwhy_flow_shape_of(
					     flows < KWHY_FLOW_FLOWS ? flows : KWHY_FLOW_FLOWS,
					     bench->steps < KWHY_FLOW_STEPS ? bench->steps : KWHY_FLOW_STEPS,
					     bench->by_argmax),
				     crowd = kwhy_flow_shape_of(
					     flows < CROWD_FLOWS ? flows : CROWD_FLOWS, CROWD_STEPS, false);
	unsigned parts = wants_texts(work, flows) ? KWHY_FLOW_TEXTS : 0;
	enum kwhy_status status;

	kwhy_flow_answer_done(&work->places);
	kwhy_flow_answer_done(&work->numbers);
	kwhy_flow_answer_done(&work->crowd);
	tell(work, "reference");
	status = kwhy_flow_reference(&part, parts | KWHY_FLOW_NUMBERS, &work->numbers, error);
	if (!status && flows > KWHY_FLOW_FLOWS && !bench->by_argmax && !work->request->runs_only)
		status = kwhy_flow_reference(&crowd, parts | KWHY_FLOW_NUMBERS, &work->crowd, error);
	/* Where flows choose their way, places would need all the numbers: only the short run has them. */
	if (!status && !bench->by_argmax)
		status = kwhy_flow_reference(&whole, parts, &work->places, error);
	return status;
}

static enum kwhy_status run_flows(struct work *work, uint32_t flows, struct kwhy_error *error)
{
	const char *list = work->request->variants;
	enum kwhy_status status = answer(work, flows, error);

	if (!status && kwhy_bench_list_has(list, CPU_ID))
		status = run_cpu(work, flows, error);
	for (size_t i = 0; !status && i < kwhy_flow_variant_count; i++)
		if (kwhy_bench_list_has(list, kwhy_flow_variants[i].id))
			status = run_variant(work, &kwhy_flow_variants[i], flows, error);
	return status;
}

/* --- Around it --- */

static enum kwhy_status open_all(struct work *work, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_gpus_open(
		work->request->backend, work->request->device, &work->gpus, error);

	work->gpu = work->gpus.count ? work->gpus.items[0] : NULL;
	if (status || !work->gpu)
		return status;
	work->bench->gpu = work->gpu->facts;
	kwhy_busy_gauge_open(work->gpu, &work->gauge);
	if (*work->gauge.missing)
		work->bench->nvml_missing = kwhy_arena_copy(&work->bench->arena, work->gauge.missing);
	if (work->request->energy_s <= 0) {
		work->bench->energy_missing = kwhy_bench_energy_unasked(work->request->backend);
		work->bench->nvml_missing = "it is of the runs for energy, which were not asked for";
		return KWHY_OK;
	}
	tell(work, "idle");
	return kwhy_bench_meters_open(work->gpus.items, work->gpus.count, &work->energy, error);
}

static enum kwhy_status read_meters(struct work *work, struct kwhy_error *error)
{
	struct kwhy_bench_flow *bench = work->bench;
	enum kwhy_status status = kwhy_bench_meters_read(
		work->energy, &bench->arena, &bench->energy_missing, error);

	for (size_t i = 0; !status && i < bench->row_count; i++) {
		struct kwhy_bench_flow_row *row = &bench->rows[i];

		if (row->energy_runs)
			kwhy_bench_meters_of(
				work->energy, row->name, row->gpu_count, &bench->arena, &row->energy);
	}
	return status;
}

static enum kwhy_status run_all(struct work *work, struct kwhy_error *error)
{
	const char *list = work->request->flows;
	uint32_t flows = 0;
	enum kwhy_status status = measure_peaks(work, error);

	if (!status)
		status = open_all(work, error);
	if (!status)
		status = next_flows(&list, &flows, error);
	while (!status && flows) {
		status = run_flows(work, flows, error);
		if (!status)
			status = next_flows(&list, &flows, error);
	}
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
	kwhy_busy_gauge_close(&work->gauge);
	kwhy_bench_gpus_close(&work->gpus);
	kwhy_flow_answer_done(&work->places);
	kwhy_flow_answer_done(&work->numbers);
	kwhy_flow_answer_done(&work->crowd);
}

enum kwhy_status kwhy_bench_flow(
	const struct kwhy_bench_flow_request *request, struct kwhy_bench_flow **out, struct kwhy_error *error)
{
	struct work work = {.request = request, .bench = calloc(1, sizeof(*work.bench))};
	enum kwhy_status status;

	if (!work.bench)
		return kwhy_fail_memory(error, "a benchmark");
	work.bench->backend = request->backend;
	work.bench->steps = request->steps;
	work.bench->by_argmax = request->by_argmax;
	status = check_variants(request->variants, error);
	if (!status)
		status = check_flows(request->flows, error);
	if (!status)
		status = run_all(&work, error);
	close_all(&work);
	if (status)
		kwhy_bench_flow_free(work.bench);
	else
		*out = work.bench;
	return status;
}

void kwhy_bench_flow_free(struct kwhy_bench_flow *bench)
{
	if (!bench)
		return;
	kwhy_arena_done(&bench->arena);
	free(bench);
}

struct kwhy_joules kwhy_bench_flow_per_million(
	const struct kwhy_bench_flow_row *row, const struct kwhy_joules *joules)
{
	double share = row->energy_runs ? 1e6 / ((double)row->energy_runs * row->flows * row->steps) : NAN;

	return kwhy_joules_times(joules, share);
}
