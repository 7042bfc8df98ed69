/* SPDX-License-Identifier: Apache-2.0 */
#include "ledger/parts.h"

#include <math.h>
#include <string.h>

/*
 * Largest plausible ratio of the least time of the work to the time measured. Peaks are measured to within a
 * few per cent; with a larger ratio, the amount of work or a peak is wrong.
 */
#define ABOVE_ALLOWED 1.02

struct known {
	const struct kwhy_profile *profile; /* NULL: no profile */
	double devices;			    /* number of devices with work */
	double run_s, busy_s; /* run_s: run of the device with the longest run; busy_s: busy time of the
				 device with the longest busy time */
	bool alike;   /* all devices with work have one name; a profile states the peaks of one kind of device
		       */
	bool is_part; /* for at least one device, only a time or a range that the user chose was recorded */
	bool is_whole;		       /* no device has unrecorded time */
	double arithmetic_s, memory_s; /* least time in s of the stated FLOP, and of the stated bytes of
					  device memory; NAN: not stated */
	const char *unknown_unit; /* unit of stated work whose peak is unknown; NULL: all peaks are known */
};

static bool is_same_kind(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

static void look_at_devices(
	const struct kwhy_ledger *ledger, const struct kwhy_recording *recording, struct known *known)
{
	const char *name = NULL;

	known->alike = known->is_whole = true;
	for (size_t d = 0; d < ledger->device_count; d++) {
		const struct kwhy_device_time *time = &ledger->devices[d].time;
		uint32_t choice = ledger->devices[d].coverage.choice;

		if (!kwhy_device_was_active(time))
			continue;
		known->is_whole &= choice == KWHY_CHOICE_ALL && !time->unrecorded_ns;
		known->is_part |= choice == KWHY_CHOICE_TIME || choice == KWHY_CHOICE_RANGE;
		known->alike &= known->devices == 0 || is_same_kind(name, recording->devices[d].name);
		name = recording->devices[d].name;
		known->devices++;
		known->run_s = fmax(known->run_s, (double)time->span_ns * 1e-9);
		known->busy_s = fmax(known->busy_s, (double)time->busy_ns * 1e-9);
	}
}

/*
 * Adds the least time of `count` units of work, divided among all devices, to *least_s; peak: units per
 * second of one device. FLOP of several precisions add their times: tensor cores work in one precision at a
 * time, and the power limit slows concurrent units down.
 */
static void add_work(struct known *known, const char *unit, double count, double peak, double *least_s)
{
	if (peak > 0)
		*least_s = (isnan(*least_s) ? 0 : *least_s) + count / (peak * known->devices);
	else if (!known->unknown_unit)
		known->unknown_unit = unit;
}

static enum kwhy_status note_unit(struct kwhy_ledger *ledger, const char *unit, struct kwhy_error *error)
{
	return kwhy_ledger_note(ledger, KWHY_NOTE_COMPLETENESS, "flop-without-precision", error,
		"The work '%.31s' names no precision, so its peak is unknown and it has no share of the "
		"roofline: name one as in --work flop_bf16=N (fp64, fp32, tf32, bf16, fp16 or fp8).",
		unit);
}

static enum kwhy_status look_at_work(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	struct known *known, struct kwhy_error *error)
{
	const struct kwhy_profile *profile = known->profile;
	const char *plain = NULL, *odd = NULL;

	for (size_t i = 0; i < recording->work_count; i++) {
		const struct kwhy_work *work = &recording->work[i];
		enum kwhy_precision precision;

		if (!(work->count > 0))
			continue;
		if (strcmp(work->unit, "bytes") == 0)
			add_work(known, work->unit, work->count, profile ? profile->peak_bytes_per_s : NAN,
				&known->memory_s);
		else if (kwhy_unit_precision(work->unit, &precision))
			add_work(known, work->unit, work->count,
				profile ? profile->peak_flop_per_s[precision] : NAN, &known->arithmetic_s);
		else if (strcmp(work->unit, "flop") == 0)
			plain = work->unit;
		else if (kwhy_unit_is_flop(work->unit))
			odd = work->unit;
	}
	/*
	 * If FLOP of some precision are stated, a count of "flop" is their sum and is ignored. If it is the
	 * only count of FLOP, a note says that its peak is unknown.
	 */
	if (plain && isnan(known->arithmetic_s) && !known->unknown_unit)
		odd = plain;
	return odd ? note_unit(ledger, odd, error) : KWHY_OK;
}

/*
 * Notes that the least time of the stated work exceeds the longest busy time of a device, or the run if there
 * is unrecorded time. No share of the roofline is then shown.
 */
static enum kwhy_status note_above(
	struct kwhy_ledger *ledger, const struct known *known, double least_s, struct kwhy_error *error)
{
	return kwhy_ledger_note(ledger, KWHY_NOTE_WARNING, "above-roofline", error,
		"The stated work takes at least %.4g s at the peaks of the machine profile, but %s %.4g s: "
		"its amount, its precision or the profile is wrong, so no share of the roofline is shown.",
		least_s, known->is_whole ? "no device was busy for more than" : "the run took only",
		known->is_whole ? known->busy_s : known->run_s);
}

static enum kwhy_status judge(struct kwhy_ledger *ledger, const struct known *known, struct kwhy_error *error)
{
	double least_s = fmax(known->arithmetic_s, known->memory_s), ratio = least_s / known->run_s;

	if (known->unknown_unit)
		return kwhy_ledger_note(ledger, KWHY_NOTE_COMPLETENESS, "no-peak", error,
			"No peak is known for work in '%.31s', so the share of the roofline is unknown: "
			"measure it with kwhy bench ops, and give --machine-profile the result.",
			known->unknown_unit);
	if (isnan(least_s) || !(known->run_s > 0))
		return KWHY_OK;
	if (known->is_part)
		return kwhy_ledger_note(ledger, KWHY_NOTE_COMPLETENESS, "part-of-run", error,
			"Only a chosen part of the run was recorded, but the stated work is that of the "
			"whole run, so the share of the roofline is unknown: record the whole run, or random "
			"windows (--duty).");
	if (!known->alike)
		return kwhy_ledger_note(ledger, KWHY_NOTE_COMPLETENESS, "devices-differ", error,
			"The devices are of several kinds, but a machine profile describes one kind, so the "
			"share of the roofline is unknown.");
	if (least_s > ABOVE_ALLOWED * (known->is_whole ? known->busy_s : known->run_s))
		return note_above(ledger, known, least_s, error);
	ledger->roofline = (struct kwhy_roofline_sum){known->arithmetic_s, known->memory_s, ratio};
	for (size_t d = 0; d < ledger->device_count; d++)
		if (kwhy_device_was_active(&ledger->devices[d].time))
			ledger->devices[d].time.roofline_ratio = ratio;
	return KWHY_OK;
}

enum kwhy_status kwhy_ledger_roofline(struct kwhy_ledger *ledger, const struct kwhy_recording *recording,
	const struct kwhy_ledger_options *options, struct kwhy_error *error)
{
	struct known known = {.profile = options->profile, .arithmetic_s = NAN, .memory_s = NAN};
	enum kwhy_status status = KWHY_OK;

	ledger->roofline = (struct kwhy_roofline_sum){NAN, NAN, NAN};
	look_at_devices(ledger, recording, &known);
	if (known.devices > 0)
		status = look_at_work(ledger, recording, &known, error);
	return status ? status : judge(ledger, &known, error);
}
