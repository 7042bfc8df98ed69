/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVTX_H
#define KWHY_VENDOR_NVTX_H

/*
 * Ranges that a tool may see, as NVTX has them: without a tool that asks for them by NVTX_INJECTION64_PATH
 * the calls do nothing. Ranges of a thread nest. The tool is looked for at the first push; any thread may
 * call.
 */
void kwhy_nvtx_push(const char *name);
void kwhy_nvtx_pop(void);

#endif
