/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_ACCEPT_H
#define KWHY_SERVE_ACCEPT_H

#include "serve/exposition.h"

/*
 * The form that a client's Accept header prefers. NULL or a malformed header: Prometheus text, which every
 * scraper reads.
 */
enum kwhy_exposition_form kwhy_accept_form(const char *accept);

/*
 * Whether an Authorization header carries the token ("Bearer TOKEN"). The time of the comparison reveals only
 * the token's length. NULL header: false.
 */
bool kwhy_accept_token(const char *authorization, const char *token);

/*
 * Whether a Host header ("localhost:9835") names this machine: localhost, a loopback address, or the host of
 * the address that the server was told to listen on. A web page whose name was made to resolve to this
 * machine (DNS rebinding) sends its own name. NULL header: true, since every browser sends one.
 */
bool kwhy_accept_host(const char *host, const char *listen);

#endif
