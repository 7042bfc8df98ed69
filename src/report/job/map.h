/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_JOB_MAP_H
#define KWHY_REPORT_JOB_MAP_H

#include "digest/job.h"
#include "report/json/writer.h"

/*
 * Writes the member "map": the times of all ranks by category in columns, and which rank is the worst (it
 * made the others wait longest, or else is the least busy) and which has the median busy share. For the page.
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_map(
	const struct kwhy_job *job, struct kwhy_json *json, struct kwhy_error *error);

#endif
