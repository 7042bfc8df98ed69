/* SPDX-License-Identifier: Apache-2.0 */
#include "model/stat.h"

#include "base/cpu_time.h"

#include <math.h>
#include <stdlib.h>

const char *kwhy_stat_kind_name(enum kwhy_stat_kind kind)
{
	static const char *const names[KWHY_STAT_KIND_COUNT] = {
		[KWHY_STAT_DEVICE] = "device",
		[KWHY_STAT_HOST] = "host",
		[KWHY_STAT_WALL] = "wall",
		[KWHY_STAT_TOTAL] = "total",
	};

	return names[kind];
}

const char *kwhy_stat_work_from_name(enum kwhy_stat_work_from from)
{
	static const char *const names[KWHY_STAT_WORK_FROM_COUNT] = {
		[KWHY_STAT_WORK_OUTPUT] = "output",
		[KWHY_STAT_WORK_STATED] = "stated",
		[KWHY_STAT_WORK_REPORTED] = "reported",
	};

	return names[from];
}

void kwhy_stat_done(struct kwhy_stat *stat)
{
	for (size_t i = 0; i < stat->metric_count; i++)
		free(stat->metrics[i].points);
	free(stat->intervals);
	free(stat->interval_joules);
	kwhy_arena_done(&stat->arena);
	*stat = (struct kwhy_stat){0};
}

size_t kwhy_stat_main_domain(const struct kwhy_stat *stat)
{
	static const enum kwhy_stat_kind order[KWHY_STAT_KIND_COUNT] = {
		KWHY_STAT_TOTAL, KWHY_STAT_DEVICE, KWHY_STAT_HOST, KWHY_STAT_WALL};

	for (size_t k = 0; k < KWHY_STAT_KIND_COUNT; k++)
		for (size_t d = 0; d < stat->domain_count; d++)
			if (stat->domains[d].kind == order[k])
				return d;
	return KWHY_STAT_NO_DOMAIN;
}

/*
 * The ends of the intervals are added, not the squares of their half-widths, because the errors of the meters
 * may be correlated.
 */
void kwhy_stat_sum_energies(const struct kwhy_stat *stat, struct kwhy_stat_energy *energies)
{
	struct kwhy_stat_energy sum = {.peak_w = NAN, .basis = "sum"};
	struct kwhy_stat_energy *total = NULL;

	for (size_t d = 0; d < stat->domain_count; d++) {
		if (stat->domains[d].kind == KWHY_STAT_TOTAL)
			total = &energies[d];
		if (!stat->domains[d].in_total)
			continue;
		sum.joules += energies[d].joules;
		sum.low_j += energies[d].low_j;
		sum.high_j += energies[d].high_j;
		sum.mean_w += energies[d].mean_w;
		if (energies[d].missing)
			sum.missing = energies[d].missing;
	}
	if (sum.missing)
		sum.basis = NULL;
	if (total)
		*total = sum;
}

struct kwhy_stat_energy kwhy_stat_net(
	const struct kwhy_stat_domain *domain, const struct kwhy_stat_energy *gross, double seconds)
{
	struct kwhy_stat_energy net = *gross;
	double idle_j = domain->idle.watts * seconds;
	double idle_half_j = (domain->idle.high_w - domain->idle.low_w) / 2 * seconds;

	net.joules = gross->joules - idle_j;
	net.low_j = net.joules - hypot(gross->joules - gross->low_j, idle_half_j);
	net.high_j = net.joules + hypot(gross->high_j - gross->joules, idle_half_j);
	net.mean_w = gross->mean_w - domain->idle.watts;
	net.peak_w = gross->peak_w - domain->idle.watts;
	return net;
}

static double packages_j(const struct kwhy_stat *stat, const struct kwhy_stat_run *run)
{
	double joules = 0;
	bool metered = false;

	for (size_t d = 0; d < stat->domain_count; d++) {
		const struct kwhy_stat_domain *domain = &stat->domains[d];

		if (!domain->is_package)
			continue;
		metered = true;
		joules += run->energies[d].joules;
		if (isfinite(stat->idle_s))
			joules -= domain->idle.watts * run->seconds;
	}
	return metered ? joules : NAN;
}

double kwhy_stat_cost_j(const struct kwhy_stat *stat)
{
	const struct kwhy_stat_cost *cost = &stat->cost;
	double joules = 0;

	for (size_t r = 0; r < stat->run_count; r++)
		joules += packages_j(stat, &stat->runs[r]);
	return kwhy_cpu_part_j(joules, cost->cpu_s, cost->busy_s);
}

void kwhy_stat_choose_runs(struct kwhy_stat *stat)
{
	size_t well = 0, whole = 0;

	for (size_t r = 0; r < stat->run_count; r++) {
		well += !stat->runs[r].interrupted && stat->runs[r].exit == 0;
		whole += !stat->runs[r].interrupted;
	}
	for (size_t r = 0; r < stat->run_count; r++) {
		struct kwhy_stat_run *run = &stat->runs[r];

		run->counted = well ? !run->interrupted && run->exit == 0 : whole ? !run->interrupted : true;
	}
}
