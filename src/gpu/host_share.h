/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_HOST_SHARE_H
#define KWHY_GPU_HOST_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Shares a memory file with other processes of this user on this host. Its descriptor is sent over a Unix
 * socket to any process that connects and that, by SO_PEERCRED, belongs to this user. Numbers of descriptors
 * or processes are never taken from another process.
 */

/* The name of the shared file, which the other processes receive. */
struct kwhy_gpu_host_loan {
	char name[8]; /* name of the socket, five digits that the system assigned */
	uint64_t bytes;
};

struct kwhy_gpu_host_lender;

/*
 * Starts a thread that sends `file` to other processes until the lender is closed; the caller keeps ownership
 * of the file. NULL: errno has the reason.
 */
struct kwhy_gpu_host_lender *kwhy_gpu_host_lend(int file, size_t bytes, struct kwhy_gpu_host_loan *out);
void kwhy_gpu_host_lender_close(struct kwhy_gpu_host_lender *lender);

/* Receives the descriptor of a file of this size, which cannot shrink; -1: errno has the reason. */
int kwhy_gpu_host_borrow(const struct kwhy_gpu_host_loan *loan);

#endif
