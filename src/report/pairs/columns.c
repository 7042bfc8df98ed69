/* SPDX-License-Identifier: Apache-2.0 */
#include "report/pairs/columns.h"

#include "base/quantity.h"

#include <math.h>
#include <stdio.h>

enum { TEXT = KWHY_IN_TEXT, JSON = KWHY_IN_JSON, BOTH = TEXT | JSON };

/* Shows a pair of GPUs, source before target: "0 > 1". */
static const char *show_pair(char out[KWHY_SHOWN_BYTES], uint32_t source, uint32_t target)
{
	snprintf(out, KWHY_SHOWN_BYTES, "%u > %u", source, target);
	return out;
}

/* Shows a figure with the half-width of its interval in percent: "2.56 µs ±1.2 %". */
static const char *show_interval(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const char *unit)
{
	double half = (value->interval.high - value->interval.low) / 2, middle = value->interval.value;
	char text[KWHY_QUANTITY_BYTES];

	if (!isfinite(middle))
		return NULL;
	kwhy_quantity_si(text, middle, unit, 3);
	if (isfinite(half) && middle > 0)
		snprintf(out, KWHY_SHOWN_BYTES, half < middle ? "%s ±%.2g %%" : "%s ±%.0f %%", text,
			100 * half / middle);
	else
		snprintf(out, KWHY_SHOWN_BYTES, "%s", text);
	return out;
}

static const char *show_seconds(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	(void)row;
	return show_interval(out, value, "s");
}

static const char *show_slope(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	(void)row;
	return show_interval(out, value, "s/B");
}

/*
 * Shows joules per byte. If the lower end of the interval is not above 0, only its upper end is shown, after
 * "<".
 */
static const char *show_joules(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	char text[KWHY_QUANTITY_BYTES];

	(void)row;
	if (!isfinite(value->interval.value) || !(value->interval.low <= 0))
		return show_interval(out, value, "J");
	snprintf(out, KWHY_SHOWN_BYTES, "< %s", kwhy_quantity_si(text, value->interval.high, "J", 3));
	return out;
}

#define LOGGP(member) KWHY_AT(struct kwhy_pair_loggp, member)

static const char *show_loggp_pair(
	char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_pair_loggp *loggp = row;

	(void)value;
	return show_pair(out, loggp->source, loggp->target);
}

static const struct kwhy_column loggps[] = {
	{NULL, "pair", KWHY_UNIT_WORDS, TEXT, LOGGP(source), .show = show_loggp_pair},
	{"src", NULL, KWHY_UNIT_ONE, JSON, LOGGP(source)},
	{"dst", NULL, KWHY_UNIT_ONE, JSON, LOGGP(target)},
	{"o_send_s", "o_send", KWHY_UNIT_S, BOTH, LOGGP(o_send), .show = show_seconds},
	{"o_recv_s", NULL, KWHY_UNIT_S, JSON, LOGGP(o_receive)},
	{"g_s", "g", KWHY_UNIT_S, BOTH, LOGGP(g), .show = show_seconds},
	{"G_s_per_byte", "G", KWHY_UNIT_S, BOTH, LOGGP(big), .show = show_slope},
	{"L_s", "L", KWHY_UNIT_S, BOTH, LOGGP(latency), .show = show_seconds},
};
const struct kwhy_columns kwhy_pair_loggp_columns = {KWHY_COLUMNS(loggps)};

static struct kwhy_pair_figure of_a_byte(const struct kwhy_pair_figure *figure, double bytes)
{
	return (struct kwhy_pair_figure){figure->value / bytes, figure->low / bytes, figure->high / bytes};
}

struct kwhy_pair_energy_row kwhy_pair_energy_row_of(const struct kwhy_pair_energy *energy)
{
	double bytes = (kwhy_pair_is_exchange(energy->engine) ? 2 : 1) * (double)energy->bytes;

	return (struct kwhy_pair_energy_row){*energy, kwhy_pair_energy_per_byte(energy, false),
		kwhy_pair_energy_per_byte(energy, true), of_a_byte(&energy->source_net, bytes),
		of_a_byte(&energy->target_net, bytes)};
}

static const char *show_energy_pair(
	char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_pair_energy *energy = &((const struct kwhy_pair_energy_row *)row)->energy;

	(void)value;
	return show_pair(out, energy->source, energy->target);
}

#define ENERGY(member) KWHY_AT(struct kwhy_pair_energy_row, member)

static const struct kwhy_column energies[] = {
	{"engine", "engine", KWHY_UNIT_WORDS, BOTH, ENERGY(energy.engine), .name = kwhy_pair_engine_name},
	{NULL, "pair", KWHY_UNIT_WORDS, TEXT, ENERGY(energy.source), .show = show_energy_pair},
	{"src", NULL, KWHY_UNIT_ONE, JSON, ENERGY(energy.source)},
	{"dst", NULL, KWHY_UNIT_ONE, JSON, ENERGY(energy.target)},
	{"size", "size", KWHY_UNIT_SIZE, BOTH, ENERGY(energy.bytes)},
	{"transfers", NULL, KWHY_UNIT_ONE, JSON, ENERGY(energy.transfers)},
	{"seconds", NULL, KWHY_UNIT_S, JSON, ENERGY(energy.seconds)},
	{"src_gross_j", NULL, KWHY_UNIT_J, JSON, ENERGY(energy.source_gross)},
	{"src_net_j", NULL, KWHY_UNIT_J, JSON, ENERGY(energy.source_net)},
	{"dst_gross_j", NULL, KWHY_UNIT_J, JSON, ENERGY(energy.target_gross)},
	{"dst_net_j", NULL, KWHY_UNIT_J, JSON, ENERGY(energy.target_net)},
	{"host_gross_j", NULL, KWHY_UNIT_J, JSON, ENERGY(energy.host_gross)},
	{"gross_j_per_byte", "a byte", KWHY_UNIT_J, BOTH, ENERGY(gross), .show = show_joules},
	{"net_j_per_byte", "above idle", KWHY_UNIT_J, BOTH, ENERGY(net), .show = show_joules},
	{NULL, "source", KWHY_UNIT_J, TEXT, ENERGY(source), .show = show_joules},
	{NULL, "target", KWHY_UNIT_J, TEXT, ENERGY(target), .show = show_joules},
};
const struct kwhy_columns kwhy_pair_energy_columns = {KWHY_COLUMNS(energies)};

struct kwhy_pair_pinning_row kwhy_pair_pinning_row_of(const struct kwhy_pair_pinning *pinning)
{
	return (struct kwhy_pair_pinning_row){*pinning, KWHY_PAIR_ALONE,
		kwhy_pair_pinning_ratio(pinning, KWHY_PAIR_FREE),
		kwhy_pair_pinning_ratio(pinning, KWHY_PAIR_FAR)};
}

static const char *show_engine(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	snprintf(out, KWHY_SHOWN_BYTES, "%s, %s", value->text,
		kwhy_pair_clock_name(((const struct kwhy_pair_pinning_row *)row)->pinning.clock));
	return out;
}

static const char *show_pinning_pair(
	char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_pair_pinning *pinning = &((const struct kwhy_pair_pinning_row *)row)->pinning;

	(void)value;
	return show_pair(out, pinning->source, pinning->target);
}

static const char *show_time(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	(void)row;
	return kwhy_quantity_si(out, value->interval.value, "s", 3);
}

/*
 * Shows the relative change that a ratio of two times means: a ratio of 1.031 with the interval 1.012 to 1.05
 * is shown as "+3.1 % (+1.2 to +5)".
 */
static const char *show_change(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_pair_figure *ratio = &value->interval;

	(void)row;
	if (!isfinite(ratio->value) || !isfinite(ratio->low) || !isfinite(ratio->high))
		return NULL;
	snprintf(out, KWHY_SHOWN_BYTES, "%+.2g %% (%+.2g to %+.2g)", 100 * (ratio->value - 1),
		100 * (ratio->low - 1), 100 * (ratio->high - 1));
	return out;
}

#define PINNING(member) KWHY_AT(struct kwhy_pair_pinning_row, member)

static const struct kwhy_column pinnings[] = {
	{"engine", "", KWHY_UNIT_WORDS, BOTH, PINNING(pinning.engine), .name = kwhy_pair_engine_name,
		.show = show_engine},
	{"load", NULL, KWHY_UNIT_WORDS, JSON, PINNING(load), .name = kwhy_pair_load_name},
	{"clock", NULL, KWHY_UNIT_WORDS, JSON, PINNING(pinning.clock), .name = kwhy_pair_clock_name},
	{NULL, "pair", KWHY_UNIT_WORDS, TEXT, PINNING(pinning.source), .show = show_pinning_pair},
	{"src", NULL, KWHY_UNIT_ONE, JSON, PINNING(pinning.source)},
	{"dst", NULL, KWHY_UNIT_ONE, JSON, PINNING(pinning.target)},
	{"size", "size", KWHY_UNIT_SIZE, BOTH, PINNING(pinning.bytes)},
	{"near_node", NULL, KWHY_UNIT_ONE, JSON, PINNING(pinning.near_node)},
	{"far_node", NULL, KWHY_UNIT_ONE, JSON, PINNING(pinning.far_node)},
	{"free_s", "free", KWHY_UNIT_S, BOTH, PINNING(pinning.times[KWHY_PAIR_FREE]), .show = show_time},
	{"near_s", "near", KWHY_UNIT_S, BOTH, PINNING(pinning.times[KWHY_PAIR_NEAR]), .show = show_time},
	{"far_s", "far", KWHY_UNIT_S, BOTH, PINNING(pinning.times[KWHY_PAIR_FAR]), .show = show_time},
	{"free_over_near", "free over near", KWHY_UNIT_RATIO, BOTH, PINNING(free_over_near),
		.show = show_change},
	{"far_over_near", "far over near", KWHY_UNIT_RATIO, BOTH, PINNING(far_over_near),
		.show = show_change},
};
const struct kwhy_columns kwhy_pair_pinning_columns = {KWHY_COLUMNS(pinnings)};

static const char *show_model(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	unsigned flows = ((const struct kwhy_pair_held_out *)row)->flows;

	if (flows < 2)
		return value->text;
	snprintf(out, KWHY_SHOWN_BYTES, "%u %s", flows, value->text);
	return out;
}

#define HELD_OUT(member) KWHY_AT(struct kwhy_pair_held_out, member)

static const struct kwhy_column held_outs[] = {
	{"what", "held out", KWHY_UNIT_WORDS, BOTH, HELD_OUT(what)},
	{"model", "predicted by", KWHY_UNIT_WORDS, BOTH, HELD_OUT(model), .show = show_model},
	{"flows", NULL, KWHY_UNIT_ONE, JSON, HELD_OUT(flows)},
	{"count", "of", KWHY_UNIT_ONE, BOTH, HELD_OUT(count)},
	{"median_ratio", "median", KWHY_UNIT_RATIO, BOTH, HELD_OUT(median_ratio)},
	{"worst_ratio", "worst", KWHY_UNIT_RATIO, BOTH, HELD_OUT(worst_ratio)},
};
const struct kwhy_columns kwhy_pair_held_out_columns = {KWHY_COLUMNS(held_outs)};

static const char *unit_of_gauge(unsigned gauge)
{
	return gauge == KWHY_PAIR_CLOCK ? "Hz" : "C";
}

#define RELATION(member) KWHY_AT(struct kwhy_pair_relation, member)

static const struct kwhy_column relations[] = {
	{"gpu", NULL, KWHY_UNIT_ONE, JSON, RELATION(gpu)},
	{"gauge", NULL, KWHY_UNIT_WORDS, JSON, RELATION(gauge), .name = kwhy_pair_gauge_name},
	{"unit", NULL, KWHY_UNIT_WORDS, JSON, RELATION(gauge), .name = unit_of_gauge},
	{"readings", NULL, KWHY_UNIT_ONE, JSON, RELATION(count)},
	{"least", NULL, KWHY_UNIT_ONE, JSON, RELATION(least)},
	{"most", NULL, KWHY_UNIT_ONE, JSON, RELATION(most)},
	{"r", NULL, KWHY_UNIT_ONE, JSON, RELATION(r)},
	{"slope_ratio_per_unit", NULL, KWHY_UNIT_RATIO, JSON, RELATION(slope_ratio_per_unit)},
	{"missing", NULL, KWHY_UNIT_WORDS, JSON, RELATION(missing)},
};
const struct kwhy_columns kwhy_pair_relation_columns = {KWHY_COLUMNS(relations)};

#define FLAG(member) KWHY_AT(struct kwhy_pair_flag, member)

static const struct kwhy_column flags[] = {
	{"src", NULL, KWHY_UNIT_ONE, JSON, FLAG(source)},
	{"dst", NULL, KWHY_UNIT_ONE, JSON, FLAG(target)},
	{"what", NULL, KWHY_UNIT_WORDS, JSON, FLAG(what)},
	{"likely_cause", NULL, KWHY_UNIT_WORDS, JSON, FLAG(likely_cause)},
};
const struct kwhy_columns kwhy_pair_flag_columns = {KWHY_COLUMNS(flags)};

#define CRITERION(member) KWHY_AT(struct kwhy_pair_criterion, member)

static const struct kwhy_column criteria[] = {
	{"name", NULL, KWHY_UNIT_WORDS, JSON, CRITERION(name)},
	{"verdict", NULL, KWHY_UNIT_WORDS, JSON, CRITERION(verdict), .name = kwhy_pair_verdict_name},
	{"why", NULL, KWHY_UNIT_WORDS, JSON, CRITERION(why)},
};
const struct kwhy_columns kwhy_pair_criterion_columns = {KWHY_COLUMNS(criteria)};

static const struct kwhy_column absences[] = {
	{"engine", NULL, KWHY_UNIT_WORDS, JSON, KWHY_AT(struct kwhy_transfer_absence, strategy)},
	{"reason", NULL, KWHY_UNIT_WORDS, JSON, KWHY_AT(struct kwhy_transfer_absence, reason)},
};
const struct kwhy_columns kwhy_pair_absence_columns = {KWHY_COLUMNS(absences)};
