/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_ACCEPT_H
#define KWHY_SERVE_ACCEPT_H

#include "serve/exposition.h"

/* The form that a client's Accept header prefers; NULL or nonsense: Prometheus text, which all can read. */
enum kwhy_exposition_form kwhy_accept_form(const char *accept);

/*
 * Whether an Authorization header carries the token ("Bearer TOKEN"). The time that takes tells nothing of
 * the token but its length. NULL header: no.
 */
bool kwhy_accept_token(const char *authorization, const char *token);

/*
 * Whether a Host header ("localhost:9835") names this machine: localhost, a loopback address, or the host of
 * the address that the server was told to listen on. A page of the web whose name was made to lead here (DNS
 * rebinding) sends its own name. NULL: yes, no browser leaves it out.
 */
bool kwhy_accept_host(const char *host, const char *listen);

#endif
