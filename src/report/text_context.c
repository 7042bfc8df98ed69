/* SPDX-License-Identifier: Apache-2.0 */
#include "report/text_context.h"

#include "base/quantity.h"
#include "model/known_sum.h"
#include "report/shown_name.h"
#include "report/table.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Whether a word is a unit with or without a prefix, such as "%", "ms" or "kJ". */
static bool is_unit(const char *word)
{
	static const char prefixes[] = "num\u00b5kMGT", units[] = "sJWB%";
	const size_t prefix = strspn(word, prefixes);

	return word[prefix] && strchr(units, word[prefix]) && !isalnum((unsigned char)word[prefix + 1]);
}

/* Whether a line may end before text[at]: at a space, but not between a number and its unit. */
static bool may_end(const char *text, size_t at)
{
	return text[at] == ' ' && !(at && isdigit((unsigned char)text[at - 1]) && is_unit(text + at + 1));
}

/*
 * Number of bytes of `text` for the next line, at most `columns` columns wide: up to the last place at which
 * a line may end, or as much as fits if there is none.
 */
static size_t line_bytes(const char *text, size_t columns)
{
	size_t fit = kwhy_shown_fit(text, columns), at = fit;

	if (!text[fit])
		return fit;
	while (at && !may_end(text, at))
		at--;
	return at ? at : fit;
}

/*
 * Writes `text`, wrapped, where its first line already has `before` columns of other text. Further lines
 * begin with `indent` spaces.
 */
static void wrap(const struct kwhy_text_context *context, size_t before, size_t indent, const char *text)
{
	do {
		size_t bytes = line_bytes(text, context->style->columns - before);

		kwhy_text_add_bytes(context->out, text, bytes);
		kwhy_text_add(context->out, "\n");
		text += bytes + strspn(text + bytes, " ");
		if (*text)
			kwhy_text_repeat(context->out, ' ', indent);
		before = indent;
	} while (*text);
}

/*
 * Writes `text` as a paragraph in Markdown, after `lead` in bold if it has words; as an item of a list if
 * `lead` contains a dash.
 */
static void add_markdown(const struct kwhy_text_context *context, const char *lead, const char *text)
{
	bool item = strchr(lead, '-') != NULL;

	lead += strspn(lead, " ");
	if (item)
		kwhy_text_add(context->out, "- ");
	else if (*lead)
		kwhy_text_addf(context->out, "**%.*s** ", (int)strcspn(lead, " "), lead);
	kwhy_table_markdown(context->out, text);
	kwhy_text_add(context->out, item ? "\n" : "\n\n");
}

void kwhy_text_context_paragraph(const struct kwhy_text_context *context, const char *lead, const char *text)
{
	struct kwhy_arena arena = {0};
	char *clean = kwhy_shown_clean(&arena, text);

	if (clean && context->style->markdown) {
		add_markdown(context, lead, clean);
	} else if (clean) {
		const size_t indent = kwhy_shown_columns(lead);

		kwhy_text_add(context->out, lead);
		wrap(context, indent, indent, clean);
	} else {
		context->out->failed = true;
	}
	kwhy_arena_done(&arena);
}

/*
 * Writes a heading with a remark, as kwhy_text_context_heading() does. `flows`: a remark that is too long for
 * the line of the heading begins in that line nevertheless, and not below it.
 */
static void write_heading(
	const struct kwhy_text_context *context, const char *title, const char *remark, bool flows)
{
	const char *bold = context->style->color ? "\033[1m" : "",
		   *end = context->style->color ? "\033[0m" : "";
	struct kwhy_arena arena = {0};
	const char *clean = remark ? kwhy_shown_clean(&arena, remark) : NULL;
	const size_t used = kwhy_shown_columns(title) + 2;

	context->out->failed |= remark && !clean;
	if (context->style->markdown) {
		kwhy_text_addf(context->out, "\n### %s\n\n", title);
		if (clean) {
			kwhy_table_markdown(context->out, clean);
			kwhy_text_add(context->out, "\n\n");
		}
		kwhy_arena_done(&arena);
		return;
	}
	flows |= clean && used + kwhy_shown_columns(clean) <= context->style->columns;
	kwhy_text_addf(context->out, "%s%s%s%s%s", context->out->length ? "\n" : "", bold, title, end,
		clean && flows ? "  " : "\n");
	if (clean && !flows)
		kwhy_text_repeat(context->out, ' ', 2);
	if (clean)
		wrap(context, flows ? used : 2, 2, clean);
	kwhy_arena_done(&arena);
}

void kwhy_text_context_heading(const struct kwhy_text_context *context, const char *title, const char *remark)
{
	write_heading(context, title, remark, false);
}

void kwhy_text_context_entry(const struct kwhy_text_context *context, const char *title, const char *text)
{
	write_heading(context, title, text, true);
}

void kwhy_text_context_linef(
	const struct kwhy_text_context *context, const char *lead, const char *format, ...)
{
	char *text;
	va_list args;
	int length;

	va_start(args, format);
	length = vasprintf(&text, format, args);
	va_end(args);
	if (length < 0) {
		context->out->failed = true;
		return;
	}
	kwhy_text_context_paragraph(context, lead, text);
	free(text);
}

const char *kwhy_device_label(char out[KWHY_DEVICE_LABEL_BYTES], const struct kwhy_device *device)
{
	if (device->rank == KWHY_NONE)
		snprintf(out, KWHY_DEVICE_LABEL_BYTES, "GPU %" PRId32, device->index);
	else
		snprintf(out, KWHY_DEVICE_LABEL_BYTES, "GPU %" PRId32 ", rank %" PRIu32, device->index,
			device->rank);
	return out;
}

size_t kwhy_text_context_shown(const struct kwhy_text_context *context, size_t count, size_t limit)
{
	return context->style->verbose || count <= limit ? count : limit;
}

void kwhy_text_context_more(const struct kwhy_text_context *context, size_t count, size_t shown)
{
	char text[KWHY_QUANTITY_BYTES];

	if (shown < count)
		kwhy_text_addf(context->out, "  ... and %s more (-v shows all)\n",
			kwhy_quantity_count(text, count - shown));
}

void kwhy_text_context_add_unmetered(struct kwhy_text *out, const struct kwhy_text_context *context)
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	char energy[KWHY_QUANTITY_BYTES], time[KWHY_QUANTITY_BYTES];
	int64_t edge_ns = 0;

	for (size_t d = 0; d < ledger->device_count; d++)
		if (kwhy_device_was_active(&ledger->devices[d].time))
			kwhy_time_add(&edge_ns, ledger->devices[d].energy.edge_ns);
	kwhy_text_add(out, kwhy_quantity_si(energy, context->totals->unmetered_nj * 1e-9, "J", 3));
	if (context->totals->active_count == 1 && edge_ns > 0)
		kwhy_text_addf(out, " in %s", kwhy_quantity_time(time, edge_ns));
}
