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
 * Parses "127.0.0.1:9835", "localhost:9835" or "[::1]:9835". ":9835" and "[::]:9835" stand for every address
 * of the machine, including IPv6 addresses if the system supports IPv6. KWHY_E_USAGE: the text is no address.
 */
KWHY_MUST_USE enum kwhy_status kwhy_address_read(
	const char *text, union kwhy_address *out, struct kwhy_error *error);

/* Whether only programs on this machine can reach the address. */
bool kwhy_address_is_loopback(const union kwhy_address *address);

#define KWHY_ADDRESS_BYTES 64
/* Writes the address as in a URL: "127.0.0.1:9835", "[::1]:9835". Returns `out`. */
const char *kwhy_address_write(const union kwhy_address *address, char out[KWHY_ADDRESS_BYTES]);

/*
 * Opens a socket that listens at the address and is closed in programs that this process executes. Port 0 in
 * the address is replaced by the port that the system chose.
 */
KWHY_MUST_USE enum kwhy_status kwhy_address_listen(
	union kwhy_address *address, int *out_socket, struct kwhy_error *error);

#endif
