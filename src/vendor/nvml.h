/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVML_H
#define KWHY_VENDOR_NVML_H

#include "base/status.h"
#include "vendor/nvml_abi.h"

#include <stdbool.h>
#include <stdint.h>

/*
 * The NVML library of this machine. The pointer to an optional call that it lacks is NULL. Several threads
 * may use it.
 */
struct kwhy_nvml {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/nvml_symbols.def"
#undef X
};

/*
 * Loads and initialises NVML. KWHY_E_UNSUPPORTED: the driver or its library is missing; the message says why
 * and what to do. On a machine without GPU it returns KWHY_OK, and the count is 0. End with
 * kwhy_nvml_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_nvml_open(struct kwhy_nvml *out, struct kwhy_error *error);
void kwhy_nvml_close(struct kwhy_nvml *nvml);

/*
 * Gets the text that says why a call failed and, if known, what to do, to follow "...: " in a message. The
 * library owns the string.
 */
const char *kwhy_nvml_words(const struct kwhy_nvml *nvml, enum kwhy_nvml_result result);

/*
 * Calls a function whose pointer may be NULL, as in kwhy_nvml_call(nvml, nvmlDeviceGetFanSpeed, handle,
 * &percent). If the function is missing, the result is KWHY_NVML_FUNCTION_NOT_FOUND.
 */
#define kwhy_nvml_call(nvml, name, ...) \
	((nvml)->name ? (nvml)->name(__VA_ARGS__) : KWHY_NVML_FUNCTION_NOT_FOUND)

/*
 * Writes a PCI address in the form "0000:18:00.0", whose domain has four digits, as drivers write it. NVML
 * itself writes eight digits.
 */
enum { KWHY_NVML_ADDRESS_BYTES = 32 };
const char *kwhy_nvml_address(const struct kwhy_nvml_pci *pci, char out[KWHY_NVML_ADDRESS_BYTES]);

/* Finds the GPU at a PCI address; NULL: NVML knows no GPU there. */
kwhy_nvml_handle kwhy_nvml_find(const struct kwhy_nvml *nvml, const char *address);

/*
 * Converts a value of the given type to an integer, with rounding. False: the type is unknown, or the value
 * is no number.
 */
bool kwhy_nvml_value_int(unsigned type, union kwhy_nvml_value value, int64_t *out);

struct kwhy_nvml_memory {
	/* used_bytes does not include what the driver reserves, if NVML reports that separately */
	uint64_t total_bytes, used_bytes;
};
enum kwhy_nvml_result kwhy_nvml_memory(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle device, struct kwhy_nvml_memory *out);

#endif
