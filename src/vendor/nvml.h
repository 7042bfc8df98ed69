/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVML_H
#define KWHY_VENDOR_NVML_H

#include "base/status.h"
#include "vendor/nvml_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* NVML as found on this machine. An optional call that is not there is a NULL slot. Threads may share it. */
struct kwhy_nvml {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/nvml_symbols.def"
#undef X
};

/*
 * Loads and initialises NVML. KWHY_E_UNSUPPORTED, with the reason and the cure in words, where the driver or
 * its library is missing; no GPU at all is KWHY_OK with a count of 0. End with kwhy_nvml_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_open(struct kwhy_nvml *out, struct kwhy_error *error);
void kwhy_nvml_close(struct kwhy_nvml *nvml);

/* Why a call failed, to follow "...: ", with the cure where there is one. Lent by the library. */
const char *kwhy_nvml_words(const struct kwhy_nvml *nvml, enum kwhy_nvml_result result);

/* A call that may be a NULL slot: kwhy_nvml_call(nvml, nvmlDeviceGetFanSpeed, handle, &percent). */
#define kwhy_nvml_call(nvml, name, ...) \
	((nvml)->name ? (nvml)->name(__VA_ARGS__) : KWHY_NVML_FUNCTION_NOT_FOUND)

/* "0000:18:00.0", with a domain of four digits as drivers write it; NVML's own has eight. */
enum { KWHY_NVML_ADDRESS_BYTES = 32 };
const char *kwhy_nvml_address(const struct kwhy_nvml_pci *pci, char out[KWHY_NVML_ADDRESS_BYTES]);

/* The GPU there; NULL: NVML knows none. */
kwhy_nvml_handle kwhy_nvml_find(const struct kwhy_nvml *nvml, const char *address);

/* A value of that type as an integer, rounded; false: no such type, or no number. */
bool kwhy_nvml_value_int(unsigned type, union kwhy_nvml_value value, int64_t *out);

struct kwhy_nvml_memory {
	uint64_t total_bytes,
		used_bytes; /* used: what the driver keeps for itself not counted, where distinguished */
};
enum kwhy_nvml_result kwhy_nvml_memory(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle device, struct kwhy_nvml_memory *out);

#endif
