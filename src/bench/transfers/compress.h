/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_COMPRESS_H
#define KWHY_BENCH_TRANSFERS_COMPRESS_H

/*
 * Compressed data in page-locked memory, and a buffer for it on the device. It is made once and used by
 * several measurements.
 */
struct kwhy_bench_packet;

void kwhy_bench_packet_free(struct kwhy_bench_packet *packet);

#endif
