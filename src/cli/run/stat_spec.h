/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_STAT_SPEC_H
#define KWHY_CLI_RUN_STAT_SPEC_H

#include "base/status.h"
#include "cli/options.h"
#include "launch/pattern.h"
#include "model/stat.h"

/*
 * Values of the options --work UNIT=REGEX (the amount is found in the command's output), --work UNIT=NUMBER
 * (stated by the user), --work UNIT (reported by the command), and --metric NAME=REGEX.
 */
struct kwhy_stat_specs {
	/*
	 * [work_count] and [metric_count] work: [work_count] patterns of the amounts of work, unused for work
	 * whose amount is stated or reported; metrics: [metric_count] patterns of the metrics
	 */
	struct kwhy_pattern *work, *metrics;
	double *stated;			/* [work_count] amount of each stated work */
	enum kwhy_stat_work_from *from; /* [work_count] where the amount of each work comes from */
	size_t work_count, metric_count;
	bool reporting; /* true: for at least one unit of work the command reports the amount to
			   KWHY_WORK_FILE */
	bool watching;	/* true: there is at least one pattern for which the command's output must be searched
			 */
};

/*
 * Reads the options and sets stat's work and metrics, which have no points yet. KWHY_E_USAGE: an option has a
 * wrong value.
 */
KWHY_MUST_USE enum kwhy_status kwhy_stat_specs_init(struct kwhy_stat_specs *specs,
	const struct kwhy_strings *work, const struct kwhy_strings *metrics, struct kwhy_stat *stat,
	struct kwhy_error *error);
void kwhy_stat_specs_done(struct kwhy_stat_specs *specs);

#endif
