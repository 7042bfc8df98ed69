/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_RUN_STAT_SPEC_H
#define KWHY_CLI_RUN_STAT_SPEC_H

#include "base/status.h"
#include "cli/options.h"
#include "launch/pattern.h"
#include "model/stat.h"

/*
 * The options --work UNIT=REGEX, --work UNIT=NUMBER, --work UNIT and --metric NAME=REGEX: amounts found in a
 * command's output, stated by the user, or reported by the command.
 */
struct kwhy_stat_specs {
	struct kwhy_pattern *work,
		*metrics; /* [work_count] and [metric_count]; work with a stated number has no pattern */
	double *stated;	  /* [work_count] amounts of stated work */
	enum kwhy_stat_work_from *from; /* [work_count] */
	size_t work_count, metric_count;
	bool reporting; /* the command reports at least one work */
	bool watching;	/* at least one expression is looked for in the output */
};

/* Reads the options and fills stat's work and metrics, without points. Wrong options are KWHY_E_USAGE. */
KWHY_MUST_USE enum kwhy_status kwhy_stat_specs_init(struct kwhy_stat_specs *specs,
	const struct kwhy_strings *work, const struct kwhy_strings *metrics, struct kwhy_stat *stat,
	struct kwhy_error *error);
void kwhy_stat_specs_done(struct kwhy_stat_specs *specs);

#endif
