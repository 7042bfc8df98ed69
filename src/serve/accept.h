/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_ACCEPT_H
#define KWHY_SERVE_ACCEPT_H

#include "serve/exposition.h"

/*
 * The text format of an answer: OpenMetrics if the Accept header gives it a higher weight than text/plain,
 * else, also if the header is NULL, Prometheus text.
 */
enum kwhy_exposition_form kwhy_accept_form(const char *accept);

/*
 * Whether an Authorization header is "Bearer TOKEN" with this token. NULL header: false. The time of the
 * comparison does not depend on how many characters agree, so that it does not reveal the token.
 */
bool kwhy_accept_token(const char *authorization, const char *token);

/*
 * Whether the host in a Host header ("localhost:9835") is localhost, a loopback address, or the host in
 * `listen`, the text of the address at which the server listens. Others are refused against DNS rebinding: a
 * web page whose own host name resolves to this machine could read the answers, but its requests carry that
 * host name. NULL header: true, because browsers always send one.
 */
bool kwhy_accept_host(const char *host, const char *listen);

#endif
