/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_COMPILE_H
#define KWHY_GPU_COMPILE_H

#include "gpu/gpu.h"
#include "vendor/rtc.h"

/*
 * Compiles a source for a GPU. If the same compiler has compiled the same source with the same options for
 * the same kind of GPU before, the code is read from kwhy's folder in the user's cache ($XDG_CACHE_HOME, else
 * ~/.cache). A folder or file there that cannot be used is ignored. Any thread may call it.
 */
KWHY_MUST_USE enum kwhy_status kwhy_gpu_compile(const struct kwhy_rtc *rtc,
	const struct kwhy_gpu_source *source, const struct kwhy_gpu_facts *facts, struct kwhy_rtc_code *out,
	struct kwhy_error *error);

#endif
