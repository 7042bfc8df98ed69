/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/cuda.h"

#include "base/dso.h"

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_cuda, name), KWHY_DSO_##need},
#include "vendor/cuda_symbols.def"
#undef X
};

static const char *const sonames[] = {"libcuda.so.1", "libcuda.so", NULL};

static const struct kwhy_dso_library library = {
	.title = "CUDA, a part of the NVIDIA driver,",
	.sonames = sonames,
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
	.table_bytes = sizeof(struct kwhy_cuda),
	.device = "/dev/nvidiactl",
	.device_cure = "the GPU's devices are here, so a container was started without the driver capability "
		       "compute; start it with NVIDIA_DRIVER_CAPABILITIES=utility,compute",
};

/* Gets the text that says why a call failed, to follow "...: " in a message. The library owns the string. */
static const char *words_of(const struct kwhy_cuda *cuda, enum kwhy_cuda_result result)
{
	const char *words = NULL;

	if (result == KWHY_CUDA_NO_DEVICE)
		return "no GPU; start the container with its GPUs, or unset CUDA_VISIBLE_DEVICES";
	if (cuda->cuGetErrorString(result, &words) != KWHY_CUDA_SUCCESS || !words)
		return "an error it has no words for";
	return words;
}

enum kwhy_status kwhy_cuda_open(struct kwhy_cuda *out, struct kwhy_error *error)
{
	struct kwhy_cuda cuda;
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, &cuda, &handle, error);
	enum kwhy_cuda_result result;

	if (status)
		return status;
	result = cuda.cuInit(0);
	if (result != KWHY_CUDA_SUCCESS) {
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "the CUDA driver does not start: %s",
			words_of(&cuda, result));
		kwhy_dso_close(handle);
		return status;
	}
	*out = cuda;
	return KWHY_OK;
}
