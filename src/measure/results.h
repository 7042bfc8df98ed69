/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_MEASURE_RESULTS_H
#define KWHY_MEASURE_RESULTS_H

#include "base/names.h"
#include "base/text.h"
#include "kwhy/measure.h"
#include "measure/history.h"
#include "measure/regions.h"

/* The contents of a session's results. All strings are copied, so that results may outlive their session. */

struct kwhy_result_region {
	struct kwhy_region_info info;
	/* [meter_count + 1] energy on each meter, then on all GPUs together */
	struct kwhy_region_energy *energies;
	struct kwhy_region_work_done *works;
	size_t work_count;
};

struct kwhy_result_meter {
	int32_t kind, index;
	const char *name, *product, *uuid;
	bool is_package; /* whether this is a CPU package with a counter of RAPL */
};

struct kwhy_results {
	struct kwhy_arena arena;
	struct kwhy_result_meter *meters;
	struct kwhy_result_region *regions;
	size_t meter_count, region_count;
	const char **absences;
	size_t absence_count;
	double enough_ratio;
	uint64_t lost_events, lost_readings, failed_readings;
	/*
	 * sampler_cpu_ns: CPU time of the sampler since the meters were opened; sampler_running_ns: elapsed
	 * time since then
	 */
	int64_t sampler_cpu_ns, sampler_running_ns;
	double session_cpu_s,
		session_busy_s; /* since the session began: CPU time of the sampler's thread, and busy time of
				   all CPUs of the machine added up; in s; NAN: unknown */
	struct kwhy_text json;
};

struct kwhy_results_request {
	const struct kwhy_sensors *sensors;
	const struct kwhy_metered *metered;
	size_t metered_count;
	const struct kwhy_regions *regions;
	const struct kwhy_names *names;
	uint32_t idle_name; /* name of the region whose mean power is the idle level */
	double enough_ratio;
};

/* Makes the results, except lost_events and all members after it, which the caller sets. */
KWHY_MUST_USE enum kwhy_status kwhy_results_make(
	const struct kwhy_results_request *request, struct kwhy_results **out, struct kwhy_error *error);

/* Writes the results as JSON to results->json. */
KWHY_MUST_USE enum kwhy_status kwhy_results_write(struct kwhy_results *results, struct kwhy_error *error);

#endif
