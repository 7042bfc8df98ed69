/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_link.h"

#include "base/clock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { VERSION = 1, GREETING_S = 5, RETRY_NS = 20000000 };
/* A host that is gone is noticed within a minute. */
enum { PROBE_AFTER_S = 30, PROBE_EVERY_S = 10, PROBES = 3 };

static const char mark[8] = "kwhyrank";

/* What each says first, in the byte order of the machine: others are refused by the version. */
struct greeting {
	char mark[sizeof(mark)];
	uint32_t version, rank, size, port;
	int64_t process;
	char host[64];
};

/* Where each listens, as rank 0 sees it; family 0: on the host of rank 0. */
struct place {
	struct greeting greeting;
	struct sockaddr_storage address;
};

static enum kwhy_status lost(
	const struct kwhy_rank_link *link, uint32_t rank, bool silent, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_LOST, "rank %u (process %lld on %s) %s", rank,
		(long long)link->processes[rank], link->hosts[rank],
		silent ? "said nothing for two minutes" : "ended in the middle; what it wrote last says why");
}

static void set_silence(int socket, int seconds)
{
	const struct timeval time = {.tv_sec = seconds};

	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

static void prepare(int socket)
{
	const int on = 1, after = PROBE_AFTER_S, every = PROBE_EVERY_S, probes = PROBES;

	setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &after, sizeof(after));
	setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
	setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	set_silence(socket, GREETING_S);
}

static bool send_all(int socket, const void *bytes, size_t count)
{
	const char *at = bytes;

	while (count > 0) {
		ssize_t sent = send(socket, at, count, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		count -= (size_t)sent;
	}
	return true;
}

static bool receive_all(int socket, void *bytes, size_t count)
{
	char *at = bytes;

	errno = 0;
	while (count > 0) {
		ssize_t came = recv(socket, at, count, MSG_WAITALL);

		if (came < 0 && errno == EINTR)
			continue;
		if (came <= 0)
			return false;
		at += came;
		count -= (size_t)came;
	}
	return true;
}

static uint16_t port_of(const struct sockaddr_storage *address)
{
	return ntohs(address->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
						    : ((const struct sockaddr_in *)address)->sin_port);
}

static void set_port(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)address)->sin_port = htons(port);
}

static bool is_loopback(const struct sockaddr_storage *address)
{
	if (address->ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)address)->sin6_addr);
	return ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr) >> 24 == 127;
}

static struct sockaddr_storage loopback_of(sa_family_t family, uint16_t port)
{
	struct sockaddr_storage address = {.ss_family = family};

	if (family == AF_INET6)
		((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_loopback;
	else
		((struct sockaddr_in *)&address)->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	set_port(&address, port);
	return address;
}

static socklen_t length_of(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/* On that address and port; the port that it got is written back. The system's reason where it cannot, 0. */
static int listen_on(struct sockaddr_storage *address, int *out_socket)
{
	const int on = 1;
	socklen_t length = sizeof(*address);
	int socket_number = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (socket_number >= 0)
		setsockopt(socket_number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (socket_number < 0 || bind(socket_number, (const struct sockaddr *)address, length_of(address)) ||
		listen(socket_number, KWHY_PAIR_GPUS_MOST) ||
		getsockname(socket_number, (struct sockaddr *)address, &length)) {
		int reason = errno;

		if (socket_number >= 0)
			close(socket_number);
		return reason;
	}
	*out_socket = socket_number;
	return 0;
}

static enum kwhy_status refuse(const struct sockaddr_storage *address, int reason, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO,
		"nothing can listen on port %u: %s; set MASTER_PORT to one whose next is free",
		port_of(address), strerror(reason));
}

enum kwhy_status kwhy_rank_link_listen_here(int *out_socket, uint16_t *out_port, struct kwhy_error *error)
{
	struct sockaddr_storage address = loopback_of(AF_INET, 0);
	int reason = listen_on(&address, out_socket);

	*out_port = reason ? 0 : port_of(&address);
	return reason ? refuse(&address, reason, error) : KWHY_OK;
}

static enum kwhy_status find_first(
	const struct kwhy_rank_link_request *request, struct sockaddr_storage *out, struct kwhy_error *error)
{
	const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	int result = getaddrinfo(request->address, NULL, &hints, &found);

	if (result)
		return kwhy_fail(error, KWHY_E_USAGE, "rank 0 should be at '%.80s': %s; correct MASTER_ADDR",
			request->address, gai_strerror(result));
	memset(out, 0, sizeof(*out));
	memcpy(out, found->ai_addr, found->ai_addrlen);
	set_port(out, request->port);
	freeaddrinfo(found);
	return KWHY_OK;
}

/*
 * Where nobody listens yet on a port that the system gives to connections, a connection to it may be given
 * that port as its own and so reach itself. It ends without a trace, so that rank 0 can have the port.
 */
static bool is_to_itself(int socket_number)
{
	const struct linger none = {.l_onoff = 1};
	struct sockaddr_storage ours = {.ss_family = AF_UNSPEC}, theirs = ours;
	socklen_t length = sizeof(ours), same = sizeof(theirs);

	if (getsockname(socket_number, (struct sockaddr *)&ours, &length) ||
		getpeername(socket_number, (struct sockaddr *)&theirs, &same) ||
		memcmp(&ours, &theirs, length_of(&ours)) != 0)
		return false;
	setsockopt(socket_number, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	errno = ECONNREFUSED;
	return true;
}

/* Whether some program takes connections to that port. Nobody waits long for one that drops them. */
static bool is_served(const struct sockaddr_storage *address)
{
	const struct sockaddr_storage here = loopback_of(address->ss_family, port_of(address));
	int socket_number = socket(here.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_taken;

	if (socket_number < 0)
		return false;
	set_silence(socket_number, GREETING_S);
	is_taken = (connect(socket_number, (const struct sockaddr *)&here, length_of(&here)) == 0 &&
			   !is_to_itself(socket_number)) ||
		errno != ECONNREFUSED;
	close(socket_number);
	return is_taken;
}

/*
 * On every address of the family, so that an address of rank 0 behind a name of its own does. A port that a
 * program listens on stays taken, and is refused at once, as PyTorch's store does; one that a mere connection
 * was given, or left behind, becomes free while the others wait for us.
 */
static enum kwhy_status listen_everywhere(const struct sockaddr_storage *like, uint16_t port, int64_t end_ns,
	int *out, uint32_t *out_port, struct kwhy_error *error)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	struct sockaddr_storage address = {.ss_family = like->ss_family};
	int reason;

	if (is_loopback(like))
		address = *like;
	else if (like->ss_family == AF_INET6)
		((struct sockaddr_in6 *)&address)->sin6_addr = in6addr_any;
	set_port(&address, port);
	while ((reason = listen_on(&address, out)) == EADDRINUSE && !is_served(&address) &&
		kwhy_clock_mono_ns() < end_ns)
		nanosleep(&pause, NULL);
	*out_port = reason ? 0 : port_of(&address);
	return reason ? refuse(&address, reason, error) : KWHY_OK;
}

static void greet(const struct kwhy_rank_link *link, uint32_t port, struct greeting *out)
{
	*out = (struct greeting){.version = VERSION,
		.rank = link->rank,
		.size = link->size,
		.port = port,
		.process = link->processes[link->rank]};
	memcpy(out->mark, mark, sizeof(mark));
	memcpy(out->host, link->hosts[link->rank], sizeof(out->host));
}

static bool is_greeting(const struct greeting *greeting)
{
	return memcmp(greeting->mark, mark, sizeof(mark)) == 0 && greeting->version == VERSION;
}

static enum kwhy_status keep(struct kwhy_rank_link *link, const struct greeting *greeting, int socket_number,
	struct kwhy_error *error)
{
	uint32_t rank = greeting->rank;

	if (greeting->size != link->size || rank >= link->size || rank == link->rank ||
		link->sockets[rank] >= 0) {
		close(socket_number);
		return kwhy_fail(error, KWHY_E_USAGE,
			"a process came as rank %u of %u, and this is rank %u of %u; start all of them by "
			"one "
			"launcher, with one number of ranks",
			rank, greeting->size, link->rank, link->size);
	}
	link->sockets[rank] = socket_number;
	link->processes[rank] = greeting->process;
	memcpy(link->hosts[rank], greeting->host, sizeof(greeting->host));
	link->hosts[rank][sizeof(link->hosts[rank]) - 1] = '\0';
	set_silence(socket_number, KWHY_RANK_SILENCE_S);
	return KWHY_OK;
}

/* The next that greets; who says something else is sent away. */
static enum kwhy_status accept_one(
	int listener, int64_t end_ns, struct greeting *out, int *out_socket, struct kwhy_error *error)
{
	int64_t left_ns;

	while ((left_ns = end_ns - kwhy_clock_mono_ns()) > 0) {
		struct pollfd wait = {.fd = listener, .events = POLLIN};
		int socket_number = poll(&wait, 1, (int)(left_ns / 1000000) + 1) > 0
			? accept4(listener, NULL, NULL, SOCK_CLOEXEC)
			: -1;

		if (socket_number < 0)
			continue;
		prepare(socket_number);
		if (receive_all(socket_number, out, sizeof(*out)) && is_greeting(out)) {
			*out_socket = socket_number;
			return KWHY_OK;
		}
		close(socket_number);
	}
	return kwhy_fail(error, KWHY_E_IO, "not all of the ranks came in time");
}

static enum kwhy_status take_others(struct kwhy_rank_link *link, int listener, uint32_t count, int64_t end_ns,
	struct place *places, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct greeting greeting;
	int socket_number;

	for (uint32_t i = 0; !status && i < count; i++) {
		status = accept_one(listener, end_ns, &greeting, &socket_number, error);
		if (status)
			return kwhy_fail(error, status,
				"%u of %u ranks came in time; start as many as the launcher's variables say, "
				"or give --ranks 1 to measure with this process alone",
				i + 1, link->size);
		status = keep(link, &greeting, socket_number, error);
		if (!status && places) {
			socklen_t length = sizeof(places[greeting.rank].address);

			places[greeting.rank].greeting = greeting;
			getpeername(
				socket_number, (struct sockaddr *)&places[greeting.rank].address, &length);
			if (is_loopback(&places[greeting.rank].address))
				places[greeting.rank].address.ss_family = 0;
		}
	}
	return status;
}

/* Tries until it listens there. */
static enum kwhy_status reach(
	const struct sockaddr_storage *address, int64_t end_ns, int *out_socket, struct kwhy_error *error)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	int reason = 0;

	do {
		int socket_number = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

		if (socket_number >= 0 &&
			!connect(socket_number, (const struct sockaddr *)address, length_of(address)) &&
			!is_to_itself(socket_number)) {
			prepare(socket_number);
			*out_socket = socket_number;
			return KWHY_OK;
		}
		reason = errno;
		if (socket_number >= 0)
			close(socket_number);
		nanosleep(&pause, NULL);
	} while (kwhy_clock_mono_ns() < end_ns);
	return kwhy_fail(error, KWHY_E_IO, "another rank does not listen on port %u: %s; is it running?",
		port_of(address), strerror(reason));
}

static enum kwhy_status join_one(struct kwhy_rank_link *link, const struct sockaddr_storage *address,
	uint32_t port, struct greeting other, int64_t end_ns, struct kwhy_error *error)
{
	struct greeting ours;
	int socket_number = -1;
	enum kwhy_status status = reach(address, end_ns, &socket_number, error);

	if (status)
		return status;
	greet(link, port, &ours);
	status = keep(link, &other, socket_number, error);
	return status ? status : kwhy_rank_link_send(link, other.rank, &ours, sizeof(ours), error);
}

/* Of all but the first: it tells where it is, learns where the others are, and turns to them. */
static enum kwhy_status join(struct kwhy_rank_link *link, const struct kwhy_rank_link_request *request,
	int64_t end_ns, struct kwhy_error *error)
{
	struct place places[KWHY_PAIR_GPUS_MOST];
	struct sockaddr_storage first;
	uint32_t port = 0;
	int listener = -1;
	enum kwhy_status status = find_first(request, &first, error);

	if (!status)
		status = listen_everywhere(&first, 0, end_ns, &listener, &port, error);
	if (!status)
		status = join_one(link, &first, port,
			(struct greeting){.rank = 0, .size = link->size, .host = "its host"}, end_ns, error);
	if (!status)
		status = kwhy_rank_link_receive(link, 0, places, sizeof(places), error);
	if (!status) {
		link->processes[0] = places[0].greeting.process;
		memcpy(link->hosts[0], places[0].greeting.host, sizeof(link->hosts[0]));
	}
	for (uint32_t i = 1; !status && i < link->rank; i++) {
		struct sockaddr_storage address = places[i].address.ss_family ? places[i].address : first;

		set_port(&address, (uint16_t)places[i].greeting.port);
		status = join_one(link, &address, port, places[i].greeting, end_ns, error);
	}
	if (!status)
		status = take_others(link, listener, link->size - 1 - link->rank, end_ns, NULL, error);
	if (listener >= 0)
		close(listener);
	return status;
}

static enum kwhy_status lead(struct kwhy_rank_link *link, const struct kwhy_rank_link_request *request,
	int64_t end_ns, struct kwhy_error *error)
{
	struct place places[KWHY_PAIR_GPUS_MOST] = {{.greeting = {.rank = 0}}};
	struct sockaddr_storage address;
	uint32_t port;
	int listener = request->listener;
	enum kwhy_status status = listener < 0 ? find_first(request, &address, error) : KWHY_OK;

	if (!status && listener < 0)
		status = listen_everywhere(&address, request->port, end_ns, &listener, &port, error);
	if (status)
		return status;
	greet(link, 0, &places[0].greeting);
	status = take_others(link, listener, link->size - 1, end_ns, places, error);
	close(listener);
	for (uint32_t i = 1; !status && i < link->size; i++)
		status = kwhy_rank_link_send(link, i, places, sizeof(places), error);
	return status;
}

enum kwhy_status kwhy_rank_link_open(
	const struct kwhy_rank_link_request *request, struct kwhy_rank_link *out, struct kwhy_error *error)
{
	int64_t end_ns = kwhy_clock_mono_ns() + request->wait_ns;
	enum kwhy_status status;

	*out = (struct kwhy_rank_link){.rank = request->rank, .size = request->size};
	for (int i = 0; i < KWHY_PAIR_GPUS_MOST; i++)
		out->sockets[i] = -1;
	if (request->size < 2 || request->size > KWHY_PAIR_GPUS_MOST || request->rank >= request->size)
		return kwhy_fail(error, KWHY_E_USAGE,
			"rank %u of %u cannot be: 2 to %d ranks measure together, counted from 0",
			request->rank, request->size, (int)KWHY_PAIR_GPUS_MOST);
	if (gethostname(out->hosts[out->rank], sizeof(out->hosts[0])))
		snprintf(out->hosts[out->rank], sizeof(out->hosts[0]), "host");
	out->hosts[out->rank][sizeof(out->hosts[0]) - 1] = '\0';
	out->processes[out->rank] = getpid();
	status = request->rank ? join(out, request, end_ns, error) : lead(out, request, end_ns, error);
	if (status)
		kwhy_rank_link_close(out);
	return status;
}

void kwhy_rank_link_close(struct kwhy_rank_link *link)
{
	for (int i = 0; i < KWHY_PAIR_GPUS_MOST; i++) {
		if (link->sockets[i] >= 0)
			close(link->sockets[i]);
		link->sockets[i] = -1;
	}
}

enum kwhy_status kwhy_rank_link_drop(
	struct kwhy_rank_link *link, uint32_t rank, bool silent, struct kwhy_error *error)
{
	if (link->sockets[rank] >= 0)
		close(link->sockets[rank]);
	link->sockets[rank] = -1;
	return lost(link, rank, silent, error);
}

static enum kwhy_status drop(struct kwhy_rank_link *link, uint32_t rank, struct kwhy_error *error)
{
	return kwhy_rank_link_drop(link, rank, errno == EAGAIN || errno == EWOULDBLOCK, error);
}

enum kwhy_status kwhy_rank_link_send(
	struct kwhy_rank_link *link, uint32_t to, const void *bytes, size_t count, struct kwhy_error *error)
{
	errno = 0;
	return link->sockets[to] >= 0 && send_all(link->sockets[to], bytes, count) ? KWHY_OK
										   : drop(link, to, error);
}

enum kwhy_status kwhy_rank_link_receive(
	struct kwhy_rank_link *link, uint32_t from, void *bytes, size_t count, struct kwhy_error *error)
{
	errno = 0;
	return link->sockets[from] >= 0 && receive_all(link->sockets[from], bytes, count)
		? KWHY_OK
		: drop(link, from, error);
}

int kwhy_rank_link_await(struct kwhy_rank_link *link, int64_t wait_ns)
{
	struct pollfd waits[KWHY_PAIR_GPUS_MOST];
	int count;

	for (uint32_t i = 0; i < link->size; i++)
		waits[i] = (struct pollfd){.fd = link->sockets[i], .events = POLLIN};
	do
		count = poll(waits, link->size, wait_ns < 0 ? -1 : (int)((wait_ns + 999999) / 1000000));
	while (count < 0 && errno == EINTR);
	for (uint32_t i = 0; count > 0 && i < link->size; i++)
		if (waits[i].fd >= 0 && waits[i].revents)
			return (int)i;
	return -1;
}

enum kwhy_status kwhy_rank_link_check(struct kwhy_rank_link *link, struct kwhy_error *error)
{
	for (uint32_t i = 0; i < link->size; i++) {
		char byte;

		if (i == link->rank)
			continue;
		if (link->sockets[i] < 0)
			return lost(link, i, false, error);
		errno = 0;
		if (recv(link->sockets[i], &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0 || errno == ECONNRESET) {
			errno = 0;
			return drop(link, i, error);
		}
	}
	return KWHY_OK;
}
