/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_SERVER_H
#define KWHY_SERVE_SERVER_H

#include "serve/address.h"
#include "serve/exposition.h"

#include <stddef.h>

/*
 * An HTTP server (libmicrohttpd) that answers GET and HEAD of /, an HTML page, and of /metrics. It has no
 * thread of its own: its caller must call kwhy_server_run() whenever the descriptor kwhy_server_fd() is
 * readable, and after kwhy_server_wait_ms(). The number of connections, the size of a request and the time of
 * an answer are limited (serve/connections.h).
 */
struct kwhy_server;

struct kwhy_server_request {
	union kwhy_address address;
	const char *token;  /* token that each request must have in "Authorization: Bearer TOKEN"; NULL: none
			       is needed */
	const char *listen; /* text from which `address` was parsed; its host is accepted in Host headers
			       (serve/accept.h) */
	bool any_host;	    /* whether any host is accepted in Host headers; if `token` is set, any host is
			       accepted in any case */
	const char *cert_pem, *key_pem; /* certificate and key for HTTPS as PEM text; both NULL: HTTP */
	/*
	 * Functions that write the answer for /metrics and that for / into `out`; they are called by
	 * kwhy_server_run(), with `context`.
	 */
	void (*write_metrics)(void *context, enum kwhy_exposition_form form, struct kwhy_text *out);
	void (*write_page)(void *context, struct kwhy_text *out);
	void *context;
};

/*
 * Opens the listening socket and starts the server. The strings in *request are borrowed and must outlive it.
 * KWHY_E_INPUT: certificate or key are not accepted; KWHY_E_UNSUPPORTED: libmicrohttpd has no TLS; KWHY_E_IO:
 * the address cannot be used.
 */
KWHY_MUST_USE enum kwhy_status kwhy_server_open(
	const struct kwhy_server_request *request, struct kwhy_server **out, struct kwhy_error *error);
void kwhy_server_close(struct kwhy_server *server);

/*
 * The address at which the server listens; a port 0 in the request is replaced by the one that the system
 * chose.
 */
union kwhy_address kwhy_server_address(const struct kwhy_server *server);

int kwhy_server_fd(const struct kwhy_server *server);
/*
 * Time in ms after which kwhy_server_run() must be called even if the descriptor is not readable; at most
 * `most_ms`.
 */
int kwhy_server_wait_ms(const struct kwhy_server *server, int most_ms);
void kwhy_server_run(struct kwhy_server *server);

#endif
