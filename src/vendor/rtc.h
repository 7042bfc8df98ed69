/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_RTC_H
#define KWHY_VENDOR_RTC_H

#include "base/status.h"
#include "vendor/driver.h"
#include "vendor/nvrtc_abi.h"

/*
 * The run-time compiler for GPU code of this machine. For NVIDIA it is NVRTC, from the toolkit or from a
 * framework that ships its own. For AMD it is hipRTC, which compiles the same C and has NVRTC's calls with
 * the same binary interface.
 */
struct kwhy_rtc {
	enum kwhy_driver_vendor vendor;
	void *library;
#define X(slot, nvrtc, hiprtc) __typeof__(nvrtc) *slot;
#include "vendor/rtc_calls.def"
#undef X
};

/*
 * Loads the compiler. KWHY_E_UNSUPPORTED: it is missing; the message says what to do. End with
 * kwhy_rtc_close().
 */
KWHY_MUST_USE enum kwhy_status kwhy_rtc_open(
	enum kwhy_driver_vendor vendor, struct kwhy_rtc *out, struct kwhy_error *error);
void kwhy_rtc_close(struct kwhy_rtc *rtc);

/* Compiled code in the format of the GPU's vendor. Free `bytes` with free(). */
struct kwhy_rtc_code {
	char *bytes;
	size_t count;
};

/* Compiles a source. `name` stands for it in the compiler's messages. `options` ends with NULL. */
KWHY_MUST_USE enum kwhy_status kwhy_rtc_compile(const struct kwhy_rtc *rtc, const char *name,
	const char *source, const char *const *options, struct kwhy_rtc_code *out, struct kwhy_error *error);

#endif
