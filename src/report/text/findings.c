/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "report/profile.h"
#include "report/shown_name.h"
#include "report/text_context.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Sections on findings of waste, and on what the report is based on: source and method. */

enum { EVIDENCE_ROWS = 3, EVIDENCE_NAME_COLUMNS = 44 };

/* Adds an energy with its interval, ", 120 J (114 J to 126 J)", if it is known. */
static void add_energy(struct kwhy_text *out, int64_t energy_nj, int64_t low_nj, int64_t high_nj)
{
	char energy[KWHY_QUANTITY_BYTES], low[KWHY_QUANTITY_BYTES], high[KWHY_QUANTITY_BYTES];

	if (energy_nj == KWHY_UNKNOWN_NJ)
		return;
	kwhy_text_addf(out, ", %s", kwhy_quantity_energy(energy, energy_nj));
	if (low_nj != KWHY_UNKNOWN_NJ && high_nj != KWHY_UNKNOWN_NJ)
		kwhy_text_addf(out, " (%s to %s)", kwhy_quantity_energy(low, low_nj),
			kwhy_quantity_energy(high, high_nj));
}

/* Writes `text` as one paragraph after `lead`, and empties it. */
static void write_part(const struct kwhy_text_context *context, const char *lead, struct kwhy_text *text)
{
	kwhy_text_context_paragraph(context, lead, text->failed || !text->data ? "" : text->data);
	context->out->failed |= text->failed;
	kwhy_text_clear(text);
}

/*
 * Adds the text of an evidence with the names of up to two kernels in it shortened; report.json has the full
 * names.
 */
static void add_evidence(struct kwhy_text *out, const struct kwhy_evidence *evidence)
{
	static const bool kernels[2] = {true, true};
	struct kwhy_arena arena = {0};
	const char *rest = evidence->what, *names[2], *shown[2];
	size_t count = 0;

	for (size_t i = 0; i < 2; i++)
		if (evidence->kernels[i])
			names[count++] = evidence->kernels[i];
	if (!kwhy_shown_names(&arena, names, kernels, count, EVIDENCE_NAME_COLUMNS, shown))
		out->failed = true;
	for (size_t i = 0; i < count && !out->failed; i++) {
		const char *at = strstr(rest, names[i]);

		if (!at)
			break;
		kwhy_text_add_bytes(out, rest, (size_t)(at - rest));
		kwhy_text_add(out, shown[i]);
		rest = at + strlen(names[i]);
	}
	kwhy_text_add(out, rest);
	kwhy_arena_done(&arena);
}

static void write_evidence(const struct kwhy_text_context *context, const struct kwhy_finding *finding)
{
	size_t shown = kwhy_text_context_shown(context, finding->evidence_count, EVIDENCE_ROWS);
	int64_t origin_ns = context->report->recording->start_ns;
	struct kwhy_text text = {0};

	for (size_t i = 0; i < shown; i++) {
		const struct kwhy_evidence *evidence = &finding->evidence[i];
		char at[KWHY_QUANTITY_BYTES], length[KWHY_QUANTITY_BYTES];

		kwhy_text_addf(&text, "at %s for %s: ",
			kwhy_quantity_si(at, ((double)evidence->start_ns - (double)origin_ns) * 1e-9, "s", 6),
			kwhy_quantity_si(length,
				((double)evidence->end_ns - (double)evidence->start_ns) * 1e-9, "s", 3));
		add_evidence(&text, evidence);
		write_part(context, i ? "            " : "     see    ", &text);
	}
	kwhy_text_done(&text);
}

static void add_saving(struct kwhy_text *out, const struct kwhy_finding *finding)
{
	const struct kwhy_saving *saving = &finding->saving;
	char time[KWHY_QUANTITY_BYTES];

	if (!finding->credited_to) {
		kwhy_text_addf(out, "%s%s", kwhy_quantity_time(time, saving->time_ns),
			saving->frees_device ? " of the device" : "");
		add_energy(out, saving->energy_nj, saving->low_nj, saving->high_nj);
		kwhy_text_addf(out, "%s%s",
			saving->bound == KWHY_BOUND_EXPECTED ? " as projected" : " at most",
			saving->assumption ? ": " : "");
	}
	kwhy_text_add(out, saving->assumption ? saving->assumption : "");
}

static void write_finding(
	const struct kwhy_text_context *context, const struct kwhy_finding *finding, size_t number)
{
	struct kwhy_text text = {0};
	char lead[24], label[KWHY_DEVICE_LABEL_BYTES] = "", time[KWHY_QUANTITY_BYTES];

	snprintf(lead, sizeof(lead), "%3zu. ", number);
	if (finding->device != KWHY_NONE && context->report->recording->device_count > 1)
		kwhy_device_label(label, &context->report->recording->devices[finding->device]);
	kwhy_text_context_linef(
		context, lead, "%s%s%s [%s]", label, *label ? ": " : "", finding->title, finding->id);
	kwhy_text_add(&text, kwhy_quantity_time(time, finding->time_ns));
	add_energy(&text, finding->energy_nj, finding->low_nj, finding->high_nj);
	write_part(context, "     costs  ", &text);
	kwhy_text_add(&text, finding->cure);
	write_part(context, "     cure   ", &text);
	add_saving(&text, finding);
	write_part(context, "     saves  ", &text);
	kwhy_text_done(&text);
	write_evidence(context, finding);
}

/*
 * Writes the worst finding of each kind, that with the longest time; with --verbose, the findings of all
 * devices.
 */
void kwhy_section_findings(const struct kwhy_text_context *context)
{
	const struct kwhy_findings *findings = context->report->findings;
	const struct kwhy_finding_kinds *kinds = context->kinds;
	struct kwhy_text words = {0};

	if (!findings || !findings->count)
		return;
	kwhy_text_context_heading(context, "Findings", "savings overlap; times from the first activity");
	for (size_t i = 0; context->style->verbose && i < findings->count; i++)
		write_finding(context, &findings->items[i], i + 1);
	for (size_t i = 0; !context->style->verbose && i < kinds->count; i++) {
		write_finding(context, kinds->items[i].worst, i + 1);
		if (kinds->items[i].device_count < 2)
			continue;
		kwhy_text_clear(&words);
		kwhy_finding_kind_words(
			&kinds->items[i], context->report->recording, context->totals->active_count, &words);
		kwhy_text_context_linef(context, "     all    ", "%s", words.failed ? "" : words.data);
	}
	context->out->failed |= words.failed;
	kwhy_text_done(&words);
}

static void write_sources(const struct kwhy_text_context *context)
{
	static const char *const formats[KWHY_FORMAT_COUNT] = {
#define X(format, reader, text, words) text,
#include "model/trace_formats.def"
#undef X
	};
	const struct kwhy_recording *recording = context->report->recording;
	char events[KWHY_QUANTITY_BYTES];

	for (size_t i = 0; i < recording->source_count; i++) {
		const struct kwhy_source *source = &recording->sources[i];

		kwhy_text_context_linef(context, "  trace    ", "%s (%s%s%s%s%s), %s events", source->path,
			source->format < KWHY_FORMAT_COUNT ? formats[source->format] : "unknown form",
			source->version ? " " : "", source->version ? source->version : "",
			source->producer ? ", " : "", source->producer ? source->producer : "",
			kwhy_quantity_count(events, source->events));
	}
}

/*
 * Adds figures on how well the fitted powers explain a device's readings: their number, the meter's time
 * constant and others. Unknown figures are left out.
 */
static void add_fit(struct kwhy_text *out, const struct kwhy_device_energy *energy)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_text_addf(out, "%zu readings", energy->reading_count);
	if (isfinite(energy->time_constant_s))
		kwhy_text_addf(out, "; meter time constant %s",
			kwhy_quantity_si(text, energy->time_constant_s, "s", 3));
	if (isfinite(energy->delay_s))
		kwhy_text_addf(out, ", delay %s", kwhy_quantity_si(text, energy->delay_s, "s", 3));
	if (isfinite(energy->expected_wrong_ratio))
		kwhy_text_addf(out, "; expected share of energy on the wrong account %s",
			kwhy_quantity_percent(text, energy->expected_wrong_ratio));
	if (isfinite(energy->counter_check_ratio))
		kwhy_text_addf(out, "; samples predict the counter within %s rms",
			kwhy_quantity_percent(text, energy->counter_check_ratio));
	if (isfinite(energy->context_idle_w))
		kwhy_text_addf(out, "; idle with context %s%s",
			kwhy_quantity_si(text, energy->context_idle_w, "W", 3),
			energy->context_idle_measured ? " (measured here)" : "");
	if (isfinite(energy->clean_idle_w))
		kwhy_text_addf(out, "; clean idle %s%s", kwhy_quantity_si(text, energy->clean_idle_w, "W", 3),
			energy->clean_idle_measured ? " (measured here)" : "");
}

static void add_layer(struct kwhy_text *out, const char *what, int64_t energy_nj)
{
	char text[KWHY_QUANTITY_BYTES];

	if (energy_nj != KWHY_UNKNOWN_NJ)
		kwhy_text_addf(out, "; %s %s", what, kwhy_quantity_energy(text, energy_nj));
}

static void write_balance(const struct kwhy_text_context *context, size_t device)
{
	const struct kwhy_device_ledger *device_ledger = &context->report->ledger->devices[device];
	const struct kwhy_device_energy *energy = &device_ledger->energy;
	char label[KWHY_DEVICE_LABEL_BYTES], window[KWHY_QUANTITY_BYTES], measured[KWHY_QUANTITY_BYTES];
	bool balanced = energy->measured_nj == energy->attributed_nj;
	struct kwhy_text text = {0};

	kwhy_device_label(label, &context->report->recording->devices[device]);
	if (!energy->known) {
		kwhy_text_context_linef(context, "  balance  ", "%s: no meter reports its energy", label);
		return;
	}
	kwhy_text_addf(&text, "%s, %s over %s: the accounts add up to %" PRId64 " nJ", label,
		energy->source ? energy->source : "unnamed meter",
		kwhy_quantity_time(window, energy->metered_ns), energy->attributed_nj);
	if (energy->modelled)
		kwhy_text_add(&text, ", modelled: no meter");
	else
		kwhy_text_addf(&text, balanced ? " = measured (%s)" : ", but measured %s",
			kwhy_quantity_energy(measured, energy->measured_nj));
	add_layer(&text, "clean idle", energy->clean_idle_nj);
	add_layer(&text, energy->clean_idle_nj == KWHY_UNKNOWN_NJ ? "idle with context" : "context idle",
		energy->context_idle_nj);
	add_layer(&text, "work above idle", energy->net_nj);
	add_layer(&text, "not metered, estimated", energy->edge_nj ? energy->edge_nj : KWHY_UNKNOWN_NJ);
	kwhy_text_context_paragraph(context, "  balance  ", text.failed ? "" : text.data);
	kwhy_text_clear(&text);
	if (!energy->modelled) {
		add_fit(&text, energy);
		kwhy_text_context_paragraph(context, "           ", text.failed ? "" : text.data);
	}
	context->out->failed |= text.failed;
	kwhy_text_done(&text);
}

static void write_window(const struct kwhy_text_context *context)
{
	const struct kwhy_recording *recording = context->report->recording;
	char length[KWHY_QUANTITY_BYTES];

	kwhy_text_context_linef(context, "  window   ", "%s of activities and calls, %s",
		kwhy_quantity_time(length, recording->end_ns - recording->start_ns),
		recording->unix_clock ? "on the Unix clock" : "on the trace's own clock");
}

void kwhy_section_method(const struct kwhy_text_context *context)
{
	const struct kwhy_report *report = context->report;
	const struct kwhy_profile *profile = report->profile;
	char meter[KWHY_PROFILE_METER_BYTES] = "";

	kwhy_text_context_heading(context, "Source and method", NULL);
	write_sources(context);
	write_window(context);
	for (size_t d = 0; d < report->ledger->device_count; d++)
		if (context->totals->known_count)
			write_balance(context, d);
	if (profile)
		kwhy_text_context_linef(context, "  profile  ", "%s%s%s",
			profile->device_name ? profile->device_name : "unnamed",
			profile->measured_on ? ", measured " : "",
			profile->measured_on ? profile->measured_on : "");
	else
		kwhy_text_context_paragraph(
			context, "  profile  ", "none for this device: wide assumptions instead");
	if (profile && context->totals->known_count && *kwhy_report_profile_meter(meter, profile))
		kwhy_text_context_paragraph(context, "  meter    ", meter);
	if (report->command)
		kwhy_text_context_paragraph(context, "  command  ", report->command);
}
