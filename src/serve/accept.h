/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_ACCEPT_H
#define KWHY_SERVE_ACCEPT_H

#include "serve/exposition.h"

/*
 * The text format that a client's Accept header prefers. NULL or a malformed header: Prometheus text, which
 * every scraper reads.
 */
enum kwhy_exposition_form kwhy_accept_form(const char *accept);

/*
 * Whether an Authorization header ("Bearer TOKEN") has this token. The time that the comparison takes depends
 * on the token's length, not on its characters. NULL header: false.
 */
bool kwhy_accept_token(const char *authorization, const char *token);

/*
 * Whether a Host header ("localhost:9835") names this machine: localhost, a loopback address, or the host in
 * `listen`, the address option of the server. A web page whose host name was made to resolve to this machine
 * (DNS rebinding) sends its own host name and is thereby refused. NULL header: true, since every browser
 * sends one.
 */
bool kwhy_accept_host(const char *host, const char *listen);

#endif
