/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_CRC32C_H
#define KWHY_RECORDING_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4), computed with the crc32 instruction on x86-64 processors that
 * have it (SSE 4.2). No library is used, because this also runs inside other people's programs.
 */
uint32_t kwhy_crc32c(const void *bytes, size_t length);

/* CRC-32C, computed without a special instruction. */
uint32_t kwhy_crc32c_portable(const void *bytes, size_t length);

#endif
