/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/nvrtc.h"

#include "base/dso.h"

#include <stdio.h>
#include <stdlib.h>

enum { OPTIONS_MOST = 8 };

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_nvrtc, name), KWHY_DSO_##need},
#include "vendor/nvrtc_symbols.def"
#undef X
};

/* By soname, then where the toolkit's own installer puts it. */
static const char *const sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", "libnvrtc.so",
	"/usr/local/cuda/lib64/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.12",
	"/usr/local/cuda/lib64/libnvrtc.so.11.2", NULL};

static const struct kwhy_dso_library library = {
	.title = "NVRTC, the CUDA run-time compiler (package cuda-nvrtc, or PyTorch's nvidia/cu*/lib),",
	.sonames = sonames,
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
	.table_bytes = sizeof(struct kwhy_nvrtc),
};

enum kwhy_status kwhy_nvrtc_open(struct kwhy_nvrtc *out, struct kwhy_error *error)
{
	struct kwhy_nvrtc nvrtc;
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, &nvrtc, &handle, error);

	if (status)
		return status;
	nvrtc.library = handle;
	*out = nvrtc;
	return KWHY_OK;
}

void kwhy_nvrtc_close(struct kwhy_nvrtc *nvrtc)
{
	kwhy_dso_close(nvrtc->library);
}

static enum kwhy_status wrong(const struct kwhy_nvrtc *nvrtc, const char *name, kwhy_nvrtc_program program,
	enum kwhy_nvrtc_result result, struct kwhy_error *error)
{
	size_t bytes = 0;
	char *log = NULL;

	if (nvrtc->nvrtcGetProgramLogSize(program, &bytes) == KWHY_NVRTC_SUCCESS && bytes)
		log = calloc(bytes + 1, 1);
	if (log && nvrtc->nvrtcGetProgramLog(program, log) != KWHY_NVRTC_SUCCESS)
		log[0] = '\0';
	kwhy_error_set(error, KWHY_E_UNSUPPORTED, "NVRTC cannot compile %s for this GPU: %s; %.400s", name,
		nvrtc->nvrtcGetErrorString(result), log ? log : "");
	free(log);
	return KWHY_E_UNSUPPORTED;
}

static enum kwhy_nvrtc_result take_cubin(
	const struct kwhy_nvrtc *nvrtc, kwhy_nvrtc_program program, char **out_cubin)
{
	enum kwhy_nvrtc_result result;
	size_t bytes = 0;
	char *cubin;

	result = nvrtc->nvrtcGetCUBINSize(program, &bytes);
	if (result != KWHY_NVRTC_SUCCESS)
		return result;
	cubin = calloc(bytes + 1, 1);
	*out_cubin = cubin;
	result = cubin ? nvrtc->nvrtcGetCUBIN(program, cubin) : KWHY_NVRTC_SUCCESS;
	if (result != KWHY_NVRTC_SUCCESS)
		free(cubin);
	return result;
}

enum kwhy_status kwhy_nvrtc_compile(const struct kwhy_nvrtc *nvrtc, const char *name, const char *source,
	const char *const *options, int architecture, char **out_cubin, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	kwhy_nvrtc_program program = NULL;
	enum kwhy_nvrtc_result result;
	char target[48], *cubin = NULL;
	const char *all[1 + OPTIONS_MOST] = {target};
	int count = 1;

	snprintf(target, sizeof(target), "--gpu-architecture=sm_%d", architecture);
	for (; options && options[count - 1] && count <= OPTIONS_MOST; count++)
		all[count] = options[count - 1];
	result = nvrtc->nvrtcCreateProgram(&program, source, name, 0, NULL, NULL);
	if (result == KWHY_NVRTC_SUCCESS)
		result = nvrtc->nvrtcCompileProgram(program, count, all);
	if (result == KWHY_NVRTC_SUCCESS)
		result = take_cubin(nvrtc, program, &cubin);
	if (result != KWHY_NVRTC_SUCCESS)
		status = wrong(nvrtc, name, program, result, error);
	else if (!cubin)
		status = kwhy_fail_memory(error, "a compiled kernel");
	else
		*out_cubin = cubin;
	nvrtc->nvrtcDestroyProgram(&program);
	return status;
}
