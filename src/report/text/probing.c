/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/text_context.h"

#include <inttypes.h>
#include <math.h>

/*
 * Section on `kwhy probe`: the kernels that it repeated in bursts, the share of the kernels' energy whose
 * power became known by that, and why other kernels were not repeated.
 */

enum { REASONS_MAX = 8 };

static const char *share_of(char out[KWHY_QUANTITY_BYTES], const struct kwhy_probing *probing,
	const struct kwhy_probing_part *part)
{
	return kwhy_quantity_percent(
		out, probing->busy_ns ? (double)part->busy_ns / (double)probing->busy_ns : 0);
}

/*
 * Time in ns that kwhy probe took on the devices, summed over them, which is the time that the first screen
 * states.
 */
static int64_t held_ns(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	int64_t sum_ns = 0;

	for (size_t d = 0; d < ledger->device_count; d++)
		sum_ns += ledger->devices[d].time.probing_ns;
	return sum_ns;
}

static void write_bursts(const struct kwhy_text_context *context, const struct kwhy_probing *probing)
{
	char held[KWHY_QUANTITY_BYTES], whole[KWHY_QUANTITY_BYTES];

	if (!probing->bursts) {
		kwhy_text_context_linef(context, "  ", "no kernel was repeated");
		return;
	}
	kwhy_text_context_linef(context, "  ",
		"%" PRIu64 " bursts of %" PRIu64 " repeats in all took %s (%s with the program's own work "
		"for which they waited)",
		probing->bursts, probing->repeats, kwhy_quantity_time(held, held_ns(context)),
		kwhy_quantity_time(whole, probing->spent_ns));
}

static void write_kernels(const struct kwhy_text_context *context, const struct kwhy_probing *probing,
	const struct kwhy_probing_parts *parts)
{
	char probed[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(context, "  ",
		"repeated: %zu of %zu kernels and grids, %s of the kernels' time", parts->probed.accounts,
		parts->all.accounts, share_of(probed, probing, &parts->probed));
}

static void write_waiting(const struct kwhy_text_context *context, const struct kwhy_probing *probing,
	const struct kwhy_probing_parts *parts)
{
	char waiting[KWHY_QUANTITY_BYTES], known[KWHY_QUANTITY_BYTES];

	if (parts->waiting.accounts)
		kwhy_text_context_linef(context, "  ",
			"kernels that only wait: %zu, %s of the kernels' time; of the time without them %s "
			"is known in bursts",
			parts->waiting.accounts, share_of(waiting, probing, &parts->waiting),
			kwhy_quantity_percent(known, kwhy_probing_known_of_work(parts)));
}

/*
 * Writes the share of the kernels' time whose power in bursts is known within KWHY_PROBING_WITHIN_RATIO, and
 * the share of the energy that is in accounts known within it. The latter is smaller, as the interval of an
 * account also covers the difference between a kernel's power in bursts and in the program.
 */
static void write_known(const struct kwhy_text_context *context, const struct kwhy_probing *probing,
	const struct kwhy_probing_parts *parts)
{
	const double within = 100 * KWHY_PROBING_WITHIN_RATIO;
	const struct kwhy_totals_known sums = kwhy_totals_known_within(
		context->totals, KWHY_PROBING_WITHIN_RATIO);
	const double ratio = sums.busy_nj > 0 ? (double)sums.known_nj / (double)sums.busy_nj : NAN;
	char time[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES], known[KWHY_QUANTITY_BYTES],
		busy[KWHY_QUANTITY_BYTES], mean[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(context, "  ",
		"power in bursts known within %g %%, by the time of the repeats: %zu kernels and grids, %s "
		"of the kernels' time",
		within, parts->known.accounts, share_of(time, probing, &parts->known));
	if (isnan(ratio))
		return;
	kwhy_text_context_linef(context, "  ",
		"energy in the program known within %g %%: %s of %s, %s of what kernels, copies and memsets "
		"drew; mean 90 %% interval \xc2\xb1%s",
		within, kwhy_quantity_energy(known, sums.known_nj), kwhy_quantity_energy(busy, sums.busy_nj),
		kwhy_quantity_percent(share, ratio),
		kwhy_quantity_percent(mean, sums.half_nj / (double)sums.busy_nj));
	if (probing->busy_ns && ratio < (double)parts->known.busy_ns / (double)probing->busy_ns)
		kwhy_text_context_linef(context, "  ",
			"the second share is lower: kernels draw another power in the program than in bursts "
			"(caches, clocks), and the interval of each account allows for that; more repeats "
			"do not change it");
}

static void write_unprobed(const struct kwhy_text_context *context, const struct kwhy_probing *probing)
{
	struct kwhy_probing_part parts[REASONS_MAX];
	const size_t count = kwhy_probing_list_unprobed(probing, parts, REASONS_MAX);
	char share[KWHY_QUANTITY_BYTES];

	for (size_t i = 0; i < count; i++)
		kwhy_text_context_linef(context, "  ", "not repeated: %zu, %s: %s", parts[i].accounts,
			share_of(share, probing, &parts[i]), parts[i].reason);
}

static void write_checks(const struct kwhy_text_context *context, const struct kwhy_probing *probing)
{
	if (probing->different)
		kwhy_text_context_linef(context, "  ",
			"after repeats of %.300s memory was not what it had been: do not trust the results "
			"of this run, and leave that kernel out with --skip",
			kwhy_names_get(&probing->names, probing->different_name));
	else if (probing->checked)
		kwhy_text_context_linef(context, "  ",
			"device memory was the same after each of the %" PRIu64 " bursts that were checked",
			probing->checked);
	else if (probing->bursts)
		kwhy_text_context_linef(context, "  ", "memory was not checked after any burst");
}

void kwhy_section_probing(const struct kwhy_text_context *context)
{
	const struct kwhy_probing *probing = context->report->probing;
	struct kwhy_probing_parts parts;

	if (!probing)
		return;
	parts = kwhy_probing_count(probing, KWHY_PROBING_WITHIN_RATIO);
	kwhy_text_context_heading(context, "Probing", "what kwhy probe repeated, and what is known by it");
	write_bursts(context, probing);
	write_kernels(context, probing, &parts);
	write_known(context, probing, &parts);
	write_waiting(context, probing, &parts);
	write_unprobed(context, probing);
	write_checks(context, probing);
}
