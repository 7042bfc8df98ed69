/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LIVE_KUBELET_H
#define KWHY_CLI_LIVE_KUBELET_H

#include "owners/allocations.h"

/*
 * Asks the kubelet of this machine which containers have which devices: the call List of
 * v1.PodResourcesLister, by gRPC over the kubelet's socket. The call is made by libcurl, which is loaded at
 * run time, and only if the socket exists. Only one thread at a time may use it.
 */
struct kwhy_kubelet;

/*
 * `root`: the folder that contains var/lib/kubelet; NULL: "/". The text is copied. If the socket exists,
 * kwhy_kubelet_open() makes a first request and waits at most one second for its answer.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kubelet_open(
	const char *root, struct kwhy_kubelet **out, struct kwhy_error *error);
/* Whether a request is in flight, so that kwhy_kubelet_tick() should be called soon. */
bool kwhy_kubelet_is_asking(const struct kwhy_kubelet *kubelet);
/* NULL does nothing. */
void kwhy_kubelet_close(struct kwhy_kubelet *kubelet);

/*
 * Sends a request if it is due, and reads an answer that has arrived. Call it about once a second. It waits
 * for at most some milliseconds. Returns a sentence for the user, or NULL.
 */
const char *kwhy_kubelet_tick(struct kwhy_kubelet *kubelet, int64_t now_mono_ns);

/* The allocations of the last answer; empty if the kubelet has not answered for five minutes. */
const struct kwhy_allocations *kwhy_kubelet_allocations(const struct kwhy_kubelet *kubelet);

/*
 * Reads the body of an answer, one gRPC message, into `out`. `out` must be empty; the caller frees it, also
 * after a failure. KWHY_E_INPUT: the body is not such a message.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kubelet_read(
	const void *bytes, size_t length, struct kwhy_allocations *out, struct kwhy_error *error);

#endif
