/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_ROCM_SMI_H
#define KWHY_VENDOR_ROCM_SMI_H

#include "base/status.h"
#include "vendor/rocm_smi_abi.h"

/* ROCm SMI as found on this machine. The slot of a missing optional call is NULL. Threads may share it. */
struct kwhy_rocm_smi {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/rocm_smi_symbols.def"
#undef X
};

/*
 * Loads and initialises ROCm SMI. KWHY_E_UNSUPPORTED, with the reason and what to do, if it is missing or
 * does not start. The library prints to standard error on a machine without /sys/class/drm, so check for that
 * folder first. End with kwhy_rocm_smi_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_rocm_smi_open(struct kwhy_rocm_smi *out, struct kwhy_error *error);
void kwhy_rocm_smi_close(struct kwhy_rocm_smi *rocm);

/* The reason why a call failed, to follow "...: ", and what to do if known. The library owns the string. */
const char *kwhy_rocm_smi_words(const struct kwhy_rocm_smi *rocm, int status);

/*
 * Reads the current frequency of a clock in Hz; results other than KWHY_RSMI_SUCCESS leave *out_hz unchanged.
 */
int kwhy_rocm_smi_clock(const struct kwhy_rocm_smi *rocm, uint32_t device, int clock, uint64_t *out_hz);

/*
 * Calls a function whose slot may be NULL: kwhy_rocm_smi_call(rocm, rsmi_dev_name_get, 0, name,
 * sizeof(name)).
 */
#define kwhy_rocm_smi_call(rocm, name, ...) \
	((rocm)->name ? (rocm)->name(__VA_ARGS__) : (int)KWHY_RSMI_NOT_SUPPORTED)

#endif
