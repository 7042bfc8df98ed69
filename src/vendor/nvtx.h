/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVTX_H
#define KWHY_VENDOR_NVTX_H

/*
 * NVTX ranges, which a tool can record. The calls do nothing unless NVTX_INJECTION64_PATH names a tool, which
 * is loaded at the first push. Ranges of one thread nest. Any thread may call them.
 */
void kwhy_nvtx_push(const char *name);
void kwhy_nvtx_pop(void);

#endif
