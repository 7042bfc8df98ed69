/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/facts.h"

#include <string.h>

/* A fact whose member has the type of its kind; with another type the program does not compile. */
#define FACT(key, kind, type, place)                              \
	{                                                         \
		key, kind, _Generic((place), type * : (place)), 0 \
	}
#define COUNT(key, place) FACT(key, KWHY_FACT_COUNT, uint32_t, place)
#define INTEGER(key, place) FACT(key, KWHY_FACT_INTEGER, int64_t, place)
#define MEASURED(key, place) FACT(key, KWHY_FACT_MEASURED, struct kwhy_measured, place)

size_t kwhy_calibration_facts(
	struct kwhy_calibration *calibration, struct kwhy_calibration_fact out[KWHY_CALIBRATION_FACTS_MAX])
{
	struct kwhy_gpu_facts *gpu = &calibration->gpu;
	struct kwhy_call_costs *costs = &calibration->costs;
	const struct kwhy_calibration_fact facts[] = {
		{"name", KWHY_FACT_TEXT, gpu->name, sizeof(gpu->name)},
		{"driver_api", KWHY_FACT_TEXT, gpu->driver_api, sizeof(gpu->driver_api)},
		{"compiler", KWHY_FACT_TEXT, gpu->compiler, sizeof(gpu->compiler)},
		COUNT("multiprocessors", &gpu->sm_count),
		COUNT("threads_per_multiprocessor", &gpu->threads_per_sm),
		COUNT("registers_per_multiprocessor", &gpu->registers_per_sm),
		COUNT("shared_bytes_per_multiprocessor", &gpu->shared_bytes_per_sm),
		COUNT("seed", &calibration->seed),
		COUNT("processes_before", &calibration->processes_before),
		INTEGER("limit_mw", &calibration->limit_mw),
		INTEGER("started_unix_ns", &calibration->started_unix_ns),
		MEASURED("launch_s", &costs->launch_s),
		MEASURED("synchronize_s", &costs->synchronize_s),
		MEASURED("copy_latency_s", &costs->copy_latency_s),
		MEASURED("graph_launch_s", &costs->graph_launch_s),
		MEASURED("graph_launch_node_s", &costs->graph.launch_node_s),
		MEASURED("graph_start_node_s", &costs->graph.start_node_s),
		MEASURED("graph_node_s", &costs->graph.node_s),
		MEASURED("queued_kernel_s", &costs->graph.queued_kernel_s),
		MEASURED("h2d_pinned_bytes_per_s", &costs->h2d_pinned),
		MEASURED("h2d_pageable_bytes_per_s", &costs->h2d_pageable),
		MEASURED("d2h_pinned_bytes_per_s", &costs->d2h_pinned),
		MEASURED("d2h_pageable_bytes_per_s", &costs->d2h_pageable),
	};

	memcpy(out, facts, sizeof(facts));
	return sizeof(facts) / sizeof(facts[0]);
}
