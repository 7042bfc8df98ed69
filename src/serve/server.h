/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_SERVER_H
#define KWHY_SERVE_SERVER_H

#include "serve/address.h"
#include "serve/exposition.h"

#include <stddef.h>

/*
 * Serves the metrics over HTTP by libmicrohttpd: GET and HEAD of / and /metrics. It has no thread; its owner
 * calls kwhy_server_run() when the server's descriptor is readable and when kwhy_server_wait_ms() has passed.
 * The number of connections, the bytes of a request and the time of each are bounded (serve/connections.h).
 */
struct kwhy_server;

struct kwhy_server_request {
	union kwhy_address address;
	const char *token;		/* required in every request; NULL: no token */
	const char *listen;		/* text from which `address` was read; a Host header may name it */
	bool any_host;			/* accept any Host header; a token implies it */
	const char *cert_pem, *key_pem; /* PEM text for HTTPS; set both or neither */
	/* Write the present metrics and the HTML page. Called by kwhy_server_run(). */
	void (*write_metrics)(void *context, enum kwhy_exposition_form form, struct kwhy_text *out);
	void (*write_page)(void *context, struct kwhy_text *out);
	void *context;
};

/* Strings are borrowed and must outlive the server. */
KWHY_MUST_USE enum kwhy_status kwhy_server_open(
	const struct kwhy_server_request *request, struct kwhy_server **out, struct kwhy_error *error);
void kwhy_server_close(struct kwhy_server *server);

/* The address that the server listens at; port 0 has become the one that the system chose. */
union kwhy_address kwhy_server_address(const struct kwhy_server *server);

int kwhy_server_fd(const struct kwhy_server *server);
/* Milliseconds until kwhy_server_run() has work that its descriptor does not signal; at most `most_ms`. */
int kwhy_server_wait_ms(const struct kwhy_server *server, int most_ms);
void kwhy_server_run(struct kwhy_server *server);

#endif
