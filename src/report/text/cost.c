/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "model/run_energy.h"
#include "report/shown_name.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Section at the start of the first screen: time and energy of the run, of idling and of a unit of work,
 * price and emissions.
 */

#define NJ_PER_KWH 3.6e15
/* columns of the subject, which fill two lines; longer names of files and devices are cut */
enum { SUBJECT_COLUMNS = 140 };
/*
 * An interval is shown as ± one number if the distances of its ends from the value differ by at most this
 * share of their sum.
 */
#define EVEN_RATIO 0.05

/* Appends " on 8 devices, NVIDIA H200", or "NVIDIA H200 and others" if their names differ. */
static void add_devices(struct kwhy_text *out, const struct kwhy_recording *recording)
{
	const char *name = recording->device_count ? recording->devices[0].name : NULL;
	bool differ = false;

	for (size_t d = 1; d < recording->device_count; d++)
		differ |= strcmp(recording->devices[d].name ? recording->devices[d].name : "",
				  name ? name : "") != 0;
	if (recording->device_count == 1)
		kwhy_text_addf(out, " on %s", name ? name : "an unnamed device");
	else if (recording->device_count)
		kwhy_text_addf(out, " on %zu devices, %s%s", recording->device_count,
			name ? name : "without names", differ ? " and others" : "");
}

/* Writes the heading, "What it cost  run.kwhy on NVIDIA H200". */
static void write_subject(const struct kwhy_text_context *context)
{
	const struct kwhy_recording *recording = context->report->recording;
	const char *path = recording->source_count ? recording->sources[0].path : "recording";
	const char *base = strrchr(path, '/');
	struct kwhy_arena arena = {0};
	struct kwhy_text line = {0};
	char *clean;

	kwhy_text_add(&line, base ? base + 1 : path);
	if (recording->source_count > 1)
		kwhy_text_addf(&line, " and %zu more", recording->source_count - 1);
	add_devices(&line, recording);
	clean = line.failed ? NULL : kwhy_shown_clean(&arena, line.data);
	clean = clean ? kwhy_shown_cut(&arena, clean, SUBJECT_COLUMNS) : NULL;
	kwhy_text_context_heading(context, "What it cost", clean);
	context->out->failed |= !clean;
	kwhy_text_done(&line);
	kwhy_arena_done(&arena);
}

/* Appends an amount of money. An amount below a thousandth is written as "less than 0.001". */
static void add_money(struct kwhy_text *out, double amount, const char *currency)
{
	char text[KWHY_QUANTITY_BYTES];

	kwhy_text_addf(out, "%s%s%s",
		amount > 0 && amount < 0.001 ? "less than 0.001" : kwhy_quantity_plain(text, amount),
		*currency ? " " : "", currency);
}

/*
 * Appends the price and the carbon intensity of electricity that were used: " (0.3 EUR and 481 g per kWh, the
 * mean of Thailand in 2023)".
 */
static void add_rates(struct kwhy_text *out, const struct kwhy_report *report, const char *currency)
{
	const bool priced = isfinite(report->price_per_kwh), emitted = isfinite(report->intensity_g_per_kwh);

	kwhy_text_add(out, " (");
	if (priced)
		kwhy_text_addf(out, "%g%s%s", report->price_per_kwh, *currency ? " " : "", currency);
	if (emitted)
		kwhy_text_addf(out, "%s%g g", priced ? " and " : "", report->intensity_g_per_kwh);
	kwhy_text_add(out, " per kWh");
	if (report->place)
		kwhy_text_addf(out, ", the mean of %s in %d", report->place, report->carbon_year);
	kwhy_text_add(out, ")");
}

static void write_price(const struct kwhy_text_context *context)
{
	const struct kwhy_report *report = context->report;
	const bool priced = isfinite(report->price_per_kwh), emitted = isfinite(report->intensity_g_per_kwh);
	const double kwh = kwhy_totals_paid_nj(context->totals) / NJ_PER_KWH;
	const char *currency = report->currency ? report->currency : "";
	char energy[KWHY_QUANTITY_BYTES], carbon[KWHY_QUANTITY_BYTES];
	struct kwhy_text line = {0};

	if (!priced && !emitted && kwh < 0.01)
		return;
	kwhy_text_add(&line, kwhy_quantity_si(energy, kwh * 1000, "Wh", 3));
	if (priced || emitted)
		kwhy_text_add(&line, ": ");
	if (priced)
		add_money(&line, kwh * report->price_per_kwh, currency);
	if (emitted)
		kwhy_text_addf(&line, "%s%s CO2e", priced ? " and " : "",
			kwhy_quantity_si(carbon, kwh * report->intensity_g_per_kwh, "g", 3));
	if (priced || emitted)
		add_rates(&line, report, currency);
	kwhy_text_context_linef(context, "  ", "%s", line.failed ? "" : line.data);
	context->out->failed |= line.failed;
	kwhy_text_done(&line);
}

/*
 * If the user asked for cost or emissions, writes that they are unknown, because the energy of the part of
 * the run that was not recorded is unknown.
 */
static void write_no_price(const struct kwhy_text_context *context)
{
	if (isfinite(context->report->price_per_kwh) || isfinite(context->report->intensity_g_per_kwh))
		kwhy_text_context_linef(
			context, "  ", "part of the run was not recorded: its price is not known");
}

enum { INTERVAL_BYTES = 3 * KWHY_QUANTITY_BYTES + 16 };

/*
 * Removes the unit of `low` if `high` has the same unit: in "3.11 kJ" to "3.46 kJ", "3.11 kJ" becomes "3.11".
 */
static const char *without_unit_of(char *low, const char *high)
{
	char *unit = strchr(low, ' ');
	const char *other = strchr(high, ' ');

	if (unit && other && strcmp(unit, other) == 0)
		*unit = '\0';
	return low;
}

/*
 * Writes the energy of the run divided by `parts` (1, or units of work), with its 90 % interval if known:
 * "281 J ±780 mJ", or "3.13 kJ (3.11 to 3.46 kJ)" if the ends are not equally far away. Returns `out`.
 */
static const char *interval_of(const struct kwhy_totals *totals, double parts, char out[INTERVAL_BYTES])
{
	double each_j = totals->run_nj * 1e-9 / parts, below_j = totals->run_below_nj * 1e-9 / parts,
	       above_j = totals->run_above_nj * 1e-9 / parts;
	char each[KWHY_QUANTITY_BYTES], low[KWHY_QUANTITY_BYTES], high[KWHY_QUANTITY_BYTES];

	kwhy_quantity_si(each, each_j, "J", 3);
	kwhy_quantity_si(low, fdim(each_j, below_j), "J", 3);
	kwhy_quantity_si(high, each_j + above_j, "J", 3);
	if (!(below_j + above_j > 0))
		snprintf(out, INTERVAL_BYTES, "%s", each);
	else if (fabs(above_j - below_j) <= EVEN_RATIO * (above_j + below_j))
		snprintf(out, INTERVAL_BYTES, "%s \xc2\xb1%s", each,
			kwhy_quantity_si(low, (above_j + below_j) / 2, "J", 2));
	else
		snprintf(out, INTERVAL_BYTES, "%s (%s to %s)", each, without_unit_of(low, high), high);
	return out;
}

static void write_work(const struct kwhy_text_context *context)
{
	const struct kwhy_recording *recording = context->report->recording;
	double energy_j = context->totals->run_nj * 1e-9;

	if (!recording->work_count && context->report->ledger->step_count)
		kwhy_text_context_step_mean(context);
	for (size_t i = 0; i < recording->work_count && i < 1; i++) {
		const struct kwhy_work *work = &recording->work[i];
		char count[KWHY_QUANTITY_BYTES], each[INTERVAL_BYTES], per[KWHY_QUANTITY_BYTES];

		kwhy_quantity_amount(count, work->count);
		if (!(energy_j > 0) || !(work->count > 0)) {
			kwhy_text_context_linef(context, "  ", "%s %s", count, work->unit);
			continue;
		}
		kwhy_text_context_linef(context, "  ", "%s %s: %s each, %s %s a joule", count, work->unit,
			interval_of(context->totals, work->count, each),
			kwhy_quantity_number(per, work->count / energy_j), work->unit);
	}
}

/*
 * Names the meter of the first device whose energy is known; the section on the method names the meters of
 * all devices.
 */
static const char *meter_of(const struct kwhy_ledger *ledger)
{
	for (size_t d = 0; d < ledger->device_count; d++)
		if (ledger->devices[d].energy.known && ledger->devices[d].energy.source)
			return ledger->devices[d].energy.source;
	return "a meter";
}

/*
 * Describes how long devices were metered, without time of kwhy probe: the longest window, "10.0 s", or
 * "windows of 4.00 s to 10.0 s" if they differ. Returns `out`.
 */
static const char *windows_of(const struct kwhy_totals *totals, char out[2 * KWHY_QUANTITY_BYTES + 16])
{
	char least[KWHY_QUANTITY_BYTES], longest[KWHY_QUANTITY_BYTES];

	kwhy_quantity_time(longest, totals->window_ns);
	if (!totals->modelled && kwhy_totals_windows_differ(totals))
		snprintf(out, 2 * KWHY_QUANTITY_BYTES + 16, "windows of %s to %s",
			kwhy_quantity_time(least, totals->least_window_ns), longest);
	else
		snprintf(out, 2 * KWHY_QUANTITY_BYTES + 16, "%s", longest);
	return out;
}

/*
 * Returns " of 10.0 s recorded", the longest recorded time of a device, if no activity was recorded and less
 * than 99 % of that time was metered; otherwise "".
 */
static const char *recorded_of(const struct kwhy_text_context *context, char out[KWHY_QUANTITY_BYTES + 16])
{
	const struct kwhy_ledger *ledger = context->report->ledger;
	char recorded[KWHY_QUANTITY_BYTES];
	int64_t longest_ns = 0;

	for (size_t d = 0; d < ledger->device_count; d++) {
		const struct kwhy_coverage_sum *sum = &ledger->devices[d].coverage;

		if (ledger->devices[d].energy.known && sum->end_ns - sum->start_ns > longest_ns)
			longest_ns = sum->end_ns - sum->start_ns;
	}
	*out = '\0';
	if (!context->totals->active_count && (double)context->totals->window_ns < 0.99 * (double)longest_ns)
		snprintf(out, KWHY_QUANTITY_BYTES + 16, " of %s recorded",
			kwhy_quantity_time(recorded, longest_ns));
	return out;
}

/*
 * Returns " on 2 of 8 devices" if the energy of some active device is unknown, " on 8 devices" if several
 * were active, otherwise "".
 */
static const char *devices_of(const struct kwhy_totals *totals, char out[64])
{
	*out = '\0';
	if (totals->known_count < totals->active_count)
		snprintf(out, 64, " on %zu of %zu devices", totals->known_count, totals->active_count);
	else if (totals->active_count > 1)
		snprintf(out, 64, " on %zu devices", totals->known_count);
	return out;
}

/*
 * Writes energy, time and mean power of the run. The energy of the run differs from the sum over the ledger's
 * accounts: it has an estimate for the unmetered part of the run, and lacks what was metered before and after
 * the run.
 */
static void write_run(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	char energy[INTERVAL_BYTES], time[KWHY_QUANTITY_BYTES], power[KWHY_QUANTITY_BYTES], devices[64];
	struct kwhy_text line = {0};

	kwhy_text_addf(&line, "%s in %s%s, %s on average (%s)", interval_of(totals, 1, energy),
		kwhy_quantity_time(time, llround(totals->run_s * 1e9)), devices_of(totals, devices),
		kwhy_quantity_si(power, kwhy_run_power_w(totals->run_nj, totals->run_s * 1e9), "W", 3),
		meter_of(context->report->ledger));
	kwhy_text_context_linef(context, "  ", "%s", line.failed ? "" : line.data);
	context->out->failed |= line.failed;
	kwhy_text_done(&line);
}

static void write_metered(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	char energy[KWHY_QUANTITY_BYTES], power[KWHY_QUANTITY_BYTES];
	char windows[2 * KWHY_QUANTITY_BYTES + 16], recorded[KWHY_QUANTITY_BYTES + 16], devices[64];

	kwhy_text_context_linef(context, "  ", "%s in %s%s%s, %s on average (%s)",
		kwhy_quantity_energy(energy, totals->energy_nj), windows_of(totals, windows),
		recorded_of(context, recorded), devices_of(totals, devices),
		kwhy_quantity_si(power, totals->power_w, "W", 3),
		totals->modelled ? "modelled, not metered" : meter_of(context->report->ledger));
}

/* Writes the energy of the run or, if that is unknown or modelled, all metered or modelled energy. */
static void write_energy(const struct kwhy_text_context *context)
{
	if (kwhy_totals_shows_run(context->totals))
		write_run(context);
	else
		write_metered(context);
}

/*
 * Writes the share of time in which devices were busy, and the energy that they drew while idle within the
 * run, with its share of the metered energy of the run. That metered energy is stated, too, unless its first
 * three digits are those of the total at the top.
 */
static void write_busy_energy(const struct kwhy_text_context *context, const char *subject, const char *busy)
{
	const struct kwhy_totals *totals = context->totals;
	const double metered_nj = (double)totals->run_metered_nj;
	char idle[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES], metered[KWHY_QUANTITY_BYTES];

	kwhy_quantity_energy(idle, totals->run_idle_nj);
	kwhy_quantity_percent(share, (double)totals->run_idle_nj / metered_nj);
	if (kwhy_totals_look_equal(metered_nj, kwhy_totals_shown_nj(totals)))
		kwhy_text_context_linef(context, "  ", "%s busy %s of the time and drew %s (%s) while idle.",
			subject, busy, idle, share);
	else
		kwhy_text_context_linef(context, "  ",
			"%s busy %s of the time and drew %s while idle, %s of the %s %s%s.", subject, busy,
			idle, share, kwhy_quantity_energy(metered, totals->run_metered_nj),
			totals->modelled ? "modelled" : "metered",
			totals->run_unrecorded_ns > 0 ? " then" : "");
}

/*
 * Describes the time that is 100 % for the busy share: "300 ms" for one device, "2 x 300 ms" if the mean over
 * devices is within 1 % of the longest run, else "580 ms, the sum of their runs". Returns `out`.
 */
static const char *spans_of(const struct kwhy_totals *totals, char out[KWHY_QUANTITY_BYTES + 40])
{
	const double mean_s = (double)totals->span_ns * 1e-9 / (double)totals->active_count;
	char span[KWHY_QUANTITY_BYTES];

	if (totals->active_count == 1)
		snprintf(out, KWHY_QUANTITY_BYTES + 40, "%s", kwhy_quantity_time(span, totals->span_ns));
	else if (mean_s >= 0.99 * totals->run_s)
		snprintf(out, KWHY_QUANTITY_BYTES + 40, "%zu x %s", totals->active_count,
			kwhy_quantity_time(span, llround(mean_s * 1e9)));
	else
		snprintf(out, KWHY_QUANTITY_BYTES + 40, "%s, the sum of their runs",
			kwhy_quantity_time(span, totals->span_ns));
	return out;
}

static void write_probing(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	char time[KWHY_QUANTITY_BYTES], energy[KWHY_QUANTITY_BYTES];

	if (totals->probing_ns <= 0)
		return;
	kwhy_quantity_time(time, totals->probing_ns);
	if (totals->energy_nj == KWHY_UNKNOWN_NJ)
		kwhy_text_context_linef(
			context, "  ", "kwhy probe took another %s, which no figure here includes.", time);
	else
		kwhy_text_context_linef(context, "  ",
			"kwhy probe took another %s in %s, which no figure here includes.",
			kwhy_quantity_energy(energy, totals->probing_nj), time);
}

static void write_counting(const struct kwhy_text_context *context)
{
	char energy[KWHY_QUANTITY_BYTES];

	if (context->totals->counting_nj > 0)
		kwhy_text_context_linef(context, "  ",
			"Sampling performance counters took another %s, which no figure here includes.",
			kwhy_quantity_energy(energy, context->totals->counting_nj));
}

/* Whether the recording has a note on why it has no activities, which the part "Not known" shows. */
static bool has_absence_note(const struct kwhy_recording *recording)
{
	for (size_t i = 0; i < recording->note_count; i++)
		if (strcmp(recording->notes[i].id, "activity-not-recorded") == 0)
			return true;
	return false;
}

static void write_busy(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	char spans[KWHY_QUANTITY_BYTES + 40], busy[KWHY_QUANTITY_BYTES], subject[64];
	double ratio = totals->span_ns > 0 ? (double)totals->busy_ns / (double)totals->span_ns : NAN;

	if (!totals->active_count) {
		if (!has_absence_note(context->report->recording))
			kwhy_text_context_linef(context, "  ", "No activity of a device was recorded.");
		return;
	}
	kwhy_quantity_percent(busy, ratio);
	snprintf(subject, sizeof(subject), "%s %s",
		totals->run_unrecorded_ns > 0 ? "While recorded, the" : "The",
		totals->active_count > 1 ? "devices were" : "device was");
	if (totals->run_metered_nj == KWHY_UNKNOWN_NJ || totals->run_idle_nj == KWHY_UNKNOWN_NJ ||
		totals->run_metered_nj <= 0)
		kwhy_text_context_linef(
			context, "  ", "%s busy %s of %s.", subject, busy, spans_of(totals, spans));
	else
		write_busy_energy(context, subject, busy);
}

void kwhy_section_cost(const struct kwhy_text_context *context)
{
	const bool has_energy = context->totals->energy_nj != KWHY_UNKNOWN_NJ;

	write_subject(context);
	if (context->report->recording->lost.truncated)
		kwhy_text_context_linef(context, "  ",
			"The recording ends early: all figures are of the part that could be read.");
	if (has_energy)
		write_energy(context);
	else
		kwhy_text_context_linef(
			context, "  ", "time only: %s", kwhy_totals_no_energy(context->report->recording));
	write_busy(context);
	write_work(context);
	if (has_energy)
		(isnan(kwhy_totals_paid_nj(context->totals)) ? write_no_price : write_price)(context);
	write_probing(context);
	write_counting(context);
}
