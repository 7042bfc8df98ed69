/* SPDX-License-Identifier: Apache-2.0 */
#include "report/totals.h"

#include "base/quantity.h"
#include "model/known_sum.h"
#include "model/run_energy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WINDOWS_APART_RATIO 0.01

/*
 * Adds the energy of a device's run. run_nj becomes NAN if one device's is unknown; recorded_nj and
 * unmetered_nj are sums over the active devices where they are known.
 */
static void add_run(struct kwhy_totals *totals, const struct kwhy_device_ledger *device_ledger)
{
	const struct kwhy_run_energy run = kwhy_run_energy_of(device_ledger);

	totals->run_nj += run.run_nj;
	totals->run_below_nj = hypot(totals->run_below_nj, run.below_nj);
	totals->run_above_nj = hypot(totals->run_above_nj, run.above_nj);
	if (isnan(run.recorded_nj) || !kwhy_device_was_active(&device_ledger->time))
		return;
	totals->recorded_nj = run.recorded_nj + (isnan(totals->recorded_nj) ? 0 : totals->recorded_nj);
	totals->unmetered_nj += isnan(run.run_nj) ? run.recorded_unmetered_nj : run.unmetered_nj;
}

/*
 * Adds the energies of the accounts of a device whose energy is known to the sums idle_nj, unrecorded_nj,
 * run_metered_nj and run_idle_nj.
 */
static void add_accounts(struct kwhy_totals *totals, const struct kwhy_device_ledger *device_ledger)
{
	for (size_t i = 0; i < device_ledger->account_count; i++) {
		const struct kwhy_account *account = &device_ledger->accounts[i];
		bool idle = kwhy_category_is_idle((enum kwhy_category)account->category);

		if (idle)
			kwhy_known_add(&totals->idle_nj, account->gross_nj);
		if (account->category == KWHY_CATEGORY_UNRECORDED)
			kwhy_known_add(&totals->unrecorded_nj, account->gross_nj);
		if (account->category >= KWHY_CATEGORY_OUTSIDE)
			continue;
		kwhy_known_add(&totals->run_metered_nj, account->gross_nj);
		if (idle)
			kwhy_known_add(&totals->run_idle_nj, account->gross_nj);
	}
}

/* Energy drawn on a device while kwhy probe was at work, nJ. Only totals->probing_nj includes it. */
static int64_t probing_nj(const struct kwhy_device_ledger *device_ledger)
{
	int64_t sum_nj = 0;

	for (size_t i = 0; i < device_ledger->account_count; i++)
		if (device_ledger->accounts[i].category == KWHY_CATEGORY_PROBING)
			kwhy_known_add(&sum_nj, device_ledger->accounts[i].gross_nj);
	return sum_nj;
}

static void add_device(struct kwhy_totals *totals, const struct kwhy_device_ledger *device_ledger)
{
	const struct kwhy_device_energy *energy = &device_ledger->energy;
	int64_t window_ns = energy->metered_ns - device_ledger->time.probing_ns;

	totals->active_count += kwhy_device_was_active(&device_ledger->time);
	add_run(totals, device_ledger);
	if (device_ledger->time.span_ns > 0)
		totals->run_s = fmax(totals->run_s, (double)kwhy_run_ns(&device_ledger->time) * 1e-9);
	kwhy_time_add(
		&totals->span_ns, kwhy_run_ns(&device_ledger->time) - device_ledger->time.unrecorded_ns);
	kwhy_time_add(&totals->whole_ns,
		device_ledger->coverage.select_end_ns - device_ledger->coverage.select_start_ns);
	kwhy_time_add(&totals->run_unrecorded_ns, device_ledger->time.unrecorded_ns);
	kwhy_time_add(&totals->busy_ns, device_ledger->time.busy_ns);
	kwhy_time_add(&totals->probing_ns, device_ledger->time.probing_ns);
	if (!energy->known)
		return;
	if (!totals->known_count++) {
		totals->energy_nj = totals->idle_nj = totals->unrecorded_nj = 0;
		totals->run_metered_nj = totals->run_idle_nj = 0;
		totals->power_w = 0;
		totals->least_window_ns = window_ns;
	}
	totals->modelled |= energy->modelled;
	kwhy_known_add(&totals->energy_nj, energy->attributed_nj - probing_nj(device_ledger));
	kwhy_known_add(&totals->probing_nj, probing_nj(device_ledger));
	totals->counting_nj += energy->counting_nj;
	totals->window_ns = window_ns > totals->window_ns ? window_ns : totals->window_ns;
	totals->least_window_ns = window_ns < totals->least_window_ns ? window_ns : totals->least_window_ns;
	totals->power_w += window_ns > 0
		? (double)(energy->attributed_nj - probing_nj(device_ledger)) / (double)window_ns
		: NAN;
	add_accounts(totals, device_ledger);
}

static double metered_ns(const struct kwhy_account *account)
{
	return account->mean_power_mw > 0 && account->gross_nj != KWHY_UNKNOWN_NJ
		? (double)account->gross_nj * 1e3 / (double)account->mean_power_mw
		: NAN;
}

static struct kwhy_total total_of(const struct kwhy_account *account)
{
	return (struct kwhy_total){.category = account->category,
		.name = account->name ? account->name : "",
		.count = account->count,
		.time_ns = account->time_ns,
		.gross_nj = account->gross_nj,
		.idle_nj = account->idle_nj,
		.net_nj = account->net_nj,
		.low_nj = account->low_nj,
		.high_nj = account->high_nj,
		.metered_ns = metered_ns(account),
		.basis = account->basis,
		.above_samples = account->above_samples,
		.above_limit = account->above_limit};
}

/* Row of an account with its time and energy as estimated for the whole run. */
static struct kwhy_total whole_of(const struct kwhy_account *account)
{
	struct kwhy_total row = total_of(account);

	row.time_ns = account->whole_ns;
	row.gross_nj = account->whole_nj;
	row.low_nj = account->whole_low_nj;
	row.high_nj = account->whole_high_nj;
	row.idle_nj = row.net_nj = KWHY_UNKNOWN_NJ;
	row.metered_ns = NAN;
	return row;
}

static int compare_names(const void *a, const void *b)
{
	const struct kwhy_total *x = a, *y = b;

	return x->category != y->category ? (x->category > y->category) - (x->category < y->category)
					  : strcmp(x->name, y->name);
}

static int compare_sizes(const void *a, const void *b)
{
	const struct kwhy_total *x = a, *y = b;

	if (x->gross_nj != y->gross_nj)
		return x->gross_nj < y->gross_nj ? 1 : -1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? 1 : -1;
	return compare_names(a, b);
}

/*
 * Combines the distances a_nj and b_nj of the ends of two devices' intervals from their energies. The
 * devices' powers were fitted separately, so their errors are independent and the distances add in
 * quadrature. KWHY_UNKNOWN_NJ: a value is unknown.
 */
static int64_t away_nj(int64_t gross_nj, int64_t a_nj, int64_t b_nj)
{
	if (gross_nj == KWHY_UNKNOWN_NJ || a_nj == KWHY_UNKNOWN_NJ || b_nj == KWHY_UNKNOWN_NJ)
		return KWHY_UNKNOWN_NJ;
	return llround(hypot((double)a_nj, (double)b_nj));
}

static int64_t difference_nj(int64_t a_nj, int64_t b_nj)
{
	return a_nj == KWHY_UNKNOWN_NJ || b_nj == KWHY_UNKNOWN_NJ ? KWHY_UNKNOWN_NJ : a_nj - b_nj;
}

static void merge(struct kwhy_total *into, const struct kwhy_total *row)
{
	int64_t below_nj = away_nj(row->gross_nj, difference_nj(into->gross_nj, into->low_nj),
		difference_nj(row->gross_nj, row->low_nj));
	int64_t above_nj = away_nj(row->gross_nj, difference_nj(into->high_nj, into->gross_nj),
		difference_nj(row->high_nj, row->gross_nj));

	into->count += row->count;
	kwhy_time_add(&into->time_ns, row->time_ns);
	into->metered_ns += row->metered_ns;
	kwhy_known_add(&into->gross_nj, row->gross_nj);
	kwhy_known_add(&into->idle_nj, row->idle_nj);
	kwhy_known_add(&into->net_nj, row->net_nj);
	into->low_nj = difference_nj(into->gross_nj, below_nj);
	into->high_nj = into->gross_nj;
	kwhy_known_add(&into->high_nj, above_nj);
	into->basis = into->basis > row->basis ? into->basis : row->basis;
	into->above_samples |= row->above_samples;
	into->above_limit |= row->above_limit;
}

static size_t merge_equal(struct kwhy_total *rows, size_t count, bool is_several)
{
	size_t kept = 0;

	if (!is_several)
		return count;
	qsort(rows, count, sizeof(*rows), compare_names);
	for (size_t i = 0; i < count; i++) {
		if (kept && compare_names(&rows[kept - 1], &rows[i]) == 0)
			merge(&rows[kept - 1], &rows[i]);
		else
			rows[kept++] = rows[i];
	}
	qsort(rows, kept, sizeof(*rows), compare_sizes);
	return kept;
}

/*
 * Fills whole_rows with the accounts that have estimates for the whole run, which exist for devices recorded
 * in random windows.
 */
static void add_wholes(struct kwhy_totals *totals, const struct kwhy_ledger *ledger)
{
	for (size_t d = 0; d < ledger->device_count; d++)
		for (size_t i = 0; i < ledger->devices[d].account_count; i++)
			if (ledger->devices[d].accounts[i].has_whole)
				totals->whole_rows[totals->whole_count++] = whole_of(
					&ledger->devices[d].accounts[i]);
	totals->whole_count = merge_equal(totals->whole_rows, totals->whole_count, ledger->device_count > 1);
	qsort(totals->whole_rows, totals->whole_count, sizeof(*totals->whole_rows), compare_sizes);
}

/*
 * Sets *out to the part of an account that belongs to the run. False: there is none. All accounts but two
 * kinds belong to the run entirely: of time outside of the run nothing does, of unrecorded time the part
 * between first start and last end.
 */
static bool run_row_of(const struct kwhy_device_ledger *device_ledger, const struct kwhy_account *account,
	struct kwhy_total *out)
{
	const struct kwhy_device_energy *energy = &device_ledger->energy;
	double ratio;

	*out = total_of(account);
	if (account->category != KWHY_CATEGORY_UNRECORDED)
		return account->category != KWHY_CATEGORY_OUTSIDE;
	out->time_ns = device_ledger->time.unrecorded_ns;
	if (account->gross_nj == KWHY_UNKNOWN_NJ || !energy->known)
		return out->time_ns > 0;
	ratio = account->gross_nj > 0 ? (double)energy->between_nj / (double)account->gross_nj : 0;
	out->gross_nj = energy->between_nj;
	out->idle_nj = out->net_nj = KWHY_UNKNOWN_NJ;
	if (account->low_nj != KWHY_UNKNOWN_NJ)
		out->low_nj = llround((double)account->low_nj * ratio);
	if (account->high_nj != KWHY_UNKNOWN_NJ)
		out->high_nj = llround((double)account->high_nj * ratio);
	out->metered_ns = (double)energy->between_ns;
	return out->time_ns > 0;
}

static void add_run_rows(struct kwhy_totals *totals, const struct kwhy_ledger *ledger)
{
	for (size_t d = 0; d < ledger->device_count; d++)
		for (size_t i = 0; i < ledger->devices[d].account_count; i++) {
			const struct kwhy_account *account = &ledger->devices[d].accounts[i];

			if (account->category != KWHY_CATEGORY_PROBING)
				totals->run_row_count += run_row_of(&ledger->devices[d], account,
					&totals->run_rows[totals->run_row_count]);
		}
	totals->run_row_count = merge_equal(
		totals->run_rows, totals->run_row_count, ledger->device_count > 1);
	qsort(totals->run_rows, totals->run_row_count, sizeof(*totals->run_rows), compare_sizes);
}

/* Takes all that was metered as the run. Called if no device has activities, which would define the run. */
static void take_whole_window(struct kwhy_totals *totals, size_t devices)
{
	totals->run_nj = totals->energy_nj != KWHY_UNKNOWN_NJ && totals->known_count == devices
		? (double)totals->energy_nj
		: NAN;
	totals->recorded_nj = totals->run_nj;
	totals->run_below_nj = totals->run_above_nj = NAN;
	if (totals->window_ns > 0)
		totals->run_s = (double)totals->window_ns * 1e-9;
}

enum kwhy_status kwhy_totals_init(
	struct kwhy_totals *totals, const struct kwhy_ledger *ledger, struct kwhy_error *error)
{
	size_t count = 0;

	*totals = (struct kwhy_totals){.energy_nj = KWHY_UNKNOWN_NJ,
		.idle_nj = KWHY_UNKNOWN_NJ,
		.unrecorded_nj = KWHY_UNKNOWN_NJ,
		.run_metered_nj = KWHY_UNKNOWN_NJ,
		.run_idle_nj = KWHY_UNKNOWN_NJ,
		.recorded_nj = NAN,
		.run_s = NAN,
		.power_w = NAN};
	for (size_t d = 0; d < ledger->device_count; d++)
		count += ledger->devices[d].account_count;
	totals->rows = calloc(count + 1, sizeof(*totals->rows));
	totals->run_rows = calloc(count + 1, sizeof(*totals->run_rows));
	totals->whole_rows = calloc(count + 1, sizeof(*totals->whole_rows));
	if (!totals->rows || !totals->run_rows || !totals->whole_rows) {
		kwhy_totals_done(totals);
		return kwhy_fail_memory(error, "the totals of the report");
	}
	for (size_t d = 0; d < ledger->device_count; d++) {
		add_device(totals, &ledger->devices[d]);
		for (size_t i = 0; i < ledger->devices[d].account_count; i++)
			if (ledger->devices[d].accounts[i].category != KWHY_CATEGORY_PROBING)
				totals->rows[totals->row_count++] = total_of(&ledger->devices[d].accounts[i]);
	}
	if (!totals->active_count)
		take_whole_window(totals, ledger->device_count);
	totals->row_count = merge_equal(totals->rows, totals->row_count, ledger->device_count > 1);
	add_run_rows(totals, ledger);
	add_wholes(totals, ledger);
	return KWHY_OK;
}

void kwhy_totals_done(struct kwhy_totals *totals)
{
	free(totals->rows);
	free(totals->run_rows);
	free(totals->whole_rows);
	*totals = (struct kwhy_totals){0};
}

bool kwhy_totals_windows_differ(const struct kwhy_totals *totals)
{
	return (double)(totals->window_ns - totals->least_window_ns) >
		WINDOWS_APART_RATIO * (double)totals->window_ns;
}

bool kwhy_totals_shows_run(const struct kwhy_totals *totals)
{
	return totals->active_count && !totals->modelled && isfinite(totals->run_nj);
}

double kwhy_totals_shown_nj(const struct kwhy_totals *totals)
{
	if (kwhy_totals_shows_run(totals))
		return totals->run_nj;
	return totals->energy_nj == KWHY_UNKNOWN_NJ ? NAN : (double)totals->energy_nj;
}

bool kwhy_totals_look_equal(double a_nj, double b_nj)
{
	char a[KWHY_QUANTITY_BYTES], b[KWHY_QUANTITY_BYTES];

	return strcmp(kwhy_quantity_si(a, a_nj * 1e-9, "J", 3), kwhy_quantity_si(b, b_nj * 1e-9, "J", 3)) ==
		0;
}

/*
 * Half-width of an account's 90 % interval, nJ. Without a known interval it is the account's energy, which
 * counts as unknown within 100 %.
 */
static double half_width_nj(const struct kwhy_total *row)
{
	return row->low_nj == KWHY_UNKNOWN_NJ || row->high_nj == KWHY_UNKNOWN_NJ
		? (double)row->gross_nj
		: 0.5 * ((double)row->high_nj - (double)row->low_nj);
}

struct kwhy_totals_known kwhy_totals_known_within(const struct kwhy_totals *totals, double within_ratio)
{
	struct kwhy_totals_known sums = {0};

	for (size_t i = 0; i < totals->row_count; i++) {
		const struct kwhy_total *row = &totals->rows[i];

		if (row->category > KWHY_CATEGORY_MEMSET || row->gross_nj == KWHY_UNKNOWN_NJ)
			continue;
		kwhy_known_add(&sums.busy_nj, row->gross_nj);
		sums.half_nj += half_width_nj(row);
		if (half_width_nj(row) <= within_ratio * (double)row->gross_nj)
			kwhy_known_add(&sums.known_nj, row->gross_nj);
	}
	return sums;
}

double kwhy_totals_paid_nj(const struct kwhy_totals *totals)
{
	if (isfinite(totals->run_nj))
		return totals->run_nj;
	if (totals->energy_nj == KWHY_UNKNOWN_NJ || totals->unrecorded_nj == KWHY_UNKNOWN_NJ)
		return NAN;
	return (double)totals->energy_nj;
}

double kwhy_totals_run_low_nj(const struct kwhy_totals *totals)
{
	return isnan(totals->run_nj) || totals->run_below_nj < totals->run_nj
		? totals->run_nj - totals->run_below_nj
		: totals->run_below_nj * 0;
}

const char *kwhy_totals_no_energy(const struct kwhy_recording *recording)
{
	bool of_device = false, of_whole = false;

	for (size_t i = 0; i < recording->power_count; i++) {
		const struct kwhy_power_series *series = &recording->power[i];

		of_device |= series->device != KWHY_NONE;
		of_whole |= series->device != KWHY_NONE &&
			kwhy_meter_row(series->meter)->owner != KWHY_METER_OWNER_GPU_MEMORY;
	}
	if (!recording->power_count)
		return "no power readings; give --power FILE or --assume-power";
	if (!of_device)
		return "all power readings are of the host; give a device's, or --assume-power";
	if (!of_whole)
		return "nvml.memory_average_mw is of a device's memory alone; give readings of the device, "
		       "or --assume-power";
	return "too few power readings of a device lie inside what was recorded";
}

double kwhy_totals_share(const struct kwhy_totals *totals, const struct kwhy_total *row)
{
	if (totals->energy_nj != KWHY_UNKNOWN_NJ)
		return row->gross_nj == KWHY_UNKNOWN_NJ || totals->energy_nj <= 0
			? NAN
			: (double)row->gross_nj / (double)totals->energy_nj;
	return totals->span_ns > 0 ? (double)row->time_ns / (double)totals->span_ns : NAN;
}

double kwhy_total_power_w(const struct kwhy_total *row)
{
	return row->gross_nj == KWHY_UNKNOWN_NJ ? NAN : (double)row->gross_nj / row->metered_ns;
}

double kwhy_total_each_j(const struct kwhy_total *row)
{
	return row->count ? kwhy_total_power_w(row) * (double)row->time_ns * 1e-9 / (double)row->count : NAN;
}

static void add_to_sum(struct kwhy_category_sum *sum, const struct kwhy_total *row)
{
	sum->account_count++;
	sum->sum.count += row->count;
	kwhy_time_add(&sum->sum.time_ns, row->time_ns);
	kwhy_known_add(&sum->sum.gross_nj, row->gross_nj);
	kwhy_known_add(&sum->sum.idle_nj, row->idle_nj);
	kwhy_known_add(&sum->sum.net_nj, row->net_nj);
}

void kwhy_totals_categories(
	const struct kwhy_totals *totals, struct kwhy_category_sum out_sums[KWHY_CATEGORY_COUNT + 1])
{
	for (uint32_t category = 0; category <= KWHY_CATEGORY_COUNT; category++)
		out_sums[category] = (struct kwhy_category_sum){.sum.category = category};
	for (size_t i = 0; i < totals->row_count; i++) {
		add_to_sum(&out_sums[totals->rows[i].category], &totals->rows[i]);
		add_to_sum(&out_sums[KWHY_CATEGORY_COUNT], &totals->rows[i]);
	}
}
