/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fuzzes a connection to `kwhy serve`. A client sends the input in pieces, whose length the first byte gives.
 * It may pause for longer than the server waits, read no answer, or end the connection early. Each answer
 * must begin with a status line, and nothing may end or block the server.
 */
#include "serve/server.h"

#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

enum { ANSWER_BYTES = 1 << 16 };

static struct kwhy_server *server;
static union kwhy_address address;

static void write_metrics(void *context, enum kwhy_exposition_form form, struct kwhy_text *out)
{
	(void)context;
	kwhy_text_addf(out, "kwhy_form %d\n", (int)form);
}

static void write_page(void *context, struct kwhy_text *out)
{
	(void)context;
	kwhy_text_add(out, "<!doctype html><title>kwhy</title>");
}

static void open_server(void)
{
	static struct kwhy_server_request request = {
		.listen = "127.0.0.1:0", .write_metrics = write_metrics, .write_page = write_page};
	struct kwhy_error error = {0};

	if (kwhy_address_read(request.listen, &request.address, &error) ||
		kwhy_server_open(&request, &server, &error))
		abort();
	address = kwhy_server_address(server);
}

static void run_server(void)
{
	struct pollfd ready = {.fd = kwhy_server_fd(server), .events = POLLIN};

	/* no waiting: what a client on this machine has sent is there at once */
	for (int i = 0; i < 8 && (poll(&ready, 1, 0) > 0 || kwhy_server_wait_ms(server, 1) == 0); i++)
		kwhy_server_run(server);
}

static size_t read_answer(int client, char *answer, size_t length)
{
	ssize_t got = recv(client, answer + length, ANSWER_BYTES - length, MSG_DONTWAIT);

	return got > 0 ? length + (size_t)got : length;
}

static void check_answer(const char *answer, size_t length)
{
	if (length && (length < 13 || memcmp(answer, "HTTP/1.", 7) != 0 || answer[8] != ' '))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	static char answer[ANSWER_BYTES];
	const size_t piece = length ? data[0] % 64 + (data[0] >= 128 ? 4096 : 1) : 1;
	int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	size_t answered = 0;

	if (!server)
		open_server();
	if (client < 0 || connect(client, &address.any, sizeof(address.v4)))
		abort();
	for (size_t at = 1; at < length; at += piece) {
		size_t left = length - at;

		if (send(client, data + at, left < piece ? left : piece, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
			break;
		run_server();
		answered = read_answer(client, answer, answered);
	}
	shutdown(client, SHUT_WR);
	run_server();
	answered = read_answer(client, answer, answered);
	check_answer(answer, answered);
	close(client);
	run_server();
	return 0;
}
