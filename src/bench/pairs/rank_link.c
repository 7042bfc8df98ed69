/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_link.h"

#include "base/clock.h"
#include "bench/pairs/rank_acceptor.h"
#include "bench/pairs/rank_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RETRY_NS = 20000000 };

#define SILENCE_NS (KWHY_RANK_SILENCE_S * INT64_C(1000000000))

static enum kwhy_status lost(
	const struct kwhy_rank_link *link, uint32_t rank, bool silent, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_LOST, "rank %u (process %lld on %s) %s", rank,
		(long long)link->processes[rank], link->hosts[rank],
		silent ? "sent no complete message for two minutes"
		       : "ended in the middle; what it wrote last says why");
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
	kwhy_rank_address_port_set(out, request->port);
	freeaddrinfo(found);
	return KWHY_OK;
}

static enum kwhy_status check_secret(
	const char *secret, const struct sockaddr_storage *first, struct kwhy_error *error)
{
	if (!secret && !kwhy_rank_address_is_loopback(first))
		return kwhy_fail(error, KWHY_E_USAGE,
			"ranks that are not all on this host, by MASTER_ADDR, need a secret; set "
			"KWHY_RANKS_SECRET to the same random characters for all of them, as by openssl rand "
			"-hex 32");
	if (secret && strlen(secret) < KWHY_RANK_SECRET_MIN)
		return kwhy_fail(error, KWHY_E_USAGE,
			"KWHY_RANKS_SECRET has %zu characters; set it to %d random ones or more, as by "
			"openssl rand -hex 32",
			strlen(secret), (int)KWHY_RANK_SECRET_MIN);
	return KWHY_OK;
}

static enum kwhy_status keep(struct kwhy_rank_link *link, const struct kwhy_rank_hello *hello,
	int socket_number, struct kwhy_error *error)
{
	uint32_t rank = hello->rank;

	if (hello->size != link->size || rank >= link->size || rank == link->rank ||
		link->sockets[rank] >= 0) {
		close(socket_number);
		return kwhy_fail(error, KWHY_E_USAGE,
			"a process came as rank %u of %u, and this is rank %u of %u; start all of them by "
			"one launcher, with one number of ranks",
			rank, hello->size, link->rank, link->size);
	}
	link->sockets[rank] = socket_number;
	link->processes[rank] = hello->process;
	memcpy(link->hosts[rank], hello->host, sizeof(hello->host));
	kwhy_rank_socket_silence(socket_number, KWHY_RANK_SILENCE_S);
	return KWHY_OK;
}

/*
 * Stores the address and port at which a rank listens. The address is the one from which it has connected to
 * this rank; a loopback address is left out, since only ranks on this host could use it.
 */
static void note_place(struct kwhy_rank_address *out, const struct kwhy_rank_hello *hello, int socket_number)
{
	struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
	const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address;
	socklen_t length = sizeof(address);

	*out = (struct kwhy_rank_address){
		.rank = hello->rank, .port = hello->port, .process = hello->process};
	memcpy(out->host, hello->host, sizeof(out->host));
	getpeername(socket_number, (struct sockaddr *)&address, &length);
	if (kwhy_rank_address_is_loopback(&address))
		return;
	out->family = address.ss_family == AF_INET6 ? 6 : 4;
	out->scope = address.ss_family == AF_INET6 ? six->sin6_scope_id : 0;
	if (address.ss_family == AF_INET6)
		memcpy(out->address, &six->sin6_addr, sizeof(six->sin6_addr));
	else
		memcpy(out->address, &((const struct sockaddr_in *)&address)->sin_addr,
			sizeof(struct in_addr));
}

static struct sockaddr_storage address_of(
	const struct kwhy_rank_address *rank_address, const struct sockaddr_storage *first)
{
	struct sockaddr_storage address = *first;
	struct sockaddr_in6 *six = (struct sockaddr_in6 *)&address;

	if (rank_address->family == 6) {
		*six = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_scope_id = rank_address->scope};
		memcpy(&six->sin6_addr, rank_address->address, sizeof(six->sin6_addr));
	} else if (rank_address->family == 4) {
		address.ss_family = AF_INET;
		memcpy(&((struct sockaddr_in *)&address)->sin_addr, rank_address->address,
			sizeof(struct in_addr));
	}
	kwhy_rank_address_port_set(&address, (uint16_t)rank_address->port);
	return address;
}

static enum kwhy_status take_others(struct kwhy_rank_link *link, struct kwhy_rank_acceptor *acceptor,
	uint32_t count, int64_t end_ns, struct kwhy_rank_address *addresses, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;
	struct kwhy_rank_hello hello;
	int socket_number;

	for (uint32_t i = 0; !status && i < count; i++) {
		if (!kwhy_rank_acceptor_accept(acceptor, end_ns, &hello, &socket_number))
			return kwhy_fail(error, KWHY_E_IO,
				"%u of %u ranks came in time%s; start as many as the launcher's variables "
				"say, or give --ranks 1 to measure with this process alone",
				i + 1, link->size,
				!acceptor->refused	   ? ""
					: acceptor->secret ? ", and some had another KWHY_RANKS_SECRET"
							   : ", and some were of another user: set "
							     "KWHY_RANKS_SECRET");
		status = keep(link, &hello, socket_number, error);
		if (!status && addresses)
			note_place(&addresses[hello.rank], &hello, socket_number);
	}
	return status;
}

/* Tries once to connect to a rank. Returns 0 and the socket, or errno. */
static int reach(const struct sockaddr_storage *address, int *out_socket)
{
	int reason, socket_number = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (socket_number >= 0 &&
		!connect(
			socket_number, (const struct sockaddr *)address, kwhy_rank_address_length(address)) &&
		!kwhy_rank_socket_is_to_itself(socket_number)) {
		kwhy_rank_socket_prepare(socket_number);
		*out_socket = socket_number;
		return 0;
	}
	reason = errno;
	if (socket_number >= 0)
		close(socket_number);
	return reason;
}

/*
 * Makes this rank listen at the local address of its connection to rank 0. This is done before it sends its
 * first hello message, because that message contains the port.
 */
static enum kwhy_status open_acceptor(
	struct kwhy_rank_acceptor *acceptor, int socket_number, int64_t end_ns, struct kwhy_error *error)
{
	struct sockaddr_storage here = {.ss_family = AF_UNSPEC};
	socklen_t length = sizeof(here);

	if (acceptor->listener >= 0)
		return KWHY_OK;
	if (getsockname(socket_number, (struct sockaddr *)&here, &length))
		return kwhy_fail(error, KWHY_E_IO, "rank 0 was lost: %s; is it running?", strerror(errno));
	return kwhy_rank_socket_listen(&here, 0, end_ns, &acceptor->listener, &acceptor->port, error);
}

/*
 * Connects to rank `rank`. Retries until an end that has proved that it knows the secret says that it is that
 * rank. KWHY_E_IO: none did by end_ns.
 */
static enum kwhy_status join_one(struct kwhy_rank_link *link, struct kwhy_rank_acceptor *acceptor,
	const struct sockaddr_storage *address, uint32_t rank, int64_t end_ns, struct kwhy_error *error)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	struct kwhy_rank_hello hello;
	int socket_number = -1, reason;
	enum kwhy_status status = KWHY_OK;

	do {
		reason = reach(address, &socket_number);
		if (!reason)
			status = open_acceptor(acceptor, socket_number, end_ns, error);
		if (!reason && !status && kwhy_rank_acceptor_handshake(acceptor, socket_number, &hello)) {
			if (hello.rank == rank)
				return keep(link, &hello, socket_number, error);
		}
		if (!reason)
			close(socket_number);
		nanosleep(&pause, NULL);
	} while (!status && kwhy_clock_mono_ns() < end_ns);
	if (status)
		return status;
	return kwhy_fail(error, KWHY_E_IO, "rank %u does not answer on port %u: %s", rank,
		kwhy_rank_address_port(address),
		reason ? strerror(reason)
		       : "what listens there is no rank of this run; has it the same KWHY_RANKS_SECRET, and "
			 "without one the same user?");
}

static enum kwhy_status receive_addresses(struct kwhy_rank_link *link,
	struct kwhy_rank_address addresses[KWHY_PAIR_GPUS_MAX], struct kwhy_error *error)
{
	const struct kwhy_rank_limits limits = {.ranks = link->size};
	const size_t bytes = link->size * sizeof(*addresses);
	enum kwhy_status status = kwhy_rank_link_receive(link, 0, addresses, bytes, error);

	return status ? status
		      : kwhy_rank_wire_check(KWHY_RANK_ADDRESSES, false, addresses, bytes, &limits, error);
}

/*
 * Connects a rank other than 0: reports its address to rank 0, receives the addresses of all ranks, connects
 * to the lower ranks and accepts connections of the higher ranks.
 */
static enum kwhy_status join(struct kwhy_rank_link *link, struct kwhy_rank_acceptor *acceptor,
	const struct sockaddr_storage *first, int64_t end_ns, struct kwhy_error *error)
{
	struct kwhy_rank_address addresses[KWHY_PAIR_GPUS_MAX];
	enum kwhy_status status = join_one(link, acceptor, first, 0, end_ns, error);

	if (!status)
		status = receive_addresses(link, addresses, error);
	for (uint32_t i = 1; !status && i < link->rank; i++) {
		struct sockaddr_storage address = address_of(&addresses[i], first);

		status = join_one(link, acceptor, &address, i, end_ns, error);
	}
	return status ? status
		      : take_others(link, acceptor, link->size - 1 - link->rank, end_ns, NULL, error);
}

static enum kwhy_status lead(struct kwhy_rank_link *link, struct kwhy_rank_acceptor *acceptor,
	const struct sockaddr_storage *first, int64_t end_ns, struct kwhy_error *error)
{
	struct kwhy_rank_address addresses[KWHY_PAIR_GPUS_MAX] = {{.process = link->processes[0]}};
	enum kwhy_status status = KWHY_OK;

	memcpy(addresses[0].host, link->hosts[0], sizeof(addresses[0].host));
	if (acceptor->listener < 0)
		status = kwhy_rank_socket_listen(first, kwhy_rank_address_port(first), end_ns,
			&acceptor->listener, &acceptor->port, error);
	if (!status)
		status = take_others(link, acceptor, link->size - 1, end_ns, addresses, error);
	for (uint32_t i = 1; !status && i < link->size; i++)
		status = kwhy_rank_link_send(link, i, addresses, link->size * sizeof(*addresses), error);
	return status;
}

static enum kwhy_status gather(struct kwhy_rank_link *link, const struct kwhy_rank_link_request *request,
	int64_t end_ns, struct kwhy_error *error)
{
	struct sockaddr_storage first;
	struct kwhy_rank_acceptor acceptor;
	enum kwhy_status status;

	kwhy_rank_acceptor_init(&acceptor, link, request->secret);
	acceptor.listener = request->rank ? -1 : request->listener;
	status = find_first(request, &first, error);
	if (!status)
		status = check_secret(request->secret, &first, error);
	if (!status)
		status = request->rank ? join(link, &acceptor, &first, end_ns, error)
				       : lead(link, &acceptor, &first, end_ns, error);
	kwhy_rank_acceptor_done(&acceptor);
	return status;
}

enum kwhy_status kwhy_rank_link_open(
	const struct kwhy_rank_link_request *request, struct kwhy_rank_link *out, struct kwhy_error *error)
{
	int64_t end_ns = kwhy_clock_mono_ns() + request->wait_ns;
	enum kwhy_status status;

	*out = (struct kwhy_rank_link){.rank = request->rank, .size = request->size};
	for (int i = 0; i < KWHY_PAIR_GPUS_MAX; i++)
		out->sockets[i] = -1;
	if (request->size < 2 || request->size > KWHY_PAIR_GPUS_MAX || request->rank >= request->size)
		return kwhy_fail(error, KWHY_E_USAGE,
			"rank %u of %u cannot be: 2 to %d ranks measure together, counted from 0",
			request->rank, request->size, (int)KWHY_PAIR_GPUS_MAX);
	if (gethostname(out->hosts[out->rank], sizeof(out->hosts[0])))
		snprintf(out->hosts[out->rank], sizeof(out->hosts[0]), "host");
	out->hosts[out->rank][sizeof(out->hosts[0]) - 1] = '\0';
	out->processes[out->rank] = getpid();
	status = gather(out, request, end_ns, error);
	if (status)
		kwhy_rank_link_close(out);
	return status;
}

void kwhy_rank_link_close(struct kwhy_rank_link *link)
{
	for (int i = 0; i < KWHY_PAIR_GPUS_MAX; i++) {
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
	return link->sockets[to] >= 0 &&
			kwhy_rank_socket_send(link->sockets[to], bytes, count, kwhy_rank_link_end())
		? KWHY_OK
		: drop(link, to, error);
}

int64_t kwhy_rank_link_end(void)
{
	return kwhy_clock_mono_ns() + SILENCE_NS;
}

enum kwhy_status kwhy_rank_link_receive_by(struct kwhy_rank_link *link, uint32_t from, void *bytes,
	size_t count, int64_t end_ns, struct kwhy_error *error)
{
	errno = 0;
	return link->sockets[from] >= 0 && kwhy_rank_socket_receive(link->sockets[from], bytes, count, end_ns)
		? KWHY_OK
		: drop(link, from, error);
}

enum kwhy_status kwhy_rank_link_receive(
	struct kwhy_rank_link *link, uint32_t from, void *bytes, size_t count, struct kwhy_error *error)
{
	return kwhy_rank_link_receive_by(link, from, bytes, count, kwhy_rank_link_end(), error);
}

int kwhy_rank_link_await(struct kwhy_rank_link *link, int64_t wait_ns)
{
	struct pollfd waits[KWHY_PAIR_GPUS_MAX];
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
