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

/* `root`: the folder that contains var/lib/kubelet; NULL: "/". The text is copied. No request is made yet. */
KWHY_MUST_USE enum kwhy_status kwhy_kubelet_open(
	const char *root, struct kwhy_kubelet **out, struct kwhy_error *error);
/* Whether a request is in flight; kwhy_kubelet_tick() should then be called soon to read its answer. */
bool kwhy_kubelet_is_asking(const struct kwhy_kubelet *kubelet);
/* Aborts a request in flight and frees everything; `kubelet` may be NULL. */
void kwhy_kubelet_close(struct kwhy_kubelet *kubelet);

/*
 * Sends a request every 10 s if the socket exists, and reads an answer that has arrived. To be called about
 * once a second. Waits for an answer for at most 20 ms, and in the first call for at most 1 s. Returns a
 * message for the user when requests begin to fail or succeed again, else NULL. The message is valid until
 * the next call.
 */
const char *kwhy_kubelet_tick(struct kwhy_kubelet *kubelet, int64_t now_mono_ns);

/*
 * Which containers have which devices by the last answer; empty if the kubelet has not answered for five
 * minutes.
 */
const struct kwhy_allocations *kwhy_kubelet_allocations(const struct kwhy_kubelet *kubelet);

/*
 * Reads the body of an answer, which is one gRPC message, into `out`. `out` must be empty; the caller frees
 * it, also after a failure. KWHY_E_INPUT: the body is no list of pods.
 */
KWHY_MUST_USE enum kwhy_status kwhy_kubelet_read(
	const void *bytes, size_t length, struct kwhy_allocations *out, struct kwhy_error *error);

#endif
