/* SPDX-License-Identifier: Apache-2.0 */
#include "detect/tally.h"

#include "base/column.h"
#include "base/quantity.h"
#include "base/sort.h"
#include "detect/exposure.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Largest number of occurrences that are kept as evidence, whatever evidence_limit is; more would not be
 * read.
 */
enum { EVIDENCE_MAX = 100 };

void kwhy_tally_init(struct kwhy_tally *tally, const struct kwhy_detect_context *context)
{
	const struct kwhy_device_view *seen = &context->view->devices[context->device];

	*tally = (struct kwhy_tally){.context = context, .device = context->device};
	kwhy_energy_source_init(&tally->source, context->view, context->device);
	memset(context->view->marks + seen->begin, 0, seen->end - seen->begin);
}

void kwhy_tally_mark(struct kwhy_tally *tally, size_t row, double kept_ns)
{
	uint8_t *mark = &tally->context->view->marks[row];

	if (*mark)
		return;
	*mark = 1;
	tally->marked_count++;
	tally->kept_total_ns += kept_ns;
}

void kwhy_tally_idle(struct kwhy_tally *tally, int64_t start_ns, int64_t end_ns)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	size_t gap = kwhy_detect_view_find_gap(view, tally->device, start_ns);
	struct kwhy_idle_span *last = tally->span_count ? &tally->spans[tally->span_count - 1] : NULL;

	if (tally->status || start_ns >= end_ns || gap == seen->gap_count ||
		kwhy_gap_start_ns(view, &seen->gaps[gap]) >= end_ns)
		return;
	if (last && last->start_ns <= start_ns && last->end_ns >= start_ns) {
		last->end_ns = last->end_ns > end_ns ? last->end_ns : end_ns;
		return;
	}
	tally->status = kwhy_column_reserve((void **)&tally->spans, &tally->span_capacity,
		tally->span_count + 1, sizeof(*tally->spans), "the intervals of a finding",
		tally->context->error);
	if (!tally->status)
		tally->spans[tally->span_count++] = (struct kwhy_idle_span){start_ns, end_ns};
}

static int64_t blocked_ns(const struct kwhy_calls *calls, uint32_t call, uint32_t wait)
{
	int64_t time_ns = calls->end_ns[call] - calls->start_ns[call];

	return wait == KWHY_NONE || wait == call ? time_ns
						 : time_ns + calls->end_ns[wait] - calls->start_ns[wait];
}

int64_t kwhy_tally_idle_after(struct kwhy_tally *tally, size_t row, uint32_t call, uint32_t wait)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	int64_t end_ns = view->recording->activities.end_ns[row];
	size_t gap = kwhy_detect_view_find_gap(view, tally->device, end_ns);
	int64_t gap_end_ns, most_ns;

	if (gap == seen->gap_count || kwhy_gap_start_ns(view, &seen->gaps[gap]) != end_ns)
		return end_ns;
	gap_end_ns = kwhy_gap_end_ns(view, &seen->gaps[gap]);
	most_ns = blocked_ns(&view->recording->calls, call, wait);
	if (gap_end_ns - end_ns > most_ns)
		gap_end_ns = end_ns + most_ns;
	kwhy_tally_idle(tally, end_ns, gap_end_ns);
	return gap_end_ns;
}

void kwhy_tally_gap(struct kwhy_tally *tally, const struct kwhy_gap *gap, int64_t length_ns, int64_t kept_ns)
{
	int64_t start_ns = kwhy_gap_start_ns(tally->context->view, gap);
	int64_t end_ns = kwhy_gap_end_ns(tally->context->view, gap);

	kwhy_energy_add_idle(&tally->gap_energy, &tally->source, start_ns, end_ns,
		(double)length_ns / (double)(end_ns - start_ns));
	kwhy_tally_divide_idle(tally, &(struct kwhy_idle_span){start_ns, end_ns}, gap->after, length_ns);
	tally->gap_ns += length_ns;
	tally->gap_kept_ns += kept_ns < length_ns ? kept_ns : length_ns;
}

/*
 * Counts an activity if more than 0 ns and at least `share` of its time are exposed, not hidden by activities
 * of the kinds for which `exposure` was made.
 */
static void count_if_exposed(
	struct kwhy_tally *tally, const struct kwhy_exposure *exposure, size_t row, double share)
{
	const struct kwhy_activities *rows = &tally->context->recording->activities;
	struct kwhy_occurrence occurrence = kwhy_occurrence_at(rows->start_ns[row], rows->end_ns[row]);
	int64_t bare_ns = kwhy_exposure_ns(exposure, occurrence.start_ns, occurrence.end_ns);

	if (bare_ns <= 0 || (double)bare_ns < share * (double)(occurrence.end_ns - occurrence.start_ns))
		return;
	occurrence.row = (uint32_t)row;
	kwhy_tally_add_occurrence(tally, occurrence);
	tally->count++;
}

/*
 * Counts all marked activities of which any time is exposed. Called if none of them is exposed for half of
 * its time.
 */
static void count_partly_exposed(struct kwhy_tally *tally, const struct kwhy_exposure *exposure)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_device_view *seen = &view->devices[tally->device];

	for (size_t i = seen->begin; i < seen->end; i++)
		if (view->marks[i])
			count_if_exposed(tally, exposure, i, 0);
	tally->is_partly_exposed = tally->count > 0;
}

void kwhy_tally_mark_exposed(struct kwhy_tally *tally, unsigned covers, kwhy_tally_match *match)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	struct kwhy_exposure exposure = {0};

	for (size_t i = seen->begin; !tally->status && i < seen->end; i++) {
		if (!match(tally, i))
			continue;
		if (!exposure.bare)
			tally->status = kwhy_exposure_init(
				&exposure, view, tally->device, covers, tally->context->error);
		if (tally->status)
			break;
		kwhy_tally_mark(tally, i, 0);
		count_if_exposed(tally, &exposure, i, 0.5);
	}
	if (!tally->status && tally->count == 0)
		count_partly_exposed(tally, &exposure);
	kwhy_exposure_done(&exposure);
}

const char *kwhy_tally_exposed_words(const struct kwhy_tally *tally)
{
	return tally->is_partly_exposed ? "ran for less than half their time with no" : "ran with no";
}

static int64_t occurrence_length(const struct kwhy_occurrence *occurrence)
{
	return occurrence->end_ns - occurrence->start_ns;
}

/*
 * Restores the order of the min-heap by length after its root was replaced: swaps the new root with its
 * shorter child until none is shorter.
 */
static void sink(struct kwhy_occurrence *occurrences, size_t count)
{
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;
		struct kwhy_occurrence swap = occurrences[at];

		if (child + 1 < count &&
			occurrence_length(&occurrences[child + 1]) < occurrence_length(&occurrences[child]))
			child++;
		if (child >= count || occurrence_length(&occurrences[child]) >= occurrence_length(&swap))
			return;
		occurrences[at] = occurrences[child];
		occurrences[child] = swap;
		at = child;
	}
}

static void rise(struct kwhy_occurrence *occurrences, size_t at)
{
	while (at > 0 &&
		occurrence_length(&occurrences[at]) < occurrence_length(&occurrences[(at - 1) / 2])) {
		struct kwhy_occurrence swap = occurrences[at];

		occurrences[at] = occurrences[(at - 1) / 2];
		occurrences[(at - 1) / 2] = swap;
		at = (at - 1) / 2;
	}
}

void kwhy_tally_add_occurrence(struct kwhy_tally *tally, struct kwhy_occurrence occurrence)
{
	size_t limit = tally->context->options->evidence_limit;

	limit = limit < EVIDENCE_MAX ? limit : EVIDENCE_MAX;
	if (tally->status || limit == 0)
		return;
	if (tally->occurrence_count == limit) {
		if (occurrence_length(&occurrence) <= occurrence_length(&tally->occurrences[0]))
			return;
		tally->occurrences[0] = occurrence;
		sink(tally->occurrences, limit);
		return;
	}
	tally->status = kwhy_column_reserve((void **)&tally->occurrences, &tally->occurrence_capacity,
		tally->occurrence_count + 1, sizeof(*tally->occurrences), "the evidence",
		tally->context->error);
	if (tally->status)
		return;
	tally->occurrences[tally->occurrence_count++] = occurrence;
	rise(tally->occurrences, tally->occurrence_count - 1);
}

struct kwhy_finding_terms kwhy_finding_terms_default(void)
{
	return (struct kwhy_finding_terms){.covers = KWHY_KINDS_ALL, .idle_energy_share = 1};
}

/* Sums over the waste from which a finding is made. */
struct sums {
	/*
	 * busy_ns: length of the union of the marked activities; alone_ns: length of the part of it in which
	 * no unmarked activity of the kinds `covers` runs
	 */
	int64_t busy_ns, alone_ns;
	/*
	 * busy_ns divided among the kinds of activity; where marked activities overlap, the time belongs to
	 * the one that starts first
	 */
	int64_t kind_ns[KWHY_ACTIVITY_KIND_COUNT];
	int64_t idle_ns;
	struct kwhy_energy_ci90 busy, idle;
};

/*
 * Computes the sums in one pass over the device's activities. busy_ns is the length of the union of the
 * marked activities. alone_ns is the length of the union of the marked activities and the unmarked ones of
 * the kinds `covers`, less the length of the union of only these unmarked ones. A marked activity adds to
 * sums->busy the share of its energy that is the share of its time that it adds to busy_ns.
 */
static void sum_marked(const struct kwhy_tally *tally, unsigned covers, struct sums *sums)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_activities *rows = &view->recording->activities;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	int64_t marked_ns = seen->first_ns, cover_ns = seen->first_ns, both_ns = seen->first_ns;

	for (size_t i = seen->begin; i < seen->end; i++) {
		bool marked = view->marks[i];
		int64_t *reach_ns = marked ? &marked_ns : &cover_ns;
		int64_t end_ns = rows->end_ns[i], start_ns = rows->start_ns[i], from_ns;

		if (!marked && !(covers >> rows->kind[i] & 1))
			continue;
		from_ns = start_ns > *reach_ns ? start_ns : *reach_ns;
		if (end_ns > from_ns) {
			if (marked) {
				sums->busy_ns += end_ns - from_ns;
				sums->kind_ns[rows->kind[i]] += end_ns - from_ns;
				kwhy_energy_add_activity(&sums->busy, &tally->source, i,
					(double)(end_ns - from_ns) / (double)(end_ns - start_ns));
			} else {
				sums->alone_ns -= end_ns - from_ns;
			}
			*reach_ns = end_ns;
		}
		from_ns = start_ns > both_ns ? start_ns : both_ns;
		if (end_ns > from_ns) {
			sums->alone_ns += end_ns - from_ns;
			both_ns = end_ns;
		}
	}
}

static int compare_spans(const void *context, uint32_t a, uint32_t b)
{
	const struct kwhy_idle_span *spans = context;

	return (spans[a].start_ns > spans[b].start_ns) - (spans[a].start_ns < spans[b].start_ns);
}

static enum kwhy_status sort_spans(struct kwhy_tally *tally)
{
	enum kwhy_status status;
	uint32_t *order;

	status = kwhy_sort_order(
		tally->span_count, compare_spans, tally->spans, &order, tally->context->error);
	if (!status)
		status = kwhy_sort_apply((void **)&tally->spans, sizeof(*tally->spans), tally->span_count,
			order, tally->context->error);
	free(order);
	return status;
}

static void sum_piece(
	struct kwhy_tally *tally, int64_t start_ns, int64_t end_ns, uint32_t after, struct sums *sums)
{
	const struct kwhy_idle_span piece = {start_ns, end_ns};

	sums->idle_ns += end_ns - start_ns;
	kwhy_tally_divide_idle(tally, &piece, after, end_ns - start_ns);
	kwhy_energy_add_idle(&sums->idle, &tally->source, start_ns, end_ns, 1);
}

/*
 * Adds the device's idle time inside the intervals given to kwhy_tally_idle(). These are sorted, and so are
 * the gaps; idle time in several intervals counts once.
 */
static void sum_spans(struct kwhy_tally *tally, struct sums *sums)
{
	const struct kwhy_detect_view *view = tally->context->view;
	const struct kwhy_device_view *seen = &view->devices[tally->device];
	int64_t done_ns = INT64_MIN;
	size_t gap = 0;

	for (size_t i = 0; i < tally->span_count; i++) {
		struct kwhy_idle_span span = tally->spans[i];

		span.start_ns = span.start_ns > done_ns ? span.start_ns : done_ns;
		while (gap < seen->gap_count && kwhy_gap_end_ns(view, &seen->gaps[gap]) <= span.start_ns)
			gap++;
		for (size_t g = gap; g < seen->gap_count && span.start_ns < span.end_ns; g++) {
			int64_t start_ns = kwhy_gap_start_ns(view, &seen->gaps[g]);
			int64_t end_ns = kwhy_gap_end_ns(view, &seen->gaps[g]);

			start_ns = start_ns > span.start_ns ? start_ns : span.start_ns;
			end_ns = end_ns < span.end_ns ? end_ns : span.end_ns;
			if (start_ns < end_ns)
				sum_piece(tally, start_ns, end_ns, seen->gaps[g].after, sums);
			span.start_ns = kwhy_gap_end_ns(view, &seen->gaps[g]);
		}
		done_ns = tally->spans[i].end_ns > done_ns ? tally->spans[i].end_ns : done_ns;
	}
}

static enum kwhy_status sum_up(struct kwhy_tally *tally, unsigned covers, struct sums *sums)
{
	enum kwhy_status status = tally->status;

	*sums = (struct sums){.idle_ns = tally->gap_ns, .idle = tally->gap_energy};
	if (!status)
		status = sort_spans(tally);
	if (status)
		return status;
	kwhy_tally_divide_again(tally);
	sum_spans(tally, sums);
	if (tally->marked_count)
		sum_marked(tally, covers, sums);
	return tally->status;
}

static double ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

static int64_t known_nj(const struct kwhy_tally *tally, double nj, double limit_nj)
{
	return tally->source.known ? kwhy_energy_round(nj, limit_nj) : KWHY_UNKNOWN_NJ;
}

/*
 * Largest time in ns that hiding marked activities behind others can save: the time in which activities of
 * hiding_kinds run, less the time in which others hide marked activities already. Infinite if hiding_kinds is
 * 0.
 */
static double space_ns(
	const struct kwhy_tally *tally, const struct kwhy_finding_terms *verdict, const struct sums *sums)
{
	if (!verdict->hiding_kinds)
		return HUGE_VAL;
	return (double)(kwhy_detect_view_union_ns(
				tally->context->view, tally->device, verdict->hiding_kinds) -
		(sums->busy_ns - sums->alone_ns));
}

static void bound_saving(const struct kwhy_tally *tally, const struct kwhy_finding_terms *verdict,
	const struct sums *sums, struct kwhy_saving *out)
{
	double kept = fmin(1, ratio(tally->kept_total_ns, (double)sums->busy_ns));
	double busy_ns = (double)sums->alone_ns * (1 - kept) * (1 - verdict->kept_share);
	double idle_ns = (double)(sums->idle_ns - tally->gap_kept_ns) * (1 - verdict->kept_share);
	double space = fmin(1, fmax(0, ratio(space_ns(tally, verdict, sums), busy_ns + idle_ns)));
	struct kwhy_energy_ci90 work = sums->busy;
	double work_share = ratio(busy_ns * space, (double)sums->busy_ns);
	struct kwhy_energy_ci90 saved;

	if (verdict->work_remains) {
		work = kwhy_energy_idle_mean(&tally->source, busy_ns * space);
		work_share = 1;
	}
	saved = kwhy_energy_sum(work, work_share, sums->idle,
		ratio(idle_ns * space, (double)sums->idle_ns) * verdict->idle_energy_share);
	out->time_ns = (int64_t)((busy_ns + idle_ns) * space);
	out->energy_nj = known_nj(tally, saved.nj, tally->source.recorded_nj);
	out->low_nj = known_nj(tally, saved.low_nj, tally->source.recorded_nj);
	out->high_nj = known_nj(tally, saved.high_nj, HUGE_VAL);
	out->assumption = verdict->assumption;
	out->bound = KWHY_BOUND_UPPER;
	out->frees_device = verdict->frees_device;
}

static void set_cost(struct kwhy_tally *tally, const struct kwhy_finding_terms *verdict,
	const struct sums *sums, struct kwhy_finding *out)
{
	int64_t busy_ns = verdict->exposed_only ? sums->alone_ns : sums->busy_ns;
	struct kwhy_energy_ci90 cost = kwhy_energy_sum(
		sums->busy, ratio((double)busy_ns, (double)sums->busy_ns), sums->idle, 1);

	kwhy_tally_count_kinds(tally, sums->kind_ns, ratio((double)busy_ns, (double)sums->busy_ns));
	memcpy(out->category_ns, tally->category_ns, sizeof(out->category_ns));
	out->time_ns = busy_ns + sums->idle_ns;
	out->energy_nj = known_nj(tally, cost.nj, tally->source.recorded_nj);
	out->low_nj = known_nj(tally, cost.low_nj, tally->source.recorded_nj);
	out->high_nj = known_nj(tally, cost.high_nj, HUGE_VAL);
}

static int longest_first(const void *a, const void *b)
{
	int64_t left = occurrence_length(a), right = occurrence_length(b);

	if (left != right)
		return left < right ? 1 : -1;
	left = ((const struct kwhy_occurrence *)a)->start_ns;
	right = ((const struct kwhy_occurrence *)b)->start_ns;
	return (left > right) - (left < right);
}

static enum kwhy_status write_evidence(struct kwhy_tally *tally, struct kwhy_finding *out)
{
	const struct kwhy_detect_context *context = tally->context;

	if (tally->occurrence_count == 0)
		return KWHY_OK;
	qsort(tally->occurrences, tally->occurrence_count, sizeof(*tally->occurrences), longest_first);
	out->evidence = kwhy_arena_alloc(
		&context->findings->arena, tally->occurrence_count, sizeof(*out->evidence));
	if (!out->evidence)
		return kwhy_fail_memory(context->error, "the evidence");
	for (size_t i = 0; i < tally->occurrence_count; i++) {
		out->evidence[i] = kwhy_occurrence_evidence(context, &tally->occurrences[i]);
		if (!out->evidence[i].what)
			return kwhy_fail_memory(context->error, "the evidence");
	}
	out->evidence_count = tally->occurrence_count;
	return KWHY_OK;
}

void kwhy_finding_set_least(const struct kwhy_detect_context *context, int64_t window_ns, double recorded_nj,
	struct kwhy_finding *out)
{
	out->least_ns = (int64_t)ceil(context->options->min_gain_ratio * (double)window_ns);
	out->least_nj = context->options->min_gain_ratio * recorded_nj;
}

enum kwhy_status kwhy_findings_add(
	const struct kwhy_detect_context *context, const struct kwhy_finding *finding)
{
	struct kwhy_findings *findings = context->findings;
	enum kwhy_status status;

	if (!kwhy_finding_is_worth_it(finding))
		return KWHY_OK;
	if (!finding->title || !finding->saving.assumption)
		return kwhy_fail_memory(context->error, "a finding");
	status = kwhy_column_reserve((void **)&findings->items, &findings->capacity, findings->count + 1,
		sizeof(*findings->items), "findings", context->error);
	if (!status)
		findings->items[findings->count++] = *finding;
	return status;
}

void kwhy_saving_tell_lost(
	const struct kwhy_detect_context *context, struct kwhy_saving *saving, const char *effect)
{
	if (saving->assumption && kwhy_lost_work(&context->recording->lost))
		saving->assumption = kwhy_arena_printf(
			&context->findings->arena, "%s; rows are lost, and %s", saving->assumption, effect);
}

/*
 * Appends to the assumption that the saving may be too large, if the recording lost activities: time in which
 * they ran may look idle, and work that they hid may look exposed.
 */
static void tell_lost(const struct kwhy_detect_context *context, const struct kwhy_finding_terms *verdict,
	const struct sums *sums, struct kwhy_saving *saving)
{
	if (verdict->exposed_only)
		kwhy_saving_tell_lost(context, saving, "what ran in them hides nothing here");
	else if (sums->idle_ns > 0)
		kwhy_saving_tell_lost(context, saving, "what ran in them counts as idle here");
}

enum kwhy_status kwhy_tally_finish(struct kwhy_tally *tally, struct kwhy_finding_terms verdict)
{
	const struct kwhy_detect_context *context = tally->context;
	struct kwhy_finding finding = {
		.id = context->detector->id,
		.title = verdict.title,
		.headline = verdict.headline ? verdict.headline : verdict.title,
		.place = verdict.place,
		.device = tally->device,
		.count = tally->count,
		.cure = verdict.cure ? verdict.cure : context->detector->cure,
		.change = verdict.change,
	};
	int64_t window_ns = kwhy_detect_view_span_ns(context->view, tally->device);
	double recorded_nj = tally->source.recorded_nj;
	struct sums sums;

	if (!tally->status && tally->count > 0)
		tally->status = sum_up(tally, verdict.covers, &sums);
	if (!tally->status && tally->count > 0) {
		set_cost(tally, &verdict, &sums, &finding);
		bound_saving(tally, &verdict, &sums, &finding.saving);
		tell_lost(context, &verdict, &sums, &finding.saving);
		kwhy_finding_set_least(context, window_ns, recorded_nj, &finding);
		if (kwhy_finding_is_worth_it(&finding)) {
			kwhy_tally_add_place(tally, &finding);
			tally->status = write_evidence(tally, &finding);
		}
		if (!tally->status)
			tally->status = kwhy_findings_add(context, &finding);
	}
	return kwhy_tally_drop(tally);
}

enum kwhy_status kwhy_tally_drop(struct kwhy_tally *tally)
{
	kwhy_host_wait_done(&tally->host);
	free(tally->spans);
	free(tally->occurrences);
	tally->spans = NULL;
	tally->occurrences = NULL;
	return tally->status;
}

char *kwhy_tally_words(const struct kwhy_tally *tally, const char *format, ...)
{
	char text[400];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	return kwhy_arena_copy(&tally->context->findings->arena, text);
}

char *kwhy_tally_floor_words(const struct kwhy_tally *tally, const char *cure)
{
	int64_t floor_ns = tally->context->view->devices[tally->device].floor_ns;
	char time[KWHY_QUANTITY_BYTES];

	if (floor_ns == 0)
		return kwhy_tally_words(tally,
			"%s: the gaps vanish (no work was queued here that shows how small a gap can be)",
			cure);
	return kwhy_tally_words(tally, "%s: each gap closes to the smallest before queued work here, %s",
		cure, kwhy_quantity_time(time, floor_ns));
}
