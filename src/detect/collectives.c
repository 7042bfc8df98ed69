/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "base/statistics.h"
#include "detect/families.h"
#include "detect/tally.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Detectors of collectives that no kernel hides, and of devices that let others wait in collectives. */

/*
 * The device with the longest time is a straggler if its time exceeds the mean of the other devices' times by
 * at least this many of their standard deviations (and by the threshold straggler_share). Among eight equal
 * devices, the former happens by chance in about one of seventy runs.
 */
#define STRAGGLER_SDS 5

static bool is_collective(const struct kwhy_tally *tally, size_t row)
{
	return tally->context->recording->activities.kind[row] == KWHY_ACTIVITY_COLLECTIVE;
}

enum kwhy_status kwhy_detect_exposed_collectives(const struct kwhy_detect_context *context)
{
	struct kwhy_finding_terms verdict = kwhy_finding_terms_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	verdict.covers = KWHY_KINDS_COMPUTE;
	verdict.hiding_kinds = verdict.covers;
	verdict.exposed_only = true;
	verdict.work_remains = true;
	kwhy_tally_init(&tally, context);
	kwhy_tally_mark_exposed(&tally, verdict.covers, is_collective);
	if ((double)tally.count < kwhy_tally_threshold(&tally, "min_count"))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally, "Exposed collectives: %s %s other kernel running",
		kwhy_quantity_count(count, tally.count), kwhy_tally_exposed_words(&tally));
	verdict.assumption =
		"collectives run concurrently with kernels, as far as there is kernel time to hide them in";
	return kwhy_tally_finish(&tally, verdict);
}

/* A time that is compared between the devices that take part in collectives. */
struct measure {
	const char *does; /* verb that titles and evidence have before the time: "computes" */
	int64_t (*of)(const struct kwhy_detect_context *context, uint32_t device);
};

struct balance {
	const struct measure *measure;
	/* [devices] the compared time of each; -1: the device runs no collectives and is not compared */
	int64_t *work_ns;
	size_t parties;
	uint32_t slowest;
	int64_t mean_ns, window_ns;
	double others_mean_ns,
		/*
		 * mean and standard deviation over the compared devices except the slowest; others_sd_ns is
		 * infinite if that is one device
		 */
		others_sd_ns;
};

static int64_t computes(const struct kwhy_detect_context *context, uint32_t device)
{
	return kwhy_detect_view_union_ns(context->view, device, KWHY_KINDS_COMPUTE);
}

/*
 * A device's span less the time in which a collective runs on it. The device that arrives last at collectives
 * waits least in them, so this time is longest on it, also if it is late because of its host and not because
 * it computes longer.
 */
static int64_t keeps_waiting(const struct kwhy_detect_context *context, uint32_t device)
{
	return kwhy_detect_view_span_ns(context->view, device) -
		kwhy_detect_view_union_ns(context->view, device, KWHY_KIND(COLLECTIVE));
}

static const struct measure compute_time = {"computes", computes};
static const struct measure time_apart = {"is outside of collectives for", keeps_waiting};

static bool has_collectives(const struct kwhy_detect_context *context, uint32_t device)
{
	return kwhy_detect_view_union_ns(context->view, device, KWHY_KIND(COLLECTIVE)) > 0;
}

static void weigh_others(size_t device_count, struct balance *balance)
{
	struct kwhy_moments others = {0};

	for (size_t d = 0; d < device_count; d++)
		if (d != balance->slowest && balance->work_ns[d] >= 0)
			kwhy_moments_add(&others, (double)balance->work_ns[d]);
	balance->others_mean_ns = others.mean;
	balance->others_sd_ns = others.count > 1 ? sqrt(kwhy_moments_variance(&others)) : INFINITY;
}

static void weigh(const struct kwhy_detect_context *context, struct balance *balance)
{
	double sum_ns = 0;

	for (size_t d = 0; d < context->recording->device_count; d++) {
		uint32_t device = (uint32_t)d;
		int64_t span_ns = kwhy_detect_view_span_ns(context->view, device);

		balance->work_ns[d] = -1;
		if (!has_collectives(context, device))
			continue;
		balance->work_ns[d] = balance->measure->of(context, device);
		if (balance->parties == 0 || balance->work_ns[d] > balance->work_ns[balance->slowest])
			balance->slowest = device;
		balance->window_ns = span_ns > balance->window_ns ? span_ns : balance->window_ns;
		sum_ns += (double)balance->work_ns[d];
		balance->parties++;
	}
	if (balance->parties)
		balance->mean_ns = (int64_t)(sum_ns / (double)balance->parties);
	weigh_others(context->recording->device_count, balance);
}

/*
 * Whether the slowest device is a straggler: its excess over the mean of the other devices is at least the
 * threshold straggler_share of its own time, and at least STRAGGLER_SDS standard deviations of the times of
 * the other devices. False for fewer than three devices.
 */
static bool has_straggler(const struct kwhy_detect_context *context, const struct balance *balance)
{
	double excess_ns = (double)balance->work_ns[balance->slowest] - balance->others_mean_ns;

	return balance->parties > 2 &&
		excess_ns >= kwhy_detect_threshold(context, "straggler_share") *
			(double)balance->work_ns[balance->slowest] &&
		excess_ns >= STRAGGLER_SDS * balance->others_sd_ns;
}

/*
 * Energy drawn by devices while they wait for the slowest one: the sum, over the compared devices, of a
 * device's mean idle power times the difference between the slowest device's time and its own. Waiting
 * devices draw at least idle power. Adds the energies of the compared devices' runs to *out_recorded_nj.
 */
static struct kwhy_energy_ci90 waiting_energy(
	const struct kwhy_detect_context *context, const struct balance *balance, double *out_recorded_nj)
{
	int64_t longest_ns = balance->work_ns[balance->slowest];
	struct kwhy_energy_ci90 energy = {0};

	for (size_t d = 0; d < context->recording->device_count; d++) {
		struct kwhy_energy_source source;
		struct kwhy_energy_ci90 lag;

		if (balance->work_ns[d] < 0)
			continue;
		kwhy_energy_source_init(&source, context->view, (uint32_t)d);
		lag = kwhy_energy_idle_mean(&source, (double)(longest_ns - balance->work_ns[d]));
		energy = kwhy_energy_sum(energy, 1, lag, 1);
		*out_recorded_nj += source.recorded_nj;
	}
	return energy;
}

enum { PARTY_BYTES = 40 };

/*
 * Names a device by its number in the trace, and by its rank if that is known, since several ranks may number
 * their devices from 0.
 */
static const char *party_name(char out[PARTY_BYTES], const struct kwhy_recording *recording, size_t d)
{
	const struct kwhy_device *device = &recording->devices[d];

	if (device->rank == KWHY_NONE)
		snprintf(out, PARTY_BYTES, "device %" PRId32, device->index);
	else
		snprintf(out, PARTY_BYTES, "rank %" PRIu32 " (device %" PRId32 ")", device->rank,
			device->index);
	return out;
}

static enum kwhy_status write_party(const struct kwhy_detect_context *context, const struct balance *balance,
	size_t d, struct kwhy_finding *finding)
{
	struct kwhy_evidence *evidence = &finding->evidence[finding->evidence_count];
	char time[KWHY_QUANTITY_BYTES], party[PARTY_BYTES];

	evidence->start_ns = context->view->devices[d].first_ns;
	evidence->end_ns = context->view->devices[d].last_ns;
	evidence->what = kwhy_arena_printf(&context->findings->arena, "%s %s %s%s",
		party_name(party, context->recording, d), balance->measure->does,
		kwhy_quantity_time(time, balance->work_ns[d]), d == balance->slowest ? ", the slowest" : "");
	if (!evidence->what)
		return kwhy_fail_memory(context->error, "the evidence");
	finding->evidence_count++;
	return KWHY_OK;
}

/*
 * Writes one evidence for each compared device, the slowest first, as many as the option evidence_limit
 * allows.
 */
static enum kwhy_status write_parties(const struct kwhy_detect_context *context,
	const struct balance *balance, struct kwhy_finding *finding)
{
	size_t limit = context->options->evidence_limit;
	enum kwhy_status status = KWHY_OK;

	limit = balance->parties < limit ? balance->parties : limit;
	finding->evidence = kwhy_arena_alloc(
		&context->findings->arena, limit + 1, sizeof(*finding->evidence));
	if (!finding->evidence)
		return kwhy_fail_memory(context->error, "the evidence");
	if (limit)
		status = write_party(context, balance, balance->slowest, finding);
	for (size_t d = 0; !status && d < context->recording->device_count && finding->evidence_count < limit;
		d++)
		if (d != balance->slowest && balance->work_ns[d] >= 0)
			status = write_party(context, balance, d, finding);
	return status;
}

static void set_energies(struct kwhy_energy_ci90 energy, double recorded_nj, struct kwhy_finding *finding)
{
	finding->energy_nj = kwhy_energy_round(energy.nj, recorded_nj);
	finding->low_nj = kwhy_energy_round(energy.low_nj, recorded_nj);
	finding->high_nj = kwhy_energy_round(energy.high_nj, HUGE_VAL);
	finding->saving.energy_nj = finding->energy_nj;
	finding->saving.low_nj = finding->low_nj;
	finding->saving.high_nj = finding->high_nj;
}

static const char *imbalance_title(const struct kwhy_detect_context *context, const struct balance *balance)
{
	char longest[KWHY_QUANTITY_BYTES], mean[KWHY_QUANTITY_BYTES], party[PARTY_BYTES];

	return kwhy_arena_printf(&context->findings->arena,
		"Imbalance: %s %s %s, the mean of %zu devices is %s",
		party_name(party, context->recording, balance->slowest), balance->measure->does,
		kwhy_quantity_time(longest, balance->work_ns[balance->slowest]), balance->parties,
		kwhy_quantity_time(mean, balance->mean_ns));
}

static const char *straggler_title(
	const struct kwhy_detect_context *context, const struct balance *balance, int64_t lag_ns)
{
	char longest[KWHY_QUANTITY_BYTES], lag[KWHY_QUANTITY_BYTES], party[PARTY_BYTES];

	return kwhy_arena_printf(&context->findings->arena,
		"Straggler: %zu devices wait %s for %s, which %s %s", balance->parties - 1,
		kwhy_quantity_time(lag, lag_ns), party_name(party, context->recording, balance->slowest),
		balance->measure->does, kwhy_quantity_time(longest, balance->work_ns[balance->slowest]));
}

static const char straggler_cure[] = "look at that device and its host: clocks, temperature and power limit, "
				     "neighbours on it, slower input, more work than the others";

static enum kwhy_status report_imbalance(
	const struct kwhy_detect_context *context, const struct balance *balance, bool straggles)
{
	int64_t mean_ns = straggles ? llround(balance->others_mean_ns) : balance->mean_ns;
	double recorded_nj = 0;
	struct kwhy_finding finding = {
		.id = context->detector->id,
		.cure = straggles ? straggler_cure : context->detector->cure,
		.device = KWHY_NONE,
		.count = balance->parties,
		.time_ns = balance->work_ns[balance->slowest] - mean_ns,
		.leads = straggles,
	};
	struct kwhy_energy_ci90 energy;
	enum kwhy_status status;

	/* the waste is time of collectives, inside of which the other devices wait */
	finding.category_ns[KWHY_CATEGORY_COLLECTIVE] = finding.time_ns;
	energy = waiting_energy(context, balance, &recorded_nj);
	set_energies(energy, recorded_nj, &finding);
	finding.title = straggles ? straggler_title(context, balance, finding.time_ns)
				  : imbalance_title(context, balance);
	finding.headline = finding.title;
	finding.saving.time_ns = finding.time_ns;
	finding.saving.bound = KWHY_BOUND_UPPER;
	finding.saving.assumption = straggles
		? "it takes as long as the others: those that waited draw idle power at least"
		: "equal shares of work: every device computes for the mean time; those that waited draw "
		  "idle power at least";
	kwhy_saving_tell_lost(
		context, &finding.saving, "what ran in them is missing from a device's compute time");
	kwhy_finding_set_least(context, balance->window_ns, recorded_nj, &finding);
	status = write_parties(context, balance, &finding);
	if (!status)
		status = kwhy_findings_add(context, &finding);
	return status;
}

static bool is_uneven(const struct kwhy_detect_context *context, const struct balance *balance)
{
	int64_t longest_ns = balance->work_ns[balance->slowest];

	return balance->parties > 1 &&
		(double)(longest_ns - balance->mean_ns) >=
		kwhy_detect_threshold(context, "min_share") * (double)longest_ns;
}

/*
 * Compares the devices' compute times, and reports a straggler or an imbalance. If there is neither, compares
 * their times outside of collectives, and reports only a straggler.
 */
static enum kwhy_status compare_parties(const struct kwhy_detect_context *context, struct balance *balance)
{
	bool straggles;

	weigh(context, balance);
	straggles = has_straggler(context, balance);
	if (straggles || is_uneven(context, balance))
		return report_imbalance(context, balance, straggles);
	*balance = (struct balance){.measure = &time_apart, .work_ns = balance->work_ns};
	weigh(context, balance);
	return has_straggler(context, balance) ? report_imbalance(context, balance, true) : KWHY_OK;
}

/*
 * Compares all devices at once. Detectors are called for each device, so this one does nothing unless it is
 * called for device 0.
 */
enum kwhy_status kwhy_detect_rank_imbalance(const struct kwhy_detect_context *context)
{
	struct balance balance = {.measure = &compute_time};
	enum kwhy_status status;

	if (context->device != 0 || context->recording->device_count < 2)
		return KWHY_OK;
	balance.work_ns = malloc(context->recording->device_count * sizeof(*balance.work_ns));
	if (!balance.work_ns)
		return kwhy_fail_memory(context->error, "shares of devices");
	status = compare_parties(context, &balance);
	free(balance.work_ns);
	return status;
}
