/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_HOST_SHARE_H
#define KWHY_GPU_HOST_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A file of memory for other processes of this user on this host: its descriptor is sent over a Unix socket
 * to whoever asks there and is, as the system says (SO_PEERCRED), of this user. No number of a descriptor or
 * of a process comes from anybody else.
 */

/* What names it, and is told to the others. */
struct kwhy_gpu_host_loan {
	char name[8]; /* of the socket, as the system gave it: five digits */
	uint64_t bytes;
};

struct kwhy_gpu_host_lender;

/* A thread gives `file` away until the lender is closed; the file stays the caller's. NULL: errno says why.
 */
struct kwhy_gpu_host_lender *kwhy_gpu_host_lend(int file, size_t bytes, struct kwhy_gpu_host_loan *out);
void kwhy_gpu_host_lender_close(struct kwhy_gpu_host_lender *lender);

/* The descriptor of a file of that size, which cannot shrink any more; -1: errno says why. */
int kwhy_gpu_host_borrow(const struct kwhy_gpu_host_loan *loan);

#endif
