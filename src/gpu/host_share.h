/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_GPU_HOST_SHARE_H
#define KWHY_GPU_HOST_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Shares a memory file with other processes of the same user on this host. Its descriptor is sent over a Unix
 * socket to any process that connects and, by SO_PEERCRED, belongs to this user. So no process need open
 * another's descriptors by its process id, which could belong to another process by then.
 */

/*
 * What another process needs to find a shared file: the process that shares the file must send it a copy of
 * this struct.
 */
struct kwhy_gpu_host_loan {
	char name[8]; /* name of the socket: five hexadecimal digits, assigned by the system */
	uint64_t bytes;
};

struct kwhy_gpu_host_lender;

/*
 * Starts a thread that sends the file's descriptor to other processes until kwhy_gpu_host_lender_close(). The
 * caller keeps ownership of the file. NULL: errno says why it failed.
 */
struct kwhy_gpu_host_lender *kwhy_gpu_host_lend(int file, size_t bytes, struct kwhy_gpu_host_loan *out);
void kwhy_gpu_host_lender_close(struct kwhy_gpu_host_lender *lender);

/*
 * Receives the descriptor of a shared file. The file has the size in `loan` and cannot shrink. -1: errno says
 * why it failed.
 */
int kwhy_gpu_host_borrow(const struct kwhy_gpu_host_loan *loan);

#endif
