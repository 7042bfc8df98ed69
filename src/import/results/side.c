/* SPDX-License-Identifier: Apache-2.0 */
#include "import/results/side.h"

#include "import/results/values.h"
#include "model/known_sum.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES_MIN = 1000 };
#define IDLE_MIN_RATIO 0.1

/*
 * Reads the inputs of a comparison from report.json. A member that is missing or of another type is unknown.
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

static const char *string_of(const json_t *object, const char *key)
{
	const char *value = json_string_value(json_object_get(object, key));

	return value ? value : "";
}

/* Whether a category is idle time of the run: not before or after it, and not unrecorded. */
static bool is_idle(const char *category)
{
	for (int i = 0; i < KWHY_CATEGORY_COUNT; i++)
		if (strcmp(kwhy_category_name((enum kwhy_category)i), category) == 0)
			return kwhy_category_is_idle((enum kwhy_category)i) && i != KWHY_CATEGORY_OUTSIDE &&
				i != KWHY_CATEGORY_UNRECORDED;
	return false;
}

static void read_accounts(struct kwhy_side *side, const json_t *accounts)
{
	size_t i;
	json_t *item;

	json_array_foreach(accounts, i, item)
	{
		struct kwhy_side_account *account = &side->accounts[side->account_count++];

		*account = (struct kwhy_side_account){.category = string_of(item, "category"),
			.name = string_of(item, "name"),
			.count = (uint64_t)positive_of(item, "count"),
			.time_ns = positive_of(item, "time_ns"),
			.gross_nj = known_of(item, "gross_nj"),
			.low_nj = known_of(item, "low_nj"),
			.high_nj = known_of(item, "high_nj")};
		if (is_idle(account->category) && account->gross_nj != KWHY_UNKNOWN_NJ)
			kwhy_known_add(&side->idle_nj, account->gross_nj);
	}
}

/* Sums of all devices while they are read. */
struct device_sums {
	int64_t span_ns, busy_ns;
	double idle_nj, idle_half_ci90_nj; /* NAN: unknown for one of the devices */
	size_t known_count;		   /* devices whose energy is known */
	bool energy_missing, is_unseen;	   /* true for at least one device */
};

/* Mean power of a device while it idled between its first and last work. */
struct idle_level {
	double power_w, half_ci90_w; /* NAN: unknown */
};

/* Whether half of the time from first to last work or more was metered; modelled energy needs no meter. */
static bool is_seen(const json_t *device)
{
	const json_t *time = json_object_get(device, "time"), *energy = json_object_get(device, "energy");
	double first_ns = (double)known_of(time, "first_ns"), last_ns = (double)known_of(time, "last_ns");
	double unseen_ns = (double)known_of(energy, "edge_ns");

	/* a report of a version without that field */
	if (!json_object_get(energy, "edge_ns"))
		unseen_ns = last_ns - first_ns - fmin(last_ns, (double)known_of(energy, "end_ns")) +
			fmax(first_ns, (double)known_of(energy, "start_ns"));
	return json_is_true(json_object_get(energy, "modelled")) || 2 * unseen_ns <= last_ns - first_ns;
}

static struct idle_level idle_level_of(const json_t *device)
{
	double sum_nj = 0, half_ci90_nj = 0, time_ns = 0;
	size_t i;
	json_t *item;

	json_array_foreach(json_object_get(device, "accounts"), i, item)
	{
		const char *category = string_of(item, "category");
		double gross_nj = (double)positive_of(item, "gross_nj"), energy_nj;

		if (!is_idle(category) || !(gross_nj > 0))
			continue;
		energy_nj = (double)positive_of(item, "mean_power_mw") * 1e-3 *
			(double)positive_of(item, "time_ns");
		sum_nj += energy_nj;
		half_ci90_nj += ((double)known_of(item, "high_nj") - (double)known_of(item, "low_nj")) / 2 *
			energy_nj / gross_nj;
		time_ns += (double)positive_of(item, "time_ns");
	}
	/* the meter cannot resolve the power of little idling */
	if (sum_nj > 0 && time_ns > 0 &&
		time_ns >= IDLE_MIN_RATIO * (double)positive_of(json_object_get(device, "time"), "span_ns"))
		return (struct idle_level){sum_nj / time_ns, half_ci90_nj / time_ns};
	item = json_object_get(json_object_get(device, "energy"), "context_idle_w");
	return (struct idle_level){json_is_number(item) ? json_number_value(item) : NAN, NAN};
}

/* Adds the energy that the device would have used if it had idled for its span. */
static void add_idle(struct device_sums *sums, const json_t *device)
{
	struct idle_level idle = idle_level_of(device);
	double span_ns = (double)positive_of(json_object_get(device, "time"), "span_ns");

	sums->is_unseen |= !is_seen(device);
	sums->idle_nj += idle.power_w * span_ns;
	sums->idle_half_ci90_nj += idle.half_ci90_w * span_ns;
}

/* Adds all metered energy, of devices without work, too, whose energy may be unknown. */
static void read_energy(struct kwhy_side *side, const json_t *device, struct device_sums *sums)
{
	const json_t *energy = json_object_get(device, "energy"), *time = json_object_get(device, "time");
	int64_t attributed_nj = known_of(energy, "attributed_nj");
	double metered_ns = (double)known_of(energy, "metered_ns");

	/* a report of a version without that field */
	if (!json_object_get(energy, "metered_ns"))
		metered_ns = (double)known_of(energy, "end_ns") - (double)known_of(energy, "start_ns");
	if (attributed_nj == KWHY_UNKNOWN_NJ) {
		sums->energy_missing |= positive_of(time, "span_ns") > 0;
		return;
	}
	sums->known_count++;
	kwhy_known_add(&side->energy_nj, attributed_nj);
	side->power_w += metered_ns > 0 ? (double)attributed_nj / metered_ns : NAN;
	side->modelled |= json_is_true(json_object_get(energy, "modelled"));
}

static void widen_run(struct kwhy_side *side, const json_t *time)
{
	int64_t first_ns = known_of(time, "first_ns"), last_ns = known_of(time, "last_ns");
	bool is_first = side->first_ns == side->last_ns;

	if (first_ns == KWHY_UNKNOWN_NJ || last_ns == KWHY_UNKNOWN_NJ)
		return;
	side->first_ns = is_first || first_ns < side->first_ns ? first_ns : side->first_ns;
	side->last_ns = is_first || last_ns > side->last_ns ? last_ns : side->last_ns;
}

static void read_device(struct kwhy_side *side, const json_t *device, struct device_sums *sums)
{
	const json_t *time = json_object_get(device, "time");
	int64_t span_ns = positive_of(time, "span_ns");

	side->span_ns = span_ns > side->span_ns ? span_ns : side->span_ns;
	kwhy_time_add(&sums->span_ns, span_ns);
	kwhy_time_add(&sums->busy_ns, positive_of(time, "busy_ns"));
	kwhy_time_add(&side->idle_ns, positive_of(time, "idle_ns"));
	if (!*side->device)
		side->device = string_of(device, "name");
	read_accounts(side, json_object_get(device, "accounts"));
	read_energy(side, device, sums);
	if (!span_ns)
		return;
	widen_run(side, time);
	add_idle(sums, device);
}

static void read_run(struct kwhy_side *side, const json_t *run)
{
	int64_t low_nj = known_of(run, "low_nj"), high_nj = known_of(run, "high_nj");

	side->run_nj = known_of(run, "energy_nj");
	side->run_below_nj = side->run_above_nj = NAN;
	if (side->run_nj == KWHY_UNKNOWN_NJ || low_nj == KWHY_UNKNOWN_NJ || high_nj == KWHY_UNKNOWN_NJ)
		return;
	side->run_below_nj = (double)side->run_nj - (double)low_nj;
	side->run_above_nj = (double)high_nj - (double)side->run_nj;
}

/*
 * Sets seen_run_nj and net_nj: a run that is mostly unmetered is no measurement to compare a projection with.
 */
static void set_seen(struct kwhy_side *side, const struct device_sums *sums)
{
	double net_nj;

	side->seen_run_nj = sums->energy_missing || sums->is_unseen ? KWHY_UNKNOWN_NJ : side->run_nj;
	side->net_nj = side->net_low_nj = side->net_high_nj = KWHY_UNKNOWN_NJ;
	if (side->seen_run_nj == KWHY_UNKNOWN_NJ || !isfinite(sums->idle_nj))
		return;
	net_nj = (double)side->run_nj - sums->idle_nj;
	side->net_nj = llround(net_nj);
	/* where the idle level is above that, so is the power before and after the run */
	if (!isfinite(sums->idle_half_ci90_nj + side->run_below_nj + side->run_above_nj))
		return;
	side->net_low_nj = llround(net_nj - sums->idle_half_ci90_nj - side->run_below_nj);
	side->net_high_nj = llround(net_nj + sums->idle_half_ci90_nj + side->run_above_nj);
}

static void read_devices(struct kwhy_side *side, const json_t *devices)
{
	struct device_sums sums = {0};
	size_t i;
	json_t *device;

	side->energy_nj = side->idle_nj = 0;
	json_array_foreach(devices, i, device) read_device(side, device, &sums);
	/* the energy of some devices only is not the energy of all */
	if (sums.energy_missing || !sums.known_count) {
		side->energy_nj = side->idle_nj = KWHY_UNKNOWN_NJ;
		side->power_w = NAN;
	}
	/* without recorded work it is unknown which energy was idle */
	if (!sums.span_ns)
		side->idle_nj = KWHY_UNKNOWN_NJ;
	set_seen(side, &sums);
	side->busy_ratio = sums.span_ns > 0 ? (double)sums.busy_ns / (double)sums.span_ns : NAN;
}

/*
 * Mean over all launch calls, where they are so many that the first one, which loads code, does not matter.
 */
static void read_launches(struct kwhy_side *side, const json_t *calls)
{
	double sum_ns = 0, count = 0;
	size_t i;
	json_t *call;

	json_array_foreach(calls, i, call)
	{
		if (!strstr(string_of(call, "name"), "LaunchKernel"))
			continue;
		sum_ns += (double)positive_of(call, "total_ns");
		count += (double)positive_of(call, "count");
	}
	side->launch_ns = count >= LAUNCHES_MIN ? sum_ns / count : NAN;
}

static void read_findings(struct kwhy_side *side, const json_t *findings)
{
	size_t i;
	json_t *item;

	json_array_foreach(findings, i, item)
	{
		const json_t *saving = json_object_get(item, "projection");

		side->findings[side->finding_count++] = (struct kwhy_side_finding){string_of(item, "id"),
			string_of(item, "title"), positive_of(saving, "time_ns"),
			known_of(saving, "energy_nj")};
	}
}

static void read_work(struct kwhy_side *side, const json_t *work)
{
	size_t i;
	json_t *item;

	json_array_foreach(work, i, item)
	{
		double count = json_number_value(json_object_get(item, "count"));

		if (count > 0)
			side->work[side->work_count++] = (struct kwhy_side_work){string_of(item, "unit"),
				count, kwhy_json_real_of(item, "energy_per_unit_nj") * 1e-9};
	}
}

static int compare_accounts(const void *a, const void *b)
{
	const struct kwhy_side_account *x = a, *y = b;
	int order = strcmp(x->category, y->category);

	return order ? order : strcmp(x->name, y->name);
}

static int compare_findings(const void *a, const void *b)
{
	const struct kwhy_side_finding *x = a, *y = b;
	int order = strcmp(x->id, y->id);

	return order ? order : strcmp(x->title, y->title);
}

static int64_t half_width_nj(const struct kwhy_side_account *account)
{
	return account->low_nj == KWHY_UNKNOWN_NJ || account->high_nj == KWHY_UNKNOWN_NJ
		? KWHY_UNKNOWN_NJ
		: account->high_nj / 2 - account->low_nj / 2;
}

/*
 * Adds the same account of another device. Devices are fitted separately, so half-widths add in quadrature.
 */
static void merge(struct kwhy_side_account *into, const struct kwhy_side_account *more)
{
	int64_t a_nj = half_width_nj(into), b_nj = half_width_nj(more);
	int64_t width_nj = a_nj == KWHY_UNKNOWN_NJ || b_nj == KWHY_UNKNOWN_NJ
		? KWHY_UNKNOWN_NJ
		: llround(hypot((double)a_nj, (double)b_nj));

	into->count += more->count;
	kwhy_time_add(&into->time_ns, more->time_ns);
	kwhy_known_add(&into->gross_nj, more->gross_nj);
	into->high_nj = into->low_nj = into->gross_nj;
	kwhy_known_add(&into->high_nj, width_nj);
	kwhy_known_add(&into->low_nj, width_nj == KWHY_UNKNOWN_NJ ? width_nj : -width_nj);
}

static void sort_and_merge(struct kwhy_side *side)
{
	size_t kept = 0;

	qsort(side->accounts, side->account_count, sizeof(*side->accounts), compare_accounts);
	for (size_t i = 0; i < side->account_count; i++) {
		if (kept && compare_accounts(&side->accounts[kept - 1], &side->accounts[i]) == 0)
			merge(&side->accounts[kept - 1], &side->accounts[i]);
		else
			side->accounts[kept++] = side->accounts[i];
	}
	side->account_count = kept;
	qsort(side->findings, side->finding_count, sizeof(*side->findings), compare_findings);
}

static size_t count_accounts(const json_t *devices)
{
	size_t i, count = 0;
	json_t *device;

	json_array_foreach(devices, i, device) count += json_array_size(json_object_get(device, "accounts"));
	return count;
}

/* Copies strings from the JSON tree, which is freed, to the arena. */
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
	const json_t *devices = json_object_get(root, "devices"),
		     *findings = json_object_get(root, "findings"), *work = json_object_get(root, "work");

	side->accounts = kwhy_arena_alloc(&side->arena, count_accounts(devices) + 1, sizeof(*side->accounts));
	side->findings = kwhy_arena_alloc(
		&side->arena, json_array_size(findings) + 1, sizeof(*side->findings));
	side->work = kwhy_arena_alloc(&side->arena, json_array_size(work) + 1, sizeof(*side->work));
	if (!side->accounts || !side->findings || !side->work)
		return kwhy_fail_memory(error, "a report to compare");
	read_run(side, json_object_get(root, "run"));
	read_devices(side, devices);
	read_launches(side, json_object_get(root, "api"));
	read_findings(side, findings);
	read_work(side, work);
	sort_and_merge(side);
	return keep_strings(side) ? KWHY_OK : kwhy_fail_memory(error, "a report to compare");
}

enum kwhy_status kwhy_side_read(
	struct kwhy_side *side, const char *label, const char *json, size_t length, struct kwhy_error *error)
{
	json_error_t where;
	json_t *root = json_loadb(json, length, 0, &where);
	struct kwhy_side made = {.device = ""};
	enum kwhy_status status;

	if (!root)
		return kwhy_fail(error, KWHY_E_INPUT,
			"'%.200s' is no valid JSON: %.120s at line %d; write it again with kwhy report "
			"--json",
			label, where.text, where.line);
	made.label = kwhy_arena_copy(&made.arena, label);
	if (!made.label)
		status = kwhy_fail_memory(error, "a report to compare");
	else if (strcmp(string_of(root, "schema"), "kwhy.report/1") == 0 &&
		!json_is_array(json_object_get(root, "devices")))
		status = kwhy_fail(error, KWHY_E_INPUT,
			"'%.200s' has no list of 'devices'; write it again with kwhy report --json", label);
	else if (strcmp(string_of(root, "schema"), "kwhy.report/1") != 0)
		status = kwhy_fail(error, KWHY_E_INPUT,
			"'%.200s' is no report.json of version 1 (its schema is '%.40s'); write it again "
			"with kwhy report --json",
			label, string_of(root, "schema"));
	else
		status = fill(&made, root, error);
	json_decref(root);
	if (status)
		kwhy_arena_done(&made.arena);
	else
		*side = made;
	return status;
}

void kwhy_side_done(struct kwhy_side *side)
{
	kwhy_arena_done(&side->arena);
	*side = (struct kwhy_side){0};
}
