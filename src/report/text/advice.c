/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/shown_name.h"
#include "report/text/first_screen.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Advice: two paragraphs for each kind of finding with a saving: what and where it is, and its saving and
 * cure.
 */

enum { PARAGRAPH_COLUMNS = 260 };

/*
 * Appends what a cure saves: "To save about 148 J (52.5 %) and 1.24 s", where the percentage is of the energy
 * of recorded time (recorded_nj).
 */
static void add_saving(
	const struct kwhy_text_context *context, const struct kwhy_finding_kind *kind, struct kwhy_text *out)
{
	const struct kwhy_saving *saving = &kind->worst->saving;
	const bool has_energy = kind->saved_nj != KWHY_UNKNOWN_NJ && kind->saved_nj > 0;
	double whole_nj = context->totals->recorded_nj;
	char energy[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES], time[KWHY_QUANTITY_BYTES];

	kwhy_text_addf(out, "To save %s ", saving->bound == KWHY_BOUND_EXPECTED ? "about" : "up to");
	if (has_energy)
		kwhy_text_add(out, kwhy_quantity_energy(energy, kind->saved_nj));
	if (has_energy && whole_nj > 0)
		kwhy_text_addf(out, " (%s)", kwhy_quantity_percent(share, (double)kind->saved_nj / whole_nj));
	if (kind->saved_ns > 0)
		kwhy_text_addf(out, "%s%s%s", has_energy ? " and " : "",
			kwhy_quantity_time(time, kind->saved_ns),
			saving->frees_device ? " of the device" : "");
	if (kwhy_finding_saves_more_than_it_costs(kind->worst))
		kwhy_text_add(out, " (the change shortens more than this waste)");
}

/* Number of bytes of the first clause of a cure, which ends at a semicolon outside of parentheses. */
static size_t first_clause(const char *cure)
{
	size_t depth = 0, i = 0;

	for (; cure[i] && (depth || cure[i] != ';'); i++) {
		depth += cure[i] == '(';
		depth -= cure[i] == ')' && depth;
	}
	return i;
}

/*
 * Number of bytes of the first clause of a cure, without the text in parentheses at its end, if there is one.
 * That text states the share of a cause, which differs between findings with the same advice.
 */
static size_t advice_bytes(const char *cure)
{
	const size_t end = first_clause(cure);
	size_t at = end;

	while (at > 1 && !(cure[at - 1] == ' ' && cure[at] == '('))
		at--;
	return at > 1 ? at - 1 : end;
}

/*
 * Number, from 1, of the first kind of finding before `kind` whose cure has the same text up to
 * advice_bytes(); 0: there is none.
 */
static size_t same_as(const struct kwhy_finding_kinds *kinds, size_t kind)
{
	const char *cure = kinds->items[kind].worst->cure;
	const size_t bytes = advice_bytes(cure);

	for (size_t i = 0; i < kind; i++) {
		const char *other = kinds->items[i].worst->cure;

		if (advice_bytes(other) == bytes && strncmp(cure, other, bytes) == 0)
			return i + 1;
	}
	return 0;
}

static void add_cure(
	const struct kwhy_finding_kinds *kinds, size_t kind, bool is_whole, struct kwhy_text *out)
{
	const char *cure = kinds->items[kind].worst->cure;
	const size_t same = same_as(kinds, kind), first = first_clause(cure),
		     bytes = is_whole && !same ? strlen(cure) : first;

	if (same)
		kwhy_text_addf(out, ", do the same as in %zu", same);
	else
		kwhy_text_addf(out, ", %.*s", (int)bytes, cure);
	kwhy_text_add(out, cure[bytes] ? "; more: --section findings." : ".");
}

/*
 * Writes `text` as a paragraph and empties it. Unless `is_whole`, it is cut to PARAGRAPH_COLUMNS, which only
 * long names exceed.
 */
static void write_paragraph(
	const struct kwhy_text_context *context, const char *lead, struct kwhy_text *text, bool is_whole)
{
	struct kwhy_arena arena = {0};
	char *clean = text->failed || !text->data ? NULL : kwhy_shown_clean(&arena, text->data);

	if (clean && !is_whole)
		clean = kwhy_shown_cut(&arena, clean, PARAGRAPH_COLUMNS);
	if (clean)
		kwhy_text_context_paragraph(context, lead, clean);
	context->out->failed |= !clean;
	kwhy_arena_done(&arena);
	kwhy_text_clear(text);
}

static void write_kind(const struct kwhy_text_context *context, size_t number, bool is_whole)
{
	const struct kwhy_finding_kind *kind = &context->kinds->items[number];
	const struct kwhy_finding *worst = kind->worst;
	struct kwhy_text text = {0};
	char lead[32];

	snprintf(lead, sizeof(lead), "  %zu. ", number + 1);
	kwhy_finding_kind_words(kind, context->report->recording, context->totals->active_count, &text);
	if (worst->place.words)
		kwhy_text_addf(&text, ", mostly in %s", worst->place.words);
	write_paragraph(context, lead, &text, is_whole);
	add_saving(context, kind, &text);
	add_cure(context->kinds, number, is_whole, &text);
	write_paragraph(context, "     ", &text, is_whole);
	kwhy_text_done(&text);
}

/*
 * Whether the energy that is 100 % in the findings' shares differs by 1 % or more from the energy that the
 * report shows at its top, so that the heading must state it.
 */
static bool is_base_apart(const struct kwhy_totals *totals)
{
	return totals->recorded_nj > 0 &&
		fabs(totals->recorded_nj - kwhy_totals_shown_nj(totals)) >= 0.01 * totals->recorded_nj;
}

/*
 * Writes the heading: how many kinds of findings are shown of how many, and the energy that is 100 % in their
 * shares, if that is not the one at the top of the report.
 */
static void write_heading(const struct kwhy_text_context *context, size_t count)
{
	const struct kwhy_totals *totals = context->totals;
	const size_t all = context->kinds->count;
	char energy[KWHY_QUANTITY_BYTES];
	struct kwhy_text remark = {0};

	if (count && all > count)
		kwhy_text_addf(&remark, "the best %zu of %zu; their savings overlap", count, all);
	else if (count > 1)
		kwhy_text_add(&remark, "the savings overlap");
	if (count && is_base_apart(totals))
		kwhy_text_addf(&remark, "%sshares of %s", remark.length ? "; " : "",
			kwhy_quantity_si(energy, totals->recorded_nj * 1e-9, "J", 3));
	kwhy_text_context_heading(
		context, "What to do", remark.length && !remark.failed ? remark.data : NULL);
	context->out->failed |= remark.failed;
	kwhy_text_done(&remark);
}

void kwhy_first_screen_advice(const struct kwhy_text_context *context, size_t limit, bool is_whole)
{
	const struct kwhy_finding_kinds *kinds = context->kinds;
	const size_t count = kinds->worth_count < limit ? kinds->worth_count : limit;

	if (!context->report->findings || (!context->totals->active_count && !count))
		return; /* the detectors of findings were not run, or no device was active */
	write_heading(context, count);
	if (!count)
		kwhy_text_add(context->out, "  nothing found that would save enough to be worth it\n");
	for (size_t i = 0; i < count; i++)
		write_kind(context, i, is_whole);
}

void kwhy_section_advice(const struct kwhy_text_context *context)
{
	kwhy_first_screen_advice(context, SIZE_MAX, true);
}
