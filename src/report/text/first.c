/* SPDX-License-Identifier: Apache-2.0 */
#include "base/lines.h"
#include "base/quantity.h"
#include "model/known_sum.h"
#include "report/account_columns.h"
#include "report/text/first_screen.h"

#include <math.h>
#include <stdio.h>

/*
 * The first screen: what the run cost, where energy and time went, up to three pieces of advice, what is not
 * known, and how to see more. Rows of the largest accounts fill the lines that the other parts leave.
 */

/*
 * Times of accounts are taken not to overlap if their sum is at most this many times the devices' time, which
 * allows for rounding.
 */
#define OVERLAP_RATIO 1.001

/* A terminal has 24 lines, one of them for the prompt that follows. */
enum {
	SCREEN_LINES = 23,
	WHERE_MAX = 8,
	FEW_ROWS = 4,
	WHERE_BAR = 10,
	SECTION_ROWS = 20,
	REMARK_BYTES = 160
};

/*
 * Columns of bar, name, energy, 90 % interval and share, or bar, name, time, count and share. They have no
 * titles, since the heading names them.
 */
static const struct kwhy_table_column columns[] = {
	{"", KWHY_COLUMN_BAR},
	{"", KWHY_COLUMN_NAME},
	{"", KWHY_COLUMN_RIGHT},
	{"", KWHY_COLUMN_RIGHT},
	{"", KWHY_COLUMN_RIGHT},
};

const char *kwhy_where_words(const struct kwhy_total *row)
{
	static const char *const words[KWHY_CATEGORY_COUNT] = {
		[KWHY_CATEGORY_SYNC] = "idle while the host waits in synchronize",
		[KWHY_CATEGORY_LAUNCH] = "idle while the host launches work",
		[KWHY_CATEGORY_ALLOC] = "idle while the host allocates or frees",
		[KWHY_CATEGORY_HOST] = "idle while the host does something else",
		[KWHY_CATEGORY_IDLE] = "idle; the host's calls were not recorded",
		[KWHY_CATEGORY_UNRECORDED] = "not recorded",
	};

	return row->category < KWHY_CATEGORY_COUNT && words[row->category] ? words[row->category] : row->name;
}

struct kwhy_where kwhy_where_of(const struct kwhy_totals *totals)
{
	struct kwhy_where where = {.totals = *totals, .sum_nj = NAN};

	where.totals.rows = totals->run_rows;
	where.totals.row_count = totals->run_row_count;
	where.totals.span_ns += totals->run_unrecorded_ns;
	if (totals->whole_count) {
		where.totals.rows = totals->whole_rows;
		where.totals.row_count = totals->whole_count;
		where.totals.span_ns = totals->whole_ns;
	}
	if (totals->energy_nj != KWHY_UNKNOWN_NJ)
		where.sum_nj = 0;
	for (size_t i = 0; i < where.totals.row_count; i++)
		if (where.totals.rows[i].gross_nj != KWHY_UNKNOWN_NJ)
			where.sum_nj += (double)where.totals.rows[i].gross_nj;
	where.shared_ns = 0;
	for (size_t i = 0; i < where.totals.row_count; i++)
		if (where.totals.rows[i].time_ns > 0)
			kwhy_time_add(&where.shared_ns, where.totals.rows[i].time_ns);
	where.is_overlapping = (double)where.shared_ns > OVERLAP_RATIO * (double)where.totals.span_ns;
	if (where.shared_ns < where.totals.span_ns)
		where.shared_ns = where.totals.span_ns;
	if (!(where.sum_nj > 0)) { /* no row has a known energy above 0 */
		where.sum_nj = NAN;
		where.totals.energy_nj = KWHY_UNKNOWN_NJ;
	}
	return where;
}

double kwhy_where_share(const struct kwhy_where *where, const struct kwhy_total *row)
{
	if (isnan(where->sum_nj))
		return where->shared_ns > 0 ? (double)row->time_ns / (double)where->shared_ns : NAN;
	return row->gross_nj != KWHY_UNKNOWN_NJ && where->sum_nj > 0 ? (double)row->gross_nj / where->sum_nj
								     : NAN;
}

static void add_row(struct kwhy_table *table, const struct kwhy_where *where, const struct kwhy_total *row)
{
	kwhy_table_bar(table, kwhy_where_share(where, row), WHERE_BAR);
	if (kwhy_category_is_kernels(row->category))
		kwhy_table_kernel(table, row->name);
	else
		kwhy_table_cell(table, kwhy_where_words(row));
	if (!isnan(where->sum_nj)) {
		kwhy_table_energy(table, row->gross_nj);
		kwhy_table_interval(table, row->low_nj, row->high_nj);
	} else {
		kwhy_table_time(table, row->time_ns);
		kwhy_table_count(table, row->count);
	}
	kwhy_table_percent(table, kwhy_where_share(where, row));
}

/*
 * Adds a row with the sum of several accounts. The cell for the 90 % interval of its energy stays empty,
 * because it depends on how the accounts' errors correlate.
 */
static void add_sum(struct kwhy_table *table, const struct kwhy_where *where, const struct kwhy_total *sum,
	const char *name)
{
	kwhy_table_bar(table, kwhy_where_share(where, sum), WHERE_BAR);
	kwhy_table_cell(table, name);
	if (!isnan(where->sum_nj)) {
		kwhy_table_energy(table, sum->gross_nj);
		kwhy_table_cell(table, "");
	} else {
		kwhy_table_time(table, sum->time_ns);
		kwhy_table_count(table, sum->count);
	}
	kwhy_table_percent(table, kwhy_where_share(where, sum));
}

static void add_to_sum(struct kwhy_total *sum, const struct kwhy_total *row)
{
	kwhy_known_add(&sum->gross_nj, row->gross_nj);
	kwhy_time_add(&sum->time_ns, row->time_ns);
	sum->count += row->count;
}

static void write_rows(const struct kwhy_text_context *context, const struct kwhy_where *where, size_t shown)
{
	struct kwhy_total rest = {.gross_nj = 0};
	struct kwhy_table table;
	size_t written = 0;
	char name[64];

	kwhy_table_init(&table, columns, 5);
	for (size_t i = 0; i < where->totals.row_count; i++) {
		const struct kwhy_total *row = &where->totals.rows[i];

		if (written++ < shown) {
			add_row(&table, where, row);
			continue;
		}
		add_to_sum(&rest, row);
	}
	snprintf(name, sizeof(name), "%zu more", written - shown);
	if (written > shown)
		add_sum(&table, where, &rest, name);
	kwhy_table_write(&table, context->style, context->out);
}

/*
 * Groups of accounts. They are shown in place of the largest accounts if there is space for at most FEW_ROWS
 * rows, and the accounts that would fit together have less than half of the energy or, if no energy is known,
 * of the time.
 */
enum group { GROUP_KERNELS, GROUP_COLLECTIVES, GROUP_COPIES, GROUP_IDLE, GROUP_OTHER, GROUP_COUNT };

static enum group group_of(uint32_t category)
{
	if (category == KWHY_CATEGORY_COMPUTE)
		return GROUP_KERNELS;
	if (category == KWHY_CATEGORY_COLLECTIVE)
		return GROUP_COLLECTIVES;
	if (category == KWHY_CATEGORY_COPY || category == KWHY_CATEGORY_MEMSET)
		return GROUP_COPIES;
	return kwhy_category_is_idle((enum kwhy_category)category) ? GROUP_IDLE : GROUP_OTHER;
}

/*
 * Whether the first `shown` rows together have less than half of the energy or, if no energy is known, of the
 * time.
 */
static bool tell_little(const struct kwhy_where *where, size_t shown)
{
	double share = 0;

	for (size_t i = 0; i < shown; i++)
		share += kwhy_where_share(where, &where->totals.rows[i]);
	return share < 0.5;
}

/*
 * The group with the largest share of energy or time among those with members[] above 0; GROUP_COUNT: there
 * is none.
 */
static size_t largest_group(const struct kwhy_where *where, const struct kwhy_total groups[GROUP_COUNT],
	const size_t members[GROUP_COUNT])
{
	size_t largest = GROUP_COUNT;

	for (size_t i = 0; i < GROUP_COUNT; i++)
		if (members[i] &&
			(largest == GROUP_COUNT ||
				kwhy_where_share(where, &groups[i]) >
					kwhy_where_share(where, &groups[largest])))
			largest = i;
	return largest;
}

/*
 * Writes groups of accounts in at most `rows` rows, the largest first. The last row has the sum of the groups
 * that get no row of their own.
 */
static void write_groups(const struct kwhy_text_context *context, const struct kwhy_where *where, size_t rows)
{
	static const char *const names[GROUP_COUNT] = {
		"kernels", "collectives", "copies and fills", "idle", "other"};
	struct kwhy_total groups[GROUP_COUNT] = {{0}}, rest = {0};
	size_t members[GROUP_COUNT] = {0}, count = 0, left = 0;
	struct kwhy_table table;

	for (size_t i = 0; i < where->totals.row_count; i++) {
		enum group group = group_of(where->totals.rows[i].category);

		add_to_sum(&groups[group], &where->totals.rows[i]);
		count += members[group]++ == 0;
	}
	kwhy_table_init(&table, columns, 5);
	for (size_t written = 0; written < count; written++) {
		size_t largest = largest_group(where, groups, members);

		if (count <= rows || written + 1 < rows) {
			add_sum(&table, where, &groups[largest], names[largest]);
		} else {
			add_to_sum(&rest, &groups[largest]);
			left += members[largest];
		}
		members[largest] = 0;
	}
	if (left) {
		char name[64];

		snprintf(name, sizeof(name), "%zu more", left);
		add_sum(&table, where, &rest, name);
	}
	kwhy_table_write(&table, context->style, context->out);
}

/*
 * Writes the remark of the heading: the names of the columns and the energy that is 100 % in the shares, the
 * sum of all rows. It is called metered or modelled if it differs from the energy at the top of the report,
 * as when readings cover only part of the run.
 */
static void write_remark(const struct kwhy_where *where, char out[REMARK_BYTES])
{
	const struct kwhy_totals *totals = &where->totals;
	const char *kind = "";
	char sum[KWHY_QUANTITY_BYTES];

	if (totals->whole_count)
		kind = ", estimated for the whole run";
	else if (!kwhy_totals_look_equal(where->sum_nj, kwhy_totals_shown_nj(totals)))
		kind = totals->modelled ? " modelled" : " metered";
	snprintf(out, REMARK_BYTES, "energy, 90 %% interval, share of %s%s%s", *kind == ' ' ? "the " : "",
		kwhy_quantity_si(sum, where->sum_nj * 1e-9, "J", 3), kind);
}

static void write_time_remark(const struct kwhy_where *where, char out[REMARK_BYTES])
{
	const char *estimated = where->totals.whole_count ? " of the whole run, estimated" : "";
	char sum[KWHY_QUANTITY_BYTES];

	if (where->is_overlapping)
		snprintf(out, REMARK_BYTES, "time%s, count, share of their sum %s (streams overlap)",
			estimated, kwhy_quantity_time(sum, where->shared_ns));
	else
		snprintf(out, REMARK_BYTES, "time, count, share%s", estimated);
}

void kwhy_first_screen_where(const struct kwhy_text_context *context, size_t rows)
{
	const struct kwhy_where where = kwhy_where_of(context->totals);
	const bool energy = !isnan(where.sum_nj);
	char remark[REMARK_BYTES];

	if (!where.totals.row_count)
		return;
	if (energy)
		write_remark(&where, remark);
	else
		write_time_remark(&where, remark);
	kwhy_text_context_heading(context, energy ? "Where the energy went" : "Where the time went", remark);
	if (where.totals.row_count <= rows)
		write_rows(context, &where, where.totals.row_count);
	else if (rows <= FEW_ROWS && tell_little(&where, rows - 1))
		write_groups(context, &where, rows);
	else
		write_rows(context, &where, rows - 1);
}

void kwhy_section_where(const struct kwhy_text_context *context)
{
	kwhy_first_screen_where(context, context->style->verbose ? SIZE_MAX : SECTION_ROWS);
}

/*
 * Layouts of the screen, which are tried from the first to the last until one fits: least number of rows of
 * accounts, numbers of pieces of advice and of sentences on what is unknown, whether cures are written in
 * full, and whether blank lines are kept.
 */
struct fit {
	size_t min_rows, advice, unknown;
	bool is_whole, is_spaced;
};

static const struct fit fits[] = {
	{5, 3, 3, true, true},
	{5, 3, 1, true, true},
	{4, 3, 1, true, false},
	{3, 3, 1, true, false},
	{2, 3, 1, true, false},
	{4, 3, 0, true, false},
	{2, 3, 0, true, false},
	{3, 3, 1, false, false},
	{2, 3, 0, false, false},
	{2, 2, 0, false, false},
	{2, 1, 0, false, false},
};

/* Removes the blank lines of a text. */
static void squeeze(struct kwhy_text *text)
{
	size_t kept = 0;

	for (size_t i = 0; i < text->length; i++)
		if (text->data[i] != '\n' || (kept && text->data[kept - 1] != '\n'))
			text->data[kept++] = text->data[i];
	if (text->data)
		text->data[kept] = '\0';
	text->length = kept;
}

static void write_more(const struct kwhy_text_context *context)
{
	const char *more = context->style->more;

	if (!more)
		more = "More: -v shows all, --section NAME one section, --section list their names.";
	if (!*more)
		return;
	kwhy_text_context_paragraph(context, "", more);
}

static void write_all(const struct kwhy_text_context *context, const struct fit *fit, size_t rows)
{
	kwhy_section_cost(context);
	kwhy_first_screen_where(context, rows);
	kwhy_first_screen_advice(context, fit->advice, fit->is_whole);
	kwhy_first_screen_unknown(context, fit->unknown);
	write_more(context);
	if (!fit->is_spaced)
		squeeze(context->out);
}

/*
 * Writes the screen in the layout `fit` to `out`, with the largest number of rows of accounts (at most 8)
 * with which it has at most SCREEN_LINES lines. It is written for each number, since how headings wrap is
 * known only then. False: it is too long even with min_rows.
 */
static bool try_fit(const struct kwhy_text_context *context, const struct fit *fit, struct kwhy_text *out)
{
	struct kwhy_text_context part = *context;

	part.out = out;
	for (size_t rows = WHERE_MAX; rows >= fit->min_rows; rows--) {
		kwhy_text_clear(out);
		write_all(&part, fit, rows);
		if (kwhy_lines_count(out) <= SCREEN_LINES)
			return true;
	}
	return false;
}

void kwhy_first_screen_write(const struct kwhy_text_context *context)
{
	struct kwhy_text text = {0};
	size_t count = sizeof(fits) / sizeof(fits[0]);

	for (size_t i = 0; i < count && !try_fit(context, &fits[i], &text); i++)
		;
	kwhy_text_add_bytes(context->out, text.data, text.length);
	context->out->failed |= text.failed;
	kwhy_text_done(&text);
}
