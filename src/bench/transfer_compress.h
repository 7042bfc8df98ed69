/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_BENCH_TRANSFER_COMPRESS_H
#define KWHY_BENCH_TRANSFER_COMPRESS_H

/* Data compressed once, in pinned memory, that several measurements send. */
struct kwhy_transfer_packet;

void kwhy_transfer_packet_free(struct kwhy_transfer_packet *packet);

#endif
