/* SPDX-License-Identifier: Apache-2.0 */
#include "import/results/side.h"

#include "import/results/values.h"

#include <math.h>
#include <string.h>

/*
 * This file reads one of the two runs that kwhy compare compares from its report.json. A member that is
 * missing or of another type is unknown. Strings are borrowed from the JSON tree until keep_strings() copies
 * them.
 */

static int64_t known_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_integer(value) ? json_integer_value(value) : KWHY_UNKNOWN_NJ;
}

static int64_t positive_of(const json_t *object, const char *key)
{
	int64_t value = known_of(object, key);

	return value > 0 ? value : 0;
}

static void read_accounts(struct kwhy_side_sums *sums, const json_t *accounts)
{
	size_t i;
	json_t *item;

	json_array_foreach(accounts, i, item)
	{
		struct kwhy_side_account account = {.category = kwhy_json_text_of(item, "category"),
			.name = kwhy_json_text_of(item, "name"),
			.count = (uint64_t)positive_of(item, "count"),
			.time_ns = positive_of(item, "time_ns"),
			.gross_nj = known_of(item, "gross_nj"),
			.low_nj = known_of(item, "low_nj"),
			.high_nj = known_of(item, "high_nj")};

		kwhy_side_add_account(sums, &account, positive_of(item, "mean_power_mw"));
	}
}

/* Time in ns of the run of a device, from its first start to its last end, that was not metered. */
static double unseen_ns_of(const json_t *energy, double first_ns, double last_ns)
{
	/* older reports lack "edge_ns"; they state only the first and last reading */
	if (!json_object_get(energy, "edge_ns"))
		return last_ns - first_ns - fmin(last_ns, (double)known_of(energy, "end_ns")) +
			fmax(first_ns, (double)known_of(energy, "start_ns"));
	return (double)known_of(energy, "edge_ns");
}

static double metered_ns_of(const json_t *energy)
{
	/* reports of older versions lack the field */
	if (!json_object_get(energy, "metered_ns"))
		return (double)known_of(energy, "end_ns") - (double)known_of(energy, "start_ns");
	return (double)known_of(energy, "metered_ns");
}

static void read_device(struct kwhy_side_sums *sums, const json_t *device)
{
	const json_t *time = json_object_get(device, "time"), *energy = json_object_get(device, "energy");
	int64_t first_ns = known_of(time, "first_ns"), last_ns = known_of(time, "last_ns");
	struct kwhy_side_device row = {.name = kwhy_json_text_of(device, "name"),
		.first_ns = first_ns,
		.last_ns = last_ns,
		.span_ns = positive_of(time, "span_ns"),
		.busy_ns = positive_of(time, "busy_ns"),
		.idle_ns = positive_of(time, "idle_ns"),
		.attributed_nj = known_of(energy, "attributed_nj"),
		.metered_ns = metered_ns_of(energy),
		.unseen_ns = unseen_ns_of(energy, (double)first_ns, (double)last_ns),
		.context_idle_w = kwhy_json_real_of(energy, "context_idle_w"),
		.modelled = json_is_true(json_object_get(energy, "modelled"))};

	read_accounts(sums, json_object_get(device, "accounts"));
	kwhy_side_add_device(sums, &row);
}

static void read_findings(struct kwhy_side_sums *sums, const json_t *findings)
{
	size_t i;
	json_t *item;

	json_array_foreach(findings, i, item)
	{
		const json_t *saving = json_object_get(item, "projection");
		struct kwhy_side_finding finding = {kwhy_json_text_of(item, "id"),
			kwhy_json_text_of(item, "title"), positive_of(saving, "time_ns"),
			known_of(saving, "energy_nj")};

		kwhy_side_add_finding(sums, &finding);
	}
}

/*
 * Reads the work of a run. The energy per unit is computed as the run's energy, which the report states to
 * the nanojoule, divided by the count. If the run's energy is unknown, the energy per unit that the report
 * states is taken, which is rounded to nine digits.
 */
static void read_work(struct kwhy_side_sums *sums, const json_t *work, int64_t run_nj)
{
	size_t i;
	json_t *item;

	json_array_foreach(work, i, item)
	{
		double count = kwhy_json_real_of(item, "count");
		double each_nj = run_nj == KWHY_UNKNOWN_NJ ? kwhy_json_real_of(item, "energy_per_unit_nj")
							   : (double)run_nj / count;
		struct kwhy_side_work one = {kwhy_json_text_of(item, "unit"), count, each_nj * 1e-9};

		kwhy_side_add_work(sums, &one);
	}
}

static size_t count_accounts(const json_t *devices)
{
	size_t i, count = 0;
	json_t *device;

	json_array_foreach(devices, i, device) count += json_array_size(json_object_get(device, "accounts"));
	return count;
}

/* Copies the side's strings from the JSON tree, which is freed, to its arena. False: memory is exhausted. */
static bool keep_strings(struct kwhy_side *side)
{
	bool kept = (side->device = kwhy_arena_copy(&side->arena, side->device)) != NULL;

	for (size_t i = 0; kept && i < side->account_count; i++) {
		struct kwhy_side_account *account = &side->accounts[i];

		account->category = kwhy_arena_copy(&side->arena, account->category);
		account->name = kwhy_arena_copy(&side->arena, account->name);
		kept = account->category && account->name;
	}
	for (size_t i = 0; kept && i < side->finding_count; i++) {
		struct kwhy_side_finding *finding = &side->findings[i];

		finding->id = kwhy_arena_copy(&side->arena, finding->id);
		finding->title = kwhy_arena_copy(&side->arena, finding->title);
		kept = finding->id && finding->title;
	}
	for (size_t i = 0; kept && i < side->work_count; i++)
		kept = (side->work[i].unit = kwhy_arena_copy(&side->arena, side->work[i].unit)) != NULL;
	return kept;
}

static enum kwhy_status fill(struct kwhy_side *side, const json_t *root, struct kwhy_error *error)
{
	const json_t *devices = json_object_get(root, "devices"), *run = json_object_get(root, "run"),
		     *findings = json_object_get(root, "findings"), *work = json_object_get(root, "work"),
		     *calls = json_object_get(root, "api"), *loop = json_object_get(root, "loop");
	const struct kwhy_side_counts counts = {
		count_accounts(devices), json_array_size(findings), json_array_size(work)};
	struct kwhy_side_sums sums;
	enum kwhy_status status = kwhy_side_begin(&sums, side, &counts, error);
	size_t i;
	json_t *item;

	if (status)
		return status;
	side->truncated = json_is_true(json_object_get(json_object_get(root, "lost"), "truncated"));
	json_array_foreach(devices, i, item) read_device(&sums, item);
	json_array_foreach(calls, i, item) kwhy_side_add_call(&sums, kwhy_json_text_of(item, "name"),
		(double)positive_of(item, "count"), (double)positive_of(item, "total_ns"));
	kwhy_side_add_steps(&sums, (uint64_t)positive_of(loop, "step_count"), positive_of(loop, "time_ns"),
		known_of(loop, "energy_nj"));
	read_findings(&sums, findings);
	read_work(&sums, work, known_of(run, "energy_nj"));
	kwhy_side_end(&sums, known_of(run, "energy_nj"), known_of(run, "low_nj"), known_of(run, "high_nj"));
	return keep_strings(side) ? KWHY_OK : kwhy_fail_memory(error, "a report to compare");
}

enum kwhy_status kwhy_side_read(
	struct kwhy_side *side, const char *label, const char *json, size_t length, struct kwhy_error *error)
{
	json_error_t where;
	json_t *root = json_loadb(json, length, 0, &where);
	const char *schema = kwhy_json_text_of(root, "schema");
	struct kwhy_side made = {0};
	enum kwhy_status status;

	if (!root)
		return kwhy_fail(error, KWHY_E_INPUT,
			"'%.200s' is not valid JSON: %.120s at line %d; write it again with kwhy report "
			"--json",
			label, where.text, where.line);
	made.label = kwhy_arena_copy(&made.arena, label);
	if (!made.label)
		status = kwhy_fail_memory(error, "a report to compare");
	else if (strcmp(schema, "kwhy.report/1") == 0 && !json_is_array(json_object_get(root, "devices")))
		status = kwhy_fail(error, KWHY_E_INPUT,
			"'%.200s' has no list of 'devices'; write it again with kwhy report --json", label);
	else if (strcmp(schema, "kwhy.report/1") != 0)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"'%.200s' is not a report.json of version 1: its \"schema\" is %s%.40s%s; write it "
			"again with kwhy report --json",
			label, *schema ? "\"" : "", *schema ? schema : "missing", *schema ? "\"" : "");
	else
		status = fill(&made, root, error);
	json_decref(root);
	if (status)
		kwhy_arena_done(&made.arena);
	else
		*side = made;
	return status;
}
