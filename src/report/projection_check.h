/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_PROJECTION_CHECK_H
#define KWHY_REPORT_PROJECTION_CHECK_H

#include "import/results/projection.h"
#include "report/compare.h"
#include "report/json/writer.h"
#include "report/text_context.h"

/* Relative errors of a projection, (projected - measured) / measured; NAN if either value is unknown. */
struct kwhy_projection_errors {
	double time_ratio, energy_ratio;
	double net_ratio; /* relative error of the energy above the idle level */
	/*
	 * mean duration of launching calls of B divided by that of A, a measure of the hosts: above 1, the
	 * host of B is slower than that of A; NAN: unknown
	 */
	double launch_ratio;
	/*
	 * launch_ratio times the host speed that the projection assumed for B, relative to A; 1: the host of
	 * B was as fast as assumed; above 1: slower; NAN: unknown
	 */
	double host_ratio;
	/*
	 * whether the projection was made from run A, which is taken as true if the time of its run before
	 * all changes and that of A differ by at most 1 %
	 */
	bool is_of_a;
};
struct kwhy_projection_errors kwhy_projection_errors_of(
	const struct kwhy_projection_check *check, const struct kwhy_side *a, const struct kwhy_side *b);

/* Write the section on an earlier projection; they write nothing if comparison->check is NULL. */
void kwhy_projection_check_text(
	const struct kwhy_comparison *comparison, const struct kwhy_text_context *context);
void kwhy_projection_check_json(const struct kwhy_comparison *comparison, struct kwhy_json *json);

#endif
