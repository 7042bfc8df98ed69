/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/facts.h"

#include <string.h>

size_t kwhy_calibration_facts(
	struct kwhy_calibration *calibration, struct kwhy_calibration_fact out[KWHY_CALIBRATION_FACTS_MAX])
{
	struct kwhy_gpu_facts *gpu = &calibration->gpu;
	struct kwhy_call_costs *costs = &calibration->costs;
	const struct kwhy_calibration_fact facts[] = {
		{"name", KWHY_FACT_TEXT, gpu->name, sizeof(gpu->name)},
		{"driver_api", KWHY_FACT_TEXT, gpu->driver_api, sizeof(gpu->driver_api)},
		{"compiler", KWHY_FACT_TEXT, gpu->compiler, sizeof(gpu->compiler)},
		{"multiprocessors", KWHY_FACT_COUNT, &gpu->sm_count, 0},
		{"threads_per_multiprocessor", KWHY_FACT_COUNT, &gpu->threads_per_sm, 0},
		{"registers_per_multiprocessor", KWHY_FACT_COUNT, &gpu->registers_per_sm, 0},
		{"shared_bytes_per_multiprocessor", KWHY_FACT_COUNT, &gpu->shared_bytes_per_sm, 0},
		{"seed", KWHY_FACT_COUNT, &calibration->seed, 0},
		{"processes_before", KWHY_FACT_COUNT, &calibration->processes_before, 0},
		{"limit_mw", KWHY_FACT_INTEGER, &calibration->limit_mw, 0},
		{"started_unix_ns", KWHY_FACT_INTEGER, &calibration->started_unix_ns, 0},
		{"launch_s", KWHY_FACT_MEASURED, &costs->launch_s, 0},
		{"synchronize_s", KWHY_FACT_MEASURED, &costs->synchronize_s, 0},
		{"copy_latency_s", KWHY_FACT_MEASURED, &costs->copy_latency_s, 0},
		{"graph_launch_s", KWHY_FACT_MEASURED, &costs->graph_launch_s, 0},
		{"graph_launch_node_s", KWHY_FACT_MEASURED, &costs->graph.launch_node_s, 0},
		{"graph_start_node_s", KWHY_FACT_MEASURED, &costs->graph.start_node_s, 0},
		{"graph_node_s", KWHY_FACT_MEASURED, &costs->graph.node_s, 0},
		{"queued_kernel_s", KWHY_FACT_MEASURED, &costs->graph.queued_kernel_s, 0},
		{"h2d_pinned_bytes_per_s", KWHY_FACT_MEASURED, &costs->h2d_pinned, 0},
		{"h2d_pageable_bytes_per_s", KWHY_FACT_MEASURED, &costs->h2d_pageable, 0},
		{"d2h_pinned_bytes_per_s", KWHY_FACT_MEASURED, &costs->d2h_pinned, 0},
		{"d2h_pageable_bytes_per_s", KWHY_FACT_MEASURED, &costs->d2h_pageable, 0},
	};

	memcpy(out, facts, sizeof(facts));
	return sizeof(facts) / sizeof(facts[0]);
}
