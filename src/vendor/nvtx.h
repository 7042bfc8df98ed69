/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVTX_H
#define KWHY_VENDOR_NVTX_H

/*
 * NVTX ranges that tools can record. The calls do nothing unless NVTX_INJECTION64_PATH names a tool. Ranges
 * of a thread nest. The tool is loaded at the first push; any thread may call.
 */
void kwhy_nvtx_push(const char *name);
void kwhy_nvtx_pop(void);

#endif
