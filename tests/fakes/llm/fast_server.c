/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A server with an OpenAI-compatible API for many concurrent requests, on one thread. It streams a fixed
 * number of tokens at equal intervals and checks nothing.
 *
 * Usage: fast_server PORT_FILE TOKENS GAP_MS. It writes the port on which it listens to PORT_FILE. The
 * first token comes GAP_MS after the request; if GAP_MS is 0, the whole answer comes at once.
 */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { FDS_MAX = 65536, EVENTS = 512, REQUEST_BYTES = 65536, ANSWER_BYTES = 65536 };

struct connection {
	char *request; /* bytes of a request that is not complete yet */
	size_t length;
	int sent; /* number of tokens of the present answer that were sent */
};

/*
 * An answer whose next token is due at due_ns. All intervals are equal, so the queue of them (turns) is
 * sorted by time.
 */
struct turn {
	int64_t due_ns;
	int fd;
};

static struct connection connections[FDS_MAX];
static struct turn turns[FDS_MAX];
static size_t first_turn, turn_count;
static int tokens, poll_fd;
static int64_t gap_ns;

static int64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void drop(int fd)
{
	free(connections[fd].request);
	connections[fd] = (struct connection){0};
	close(fd);
}

static void put(int fd, const char *bytes, size_t length)
{
	if (send(fd, bytes, length, MSG_NOSIGNAL | MSG_DONTWAIT) != (ssize_t)length)
		shutdown(fd, SHUT_RDWR);
}

static size_t add_chunk(char *out, const char *text)
{
	return (size_t)sprintf(out, "%zx\r\n%s\r\n", strlen(text), text);
}

static size_t add_token(char *out, int index)
{
	char text[256];

	snprintf(text, sizeof(text),
		"data: "
		"{\"id\":\"x\",\"object\":\"chat.completion.chunk\",\"choices\":[{\"index\":0,\"delta\":{"
		"\"content\":\" word\"},\"finish_reason\":%s}]}\n\n",
		index + 1 == tokens ? "\"stop\"" : "null");
	return add_chunk(out, text);
}

static size_t add_end(char *out)
{
	char text[256];
	size_t length;

	snprintf(text, sizeof(text),
		"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":%d}}\n\n",
		tokens);
	length = add_chunk(out, text);
	length += add_chunk(out + length, "data: [DONE]\n\n");
	return length + (size_t)sprintf(out + length, "0\r\n\r\n");
}

/*
 * Sends the next token of an answer and queues the rest for gap_ns later. If gap_ns is 0, sends all tokens at
 * once.
 */
static void go_on(int fd)
{
	static char out[ANSWER_BYTES];
	struct connection *connection = &connections[fd];
	size_t length = 0;

	if (!connection->sent)
		length += (size_t)sprintf(out,
			"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: "
			"chunked\r\n\r\n");
	do
		length += add_token(out + length, connection->sent++);
	while (!gap_ns && connection->sent < tokens);
	if (connection->sent == tokens) {
		length += add_end(out + length);
		connection->sent = 0;
	} else {
		turns[(first_turn + turn_count++) % FDS_MAX] = (struct turn){now() + gap_ns, fd};
	}
	put(fd, out, length);
}

static void answer(int fd, const char *request)
{
	static const char list[] =
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 24\r\n\r\n"
		"{\"data\":[{\"id\":\"fast\"}]}";

	if (strncmp(request, "GET", 3) == 0) {
		put(fd, list, sizeof(list) - 1);
	} else if (gap_ns) {
		turns[(first_turn + turn_count++) % FDS_MAX] = (struct turn){now() + gap_ns, fd};
	} else {
		go_on(fd);
	}
}

/*
 * Whether the bytes so far are a complete request: its header, and a body of Content-Length bytes. Clients
 * send no request before the answer to the one before.
 */
static int is_complete(const struct connection *connection)
{
	const char *end = strstr(connection->request, "\r\n\r\n");
	const char *field = strcasestr(connection->request, "\r\nContent-Length:");
	size_t body = field && field < end ? strtoul(field + 17, NULL, 10) : 0;

	return end && connection->length >= (size_t)(end + 4 - connection->request) + body;
}

static void receive(int fd)
{
	struct connection *connection = &connections[fd];
	ssize_t got;

	if (!connection->request)
		connection->request = malloc(REQUEST_BYTES);
	got = recv(fd, connection->request + connection->length, REQUEST_BYTES - 1 - connection->length, 0);
	if (got <= 0) {
		drop(fd);
		return;
	}
	connection->length += (size_t)got;
	connection->request[connection->length] = '\0';
	if (!is_complete(connection))
		return;
	answer(fd, connection->request);
	free(connection->request);
	connection->request = NULL;
	connection->length = 0;
}

static void take_connections(int listener)
{
	int fd, one = 1;

	while ((fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK)) >= 0) {
		struct epoll_event event = {.events = EPOLLIN, .data.fd = fd};

		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		epoll_ctl(poll_fd, EPOLL_CTL_ADD, fd, &event);
	}
}

static int open_listener(const char *port_file)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t length = sizeof(address);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
	char path[4096];
	FILE *file;

	if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) != 0 ||
		listen(listener, 16384) != 0 ||
		getsockname(listener, (struct sockaddr *)&address, &length) != 0)
		return -1;
	snprintf(path, sizeof(path), "%s.new", port_file);
	file = fopen(path, "w");
	if (!file)
		return -1;
	fprintf(file, "%d", ntohs(address.sin_port));
	fclose(file);
	return rename(path, port_file) == 0 ? listener : -1;
}

static int wait_ms(void)
{
	int64_t left_ns = turn_count ? turns[first_turn].due_ns - now() : INT64_C(1000000000);

	return left_ns > 0 ? (int)(left_ns / 1000000) : 0;
}

int main(int argc, char **argv)
{
	struct rlimit limit;
	struct epoll_event event = {.events = EPOLLIN}, events[EVENTS];
	int listener;

	if (argc != 4)
		return 2;
	tokens = (int)strtol(argv[2], NULL, 10);
	gap_ns = (int64_t)(strtod(argv[3], NULL) * 1e6);
	getrlimit(RLIMIT_NOFILE, &limit);
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
	poll_fd = epoll_create1(0);
	listener = open_listener(argv[1]);
	if (listener < 0)
		return 1;
	event.data.fd = listener;
	epoll_ctl(poll_fd, EPOLL_CTL_ADD, listener, &event);
	for (;;) {
		int count = epoll_wait(poll_fd, events, EVENTS, wait_ms());

		for (int i = 0; i < count; i++) {
			if (events[i].data.fd == listener)
				take_connections(listener);
			else
				receive(events[i].data.fd);
		}
		for (int64_t now_ns = now(); turn_count && turns[first_turn].due_ns <= now_ns;) {
			int fd = turns[first_turn].fd;

			first_turn = (first_turn + 1) % FDS_MAX;
			turn_count--;
			go_on(fd);
		}
	}
}
