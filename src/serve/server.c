/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/server.h"

#include "base/clock.h"
#include "serve/accept.h"
#include "serve/connections.h"
#include "serve/page.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/*
 * Limit of the memory of one connection for its request, in bytes: far more than a scraper needs.
 * libmicrohttpd answers a larger request with status 414 or 431.
 */
enum { REQUEST_BYTES_MAX = 32768, OPTIONS = 10 };

struct kwhy_server {
	struct MHD_Daemon *daemon;
	struct kwhy_server_request request;
	struct kwhy_connections connections;
	int fd; /* descriptor of libmicrohttpd's epoll set */
};

/* An answer before it is passed to libmicrohttpd. */
struct answer {
	unsigned status;
	const char *content_type;
	struct kwhy_text body;
	const char *header, *value; /* header that only some answers have, such as Allow; header NULL: none */
};

static void answer_shortly(struct answer *answer, unsigned status, const char *words)
{
	answer->status = status;
	answer->content_type = "text/plain; charset=utf-8";
	kwhy_text_add(&answer->body, words);
}

static const char *header_of(struct MHD_Connection *connection, const char *name)
{
	return MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
}

static bool is_allowed(const struct kwhy_server *server, struct MHD_Connection *connection)
{
	return !server->request.token ||
		kwhy_accept_token(
			header_of(connection, MHD_HTTP_HEADER_AUTHORIZATION), server->request.token);
}

/*
 * Whether the Host headers of a request that were visited so far are accepted. All must be: of several, a
 * proxy in front of this server may use another one than this server would.
 */
struct hosts {
	const char *listen;
	bool accepted;
};

static enum MHD_Result check_header(
	void *context, enum MHD_ValueKind kind, const char *name, const char *value)
{
	struct hosts *hosts = context;

	(void)kind;
	if (strcasecmp(name, MHD_HTTP_HEADER_HOST) == 0)
		hosts->accepted &= kwhy_accept_host(value, hosts->listen);
	return MHD_YES;
}

static bool is_for_us(const struct kwhy_server *server, struct MHD_Connection *connection)
{
	struct hosts hosts = {server->request.listen, true};

	if (server->request.token || server->request.any_host)
		return true;
	(void)MHD_get_connection_values(connection, MHD_HEADER_KIND, check_header, &hosts);
	return hosts.accepted;
}

static void answer_metrics(
	const struct kwhy_server *server, struct MHD_Connection *connection, struct answer *answer)
{
	enum kwhy_exposition_form form = kwhy_accept_form(header_of(connection, MHD_HTTP_HEADER_ACCEPT));

	answer->status = MHD_HTTP_OK;
	answer->content_type = kwhy_exposition_content_type(form);
	server->request.write_metrics(server->request.context, form, &answer->body);
}

static void decide(const struct kwhy_server *server, struct MHD_Connection *connection, const char *url,
	const char *method, struct answer *answer)
{
	if (!is_allowed(server, connection)) {
		answer_shortly(answer, MHD_HTTP_UNAUTHORIZED, "this needs the token\n");
		answer->header = MHD_HTTP_HEADER_WWW_AUTHENTICATE;
		answer->value = "Bearer realm=\"kwhy\"";
	} else if (!is_for_us(server, connection)) {
		answer_shortly(answer, MHD_HTTP_FORBIDDEN,
			"this Host is not a name of this machine; ask for localhost, or serve with --token "
			"or --allow-open\n");
	} else if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
		answer_shortly(answer, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
		answer->header = MHD_HTTP_HEADER_ALLOW;
		answer->value = "GET, HEAD";
	} else if (strcmp(url, "/metrics") == 0) {
		answer_metrics(server, connection, answer);
	} else if (strcmp(url, "/") == 0) {
		answer->status = MHD_HTTP_OK;
		answer->content_type = "text/html; charset=utf-8";
		server->request.write_page(server->request.context, &answer->body);
	} else {
		answer_shortly(answer, MHD_HTTP_NOT_FOUND, "only / and /metrics are here\n");
	}
	if (answer->body.failed) {
		kwhy_text_done(&answer->body);
		answer_shortly(answer, MHD_HTTP_INTERNAL_SERVER_ERROR, "out of memory\n");
	}
}

static void add_headers(struct MHD_Response *response, const struct answer *answer)
{
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, answer->content_type);
	(void)MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	(void)MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
	(void)MHD_add_response_header(response, "Content-Security-Policy", KWHY_PAGE_POLICY);
	if (answer->header)
		(void)MHD_add_response_header(response, answer->header, answer->value);
}

/*
 * Passes an answer to libmicrohttpd, which sends it. libmicrohttpd owns and frees the body from then on.
 * MHD_NO: memory is exhausted; libmicrohttpd then closes the connection.
 */
static enum MHD_Result send_answer(struct MHD_Connection *connection, struct answer *answer)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(
		answer->body.length, answer->body.data, MHD_RESPMEM_MUST_FREE);
	enum MHD_Result result;

	if (!response) {
		kwhy_text_done(&answer->body);
		return MHD_NO;
	}
	add_headers(response, answer);
	result = MHD_queue_response(connection, answer->status, response);
	MHD_destroy_response(response);
	return result;
}

static bool has_body(struct MHD_Connection *connection)
{
	return header_of(connection, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
		header_of(connection, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

/*
 * Handles a request. libmicrohttpd calls this when it has read the headers, with *state NULL, and again at
 * the end of the request. A request is answered in the second call. One with a body, which no path accepts,
 * is answered in the first, after which libmicrohttpd closes its connection instead of reading the body.
 */
static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
	const char *method, const char *version, const char *upload, size_t *upload_bytes, void **state)
{
	struct answer answer = {0};

	(void)version;
	(void)upload;
	(void)upload_bytes;
	if (!*state && !has_body(connection)) {
		*state = context;
		return MHD_YES;
	}
	decide(context, connection, url, method, &answer);
	return send_answer(connection, &answer);
}

/*
 * Adds a connection to the table when it starts and removes it when it is closed. libmicrohttpd stores
 * *connection_state for the life of the connection: its entry in the table, or NULL.
 */
static void note_connection(void *context, struct MHD_Connection *connection, void **connection_state,
	enum MHD_ConnectionNotificationCode what)
{
	struct kwhy_server *server = context;
	const union MHD_ConnectionInfo *info;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		kwhy_connections_remove(*connection_state);
		return;
	}
	info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
	*connection_state = kwhy_connections_add(
		&server->connections, info->connect_fd, kwhy_clock_mono_ns());
}

static void note_answered(void *context, struct MHD_Connection *connection, void **request_state,
	enum MHD_RequestTerminationCode how)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(
		connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	(void)context;
	(void)request_state;
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK && info && info->socket_context)
		kwhy_connections_renew(info->socket_context, kwhy_clock_mono_ns());
}

/* Priority string of GnuTLS: only TLS 1.2 and 1.3, as earlier versions have known weaknesses. */
static const char tls_versions[] = "SECURE128:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";

static enum kwhy_status start(struct kwhy_server *server, int listener, struct kwhy_error *error)
{
	struct MHD_OptionItem options[OPTIONS] = {
		{MHD_OPTION_CONNECTION_LIMIT, KWHY_CONNECTIONS_MAX, NULL},
		{MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)note_connection, server},
		{MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)note_answered, server},
		{MHD_OPTION_CONNECTION_MEMORY_LIMIT, REQUEST_BYTES_MAX, NULL},
		{MHD_OPTION_LISTEN_SOCKET, listener, NULL},
		{MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
		{MHD_OPTION_END, 0, NULL},
	};
	unsigned flags = MHD_USE_EPOLL;

	if (server->request.cert_pem) {
		flags |= MHD_USE_TLS;
		options[6] = (struct MHD_OptionItem){
			MHD_OPTION_HTTPS_MEM_CERT, 0, (void *)(uintptr_t)server->request.cert_pem};
		options[7] = (struct MHD_OptionItem){
			MHD_OPTION_HTTPS_MEM_KEY, 0, (void *)(uintptr_t)server->request.key_pem};
		options[8] = (struct MHD_OptionItem){MHD_OPTION_HTTPS_PRIORITIES, 0,
			(void *)(uintptr_t)tls_versions}; /* priority string of GnuTLS */
		options[9] = (struct MHD_OptionItem){MHD_OPTION_END, 0, NULL};
	}
	server->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, handle, server, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
	if (server->daemon)
		return KWHY_OK;
	/*
	 * If TLS failed to start, libmicrohttpd has closed the listening socket. So it is not closed here:
	 * another thread may have opened a file that got the same number.
	 */
	if (flags & MHD_USE_TLS)
		return kwhy_fail(error, KWHY_E_INPUT,
			"TLS cannot start; are certificate and key PEM files that belong together, and is "
			"the limit of open files high enough?");
	close(listener);
	return kwhy_fail(
		error, KWHY_E_IO, "the HTTP server cannot start; is the limit of open files too low?");
}

enum kwhy_status kwhy_server_open(
	const struct kwhy_server_request *request, struct kwhy_server **out, struct kwhy_error *error)
{
	struct kwhy_server *server;
	enum kwhy_status status;
	int listener;

	if (request->cert_pem && MHD_is_feature_supported(MHD_FEATURE_TLS) != MHD_YES)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the libmicrohttpd of this machine was built without TLS; leave --tls-cert out");
	server = calloc(1, sizeof(*server));
	if (!server)
		return kwhy_fail_memory(error, "the HTTP server");
	server->request = *request;
	status = kwhy_address_listen(&server->request.address, &listener, error);
	if (!status)
		status = start(server, listener, error);
	if (status) {
		free(server);
		return status;
	}
	server->fd = MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
	*out = server;
	return KWHY_OK;
}

void kwhy_server_close(struct kwhy_server *server)
{
	if (!server)
		return;
	MHD_stop_daemon(server->daemon);
	free(server);
}

union kwhy_address kwhy_server_address(const struct kwhy_server *server)
{
	return server->request.address;
}

int kwhy_server_fd(const struct kwhy_server *server)
{
	return server->fd;
}

int kwhy_server_wait_ms(const struct kwhy_server *server, int most_ms)
{
	MHD_UNSIGNED_LONG_LONG wait_ms;

	if (MHD_get_timeout(server->daemon, &wait_ms) != MHD_YES || wait_ms > (unsigned)most_ms)
		return most_ms;
	return (int)wait_ms;
}

void kwhy_server_run(struct kwhy_server *server)
{
	kwhy_connections_expire(&server->connections, kwhy_clock_mono_ns());
	(void)MHD_run(server->daemon);
}
