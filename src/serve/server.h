/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_SERVER_H
#define KWHY_SERVE_SERVER_H

#include "serve/address.h"
#include "serve/exposition.h"

#include <stddef.h>

/*
 * Serves the metrics over HTTP by libmicrohttpd: GET and HEAD of / and /metrics. It has no thread of its own;
 * its owner calls kwhy_server_run() when the server's descriptor is readable and when the time of
 * kwhy_server_wait_ms() has passed. The number of connections, the bytes of a request and the time of an
 * answer are limited (serve/connections.h).
 */
struct kwhy_server;

struct kwhy_server_request {
	union kwhy_address address;
	const char *token;  /* token that every request must have; NULL: no token */
	const char *listen; /* the text from which `address` was parsed; a Host header may contain its host
			       name */
	bool any_host;	    /* accept any Host header; this is implied if there is a token */
	const char *cert_pem, *key_pem; /* PEM text of certificate and key for HTTPS; set both or neither */
	/* Write the present metrics and the HTML page into `out`. Both are called by kwhy_server_run(). */
	void (*write_metrics)(void *context, enum kwhy_exposition_form form, struct kwhy_text *out);
	void (*write_page)(void *context, struct kwhy_text *out);
	void *context;
};

/* Starts the server. Strings of the request are borrowed and must outlive the server. */
KWHY_MUST_USE enum kwhy_status kwhy_server_open(
	const struct kwhy_server_request *request, struct kwhy_server **out, struct kwhy_error *error);
void kwhy_server_close(struct kwhy_server *server);

/* The address that the server listens at, with the port that the system chose if it was 0. */
union kwhy_address kwhy_server_address(const struct kwhy_server *server);

int kwhy_server_fd(const struct kwhy_server *server);
/*
 * Milliseconds until kwhy_server_run() has work that its descriptor does not signal, but at most `most_ms`.
 */
int kwhy_server_wait_ms(const struct kwhy_server *server, int most_ms);
void kwhy_server_run(struct kwhy_server *server);

#endif
