/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "model/run_energy.h"
#include "report/shown_name.h"
#include "report/text_context.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Section at the start of the first screen: time and energy of the run. */

#define NJ_PER_KWH 3.6e15
#define NOTED_RATIO 0.01 /* share of the run's energy from which on the unmetered part is noted */
/* difference of both sides of an interval, over their sum, up to which one number is shown for both */
#define EVEN_RATIO 0.05

static void write_subject(const struct kwhy_text_context *context)
{
	const struct kwhy_recording *recording = context->report->recording;
	const char *bold = context->style->color ? "\033[1m" : "",
		   *end = context->style->color ? "\033[0m" : "";
	const char *path = recording->source_count ? recording->sources[0].path : "recording";
	const char *base = strrchr(path, '/');
	const char *device = recording->device_count ? recording->devices[0].name : NULL;
	struct kwhy_arena arena = {0};
	struct kwhy_text line = {0};
	char *clean;

	kwhy_text_addf(&line, "%s", base ? base + 1 : path);
	if (recording->source_count > 1)
		kwhy_text_addf(&line, " and %zu more", recording->source_count - 1);
	if (recording->device_count)
		kwhy_text_addf(&line, " on %s%s",
			context->totals->active_count == 1 || recording->device_count == 1 ? "" : "devices: ",
			device ? device : "an unnamed device");
	if (recording->device_count > 1)
		kwhy_text_addf(&line, " and %zu more", recording->device_count - 1);
	clean = line.failed ? NULL : kwhy_shown_clean(&arena, line.data);
	clean = clean ? kwhy_shown_cut(&arena, clean, context->style->columns) : NULL;
	kwhy_text_addf(context->out, "%s%s%s\n", bold, clean ? clean : "", end);
	context->out->failed |= !clean;
	kwhy_text_done(&line);
	kwhy_arena_done(&arena);
}

/* Writes "; 26.6 J of it unmetered" if part of the energy is unmetered. */
static const char *unmetered_of(const struct kwhy_totals *totals, char out[64])
{
	char energy[KWHY_QUANTITY_BYTES];

	*out = '\0';
	if (totals->unmetered_nj > 0 && isfinite(totals->run_nj))
		snprintf(out, 64, "; %s of it unmetered",
			kwhy_quantity_si(energy, totals->unmetered_nj * 1e-9, "J", 3));
	return out;
}

static void write_price(const struct kwhy_text_context *context)
{
	const struct kwhy_report *report = context->report;
	double kwh = kwhy_totals_paid_nj(context->totals) / NJ_PER_KWH;
	char energy[KWHY_QUANTITY_BYTES], cost[KWHY_QUANTITY_BYTES], carbon[KWHY_QUANTITY_BYTES], rest[64];
	const char *currency = report->currency ? report->currency : "";

	kwhy_quantity_plain(cost, kwh * report->price_per_kwh);
	kwhy_quantity_plain(carbon, kwh * report->intensity_g_per_kwh);
	kwhy_quantity_si(energy, kwh * 1000, "Wh", 3);
	unmetered_of(context->totals, rest);
	if (isfinite(report->price_per_kwh) && isfinite(report->intensity_g_per_kwh))
		kwhy_text_context_linef(context, "  ", "%s: %s%s%s and %s g CO2e (%g%s%s and %g g a kWh)%s",
			energy, cost, *currency ? " " : "", currency, carbon, report->price_per_kwh,
			*currency ? " " : "", currency, report->intensity_g_per_kwh, rest);
	else if (isfinite(report->price_per_kwh))
		kwhy_text_context_linef(context, "  ", "%s: %s%s%s at %g a kWh%s", energy, cost,
			*currency ? " " : "", currency, report->price_per_kwh, rest);
	else if (isfinite(report->intensity_g_per_kwh))
		kwhy_text_context_linef(context, "  ", "%s: %s g CO2e at %g g a kWh%s", energy, carbon,
			report->intensity_g_per_kwh, rest);
	else if (kwh >= 0.01)
		kwhy_text_context_linef(context, "  ", "%s", energy);
	if (report->place)
		kwhy_text_context_linef(
			context, "  ", "grams a kWh: %s, mean of %d", report->place, report->carbon_year);
}

/* Explains why there is no price: with assumed powers only the energy of recorded activities is known. */
static void write_no_price(const struct kwhy_text_context *context)
{
	if (isfinite(context->report->price_per_kwh) || isfinite(context->report->intensity_g_per_kwh))
		kwhy_text_context_linef(
			context, "  ", "part of the run was not recorded: its price is not known");
}

enum { INTERVAL_BYTES = 3 * KWHY_QUANTITY_BYTES + 16 };

/* Removes the unit of `low` if `high` has the same one: "3.11 kJ" before "3.46 kJ" becomes "3.11". */
static const char *without_unit_of(char *low, const char *high)
{
	char *unit = strchr(low, ' ');
	const char *other = strchr(high, ' ');

	if (unit && other && strcmp(unit, other) == 0)
		*unit = '\0';
	return low;
}

/*
 * Writes the run's energy divided by `parts`, with its interval: "281 J ±780 mJ" or "3.13 kJ (3.11 to 3.46
 * kJ)".
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
		kwhy_text_context_linef(context, "  ", "%s %s: %s each, %s a joule", count, work->unit,
			interval_of(context->totals, work->count, each),
			kwhy_quantity_number(per, work->count / energy_j));
	}
}

/* Words for the meter of the first device with known energy. The section on the method names all meters. */
static const char *meter_of(const struct kwhy_ledger *ledger)
{
	for (size_t d = 0; d < ledger->device_count; d++)
		if (ledger->devices[d].energy.known && ledger->devices[d].energy.source)
			return ledger->devices[d].energy.source;
	return "a meter";
}

/*
 * Describes the lengths of the metered windows: "10.0 s", "windows of 4.00 s to 10.0 s". The result may lie
 * in `out`.
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
 * Describes the recorded time, if no activity gives the run's duration and only part of the recorded time was
 * metered.
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

/* Sum of the mean powers of the devices with activities, each over its own run, W. */
static double run_power_w(const struct kwhy_ledger *ledger)
{
	double sum_w = 0;

	for (size_t d = 0; d < ledger->device_count; d++) {
		const struct kwhy_device_ledger *device_ledger = &ledger->devices[d];

		if (kwhy_device_was_active(&device_ledger->time) && kwhy_run_ns(&device_ledger->time) > 0)
			sum_w += kwhy_run_energy_of(device_ledger).run_nj /
				(double)kwhy_run_ns(&device_ledger->time);
	}
	return sum_w;
}

/* Words for the number of devices, unless it is 1. */
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
 * Writes the energy of the run. It differs from the ledger's energy, which includes what was metered before
 * and after the run and lacks the unmetered part.
 */
static void write_run(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	char energy[INTERVAL_BYTES], time[KWHY_QUANTITY_BYTES], power[KWHY_QUANTITY_BYTES], devices[64];
	struct kwhy_text line = {0};

	kwhy_text_addf(&line, "%s in %s%s, %s on average (%s)", interval_of(totals, 1, energy),
		kwhy_quantity_time(time, llround(totals->run_s * 1e9)), devices_of(totals, devices),
		kwhy_quantity_si(power, run_power_w(context->report->ledger), "W", 3),
		meter_of(context->report->ledger));
	if (totals->unmetered_nj >= NOTED_RATIO * totals->run_nj) {
		kwhy_text_add(&line, "; unmetered ");
		kwhy_text_context_add_unmetered(&line, context);
		kwhy_text_add(&line, " of it");
	}
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

/*
 * Writes the total energy of the run or, where that is unknown, all metered energy. All figures of the first
 * screen except the accounts refer to this total.
 */
static void write_energy(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;

	if (totals->active_count && !totals->modelled && isfinite(totals->run_nj))
		write_run(context);
	else
		write_metered(context);
}

/* Notes the number of accounts without an assumed power, which are in no sum. */
static void write_missing(const struct kwhy_text_context *context)
{
	size_t missing = 0;

	for (size_t i = 0; i < context->totals->row_count; i++)
		missing += context->totals->rows[i].gross_nj == KWHY_UNKNOWN_NJ;
	if (missing)
		kwhy_text_context_linef(context, "  ",
			"%zu of %zu accounts have no known power and are missing in it", missing,
			context->totals->row_count);
}

/*
 * Writes the energy while nothing ran: first between first and last work, to which the advice refers, then
 * before and after.
 */
static void write_busy_energy(const struct kwhy_text_context *context, const char *busy, const char *span)
{
	const struct kwhy_totals *totals = context->totals;
	const int64_t beyond_nj = kwhy_totals_outside_nj(totals), within_nj = totals->idle_nj - beyond_nj;
	const double ratio = (double)within_nj / (double)(totals->energy_nj - beyond_nj);
	char idle[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES], beyond[KWHY_QUANTITY_BYTES];
	struct kwhy_text line = {0};

	kwhy_text_addf(&line, "device busy %s of %s%s; it idled for %s (%s%s)", busy, span,
		totals->active_count > 1 ? " (sum over devices)" : "", kwhy_quantity_energy(idle, within_nj),
		kwhy_quantity_percent(share, ratio), totals->unmetered_nj > 0 ? " metered" : "");
	if (beyond_nj > 0)
		kwhy_text_addf(
			&line, ", and for %s before and after", kwhy_quantity_energy(beyond, beyond_nj));
	kwhy_text_context_linef(context, "  ", "%s", line.failed ? "" : line.data);
	context->out->failed |= line.failed;
	kwhy_text_done(&line);
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
			context, "  ", "kwhy probe took further %s, which are in no figure here", time);
	else
		kwhy_text_context_linef(context, "  ",
			"kwhy probe took further %s in %s, which are in no figure here",
			kwhy_quantity_energy(energy, totals->probing_nj), time);
}

static void write_busy(const struct kwhy_text_context *context)
{
	const struct kwhy_totals *totals = context->totals;
	char span[KWHY_QUANTITY_BYTES], busy[KWHY_QUANTITY_BYTES], share[KWHY_QUANTITY_BYTES];
	double ratio = totals->span_ns > 0 ? (double)totals->busy_ns / (double)totals->span_ns : NAN;

	kwhy_quantity_percent(busy, ratio);
	kwhy_quantity_time(span, totals->span_ns);
	if (!totals->active_count) {
		kwhy_text_context_linef(context, "  ", "no activity of a device was recorded");
		return;
	}
	if (totals->energy_nj == KWHY_UNKNOWN_NJ || totals->idle_nj == KWHY_UNKNOWN_NJ ||
		totals->energy_nj <= 0)
		kwhy_text_context_linef(context, "  ", "device busy %s of %s%s", busy, span,
			totals->active_count > 1 ? " (sum over devices)" : "");
	else if (totals->unrecorded_nj > 0)
		kwhy_text_context_linef(context, "  ",
			"where recorded, device busy %s of the time, and %s of the energy went while it "
			"idled",
			busy,
			kwhy_quantity_percent(share,
				(double)totals->idle_nj /
					(double)(totals->energy_nj - totals->unrecorded_nj)));
	else
		write_busy_energy(context, busy, span);
}

/*
 * Adds how well randomly chosen windows represent the whole run. Adds nothing if the windows were chosen by
 * the user.
 */
static void add_sampling(struct kwhy_text *line, const struct kwhy_coverage_sum *sum)
{
	if (sum->choice != KWHY_CHOICE_DUTY)
		return;
	if (isnan(sum->share_error_ratio))
		kwhy_text_add(line, ": too few to say how well they represent the whole run");
	else
		kwhy_text_addf(line, ": shares are within %.2g percentage points (90 %%)",
			100 * sum->share_error_ratio);
}

static double recorded_ratio(const struct kwhy_coverage_sum *sum)
{
	if (sum->choice == KWHY_CHOICE_DUTY)
		return (double)sum->drawn_ns / (double)(sum->select_end_ns - sum->select_start_ns);
	return (double)sum->known_ns / (double)(sum->end_ns - sum->start_ns);
}

/*
 * Writes which share of the run the windows of a device cover, and how well they represent the run. Writes
 * nothing for a device without work.
 */
static void write_windows(const struct kwhy_text_context *context, uint32_t device)
{
	const struct kwhy_recording *recording = context->report->recording;
	const struct kwhy_coverage_sum *sum = &context->report->ledger->devices[device].coverage;
	const size_t count = sum->choice == KWHY_CHOICE_DUTY ? sum->drawn_count : sum->window_count;
	char known[KWHY_QUANTITY_BYTES], label[KWHY_DEVICE_LABEL_BYTES];
	struct kwhy_text line = {0};

	if (!sum->is_in_windows ||
		(context->totals->active_count &&
			!context->report->ledger->devices[device].time.stream_count))
		return;
	if (context->totals->active_count > 1)
		kwhy_text_addf(&line, "%s: ", kwhy_device_label(label, &recording->devices[device]));
	kwhy_text_addf(&line, "%s of the time recorded, in %zu window%s",
		kwhy_quantity_percent(known, recorded_ratio(sum)), count, count == 1 ? "" : "s");
	for (size_t i = 0; i < recording->selection_count; i++)
		if (recording->selections[i].range)
			kwhy_text_addf(&line, " of ranges \"%s\"", recording->selections[i].range);
	add_sampling(&line, sum);
	kwhy_text_context_linef(context, "  ", "%s", line.failed ? "" : line.data);
	context->out->failed |= line.failed;
	kwhy_text_done(&line);
}

void kwhy_section_cost(const struct kwhy_text_context *context)
{
	write_subject(context);
	kwhy_text_context_heading(context, "What it cost", NULL);
	if (context->totals->energy_nj == KWHY_UNKNOWN_NJ)
		kwhy_text_context_linef(
			context, "  ", "time only: %s", kwhy_totals_no_energy(context->report->recording));
	else
		write_energy(context);
	if (context->totals->energy_nj != KWHY_UNKNOWN_NJ)
		write_missing(context);
	write_busy(context);
	write_probing(context);
	if (context->report->recording->lost.truncated)
		kwhy_text_add(context->out, "  the file ends early: what follows is missing\n");
	for (uint32_t d = 0; d < context->report->ledger->device_count; d++)
		write_windows(context, d);
	if (context->totals->energy_nj != KWHY_UNKNOWN_NJ)
		(isnan(kwhy_totals_paid_nj(context->totals)) ? write_no_price : write_price)(context);
	write_work(context);
}
