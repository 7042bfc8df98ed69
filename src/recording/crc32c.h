/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_CRC32C_H
#define KWHY_RECORDING_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4), by the processor's own instruction where it has one. Ours
 * because it also runs inside other people's programs, which should get no further library from us.
 */
uint32_t kwhy_crc32c(const void *bytes, size_t length);

/* The same without the instruction. */
uint32_t kwhy_crc32c_portable(const void *bytes, size_t length);

#endif
