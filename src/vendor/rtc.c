/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/rtc.h"

#include "base/dso.h"
#include "vendor/hip_abi.h"

#include <stdlib.h>

#define X(slot, nvrtc, hiprtc) {#nvrtc, offsetof(struct kwhy_rtc, slot), KWHY_DSO_REQUIRED},
static const struct kwhy_dso_symbol nvrtc_symbols[] = {
#include "vendor/rtc_calls.def"
};
#undef X

#define X(slot, nvrtc, hiprtc) {#hiprtc, offsetof(struct kwhy_rtc, slot), KWHY_DSO_REQUIRED},
static const struct kwhy_dso_symbol hiprtc_symbols[] = {
#include "vendor/rtc_calls.def"
};
#undef X

/* Names of NVRTC: sonames, then the paths at which the toolkit's own installer puts it. */
static const char *const nvrtc_sonames[] = {"libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2",
	"libnvrtc.so", "/usr/local/cuda/lib64/libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.12",
	"/usr/local/cuda/lib64/libnvrtc.so.11.2", NULL};

/* Names of hipRTC. Up to ROCm 5.2 it was a part of the HIP runtime. */
static const char *const hiprtc_sonames[] = {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5",
	"libhiprtc.so", "/opt/rocm/lib/libhiprtc.so", "libamdhip64.so.5", NULL};

static const struct kwhy_dso_library libraries[] = {
	[KWHY_DRIVER_CUDA] = {.title = "NVRTC, the CUDA run-time compiler (package cuda-nvrtc, or PyTorch's "
				       "nvidia/cu*/lib),",
		.sonames = nvrtc_sonames,
		.symbols = nvrtc_symbols,
		.symbol_count = sizeof(nvrtc_symbols) / sizeof(nvrtc_symbols[0]),
		.table_bytes = sizeof(struct kwhy_rtc)},
	[KWHY_DRIVER_HIP] = {.title = "hipRTC, the HIP run-time compiler (a part of ROCm),",
		.sonames = hiprtc_sonames,
		.symbols = hiprtc_symbols,
		.symbol_count = sizeof(hiprtc_symbols) / sizeof(hiprtc_symbols[0]),
		.table_bytes = sizeof(struct kwhy_rtc)},
};

enum kwhy_status kwhy_rtc_open(enum kwhy_driver_vendor vendor, struct kwhy_rtc *out, struct kwhy_error *error)
{
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&libraries[vendor], out, &handle, error);

	if (status)
		return status;
	out->vendor = vendor;
	out->library = handle;
	return KWHY_OK;
}

void kwhy_rtc_close(struct kwhy_rtc *rtc)
{
	kwhy_dso_close(rtc->library);
}

static enum kwhy_status wrong(const struct kwhy_rtc *rtc, const char *name, kwhy_nvrtc_program program,
	enum kwhy_nvrtc_result result, struct kwhy_error *error)
{
	size_t bytes = 0;
	char *log = NULL;

	if (rtc->log_bytes(program, &bytes) == KWHY_NVRTC_SUCCESS && bytes)
		log = calloc(bytes + 1, 1);
	if (log && rtc->log(program, log) != KWHY_NVRTC_SUCCESS)
		log[0] = '\0';
	kwhy_error_set(error, KWHY_E_UNSUPPORTED, "%s cannot compile %s for this GPU: %s; %.400s",
		rtc->vendor == KWHY_DRIVER_CUDA ? "NVRTC" : "hipRTC", name, rtc->error_string(result),
		log ? log : "");
	free(log);
	return KWHY_E_UNSUPPORTED;
}

static enum kwhy_nvrtc_result take_code(
	const struct kwhy_rtc *rtc, kwhy_nvrtc_program program, struct kwhy_rtc_code *out)
{
	enum kwhy_nvrtc_result result = rtc->code_bytes(program, &out->count);

	if (result != KWHY_NVRTC_SUCCESS)
		return result;
	out->bytes = calloc(out->count + 1, 1);
	result = out->bytes ? rtc->code(program, out->bytes) : KWHY_NVRTC_SUCCESS;
	if (result != KWHY_NVRTC_SUCCESS)
		free(out->bytes);
	return result;
}

enum kwhy_status kwhy_rtc_compile(const struct kwhy_rtc *rtc, const char *name, const char *source,
	const char *const *options, struct kwhy_rtc_code *out, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	kwhy_nvrtc_program program = NULL;
	struct kwhy_rtc_code code = {0};
	enum kwhy_nvrtc_result result;
	int count = 0;

	while (options[count])
		count++;
	result = rtc->program_new(&program, source, name, 0, NULL, NULL);
	if (result == KWHY_NVRTC_SUCCESS)
		result = rtc->compile(program, count, options);
	if (result == KWHY_NVRTC_SUCCESS)
		result = take_code(rtc, program, &code);
	if (result != KWHY_NVRTC_SUCCESS)
		status = wrong(rtc, name, program, result, error);
	else if (!code.bytes)
		status = kwhy_fail_memory(error, "a compiled kernel");
	else
		*out = code;
	rtc->program_free(&program);
	return status;
}
