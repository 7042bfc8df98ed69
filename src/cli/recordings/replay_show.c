/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/recordings/replay_show.h"

#include "base/quantity.h"
#include "report/table.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>

#define LATE_RATIO 0.01

/* What the functions of this file write from and to. */
struct page {
	const struct kwhy_replay *replay;
	struct kwhy_text_context context;
};

static const char *source_of(const struct kwhy_report *report)
{
	return report->recording->source_count ? report->recording->sources[0].path : "the recording";
}

/* Adds a cell with a relative error and its sign, "+1.2 %"; an empty cell if it is unknown. */
static void add_error(struct kwhy_table *table, double off_ratio)
{
	char cell[KWHY_QUANTITY_BYTES];

	snprintf(cell, sizeof(cell), "%+.1f %%", 100 * off_ratio);
	kwhy_table_cell(table, isfinite(off_ratio) ? cell : NULL);
}

/* Adds a cell with an interval, "531 ms to 533 ms"; an empty cell if it is unknown. */
static void add_interval(struct kwhy_table *table, double low, double high, const char *unit)
{
	char from[KWHY_QUANTITY_BYTES], to[KWHY_QUANTITY_BYTES], cell[2 * KWHY_QUANTITY_BYTES + 8];

	snprintf(cell, sizeof(cell), "%s to %s", kwhy_quantity_si(from, low, unit, 3),
		kwhy_quantity_si(to, high, unit, 3));
	kwhy_table_cell(table, isfinite(low) && isfinite(high) ? cell : NULL);
}

static void add_row(struct kwhy_table *table, const char *name, double should, const struct kwhy_joules *is,
	const char *unit)
{
	kwhy_table_cell(table, name);
	kwhy_table_real(table, should, unit);
	kwhy_table_real(table, is->value, unit);
	add_interval(table, is->low, is->high, unit);
	add_error(table, is->value / should - 1);
}

static void add_net_row(struct kwhy_table *table, const struct kwhy_replay *replay, double should_j,
	const struct kwhy_joules *is)
{
	kwhy_table_cell(table, "above idle");
	kwhy_table_real(table, should_j, "J");
	kwhy_table_real(table, is->value, "J");
	add_interval(table, is->low, is->high, "J");
	add_error(table, kwhy_replay_net_off_ratio(replay, is->value, should_j));
}

static struct kwhy_joules seconds_of(const struct kwhy_median *median)
{
	return (struct kwhy_joules){median->median, median->low, median->high};
}

static void write_as_recorded(const struct page *page)
{
	static const struct kwhy_table_column columns[] = {{"as recorded", KWHY_COLUMN_LEFT},
		{"recorded", KWHY_COLUMN_RIGHT}, {"replayed", KWHY_COLUMN_RIGHT}, {"95 %", KWHY_COLUMN_RIGHT},
		{"off by", KWHY_COLUMN_RIGHT}};
	const struct kwhy_replay_outcome *outcome = &page->replay->as_recorded;
	struct kwhy_joules time = seconds_of(&outcome->span_s);
	struct kwhy_table table;

	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	add_row(&table, "time", (double)outcome->pattern_span_ns * 1e-9, &time, "s");
	add_row(&table, "energy", page->replay->recorded_j, &outcome->gross, "J");
	add_net_row(&table, page->replay, kwhy_replay_recorded_net_j(page->replay), &outcome->net);
	kwhy_table_write(&table, page->context.style, page->context.out);
}

static double joules_of(int64_t energy_nj)
{
	return energy_nj == KWHY_UNKNOWN_NJ ? NAN : (double)energy_nj * 1e-9;
}

static void write_changed(const struct page *page)
{
	static const struct kwhy_table_column columns[] = {{"changed", KWHY_COLUMN_LEFT},
		{"projected", KWHY_COLUMN_RIGHT}, {"replayed", KWHY_COLUMN_RIGHT},
		{"95 %", KWHY_COLUMN_RIGHT}, {"off by", KWHY_COLUMN_RIGHT}};
	const struct kwhy_replay *replay = page->replay;
	const struct kwhy_projection *after = kwhy_plan_after(replay->plan);
	struct kwhy_joules time = seconds_of(&replay->changed.span_s);
	struct kwhy_table table;

	if (!replay->has_changed)
		return;
	kwhy_text_add(page->context.out, "\n");
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	add_row(&table, "time", (double)after->time_ns * 1e-9, &time, "s");
	add_row(&table, "energy", isfinite(replay->recorded_j) ? joules_of(after->energy_nj) : NAN,
		&replay->changed.gross, "J");
	add_net_row(&table, replay, kwhy_replay_projected_net_j(replay), &replay->changed.net);
	kwhy_table_write(&table, page->context.style, page->context.out);
}

/*
 * Adds two cells: what the changes save in percent of `from`, and the interval of that percentage. from: time
 * or energy of the replay without changes; to: that of the replay with them.
 */
static void add_saving(struct kwhy_table *table, const struct kwhy_joules *from, const struct kwhy_joules *to)
{
	char cell[2 * KWHY_QUANTITY_BYTES + 8], low[KWHY_QUANTITY_BYTES], high[KWHY_QUANTITY_BYTES];
	bool known = isfinite(from->low) && isfinite(to->low);

	kwhy_table_percent(table, 1 - to->value / from->value);
	snprintf(cell, sizeof(cell), "%s to %s", kwhy_quantity_percent(low, 1 - to->high / from->low),
		kwhy_quantity_percent(high, 1 - to->low / from->high));
	kwhy_table_cell(table, known ? cell : NULL);
}

static void write_savings(const struct page *page)
{
	static const struct kwhy_table_column columns[] = {{"saves", KWHY_COLUMN_LEFT},
		{"projected", KWHY_COLUMN_RIGHT}, {"measured", KWHY_COLUMN_RIGHT},
		{"95 %", KWHY_COLUMN_RIGHT}};
	const struct kwhy_replay *replay = page->replay;
	const struct kwhy_projection *before = &replay->plan->before, *after = kwhy_plan_after(replay->plan);
	struct kwhy_joules from = seconds_of(&replay->as_recorded.span_s),
			   to = seconds_of(&replay->changed.span_s);
	const struct kwhy_joules unknown = {NAN, NAN, NAN};
	struct kwhy_table table;

	if (!replay->has_changed)
		return;
	kwhy_text_add(page->context.out, "\n");
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	kwhy_table_cell(&table, "time");
	kwhy_table_percent(&table, 1 - (double)after->time_ns / (double)before->time_ns);
	add_saving(&table, &from, &to);
	kwhy_table_cell(&table, "energy");
	kwhy_table_percent(&table, 1 - joules_of(after->energy_nj) / joules_of(before->energy_nj));
	add_saving(&table, kwhy_replay_joules_compare(replay) ? &replay->as_recorded.gross : &unknown,
		&replay->changed.gross);
	kwhy_table_write(&table, page->context.style, page->context.out);
}

static void write_proxies(const struct page *page)
{
	static const struct kwhy_table_column columns[] = {{"kernels", KWHY_COLUMN_NAME},
		{"count", KWHY_COLUMN_RIGHT}, {"time", KWHY_COLUMN_RIGHT}, {"power", KWHY_COLUMN_RIGHT},
		{"proxy kernel", KWHY_COLUMN_LEFT}, {"busy", KWHY_COLUMN_RIGHT},
		{"power", KWHY_COLUMN_RIGHT}};
	const struct kwhy_replay *replay = page->replay;
	struct kwhy_table table;

	if (!replay->proxy_count)
		return;
	kwhy_text_add(page->context.out, "\n");
	kwhy_table_init(&table, columns, sizeof(columns) / sizeof(*columns));
	for (size_t i = 0; i < replay->proxy_count; i++) {
		const struct kwhy_replay_proxy *proxy = &replay->proxies[i];

		kwhy_table_kernel(&table, proxy->account);
		kwhy_table_count(&table, proxy->count);
		kwhy_table_time(&table, proxy->time_ns);
		kwhy_table_real(&table, proxy->recorded_w, "W");
		kwhy_table_cell(&table, kwhy_proxy_class_name((enum kwhy_proxy_class)proxy->choice.class));
		kwhy_table_percent(&table,
			proxy->choice.class == KWHY_PROXY_WAIT
				? 0
				: (double)proxy->choice.busy / KWHY_PROXY_BUSY);
		kwhy_table_real(&table, proxy->choice.power_w, "W");
	}
	kwhy_table_write(&table, page->context.style, page->context.out);
}

/* Writes a note "WORDS: COUNT", unless the count is 0. */
static void note(const struct page *page, uint64_t count, const char *words)
{
	char number[KWHY_QUANTITY_BYTES];

	if (count)
		kwhy_text_context_linef(
			&page->context, "note    ", "%s: %s", words, kwhy_quantity_count(number, count));
}

static void write_left(const struct page *page, const struct kwhy_replay_outcome *outcome)
{
	const struct kwhy_replay_left *left = &outcome->left;
	char longer[KWHY_QUANTITY_BYTES], count[KWHY_QUANTITY_BYTES];

	note(page, left->other_devices, "activities of other devices, left out");
	note(page, left->collectives, "collectives, as kernels of their length");
	note(page, left->peer_copies, "copies between devices, kept on this one");
	note(page, left->unknown,
		"copies and fills of unknown size or direction, as kernels of their length");
	note(page, left->uncalled, "activities without a call, issued at the time at which they began");
	note(page, left->allocations, "allocations and frees, as time of the host");
	note(page, left->guessed_memory,
		"copies that do not say whether their host memory is pageable, taken as so");
	note(page, left->overlaps,
		"activities that overlapped the one before in their stream, here after it");
	note(page, left->orders, "orders between streams or threads that could not be kept");
	note(page, outcome->loose_graphs, "graph launches made piece by piece");
	note(page, outcome->capped_grids, "grids cut to the blocks that the GPU holds concurrently");
	if (outcome->short_kernels)
		kwhy_text_context_linef(&page->context, "note    ",
			"kernels shorter than any of their grid here: %s, together by %s",
			kwhy_quantity_count(count, outcome->short_kernels),
			kwhy_quantity_time(longer, outcome->short_ns));
}

/*
 * If calls that took longer than recorded delayed a run by more than LATE_RATIO of its time, writes a note
 * with the least and the largest delay of the runs. A reason may be that another program used the processors.
 */
static void write_late(const struct page *page, const struct kwhy_replay_outcome *outcome)
{
	char from[KWHY_QUANTITY_BYTES], to[KWHY_QUANTITY_BYTES];
	double least_s = INFINITY, most_s = 0;

	for (size_t i = 0; i < outcome->runs && i < KWHY_REPLAY_RUNS_SHOWN; i++) {
		least_s = fmin(least_s, outcome->spans[i].late_s);
		most_s = fmax(most_s, outcome->spans[i].late_s);
	}
	if (most_s > LATE_RATIO * outcome->span_s.median)
		kwhy_text_context_linef(&page->context, "note    ",
			"calls took longer than recorded, which put runs off by %s to %s",
			kwhy_quantity_si(from, least_s, "s", 3), kwhy_quantity_si(to, most_s, "s", 3));
}

static void write_pattern(const struct page *page)
{
	const struct kwhy_replay_outcome *outcome = &page->replay->as_recorded;
	char calls[KWHY_QUANTITY_BYTES], kernels[KWHY_QUANTITY_BYTES], copies[KWHY_QUANTITY_BYTES],
		fills[KWHY_QUANTITY_BYTES], waits[KWHY_QUANTITY_BYTES];

	kwhy_text_add(page->context.out, "\n");
	kwhy_text_context_linef(&page->context, "pattern ",
		"%s calls of %llu thread%s: %s kernels, %s copies, %s fills, %s waits, in %llu stream%s",
		kwhy_quantity_count(calls, outcome->calls), (unsigned long long)outcome->threads,
		outcome->threads == 1 ? "" : "s", kwhy_quantity_count(kernels, outcome->kernels),
		kwhy_quantity_count(copies, outcome->copies), kwhy_quantity_count(fills, outcome->fills),
		kwhy_quantity_count(waits, outcome->waits), (unsigned long long)outcome->replay_streams,
		outcome->replay_streams == 1 ? "" : "s");
	write_left(page, outcome);
	write_late(page, outcome);
}

static void write_settled_work(const struct page *page)
{
	static const char *const bounds[] = {[KWHY_REPLAY_NO_BOUND] = "",
		[KWHY_REPLAY_ALL_WAIT] = "; they all wait now, which is the least they can draw",
		[KWHY_REPLAY_ALL_WORK] = "; they all work now, which is the most they can draw"};
	const struct kwhy_replay *replay = page->replay;
	char changed[96] = "";

	if (!isfinite(replay->first_net_off_ratio))
		return;
	if (replay->has_changed && !kwhy_replay_joules_compare(replay))
		snprintf(changed, sizeof(changed),
			" (changed: %.2f times, so that joules saved are not reported)",
			replay->changed_work_factor);
	kwhy_text_context_linef(&page->context, "settled ",
		"a first window was %+.1f %% off the recorded energy above idle; since then %.2f "
		"times as much is asked of proxy kernels%s%s",
		replay->first_net_off_ratio * 100, replay->work_factor, changed, bounds[replay->bound]);
}

static void write_settled(const struct page *page)
{
	const struct kwhy_replay *replay = page->replay;
	char wait[KWHY_QUANTITY_BYTES];

	if (isfinite(replay->first_off_ratio))
		kwhy_text_context_linef(&page->context, "settled ",
			"a first run was %+.1f %% off the recorded time; since then each wait returns %s "
			"%s%s",
			replay->first_off_ratio * 100,
			kwhy_quantity_time(wait, llround(fabs(replay->wait_late_ns))),
			replay->wait_late_ns < 0 ? "later" : "sooner",
			replay->has_changed ? " (changed: by a round trip at most)" : "");
}

/*
 * Writes, for each kind of call, how long a call took in the recording and takes on this machine. For replays
 * with changes only: there the replay takes the recorded time minus the time on this machine as a constant
 * difference, which it adds to the time that each call takes here.
 */
static void write_calls(const struct page *page)
{
	const struct kwhy_replay *replay = page->replay;
	char recorded[KWHY_QUANTITY_BYTES], here[KWHY_QUANTITY_BYTES];

	for (size_t i = 0; replay->has_changed && i < KWHY_REPLAY_CALL_COUNT; i++)
		if (replay->calls[i].count)
			kwhy_text_context_linef(&page->context, "calls   ",
				"a %s took %s as recorded, %s here; in the changed replay each takes what it "
				"takes here and that difference",
				kwhy_replay_call_name((enum kwhy_replay_call)i),
				kwhy_quantity_time(recorded, llround(replay->calls[i].recorded_ns)),
				kwhy_quantity_time(here, llround(replay->calls[i].here_ns)));
}

static void write_notes(const struct page *page)
{
	const struct kwhy_replay *replay = page->replay;

	for (size_t i = 0; i < replay->plan->refused_count; i++)
		kwhy_text_context_linef(&page->context, "refused ", "%s: %s", replay->plan->refused[i].id,
			replay->plan->refused[i].reason);
	if (replay->energy_missing)
		kwhy_text_context_linef(
			&page->context, "energy  ", "not available: %s", replay->energy_missing);
	if (replay->ended)
		kwhy_text_context_linef(&page->context, "ended   ", "%s", replay->ended);
	if (replay->backend == KWHY_GPU_HOST)
		kwhy_text_context_linef(&page->context, "note    ",
			"a rehearsal: threads of the host stand for the GPU, so the times say nothing of "
			"one");
}

void kwhy_replay_text(const struct kwhy_replay *replay, const struct kwhy_report *report,
	const struct kwhy_text_style *style, struct kwhy_text *out)
{
	const struct page page = {replay, {.report = report, .style = style, .out = out}};

	kwhy_text_context_linef(&page.context, "", "%s, recorded on %s, replayed on %s (%s), %zu %s",
		source_of(report), replay->recorded_on ? replay->recorded_on : "a GPU that it does not name",
		replay->gpu.name, kwhy_gpu_backend_name(replay->backend), replay->as_recorded.runs,
		replay->as_recorded.runs == 1 ? "time" : "times");
	kwhy_text_add(out, "\n");
	write_as_recorded(&page);
	write_changed(&page);
	write_savings(&page);
	write_proxies(&page);
	write_pattern(&page);
	write_settled(&page);
	write_settled_work(&page);
	write_calls(&page);
	write_notes(&page);
}
