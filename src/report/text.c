/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text_context.h"

#include <stdlib.h>

enum { FIRST_SECTIONS = 3 };

/*
 * The sections of the text report, from top to bottom: those of the first screen, then those of the details.
 */
static void (*const sections[])(const struct kwhy_text_context *context) = {
	kwhy_section_cost,
	kwhy_section_where,
	kwhy_section_advice,
	kwhy_section_time,
	kwhy_section_waits,
	kwhy_section_utilisation,
	kwhy_section_accounts,
	kwhy_section_groups,
	kwhy_section_categories,
	kwhy_section_probing,
	kwhy_section_kernels,
	kwhy_section_copies,
	kwhy_section_operations,
	kwhy_section_split,
	kwhy_section_cost_ranking,
	kwhy_section_work,
	kwhy_section_api,
	kwhy_section_steps,
	kwhy_section_ranges,
	kwhy_section_ranks,
	kwhy_section_processes,
	kwhy_section_streams,
	kwhy_section_memory,
	kwhy_section_gauges,
	kwhy_section_hosts,
	kwhy_section_overhead,
	kwhy_section_findings,
	kwhy_section_plan,
	kwhy_section_unknown,
	kwhy_section_method,
};

static void write_sections(const struct kwhy_text_context *context)
{
	size_t count = context->style->first_screen ? FIRST_SECTIONS : sizeof(sections) / sizeof(sections[0]);

	for (size_t i = 0; i < count; i++)
		sections[i](context);
}

enum kwhy_status kwhy_report_text(const struct kwhy_report *report, const struct kwhy_text_style *style,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_totals totals;
	struct kwhy_operations *operations = NULL;
	struct kwhy_cost_ranking *rankings = NULL;
	enum kwhy_status status = kwhy_totals_init(&totals, report->ledger, error);

	if (!status)
		status = kwhy_operations_new(report->recording, report->ledger, &operations, error);
	if (!status)
		status = kwhy_cost_rankings_new(report, &rankings, error);
	if (!status) {
		struct kwhy_text_context context = {report, style, &totals, operations, rankings, out};

		write_sections(&context);
		status = kwhy_text_check(out, error);
	}
	kwhy_cost_rankings_free(rankings, report->ledger->device_count);
	free(operations);
	kwhy_totals_done(&totals);
	return status;
}
