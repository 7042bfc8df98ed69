/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { HOST_BYTES = 256, BACKLOG = 64, PORT_MAX = 65535 };

/*
 * Splits "HOST:PORT"; HOST may be empty, and an IPv6 address must be in brackets, which are removed. False:
 * it is malformed.
 */
static bool split(const char *text, char host[HOST_BYTES], uint16_t *out_port)
{
	const char *colon = strrchr(text, ':'), *begin = text;
	size_t length = colon ? (size_t)(colon - text) : 0;
	char *end;
	unsigned long port;

	if (!colon || colon[1] < '0' || colon[1] > '9')
		return false;
	port = strtoul(colon + 1, &end, 10);
	if (*end || port > PORT_MAX || length >= HOST_BYTES)
		return false;
	if (length >= 2 && *begin == '[' && begin[length - 1] == ']') {
		begin++;
		length -= 2;
	} else if (memchr(begin, ':', length)) {
		return false;
	}
	memcpy(host, begin, length);
	host[length] = '\0';
	*out_port = (uint16_t)port;
	return true;
}

static void set_port(union kwhy_address *address, uint16_t port)
{
	if (address->any.sa_family == AF_INET6)
		address->v6.sin6_port = htons(port);
	else
		address->v4.sin_port = htons(port);
}

static bool has_v6(void)
{
	int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

/*
 * Sets the wildcard address, at which a socket listens on all addresses of the machine: the IPv6 one, which
 * also accepts IPv4 connections, or, if the system has no IPv6, the IPv4 one.
 */
static void set_every(union kwhy_address *address)
{
	memset(address, 0, sizeof(*address));
	address->any.sa_family = has_v6() ? AF_INET6 : AF_INET;
}

/* Resolves `host` to its first address; returns 0 or an error code of getaddrinfo(). */
static int find_host(const char *host, union kwhy_address *out)
{
	const struct addrinfo wanted = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
	struct addrinfo *found = NULL;
	int failure = getaddrinfo(host, "0", &wanted, &found);

	if (failure)
		return failure;
	memset(out, 0, sizeof(*out));
	if (found->ai_addrlen <= sizeof(*out))
		memcpy(out, found->ai_addr, found->ai_addrlen);
	else
		failure = EAI_FAMILY;
	freeaddrinfo(found);
	return failure;
}

enum kwhy_status kwhy_address_read(const char *text, union kwhy_address *out, struct kwhy_error *error)
{
	union kwhy_address address;
	char host[HOST_BYTES];
	uint16_t port;
	int failure = 0;

	if (!split(text, host, &port))
		return kwhy_fail(error, KWHY_E_USAGE,
			"'%.100s' is not an address to listen on; write it like 127.0.0.1:9835 or [::1]:9835",
			text);
	if (*host)
		failure = find_host(host, &address);
	else
		set_every(&address);
	if (failure == EAI_MEMORY)
		return kwhy_fail_memory(error, "the address to listen on");
	if (failure)
		return kwhy_fail(error, KWHY_E_USAGE, "'%.100s' is not an address of this machine: %s", host,
			gai_strerror(failure));
	set_port(&address, port);
	*out = address;
	return KWHY_OK;
}

bool kwhy_address_is_loopback(const union kwhy_address *address)
{
	if (address->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&address->v6.sin6_addr);
	return ntohl(address->v4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

const char *kwhy_address_write(const union kwhy_address *address, char out[KWHY_ADDRESS_BYTES])
{
	char host[INET6_ADDRSTRLEN] = "";
	bool is_v6 = address->any.sa_family == AF_INET6;

	if (is_v6)
		inet_ntop(AF_INET6, &address->v6.sin6_addr, host, sizeof(host));
	else
		inet_ntop(AF_INET, &address->v4.sin_addr, host, sizeof(host));
	snprintf(out, KWHY_ADDRESS_BYTES, is_v6 ? "[%s]:%u" : "%s:%u", host,
		(unsigned)ntohs(is_v6 ? address->v6.sin6_port : address->v4.sin_port));
	return out;
}

static bool listen_on(int fd, union kwhy_address *address)
{
	const bool is_v6 = address->any.sa_family == AF_INET6;
	socklen_t length = is_v6 ? sizeof(address->v6) : sizeof(address->v4);
	const int on = 1, off = 0;

	return setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
		(!is_v6 || setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof(off)) == 0) &&
		bind(fd, &address->any, length) == 0 && listen(fd, BACKLOG) == 0 &&
		getsockname(fd, &address->any, &length) == 0;
}

enum kwhy_status kwhy_address_listen(union kwhy_address *address, int *out_socket, struct kwhy_error *error)
{
	int fd = socket(address->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char text[KWHY_ADDRESS_BYTES];
	int reason;

	if (fd >= 0 && listen_on(fd, address)) {
		*out_socket = fd;
		return KWHY_OK;
	}
	reason = errno;
	if (fd >= 0)
		close(fd);
	return kwhy_fail(error, KWHY_E_IO, "cannot listen on %s: %s; choose another with --listen",
		kwhy_address_write(address, text), strerror(reason));
}
