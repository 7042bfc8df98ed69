/* SPDX-License-Identifier: Apache-2.0 */
#include "model/perf_counter.h"

const char *kwhy_perf_counter_name(enum kwhy_perf_counter counter)
{
	static const char *const names[] = {
#define X(counter, name, metric) name,
#include "model/perf_counters.def"
#undef X
	};

	return names[counter];
}
