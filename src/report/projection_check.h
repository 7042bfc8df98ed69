/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PREDICTED_H
#define KWHY_REPORT_PREDICTED_H

#include "import/results/projection.h"
#include "report/compare.h"
#include "report/json/writer.h"
#include "report/text_context.h"

/* Relative errors, (projected - measured) / measured; NAN where either is unknown. */
struct kwhy_projection_errors {
	double time_ratio, energy_ratio;
	double net_ratio;    /* error of the energy above the idle level of each run */
	double launch_ratio; /* mean launch call of B over that of A, a measure of the host's speed; NAN:
				unknown */
	double host_ratio;   /* launch_ratio over the ratio that the projection assumes */
	bool is_of_a;	     /* the projection's own run is run A: both times agree within 1 % */
};
struct kwhy_projection_errors kwhy_projection_errors_of(
	const struct kwhy_projection_check *check, const struct kwhy_side *a, const struct kwhy_side *b);

/* Write this part of the comparison; write nothing where its `check` is NULL. */
void kwhy_projection_check_text(
	const struct kwhy_comparison *comparison, const struct kwhy_text_context *context);
void kwhy_projection_check_json(const struct kwhy_comparison *comparison, struct kwhy_json *json);

#endif
