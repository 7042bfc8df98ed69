/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The functions that the CUDA driver, NVTX and libkwhy call in this library, whose path is in
 * CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH.
 */
#include "base/c_locale.h"
#include "inject/nvtx.h"
#include "inject/session.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);
EXPORTED int InitializeInjectionNvtx2(kwhy_nvtx_export *export);
EXPORTED void kwhy_inject_take_range(const char *name, int64_t start_mono_ns, int64_t end_mono_ns);

/*
 * The driver calls this while it initialises. Always returns 1, success, so that the program is not affected.
 */
int InitializeInjection(void)
{
	KWHY_C_LOCALE;
	if (kwhy_inject_session_begin())
		kwhy_inject_session_begin_activity();
	return 1;
}

/*
 * Each copy of NVTX in the process calls this at its first use. Returns 0 if that copy is to work without a
 * tool.
 */
int InitializeInjectionNvtx2(kwhy_nvtx_export *export)
{
	KWHY_C_LOCALE;
	if (!kwhy_inject_session_begin() || !kwhy_inject_session_ranges())
		return 0;
	return kwhy_inject_nvtx_attach(export);
}

/* libkwhy calls this when a region of the program has ended. */
void kwhy_inject_take_range(const char *name, int64_t start_mono_ns, int64_t end_mono_ns)
{
	KWHY_C_LOCALE;
	if (kwhy_inject_session_begin())
		kwhy_inject_session_take_range(name, start_mono_ns, end_mono_ns);
}
