/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_RECORDING_CRC32C_H
#define KWHY_RECORDING_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/*
 * CRC-32C (Castagnoli, RFC 3720 appendix B.4), computed with the processor's instruction where it has one. We
 * have our own because it also runs inside other people's programs, which should not get another library from
 * us.
 */
uint32_t kwhy_crc32c(const void *bytes, size_t length);

/* The same checksum without that instruction. */
uint32_t kwhy_crc32c_portable(const void *bytes, size_t length);

#endif
