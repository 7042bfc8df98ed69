/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_BENCH_OPS_PROFILE_H
#define KWHY_CLI_BENCH_OPS_PROFILE_H

#include "bench/ops.h"

/*
 * Puts what was measured into the machine profile at `path`, as its part "operations"; the rest stays. The
 * profile must be of the same device.
 */
KWHY_MUST_USE enum kwhy_status kwhy_bench_ops_profile(
	const struct kwhy_bench_ops *bench, const char *path, struct kwhy_error *error);

#endif
