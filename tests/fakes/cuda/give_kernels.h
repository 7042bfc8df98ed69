/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_TESTS_FAKES_CUDA_GIVE_KERNELS_H
#define KWHY_TESTS_FAKES_CUDA_GIVE_KERNELS_H

#include "gpu/gpu.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes the kernels of `table`, C functions, known to the fake driver library at `path`, which runs them when
 * they are launched. `table` ends with an entry whose name is NULL and must stay valid. Calls abort() if that
 * library is not the fake driver.
 */
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
