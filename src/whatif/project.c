/* SPDX-License-Identifier: Apache-2.0 */
#include "whatif/project.h"

#include "model/run_energy.h"
#include "whatif/critical.h"
#include "whatif/edits.h"
#include "whatif/steps.h"
#include "whatif/warmups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Projected energy of the changed run: the recorded energy, less the energy above idle of removed work, less
 * the idle power times the time saved. Work that becomes shorter draws its power above idle for a shorter
 * time. Idle power is that of the ledger's idle accounts if the device idled for at least IDLE_MIN_RATIO of
 * the span, else its idle level.
 */

#define IDLE_MIN_RATIO 0.1

/*
 * Whether an account is for time that is not in the graph: before the first and after the last work, time of
 * kwhy probe, and unrecorded time.
 */
static bool is_elsewhere(const struct kwhy_account *account)
{
	return account->category == KWHY_CATEGORY_OUTSIDE || account->category == KWHY_CATEGORY_PROBING ||
		account->category == KWHY_CATEGORY_UNRECORDED;
}

/*
 * Whether the energy is modelled, or readings cover at least half of the time from the first to the last work
 * of the device.
 */
static bool is_seen(const struct kwhy_device_ledger *ledger)
{
	const struct kwhy_device_energy *energy = &ledger->energy;
	const struct kwhy_device_time *time = &ledger->time;

	return energy->modelled || 2 * energy->edge_ns <= time->last_ns - time->first_ns;
}

static double spread_of(const struct kwhy_account *account)
{
	if (account->gross_nj <= 0 || account->high_nj == KWHY_UNKNOWN_NJ ||
		account->low_nj == KWHY_UNKNOWN_NJ)
		return 0;
	return (double)(account->high_nj - account->low_nj) / 2 / (double)account->gross_nj;
}

/*
 * Sets idle_w of a device, and its uncertainty: the mean power of the ledger's idle accounts or, if these
 * cover too little time, the device's idle level with a context. If readings cover less than half of the
 * device's run, both stay unknown, and with them the projected energy.
 */
static void read_idle_power(struct kwhy_whatif *whatif, uint32_t device)
{
	const struct kwhy_device_ledger *ledger = &whatif->ledger->devices[device];
	double energy_nj = 0, spread_nj = 0, time_ns = 0;
	bool is_reported;

	if (!is_seen(ledger) || isnan(kwhy_run_energy_of(ledger).recorded_nj))
		return;
	for (size_t i = 0; i < ledger->account_count; i++) {
		const struct kwhy_account *account = &ledger->accounts[i];
		double own_nj = (double)account->mean_power_mw * 1e-3 * (double)account->time_ns;

		if (!kwhy_category_is_idle(account->category) || is_elsewhere(account) ||
			account->gross_nj == KWHY_UNKNOWN_NJ || account->mean_power_mw < 0)
			continue;
		energy_nj += own_nj;
		spread_nj += spread_of(account) * own_nj;
		time_ns += (double)account->time_ns;
	}
	/* too short idle time is not visible in readings */
	is_reported = energy_nj > 0 && time_ns > 0 &&
		time_ns >= IDLE_MIN_RATIO * (double)ledger->time.span_ns;
	whatif->idle_w[device] = is_reported ? energy_nj / time_ns : ledger->energy.context_idle_w;
	whatif->idle_half_ci90_w[device] = is_reported ? spread_nj / time_ns : 0;
}

static void read_device_powers(struct kwhy_whatif *whatif, uint32_t device)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;
	const struct kwhy_device_ledger *ledger = whatif->ledger ? &whatif->ledger->devices[device] : NULL;
	double idle_w = whatif->idle_w[device];

	for (size_t i = rows->first[device]; i < rows->first[device + 1]; i++) {
		double length_ns = (double)(rows->end_ns[i] - rows->start_ns[i]);
		double energy_nj = isfinite(idle_w) && length_ns > 0
			? kwhy_ledger_activity_nj(whatif->ledger, whatif->recording, i)
			: NAN;

		whatif->net_w[i] = length_ns > 0 ? (float)(energy_nj / length_ns - idle_w) : 0;
		if (ledger && isfinite(energy_nj))
			whatif->half_ci90_ratio[i] = (float)spread_of(
				&ledger->accounts[ledger->account_of[i - rows->first[device]]]);
	}
}

static void read_window(struct kwhy_whatif *whatif)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;

	whatif->first_ns = rows->count ? INT64_MAX : 0;
	whatif->last_ns = rows->count ? INT64_MIN : 0;
	for (size_t i = 0; i < rows->count; i++) {
		whatif->first_ns = rows->start_ns[i] < whatif->first_ns ? rows->start_ns[i]
									: whatif->first_ns;
		whatif->last_ns = rows->end_ns[i] > whatif->last_ns ? rows->end_ns[i] : whatif->last_ns;
	}
}

enum kwhy_status kwhy_whatif_read_powers(struct kwhy_whatif *whatif, struct kwhy_error *error)
{
	const size_t rows = whatif->recording->activities.count;
	const size_t *first = whatif->recording->activities.first;

	read_window(whatif);
	whatif->has_energy = whatif->ledger && rows;
	for (uint32_t d = 0; d < whatif->recording->device_count; d++) {
		bool known = whatif->ledger && whatif->ledger->devices[d].energy.known;

		whatif->idle_w[d] = NAN;
		if (known)
			read_idle_power(whatif, d);
		if (first[d] != first[d + 1] && !isfinite(whatif->idle_w[d]))
			whatif->has_energy = false;
	}
	if (!whatif->has_energy)
		return KWHY_OK;
	whatif->net_w = malloc(rows * sizeof(*whatif->net_w));
	whatif->half_ci90_ratio = calloc(rows, sizeof(*whatif->half_ci90_ratio));
	if (!whatif->net_w || !whatif->half_ci90_ratio)
		return kwhy_fail_memory(error, "the powers of activities");
	for (uint32_t d = 0; d < whatif->recording->device_count; d++)
		read_device_powers(whatif, d);
	return KWHY_OK;
}

/* Recorded energy of a device's run in nJ; 0: it did no work, or its idle power is unknown. */
static double recorded_nj(const struct kwhy_whatif *whatif, uint32_t device)
{
	const size_t *first = whatif->recording->activities.first;

	if (first[device] == first[device + 1] || !isfinite(whatif->idle_w[device]))
		return 0;
	return kwhy_run_energy_of(&whatif->ledger->devices[device]).recorded_nj;
}

/* An energy, or a change of energy, of the simulated run in nJ, and half of its 90 % interval. */
struct played_energy {
	double energy_nj, spread_nj;
};

/*
 * Simulated time in ns from the first start to the last end of work that is not removed; 0: no such work.
 */
static int64_t played_ns(const struct kwhy_whatif *whatif)
{
	const struct kwhy_whatif_graph *graph = whatif->graph;

	return graph->last_ns > graph->first_ns ? graph->last_ns - graph->first_ns : 0;
}

/* Length of an activity in the graph minus its recorded length, in ns; a removed one has length 0. */
static int64_t longer_ns(const struct kwhy_whatif *whatif, uint32_t row)
{
	const struct kwhy_activities *rows = &whatif->recording->activities;

	return kwhy_whatif_own_ns(whatif->graph, &whatif->graph->nodes[row]) -
		(rows->end_ns[row] - rows->start_ns[row]);
}

/* Change of the energy above idle by removed work and by work whose length differs from the recorded one. */
static struct played_energy changed_work(const struct kwhy_whatif *whatif)
{
	struct played_energy work = {0};

	for (size_t i = 0; whatif->has_energy && i < whatif->graph->changed_count; i++) {
		const uint32_t row = whatif->graph->changed[i];
		double change_nj = (double)whatif->net_w[row] * (double)longer_ns(whatif, row);

		if (!isfinite(change_nj))
			continue;
		work.energy_nj += change_nj;
		work.spread_nj += fabs(change_nj) * (double)whatif->half_ci90_ratio[row];
	}
	return work;
}

static struct played_energy played_energy(
	const struct kwhy_whatif *whatif, const struct played_energy *work, int64_t time_ns)
{
	const size_t *first = whatif->recording->activities.first;
	struct played_energy energy = *work;
	int64_t saved_ns = whatif->last_ns - whatif->first_ns - time_ns;

	for (uint32_t d = 0; d < whatif->recording->device_count; d++) {
		if (first[d] == first[d + 1])
			continue;
		energy.energy_nj += recorded_nj(whatif, d) - whatif->idle_w[d] * (double)saved_ns;
		energy.spread_nj += whatif->idle_half_ci90_w[d] * fabs((double)saved_ns);
	}
	return energy;
}

static int64_t rounded(const struct kwhy_whatif *whatif, double energy_nj)
{
	return whatif->has_energy ? (int64_t)(fmax(energy_nj, 0) + 0.5) : KWHY_UNKNOWN_NJ;
}

/*
 * Energy that all devices with work would have drawn together if they had idled for time_ns. Its uncertainty
 * is the uncertainty of the idle power times the length of the whole recording, not times time_ns.
 */
static struct played_energy idle_energy(const struct kwhy_whatif *whatif, int64_t time_ns)
{
	const size_t *first = whatif->recording->activities.first;
	struct played_energy idle = {0};

	for (uint32_t d = 0; d < whatif->recording->device_count; d++) {
		if (first[d] == first[d + 1])
			continue;
		idle.energy_nj += whatif->idle_w[d] * (double)time_ns;
		idle.spread_nj += whatif->idle_half_ci90_w[d] * (double)(whatif->last_ns - whatif->first_ns);
	}
	return idle;
}

static void set_net(const struct kwhy_whatif *whatif, const struct played_energy *gross, double spread_nj,
	struct kwhy_projection *out)
{
	struct played_energy idle = idle_energy(whatif, out->time_ns);
	double net_nj = gross->energy_nj - idle.energy_nj;

	out->net_nj = out->net_low_nj = out->net_high_nj = KWHY_UNKNOWN_NJ;
	if (!whatif->has_energy)
		return;
	spread_nj += idle.spread_nj + fabs(net_nj) * whatif->scatter_ratio;
	out->net_nj = llround(net_nj);
	out->net_low_nj = llround(net_nj - spread_nj);
	out->net_high_nj = llround(net_nj + spread_nj);
}

struct kwhy_projection kwhy_whatif_baseline(const struct kwhy_whatif *whatif)
{
	struct kwhy_projection baseline = {.time_ns = whatif->last_ns - whatif->first_ns};
	struct played_energy energy = {0};

	for (uint32_t d = 0; d < whatif->recording->device_count; d++)
		energy.energy_nj += recorded_nj(whatif, d);
	baseline.time_low_ns = baseline.time_high_ns = baseline.time_ns;
	baseline.energy_nj = rounded(whatif, energy.energy_nj);
	baseline.energy_low_nj = baseline.energy_high_nj = baseline.energy_nj;
	set_net(whatif, &energy, 0, &baseline);
	return baseline;
}

/*
 * How far the time of another, equal run may be below and above a simulated time, in ns (half of a 90 %
 * interval), and the idle energies, in nJ, that the devices draw in that part of these times by which
 * host-limited time varies.
 */
struct other_run {
	double below_ns, above_ns, below_nj, above_nj;
};

/*
 * Combines two independent sources of variation of the run's time: steps differ from each other
 * (scatter_ratio), and host-limited time differs between runs. The latter is left out at the expected costs;
 * the simulations with fast and slow costs, with which all intervals are widened, include it.
 */
static struct other_run other_run(const struct kwhy_whatif *whatif, int64_t time_ns)
{
	const size_t *first = whatif->recording->activities.first;
	const double scatter_ns = (double)time_ns * whatif->scatter_ratio;
	const double host_ns = whatif->corner == KWHY_CORNER_EXPECTED
		? 0
		: (double)kwhy_whatif_host_limited_ns(whatif->graph);
	const double faster_ns = host_ns * (1 - exp(-KWHY_SCATTER_QUANTILE * KWHY_HOST_LOG_RATIO_SD));
	const double slower_ns = host_ns * (exp(KWHY_SCATTER_QUANTILE * KWHY_HOST_LOG_RATIO_SD) - 1);
	struct other_run other = {
		.below_ns = hypot(scatter_ns, faster_ns), .above_ns = hypot(scatter_ns, slower_ns)};

	for (uint32_t d = 0; d < whatif->recording->device_count; d++) {
		if (first[d] == first[d + 1] || !isfinite(whatif->idle_w[d]))
			continue;
		other.below_nj += whatif->idle_w[d] * faster_ns;
		other.above_nj += whatif->idle_w[d] * slower_ns;
	}
	return other;
}

struct kwhy_projection kwhy_whatif_as_played(const struct kwhy_whatif *whatif)
{
	struct kwhy_projection projection = {.time_ns = played_ns(whatif)};
	const struct other_run other = other_run(whatif, projection.time_ns);
	struct played_energy energy = {0}, work = changed_work(whatif);
	double scatter_nj;

	if (whatif->has_energy)
		energy = played_energy(whatif, &work, projection.time_ns);
	set_net(whatif, &energy, work.spread_nj, &projection);
	scatter_nj = fabs(energy.energy_nj) * whatif->scatter_ratio;
	projection.time_low_ns = projection.time_ns - (int64_t)other.below_ns;
	projection.time_high_ns = projection.time_ns + (int64_t)other.above_ns;
	projection.energy_nj = rounded(whatif, energy.energy_nj);
	projection.energy_low_nj = rounded(
		whatif, energy.energy_nj - energy.spread_nj - hypot(scatter_nj, other.below_nj));
	projection.energy_high_nj = rounded(
		whatif, energy.energy_nj + energy.spread_nj + hypot(scatter_nj, other.above_nj));
	return projection;
}

enum kwhy_status kwhy_whatif_edit_graph(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error)
{
	size_t before = whatif->graph->journal_count;

	*effect = (struct kwhy_whatif_effect){0};
	change_request->change->apply(whatif, change_request->number, effect);
	kwhy_whatif_drop_warmups(whatif);
	if (whatif->out_of_memory)
		return kwhy_fail_memory(error, "the changed graph");
	if (!effect->places)
		kwhy_whatif_undo(whatif->graph, before);
	return KWHY_OK;
}

enum kwhy_status kwhy_whatif_make(struct kwhy_whatif *whatif,
	const struct kwhy_whatif_request *change_request, struct kwhy_whatif_effect *effect,
	struct kwhy_error *error)
{
	size_t before = whatif->graph->journal_count;
	enum kwhy_status status = kwhy_whatif_edit_graph(whatif, change_request, effect, error);

	if (status || !effect->places)
		return status;
	status = kwhy_whatif_play(whatif->graph, error);
	if (status != KWHY_E_INPUT)
		return status;
	kwhy_whatif_refuse(effect, "%s", error->text);
	kwhy_whatif_undo(whatif->graph, before);
	return KWHY_OK;
}
