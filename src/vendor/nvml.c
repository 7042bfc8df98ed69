/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/nvml.h"

#include "base/dso.h"

#include <math.h>
#include <stdio.h>
#include <strings.h>

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_nvml, name), KWHY_DSO_##need},
#include "vendor/nvml_symbols.def"
#undef X
};

static const char *const sonames[] = {"libnvidia-ml.so.1", "libnvidia-ml.so", NULL};

static const struct kwhy_dso_library library = {
	.title = "NVML, a part of the NVIDIA driver,",
	.sonames = sonames,
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
	.table_bytes = sizeof(struct kwhy_nvml),
	.device = "/dev/nvidiactl",
	.device_cure = "the GPU's devices are here, so a container was started without the driver capability "
		       "utility; start it with NVIDIA_DRIVER_CAPABILITIES=utility,compute",
};

enum kwhy_status kwhy_nvml_open(struct kwhy_nvml *out, struct kwhy_error *error)
{
	struct kwhy_nvml nvml;
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, &nvml, &handle, error);
	enum kwhy_nvml_result result;

	if (status)
		return status;
	nvml.library = handle;
	result = nvml.nvmlInitWithFlags ? nvml.nvmlInitWithFlags(KWHY_NVML_INIT_NO_GPUS) : nvml.nvmlInit_v2();
	if (result != KWHY_NVML_SUCCESS) {
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "the NVIDIA driver does not answer: %s",
			kwhy_nvml_words(&nvml, result));
		kwhy_dso_close(handle);
		return status;
	}
	*out = nvml;
	return KWHY_OK;
}

void kwhy_nvml_close(struct kwhy_nvml *nvml)
{
	nvml->nvmlShutdown();
	kwhy_dso_close(nvml->library);
}

const char *kwhy_nvml_words(const struct kwhy_nvml *nvml, enum kwhy_nvml_result result)
{
	static const struct {
		enum kwhy_nvml_result result;
		const char *words;
	} rows[] = {
		{KWHY_NVML_NOT_SUPPORTED, "this GPU or virtual machine does not offer it"},
		{KWHY_NVML_NO_PERMISSION,
			"permission denied; run as root, or let an administrator grant access to "
			"/dev/nvidia*"},
		{KWHY_NVML_FUNCTION_NOT_FOUND, "this driver is too old for it"},
		{KWHY_NVML_DRIVER_NOT_LOADED,
			"the kernel module is not loaded (modprobe nvidia), or a container was started "
			"without its GPUs"},
		{KWHY_NVML_GPU_IS_LOST, "the GPU fell off the bus; the machine has to be restarted"},
		{KWHY_NVML_RESET_REQUIRED, "the GPU has to be reset (nvidia-smi --gpu-reset)"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].result == result)
			return rows[i].words;
	return nvml->nvmlErrorString(result);
}

const char *kwhy_nvml_address(const struct kwhy_nvml_pci *pci, char out[KWHY_NVML_ADDRESS_BYTES])
{
	snprintf(out, KWHY_NVML_ADDRESS_BYTES, "%04x:%02x:%02x.0", pci->domain, pci->bus, pci->device);
	return out;
}

kwhy_nvml_handle kwhy_nvml_find(const struct kwhy_nvml *nvml, const char *address)
{
	unsigned count = 0;

	if (nvml->nvmlDeviceGetCount_v2(&count))
		count = 0;
	for (unsigned i = 0; i < count; i++) {
		char its[KWHY_NVML_ADDRESS_BYTES];
		kwhy_nvml_handle handle;
		struct kwhy_nvml_pci pci;

		if (!nvml->nvmlDeviceGetHandleByIndex_v2(i, &handle) &&
			!kwhy_nvml_call(nvml, nvmlDeviceGetPciInfo_v3, handle, &pci) &&
			strcasecmp(kwhy_nvml_address(&pci, its), address) == 0)
			return handle;
	}
	return NULL;
}

static bool round_double(double value, int64_t *out)
{
	if (!(fabs(value) < 9e18))
		return false;
	*out = llround(value);
	return true;
}

bool kwhy_nvml_value_int(unsigned type, union kwhy_nvml_value value, int64_t *out)
{
	switch (type) {
	case KWHY_NVML_TYPE_DOUBLE:
		return round_double(value.as_double, out);
	case KWHY_NVML_TYPE_UNSIGNED_INT:
		*out = value.as_unsigned;
		return true;
	case KWHY_NVML_TYPE_UNSIGNED_LONG:
		*out = (int64_t)value.as_unsigned_long;
		return true;
	case KWHY_NVML_TYPE_UNSIGNED_LONG_LONG:
		*out = (int64_t)value.as_unsigned_long_long;
		return true;
	case KWHY_NVML_TYPE_SIGNED_LONG_LONG:
		*out = value.as_long_long;
		return true;
	case KWHY_NVML_TYPE_SIGNED_INT:
		*out = value.as_int;
		return true;
	case KWHY_NVML_TYPE_UNSIGNED_SHORT:
		*out = value.as_unsigned_short;
		return true;
	default:
		return false;
	}
}

enum kwhy_nvml_result kwhy_nvml_memory(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle device, struct kwhy_nvml_memory *out)
{
	struct kwhy_nvml_memory_v2 memory = {.version = KWHY_NVML_MEMORY_V2};
	struct kwhy_nvml_memory_v1 older;
	enum kwhy_nvml_result result = kwhy_nvml_call(nvml, nvmlDeviceGetMemoryInfo_v2, device, &memory);

	if (result == KWHY_NVML_SUCCESS) {
		*out = (struct kwhy_nvml_memory){memory.total_bytes, memory.used_bytes};
		return result;
	}
	result = kwhy_nvml_call(nvml, nvmlDeviceGetMemoryInfo, device, &older);
	if (result == KWHY_NVML_SUCCESS)
		*out = (struct kwhy_nvml_memory){older.total_bytes, older.used_bytes};
	return result;
}
