/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/text/first_screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * What is not known: one sentence for each kind of information that the recording lacks, the most serious
 * first.
 */

/*
 * The estimated energy of the run's unmetered part is mentioned if it is at least this share of the run's
 * energy.
 */
#define NOTED_RATIO 0.01

/* A probe is recommended if less than this share of the energy of kernels and copies is known well. */
#define MOSTLY_RATIO 0.5
/* A share below this would be shown as 0.0 %; the text says "none" instead. */
#define NONE_RATIO 0.0005

/*
 * SECTION_ROWS: sentences of the section "unknown" without --verbose. SENTENCE_BYTES: length at which a
 * sentence on the first screen is cut, which only long names exceed.
 */
enum { SECTION_ROWS = 16, SENTENCE_BYTES = 400 };

struct sentences {
	const struct kwhy_text_context *context;
	void (*add)(void *target, const char *sentence);
	void *target;
};

static void add(struct sentences *sentences, const char *sentence)
{
	sentences->add(sentences->target, sentence);
}

static void add_count(struct sentences *sentences, uint64_t count, const char *one, const char *several)
{
	char text[160], number[KWHY_QUANTITY_BYTES];

	if (!count)
		return;
	snprintf(text, sizeof(text), "%s %s", kwhy_quantity_count(number, count), count == 1 ? one : several);
	add(sentences, text);
}

static void add_lost(struct sentences *sentences)
{
	const struct kwhy_lost *lost = &sentences->context->report->recording->lost;

	if (lost->truncated)
		add(sentences, "the file ends early: what follows is missing");
	add_count(sentences, lost->dropped_records,
		"record was lost by the profiler: what ran in it counts as idle",
		"records were lost by the profiler: what ran in them counts as idle");
	add_count(sentences, lost->skipped_events, "event was damaged and is left out (--partial)",
		"events were damaged and are left out (--partial)");
}

/*
 * If energies are known at all, says how many accounts nevertheless have an unknown energy, which no sum
 * includes.
 */
static void add_missing(struct sentences *sentences)
{
	const struct kwhy_totals *totals = sentences->context->totals;
	char text[120];
	size_t missing = 0;

	if (totals->energy_nj == KWHY_UNKNOWN_NJ)
		return;
	for (size_t i = 0; i < totals->row_count; i++)
		missing += totals->rows[i].gross_nj == KWHY_UNKNOWN_NJ;
	snprintf(text, sizeof(text), "%zu of %zu rows have no known power: no sum includes their energy",
		missing, totals->row_count);
	if (missing)
		add(sentences, text);
}

static double recorded_ratio(const struct kwhy_coverage_sum *sum)
{
	if (sum->choice == KWHY_CHOICE_DUTY)
		return (double)sum->drawn_ns / (double)(sum->select_end_ns - sum->select_start_ns);
	return (double)sum->known_ns / (double)(sum->end_ns - sum->start_ns);
}

/*
 * The recorded windows of all devices together: least and largest recorded share of a device's time, number
 * of windows, and whether they were chosen at random.
 */
struct windows {
	/*
	 * error_ratio: largest half-width of the 90 % interval of a share, over the devices; NAN: unknown on
	 * one
	 */
	double least_ratio, most_ratio, error_ratio;
	size_t count;
	bool are_random;
};

static bool has_windows(const struct kwhy_text_context *context, size_t device)
{
	const struct kwhy_device_ledger *device_ledger = &context->report->ledger->devices[device];

	return device_ledger->coverage.is_in_windows &&
		(!context->totals->active_count || device_ledger->time.stream_count);
}

static struct windows windows_of(const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	struct windows windows = {.least_ratio = HUGE_VAL};

	for (size_t d = 0; d < ledger->device_count; d++) {
		const struct kwhy_coverage_sum *sum = &ledger->devices[d].coverage;
		const bool is_random = sum->choice == KWHY_CHOICE_DUTY;

		if (!has_windows(context, d))
			continue;
		windows.least_ratio = fmin(windows.least_ratio, recorded_ratio(sum));
		windows.most_ratio = fmax(windows.most_ratio, recorded_ratio(sum));
		windows.count += is_random ? sum->drawn_count : sum->window_count;
		windows.are_random |= is_random;
		windows.error_ratio = isnan(sum->share_error_ratio) || isnan(windows.error_ratio)
			? NAN
			: fmax(windows.error_ratio, sum->share_error_ratio);
	}
	return windows;
}

/*
 * Says whether figures are estimated for the whole run or are those of the recorded windows alone and, for
 * windows chosen at random, how well shares in them represent the whole run.
 */
static void add_windows_use(
	const struct kwhy_text_context *context, const struct windows *windows, struct kwhy_text *text)
{
	const bool is_estimated = context->totals->whole_count > 0;

	kwhy_text_add(text,
		is_estimated ? ", from which shares of the whole run are estimated"
			     : ", and figures are of these alone");
	if (windows->are_random && isnan(windows->error_ratio))
		kwhy_text_add(text,
			is_estimated ? " (too few to say how well)"
				     : ": too few to say how well they represent the whole run");
	else if (windows->are_random)
		kwhy_text_addf(text, "%s within %.2g percentage points (90 %%)",
			is_estimated ? " to" : ": shares are", 100 * windows->error_ratio);
	if (is_estimated)
		kwhy_text_add(text, ", and other times and counts are of the windows alone");
}

/*
 * Says which share of the time was recorded, in how many windows, and what the figures then are
 * (add_windows_use()). Says nothing if recording was not limited to windows.
 */
static void add_windows(struct sentences *sentences)
{
	const struct kwhy_text_context *context = sentences->context;
	const struct kwhy_recording *recording = context->report->recording;
	const struct windows windows = windows_of(context);
	char least[KWHY_QUANTITY_BYTES], most[KWHY_QUANTITY_BYTES];
	struct kwhy_text text = {0};

	if (!windows.count)
		return;
	kwhy_quantity_percent(least, windows.least_ratio);
	kwhy_quantity_percent(most, windows.most_ratio);
	kwhy_text_addf(&text, "%s%s%s of the time was recorded, in %zu window%s", least,
		windows.most_ratio - windows.least_ratio > 0.001 ? " to " : "",
		windows.most_ratio - windows.least_ratio > 0.001 ? most : "", windows.count,
		windows.count == 1 ? "" : "s");
	for (size_t i = 0; i < recording->selection_count; i++)
		if (recording->selections[i].range)
			kwhy_text_addf(&text, " of ranges \"%s\"", recording->selections[i].range);
	add_windows_use(context, &windows, &text);
	add(sentences, text.failed ? "" : text.data);
	context->out->failed |= text.failed;
	kwhy_text_done(&text);
}

static void add_unmetered(struct sentences *sentences)
{
	const struct kwhy_text_context *context = sentences->context;
	const struct kwhy_totals *totals = context->totals;
	struct kwhy_text text = {0};

	if (!isfinite(totals->run_nj) || totals->modelled ||
		!(totals->unmetered_nj >= NOTED_RATIO * totals->run_nj) || !(totals->unmetered_nj > 0))
		return;
	kwhy_text_context_add_unmetered(&text, context);
	kwhy_text_add(&text, " of the energy are estimated: no reading of the meter covers them");
	add(sentences, text.failed ? "" : text.data);
	context->out->failed |= text.failed;
	kwhy_text_done(&text);
}

/*
 * Says how many accounts of activities have an energy of which the readings determine only the sum with other
 * accounts.
 */
static void add_sums(struct sentences *sentences)
{
	const struct kwhy_totals *totals = sentences->context->totals;
	size_t joint = 0;
	char text[160];

	for (size_t i = 0; i < totals->row_count; i++)
		joint += totals->rows[i].basis == KWHY_BASIS_GROUPED &&
			!kwhy_category_is_idle((enum kwhy_category)totals->rows[i].category);
	snprintf(text, sizeof(text), "%zu %s", joint,
		joint == 1 ? "kernel or copy is known only as part of a sum"
			   : "kernels and copies are known only as sums");
	if (joint)
		add(sentences, text);
}

/*
 * Recommends kwhy probe, or more of it, if less than half of the metered energy of kernels and copies is in
 * accounts whose half-width is at most KWHY_PROBING_WITHIN_RATIO of their energy. Modelled powers need no
 * probe.
 */
static void add_probe(struct sentences *sentences)
{
	const struct kwhy_text_context *context = sentences->context;
	const struct kwhy_totals_known sums = kwhy_totals_known_within(
		context->totals, KWHY_PROBING_WITHIN_RATIO);
	const double ratio = sums.busy_nj > 0 ? (double)sums.known_nj / (double)sums.busy_nj : NAN;
	char text[160], share[KWHY_QUANTITY_BYTES];

	if (context->totals->modelled || context->totals->energy_nj == KWHY_UNKNOWN_NJ ||
		!(ratio < MOSTLY_RATIO))
		return;
	snprintf(text, sizeof(text), "%s%s of the energy of kernels and copies is known within %g %%: %s",
		ratio < NONE_RATIO ? "none" : "only ",
		ratio < NONE_RATIO ? "" : kwhy_quantity_percent(share, ratio),
		100 * KWHY_PROBING_WITHIN_RATIO,
		context->report->probing ? "probe more of the program (kwhy probe --append)"
					 : "probe this program to know (kwhy probe)");
	add(sentences, text);
}

static bool is_own_recording(const struct kwhy_recording *recording)
{
	for (size_t i = 0; i < recording->source_count; i++)
		if (recording->sources[i].format == KWHY_FORMAT_KWHY)
			return true;
	return false;
}

/* Says that there are no source lines, and why, if there is advice and none of it has a source file. */
static void add_lines(struct sentences *sentences)
{
	const struct kwhy_finding_kinds *kinds = sentences->context->kinds;

	if (!kinds->worth_count)
		return;
	for (size_t i = 0; i < kinds->worth_count; i++)
		if (kinds->items[i].worst->place.file)
			return;
	add(sentences,
		is_own_recording(sentences->context->report->recording)
			? "no source lines: no call stack with lines was recorded where this advice applies"
			: "no source lines (kwhy record adds them)");
}

static void add_notes(struct sentences *sentences)
{
	const struct kwhy_report *report = sentences->context->report;

	for (size_t i = 0; i < report->recording->note_count; i++)
		add(sentences, report->recording->notes[i].text);
	for (size_t i = 0; i < report->ledger->note_count; i++)
		if (strcmp(report->ledger->notes[i].id, "known-in-windows") !=
			0) /* add_windows() says the same */
			add(sentences, report->ledger->notes[i].text);
}

static void add_incomplete(struct sentences *sentences)
{
	const struct kwhy_recording *recording = sentences->context->report->recording;

	if (recording->has_calls)
		add_count(sentences, recording->lost.unlinked_activities,
			"activity has no API call of its correlation",
			"activities have no API call of their correlation");
	add_count(sentences, recording->lost.unknown_bytes, "copy or memset does not say its size",
		"copies or memsets do not say their size");
}

void kwhy_unknown_each(const struct kwhy_text_context *context,
	void (*add_sentence)(void *target, const char *sentence), void *target)
{
	struct sentences sentences = {context, add_sentence, target};

	add_lost(&sentences);
	add_windows(&sentences);
	add_missing(&sentences);
	add_probe(&sentences);
	add_unmetered(&sentences);
	add_lines(&sentences);
	add_sums(&sentences);
	add_notes(&sentences);
	add_incomplete(&sentences);
}

/*
 * State while sentences are written to a text report: the first `limit` of them are shown, `count` is the
 * number of all so far.
 */
struct shown {
	const struct kwhy_text_context *context;
	struct kwhy_text text; /* the sentences of the first screen, one after another */
	size_t limit, count;
};

/*
 * Whether the sentence begins with a common word, whose first letter can be made a capital: small letters
 * before a space, comma or colon, but not the name "kwhy".
 */
static bool begins_with_a_word(const char *sentence)
{
	const size_t letters = strspn(sentence, "abcdefghijklmnopqrstuvwxyz");

	return letters && strchr(" ,:", sentence[letters]) && strncmp(sentence, "kwhy ", 5) != 0;
}

static void add_to_line(void *target, const char *sentence)
{
	const size_t length = strnlen(sentence, SENTENCE_BYTES);
	struct shown *shown = target;
	char first = *sentence;

	if (shown->count++ >= shown->limit || !length)
		return;
	if (begins_with_a_word(sentence))
		first = (char)(first - 'a' + 'A');
	kwhy_text_addf(&shown->text, "%s%c%.*s%s", shown->text.length ? " " : "", first, (int)length - 1,
		sentence + 1, sentence[length - 1] == '.' ? "" : ".");
}

void kwhy_first_screen_unknown(const struct kwhy_text_context *context, size_t limit)
{
	struct shown shown = {.context = context, .limit = limit};

	kwhy_unknown_each(context, add_to_line, &shown);
	if (shown.count > limit)
		kwhy_text_addf(&shown.text, "%s%zu %s: --section unknown.", limit ? " " : "",
			shown.count - limit,
			limit			  ? "more"
				: shown.count > 1 ? "things"
						  : "thing");
	if (shown.count)
		kwhy_text_context_entry(context, "Not known", shown.text.failed ? NULL : shown.text.data);
	context->out->failed |= shown.text.failed;
	kwhy_text_done(&shown.text);
}

static void add_line(void *target, const char *sentence)
{
	struct shown *shown = target;

	if (!shown->count)
		kwhy_text_context_heading(shown->context, "Not known", NULL);
	if (shown->count++ < shown->limit)
		kwhy_text_context_paragraph(shown->context, "  - ", sentence);
}

void kwhy_section_unknown(const struct kwhy_text_context *context)
{
	struct shown shown = {.context = context, .limit = context->style->verbose ? SIZE_MAX : SECTION_ROWS};

	kwhy_unknown_each(context, add_line, &shown);
	kwhy_text_context_more(context, shown.count, shown.count < shown.limit ? shown.count : shown.limit);
}
