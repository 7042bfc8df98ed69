/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes, offsets and constants of PM sampling by the toolkit's headers, of which one needs C++. */
#include "cupti_pm_layout.h"

#include <cuda.h>

#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>

#include <cupti_pmsampling.h>
#include <cupti_target.h>

#define S(ours, last, theirs) {#theirs, theirs##_STRUCT_SIZE},
#define M(ours, theirs, our_member, their_member) {#theirs "." #their_member, offsetof(theirs, their_member)},
#define C(ours, theirs) {#theirs, (size_t)(theirs)},

const struct cupti_pm_layout_row *cupti_pm_layout_of_toolkit(void)
{
	static const struct cupti_pm_layout_row rows[] = {CUPTI_PM_LAYOUT(S, M, C)};

	return rows;
}
