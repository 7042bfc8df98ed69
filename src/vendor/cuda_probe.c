/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/cuda_probe.h"

#include "base/dso.h"

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_cuda_probe, name), KWHY_DSO_##need},
#include "vendor/cuda_probe_symbols.def"
#undef X
};

static const char *const sonames[] = {"libcuda.so.1", "libcuda.so", NULL};

static const struct kwhy_dso_library library = {
	.title = "CUDA, a part of the NVIDIA driver,",
	.sonames = sonames,
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
	.table_bytes = sizeof(struct kwhy_cuda_probe),
};

enum kwhy_status kwhy_cuda_probe_open(struct kwhy_cuda_probe *out, struct kwhy_error *error)
{
	void *handle = NULL;

	return kwhy_dso_open(&library, out, &handle, error);
}
