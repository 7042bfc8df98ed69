/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/table.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>

/*
 * Sections on memory traffic: copies by kind, the cost of each kind of memory operation, and the idle time
 * after copies.
 */

static const struct kwhy_table_column copy_columns[] = {
	{"copy", KWHY_COLUMN_NAME},
	{"count", KWHY_COLUMN_RIGHT},
	{"bytes", KWHY_COLUMN_RIGHT},
	{"mean size", KWHY_COLUMN_RIGHT},
	{"time", KWHY_COLUMN_RIGHT},
	{"rate", KWHY_COLUMN_RIGHT},
};

enum { COPY_ROWS = 16 };

/* A mean of more than this many medians says little about most of the values. */
#define UNEVEN_RATIO 2

/*
 * Adds the row of one kind of copy between two kinds of memory. `device` is written before it; NULL: there is
 * only one device.
 */
static void add_copy(
	struct kwhy_table *table, const struct kwhy_device *device, const struct kwhy_copy_sum *copy)
{
	char label[KWHY_DEVICE_LABEL_BYTES], what[KWHY_DEVICE_LABEL_BYTES + 80];
	bool any = copy->count > copy->unknown_bytes, all = copy->unknown_bytes == 0;

	snprintf(what, sizeof(what), "%s%s%s %s to %s", device ? kwhy_device_label(label, device) : "",
		device ? ": " : "", kwhy_copy_kind_name((enum kwhy_copy_kind)copy->kind),
		kwhy_memory_kind_name((enum kwhy_memory_kind)copy->src_memory),
		kwhy_memory_kind_name((enum kwhy_memory_kind)copy->dst_memory));
	kwhy_table_cell(table, what);
	kwhy_table_count(table, copy->count);
	kwhy_table_bytes(table, any ? copy->bytes : KWHY_UNKNOWN_BYTES);
	kwhy_table_bytes(table, any ? copy->bytes / (copy->count - copy->unknown_bytes) : KWHY_UNKNOWN_BYTES);
	kwhy_table_time(table, copy->total_ns);
	kwhy_table_real(table,
		all && copy->total_ns > 0 ? (double)copy->bytes * 1e9 / (double)copy->total_ns : NAN, "B/s");
}

void kwhy_section_copies(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	struct kwhy_table table;
	size_t count = 0, left = 0;

	kwhy_table_init(&table, copy_columns, 6);
	for (size_t d = 0; d < ledger->device_count; d++)
		for (size_t i = 0; i < ledger->devices[d].time.copy_sum_count; i++) {
			if (count++ < COPY_ROWS || context->style->verbose)
				add_copy(&table,
					context->totals->active_count > 1
						? &context->report->recording->devices[d]
						: NULL,
					&ledger->devices[d].time.copies[i]);
			else
				left++;
		}
	if (count)
		kwhy_text_context_heading(context, "Copies", "rate: bytes over the copies' own time");
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_more(context, count, count - left);
}

static const struct kwhy_table_column operation_columns[] = {
	{"operation", KWHY_COLUMN_LEFT},
	{"time each", KWHY_COLUMN_RIGHT},
	{"energy each", KWHY_COLUMN_RIGHT},
	{"count", KWHY_COLUMN_RIGHT},
	{"energy", KWHY_COLUMN_RIGHT},
	{"90 %", KWHY_COLUMN_RIGHT},
	{"of sum", KWHY_COLUMN_RIGHT},
	{"of all", KWHY_COLUMN_RIGHT},
};

static double share_nj(int64_t part_nj, int64_t whole_nj)
{
	return part_nj == KWHY_UNKNOWN_NJ || whole_nj == KWHY_UNKNOWN_NJ || whole_nj <= 0
		? NAN
		: (double)part_nj / (double)whole_nj;
}

static void add_operation(struct kwhy_table *table, const char *name, const struct kwhy_operation *operation,
	const struct kwhy_operation *sum, int64_t whole_nj)
{
	if (!operation->count)
		return;
	kwhy_table_cell(table, name);
	kwhy_table_time(table, operation->time_ns / (int64_t)operation->count);
	kwhy_table_real(table, kwhy_operation_each_nj(operation) * 1e-9, "J");
	kwhy_table_count(table, operation->count);
	kwhy_table_energy(table, operation->gross_nj);
	kwhy_table_interval(table, operation->low_nj, operation->high_nj);
	kwhy_table_percent(table, share_nj(operation->gross_nj, sum->gross_nj));
	kwhy_table_percent(table, share_nj(operation->gross_nj, whole_nj));
}

/* Whether more than 0.5 % of the time of the operations whose power is known is unmetered. */
static bool is_partly_metered(const struct kwhy_operation *operation)
{
	return operation->metered_ns < 0.995 * (double)operation->known_ns;
}

static void add_known(struct kwhy_text *out, const char *name, const struct kwhy_operation *operation)
{
	char known[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];

	if (operation->known_count && operation->known_count < operation->count)
		kwhy_text_addf(out, "%s%s of %s %s", out->length ? ", " : "",
			kwhy_quantity_count(known, operation->known_count),
			kwhy_quantity_count(count, operation->count), name);
}

/*
 * Explains the table, if part of the operations' time is unmetered: count, time and energy of a single
 * operation are of all operations, but the column "energy" has the energy of metered time only. Also says of
 * how many operations the power is known, if not of all.
 */
static void explain_operations(
	const struct kwhy_text_context *context, const struct kwhy_operations *operations)
{
	bool partly = is_partly_metered(&operations->memset);
	char share[KWHY_QUANTITY_BYTES];
	struct kwhy_text known = {0};

	for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++) {
		add_known(&known, kwhy_copy_kind_name((enum kwhy_copy_kind)kind), &operations->copies[kind]);
		partly |= is_partly_metered(&operations->copies[kind]);
	}
	add_known(&known, "memset", &operations->memset);
	if (partly)
		kwhy_text_context_linef(context, "  ",
			"energy: of the %s of their time that was metered; count, time and energy each: of "
			"all.",
			kwhy_quantity_percent(
				share, operations->sum.metered_ns / (double)operations->sum.time_ns));
	if (known.length)
		kwhy_text_context_linef(context, "  ", "energy each: of %s; no reading saw the others.",
			known.failed ? "" : known.data);
	context->out->failed |= known.failed;
	kwhy_text_done(&known);
}

static void write_operations(const struct kwhy_text_context *context, size_t device)
{
	const struct kwhy_operations *operations = &context->operations[device];
	const struct kwhy_device_energy *energy = &context->report->ledger->devices[device].energy;
	int64_t whole_nj = energy->known ? energy->attributed_nj : KWHY_UNKNOWN_NJ;
	struct kwhy_table table;

	kwhy_table_init(&table, operation_columns, 8);
	for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
		add_operation(&table, kwhy_copy_kind_name((enum kwhy_copy_kind)kind),
			&operations->copies[kind], &operations->sum, whole_nj);
	add_operation(&table, "memset", &operations->memset, &operations->sum, whole_nj);
	kwhy_table_rule(&table);
	add_operation(&table, "sum", &operations->sum, &operations->sum, whole_nj);
	kwhy_table_write(&table, context->style, context->out);
	if (energy->known && !energy->modelled)
		explain_operations(context, operations);
}

void kwhy_section_operations(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;

	for (size_t d = 0; d < ledger->device_count; d++) {
		char label[KWHY_DEVICE_LABEL_BYTES], title[KWHY_DEVICE_LABEL_BYTES + 32];

		if (!ledger->devices[d].energy.known || !context->operations[d].sum.count)
			continue;
		snprintf(title, sizeof(title), "Memory operations, %s",
			kwhy_device_label(label, &context->report->recording->devices[d]));
		kwhy_text_context_heading(context, title, "their own time and gross energy, without waits");
		write_operations(context, d);
	}
}

static const struct kwhy_table_column split_columns[] = {
	{"a transfer", KWHY_COLUMN_LEFT},
	{"count", KWHY_COLUMN_RIGHT},
	{"DMA", KWHY_COLUMN_RIGHT},
	{"wait", KWHY_COLUMN_RIGHT},
	{"remainder", KWHY_COLUMN_RIGHT},
	{"sum", KWHY_COLUMN_RIGHT},
};

/*
 * Adds the three parts of a transfer (copy, wait, rest; see struct kwhy_transfer_split), given in ns or nJ,
 * as s or J (`unit`), and their sum.
 */
static void add_parts(struct kwhy_table *table, const double parts[3], const char *unit)
{
	for (int i = 0; i < 3; i++)
		kwhy_table_real(table, parts[i] * 1e-9, unit);
	kwhy_table_real(table, (parts[0] + parts[1] + parts[2]) * 1e-9, unit);
}

static void add_shares(struct kwhy_table *table, const double parts[3])
{
	double sum = parts[0] + parts[1] + parts[2];

	for (int i = 0; i < 3; i++)
		kwhy_table_percent(table, sum > 0 ? parts[i] / sum : NAN);
	kwhy_table_percent(table, sum > 0 ? 1 : NAN);
}

static bool is_split_priced(const struct kwhy_transfer_split *split)
{
	return split->dma_nj != KWHY_UNKNOWN_NJ && split->wait_nj != KWHY_UNKNOWN_NJ &&
		split->rest_nj != KWHY_UNKNOWN_NJ;
}

static void add_split(struct kwhy_table *table, const char *kind, const struct kwhy_transfer_split *split)
{
	const double count = (double)split->count;
	const double times[3] = {(double)split->dma_ns / count, (double)split->wait_ns / count,
		(double)split->rest_ns / count};
	const double energies[3] = {(double)split->dma_nj / (double)split->priced_count,
		(double)split->wait_nj / count, (double)split->rest_nj / count};
	bool priced = is_split_priced(split);

	kwhy_table_cell(table, kind);
	kwhy_table_count(table, split->count);
	add_parts(table, times, "s");
	if (priced) {
		kwhy_table_cell(table, "  energy");
		if (split->priced_count < split->count)
			kwhy_table_count(table, split->priced_count);
		else
			kwhy_table_cell(table, "");
		add_parts(table, energies, "J");
	}
	kwhy_table_cell(table, "  share");
	kwhy_table_cell(table, "");
	add_shares(table, priced ? energies : times);
}

static bool is_any_unpriced(const struct kwhy_transfer_split *splits)
{
	for (size_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
		if (is_split_priced(&splits[kind]) && splits[kind].priced_count < splits[kind].count)
			return true;
	return false;
}

/*
 * Whether a few long rests (struct kwhy_transfer_split) dominate the mean, so that it is no measure of most
 * transfers: the mean is more than UNEVEN_RATIO medians.
 */
static bool is_rest_uneven(const struct kwhy_transfer_split *split)
{
	return (double)split->rest_ns > UNEVEN_RATIO * (double)split->count * (double)split->rest_median_ns;
}

static void write_uneven(const struct kwhy_text_context *context, const struct kwhy_transfer_split *splits)
{
	char median[KWHY_QUANTITY_BYTES], longest[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES];

	for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
		if (splits[kind].count && is_rest_uneven(&splits[kind]))
			kwhy_text_context_linef(context, "  ",
				"%s: a few long remainders make their mean; half last at most %s, the "
				"longest %s (%s of their sum).",
				kwhy_copy_kind_name((enum kwhy_copy_kind)kind),
				kwhy_quantity_time(median, splits[kind].rest_median_ns),
				kwhy_quantity_time(longest, splits[kind].rest_longest_ns),
				kwhy_quantity_percent(share,
					(double)splits[kind].rest_longest_ns / (double)splits[kind].rest_ns));
}

static void write_splits(const struct kwhy_text_context *context, size_t device)
{
	const struct kwhy_transfer_split *splits = context->operations[device].splits;
	char label[KWHY_DEVICE_LABEL_BYTES], title[KWHY_DEVICE_LABEL_BYTES + 32];
	struct kwhy_table table;

	snprintf(title, sizeof(title), "What a transfer costs, %s",
		kwhy_device_label(label, &context->report->recording->devices[device]));
	kwhy_text_context_heading(context, title, "means of one");
	kwhy_table_init(&table, split_columns, 6);
	for (uint32_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
		if (splits[kind].count)
			add_split(&table, kwhy_copy_kind_name((enum kwhy_copy_kind)kind), &splits[kind]);
	kwhy_table_write(&table, context->style, context->out);
	kwhy_text_context_paragraph(context, "  ",
		"The device idles after the copy until its next activity: wait, while the thread that "
		"issued the copy is blocked; remainder, while it works or launches.");
	write_uneven(context, splits);
	if (is_any_unpriced(splits))
		kwhy_text_context_paragraph(context, "  ",
			"A count next to energy: the copies whose DMA the meter saw, whose mean that is.");
}

static bool has_splits(const struct kwhy_operations *operations)
{
	for (size_t kind = 0; kind < KWHY_COPY_KIND_COUNT; kind++)
		if (operations->split_known && operations->splits[kind].count)
			return true;
	return false;
}

void kwhy_section_split(const struct kwhy_text_context *context)
{
	for (size_t d = 0; d < context->report->ledger->device_count; d++)
		if (has_splits(&context->operations[d]))
			write_splits(context, d);
}
