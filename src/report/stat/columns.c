/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stat/columns.h"

#include "base/quantity.h"
#include "model/ledger.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 4 };
enum { TEXT = KWHY_IN_TEXT, JSON = KWHY_IN_JSON, CSV = KWHY_IN_CSV, BOTH = JSON | CSV, ALL = TEXT | BOTH };

struct kwhy_stat_figure kwhy_stat_single(double value, double low, double high)
{
	return (struct kwhy_stat_figure){.estimate = {isfinite(value), value, low, high, NAN, value, value},
		.basis = isfinite(low) && isfinite(high) ? KWHY_STAT_BY_METER : KWHY_STAT_BY_NONE};
}

static void set_domain(struct kwhy_stat_row *row, size_t d)
{
	const struct kwhy_stat_domain *domain = &row->stat->domains[d];

	row->d = d;
	row->domain = *domain;
	row->idle_w = kwhy_stat_single(domain->idle.watts, domain->idle.low_w, domain->idle.high_w);
	row->idle_processes = domain->idle.processes < 0 ? KWHY_UNKNOWN_NJ : domain->idle.processes;
}

struct kwhy_stat_row kwhy_stat_row_of(
	const struct kwhy_stat *stat, const struct kwhy_stat_summary *summary, size_t d, size_t w)
{
	struct kwhy_stat_row row = {
		.stat = stat, .summary = summary, .w = w, .max_rss_bytes = summary->max_rss_bytes};

	if (d < stat->domain_count) {
		set_domain(&row, d);
		row.figures = summary->domains[d];
		if (!row.figures.runs_needed)
			row.figures.runs_needed = KWHY_UNKNOWN_BYTES;
	}
	if (w < stat->work_count)
		row.work = stat->work[w];
	return row;
}

struct kwhy_stat_row kwhy_stat_run_row_of(const struct kwhy_stat *stat, size_t r, size_t d)
{
	const struct kwhy_stat_run *run = &stat->runs[r];
	struct kwhy_stat_row row = {.stat = stat, .run = *run};

	row.signal = run->signal ? run->signal : KWHY_UNKNOWN_NJ;
	if (d < stat->domain_count) {
		set_domain(&row, d);
		row.energy = run->energies[d];
		row.energy_j = kwhy_stat_single(row.energy.joules, row.energy.low_j, row.energy.high_j);
		row.net_j = kwhy_stat_net(&row.domain, &row.energy, run->seconds).joules;
	}
	return row;
}

static struct kwhy_stat_sample plain(double value)
{
	return (struct kwhy_stat_sample){value, NAN, NAN};
}

static struct kwhy_stat_sample elapsed(const struct kwhy_stat_row *row, const struct kwhy_stat_run *run)
{
	(void)row;
	return plain(run->seconds);
}

static struct kwhy_stat_sample user(const struct kwhy_stat_row *row, const struct kwhy_stat_run *run)
{
	(void)row;
	return plain(run->user_s);
}

static struct kwhy_stat_sample system_time(const struct kwhy_stat_row *row, const struct kwhy_stat_run *run)
{
	(void)row;
	return plain(run->system_s);
}

static struct kwhy_stat_sample net(const struct kwhy_stat_row *row, const struct kwhy_stat_run *run)
{
	struct kwhy_stat_energy energy = kwhy_stat_net(&row->domain, &run->energies[row->d], run->seconds);

	return (struct kwhy_stat_sample){energy.joules, energy.low_j, energy.high_j};
}

static struct kwhy_stat_sample amount(const struct kwhy_stat_row *row, const struct kwhy_stat_run *run)
{
	return plain(run->work[row->w]);
}

/*
 * A figure over the runs whose `counted` is set: the mean of `above` or, if `below` is not NULL, the sum of
 * `above` divided by the sum of `below`. Both are functions that give a value of one run.
 */
struct over_runs {
	kwhy_stat_sample_of *above, *below;
};

static struct kwhy_value figure(const struct kwhy_column *column, const void *row)
{
	const struct over_runs *of = column->of;
	const struct kwhy_stat_figure figure = of->below ? kwhy_stat_ratio(row, of->above, of->below)
							 : kwhy_stat_mean(row, of->above);

	return kwhy_value_figure(&figure);
}

#define MEAN(sample)                                     \
	.value = figure, .of = &(const struct over_runs) \
	{                                                \
		sample, NULL                             \
	}
#define RATIO(above, below)                              \
	.value = figure, .of = &(const struct over_runs) \
	{                                                \
		above, below                             \
	}
#define AT(member) KWHY_AT(struct kwhy_stat_row, member)

/*
 * Shows how far the ends of an interval are from its mean, in percent of the mean: "±1.2 %"; "" if the
 * interval is unknown.
 */
static const char *show_interval(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const struct kwhy_estimate *estimate = &value->figure.estimate;

	(void)row;
	return kwhy_quantity_interval(out, estimate->mean, estimate->low, estimate->high);
}

static const char *show_elapsed(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	char number[KWHY_QUANTITY_BYTES], interval[KWHY_SHOWN_BYTES];

	kwhy_quantity_si(number, value->figure.estimate.mean, "s", DIGITS);
	show_interval(interval, value, row);
	snprintf(out, KWHY_SHOWN_BYTES, "%s elapsed%s%.32s", number, *interval ? " " : "", interval);
	return out;
}

/*
 * Shows a CPU time. Times below 1 ms, which the system's clock ticks do not resolve, are shown as "under 1
 * ms".
 */
static const char *show_cpu_time(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	double seconds = value->figure.estimate.mean;

	(void)row;
	return seconds < 1e-3 ? "under 1 ms" : kwhy_quantity_si(out, seconds, "s", 3);
}

/*
 * Columns of times and memory. The text shows them in one sentence, each value followed by the column's
 * title.
 */
static const struct kwhy_column time_items[] = {
	{"elapsed_s", "", KWHY_UNIT_S, ALL, MEAN(elapsed), .show = show_elapsed, .change = "time"},
	{"user_s", " of CPU time in user mode", KWHY_UNIT_S, ALL, MEAN(user), .show = show_cpu_time,
		.change = "user time"},
	{"system_s", " in the system", KWHY_UNIT_S, ALL, MEAN(system_time), .show = show_cpu_time,
		.change = "system time"},
	{"max_rss_bytes", " of memory at most", KWHY_UNIT_B, ALL, AT(max_rss_bytes)},
};
const struct kwhy_columns kwhy_stat_time_columns = {KWHY_COLUMNS(time_items)};

/*
 * Shows the half-width of the interval of the energy above idle in joules. Percent would be useless, since
 * that energy may be about 0.
 */
static const char *show_half(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	double half_j = (value->figure.estimate.high - value->figure.estimate.low) / 2;
	char number[KWHY_QUANTITY_BYTES];

	(void)row;
	if (!isfinite(half_j))
		return "";
	snprintf(out, KWHY_SHOWN_BYTES, "\xc2\xb1%s", kwhy_quantity_si(number, half_j, "J", 2));
	return out;
}

static bool has_idle(const void *row)
{
	return isfinite(((const struct kwhy_stat_row *)row)->stat->idle_s);
}

static const struct kwhy_column domain_items[] = {
	{"name", "", KWHY_UNIT_WORDS, TEXT | JSON, AT(domain.name)},
	{"kind", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.kind), .name = kwhy_stat_kind_name},
	{"device", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.device)},
	{"uuid", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.uuid)},
	{"in_total", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.in_total)},
	{"counts_module", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.is_module)},
	{"counter_reset", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.counter_reset)},
	{"counter_stuck", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.counter_stuck)},
	{"counter_misread", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.counter_misread)},
	{"basis", NULL, KWHY_UNIT_WORDS, JSON, AT(figures.basis)},
	{"not_available", NULL, KWHY_UNIT_WORDS, JSON, AT(figures.missing)},
	{"energy_j", "energy", KWHY_UNIT_J, ALL, AT(figures.energy_j), .change = "energy"},
	{NULL, "95 %", KWHY_UNIT_RATIO, TEXT, AT(figures.energy_j), .show = show_interval},
	{"net_j", "above idle", KWHY_UNIT_J, ALL, MEAN(net), .is_shown = has_idle, .change = "above idle"},
	{NULL, "95 %", KWHY_UNIT_J, TEXT, MEAN(net), .show = show_half, .is_shown = has_idle},
	{"context_j", NULL, KWHY_UNIT_J, JSON, AT(figures.context_j)},
	{"mean_w", "mean", KWHY_UNIT_W, ALL, RATIO(kwhy_stat_gross, elapsed), .change = "mean power"},
	{"peak_w", "peak", KWHY_UNIT_W, ALL, AT(figures.peak_w)},
	{"meter_half_width_ratio", NULL, KWHY_UNIT_RATIO, JSON, AT(figures.meter_half_ratio)},
	{"runs_needed", NULL, KWHY_UNIT_ONE, JSON, AT(figures.runs_needed)},
	{"idle_w", NULL, KWHY_UNIT_W, CSV, AT(idle_w)},
	{NULL, "from", KWHY_UNIT_WORDS, TEXT, AT(figures.basis), .show = kwhy_show_known},
};
const struct kwhy_columns kwhy_stat_domain_columns = {KWHY_COLUMNS(domain_items), .digits = DIGITS};

static const struct kwhy_column idle_items[] = {
	{"watts", NULL, KWHY_UNIT_W, JSON, AT(domain.idle.watts)},
	{"low_w", NULL, KWHY_UNIT_W, JSON, AT(domain.idle.low_w)},
	{"high_w", NULL, KWHY_UNIT_W, JSON, AT(domain.idle.high_w)},
	{"process_count", NULL, KWHY_UNIT_ONE, JSON, AT(idle_processes)},
	{"profile_clean_idle_w", NULL, KWHY_UNIT_W, JSON, AT(domain.clean_idle_w)},
	{"profile_context_idle_w", NULL, KWHY_UNIT_W, JSON, AT(domain.context_idle_w)},
	{"profile", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.profile)},
};
const struct kwhy_columns kwhy_stat_idle_columns = {KWHY_COLUMNS(idle_items)};

/*
 * Shows an amount of work, or of work per second or joule, in plain digits with up to four significant ones:
 * "0.012 tokens", never "12 m tokens". From a million on, and for FLOP, it gets an SI prefix.
 */
static const char *show_amount(char out[KWHY_SHOWN_BYTES], double amount, const char *unit)
{
	char text[KWHY_QUANTITY_BYTES];
	const char *space = *unit && *unit != '/' ? " " : "";
	double size = fabs(amount);

	if (!isfinite(amount))
		return NULL;
	if (size >= 1e6 || strncmp(unit, "flop", 4) == 0)
		snprintf(out, KWHY_SHOWN_BYTES, "%s%s", kwhy_quantity_si(text, amount, "", DIGITS), unit);
	else if (size >= 1000)
		snprintf(out, KWHY_SHOWN_BYTES, "%s%s%s%s", amount < 0 ? "-" : "",
			kwhy_quantity_count(text, (uint64_t)(size + 0.5)), space, unit);
	else
		snprintf(out, KWHY_SHOWN_BYTES, "%.4g%s%s", amount, space, unit);
	return out;
}

static const char *show_count(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	(void)row;
	return show_amount(out, value->figure.estimate.mean, "");
}

static const char *show_speed(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	(void)row;
	return show_amount(out, value->figure.estimate.mean, "/s");
}

/* Shows joules per unit of work, with the unit in the singular: "2.1 J/token" for the unit "tokens". */
static const char *show_joules(char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const char *unit = ((const struct kwhy_stat_row *)row)->work.unit;
	size_t length = strlen(unit);
	char symbol[80];

	length -= length > 2 && unit[length - 1] == 's';
	snprintf(symbol, sizeof(symbol), "J/%.*s", (int)(length < 63 ? length : 63), unit);
	return kwhy_quantity_si(out, value->figure.estimate.mean, symbol, DIGITS);
}

static const char *show_efficiency(
	char out[KWHY_SHOWN_BYTES], const struct kwhy_value *value, const void *row)
{
	const char *unit = ((const struct kwhy_stat_row *)row)->work.unit;
	char symbol[80] = "flop/s/W";

	if (strcmp(unit, "flop") != 0)
		snprintf(symbol, sizeof(symbol), "%s/J", unit);
	return show_amount(out, value->figure.estimate.mean, symbol);
}

/* In a comparison, the unit precedes the names of these columns: "tokens", "tokens/s", "tokens/J". */
static const struct kwhy_column work_items[] = {
	{"unit", "", KWHY_UNIT_WORDS, TEXT | JSON, AT(work.unit)},
	{"from", NULL, KWHY_UNIT_WORDS, JSON, AT(work.from), .name = kwhy_stat_work_from_name},
	{"pattern", NULL, KWHY_UNIT_WORDS, JSON, AT(work.pattern)},
	{"unreadable", NULL, KWHY_UNIT_ONE, JSON, AT(work.unreadable)},
	{"count", "a run", KWHY_UNIT_ONE, ALL, MEAN(amount), .show = show_count, .change = ""},
	{"per_s", "speed", KWHY_UNIT_ONE, ALL, RATIO(amount, elapsed), .show = show_speed, .change = "/s"},
};
const struct kwhy_columns kwhy_stat_work_columns = {KWHY_COLUMNS(work_items)};

static const struct kwhy_column work_domain_items[] = {
	{"name", NULL, KWHY_UNIT_WORDS, JSON, AT(domain.name)},
	{"joules_per_unit", "energy", KWHY_UNIT_J, ALL, RATIO(kwhy_stat_gross, amount), .show = show_joules},
	{NULL, "95 %", KWHY_UNIT_RATIO, TEXT, RATIO(kwhy_stat_gross, amount), .show = show_interval},
	{"units_per_joule", "efficiency", KWHY_UNIT_ONE, ALL, RATIO(amount, kwhy_stat_gross),
		.show = show_efficiency, .change = "/J"},
};
const struct kwhy_columns kwhy_stat_work_domain_columns = {KWHY_COLUMNS(work_domain_items)};

static const struct kwhy_column run_items[] = {
	{"counted", NULL, KWHY_UNIT_WORDS, JSON, AT(run.counted)},
	{"interrupted", NULL, KWHY_UNIT_WORDS, JSON, AT(run.interrupted)},
	{"left_processes", NULL, KWHY_UNIT_WORDS, JSON, AT(run.left_running)},
	{"exit", NULL, KWHY_UNIT_ONE, JSON, AT(run.exit)},
	{"signal", NULL, KWHY_UNIT_ONE, JSON, AT(signal)},
	{"start_s", NULL, KWHY_UNIT_S, JSON, AT(run.start_s)},
	{"elapsed_s", NULL, KWHY_UNIT_S, BOTH, AT(run.seconds)},
	{"exit", NULL, KWHY_UNIT_ONE, CSV, AT(run.exit)},
	{"user_s", NULL, KWHY_UNIT_S, JSON, AT(run.user_s)},
	{"system_s", NULL, KWHY_UNIT_S, JSON, AT(run.system_s)},
	{"max_rss_bytes", NULL, KWHY_UNIT_B, JSON, AT(run.max_rss_bytes)},
};
const struct kwhy_columns kwhy_stat_run_columns = {KWHY_COLUMNS(run_items)};

static const struct kwhy_column run_domain_items[] = {
	{"joules", NULL, KWHY_UNIT_J, JSON, AT(energy.joules)},
	{"low_j", NULL, KWHY_UNIT_J, JSON, AT(energy.low_j)},
	{"high_j", NULL, KWHY_UNIT_J, JSON, AT(energy.high_j)},
	{"energy_j", NULL, KWHY_UNIT_J, CSV, AT(energy_j)},
	{"net_j", NULL, KWHY_UNIT_J, JSON, AT(net_j)},
	{"mean_w", NULL, KWHY_UNIT_W, JSON, AT(energy.mean_w)},
	{"peak_w", NULL, KWHY_UNIT_W, JSON, AT(energy.peak_w)},
	{"basis", NULL, KWHY_UNIT_WORDS, JSON, AT(energy.basis)},
	{"not_available", NULL, KWHY_UNIT_WORDS, JSON, AT(energy.missing)},
};
const struct kwhy_columns kwhy_stat_run_domain_columns = {KWHY_COLUMNS(run_domain_items)};

static struct kwhy_value core_ratio(const struct kwhy_column *column, const void *stat)
{
	const struct kwhy_stat_cost *cost = &((const struct kwhy_stat *)stat)->cost;

	(void)column;
	return kwhy_value_real(cost->running_s > 0 ? cost->cpu_s / cost->running_s : NAN);
}

static struct kwhy_value modelled_j(const struct kwhy_column *column, const void *stat)
{
	(void)column;
	return kwhy_value_real(kwhy_stat_cost_j(stat));
}

#define COST(member) KWHY_AT(struct kwhy_stat, cost.member)

static const struct kwhy_column cost_items[] = {
	{"runs_s", NULL, KWHY_UNIT_S, JSON, COST(running_s)},
	{"cpu_s", NULL, KWHY_UNIT_S, JSON, COST(cpu_s)},
	{"core_ratio", NULL, KWHY_UNIT_RATIO, JSON, .value = core_ratio},
	{"machine_busy_s", NULL, KWHY_UNIT_S, JSON, COST(busy_s)},
	{"modelled_j", NULL, KWHY_UNIT_J, JSON, .value = modelled_j},
	{"all_s", NULL, KWHY_UNIT_S, JSON, COST(all_s)},
	{"all_cpu_s", NULL, KWHY_UNIT_S, JSON, COST(all_cpu_s)},
	{"reads", NULL, KWHY_UNIT_ONE, JSON, COST(reads)},
	{"missed_deadlines", NULL, KWHY_UNIT_ONE, JSON, COST(missed)},
	{"longest_read_s", NULL, KWHY_UNIT_S, JSON, COST(longest_read_s)},
	{"clock_drift_ratio", NULL, KWHY_UNIT_RATIO, JSON, COST(drift_ratio)},
	{"clock_step_s", NULL, KWHY_UNIT_S, JSON, COST(step_s)},
	{"lost_readings", NULL, KWHY_UNIT_ONE, JSON, COST(lost)},
	{"failed_readings", NULL, KWHY_UNIT_ONE, JSON, COST(failures)},
};
const struct kwhy_columns kwhy_stat_cost_columns = {KWHY_COLUMNS(cost_items)};
