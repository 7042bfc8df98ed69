/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/text_context.h"

#include <inttypes.h>

/*
 * Section on `kwhy probe`: the launches that it repeated, the share of the kernels' energy that became known,
 * and the launches that it left out.
 */

enum { REASONS_MAX = 8 };

static const char *share_of(char out[KWHY_QUANTITY_BYTES], const struct kwhy_probing *probing,
	const struct kwhy_probing_part *part)
{
	return kwhy_quantity_percent(
		out, probing->busy_ns ? (double)part->busy_ns / (double)probing->busy_ns : 0);
}

static void write_bursts(const struct kwhy_text_context *context, const struct kwhy_probing *probing)
{
	char time[KWHY_QUANTITY_BYTES];

	if (probing->bursts)
		kwhy_text_context_linef(context, "  ",
			"%" PRIu64 " bursts of %" PRIu64 " repeats in all took %s", probing->bursts,
			probing->repeats, kwhy_quantity_time(time, probing->spent_ns));
	else
		kwhy_text_context_linef(context, "  ", "no kernel was repeated");
}

static void write_kernels(const struct kwhy_text_context *context, const struct kwhy_probing *probing)
{
	const struct kwhy_probing_parts parts = kwhy_probing_count(probing, KWHY_PROBING_WITHIN_RATIO);
	char probed[KWHY_QUANTITY_BYTES], known[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(context, "  ",
		"repeated: %zu of %zu kernels and grids, %s of the kernels' time; known within %g %% by the "
		"time "
		"that their repeats took: %zu, %s",
		parts.probed.accounts, parts.all.accounts, share_of(probed, probing, &parts.probed),
		100 * KWHY_PROBING_WITHIN_RATIO, parts.known.accounts,
		share_of(known, probing, &parts.known));
}

static void write_waiting(const struct kwhy_text_context *context, const struct kwhy_probing *probing)
{
	const struct kwhy_probing_parts parts = kwhy_probing_count(probing, KWHY_PROBING_WITHIN_RATIO);
	char waiting[KWHY_QUANTITY_BYTES], known[KWHY_QUANTITY_BYTES];

	if (parts.waiting.accounts)
		kwhy_text_context_linef(context, "  ",
			"kernels that only wait: %zu, %s of the kernels' time; of the time without them %s "
			"is known",
			parts.waiting.accounts, share_of(waiting, probing, &parts.waiting),
			kwhy_quantity_percent(known, kwhy_probing_known_of_work(&parts)));
}

static void write_energy(const struct kwhy_text_context *context)
{
	const struct kwhy_totals_known sums = kwhy_totals_known_within(
		context->totals, KWHY_PROBING_WITHIN_RATIO);
	char known[KWHY_QUANTITY_BYTES], busy[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES];

	if (sums.busy_nj > 0)
		kwhy_text_context_linef(context, "  ",
			"energy known: %s of the %s of kernels, copies and memsets, %s: accounts whose 90 %% "
			"interval is within %g %%",
			kwhy_quantity_energy(known, sums.known_nj), kwhy_quantity_energy(busy, sums.busy_nj),
			kwhy_quantity_percent(share, (double)sums.known_nj / (double)sums.busy_nj),
			100 * KWHY_PROBING_WITHIN_RATIO);
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
			"after repeats of %.300s memory was not what it had been: the results of this run "
			"are not "
			"to be trusted; --skip leaves that kernel alone",
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

	if (!probing)
		return;
	kwhy_text_context_heading(
		context, "Probing", "what kwhy probe repeated; the intervals of accounts come from readings");
	write_bursts(context, probing);
	write_kernels(context, probing);
	write_waiting(context, probing);
	write_energy(context);
	write_unprobed(context, probing);
	write_checks(context, probing);
}
