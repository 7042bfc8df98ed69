/* SPDX-License-Identifier: Apache-2.0 */
#include "model/side.h"

#include "model/known_sum.h"
#include "model/run_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAUNCHES_MIN = 1000 };
#define IDLE_MIN_RATIO 0.1

enum kwhy_status kwhy_side_begin(struct kwhy_side_sums *sums, struct kwhy_side *side,
	const struct kwhy_side_counts *counts, struct kwhy_error *error)
{
	*sums = (struct kwhy_side_sums){.side = side};
	side->device = "";
	side->energy_nj = side->idle_nj = 0;
	side->loop_nj = KWHY_UNKNOWN_NJ;
	side->accounts = kwhy_arena_alloc(&side->arena, counts->accounts + 1, sizeof(*side->accounts));
	side->findings = kwhy_arena_alloc(&side->arena, counts->findings + 1, sizeof(*side->findings));
	side->work = kwhy_arena_alloc(&side->arena, counts->work + 1, sizeof(*side->work));
	return side->accounts && side->findings && side->work
		? KWHY_OK
		: kwhy_fail_memory(error, "a report to compare");
}

/*
 * Whether a category, given by its name, is idle time of the run: neither time before or after the run nor
 * unrecorded time.
 */
static bool is_idle(const char *category)
{
	for (int i = 0; i < KWHY_CATEGORY_COUNT; i++)
		if (strcmp(kwhy_category_name((enum kwhy_category)i), category) == 0)
			return kwhy_category_is_idle((enum kwhy_category)i) && i != KWHY_CATEGORY_OUTSIDE &&
				i != KWHY_CATEGORY_UNRECORDED;
	return false;
}

void kwhy_side_add_account(
	struct kwhy_side_sums *sums, const struct kwhy_side_account *account, int64_t mean_power_mw)
{
	struct kwhy_side *side = sums->side;
	double gross_nj = (double)account->gross_nj, energy_nj;

	side->accounts[side->account_count++] = *account;
	if (!is_idle(account->category) || account->gross_nj == KWHY_UNKNOWN_NJ)
		return;
	kwhy_known_add(&side->idle_nj, account->gross_nj);
	if (!(gross_nj > 0))
		return;
	energy_nj = (double)mean_power_mw * 1e-3 * (double)account->time_ns;
	sums->own_idle_nj += energy_nj;
	sums->own_half_ci90_nj += ((double)account->high_nj - (double)account->low_nj) / 2 * energy_nj /
		gross_nj;
	sums->own_idle_ns += (double)account->time_ns;
}

/*
 * Power of an idle device, in W, with half of its 90 % interval: the mean over the idle time of the run if
 * that is at least IDLE_MIN_RATIO of the run, else the context idle power.
 */
struct idle_level {
	double power_w, half_ci90_w; /* NAN: unknown */
};

static struct idle_level idle_level_of(
	const struct kwhy_side_sums *sums, const struct kwhy_side_device *device)
{
	/* with less idle time, the meter does not show the power of the idle time well enough */
	if (sums->own_idle_nj > 0 && sums->own_idle_ns > 0 &&
		sums->own_idle_ns >= IDLE_MIN_RATIO * (double)device->span_ns)
		return (struct idle_level){
			sums->own_idle_nj / sums->own_idle_ns, sums->own_half_ci90_nj / sums->own_idle_ns};
	return (struct idle_level){device->context_idle_w, NAN};
}

/* Adds the energy that the device would have drawn if it had idled for all of its span. */
static void add_idle(struct kwhy_side_sums *sums, const struct kwhy_side_device *device)
{
	struct idle_level idle = idle_level_of(sums, device);
	double span_ns = (double)device->span_ns, run_ns = (double)device->last_ns - (double)device->first_ns;

	/*
	 * A device's run counts as metered if readings cover at least half of its time, or if its energy is
	 * modelled.
	 */
	sums->is_unseen |= !device->modelled && !(2 * device->unseen_ns <= run_ns);
	sums->idle_nj += idle.power_w * span_ns;
	sums->idle_half_ci90_nj += idle.half_ci90_w * span_ns;
}

/*
 * Adds a device's metered energy and the mean power of its metered time. The energy of a device that was
 * active must be known, else the sums will be unknown; a device that was not active is included if its energy
 * is known.
 */
static void add_energy(struct kwhy_side_sums *sums, const struct kwhy_side_device *device)
{
	struct kwhy_side *side = sums->side;

	if (device->attributed_nj == KWHY_UNKNOWN_NJ) {
		sums->energy_missing |= device->span_ns > 0;
		return;
	}
	sums->known_count++;
	kwhy_known_add(&side->energy_nj, device->attributed_nj);
	side->power_w += device->metered_ns > 0 ? (double)device->attributed_nj / device->metered_ns : NAN;
	side->modelled |= device->modelled;
}

static void widen_run(struct kwhy_side *side, const struct kwhy_side_device *device)
{
	bool is_first = side->first_ns == side->last_ns;

	if (device->first_ns == KWHY_UNKNOWN_NS || device->last_ns == KWHY_UNKNOWN_NS)
		return;
	side->first_ns = is_first || device->first_ns < side->first_ns ? device->first_ns : side->first_ns;
	side->last_ns = is_first || device->last_ns > side->last_ns ? device->last_ns : side->last_ns;
}

void kwhy_side_add_device(struct kwhy_side_sums *sums, const struct kwhy_side_device *device)
{
	struct kwhy_side *side = sums->side;

	side->span_ns = device->span_ns > side->span_ns ? device->span_ns : side->span_ns;
	kwhy_time_add(&sums->span_ns, device->span_ns);
	kwhy_time_add(&sums->busy_ns, device->busy_ns);
	kwhy_time_add(&side->idle_ns, device->idle_ns);
	if (!*side->device)
		side->device = device->name;
	add_energy(sums, device);
	if (device->span_ns) {
		widen_run(side, device);
		add_idle(sums, device);
	}
	sums->own_idle_nj = sums->own_half_ci90_nj = sums->own_idle_ns = 0;
}

void kwhy_side_add_call(struct kwhy_side_sums *sums, const char *name, double count, double total_ns)
{
	if (!strstr(name, "LaunchKernel"))
		return;
	sums->launch_ns += total_ns;
	sums->launch_count += count;
}

void kwhy_side_add_steps(struct kwhy_side_sums *sums, uint64_t count, int64_t loop_ns, int64_t loop_nj)
{
	if (!count || loop_ns <= 0)
		return;
	sums->side->step_count = count;
	sums->side->loop_ns = loop_ns;
	sums->side->loop_nj = loop_nj;
}

void kwhy_side_add_finding(struct kwhy_side_sums *sums, const struct kwhy_side_finding *finding)
{
	sums->side->findings[sums->side->finding_count++] = *finding;
}

void kwhy_side_add_work(struct kwhy_side_sums *sums, const struct kwhy_side_work *work)
{
	if (work->count > 0)
		sums->side->work[sums->side->work_count++] = *work;
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
 * Adds an account of another device to the account of the same name and category. The devices' powers were
 * fitted separately, so half-widths add in quadrature.
 */
static void merge(struct kwhy_side_account *into, const struct kwhy_side_account *more)
{
	int64_t a_nj = half_width_nj(into), b_nj = half_width_nj(more);
	int64_t width_nj = a_nj == KWHY_UNKNOWN_NJ || b_nj == KWHY_UNKNOWN_NJ
		? KWHY_UNKNOWN_NJ
		: kwhy_whole_nj(hypot((double)a_nj, (double)b_nj));

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

static void take_run(struct kwhy_side *side, int64_t run_nj, int64_t low_nj, int64_t high_nj)
{
	side->run_nj = run_nj;
	side->run_below_nj = side->run_above_nj = NAN;
	if (run_nj == KWHY_UNKNOWN_NJ || low_nj == KWHY_UNKNOWN_NJ || high_nj == KWHY_UNKNOWN_NJ)
		return;
	side->run_below_nj = (double)run_nj - (double)low_nj;
	side->run_above_nj = (double)high_nj - (double)run_nj;
}

/*
 * Sets seen_run_nj and net_nj with its interval. They are unknown if the run of any device is mostly
 * unmetered, because these figures serve to check projections, for which such a run is too uncertain.
 */
static void set_seen(struct kwhy_side *side, const struct kwhy_side_sums *sums)
{
	double net_nj;

	side->seen_run_nj = sums->energy_missing || sums->is_unseen ? KWHY_UNKNOWN_NJ : side->run_nj;
	side->net_nj = side->net_low_nj = side->net_high_nj = KWHY_UNKNOWN_NJ;
	if (side->seen_run_nj == KWHY_UNKNOWN_NJ)
		return;
	net_nj = (double)side->run_nj - sums->idle_nj;
	side->net_nj = kwhy_whole_nj(net_nj);
	/*
	 * The half-widths add linearly, because both errors have one cause: if the true idle power is higher
	 * than estimated, then more energy was drawn for idling during the run, and more before and after the
	 * run, so that less of the metered energy is the run's.
	 */
	side->net_low_nj = kwhy_whole_nj(net_nj - sums->idle_half_ci90_nj - side->run_below_nj);
	side->net_high_nj = kwhy_whole_nj(net_nj + sums->idle_half_ci90_nj + side->run_above_nj);
}

void kwhy_side_end(struct kwhy_side_sums *sums, int64_t run_nj, int64_t low_nj, int64_t high_nj)
{
	struct kwhy_side *side = sums->side;

	take_run(side, run_nj, low_nj, high_nj);
	/* the sums are unknown if the energy of any active device is unknown, or of all devices */
	if (sums->energy_missing || !sums->known_count) {
		side->energy_nj = side->idle_nj = KWHY_UNKNOWN_NJ;
		side->power_w = NAN;
	}
	/* the mean power of the run replaces that of all metered time */
	if (run_nj != KWHY_UNKNOWN_NJ && side->span_ns > 0 && !side->modelled)
		side->power_w = kwhy_run_power_w((double)run_nj, (double)side->span_ns);
	/* idle time is known only if work was recorded */
	if (!sums->span_ns)
		side->idle_nj = KWHY_UNKNOWN_NJ;
	set_seen(side, sums);
	side->spans_ns = sums->span_ns;
	side->busy_ratio = sums->span_ns > 0 ? (double)sums->busy_ns / (double)sums->span_ns : NAN;
	/*
	 * LAUNCHES_MIN calls are enough that the first one, which takes longer because it loads code, changes
	 * the mean little
	 */
	side->launch_ns = sums->launch_count >= LAUNCHES_MIN ? sums->launch_ns / sums->launch_count : NAN;
	sort_and_merge(side);
}

const struct kwhy_side_account *kwhy_side_account_of(
	const struct kwhy_side *side, const char *category, const char *name)
{
	const struct kwhy_side_account wanted = {.category = category, .name = name};

	return bsearch(&wanted, side->accounts, side->account_count, sizeof(wanted), compare_accounts);
}

const struct kwhy_side_work *kwhy_side_work_of(const struct kwhy_side *side, const char *unit)
{
	for (size_t i = 0; i < side->work_count; i++)
		if (strcmp(side->work[i].unit, unit) == 0)
			return &side->work[i];
	return NULL;
}

bool kwhy_side_has_finding(const struct kwhy_side *side, const char *id)
{
	for (size_t i = 0; i < side->finding_count; i++)
		if (strcmp(side->findings[i].id, id) == 0)
			return true;
	return false;
}

/*
 * Copies the findings of one id to `side` if more than half of the runs have a finding with this id. Those of
 * the first run that has one with this id are copied.
 */
static void sum_findings(struct kwhy_side *side, const struct kwhy_side *runs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		for (size_t f = 0; f < runs[i].finding_count; f++) {
			const struct kwhy_side_finding *finding = &runs[i].findings[f];
			size_t having = 0, first = count;

			for (size_t run = 0; run < count; run++)
				if (kwhy_side_has_finding(&runs[run], finding->id)) {
					first = first == count ? run : first;
					having++;
				}
			if (first == i && 2 * having > count)
				side->findings[side->finding_count++] = *finding;
		}
}

/* Adds up the amounts of each unit of work that every run has. */
static void sum_work(struct kwhy_side *side, const struct kwhy_side *runs, size_t count)
{
	for (size_t i = 0; i < runs[0].work_count; i++) {
		struct kwhy_side_work sum = {runs[0].work[i].unit, 0, NAN};
		bool everywhere = true;

		for (size_t run = 0; run < count; run++) {
			const struct kwhy_side_work *work = kwhy_side_work_of(&runs[run], sum.unit);

			everywhere &= work != NULL;
			sum.count += work ? work->count : 0;
		}
		if (everywhere)
			side->work[side->work_count++] = sum;
	}
}

/* Adds those figures of one run that can be added up over runs. */
static void sum_figures(struct kwhy_side *side, const struct kwhy_side *run)
{
	kwhy_known_add(&side->energy_nj, run->energy_nj);
	kwhy_known_add(&side->run_nj, run->run_nj);
	kwhy_known_add(&side->idle_nj, run->idle_nj);
	kwhy_time_add(&side->span_ns, run->span_ns);
	kwhy_time_add(&side->idle_ns, run->idle_ns);
	kwhy_time_add(&side->spans_ns, run->spans_ns);
	side->step_count += run->step_count;
	side->modelled |= run->modelled;
	side->truncated |= run->truncated;
}

enum kwhy_status kwhy_side_sum(
	struct kwhy_side *side, const struct kwhy_side *runs, size_t count, struct kwhy_error *error)
{
	struct kwhy_side sum = {.device = runs[0].device,
		.seen_run_nj = KWHY_UNKNOWN_NJ,
		.net_nj = KWHY_UNKNOWN_NJ,
		.net_low_nj = KWHY_UNKNOWN_NJ,
		.net_high_nj = KWHY_UNKNOWN_NJ,
		.run_below_nj = NAN,
		.run_above_nj = NAN,
		.loop_nj = KWHY_UNKNOWN_NJ,
		.power_w = NAN,
		.busy_ratio = NAN,
		.launch_ns = NAN};
	size_t accounts = 0, findings = 0;

	for (size_t i = 0; i < count; i++) {
		accounts += runs[i].account_count;
		findings += runs[i].finding_count;
	}
	sum.accounts = kwhy_arena_alloc(&sum.arena, accounts + 1, sizeof(*sum.accounts));
	sum.findings = kwhy_arena_alloc(&sum.arena, findings + 1, sizeof(*sum.findings));
	sum.work = kwhy_arena_alloc(&sum.arena, runs[0].work_count + 1, sizeof(*sum.work));
	sum.label = kwhy_arena_printf(&sum.arena, "%s and %zu more", runs[0].label, count - 1);
	if (!sum.label || !sum.accounts || !sum.findings || !sum.work) {
		kwhy_arena_done(&sum.arena);
		return kwhy_fail_memory(error, "a side to compare");
	}
	for (size_t i = 0; i < count; i++) {
		memcpy(sum.accounts + sum.account_count, runs[i].accounts,
			runs[i].account_count * sizeof(*sum.accounts));
		sum.account_count += runs[i].account_count;
		sum_figures(&sum, &runs[i]);
	}
	sum_findings(&sum, runs, count);
	sum_work(&sum, runs, count);
	sort_and_merge(&sum);
	*side = sum;
	return KWHY_OK;
}

void kwhy_side_done(struct kwhy_side *side)
{
	kwhy_arena_done(&side->arena);
	*side = (struct kwhy_side){0};
}
