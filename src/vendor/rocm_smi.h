/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_ROCM_SMI_H
#define KWHY_VENDOR_ROCM_SMI_H

#include "base/status.h"
#include "vendor/rocm_smi_abi.h"

/*
 * The ROCm SMI library of this machine. The pointer to an optional call that it lacks is NULL. Several
 * threads may use it.
 */
struct kwhy_rocm_smi {
	void *library;
#define X(name, need) __typeof__(name) *name;
#include "vendor/rocm_smi_symbols.def"
#undef X
};

/*
 * Loads and initialises ROCm SMI. KWHY_E_UNSUPPORTED: it is missing or does not start; the message says why
 * and what to do. On a machine without /sys/class/drm the library prints to standard error, so check first
 * that this folder exists. End with kwhy_rocm_smi_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_rocm_smi_open(struct kwhy_rocm_smi *out, struct kwhy_error *error);
void kwhy_rocm_smi_close(struct kwhy_rocm_smi *rocm);

/*
 * Gets the text that says why a call failed and, if known, what to do, to follow "...: " in a message. The
 * library owns the string.
 */
const char *kwhy_rocm_smi_words(const struct kwhy_rocm_smi *rocm, int status);

/*
 * Gets the present frequency of a clock in Hz. If the result is not KWHY_RSMI_SUCCESS, *out_hz is unchanged.
 */
int kwhy_rocm_smi_clock(const struct kwhy_rocm_smi *rocm, uint32_t device, int clock, uint64_t *out_hz);

/*
 * Calls a function whose pointer may be NULL, as in kwhy_rocm_smi_call(rocm, rsmi_dev_name_get, 0, name,
 * sizeof(name)). If the function is missing, the result is KWHY_RSMI_NOT_SUPPORTED.
 */
#define kwhy_rocm_smi_call(rocm, name, ...) \
	((rocm)->name ? (rocm)->name(__VA_ARGS__) : (int)KWHY_RSMI_NOT_SUPPORTED)

#endif
