/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_RESULTS_STAT_H
#define KWHY_IMPORT_RESULTS_STAT_H

#include "base/arena.h"
#include "base/statistics.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * This header declares a result of `kwhy stat --json`. Its texts are owned by its arena; a missing text is
 * "".
 */

/* A figure, the estimate of one quantity over the runs, with its key in the file, such as "energy_j". */
struct kwhy_read_figure {
	const char *key;
	struct kwhy_estimate estimate; /* fields that the file lacks are NAN */
};

struct kwhy_read_figures {
	struct kwhy_read_figure *items;
	size_t count;
};

struct kwhy_read_domain {
	const char *name; /* what was metered: "gpu 0", "total" */
	struct kwhy_read_figures figures;
};

struct kwhy_read_stat_work {
	const char *unit;
	struct kwhy_read_figures figures;
	struct kwhy_read_domain *domains;
	size_t domain_count;
};

/*
 * One value of a metric that the program reported, such as its loss. run: number of the run; joules, time_s:
 * energy and time from the run's start to the report. NAN: unknown.
 */
struct kwhy_read_point {
	double run, value, joules, time_s;
};

struct kwhy_read_metric {
	const char *name;
	struct kwhy_read_point *points;
	size_t point_count;
};

struct kwhy_read_stat {
	struct kwhy_arena arena;
	const char *label, *command; /* name of the file, and the command that was measured */
	size_t run_count;
	struct kwhy_read_figures time;
	struct kwhy_read_domain *domains;
	const char *main_domain; /* name of the domain that comparisons use (kwhy_json_main_domain()); NULL:
				    there is no domain */
	struct kwhy_read_stat_work *work;
	struct kwhy_read_metric *metrics;
	size_t domain_count, work_count, metric_count;
};

/*
 * Reads a result. KWHY_E_INPUT: `json` is no result of kwhy stat of a known version. `label` names the file.
 */
KWHY_MUST_USE enum kwhy_status kwhy_read_stat_of(struct kwhy_read_stat *stat, const char *label,
	const char *json, size_t length, struct kwhy_error *error);
void kwhy_read_stat_done(struct kwhy_read_stat *stat);

/* The estimate with this key; if there is none, an estimate with count 0 and mean NAN. */
struct kwhy_estimate kwhy_read_figure_of(const struct kwhy_read_figures *figures, const char *key);

/* The domain with this name; NULL: there is none. */
const struct kwhy_read_domain *kwhy_read_domain_of(
	const struct kwhy_read_domain *domains, size_t count, const char *name);

#endif
