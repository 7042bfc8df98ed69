/* SPDX-License-Identifier: Apache-2.0 */
#include "report/transfers/columns.h"

#include "base/quantity.h"
#include "report/transfers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = KWHY_IN_TEXT, JSON = KWHY_IN_JSON, BOTH = TEXT | JSON, STRETCH_COLUMNS = 22 };

const char *kwhy_transfer_clock_title(enum kwhy_transfer_clock clock)
{
	static const char *const titles[KWHY_TRANSFER_CLOCK_COUNT] = {"row", "alone", "host"};

	return titles[clock];
}

#define DIRECTION(type) KWHY_AT(type, direction), .name = kwhy_transfer_direction_name
#define CLOCK(type) KWHY_AT(type, clock), .name = kwhy_transfer_clock_name

static struct kwhy_value rate(const struct kwhy_column *column, const void *point)
{
	(void)column;
	return kwhy_value_real(kwhy_transfer_rate(point));
}

#define POINT(member) KWHY_AT(struct kwhy_transfer_point, member)

static const struct kwhy_column points[] = {
	{"strategy", NULL, KWHY_UNIT_WORDS, JSON, POINT(strategy)},
	{"direction", NULL, KWHY_UNIT_WORDS, JSON, DIRECTION(struct kwhy_transfer_point)},
	{"clock", NULL, KWHY_UNIT_WORDS, JSON, CLOCK(struct kwhy_transfer_point)},
	{"bytes", NULL, KWHY_UNIT_SIZE, JSON, POINT(bytes)},
	{"pieces", NULL, KWHY_UNIT_ONE, JSON, POINT(pieces)},
	{"samples", NULL, KWHY_UNIT_ONE, JSON, POINT(summary.count)},
	{"median_s", NULL, KWHY_UNIT_S, JSON, POINT(summary.median_s)},
	{"low_s", NULL, KWHY_UNIT_S, JSON, POINT(summary.low_s)},
	{"high_s", NULL, KWHY_UNIT_S, JSON, POINT(summary.high_s)},
	{"least_s", NULL, KWHY_UNIT_S, JSON, POINT(summary.least_s)},
	{"p5_s", NULL, KWHY_UNIT_S, JSON, POINT(summary.p5_s)},
	{"p95_s", NULL, KWHY_UNIT_S, JSON, POINT(summary.p95_s)},
	{"bytes_per_s", NULL, KWHY_UNIT_B_PER_S, JSON, .value = rate},
	{"link_bytes", NULL, KWHY_UNIT_SIZE, JSON, POINT(link_bytes)},
	{"verified", NULL, KWHY_UNIT_WORDS, JSON, POINT(verified)},
	{"capped", NULL, KWHY_UNIT_WORDS, JSON, POINT(capped)},
	{"temperature_c", NULL, KWHY_UNIT_C, JSON, POINT(conditions.temperature_c)},
	{"sm_clock_hz", NULL, KWHY_UNIT_HZ, JSON, POINT(conditions.clock_hz)},
	{"memory_clock_hz", NULL, KWHY_UNIT_HZ, JSON, POINT(conditions.memory_clock_hz)},
	{"power_w", NULL, KWHY_UNIT_W, JSON, POINT(conditions.power_w)},
};
const struct kwhy_columns kwhy_transfer_point_columns = {KWHY_COLUMNS(points)};

struct kwhy_transfer_energy_row kwhy_transfer_energy_row_of(const struct kwhy_transfers *transfers, size_t i)
{
	const struct kwhy_transfer_energy *energy = &transfers->energies[i];
	struct kwhy_transfer_energy_row row = {
		*energy, (double)energy->bytes * (energy->direction == KWHY_TRANSFER_BOTH ? 2 : 1), NAN};

	for (size_t k = 0; k < transfers->energy_count; k++)
		if (transfers->energies[k].bytes == energy->bytes &&
			transfers->energies[k].pieces == energy->pieces &&
			transfers->energies[k].direction == energy->direction)
			row.best_j = fmin(row.best_j, transfers->energies[k].gross_j);
	return row;
}

static const char *show_strategy(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *data)
{
	const struct kwhy_transfer_energy_row *row = data;

	snprintf(out, KWHY_SHOWN_BYTES, "%s %s", value->text,
		kwhy_transfer_direction_name(row->energy.direction));
	return out;
}

/*
 * Shows a value in joules per byte with the half-width of its interval [low, high] in percent: "2.56 nJ ±1.0
 * %". If the interval contains 0, shows its upper end instead, "< 200 pJ"; if all of it is below 0, "none
 * seen". Returns NULL if the value is unknown.
 */
static const char *show_spread(char out[KWHY_SHOWN_BYTES], double value, double low, double high)
{
	char number[KWHY_QUANTITY_BYTES];

	if (!isfinite(value))
		return NULL;
	if (high <= 0)
		return "none seen";
	if (low <= 0 && isfinite(high))
		snprintf(out, KWHY_SHOWN_BYTES, "< %s", kwhy_quantity_si(number, high, "J", 2));
	else if (isfinite(low) && isfinite(high))
		snprintf(out, KWHY_SHOWN_BYTES, "%s \xc2\xb1%.1f %%", kwhy_quantity_si(number, value, "J", 3),
			50 * (high - low) / fabs(value));
	else
		kwhy_quantity_si(out, value, "J", 3);
	return out;
}

static const char *show_gross(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *data)
{
	const struct kwhy_transfer_energy_row *row = data;
	double bytes = row->moved_bytes;

	return show_spread(
		out, value->real / bytes, row->energy.gross_low_j / bytes, row->energy.gross_high_j / bytes);
}

static const char *show_net(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *data)
{
	const struct kwhy_transfer_energy_row *row = data;
	double bytes = row->moved_bytes;

	return show_spread(
		out, value->real / bytes, row->energy.net_low_j / bytes, row->energy.net_high_j / bytes);
}

static const char *show_host(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	return show_spread(
		out, value->real / ((const struct kwhy_transfer_energy_row *)row)->moved_bytes, NAN, NAN);
}

static const char *show_of_best(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	if (value->kind == KWHY_VALUE_UNKNOWN)
		return "";
	snprintf(out, KWHY_SHOWN_BYTES, "%.2fx",
		value->real / ((const struct kwhy_transfer_energy_row *)row)->best_j);
	return out;
}

#define ENERGY(member) KWHY_AT(struct kwhy_transfer_energy_row, energy.member)

static const struct kwhy_column energies[] = {
	{"strategy", "", KWHY_UNIT_WORDS, BOTH, ENERGY(strategy), .show = show_strategy},
	{"direction", NULL, KWHY_UNIT_WORDS, JSON, ENERGY(direction), .name = kwhy_transfer_direction_name},
	{"bytes", "size", KWHY_UNIT_SIZE, BOTH, ENERGY(bytes)},
	{"pieces", NULL, KWHY_UNIT_ONE, JSON, ENERGY(pieces)},
	{"transfers", NULL, KWHY_UNIT_ONE, JSON, ENERGY(transfers)},
	{"seconds", NULL, KWHY_UNIT_S, JSON, ENERGY(seconds)},
	{"gross_j", "a byte", KWHY_UNIT_J, BOTH, ENERGY(gross_j), .show = show_gross},
	{"gross_low_j", NULL, KWHY_UNIT_J, JSON, ENERGY(gross_low_j)},
	{"gross_high_j", NULL, KWHY_UNIT_J, JSON, ENERGY(gross_high_j)},
	{"net_j", "above idle", KWHY_UNIT_J, BOTH, ENERGY(net_j), .show = show_net},
	{"net_low_j", NULL, KWHY_UNIT_J, JSON, ENERGY(net_low_j)},
	{"net_high_j", NULL, KWHY_UNIT_J, JSON, ENERGY(net_high_j)},
	{"host_j", "host", KWHY_UNIT_J, BOTH, ENERGY(host_j), .show = show_host},
	{"host_low_j", NULL, KWHY_UNIT_J, JSON, ENERGY(host_low_j)},
	{"host_high_j", NULL, KWHY_UNIT_J, JSON, ENERGY(host_high_j)},
	{NULL, "of best", KWHY_UNIT_RATIO, TEXT, ENERGY(gross_j), .show = show_of_best},
};
const struct kwhy_columns kwhy_transfer_energy_columns = {KWHY_COLUMNS(energies)};

static struct kwhy_value curve_clock(const struct kwhy_column *column, const void *row)
{
	const struct kwhy_transfer_curve *curve = row;

	(void)column;
	return kwhy_value_text(curve->is_energy ? "energy" : kwhy_transfer_clock_name(curve->clock));
}

static const char *show_curve(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_transfer_curve *curve = row;

	snprintf(out, KWHY_SHOWN_BYTES, "%s %s, %s", value->text,
		kwhy_transfer_direction_name(curve->direction),
		curve->is_energy ? "joules" : kwhy_transfer_clock_title(curve->clock));
	return out;
}

/* Shows the constant term of the fit in a curve's first segment (smallest sizes): a latency, or joules. */
static const char *show_begin(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_transfer_curve *curve = row;

	(void)value;
	return kwhy_quantity_si(out, curve->segments[0].alpha_s, curve->is_energy ? "J" : "s", 3);
}

/*
 * Shows the rate of a curve's last segment (largest sizes) or, for a curve of energies, the joules per byte.
 */
static const char *show_end(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_transfer_curve *curve = row;
	double slope = curve->segments[curve->segment_count - 1].beta_s_per_byte;

	(void)value;
	return curve->is_energy ? kwhy_quantity_si(out, slope, "J/B", 3)
				: kwhy_quantity_si(out, 1 / slope, "B/s", 3);
}

#define CURVE(member) KWHY_AT(struct kwhy_transfer_curve, member)

static const struct kwhy_column curves[] = {
	{"strategy", "", KWHY_UNIT_WORDS, BOTH, CURVE(strategy), .show = show_curve},
	{"direction", NULL, KWHY_UNIT_WORDS, JSON, DIRECTION(struct kwhy_transfer_curve)},
	{"clock", NULL, KWHY_UNIT_WORDS, JSON, .value = curve_clock},
	{NULL, "begins at", KWHY_UNIT_S, TEXT, CURVE(segment_count), .show = show_begin},
	{NULL, "ends at", KWHY_UNIT_B_PER_S, TEXT, CURVE(segment_count), .show = show_end},
	{NULL, "pieces", KWHY_UNIT_ONE, TEXT, CURVE(segment_count)},
	{"points", NULL, KWHY_UNIT_ONE, JSON, CURVE(point_count)},
	{"residual_ratio", "left over", KWHY_UNIT_RATIO, BOTH, CURVE(residual_ratio)},
	{"held_out_ratio", "held out", KWHY_UNIT_RATIO, BOTH, CURVE(held_out_ratio)},
	{"held_out_worst_ratio", NULL, KWHY_UNIT_RATIO, JSON, CURVE(held_out_worst_ratio)},
};
const struct kwhy_columns kwhy_transfer_curve_columns = {KWHY_COLUMNS(curves)};

static const char *show_times(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_transfer_choice *choice = row;

	if (!choice->second)
		return "";
	snprintf(out, KWHY_SHOWN_BYTES, choice->is_sure ? "%.2f" : "%.2f (not sure)",
		value->real / choice->median_s);
	return out;
}

#define CHOICE(member) KWHY_AT(struct kwhy_transfer_choice, member)

static const struct kwhy_column choices[] = {
	{"direction", "", KWHY_UNIT_WORDS, BOTH, DIRECTION(struct kwhy_transfer_choice)},
	{"piece_bytes", NULL, KWHY_UNIT_SIZE, JSON, CHOICE(piece_bytes)},
	{"pieces", "pieces", KWHY_UNIT_ONE, BOTH, CHOICE(pieces)},
	{NULL, "of", KWHY_UNIT_SIZE, TEXT, CHOICE(piece_bytes)},
	{"strategy", "fastest", KWHY_UNIT_WORDS, BOTH, CHOICE(strategy)},
	{"median_s", "time", KWHY_UNIT_S, BOTH, CHOICE(median_s)},
	{"second", "next", KWHY_UNIT_NAME, BOTH, CHOICE(second), .show = kwhy_show_known},
	{"second_s", "times as long", KWHY_UNIT_S, BOTH, CHOICE(second_s), .show = show_times},
	{"sure", NULL, KWHY_UNIT_WORDS, JSON, CHOICE(is_sure)},
};
const struct kwhy_columns kwhy_transfer_choice_columns = {KWHY_COLUMNS(choices)};

/*
 * Writes the first `shown` ranges of sizes in which the method baseline->better is faster than
 * baseline->than: "64 KiB-1 GiB"; "nowhere" for none; ", more" if there are further ranges.
 */
static void write_stretches(
	const struct kwhy_transfer_baseline *baseline, size_t shown, char out[KWHY_SHOWN_BYTES])
{
	char from[KWHY_TRANSFER_SIZE_BYTES], to[KWHY_TRANSFER_SIZE_BYTES];
	size_t length = 0;

	snprintf(out, KWHY_SHOWN_BYTES, "nowhere");
	for (size_t i = 0; i < shown; i++) {
		const struct kwhy_transfer_stretch *stretch = &baseline->stretches[i];
		int written = snprintf(out + length, KWHY_SHOWN_BYTES - length, "%s%s%s%s", i ? ", " : "",
			kwhy_transfer_size_text(from, stretch->from_bytes),
			stretch->to_bytes > stretch->from_bytes ? "-" : "",
			stretch->to_bytes > stretch->from_bytes
				? kwhy_transfer_size_text(to, stretch->to_bytes)
				: "");

		length += written > 0 ? (size_t)written : 0;
	}
	if (baseline->stretch_count > shown)
		snprintf(out + length, KWHY_SHOWN_BYTES - length, ", more");
}

/* Shows the first two ranges of sizes if they fit into STRETCH_COLUMNS columns, else the first. */
static const char *show_stretches(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_transfer_baseline *baseline = row;

	(void)value;
	for (size_t shown = baseline->stretch_count < 2 ? baseline->stretch_count : 2;; shown--) {
		write_stretches(baseline, shown, out);
		if (shown < 2 || strlen(out) <= STRETCH_COLUMNS)
			return out;
	}
}

static const char *show_best(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	(void)row;
	snprintf(out, KWHY_SHOWN_BYTES, "%.2fx", value->real);
	return out;
}

#define BASELINE(member) KWHY_AT(struct kwhy_transfer_baseline, member)

static const struct kwhy_column baselines[] = {
	{"question", "", KWHY_UNIT_NAME, BOTH, BASELINE(question)},
	{"better", NULL, KWHY_UNIT_WORDS, JSON, BASELINE(better)},
	{"than", NULL, KWHY_UNIT_WORDS, JSON, BASELINE(than)},
	{"direction", NULL, KWHY_UNIT_WORDS, JSON, DIRECTION(struct kwhy_transfer_baseline)},
	{"clock", NULL, KWHY_UNIT_WORDS, JSON, CLOCK(struct kwhy_transfer_baseline)},
	{"pieces", "pieces", KWHY_UNIT_ONE, BOTH, BASELINE(pieces)},
	{NULL, "", KWHY_UNIT_WORDS, TEXT, DIRECTION(struct kwhy_transfer_baseline)},
	{NULL, "surely faster", KWHY_UNIT_WORDS, TEXT, BASELINE(stretch_count), .show = show_stretches},
	{"sizes_compared", NULL, KWHY_UNIT_ONE, JSON, BASELINE(sizes_compared)},
	{"best_ratio", "at best", KWHY_UNIT_RATIO, BOTH, BASELINE(best_ratio), .show = show_best},
	{"best_bytes", NULL, KWHY_UNIT_SIZE, JSON, BASELINE(best_bytes)},
};
const struct kwhy_columns kwhy_transfer_baseline_columns = {KWHY_COLUMNS(baselines)};

static const char *show_pays(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	(void)row;
	if (value->kind == KWHY_VALUE_UNKNOWN)
		return "never";
	snprintf(out, KWHY_SHOWN_BYTES, "%.1f transfers", value->real);
	return out;
}

#define PINNING(member) KWHY_AT(struct kwhy_transfer_pinning, member)

static const struct kwhy_column pinnings[] = {
	{"direction", "", KWHY_UNIT_WORDS, BOTH, DIRECTION(struct kwhy_transfer_pinning)},
	{"bytes", "size", KWHY_UNIT_SIZE, BOTH, PINNING(bytes)},
	{"cost_s", "page-locking", KWHY_UNIT_S, BOTH, PINNING(cost_s)},
	{"pageable_s", "pageable", KWHY_UNIT_S, BOTH, PINNING(pageable_s)},
	{"pinned_s", "pinned", KWHY_UNIT_S, BOTH, PINNING(pinned_s)},
	{"transfers", "pays after", KWHY_UNIT_ONE, BOTH, PINNING(transfers), .show = show_pays},
};
const struct kwhy_columns kwhy_transfer_pinning_columns = {KWHY_COLUMNS(pinnings)};

#define COMPRESSION(member) KWHY_AT(struct kwhy_transfer_compression, member)

static const struct kwhy_column compression[] = {
	{"bytes", NULL, KWHY_UNIT_SIZE, JSON, COMPRESSION(bytes)},
	{"ratio", NULL, KWHY_UNIT_RATIO, JSON, COMPRESSION(ratio)},
	{"link_bytes_per_s", NULL, KWHY_UNIT_B_PER_S, JSON, COMPRESSION(link_bytes_per_s)},
	{"expand_bytes_per_s", NULL, KWHY_UNIT_B_PER_S, JSON, COMPRESSION(expand_bytes_per_s)},
	{"compress_bytes_per_s", NULL, KWHY_UNIT_B_PER_S, JSON, COMPRESSION(compress_bytes_per_s)},
	{"serial_ratio", NULL, KWHY_UNIT_RATIO, JSON, COMPRESSION(serial_ratio)},
	{"overlapped_ratio", NULL, KWHY_UNIT_RATIO, JSON, COMPRESSION(overlapped_ratio)},
};
const struct kwhy_columns kwhy_transfer_compression_columns = {KWHY_COLUMNS(compression)};

static const struct kwhy_column absences[] = {
	{"strategy", NULL, KWHY_UNIT_WORDS, JSON, KWHY_AT(struct kwhy_transfer_absence, strategy)},
	{"reason", NULL, KWHY_UNIT_WORDS, JSON, KWHY_AT(struct kwhy_transfer_absence, reason)},
};
const struct kwhy_columns kwhy_transfer_absence_columns = {KWHY_COLUMNS(absences)};
