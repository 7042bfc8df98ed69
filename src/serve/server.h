/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_SERVE_SERVER_H
#define KWHY_SERVE_SERVER_H

#include "serve/address.h"
#include "serve/exposition.h"

#include <stddef.h>

/*
 * The metrics over HTTP, by libmicrohttpd: GET and HEAD of / and /metrics. It has no thread; its owner calls
 * kwhy_server_run() when the server's descriptor is readable and when its time has come. Bounded:
 * connections, bytes of a request, time of each (serve/connections.h).
 */
struct kwhy_server;

struct kwhy_server_request {
	union kwhy_address address;
	const char *token;		/* wanted in every request; NULL: none */
	const char *listen;		/* `address` as it was asked for: a Host that names this machine */
	bool any_host;			/* take any Host header; with a token that is so anyway */
	const char *cert_pem, *key_pem; /* both or neither */
	/* Write the metrics of now, and the page of HTML. Called by kwhy_server_run(). */
	void (*write_metrics)(void *context, enum kwhy_exposition_form form, struct kwhy_text *out);
	void (*write_page)(void *context, struct kwhy_text *out);
	void *context;
};

/* Strings are borrowed and must outlive the server. */
KWHY_MUST_USE enum kwhy_status kwhy_server_open(
	const struct kwhy_server_request *request, struct kwhy_server **out, struct kwhy_error *error);
void kwhy_server_close(struct kwhy_server *server);

/* Where it listens; the port is the system's choice when 0 was asked for. */
union kwhy_address kwhy_server_address(const struct kwhy_server *server);

int kwhy_server_fd(const struct kwhy_server *server);
/* Milliseconds until kwhy_server_run() has work that its descriptor does not tell of; at most `most_ms`. */
int kwhy_server_wait_ms(const struct kwhy_server *server, int most_ms);
void kwhy_server_run(struct kwhy_server *server);

#endif
