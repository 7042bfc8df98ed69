/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_socket.h"

#include "base/clock.h"
#include "bench/pairs/rank_link.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { RETRY_NS = 20000000 };
/*
 * TCP keep-alive: seconds without data before the first probe, seconds between probes, and their number. They
 * detect after a minute that the other host has died.
 */
enum { PROBE_AFTER_S = 30, PROBE_EVERY_S = 10, PROBES = 3 };

void kwhy_rank_socket_silence(int socket, int seconds)
{
	const struct timeval time = {.tv_sec = seconds};

	setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &time, sizeof(time));
	setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &time, sizeof(time));
}

void kwhy_rank_socket_prepare(int socket)
{
	const int on = 1, after = PROBE_AFTER_S, every = PROBE_EVERY_S, probes = PROBES;

	setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &after, sizeof(after));
	setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
	setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof(probes));
	setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	kwhy_rank_socket_silence(socket, KWHY_RANK_HELLO_S);
}

bool kwhy_rank_socket_send(int socket, const void *bytes, size_t count, int64_t end_ns)
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
		if (count > 0 && kwhy_clock_mono_ns() >= end_ns) {
			errno = EAGAIN;
			return false;
		}
	}
	return true;
}

/*
 * Receives exactly `count` bytes. With MSG_WAITALL, recv() returns fewer bytes only after the socket's
 * timeout, a signal or the end of the connection, so `end_ns` is checked only then.
 */
bool kwhy_rank_socket_receive(int socket, void *bytes, size_t count, int64_t end_ns)
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
		if (count > 0 && kwhy_clock_mono_ns() >= end_ns) {
			errno = EAGAIN;
			return false;
		}
	}
	return true;
}

uint16_t kwhy_rank_address_port(const struct sockaddr_storage *address)
{
	return ntohs(address->ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
						    : ((const struct sockaddr_in *)address)->sin_port);
}

void kwhy_rank_address_port_set(struct sockaddr_storage *address, uint16_t port)
{
	if (address->ss_family == AF_INET6)
		((struct sockaddr_in6 *)address)->sin6_port = htons(port);
	else
		((struct sockaddr_in *)address)->sin_port = htons(port);
}

bool kwhy_rank_address_is_loopback(const struct sockaddr_storage *address)
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
	kwhy_rank_address_port_set(&address, port);
	return address;
}

socklen_t kwhy_rank_address_length(const struct sockaddr_storage *address)
{
	return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

/*
 * Makes a socket that listens on an address and port. Port 0 is replaced in `address` by the port that the
 * system chose. Returns 0 or errno.
 */
static int listen_on(struct sockaddr_storage *address, int *out_socket)
{
	const int on = 1;
	socklen_t length = sizeof(*address);
	int socket_number = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (socket_number >= 0)
		setsockopt(socket_number, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (socket_number < 0 ||
		bind(socket_number, (const struct sockaddr *)address, kwhy_rank_address_length(address)) ||
		listen(socket_number, SOMAXCONN) ||
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
	if (reason == EADDRNOTAVAIL)
		return kwhy_fail(error, KWHY_E_IO,
			"MASTER_ADDR is no address of the host of rank 0; set it to one that the other ranks "
			"reach");
	return kwhy_fail(error, KWHY_E_IO,
		"nothing can listen on port %u: %s; set MASTER_PORT to one whose next is free",
		kwhy_rank_address_port(address), strerror(reason));
}

enum kwhy_status kwhy_rank_link_listen_here(int *out_socket, uint16_t *out_port, struct kwhy_error *error)
{
	struct sockaddr_storage address = loopback_of(AF_INET, 0);
	int reason = listen_on(&address, out_socket);

	*out_port = reason ? 0 : kwhy_rank_address_port(&address);
	return reason ? refuse(&address, reason, error) : KWHY_OK;
}

/*
 * Whether a socket is connected to itself. This happens if nobody listens yet on a port that the kernel also
 * uses for outgoing connections. If so, the socket is set to close without delay (SO_LINGER), so that rank 0
 * can listen on the port, and errno becomes ECONNREFUSED.
 */
bool kwhy_rank_socket_is_to_itself(int socket_number)
{
	const struct linger none = {.l_onoff = 1};
	struct sockaddr_storage ours = {.ss_family = AF_UNSPEC}, theirs = ours;
	socklen_t length = sizeof(ours), same = sizeof(theirs);

	if (getsockname(socket_number, (struct sockaddr *)&ours, &length) ||
		getpeername(socket_number, (struct sockaddr *)&theirs, &same) ||
		memcmp(&ours, &theirs, kwhy_rank_address_length(&ours)) != 0)
		return false;
	setsockopt(socket_number, SOL_SOCKET, SO_LINGER, &none, sizeof(none));
	errno = ECONNREFUSED;
	return true;
}

/*
 * Whether a program seems to listen at `address` and its port: a connection succeeds, or fails for another
 * reason than a refusal. The attempt has a short timeout, for hosts that drop packets.
 */
static bool is_served(const struct sockaddr_storage *address)
{
	int socket_number = socket(address->ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool is_taken;

	if (socket_number < 0)
		return false;
	kwhy_rank_socket_silence(socket_number, KWHY_RANK_HELLO_S);
	is_taken = (connect(socket_number, (const struct sockaddr *)address,
			    kwhy_rank_address_length(address)) == 0 &&
			   !kwhy_rank_socket_is_to_itself(socket_number)) ||
		errno != ECONNREFUSED;
	close(socket_number);
	return is_taken;
}

/*
 * Listens on the address `at` only. Fails immediately if another program listens on the port, as PyTorch's
 * store may. If the port is only used by a connection, or by one that was closed recently, retries until
 * end_ns; the other ranks wait as long.
 */
enum kwhy_status kwhy_rank_socket_listen(const struct sockaddr_storage *at, uint16_t port, int64_t end_ns,
	int *out, uint32_t *out_port, struct kwhy_error *error)
{
	const struct timespec pause = {.tv_nsec = RETRY_NS};
	struct sockaddr_storage address = *at;
	int reason;

	kwhy_rank_address_port_set(&address, port);
	while ((reason = listen_on(&address, out)) == EADDRINUSE && !is_served(&address) &&
		kwhy_clock_mono_ns() < end_ns)
		nanosleep(&pause, NULL);
	*out_port = reason ? 0 : kwhy_rank_address_port(&address);
	return reason ? refuse(&address, reason, error) : KWHY_OK;
}

/* Writes an address and port in the format of /proc/net/tcp and tcp6. */
static void write_end(const struct sockaddr_storage *address, char out[48])
{
	const struct sockaddr_in *four = (const struct sockaddr_in *)address;
	uint32_t words[4];

	if (address->ss_family == AF_INET) {
		snprintf(out, 48, "%08X:%04X", four->sin_addr.s_addr, kwhy_rank_address_port(address));
		return;
	}
	memcpy(words, &((const struct sockaddr_in6 *)address)->sin6_addr, sizeof(words));
	snprintf(out, 48, "%08X%08X%08X%08X:%04X", words[0], words[1], words[2], words[3],
		kwhy_rank_address_port(address));
}

/* Columns of /proc/net/tcp and tcp6 by number. */
enum { LOCAL = 1, REMOTE = 2, STATE = 3, USER = 7, COLUMNS };

/*
 * Whether a line of /proc/net/tcp or tcp6 is the other end's entry for an established connection between
 * `ours`, this process's end, and `theirs`: local end `theirs`, remote end `ours`. *out_user receives the
 * user id that owns the socket.
 */
static bool is_line_of(char *line, const char *theirs, const char *ours, unsigned long *out_user)
{
	char *columns[COLUMNS], *rest = NULL, *end;
	size_t count = 0;

	for (char *at = strtok_r(line, " ", &rest); at && count < COLUMNS; at = strtok_r(NULL, " ", &rest))
		columns[count++] = at;
	if (count < COLUMNS || strcmp(columns[LOCAL], theirs) != 0 || strcmp(columns[REMOTE], ours) != 0 ||
		strcmp(columns[STATE], "01") != 0)
		return false;
	*out_user = strtoul(columns[USER], &end, 10);
	return end != columns[USER] && !*end;
}

bool kwhy_rank_socket_is_of_user(int socket)
{
	struct sockaddr_storage here, there;
	socklen_t length = sizeof(here), same = sizeof(there);
	char ours[48], theirs[48], line[512];
	unsigned long user = 0;
	bool is_found = false;
	FILE *table;

	if (getsockname(socket, (struct sockaddr *)&here, &length) ||
		getpeername(socket, (struct sockaddr *)&there, &same) ||
		!kwhy_rank_address_is_loopback(&there))
		return false;
	write_end(&here, ours);
	write_end(&there, theirs);
	table = fopen(here.ss_family == AF_INET6 ? "/proc/net/tcp6" : "/proc/net/tcp", "re");
	while (table && !is_found && fgets(line, sizeof(line), table))
		is_found = is_line_of(line, theirs, ours, &user);
	if (table)
		fclose(table);
	return is_found && user == geteuid();
}
