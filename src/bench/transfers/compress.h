/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_COMPRESS_H
#define KWHY_BENCH_TRANSFERS_COMPRESS_H

/* Compressed data, in page-locked memory. It is made once and sent by several measurements. */
struct kwhy_bench_packet;

void kwhy_bench_packet_free(struct kwhy_bench_packet *packet);

#endif
