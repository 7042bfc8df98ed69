/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_ACCEPT_H
#define KWHY_SERVE_ACCEPT_H

#include "serve/exposition.h"

/*
 * The text format that a client's Accept header prefers. If the header is NULL or malformed, it is Prometheus
 * text, which every scraper can read.
 */
enum kwhy_exposition_form kwhy_accept_form(const char *accept);

/*
 * Whether an Authorization header ("Bearer TOKEN") has this token. The duration of the comparison depends on
 * the token's length and not on its characters. NULL header: false.
 */
bool kwhy_accept_token(const char *authorization, const char *token);

/*
 * Whether a Host header ("localhost:9835") names this machine: localhost, a loopback address, or the host in
 * `listen`, the address option of the server. This refuses web pages whose host name was made to resolve to
 * this machine (DNS rebinding), because their requests have that host name. NULL header: true, because every
 * browser sends one.
 */
bool kwhy_accept_host(const char *host, const char *listen);

#endif
