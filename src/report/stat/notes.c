/* SPDX-License-Identifier: Apache-2.0 */
#include "report/stat/summary.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/*
 * a note says so if measuring took more than this share of the time of a processor core, as that may disturb
 * the command
 */
#define COST_CORE_RATIO 0.005
#define STEP_REPORTED_S 0.05
#define UNSETTLED_W                                                                                         \
	8 /* W; a note is written if a device idled by more than this above its clean idle power, as boards \
	     of one model differ by less */

static void note(struct kwhy_stat_summary *summary, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * Adds a note, formatted as by printf(). If the array of notes is full, the note is only counted, so that
 * kwhy_stat_notes_add() knows how many elements the array needs.
 */
static void note(struct kwhy_stat_summary *summary, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (summary->note_count < summary->note_space)
		summary->notes[summary->note_count] = kwhy_arena_copy(&summary->arena, text);
	summary->note_count++;
}

static void note_runs(const struct kwhy_stat *stat, struct kwhy_stat_summary *summary)
{
	size_t after = 0, left_out = stat->run_count - summary->counted;

	for (size_t r = 0; r < stat->run_count; r++)
		after += stat->runs[r].left_running;
	if (stat->run_count < stat->wanted_runs)
		note(summary, "%zu of %" PRIu64 " runs were made", stat->run_count, stat->wanted_runs);
	if (left_out)
		note(summary, "%zu %s that failed or %s interrupted %s no part of the means", left_out,
			left_out == 1 ? "run" : "runs", left_out == 1 ? "was" : "were",
			left_out == 1 ? "is" : "are");
	if (stat->run_count && stat->runs[stat->run_count - 1].interrupted &&
		stat->runs[stat->run_count - 1].counted)
		note(summary, "interrupted: the figures are of the part that ran");
	if (after)
		note(summary,
			"processes that the command started lived on after its end (%zu of %zu runs); what "
			"they used then is not counted",
			after, stat->run_count);
}

static void note_width(const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, size_t d)
{
	const struct kwhy_stat_domain_figures *figures = &summary->domains[d];
	double percent = 100 * kwhy_stat_half_ratio(&figures->energy_j);

	if (figures->energy_j.basis == KWHY_STAT_BY_METER)
		note(summary,
			"%s: a run is too short for its meter to resolve more than \xc2\xb1%.0f %%; "
			"-r %" PRIu64 " would bring that to 10 %%",
			stat->domains[d].name, percent, figures->runs_needed);
	else
		note(summary,
			"%s: the mean is known to \xc2\xb1%.0f %% only; about -r %" PRIu64
			" would bring that to 10 %%",
			stat->domains[d].name, percent, figures->runs_needed);
}

/*
 * Notes that the device's energy is of a whole GPU that was divided into instances (MIG) before or during the
 * runs, so that other users' work on these instances is in it.
 */
static void note_division(const struct kwhy_stat_domain *domain, struct kwhy_stat_summary *summary)
{
	if (domain->instances)
		note(summary,
			"%s: its energy is of the whole GPU, whose %zu MIG %s it: what others ran on them "
			"is in it",
			domain->name, domain->instances,
			domain->instances == 1 ? "instance is metered with" : "instances share");
	if (domain->divided_anew)
		note(summary,
			"%s: it was divided anew or made whole (MIG) meanwhile: its energy is of the whole "
			"GPU, "
			"and what others ran on it is in it",
			domain->name);
}

static void note_domain(const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, size_t d)
{
	const struct kwhy_stat_domain *domain = &stat->domains[d];
	const struct kwhy_stat_domain_figures *figures = &summary->domains[d];

	if (domain->kind == KWHY_STAT_TOTAL)
		return;
	if (figures->missing)
		note(summary, "%s: energy not available in %zu of %zu runs: %s", domain->name,
			figures->unmeasured, summary->counted, figures->missing);
	if (figures->runs_needed)
		note_width(stat, summary, d);
	if (domain->counter_reset)
		note(summary, "%s: its counter was reset meanwhile; power readings bridged that",
			domain->name);
	if (domain->counter_misread)
		note(summary,
			"%s: readings of its counter left the counter's course, which then went on; they are "
			"left out",
			domain->name);
	if (domain->counter_stuck)
		note(summary,
			"%s: its counter stood still while power was drawn; the power readings alone "
			"are used",
			domain->name);
	if (domain->is_module)
		note(summary, "%s: its counter holds CPU and memory of the module too, so no CPU is added",
			domain->name);
	if (domain->bad_line)
		note(summary,
			"%s, line %" PRIu64 ": no reading of a wall meter now (its form, source or time is "
			"wrong); it and others like it were passed over",
			domain->name, domain->bad_line);
	note_division(domain, summary);
	if (domain->idle.processes == 0 && domain->idle.watts > domain->clean_idle_w + UNSETTLED_W)
		note(summary,
			"%s: idle was %.0f W with no process on it, and %.0f W by the machine profile: it "
			"had not settled after earlier work, or somebody out of sight used it",
			domain->name, domain->idle.watts, domain->clean_idle_w);
	if (domain->idle.processes > 0)
		note(summary,
			"%s: %" PRId64 " %s held it while idle was measured, so that level is no clean idle",
			domain->name, domain->idle.processes,
			domain->idle.processes == 1 ? "process" : "processes");
}

/*
 * Notes in how many counted runs an amount of some work is unknown, because the command's output or its file
 * of work did not state it. An amount of 0 is known.
 */
static void note_unreported_work(const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, size_t w)
{
	const struct kwhy_stat_work *work = &stat->work[w];
	size_t reported = 0;
	const char *why = work->from == KWHY_STAT_WORK_OUTPUT ? "nothing in the output matched"
							      : "the command reported none";

	for (size_t r = 0; r < stat->run_count; r++)
		reported += stat->runs[r].counted && isfinite(stat->runs[r].work[w]);
	if (work->from == KWHY_STAT_WORK_STATED || reported == summary->counted)
		return;
	if (reported)
		note(summary, "--work %s: %s in %zu of %zu runs, which are no part of its means", work->unit,
			why, summary->counted - reported, summary->counted);
	else
		note(summary, "--work %s: %s", work->unit, why);
}

static void note_output(const struct kwhy_stat *stat, struct kwhy_stat_summary *summary)
{
	for (size_t w = 0; w < stat->work_count; w++) {
		const struct kwhy_stat_work *work = &stat->work[w];

		if (work->unreadable)
			note(summary, "--work %s: %" PRIu64 " matches or lines held no number", work->unit,
				work->unreadable);
		note_unreported_work(stat, summary, w);
	}
	for (size_t m = 0; m < stat->metric_count; m++) {
		const struct kwhy_stat_metric *metric = &stat->metrics[m];

		if (metric->unreadable)
			note(summary, "--metric %s: %" PRIu64 " matches held no number", metric->name,
				metric->unreadable);
		if (metric->dropped)
			note(summary, "--metric %s: %" PRIu64 " values beyond the first %d are left out",
				metric->name, metric->dropped, KWHY_STAT_POINTS_MAX);
		if (!metric->count)
			note(summary, "--metric %s: nothing in the output matched", metric->name);
	}
	if (stat->intervals_dropped)
		note(summary, "--interval: %" PRIu64 " intervals beyond the first %d are left out",
			stat->intervals_dropped, KWHY_STAT_INTERVALS_MAX);
}

static void note_cost(const struct kwhy_stat *stat, struct kwhy_stat_summary *summary)
{
	const struct kwhy_stat_cost *cost = &stat->cost;

	if (cost->lost)
		note(summary, "%" PRIu64 " readings were overwritten before they could be taken", cost->lost);
	if (cost->failures)
		note(summary, "meters refused %" PRIu64 " %s", cost->failures,
			cost->failures == 1 ? "reading" : "readings");
	if (cost->cpu_s > COST_CORE_RATIO * cost->running_s)
		note(summary, "reading the meters took %.1f %% of a core; the command may have felt it",
			100 * cost->cpu_s / cost->running_s);
	if (fabs(cost->step_s) > STEP_REPORTED_S)
		note(summary, "the system's clock was set by %.3g s meanwhile; times are not touched by it",
			cost->step_s);
}

enum kwhy_status kwhy_stat_notes_add(
	const struct kwhy_stat *stat, struct kwhy_stat_summary *summary, struct kwhy_error *error)
{
	summary->note_space = 16 + 8 * stat->domain_count + 2 * stat->work_count + 3 * stat->metric_count;
	summary->notes = kwhy_arena_alloc(&summary->arena, summary->note_space, sizeof(*summary->notes));
	if (!summary->notes)
		return kwhy_fail_memory(error, "the summary");
	note_runs(stat, summary);
	for (size_t d = 0; d < stat->domain_count; d++)
		note_domain(stat, summary, d);
	note_output(stat, summary);
	note_cost(stat, summary);
	for (size_t i = 0; i < summary->note_count; i++)
		if (!summary->notes[i])
			return kwhy_fail_memory(error, "the summary");
	return KWHY_OK;
}
