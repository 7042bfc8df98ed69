/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_CUPTI_PM_H
#define KWHY_VENDOR_CUPTI_PM_H

#include "vendor/cupti.h"
#include "vendor/cupti_pm_abi.h"

/* The calls of an open CUPTI that sample performance counters. They live as long as the CUPTI. */
struct kwhy_cupti_pm_calls {
#define X(name) __typeof__(name) *name;
#include "vendor/cupti_pm_symbols.def"
#undef X
};

/* Finds the calls. KWHY_E_UNSUPPORTED: this CUPTI is older than CUDA 12.6; the message says what to do. */
KWHY_MUST_USE enum kwhy_status kwhy_cupti_pm_find(
	const struct kwhy_cupti *cupti, struct kwhy_cupti_pm_calls *out, struct kwhy_error *error);

#endif
