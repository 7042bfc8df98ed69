/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text/first_screen.h"

#include <stdlib.h>
#include <string.h>

/* The sections of the text report, from top to bottom. */
static const struct {
	const char *name, *shows;
	void (*write)(const struct kwhy_text_context *context);
} sections[] = {
	{"cost", "time and energy of the run and of a unit of work, price, CO2e", kwhy_section_cost},
	{"where", "where the energy or the time went: kernels, copies, kinds of idling", kwhy_section_where},
	{"advice", "what to do: each kind of waste with its cure, the best first", kwhy_section_advice},
	{"time", "time of each device by category", kwhy_section_time},
	{"idle", "what the host did while a device was idle", kwhy_section_waits},
	{"utilisation", "busy share, SM-weighted share, roofline", kwhy_section_utilisation},
	{"accounts", "the ledger: all metered energy by kernel, copy, kind of idling", kwhy_section_accounts},
	{"groups", "rows of which the readings show only the sum", kwhy_section_groups},
	{"categories", "energy by category, and what was found to save in it", kwhy_section_categories},
	{"probing", "launches that kwhy probe repeated", kwhy_section_probing},
	{"kernels", "kernels with count, time and energy each", kwhy_section_kernels},
	{"copies", "copies by kind and size", kwhy_section_copies},
	{"operations", "operations on memory, with their shares", kwhy_section_operations},
	{"split", "parts of a transfer: call, copy, wait", kwhy_section_split},
	{"ranking", "copies by joules per byte", kwhy_section_cost_ranking},
	{"work", "joules and seconds a unit of work", kwhy_section_work},
	{"calls", "calls of the driver and runtime", kwhy_section_api},
	{"steps", "each step with its time and energy", kwhy_section_steps},
	{"ranges", "ranges of the program with their time and energy", kwhy_section_ranges},
	{"ranks", "devices and ranks side by side", kwhy_section_ranks},
	{"processes", "processes with their devices", kwhy_section_processes},
	{"streams", "streams with their activities", kwhy_section_streams},
	{"memory", "peak use of device memory", kwhy_section_memory},
	{"gauges", "clocks, temperature, throttling", kwhy_section_gauges},
	{"hosts", "meters of the host", kwhy_section_hosts},
	{"overhead", "what the recording itself took", kwhy_section_overhead},
	{"findings", "the waste in detail: evidence, cost, cure, saving", kwhy_section_findings},
	{"plan", "what changes would save, one after another (--plan)", kwhy_section_plan},
	{"unknown", "what is lost or not known", kwhy_section_unknown},
	{"method", "sources, meters, balance of the energies, profile", kwhy_section_method},
};

enum { SECTION_COUNT = sizeof(sections) / sizeof(sections[0]) };

static size_t find_section(const char *name)
{
	size_t i = 0;

	while (i < SECTION_COUNT && strcmp(sections[i].name, name) != 0)
		i++;
	return i;
}

enum kwhy_status kwhy_report_section_check(const char *name, struct kwhy_error *error)
{
	struct kwhy_text names = {0};

	if (find_section(name) < SECTION_COUNT)
		return KWHY_OK;
	for (size_t i = 0; i < SECTION_COUNT; i++)
		kwhy_text_addf(&names, "%s%s", i ? ", " : "", sections[i].name);
	kwhy_error_set(error, KWHY_E_USAGE,
		"--section '%.40s': the report has no such section; take one of %s", name,
		names.failed ? "kwhy report --section list" : names.data);
	kwhy_text_done(&names);
	return KWHY_E_USAGE;
}

void kwhy_report_section_list(struct kwhy_text *out)
{
	for (size_t i = 0; i < SECTION_COUNT; i++)
		kwhy_text_addf(out, "%-12s %s\n", sections[i].name, sections[i].shows);
}

/*
 * Writes the sections that the user named in --section. For a section that has nothing to write, a sentence
 * says that the recording has no data for it.
 */
static void write_chosen(const struct kwhy_text_context *context)
{
	for (size_t i = 0; i < context->style->section_count; i++) {
		const size_t section = find_section(context->style->sections[i]),
			     length = context->out->length;

		if (section < SECTION_COUNT)
			sections[section].write(context);
		if (context->out->length == length)
			kwhy_text_addf(context->out, "\n%s: the recording has nothing for this section\n",
				context->style->sections[i]);
	}
}

static void write_sections(const struct kwhy_text_context *context)
{
	if (context->style->section_count) {
		write_chosen(context);
	} else if (context->style->verbose) {
		for (size_t i = 0; i < SECTION_COUNT; i++)
			sections[i].write(context);
	} else {
		kwhy_first_screen_write(context);
		kwhy_section_plan(context);
	}
}

enum kwhy_status kwhy_report_text(const struct kwhy_report *report, const struct kwhy_text_style *style,
	struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_totals totals;
	struct kwhy_finding_kinds kinds = {.items = NULL};
	struct kwhy_operations *operations = NULL;
	struct kwhy_cost_ranking *rankings = NULL;
	enum kwhy_status status = kwhy_totals_init(&totals, report->ledger, error);

	if (!status)
		status = kwhy_finding_kinds_init(&kinds, report->findings, error);
	if (!status)
		status = kwhy_operations_new(report->recording, report->ledger, &operations, error);
	if (!status)
		status = kwhy_cost_rankings_new(report, &rankings, error);
	if (!status) {
		struct kwhy_text_context context = {
			report, style, &totals, operations, rankings, &kinds, out};

		write_sections(&context);
		status = kwhy_text_check(out, error);
	}
	kwhy_cost_rankings_free(rankings, report->ledger->device_count);
	free(operations);
	kwhy_finding_kinds_done(&kinds);
	kwhy_totals_done(&totals);
	return status;
}
