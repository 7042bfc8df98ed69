/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/accept.h"

#include "serve/address.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

/* One item of an Accept header's list, such as "type/sub;param;q=0.5". */
struct range {
	const char *text;
	size_t length;
};

/* The weight q of an item in thousandths (RFC 9110 allows three decimals); 1000: it states none. */
static int weight_of(struct range range)
{
	int weight = 1000;

	for (size_t i = 0; i + 3 < range.length; i++) {
		const char *at = range.text + i;

		if (*at != ';' && *at != ' ')
			continue;
		if (strncasecmp(at + 1, "q=", 2) != 0)
			continue;
		weight = at[3] == '1' ? 1000 : 0;
		for (size_t digit = i + 5, unit = 100; at[3] == '0' && digit < range.length && unit > 0;
			digit++, unit /= 10) {
			if (range.text[digit] < '0' || range.text[digit] > '9')
				break;
			weight += (range.text[digit] - '0') * (int)unit;
		}
	}
	return weight;
}

static bool is_type(struct range range, const char *type)
{
	size_t length = strlen(type);

	return range.length >= length && strncasecmp(range.text, type, length) == 0 &&
		(range.length == length || strchr("; \t", range.text[length]));
}

enum kwhy_exposition_form kwhy_accept_form(const char *accept)
{
	int open = 0, plain = 0;

	while (accept && *accept) {
		struct range range;

		accept += strspn(accept, ", \t");
		range = (struct range){accept, strcspn(accept, ",")};
		accept += range.length;
		if (is_type(range, "application/openmetrics-text"))
			open = weight_of(range) > open ? weight_of(range) : open;
		else if (is_type(range, "text/plain"))
			plain = weight_of(range) > plain ? weight_of(range) : plain;
	}
	return open > plain ? KWHY_EXPOSITION_OPENMETRICS : KWHY_EXPOSITION_PROMETHEUS;
}

bool kwhy_accept_token(const char *authorization, const char *token)
{
	static const char scheme[] = "Bearer ";
	size_t length = strlen(token), given_length;
	const char *given;
	uint8_t differs = 0;

	if (!authorization || strncasecmp(authorization, scheme, sizeof(scheme) - 1) != 0)
		return false;
	given = authorization + sizeof(scheme) - 1;
	given_length = strlen(given);
	if (given_length != length)
		return false;
	for (size_t i = 0; i < length; i++)
		differs |= (uint8_t)(given[i] ^ token[i]);
	return differs == 0;
}

/* Whether the text after the host is empty or a colon with digits. */
static bool is_port(const char *text)
{
	return !*text || (*text == ':' && text[1 + strspn(text + 1, "0123456789")] == '\0');
}

/* The host in "host:port", without the brackets of an IPv6 address; empty: the text is malformed. */
static struct range host_of(const char *text)
{
	const bool is_bracketed = *text == '[';
	const struct range host = {
		text + is_bracketed, strcspn(text + is_bracketed, is_bracketed ? "]" : ":")};
	const char *end = host.text + host.length;

	if (is_bracketed && *end++ != ']')
		return (struct range){text, 0};
	return is_port(end) ? host : (struct range){text, 0};
}

static bool is_loopback(struct range host)
{
	char text[INET6_ADDRSTRLEN];
	union kwhy_address address = {0};

	if (host.length >= sizeof(text))
		return false;
	memcpy(text, host.text, host.length);
	text[host.length] = '\0';
	if (strcasecmp(text, "localhost") == 0)
		return true;
	address.any.sa_family = AF_INET;
	if (inet_pton(AF_INET, text, &address.v4.sin_addr) == 1)
		return kwhy_address_is_loopback(&address);
	address.any.sa_family = AF_INET6;
	return inet_pton(AF_INET6, text, &address.v6.sin6_addr) == 1 && kwhy_address_is_loopback(&address);
}

bool kwhy_accept_host(const char *host, const char *listen)
{
	struct range given, own = host_of(listen);

	if (!host)
		return true;
	given = host_of(host);
	return is_loopback(given) ||
		(given.length > 0 && given.length == own.length &&
			strncasecmp(given.text, own.text, own.length) == 0);
}
