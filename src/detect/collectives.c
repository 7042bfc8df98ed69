/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "detect/families.h"
#include "detect/tally.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Work across devices. */

static bool is_collective(const struct kwhy_tally *tally, size_t row)
{
	return tally->context->recording->activities.kind[row] == KWHY_ACTIVITY_COLLECTIVE;
}

enum kwhy_status kwhy_detect_exposed_collectives(const struct kwhy_detect_context *context)
{
	struct kwhy_verdict verdict = kwhy_verdict_default();
	char count[KWHY_QUANTITY_BYTES];
	struct kwhy_tally tally;

	verdict.covers = KWHY_KINDS_COMPUTE;
	verdict.hiding_kinds = verdict.covers;
	verdict.exposed_only = true;
	verdict.work_remains = true;
	kwhy_tally_init(&tally, context);
	kwhy_tally_mark_exposed(&tally, verdict.covers, is_collective);
	if ((double)tally.count < kwhy_tally_threshold(&tally, 0))
		return kwhy_tally_drop(&tally);
	verdict.title = kwhy_tally_words(&tally, "Exposed collectives: %s %s other kernel beside",
		kwhy_quantity_count(count, tally.count), kwhy_tally_exposed_words(&tally));
	verdict.assumption = "collectives run beside kernels, as far as there is kernel time to hide them in";
	return kwhy_tally_finish(&tally, verdict);
}

/* What the devices that take part in collectives computed. */
struct balance {
	int64_t *compute_ns; /* [devices] -1: takes no part */
	size_t parties;
	uint32_t slowest;
	int64_t mean_ns, window_ns;
};

static bool has_collectives(const struct kwhy_detect_context *context, uint32_t device)
{
	return kwhy_view_union_ns(context->view, device, KWHY_KIND(COLLECTIVE)) > 0;
}

static void weigh(const struct kwhy_detect_context *context, struct balance *balance)
{
	double sum_ns = 0;

	for (size_t d = 0; d < context->recording->device_count; d++) {
		uint32_t device = (uint32_t)d;
		int64_t span_ns = kwhy_view_span_ns(context->view, device);

		balance->compute_ns[d] = -1;
		if (!has_collectives(context, device))
			continue;
		balance->compute_ns[d] = kwhy_view_union_ns(context->view, device, KWHY_KINDS_COMPUTE);
		if (balance->parties == 0 || balance->compute_ns[d] > balance->compute_ns[balance->slowest])
			balance->slowest = device;
		balance->window_ns = span_ns > balance->window_ns ? span_ns : balance->window_ns;
		sum_ns += (double)balance->compute_ns[d];
		balance->parties++;
	}
	if (balance->parties)
		balance->mean_ns = (int64_t)(sum_ns / (double)balance->parties);
}

/* While one waits the others burn at least their idle power: each party's lag behind the slowest. */
static struct kwhy_energy waiting_energy(
	const struct kwhy_detect_context *context, const struct balance *balance, double *out_recorded_nj)
{
	int64_t longest_ns = balance->compute_ns[balance->slowest];
	struct kwhy_energy energy = {0};

	for (size_t d = 0; d < context->recording->device_count; d++) {
		struct kwhy_energy_source source;
		struct kwhy_energy lag;

		if (balance->compute_ns[d] < 0)
			continue;
		kwhy_energy_source_init(&source, context->view, (uint32_t)d);
		lag = kwhy_energy_idle_mean(&source, (double)(longest_ns - balance->compute_ns[d]));
		energy = kwhy_energy_sum(energy, 1, lag, 1);
		*out_recorded_nj += source.recorded_nj;
	}
	return energy;
}

enum { PARTY_BYTES = 40 };

/* As the trace numbers it; ranks often all call theirs device 0. */
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

static enum kwhy_status write_parties(const struct kwhy_detect_context *context,
	const struct balance *balance, struct kwhy_finding *finding)
{
	struct kwhy_arena *arena = &context->findings->arena;
	size_t limit = context->options->evidence_limit;
	char time[KWHY_QUANTITY_BYTES], party[PARTY_BYTES];

	limit = balance->parties < limit ? balance->parties : limit;
	finding->evidence = kwhy_arena_alloc(arena, limit + 1, sizeof(*finding->evidence));
	if (!finding->evidence)
		return kwhy_fail_memory(context->error, "the evidence");
	for (size_t d = 0; d < context->recording->device_count && finding->evidence_count < limit; d++) {
		struct kwhy_evidence *evidence = &finding->evidence[finding->evidence_count];

		if (balance->compute_ns[d] < 0)
			continue;
		evidence->start_ns = context->view->devices[d].first_ns;
		evidence->end_ns = context->view->devices[d].last_ns;
		evidence->what = kwhy_arena_printf(arena, "%s computes %s%s",
			party_name(party, context->recording, d),
			kwhy_quantity_time(time, balance->compute_ns[d]),
			d == balance->slowest ? ", the slowest" : "");
		if (!evidence->what)
			return kwhy_fail_memory(context->error, "the evidence");
		finding->evidence_count++;
	}
	return KWHY_OK;
}

static void set_energies(struct kwhy_energy energy, double recorded_nj, struct kwhy_finding *finding)
{
	finding->energy_nj = kwhy_energy_round(energy.nj, recorded_nj);
	finding->low_nj = kwhy_energy_round(energy.low_nj, HUGE_VAL);
	finding->high_nj = kwhy_energy_round(energy.high_nj, HUGE_VAL);
	finding->saving.energy_nj = finding->energy_nj;
	finding->saving.low_nj = finding->low_nj;
	finding->saving.high_nj = finding->high_nj;
}

static enum kwhy_status report_imbalance(
	const struct kwhy_detect_context *context, const struct balance *balance)
{
	int64_t longest_ns = balance->compute_ns[balance->slowest];
	double recorded_nj = 0;
	char longest[KWHY_QUANTITY_BYTES], mean[KWHY_QUANTITY_BYTES], party[PARTY_BYTES];
	struct kwhy_finding finding = {
		.id = context->detector->id,
		.cure = context->detector->cure,
		.device = KWHY_NONE,
		.count = balance->parties,
		.time_ns = longest_ns - balance->mean_ns,
	};
	struct kwhy_energy energy;
	enum kwhy_status status;

	finding.category_ns[KWHY_CATEGORY_COLLECTIVE] = finding.time_ns; /* where the others wait */
	if ((double)finding.time_ns < context->thresholds[0] * (double)longest_ns)
		return KWHY_OK;
	energy = waiting_energy(context, balance, &recorded_nj);
	set_energies(energy, recorded_nj, &finding);
	finding.title = kwhy_arena_printf(&context->findings->arena,
		"Imbalance: %s computes %s, the mean of %zu devices is %s",
		party_name(party, context->recording, balance->slowest),
		kwhy_quantity_time(longest, longest_ns), balance->parties,
		kwhy_quantity_time(mean, balance->mean_ns));
	finding.saving.time_ns = finding.time_ns;
	finding.saving.bound = KWHY_BOUND_UPPER;
	finding.saving
		.assumption = "equal shares of work: every device computes for the mean time; those that "
			      "waited draw idle power at least";
	kwhy_saving_tell_lost(
		context, &finding.saving, "what ran in them is missing from a device's compute time");
	kwhy_finding_set_least(context, balance->window_ns, recorded_nj, &finding);
	status = write_parties(context, balance, &finding);
	if (!status)
		status = kwhy_findings_add(context, &finding);
	return status;
}

/* Across devices, so once: with the first. */
enum kwhy_status kwhy_detect_rank_imbalance(const struct kwhy_detect_context *context)
{
	struct balance balance = {0};
	enum kwhy_status status = KWHY_OK;

	if (context->device != 0 || context->recording->device_count < 2)
		return KWHY_OK;
	balance.compute_ns = malloc(context->recording->device_count * sizeof(*balance.compute_ns));
	if (!balance.compute_ns)
		return kwhy_fail_memory(context->error, "shares of devices");
	weigh(context, &balance);
	if (balance.parties >= 2)
		status = report_imbalance(context, &balance);
	free(balance.compute_ns);
	return status;
}
