/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/table.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sections on the host and on ranges: API calls, steps, ranges, memory, meters of the host. */

enum { API_ROWS = 12, RANGE_ROWS = 12, STEP_ROWS = 6 };

static const struct kwhy_table_column api_columns[] = {
	{"API call", KWHY_COLUMN_NAME},
	{"count", KWHY_COLUMN_RIGHT},
	{"time", KWHY_COLUMN_RIGHT},
	{"each", KWHY_COLUMN_RIGHT},
};

void kwhy_section_api(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	size_t shown = kwhy_text_context_shown(context, ledger->api_count, API_ROWS);
	struct kwhy_table table;

	if (!ledger->api_count)
		return;
	kwhy_text_context_heading(context, "API calls", "host time, summed over threads");
	kwhy_table_init(&table, api_columns, 4);
	for (size_t i = 0; i < shown; i++) {
		const struct kwhy_api_sum *api = &ledger->api[i];

		kwhy_table_cell(&table, kwhy_names_get(&context->report->recording->names, api->name));
		kwhy_table_count(&table, api->count);
		kwhy_table_time(&table, api->total_ns);
		kwhy_table_time(&table, api->count ? api->total_ns / (int64_t)api->count : KWHY_UNKNOWN_NS);
	}
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, ledger->api_count, shown);
}

static const struct kwhy_table_column range_columns[] = {
	{"range", KWHY_COLUMN_NAME},
	{"count", KWHY_COLUMN_RIGHT},
	{"host", KWHY_COLUMN_RIGHT},
	{"device", KWHY_COLUMN_RIGHT},
	{"busy", KWHY_COLUMN_RIGHT},
	{"SM-w.", KWHY_COLUMN_RIGHT},
	{"energy", KWHY_COLUMN_RIGHT},
	{"window", KWHY_COLUMN_RIGHT},
};

/*
 * Columns of the table of steps. Each step occurs once, so instead of a count it has the time at which the
 * step starts.
 */
static const struct kwhy_table_column step_columns[] = {
	{"step", KWHY_COLUMN_NAME},
	{"at", KWHY_COLUMN_RIGHT},
	{"host", KWHY_COLUMN_RIGHT},
	{"device", KWHY_COLUMN_RIGHT},
	{"busy", KWHY_COLUMN_RIGHT},
	{"SM-w.", KWHY_COLUMN_RIGHT},
	{"energy", KWHY_COLUMN_RIGHT},
	{"window", KWHY_COLUMN_RIGHT},
};

static void add_range(
	struct kwhy_table *table, const struct kwhy_text_context *context, const struct kwhy_range_sum *range)
{
	int64_t origin_ns = context->report->recording->start_ns;
	char at[KWHY_QUANTITY_BYTES];

	kwhy_table_cell(table, kwhy_names_get(&context->report->recording->names, range->name));
	if (table->columns == step_columns)
		kwhy_table_cell(table,
			kwhy_quantity_si(at, ((double)range->start_ns - (double)origin_ns) * 1e-9, "s", 6));
	else
		kwhy_table_count(table, range->count);
	kwhy_table_time(table, range->host_ns);
	kwhy_table_time(table, range->linked ? range->device_ns : KWHY_UNKNOWN_NS);
	kwhy_table_percent(table, range->busy_ratio);
	kwhy_table_percent(table, range->sm_weighted_ratio);
	if (context->totals->energy_nj == KWHY_UNKNOWN_NJ)
		return;
	kwhy_table_energy(table, range->energy_nj);
	kwhy_table_energy(table, range->window_energy_nj);
}

static void write_ranges(const struct kwhy_text_context *context, const struct kwhy_table_column *columns,
	const struct kwhy_range_sum *ranges, size_t count)
{
	struct kwhy_table table;

	kwhy_table_init(&table, columns, context->totals->energy_nj == KWHY_UNKNOWN_NJ ? 6 : 8);
	for (size_t i = 0; i < count; i++)
		add_range(&table, context, &ranges[i]);
	kwhy_table_write(&table, context->style, context->out);
}

void kwhy_section_ranges(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	size_t shown = kwhy_text_context_shown(context, ledger->range_count, RANGE_ROWS);

	if (!ledger->range_count)
		return;
	kwhy_text_context_heading(
		context, "Ranges", "may nest; energy: of what was launched inside; window: all meanwhile");
	write_ranges(context, range_columns, ledger->ranges, shown);
	kwhy_text_context_more(context, ledger->range_count, shown);
}

/*
 * Adds the time and, if known, the energy of the loop of all steps, divided by their number: "3.21 ms and
 * 1.78 J each".
 */
static void add_loop(struct kwhy_text *out, const struct kwhy_ledger *ledger)
{
	const struct kwhy_loop_sum *loop = &ledger->loop;
	const double count = (double)ledger->step_count;
	char time[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES];

	kwhy_text_add(out, kwhy_quantity_si(time, (double)loop->time_ns * 1e-9 / count, "s", 3));
	if (loop->energy_nj != KWHY_UNKNOWN_NJ)
		kwhy_text_addf(out, " and %s",
			kwhy_quantity_si(energy, (double)loop->energy_nj * 1e-9 / count, "J", 3));
	kwhy_text_add(out, " each");
}

void kwhy_text_context_step_mean(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	int64_t least_ns = INT64_MAX, most_ns = 0;
	double sum_ns = 0, count = (double)ledger->step_count;
	char mean[KWHY_QUANTITY_BYTES], least[KWHY_QUANTITY_BYTES], most[KWHY_QUANTITY_BYTES],
		steps[KWHY_QUANTITY_BYTES];
	struct kwhy_text loop = {0};

	for (size_t i = 0; i < ledger->step_count; i++) {
		const struct kwhy_range_sum *step = &ledger->steps[i];

		least_ns = step->host_ns < least_ns ? step->host_ns : least_ns;
		most_ns = step->host_ns > most_ns ? step->host_ns : most_ns;
		sum_ns += (double)step->host_ns;
	}
	add_loop(&loop, ledger);
	kwhy_text_addf(&loop, ", idle included; on the host %s",
		kwhy_quantity_si(mean, sum_ns * 1e-9 / count, "s", 3));
	kwhy_quantity_time(least, least_ns);
	if (strcmp(least, kwhy_quantity_time(most, most_ns)) != 0)
		kwhy_text_addf(&loop, " (%s to %s)", least, most);
	kwhy_text_context_linef(context, "  ", "%s steps of %s",
		kwhy_quantity_count(steps, ledger->step_count), loop.failed ? "" : loop.data);
	context->out->failed |= loop.failed;
	kwhy_text_done(&loop);
}

void kwhy_section_steps(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	size_t shown = kwhy_text_context_shown(context, ledger->step_count, STEP_ROWS);

	if (!ledger->step_count)
		return;
	kwhy_text_context_heading(
		context, "Steps", "energy: of what was launched inside; window: all meanwhile");
	/*
	 * the means over all steps; if the user chose no sections and the recording has no work, the section
	 * on the cost, at the top of the report, already has them
	 */
	if (context->style->section_count || context->report->recording->work_count)
		kwhy_text_context_step_mean(context);
	write_ranges(context, step_columns, ledger->steps, shown);
	kwhy_text_context_more(context, ledger->step_count, shown);
}

static const struct kwhy_table_column memory_columns[] = {
	{"device", KWHY_COLUMN_NAME},
	{"peak allocated", KWHY_COLUMN_RIGHT},
	{"peak reserved", KWHY_COLUMN_RIGHT},
	{"has", KWHY_COLUMN_RIGHT},
	{"never used", KWHY_COLUMN_RIGHT},
	{"points", KWHY_COLUMN_RIGHT},
};

/* Whether a device's row is shown: its peak of allocated or of reserved memory must be known. */
static bool is_memory_known(const struct kwhy_memory_sum *memory)
{
	return memory->peak_allocated_bytes != KWHY_UNKNOWN_BYTES ||
		memory->peak_reserved_bytes != KWHY_UNKNOWN_BYTES;
}

void kwhy_section_memory(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	struct kwhy_table table;
	bool any = false;

	kwhy_table_init(&table, memory_columns, 6);
	for (size_t i = 0; i < ledger->memory_count; i++) {
		const struct kwhy_memory_sum *memory = &ledger->memory[i];
		char label[KWHY_DEVICE_LABEL_BYTES];

		if (!is_memory_known(memory))
			continue;
		any = true;
		kwhy_table_cell(&table,
			kwhy_device_label(label, &context->report->recording->devices[memory->device]));
		kwhy_table_bytes(&table, memory->peak_allocated_bytes);
		kwhy_table_bytes(&table, memory->peak_reserved_bytes);
		kwhy_table_bytes(&table, memory->device_bytes);
		kwhy_table_bytes(&table, memory->unused_bytes);
		kwhy_table_count(&table, memory->point_count);
	}
	if (any)
		kwhy_text_context_heading(context, "Memory", NULL);
	kwhy_table_write(&table, context->style, context->out);
}

static const struct kwhy_table_column host_columns[] = {
	{"meter", KWHY_COLUMN_NAME},
	{"window", KWHY_COLUMN_RIGHT},
	{"energy", KWHY_COLUMN_RIGHT},
	{"mean power", KWHY_COLUMN_RIGHT},
};

static const struct kwhy_table_column hosts_columns[] = {
	{"host", KWHY_COLUMN_NAME},
	{"meter", KWHY_COLUMN_LEFT},
	{"window", KWHY_COLUMN_RIGHT},
	{"energy", KWHY_COLUMN_RIGHT},
	{"mean power", KWHY_COLUMN_RIGHT},
};

static bool has_names(const struct kwhy_ledger *ledger)
{
	for (size_t i = 0; i < ledger->host_count; i++)
		if (ledger->hosts[i].host)
			return true;
	return false;
}

void kwhy_section_hosts(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	const bool is_named = has_names(ledger);
	struct kwhy_table table;

	if (!ledger->host_count)
		return;
	kwhy_text_context_heading(
		context, "Host", "metered in addition to the devices, not part of the figures above");
	kwhy_table_init(&table, is_named ? hosts_columns : host_columns, is_named ? 5 : 4);
	for (size_t i = 0; i < ledger->host_count; i++) {
		const struct kwhy_host_energy *host = &ledger->hosts[i];
		int64_t window_ns = host->end_ns - host->start_ns;

		if (is_named)
			kwhy_table_cell(&table, host->host);
		kwhy_table_cell(&table, host->source);
		kwhy_table_time(&table, window_ns);
		kwhy_table_energy(&table, host->measured_nj);
		kwhy_table_real(&table,
			window_ns > 0 && host->measured_nj != KWHY_UNKNOWN_NJ
				? (double)host->measured_nj / (double)window_ns
				: NAN,
			"W");
	}
	kwhy_table_write(&table, context->style, context->out);
}

static const struct kwhy_table_column overhead_columns[] = {
	{"", KWHY_COLUMN_NAME},
	{"times", KWHY_COLUMN_RIGHT},
	{"time", KWHY_COLUMN_RIGHT},
	{"energy", KWHY_COLUMN_RIGHT},
};

static const char *overhead_title(const struct kwhy_overhead_sum *row)
{
	static const char *const titles[KWHY_OVERHEAD_KIND_COUNT] = {
		[KWHY_COST_THREAD] = "processor, writing what was recorded",
		[KWHY_COST_BUFFERS] = "processor, reading the profiler's buffers",
		[KWHY_COST_START] = "program waits: the profiler starts",
		[KWHY_COST_SWITCH] = "windows begin and end",
		[KWHY_COST_FINISH] = "program waits: the last records",
		[KWHY_COST_LAUNCHER] = "processor, kwhy record itself",
		[KWHY_COST_SAMPLER] = "  of that, reading the meters",
		[KWHY_OVERHEAD_PROFILER] = "profiler, on the program's threads",
		[KWHY_OVERHEAD_DEVICE] = "device idle meanwhile, modelled",
		[KWHY_OVERHEAD_COUNTERS] = "counters enabled; in no other figure",
	};

	return titles[row->kind];
}

/* Whether some row of the host (of processor time) has joules, which are always modelled. */
static bool is_modelled(const struct kwhy_ledger *ledger)
{
	for (size_t i = 0; i < ledger->overhead_count; i++)
		if (ledger->overheads[i].device == KWHY_NONE &&
			ledger->overheads[i].energy_nj != KWHY_UNKNOWN_NJ)
			return true;
	return false;
}

void kwhy_section_overhead(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	struct kwhy_table table;

	if (!ledger->overhead_count)
		return;
	kwhy_text_context_heading(context, "What the recording took", "part of the figures above");
	kwhy_table_init(&table, overhead_columns, 4);
	for (size_t i = 0; i < ledger->overhead_count; i++) {
		const struct kwhy_overhead_sum *row = &ledger->overheads[i];

		kwhy_table_cell(&table, overhead_title(row));
		if (row->count)
			kwhy_table_count(&table, row->count);
		else
			kwhy_table_cell(&table, "");
		kwhy_table_time(&table, row->time_ns);
		kwhy_table_energy(&table, row->energy_nj);
	}
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_paragraph(context, "  ",
		is_modelled(ledger)
			? "Joules of processor time are modelled, at most: of the CPU packages' energy, "
			  "idle's among it, as much as of the time that all processors were busy."
			: "Joules of processor time are not available: no meter separates one thread "
			  "from another.");
}
