/* SPDX-License-Identifier: Apache-2.0 */
#include "import/results/run.h"

#include "import/own_result.h"
#include "import/results/values.h"

#include <math.h>
#include <string.h>

/*
 * Reports state 90 % intervals, and the struct has 95 % intervals. TO_95 is the ratio of their widths for a
 * normally distributed figure.
 */
#define TO_95 (1.960 / 1.645)

static double widened(double value, double end)
{
	return value + TO_95 * (end - value);
}

/*
 * Reads time and energy of the run in a report, from the first start to the last end on its devices. Energy
 * metered before and after that is not included.
 */
static void read_run(struct kwhy_read_run *run, const json_t *of)
{
	run->joules = kwhy_json_real_of(of, "energy_nj") * 1e-9;
	run->low_j = widened(run->joules, kwhy_json_real_of(of, "low_nj") * 1e-9);
	run->high_j = widened(run->joules, kwhy_json_real_of(of, "high_nj") * 1e-9);
	run->seconds = kwhy_json_real_of(of, "seconds");
	run->unmetered_j = fmax(0, kwhy_json_real_of(of, "unmetered_nj") * 1e-9);
	run->is_modelled = json_is_true(json_object_get(of, "modelled"));
}

/* Time and energy per unit of work of a run that did `count` units. */
static struct kwhy_read_work share_of(const struct kwhy_read_run *run, const char *unit, double count)
{
	double of = count > 0 ? count : NAN;

	return (struct kwhy_read_work){
		unit, count, run->joules / of, run->low_j / of, run->high_j / of, run->seconds / of};
}

static bool add_work(struct kwhy_read_run *run, struct kwhy_read_work work)
{
	if (!(work.count > 0))
		return true;
	work.unit = kwhy_arena_copy(&run->arena, work.unit);
	run->work[run->work_count++] = work;
	return work.unit != NULL;
}

static void read_places(uint64_t bits[KWHY_RANGE_OVERLAPS_WORDS], const json_t *places)
{
	size_t i;
	json_t *item;

	json_array_foreach(places, i, item)
	{
		json_int_t place = json_integer_value(item);

		if (json_is_integer(item) && place >= 0 && place < KWHY_RANGE_OVERLAPS_MAX)
			bits[place / 64] |= (uint64_t)1 << place % 64;
	}
}

static bool add_phase(struct kwhy_read_run *run, const json_t *range)
{
	struct kwhy_read_phase *phase = &run->phases[run->phase_count++];
	double host_ns = kwhy_json_real_of(range, "host_ns"), union_ns = kwhy_json_real_of(range, "union_ns");

	*phase = (struct kwhy_read_phase){
		.name = kwhy_arena_copy(&run->arena, kwhy_json_text_of(range, "name")),
		.joules = kwhy_json_real_of(range, "window_energy_nj") * 1e-9,
		.low_j = NAN,
		.high_j = NAN,
		.seconds = (isnan(union_ns) ? host_ns : union_ns) * 1e-9,
		.is_distinct = json_is_array(json_object_get(range, "overlaps"))};
	read_places(phase->overlaps, json_object_get(range, "overlaps"));
	read_places(phase->beside, json_object_get(range, "beside"));
	return phase->name != NULL;
}

static bool read_report(struct kwhy_read_run *run, const json_t *root)
{
	const json_t *work = json_object_get(root, "work"), *ranges = json_object_get(root, "ranges");
	size_t i;
	json_t *item;
	bool kept = true;

	read_run(run, json_object_get(root, "run"));
	run->phases = kwhy_arena_alloc(&run->arena, json_array_size(ranges) + 1, sizeof(*run->phases));
	if (!run->phases)
		return false;
	json_array_foreach(work, i, item) kept &= add_work(
		run, share_of(run, kwhy_json_text_of(item, "unit"), kwhy_json_real_of(item, "count")));
	json_array_foreach(ranges, i, item) kept &= add_phase(run, item);
	return kept;
}

static struct kwhy_read_work stat_work(const json_t *work, const json_t *domain)
{
	const json_t *each = kwhy_json_joules_per_unit(work, domain);

	return (struct kwhy_read_work){
		.unit = kwhy_json_text_of(work, "unit"),
		.count = kwhy_json_real_of(json_object_get(work, "count"), "mean"),
		.each_j = kwhy_json_real_of(each, "mean"),
		.each_low_j = kwhy_json_real_of(each, "low"),
		.each_high_j = kwhy_json_real_of(each, "high"),
		.each_s = 1 / kwhy_json_real_of(json_object_get(work, "per_s"), "mean"),
	};
}

static bool read_stat(struct kwhy_read_run *run, const json_t *root)
{
	const json_t *domain = kwhy_json_main_domain(json_object_get(root, "domains"));
	const json_t *energy = json_object_get(domain, "energy_j");
	const json_t *work = json_object_get(root, "work");
	size_t i;
	json_t *item;
	bool kept = true;

	run->joules = kwhy_json_real_of(energy, "mean");
	run->low_j = kwhy_json_real_of(energy, "low");
	run->high_j = kwhy_json_real_of(energy, "high");
	run->seconds = kwhy_json_real_of(json_object_get(json_object_get(root, "time"), "elapsed_s"), "mean");
	json_array_foreach(work, i, item) kept &= add_work(run, stat_work(item, domain));
	return kept;
}

static enum kwhy_status refuse(const char *label, const char *schema, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_own_result_refuse(
		label, schema, "a report or a result of kwhy stat", error);

	if (status)
		return status;
	return kwhy_fail(error, KWHY_E_INPUT,
		"%.300s is neither a stat.json nor a report.json; write one with kwhy stat --json or kwhy "
		"report --json",
		label);
}

enum kwhy_status kwhy_read_run_of(struct kwhy_read_run *run, const char *label, const char *json,
	size_t length, struct kwhy_error *error)
{
	json_t *root = json_loadb(json, length, 0, NULL);
	const char *schema = kwhy_json_text_of(root, "schema");
	size_t work_space = json_array_size(json_object_get(root, "work"));
	bool is_report = strcmp(schema, "kwhy.report/1") == 0, kept = false;

	*run = (struct kwhy_read_run){.label = label, .is_report = is_report};
	if (!is_report && strcmp(schema, "kwhy.stat/1") != 0) {
		enum kwhy_status status = refuse(label, schema, error);

		json_decref(root);
		return status;
	}
	if (is_report && !json_is_object(json_object_get(root, "run"))) {
		json_decref(root);
		return kwhy_fail(error, KWHY_E_INPUT,
			"%.300s does not show what its run took: an older kwhy wrote it; write it again with "
			"kwhy report --json",
			label);
	}
	run->work = kwhy_arena_alloc(&run->arena, work_space + 1, sizeof(*run->work));
	if (run->work)
		kept = is_report ? read_report(run, root) : read_stat(run, root);
	json_decref(root);
	return kept ? KWHY_OK : kwhy_fail_memory(error, "a run");
}

void kwhy_read_run_done(struct kwhy_read_run *run)
{
	kwhy_arena_done(&run->arena);
}

struct kwhy_read_work kwhy_read_work_of(const struct kwhy_read_run *run, const char *unit, double stated)
{
	for (size_t i = 0; isnan(stated) && i < run->work_count; i++)
		if (strcmp(run->work[i].unit, unit) == 0)
			return run->work[i];
	return share_of(run, unit, stated);
}
