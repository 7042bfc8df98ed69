/* SPDX-License-Identifier: Apache-2.0 */
#include "vendor/rocm_smi.h"

#include "base/dso.h"

#include <stdbool.h>
#include <string.h>

static const struct kwhy_dso_symbol symbols[] = {
#define X(name, need) {#name, offsetof(struct kwhy_rocm_smi, name), KWHY_DSO_##need},
#include "vendor/rocm_smi_symbols.def"
#undef X
};

/*
 * The library's version is 7 in ROCm 6 and 7, 5 in ROCm 5 from 5.5 on, and 1 in older versions and in Debian
 * 12.
 */
static const char *const sonames[] = {"librocm_smi64.so.7", "librocm_smi64.so.6", "librocm_smi64.so.5",
	"librocm_smi64.so.1", "librocm_smi64.so", NULL};

static const struct kwhy_dso_library library = {
	.title = "ROCm SMI",
	.sonames = sonames,
	.symbols = symbols,
	.symbol_count = sizeof(symbols) / sizeof(symbols[0]),
	.table_bytes = sizeof(struct kwhy_rocm_smi),
};

enum kwhy_status kwhy_rocm_smi_open(struct kwhy_rocm_smi *out, struct kwhy_error *error)
{
	struct kwhy_rocm_smi rocm;
	void *handle = NULL;
	enum kwhy_status status = kwhy_dso_open(&library, &rocm, &handle, error);
	int result;

	if (status)
		return status;
	rocm.library = handle;
	result = rocm.rsmi_init(0);
	if (result != KWHY_RSMI_SUCCESS) {
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED, "ROCm SMI does not start: %s",
			kwhy_rocm_smi_words(&rocm, result));
		kwhy_dso_close(handle);
		return status;
	}
	*out = rocm;
	return KWHY_OK;
}

void kwhy_rocm_smi_close(struct kwhy_rocm_smi *rocm)
{
	rocm->rsmi_shut_down();
	kwhy_dso_close(rocm->library);
}

const char *kwhy_rocm_smi_words(const struct kwhy_rocm_smi *rocm, int status)
{
	const char *words = NULL;

	if (status == KWHY_RSMI_NOT_SUPPORTED)
		return "this GPU or this version of ROCm does not offer it";
	if (status == KWHY_RSMI_PERMISSION)
		return "permission denied; add yourself to the groups render and video";
	if (rocm->rsmi_status_string(status, &words) != KWHY_RSMI_SUCCESS || !words)
		return "the library gives no reason";
	return words;
}

int kwhy_rocm_smi_clock(const struct kwhy_rocm_smi *rocm, uint32_t device, int clock, uint64_t *out_hz)
{
	union kwhy_rsmi_frequencies found;
	bool is_6 = rocm->rsmi_dev_current_socket_power_get != NULL;
	uint32_t current, count;
	int result;

	memset(&found, 0, sizeof(found));
	result = kwhy_rocm_smi_call(rocm, rsmi_dev_gpu_clk_freq_get, device, clock, &found);
	if (result != KWHY_RSMI_SUCCESS)
		return result;
	current = is_6 ? found.v6.current : found.v5.current;
	count = is_6 ? found.v6.count : found.v5.count;
	if (current >= count || count > (is_6 ? KWHY_RSMI_FREQUENCIES_6 : KWHY_RSMI_FREQUENCIES_5))
		return KWHY_RSMI_UNKNOWN;
	*out_hz = is_6 ? found.v6.frequency_hz[current] : found.v5.frequency_hz[current];
	return KWHY_RSMI_SUCCESS;
}
