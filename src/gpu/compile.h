/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_COMPILE_H
#define KWHY_GPU_COMPILE_H

#include "gpu/gpu.h"
#include "vendor/rtc.h"

/*
 * Code of a source for a GPU. What was compiled before, from the same source and options by the same version
 * of the compiler for the same GPU, comes from kwhy's folder in the user's cache ($XDG_CACHE_HOME, else
 * ~/.cache); a folder or a file there that cannot be used is as if it were not there. Threads: any.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_compile(const struct kwhy_rtc *rtc,
	const struct kwhy_gpu_source *source, const struct kwhy_gpu_facts *facts, struct kwhy_rtc_code *out,
	struct kwhy_error *error);

#endif
