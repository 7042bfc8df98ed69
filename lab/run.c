/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/series.h"
#include "cli/bench/workload_show.h"
#include "lab/next.h"
#include "lab/workload.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct kwhy_median no_median = {0, NAN, NAN, NAN, NAN, NAN, NAN};

/* --- Options --- */

enum kwhy_status lab_bounds_check(
	const void *options, const struct lab_bounds *bounds, size_t count, struct kwhy_error *error)
{
	for (size_t i = 0; i < count; i++) {
		const struct lab_bounds *one = &bounds[i];
		uint64_t value;

		memcpy(&value, (const char *)options + one->offset, sizeof(value));
		if (value < one->least || value > one->most)
			return kwhy_fail(error, KWHY_E_USAGE, "--%s takes %llu to %llu", one->option,
				(unsigned long long)one->least, (unsigned long long)one->most);
	}
	return KWHY_OK;
}

/*
 * Joins names as "a, b and c"; `last` is " and " or " or ". The text is cut off after `bytes` - 1 characters.
 */
static const char *join(const char *const *names, size_t count, const char *last, char *out, size_t bytes)
{
	size_t length = 0;

	*out = '\0';
	for (size_t i = 0; i < count && length < bytes; i++) {
		const char *between = i == 0 ? "" : i + 1 == count ? last : ", ";

		length += (size_t)snprintf(out + length, bytes - length, "%s%s", between, names[i]);
	}
	return out;
}

static bool has_word(const char *const *names, size_t count, const char *word, size_t *out)
{
	for (*out = 0; *out < count; (*out)++)
		if (strcmp(word, names[*out]) == 0)
			return true;
	return false;
}

enum kwhy_status lab_word_find(const char *option, const char *word, const char *const *names, size_t count,
	size_t *out, struct kwhy_error *error)
{
	char all[160];

	if (has_word(names, count, word, out))
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_USAGE, "--%s takes %s, not '%.40s'", option,
		join(names, count, " or ", all, sizeof(all)), word);
}

/*
 * Removes the rows whose variant --variant does not name; without the option all stay. KWHY_E_USAGE: a word
 * of the option is no variant's id.
 */
static enum kwhy_status choose_rows(struct lab_bench *bench, struct kwhy_error *error)
{
	const char *list = bench->options->variants, *rest = list, *ids[LAB_ROWS_MAX];
	char word[KWHY_LIST_WORD_BYTES] = "", all[200];
	size_t count = 0, kept = 0, at;
	bool is_known = !list || *list;

	for (size_t i = 0; i < bench->row_count; i++)
		if (!has_word(ids, count, bench->rows[i].id, &at))
			ids[count++] = bench->rows[i].id;
	while (is_known && rest && kwhy_bench_list_next(&rest, word))
		is_known = has_word(ids, count, word, &at);
	if (!is_known)
		return kwhy_fail(error, KWHY_E_USAGE, "%s has no variant '%s'; there are %s",
			bench->workload->command.name, word, join(ids, count, " and ", all, sizeof(all)));
	for (size_t i = 0; i < bench->row_count; i++)
		if (kwhy_bench_list_has(list, bench->rows[i].id))
			bench->rows[kept++] = bench->rows[i];
	bench->row_count = kept;
	return KWHY_OK;
}

uint32_t lab_gpus_named(const struct lab_bench *bench)
{
	uint32_t named = 1;

	for (const char *at = bench->options->device; at && *at; at++)
		named += *at == ',';
	return named;
}

static void tell(const struct lab_bench *bench, const char *what)
{
	if (bench->progress)
		bench->progress(bench->progress_context, what);
}

/* --- Rows --- */

struct lab_phase *lab_phase_add(struct lab_row *row, const char *name, double items)
{
	struct lab_phase *phase = &row->phases[row->phase_count++];

	*phase = (struct lab_phase){
		.name = name, .items = items, .run_s = no_median, .energy = kwhy_window_joules_unknown()};
	return phase;
}

static void set_row_unknown(struct lab_row *row)
{
	for (size_t p = 0; p < row->phase_count; p++)
		row->phases[p].run_s = no_median;
	row->step_s = no_median;
	row->step_p99_s = row->busy_ratio = row->nvml_ratio = NAN;
}

static void set_unknown(char *facts, const struct lab_column *column)
{
	void *at = facts + column->offset;

	if (column->kind == LAB_COUNT || column->kind == LAB_BYTES)
		*(uint64_t *)at = LAB_UNKNOWN;
	else if (column->kind == LAB_MEDIAN)
		*(struct kwhy_median *)at = no_median;
	else if (column->kind == LAB_JOULES)
		*(struct kwhy_joules *)at = (struct kwhy_joules){NAN, NAN, NAN};
	/* texts are NULL already */
	else if (column->kind != LAB_TEXT && column->kind != LAB_TITLE)
		*(double *)at = NAN;
}

enum kwhy_status lab_row_add(struct lab_bench *bench, const struct lab_row *like, double items,
	struct lab_row **out, struct kwhy_error *error)
{
	const struct lab_workload *workload = bench->workload;
	struct lab_row *row;

	if (bench->row_count == LAB_ROWS_MAX)
		return kwhy_fail(error, KWHY_E_USAGE,
			"%s measures at most %d rows in one call; ask for fewer", workload->command.name,
			LAB_ROWS_MAX);
	row = &bench->rows[bench->row_count];
	*row = *like;
	row->facts = kwhy_arena_alloc(&bench->arena, 1, workload->facts_bytes + 1);
	if (!row->facts)
		return kwhy_fail_memory(error, "a row");
	for (size_t t = 0; t < workload->table_count; t++)
		for (size_t c = 0; c < workload->tables[t].column_count; c++)
			set_unknown(row->facts, &workload->tables[t].columns[c]);
	row->name = like->name ? like->name : like->id;
	row->step_clock = like->device_clock ? "device" : "host";
	row->phase_count = 0;
	set_row_unknown(row);
	lab_phase_add(row, NULL, items);
	bench->row_count++;
	*out = row;
	return KWHY_OK;
}

/* --- Runs of one phase --- */

struct series {
	struct lab_bench *bench;
	struct lab_row *row;
	void *opened;
	size_t phase;
	/* sums over the timed runs of the phase: time that the GPU worked, and time of the runs, s */
	double busy_s, busy_run_s;
};

static enum kwhy_status run_once(void *context, size_t number, double *out_s, struct kwhy_error *error)
{
	struct series *series = context;
	struct lab_row *row = series->row;
	struct lab_run run = {.number = number, .busy_s = NAN};
	bool is_kept = row->step_times && series->phase == 0 && number < LAB_RUNS_KEPT;
	enum kwhy_status status;

	if (is_kept)
		run.step_s = row->step_times + number * row->steps;
	status = series->bench->workload->run(series->opened, series->phase, &run, error);
	if (status)
		return status;
	if (run.items > 0)
		row->phases[series->phase].items = run.items;
	row->kept_runs += is_kept;
	series->busy_s += run.busy_s;
	series->busy_run_s += run.run_s;
	*out_s = run.run_s;
	return KWHY_OK;
}

/* Makes the only run of a phase that has `once` set, and measures its energy. */
static enum kwhy_status run_single(
	struct kwhy_bench_series *single, struct kwhy_device_energy *energy, struct kwhy_error *error)
{
	enum kwhy_status status = energy ? kwhy_device_energy_begin(energy, single->window, error) : KWHY_OK;

	NEXT(status, kwhy_bench_series_run(single, error));
	if (energy)
		kwhy_device_energy_end(energy);
	single->energy_runs = !status && energy;
	return status;
}

/*
 * Makes all runs of a phase: one that is not timed (warm-up), --repeat timed ones, then those of the energy
 * window.
 */
static enum kwhy_status run_many(
	struct series *series, struct kwhy_bench_series *many, struct kwhy_error *error)
{
	struct lab_bench *bench = series->bench;
	double warm_s;
	enum kwhy_status status = run_once(series, SIZE_MAX, &warm_s, error);

	series->busy_s = series->busy_run_s = 0;
	many->repeat = (uint32_t)bench->options->runs.repeat;
	many->energy = bench->energy;
	many->gauge = series->phase == 0 && series->row->gpus ? &bench->gauge : NULL;
	NEXT(status, kwhy_bench_series_run(many, error));
	if (!status && many->gauge && many->energy_runs)
		series->row->nvml_ratio = kwhy_busy_gauge_mean(&bench->gauge);
	return status;
}

static enum kwhy_status run_phase(struct series *series, struct kwhy_error *error)
{
	struct lab_bench *bench = series->bench;
	struct lab_row *row = series->row;
	struct lab_phase *phase = &row->phases[series->phase];
	struct kwhy_bench_series runs = {.run = run_once,
		.context = series,
		.repeat = 1,
		.kept_most = LAB_RUNS_KEPT,
		.window_s = bench->energy_s};
	enum kwhy_status status = KWHY_OK;

	if (bench->workload->start)
		status = bench->workload->start(series->opened, series->phase, error);
	if (status)
		return status;
	phase->window = kwhy_arena_printf(
		&bench->arena, "%s%s%s", row->name, phase->name ? " " : "", phase->name ? phase->name : "");
	if (!phase->window)
		return kwhy_fail_memory(error, "a window's name");
	runs.window = phase->window;
	status = phase->once ? run_single(&runs, bench->energy, error) : run_many(series, &runs, error);
	phase->run_count = runs.run_count;
	phase->energy_runs = runs.energy_runs;
	if (status)
		return status;
	phase->run_s = runs.run_s;
	if (series->phase == 0)
		row->busy_ratio = kwhy_bench_busy_ratio(series->busy_s, series->busy_run_s);
	return KWHY_OK;
}

/* --- A row --- */

/*
 * Finds the busy share of a row, unless the first phase has already given it. If the host starts the steps,
 * the time between events at the start and the end of a run includes waits for the host. Therefore the
 * workload measures the busy time in a separate run.
 */
static enum kwhy_status find_busy(
	struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *error)
{
	double busy_s = NAN;
	enum kwhy_status status;

	if (!bench->workload->busy || !row->gpus || bench->options->runs_only || isfinite(row->busy_ratio))
		return KWHY_OK;
	status = bench->workload->busy(opened, &busy_s, error);
	if (status)
		return status == KWHY_E_UNSUPPORTED ? KWHY_OK : status;
	row->busy_ratio = kwhy_bench_busy_ratio(busy_s, row->phases[0].run_s.median);
	return KWHY_OK;
}

static enum kwhy_status run_phases(
	struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *error)
{
	size_t steps = (size_t)LAB_RUNS_KEPT * row->steps;
	enum kwhy_status status = KWHY_OK;

	if (steps)
		row->step_times = kwhy_arena_alloc(&bench->arena, steps, sizeof(*row->step_times));
	if (steps && !row->step_times)
		return kwhy_fail_memory(error, "the times of steps");
	for (size_t p = 0; !status && p < row->phase_count; p++) {
		struct series series = {.bench = bench, .row = row, .opened = opened, .phase = p};

		status = run_phase(&series, error);
	}
	if (!status && steps)
		status = kwhy_bench_steps_sum_up(
			row->step_times, row->kept_runs * row->steps, &row->step_s, &row->step_p99_s, error);
	return status;
}

static enum kwhy_status run_opened(
	struct lab_bench *bench, struct lab_row *row, void *opened, struct kwhy_error *error)
{
	const struct lab_workload *workload = bench->workload;
	enum kwhy_status status = KWHY_OK;

	if (workload->check && !bench->options->runs_only)
		status = workload->check(bench, row, opened, error);
	NEXT(status, run_phases(bench, row, opened, error));
	NEXT(status, find_busy(bench, row, opened, error));
	if (!status && workload->finish)
		status = workload->finish(bench, row, opened, error);
	return status;
}

/*
 * Removes the results of a row that failed, and records the reason: `wrong` if a result differs from the
 * reference (KWHY_E_INPUT), otherwise `missing`.
 */
static enum kwhy_status explain(
	struct lab_bench *bench, struct lab_row *row, enum kwhy_status failed, struct kwhy_error *error)
{
	const char **reason = failed == KWHY_E_INPUT ? &row->wrong : &row->missing;

	set_row_unknown(row);
	*reason = kwhy_arena_copy(&bench->arena, error->text);
	return *reason ? KWHY_OK : kwhy_fail_memory(error, "a reason");
}

static enum kwhy_status run_row(struct lab_bench *bench, struct lab_row *row, struct kwhy_error *error)
{
	void *opened = kwhy_arena_alloc(&bench->arena, 1, bench->workload->opened_bytes + 1);
	enum kwhy_status status;

	if (!opened)
		return kwhy_fail_memory(error, "a row");
	tell(bench, row->name);
	if (row->gpus > bench->gpus.count)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "it needs %u GPUs, and %s %u", row->gpus,
			bench->options->device ? "--device names" : "this machine has", bench->gpus.count);
	else
		status = bench->workload->open(bench, row, opened, error);
	NEXT(status, run_opened(bench, row, opened, error));
	bench->workload->close(opened);
	if (status == KWHY_E_UNSUPPORTED || status == KWHY_E_MEMORY || status == KWHY_E_INPUT)
		return explain(bench, row, status, error);
	return status;
}

static enum kwhy_status run_rows(struct lab_bench *bench, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < bench->row_count; i++) {
		status = run_row(bench, &bench->rows[i], error);
		if (status == KWHY_E_LOST) {
			bench->row_count = i + 1;
			return kwhy_bench_end_early(&bench->arena, &bench->row_count, &bench->ended, error);
		}
	}
	return status;
}

/* --- Before and after the rows --- */

/*
 * Opens the GPUs that --device names. Otherwise opens the first ones: as many as the row that needs most,
 * but no more than the machine has; at least one.
 */
static enum kwhy_status open_gpus(struct lab_bench *bench, struct kwhy_error *error)
{
	uint32_t wanted = 1, count = 0;
	char word[KWHY_LIST_WORD_BYTES];
	enum kwhy_status status;

	if (bench->options->device)
		return kwhy_bench_gpus_open(bench->backend, bench->options->device, &bench->gpus, error);
	status = kwhy_gpu_count(bench->backend, &count, error);
	for (size_t i = 0; i < bench->row_count; i++)
		wanted = bench->rows[i].gpus > wanted ? bench->rows[i].gpus : wanted;
	if (count > 0 && wanted > count)
		wanted = count;
	for (uint32_t i = 0; !status && i < wanted; i++) {
		snprintf(word, sizeof(word), "%u", i);
		status = kwhy_bench_gpus_add(&bench->gpus, bench->backend, word, error);
	}
	return status;
}

static enum kwhy_status open_meters(struct lab_bench *bench, struct kwhy_error *error)
{
	for (uint32_t i = 0; i < bench->gpus.count; i++)
		bench->gpu_facts[i] = bench->gpus.items[i]->facts;
	kwhy_busy_gauge_open(bench->gpus.items[0], &bench->gauge);
	if (*bench->gauge.missing)
		bench->nvml_missing = kwhy_arena_copy(&bench->arena, bench->gauge.missing);
	if (bench->energy_s <= 0) {
		bench->energy_missing = kwhy_bench_energy_unrequested(bench->backend);
		bench->nvml_missing = "it is of the runs for energy, which were not asked for";
		return KWHY_OK;
	}
	tell(bench, "idle");
	return kwhy_bench_meters_open(bench->gpus.items, bench->gpus.count, &bench->energy, error);
}

/* Computes the figures of a phase per item, per second and per joule from its time and energy. */
static void sum_up(struct lab_phase *phase)
{
	double items = phase->energy_runs ? (double)phase->energy_runs * phase->items : NAN;

	phase->items_per_s = 1 / lab_phase_item_s(phase);
	phase->gross = kwhy_joules_times(&phase->energy.gross, 1 / items);
	phase->net = kwhy_joules_times(&phase->energy.net, 1 / items);
	phase->host = kwhy_joules_times(&phase->energy.host, 1 / items);
	phase->items_per_j = kwhy_workload_for_a_joule(1, &phase->gross);
}

static void read_row(struct lab_bench *bench, struct lab_row *row)
{
	for (size_t p = 0; p < row->phase_count; p++) {
		struct lab_phase *phase = &row->phases[p];

		if (phase->energy_runs)
			kwhy_bench_meters_of(
				bench->energy, phase->window, row->gpus, &bench->arena, &phase->energy);
		sum_up(phase);
	}
}

static enum kwhy_status read_meters(struct lab_bench *bench, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_bench_meters_read(
		bench->energy, &bench->arena, &bench->energy_missing, error);

	for (size_t i = 0; !status && i < bench->row_count; i++)
		read_row(bench, &bench->rows[i]);
	return status;
}

static enum kwhy_status run_all(struct lab_bench *bench, struct kwhy_error *error)
{
	const struct lab_workload *workload = bench->workload;
	enum kwhy_status status = workload->plan(bench, error);

	NEXT(status, choose_rows(bench, error));
	NEXT(status, open_gpus(bench, error));
	if (!status && workload->begin) {
		tell(bench, "reference");
		status = workload->begin(bench, error);
	}
	NEXT(status, open_meters(bench, error));
	NEXT(status, run_rows(bench, error));
	if (!status && bench->options->runs_only)
		kwhy_bench_gpus_settle(&bench->gpus);
	return status ? status : read_meters(bench, error);
}

static enum kwhy_status new_bench(
	const struct lab_options *options, struct lab_bench **out, struct kwhy_error *error)
{
	struct lab_bench *bench = calloc(1, sizeof(*bench));

	if (!bench)
		return kwhy_fail_memory(error, "a benchmark");
	bench->workload = options->workload;
	bench->options = options;
	bench->rows = kwhy_arena_alloc(&bench->arena, LAB_ROWS_MAX, sizeof(*bench->rows));
	bench->context = kwhy_arena_alloc(&bench->arena, 1, options->workload->context_bytes + 1);
	*out = bench;
	return bench->rows && bench->context ? KWHY_OK : kwhy_fail_memory(error, "the rows of a benchmark");
}

enum kwhy_status lab_bench_run(const struct lab_options *options,
	void (*progress)(void *context, const char *what), void *context, struct lab_bench **out,
	struct kwhy_error *error)
{
	struct lab_bench *bench = NULL;
	enum kwhy_status status = new_bench(options, &bench, error);

	NEXT(status, kwhy_bench_runs_check(&options->runs, error));
	NEXT(status, kwhy_backend_read(options->backend, &bench->backend, error));
	if (!status) {
		bench->progress = progress;
		bench->progress_context = context;
		bench->energy_s = kwhy_bench_energy_s(
			options->runs.seconds, bench->backend, KWHY_BENCH_ENERGY_S);
		status = run_all(bench, error);
	}
	if (status)
		lab_bench_free(bench);
	else
		*out = bench;
	return status;
}

void lab_bench_free(struct lab_bench *bench)
{
	if (!bench)
		return;
	kwhy_device_energy_close(bench->energy);
	kwhy_busy_gauge_close(&bench->gauge);
	kwhy_bench_gpus_close(&bench->gpus);
	if (bench->workload->done && bench->context)
		bench->workload->done(bench);
	kwhy_arena_done(&bench->arena);
	free(bench);
}

bool lab_bench_is_right(const struct lab_bench *bench)
{
	bool has_run = false;

	for (size_t i = 0; i < bench->row_count; i++) {
		if (bench->rows[i].wrong)
			return false;
		has_run = has_run || lab_row_has_run(&bench->rows[i]);
	}
	return has_run;
}
