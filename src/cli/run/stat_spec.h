/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_STAT_SPEC_H
#define KWHY_CLI_RUN_STAT_SPEC_H

#include "base/status.h"
#include "cli/options.h"
#include "launch/pattern.h"
#include "model/stat.h"

/*
 * --work UNIT=REGEX, --work UNIT=NUMBER, --work UNIT, --metric NAME=REGEX: what to look for in a command's
 * output, what is stated, and what the command reports.
 */
struct kwhy_stat_specs {
	struct kwhy_pattern *work, *metrics; /* [count of each]; work with a number has none */
	double *stated;			     /* [work_count]; of what is stated */
	enum kwhy_stat_work_from *from;	     /* [work_count] */
	size_t work_count, metric_count;
	bool reporting; /* at least one work that the command reports */
	bool watching;	/* at least one expression */
};

/* Fills stat's work and metrics too, with no points. Wrong ones are KWHY_E_USAGE. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_specs_init(struct kwhy_stat_specs *specs,
	const struct kwhy_strings *work, const struct kwhy_strings *metrics, struct kwhy_stat *stat,
	struct kwhy_error *error);
void kwhy_stat_specs_done(struct kwhy_stat_specs *specs);

#endif
