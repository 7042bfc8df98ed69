/* SPDX-License-Identifier: Apache-2.0 */
/* What the CUDA driver, NVTX and libkwhy call in a library that CUDA_INJECTION64_PATH and
 * NVTX_INJECTION64_PATH name.
 */
#include "inject/nvtx.h"
#include "inject/session.h"

#define EXPORTED __attribute__((visibility("default")))

EXPORTED int InitializeInjection(void);
EXPORTED int InitializeInjectionNvtx2(kwhy_nvtx_export *export);
EXPORTED void kwhy_inject_take_range(const char *name, int64_t start_mono_ns, int64_t end_mono_ns);

/* By the driver while it initialises. 1: all is well, which it is for the program in any case. */
int InitializeInjection(void)
{
	if (kwhy_inject_session_begin())
		kwhy_inject_session_begin_activity();
	return 1;
}

/* By each copy of NVTX in the process at its first call. 0: the copy does without a tool. */
int InitializeInjectionNvtx2(kwhy_nvtx_export *export)
{
	if (!kwhy_inject_session_begin() || !kwhy_inject_session_ranges())
		return 0;
	return kwhy_inject_nvtx_attach(export);
}

/* By libkwhy: a region of the program that has ended. */
void kwhy_inject_take_range(const char *name, int64_t start_mono_ns, int64_t end_mono_ns)
{
	if (kwhy_inject_session_begin())
		kwhy_inject_session_take_range(name, start_mono_ns, end_mono_ns);
}
