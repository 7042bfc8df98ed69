/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_CLI_LIVE_KUBELET_H
#define KWHY_CLI_LIVE_KUBELET_H

#include "owners/allocations.h"

/*
 * Asks the kubelet of this machine which containers have which devices: the call List of
 * v1.PodResourcesLister, gRPC over the kubelet's socket, by libcurl, which is loaded at run time and only if
 * the socket is there. Only one thread at a time may use it.
 */
struct kwhy_kubelet;

/*
 * `root`: folder below which var/lib/kubelet lies; NULL: "/". It is copied. If the socket is there, this
 * waits for an answer, for a second at most.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kubelet_open(
	const char *root, struct kwhy_kubelet **out, struct kwhy_error *error);
/* NULL does nothing. */
void kwhy_kubelet_close(struct kwhy_kubelet *kubelet);

/*
 * Asks if it is time to, and takes an answer that has come. To be called about once a second. It waits for
 * some milliseconds at most. Returns a sentence for the user, or NULL.
 */
const char *kwhy_kubelet_tick(struct kwhy_kubelet *kubelet, int64_t now_mono_ns);

/* The devices by the last answer; none if the kubelet has not answered for five minutes. */
const struct kwhy_allocations *kwhy_kubelet_allocations(const struct kwhy_kubelet *kubelet);

/*
 * Reads the body of an answer, one gRPC message, into `out`, which must be empty and which the caller frees,
 * also after a failure. KWHY_E_INPUT: it is not such a message.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kubelet_read(
	const void *bytes, size_t length, struct kwhy_allocations *out, struct kwhy_error *error);

#endif
