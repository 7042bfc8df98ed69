/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAUNCH_TEE_H
#define KWHY_LAUNCH_TEE_H

#include "base/status.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Receives the output of a child, in chunks as they were read, which may contain any bytes. `stream`: 1 is
 * standard output, 2 standard error.
 */
typedef void kwhy_output_seen(
	void *context, int stream, int64_t time_mono_ns, const char *bytes, size_t length);

/*
 * Reads one output stream of a child from a pipe, passes the bytes to `seen` and writes them unchanged to
 * `target`. It reads more only when all that it read before is written, and it never blocks on the target. So
 * a slow reader of the target delays the child and not kwhy.
 */
struct kwhy_tee {
	int child_end, source, target; /* descriptors: write end of the pipe, read end of the pipe, and where
					  the bytes go; -1: closed or none */
	int stream;
	kwhy_output_seen *seen;
	void *context;
	char *held; /* bytes that were read; those from `start` to `end` are still to be written. Space for
		       TEE_BYTES */
	size_t start, end;
	size_t budget; /* number of bytes that may still be read from the pipe; SIZE_MAX: no limit */
	bool broken;   /* writing to the target failed; its reader has closed it */
};

/*
 * Opens a tee. `target` is a descriptor that stays the caller's; -1: the bytes are passed to `seen` alone.
 * The child gets tee->child_end as its output; the caller closes it by kwhy_tee_close_child_end() once the
 * child is started.
 */
KWHY_MUST_USE enum kwhy_status kwhy_tee_open(struct kwhy_tee *tee, int stream, int target,
	kwhy_output_seen *seen, void *context, struct kwhy_error *error);
void kwhy_tee_close_child_end(struct kwhy_tee *tee);
void kwhy_tee_close(struct kwhy_tee *tee);

/*
 * Descriptor and events that poll() should wait for: writing if bytes are held, else reading; fd -1: nothing
 * more will come.
 */
struct pollfd kwhy_tee_wants(const struct kwhy_tee *tee);
/* Writes held bytes once or, if there are none, reads once. found: revents of poll(); 0: does nothing. */
void kwhy_tee_move(struct kwhy_tee *tee, short found);
bool kwhy_tee_holds(const struct kwhy_tee *tee); /* whether there are bytes that are not written yet */

/*
 * To be called when the child has ended: limits further reading to the capacity of a pipe (64 KiB), so that
 * descendants of the child that still write cannot keep this process waiting for ever.
 */
void kwhy_tee_last(struct kwhy_tee *tee);

#endif
