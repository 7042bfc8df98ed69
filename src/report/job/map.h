/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_REPORT_JOB_MAP_H
#define KWHY_REPORT_JOB_MAP_H

#include "digest/job.h"
#include "report/json/writer.h"

/*
 * Writes the member "map": the times of all ranks by category in columns, which rank is the worst (the one
 * that made the other ranks wait longest or, if no rank made others wait, the least busy one), and which rank
 * has the median busy share. The page shows them.
 */
KWHY_MUST_USE enum kwhy_status kwhy_job_map(
	const struct kwhy_job *job, struct kwhy_json *json, struct kwhy_error *error);

#endif
