/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_CUDA_GIVE_KERNELS_H
#define KWHY_TESTS_FAKES_CUDA_GIVE_KERNELS_H

#include "gpu/gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/* The fake driver at `path` runs the kernels of `table` where one is asked for by its name; a NULL name ends
 * them, and they are kept. The test ends where that is another driver. */
static inline void give_kernels_to_the_fake(const char *path, const struct kwhy_gpu_host_kernel *table)
{
	void *driver = dlopen(path, RTLD_NOW);
	void *address = driver ? dlsym(driver, "kwhy_fake_gpu_kernels") : NULL;
	void (*give)(const struct kwhy_gpu_host_kernel *table);

	if (!address)
		abort();
	memcpy(&give, &address, sizeof(give));
	give(table);
}

#endif
