/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_ADDRESS_H
#define KWHY_SERVE_ADDRESS_H

#include "base/status.h"

#include <netinet/in.h>
#include <stdbool.h>

union kwhy_address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

/*
 * Parses "127.0.0.1:9835", "localhost:9835" or "[::1]:9835". "[::]:9835" listens on every address of the
 * machine, IPv4 and IPv6; ":9835" does too, and also works where the system has no IPv6. KWHY_E_USAGE: the
 * text is no address, or its host is not found.
 */
KWHY_MUST_USE enum kwhy_status kwhy_address_read(
	const char *text, union kwhy_address *out, struct kwhy_error *error);

/* Whether it is a loopback address, which only programs on this machine can reach. */
bool kwhy_address_is_loopback(const union kwhy_address *address);

#define KWHY_ADDRESS_BYTES 64
/* Writes the address as in a URL: "127.0.0.1:9835", "[::1]:9835". Returns `out`. */
const char *kwhy_address_write(const union kwhy_address *address, char out[KWHY_ADDRESS_BYTES]);

/*
 * Opens a nonblocking socket that listens at the address; programs that this process executes do not inherit
 * it. If the port in *address is 0, it is replaced by the one that the system chose.
 */
KWHY_MUST_USE enum kwhy_status kwhy_address_listen(
	union kwhy_address *address, int *out_socket, struct kwhy_error *error);

#endif
