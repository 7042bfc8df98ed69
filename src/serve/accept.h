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

#endif
