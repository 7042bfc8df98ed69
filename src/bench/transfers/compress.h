/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFERS_COMPRESS_H
#define KWHY_BENCH_TRANSFERS_COMPRESS_H

/* Data that is compressed once, kept in pinned memory and sent by several measurements. */
struct kwhy_bench_packet;

void kwhy_bench_packet_free(struct kwhy_bench_packet *packet);

#endif
