/* SPDX-License-Identifier: Apache-2.0 */
#include "probe_launches.h"

#include <stdlib.h>

enum { LAUNCH_ID = 1 };

struct kwhy_probe *probe;
static uint32_t correlation;

int probe_launches_begin(void **state)
{
	const struct kwhy_probe_plan plan = {.within = 0.05,
		.ratio = 3,
		.budget_ns = INT64_MAX / 2,
		.share_ppm = 1000000,
		.least_ns = 3000000,
		.most_ns = 5000000};

	(void)state;
	probe = calloc(1, sizeof(*probe));
	probe->driver = probe_driver_calls();
	probe->calls[LAUNCH_ID].handler = KWHY_PROBE_LAUNCH;
	probe->log = -1;
	kwhy_probe_pace_init(&probe->pace, &plan, 0);
	atomic_store(&probe->is_on, true);
	return 0;
}

int probe_launches_end(void **state)
{
	(void)state;
	probe_driver_clear();
	free(probe);
	return 0;
}

void probe_launch_as(
	kwhy_cuda_function kernel, const char *name, void **arguments, enum kwhy_cuda_result result)
{
	struct kwhy_cupti_parameters_launch parameters = {
		.function = kernel, .grid = {4, 2, 1}, .block = {64, 1, 1}, .arguments = arguments};
	struct kwhy_cupti_callback data = {.site = KWHY_CUPTI_ENTER,
		.parameters = &parameters,
		.symbol = name,
		.context = PROBE_CONTEXT,
		.correlation = ++correlation};

	kwhy_probe_on_call(probe, KWHY_CUPTI_DOMAIN_DRIVER, LAUNCH_ID, &data);
	if (!result)
		kernel->run(arguments);
	data.site = KWHY_CUPTI_EXIT;
	data.result = &result;
	kwhy_probe_on_call(probe, KWHY_CUPTI_DOMAIN_DRIVER, LAUNCH_ID, &data);
}

void probe_launch(kwhy_cuda_function kernel, const char *name, void **arguments)
{
	probe_launch_as(kernel, name, arguments, KWHY_CUDA_SUCCESS);
}
