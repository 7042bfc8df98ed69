/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVML_H
#define KWHY_VENDOR_NVML_H

#include "base/status.h"
#include "vendor/nvml_abi.h"

#include <stdbool.h>
#include <stdint.h>

/* NVML as found on this machine. The slot of a missing optional call is NULL. Threads may share it. */
struct kwhy_nvml {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/nvml_symbols.def"
#undef X
};

/*
 * Loads and initialises NVML. KWHY_E_UNSUPPORTED, with the reason and what to do, if the driver or its
 * library is missing; a machine without GPU gives KWHY_OK and a count of 0. End with kwhy_nvml_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_open(struct kwhy_nvml *out, struct kwhy_error *error);
void kwhy_nvml_close(struct kwhy_nvml *nvml);

/* The reason why a call failed, to follow "...: ", and what to do if known. The library owns the string. */
const char *kwhy_nvml_words(const struct kwhy_nvml *nvml, enum kwhy_nvml_result result);

/* Calls a function whose slot may be NULL: kwhy_nvml_call(nvml, nvmlDeviceGetFanSpeed, handle, &percent). */
#define kwhy_nvml_call(nvml, name, ...) \
	((nvml)->name ? (nvml)->name(__VA_ARGS__) : KWHY_NVML_FUNCTION_NOT_FOUND)

/*
 * The address in the form "0000:18:00.0", with a domain of four digits as drivers write it; NVML's own has
 * eight.
 */
enum { KWHY_NVML_ADDRESS_BYTES = 32 };
const char *kwhy_nvml_address(const struct kwhy_nvml_pci *pci, char out[KWHY_NVML_ADDRESS_BYTES]);

/* The GPU at this address; NULL: NVML knows no GPU there. */
kwhy_nvml_handle kwhy_nvml_find(const struct kwhy_nvml *nvml, const char *address);

/* Converts a value of this type to an integer, rounded. False: unknown type, or not a number. */
bool kwhy_nvml_value_int(unsigned type, union kwhy_nvml_value value, int64_t *out);

struct kwhy_nvml_memory {
	uint64_t total_bytes, used_bytes; /* used: without the memory that the driver reserves, where NVML
					     reports it separately */
};
enum kwhy_nvml_result kwhy_nvml_memory(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle device, struct kwhy_nvml_memory *out);

#endif
