/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "model/precision.h"
#include "report/table.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Sections on time: categories, utilisation, ranks, processes, streams. */

enum { DEVICE_ROWS = 8, STREAM_ROWS = 8, BAR = 16 };

static const struct kwhy_table_column time_columns[] = {
	{"", KWHY_COLUMN_BAR},
	{"", KWHY_COLUMN_LEFT},
	{"", KWHY_COLUMN_RIGHT},
	{"", KWHY_COLUMN_RIGHT},
};

static void add_time(struct kwhy_table *table, const char *what, int64_t time_ns, int64_t span_ns)
{
	double share = time_ns == KWHY_UNKNOWN_NS || span_ns <= 0 ? NAN : (double)time_ns / (double)span_ns;

	if (time_ns == 0)
		return;
	kwhy_table_bar(table, share, BAR);
	kwhy_table_cell(table, what);
	kwhy_table_time(table, time_ns);
	kwhy_table_percent(table, share);
}

static void write_time(const struct kwhy_text_context *context, const struct kwhy_device_time *time)
{
	const struct {
		const char *what;
		int64_t time_ns;
	} rows[] = {
		{"compute", time->compute_ns},
		{"collective, exposed", time->collective_ns},
		{"copy", time->copy_ns},
		{"overlap: copy, collective under compute", time->overlap_ns},
		{"memset", time->memset_ns},
		{"idle: host in synchronize", time->sync_ns},
		{"idle: host launching", time->launch_ns},
		{"idle: host in malloc or free", time->alloc_ns},
		{"idle: host elsewhere", time->host_ns},
		{"probing: kernels repeated", time->probing_ns},
		{"not recorded", time->unrecorded_ns},
	};
	struct kwhy_table table;

	kwhy_table_init(&table, time_columns, 4);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].time_ns != KWHY_UNKNOWN_NS)
			add_time(&table, rows[i].what, rows[i].time_ns, time->span_ns);
	if (time->sync_ns == KWHY_UNKNOWN_NS)
		add_time(&table, "idle: no API rows to say why", time->idle_ns, time->span_ns);
	kwhy_table_rule(&table);
	add_time(&table, "span: first start to last end", time->span_ns, time->span_ns);
	kwhy_table_write(&table, context->style, context->out);
}

static bool has_elsewhere(const struct kwhy_ledger *ledger)
{
	for (size_t d = 0; d < ledger->device_count; d++)
		if (ledger->devices[d].time.host_ns > 0)
			return true;
	return false;
}

void kwhy_section_time(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	size_t shown = kwhy_text_context_shown(context, ledger->device_count, DEVICE_ROWS);

	for (size_t d = 0; d < shown; d++) {
		char label[KWHY_DEVICE_LABEL_BYTES], title[KWHY_DEVICE_LABEL_BYTES + 8];

		if (!kwhy_device_was_active(&ledger->devices[d].time))
			continue;
		snprintf(title, sizeof(title), "Time, %s",
			kwhy_device_label(label, &context->report->recording->devices[d]));
		kwhy_text_context_heading(context, title, "disjoint; one timeline");
		write_time(context, &ledger->devices[d].time);
	}
	kwhy_text_context_more(context, ledger->device_count, shown);
	if (has_elsewhere(ledger))
		kwhy_text_context_paragraph(context, "  ",
			"host elsewhere: the host is in none of these calls; it prepares input, runs other "
			"code or sleeps.");
}

static const struct kwhy_table_column utilisation_columns[] = {
	{"", KWHY_COLUMN_NAME}, {"busy", KWHY_COLUMN_RIGHT}, {"SM-weighted", KWHY_COLUMN_RIGHT},
	{"grid known", KWHY_COLUMN_RIGHT}, {"streams", KWHY_COLUMN_RIGHT},
	{"max. concurrency", KWHY_COLUMN_RIGHT},
	{"roofline", KWHY_COLUMN_RIGHT}, /* left out unless has_roofline() */
};

static bool has_roofline(const struct kwhy_text_context *context)
{
	return context->report->ledger->roofline.ratio > 0;
}

/*
 * Whether work in FLOP or bytes was stated, which asks for a roofline ratio. If it is unknown nevertheless, a
 * note says why.
 */
static bool is_asked_for(const struct kwhy_recording *recording)
{
	bool asked = false;

	for (size_t i = 0; i < recording->work_count; i++)
		asked |= kwhy_unit_is_flop(recording->work[i].unit) ||
			strcmp(recording->work[i].unit, "bytes") == 0;
	return asked;
}

static void explain_utilisation(const struct kwhy_text_context *context)
{
	const struct kwhy_roofline_sum *roofline = &context->report->ledger->roofline;
	bool by_memory = !(roofline->arithmetic_s > roofline->memory_s) && !isnan(roofline->memory_s);
	char text[512], least[KWHY_QUANTITY_BYTES], more[256] = "";

	if (has_roofline(context))
		snprintf(more, sizeof(more),
			" roofline: what the stated work takes at the devices' measured peaks, %s by %s, of "
			"the run.",
			kwhy_quantity_si(
				least, by_memory ? roofline->memory_s : roofline->arithmetic_s, "s", 3),
			by_memory ? "memory" : "arithmetic");
	else
		snprintf(more, sizeof(more), "%s",
			is_asked_for(context->report->recording)
				? " roofline: unknown; --section unknown says why."
				: " --work flop_bf16=N or bytes=N adds the share of the roofline.");
	snprintf(text, sizeof(text),
		"busy: something runs. SM-weighted: blocks resident against what the device holds, for "
		"kernels whose grid is known.%s",
		more);
	kwhy_text_context_paragraph(context, "  ", text);
}

/*
 * Adds a roofline ratio in percent, with two significant digits below 1 %, since a serial program may reach
 * only 0.015 %.
 */
static void add_roofline(struct kwhy_table *table, double ratio)
{
	char share[KWHY_QUANTITY_BYTES];

	snprintf(share, sizeof(share), ratio < 0.01 ? "%.2g %%" : "%.1f %%", ratio * 100);
	kwhy_table_cell(table, share);
}

void kwhy_section_utilisation(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	size_t shown = kwhy_text_context_shown(context, ledger->device_count, DEVICE_ROWS);
	struct kwhy_table table;
	bool any = false, unrecorded = false, probed = false;

	kwhy_table_init(&table, utilisation_columns, has_roofline(context) ? 7 : 6);
	for (size_t d = 0; d < shown; d++) {
		const struct kwhy_device_time *time = &ledger->devices[d].time;
		char label[KWHY_DEVICE_LABEL_BYTES];

		if (!kwhy_device_was_active(&ledger->devices[d].time))
			continue;
		any = true;
		unrecorded |= time->unrecorded_ns > 0;
		probed |= time->probing_ns > 0;
		kwhy_table_cell(&table, kwhy_device_label(label, &context->report->recording->devices[d]));
		kwhy_table_percent(&table, time->busy_ratio);
		kwhy_table_percent(&table, time->sm_weighted_ratio);
		kwhy_table_percent(&table, time->sm_weighted_known_ratio);
		kwhy_table_count(&table, time->stream_count);
		kwhy_table_count(&table, time->max_concurrency);
		if (has_roofline(context))
			add_roofline(&table, time->roofline_ratio);
	}
	if (any)
		kwhy_text_context_heading(context, "Utilisation",
			unrecorded	 ? "of the recorded part of the span"
				: probed ? "of the span without probing"
					 : "of the span");
	kwhy_table_write(&table, context->style, context->out);
	if (any)
		explain_utilisation(context);
}

static const struct kwhy_table_column rank_columns[] = {
	{"rank", KWHY_COLUMN_RIGHT},
	{"device", KWHY_COLUMN_LEFT},
	{"span", KWHY_COLUMN_RIGHT},
	{"busy", KWHY_COLUMN_RIGHT},
	{"compute", KWHY_COLUMN_RIGHT},
	{"exposed coll.", KWHY_COLUMN_RIGHT},
	{"energy", KWHY_COLUMN_RIGHT},
};

/*
 * Writes the imbalance of the ranks: longest compute time divided by mean compute time, less 1, in percent.
 * Ranks that compute less wait for the one that computes longest.
 */
static void write_imbalance(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	double sum_ns = 0, longest_ns = 0;
	char share[KWHY_QUANTITY_BYTES];

	for (size_t i = 0; i < ledger->rank_count; i++) {
		double compute_ns = (double)ledger->ranks[i].compute_ns;

		sum_ns += compute_ns;
		longest_ns = compute_ns > longest_ns ? compute_ns : longest_ns;
	}
	if (sum_ns <= 0)
		return;
	kwhy_text_context_linef(context, "  ", "imbalance: the longest compute time is %s above the mean%s",
		kwhy_quantity_percent(share, longest_ns / (sum_ns / (double)ledger->rank_count) - 1),
		kwhy_lost_work(&context->report->recording->lost)
			? "; rows are lost, and what ran in them is missing here"
			: "");
}

void kwhy_section_ranks(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	size_t shown = kwhy_text_context_shown(context, ledger->rank_count, DEVICE_ROWS);
	struct kwhy_table table;

	if (ledger->rank_count < 2)
		return;
	kwhy_text_context_heading(context, "Devices side by side", NULL);
	kwhy_table_init(&table, rank_columns, 7);
	for (size_t i = 0; i < shown; i++) {
		const struct kwhy_rank_sum *rank = &ledger->ranks[i];
		char label[KWHY_DEVICE_LABEL_BYTES];

		if (rank->rank == KWHY_NONE)
			kwhy_table_cell(&table, "-");
		else
			kwhy_table_count(&table, rank->rank);
		snprintf(label, sizeof(label), "GPU %d",
			context->report->recording->devices[rank->device].index);
		kwhy_table_cell(&table, label);
		kwhy_table_time(&table, rank->span_ns);
		kwhy_table_time(&table, rank->busy_ns);
		kwhy_table_time(&table, rank->compute_ns);
		kwhy_table_time(&table, rank->collective_exposed_ns);
		kwhy_table_energy(&table, rank->energy_nj);
	}
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, ledger->rank_count, shown);
	write_imbalance(context);
}

static const struct kwhy_table_column process_columns[] = {
	{"rank", KWHY_COLUMN_RIGHT},
	{"process", KWHY_COLUMN_RIGHT},
	{"host", KWHY_COLUMN_NAME},
	{"device", KWHY_COLUMN_LEFT},
	{"activities", KWHY_COLUMN_RIGHT},
	{"busy", KWHY_COLUMN_RIGHT},
};

/*
 * Activities and busy time summed over all streams of a process, the device of the last stream, and whether
 * its streams are on several devices.
 */
struct process_sum {
	uint64_t count;
	int64_t busy_ns;
	uint32_t device;
	bool has_several;
};

/* Fills sums[], one element for each process, and returns the number of processes that have activities. */
static size_t sum_processes(const struct kwhy_report *report, struct process_sum *sums)
{
	const struct kwhy_recording *recording = report->recording;
	size_t active = 0;

	for (size_t i = 0; i < report->ledger->stream_count; i++) {
		const struct kwhy_stream_sum *of_stream = &report->ledger->streams[i];
		const struct kwhy_stream *stream = &recording->streams[of_stream->stream];
		struct process_sum *sum;

		if (stream->process >= recording->process_count || !of_stream->count)
			continue;
		sum = &sums[stream->process];
		active += !sum->count;
		sum->has_several |= sum->count && sum->device != stream->device;
		sum->device = stream->device;
		sum->count += of_stream->count;
		sum->busy_ns += of_stream->busy_ns;
	}
	return active;
}

static void add_process(const struct kwhy_text_context *context, struct kwhy_table *table,
	const struct kwhy_process *process, const struct process_sum *sum)
{
	char pid[32], device[32];

	snprintf(pid, sizeof(pid), "%lld", (long long)process->pid);
	snprintf(device, sizeof(device), "GPU %d", context->report->recording->devices[sum->device].index);
	if (process->rank == KWHY_NONE)
		kwhy_table_cell(table, "-");
	else
		kwhy_table_count(table, process->rank);
	kwhy_table_cell(table, process->pid < 0 ? NULL : pid);
	kwhy_table_cell(table, process->host);
	kwhy_table_cell(table, sum->has_several ? "several" : device);
	kwhy_table_count(table, sum->count);
	kwhy_table_time(table, sum->busy_ns);
}

void kwhy_section_processes(const struct kwhy_text_context *context)
{
	const struct kwhy_recording *recording = context->report->recording;
	struct process_sum *sums = calloc(recording->process_count + 1, sizeof(*sums));
	size_t active = 0, shown, written = 0;
	struct kwhy_table table;

	context->out->failed |= !sums;
	if (sums)
		active = sum_processes(context->report, sums);
	if (active > 1) {
		shown = kwhy_text_context_shown(context, active, DEVICE_ROWS);
		kwhy_text_context_heading(context, "Processes", "busy: summed over their streams");
		kwhy_table_init(&table, process_columns, 6);
		for (size_t i = 0; i < recording->process_count && written < shown; i++)
			if (sums[i].count) {
				add_process(context, &table, &recording->processes[i], &sums[i]);
				written++;
			}
		kwhy_table_write(&table, context->style, context->out);
		kwhy_text_context_more(context, active, shown);
	}
	free(sums);
}

static const struct kwhy_table_column stream_columns[] = {
	{"device", KWHY_COLUMN_NAME},
	{"stream", KWHY_COLUMN_LEFT},
	{"activities", KWHY_COLUMN_RIGHT},
	{"busy", KWHY_COLUMN_RIGHT},
	{"of it alone", KWHY_COLUMN_RIGHT},
};

void kwhy_section_streams(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	const struct kwhy_recording *recording = context->report->recording;
	size_t shown = kwhy_text_context_shown(context, ledger->stream_count, STREAM_ROWS);
	struct kwhy_table table;

	if (ledger->stream_count < 2)
		return;
	kwhy_text_context_heading(context, "Streams", NULL);
	kwhy_table_init(&table, stream_columns, 5);
	for (size_t i = 0; i < shown; i++) {
		const struct kwhy_stream_sum *sum = &ledger->streams[i];
		const struct kwhy_stream *stream = &recording->streams[sum->stream];
		char label[KWHY_DEVICE_LABEL_BYTES], id[32];

		snprintf(id, sizeof(id), "%lld", (long long)stream->id);
		kwhy_table_cell(&table, kwhy_device_label(label, &recording->devices[stream->device]));
		kwhy_table_cell(&table, id);
		kwhy_table_count(&table, sum->count);
		kwhy_table_time(&table, sum->busy_ns);
		kwhy_table_time(&table, sum->alone_ns);
	}
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, ledger->stream_count, shown);
}
