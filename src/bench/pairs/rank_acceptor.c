/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_acceptor.h"

#include "base/clock.h"
#include "bench/pairs/rank_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { VERSION = 2 };

#define HELLO_NS (KWHY_RANK_HELLO_S * INT64_C(1000000000))

static const char mark[8] = "kwhyrank";

void kwhy_rank_acceptor_init(
	struct kwhy_rank_acceptor *acceptor, const struct kwhy_rank_link *link, const char *secret)
{
	*acceptor = (struct kwhy_rank_acceptor){.link = link, .secret = secret, .listener = -1};
	for (int i = 0; i < KWHY_RANK_ARRIVALS; i++)
		acceptor->arrivals[i].socket = -1;
}

static void let_go(struct kwhy_rank_arrival *arrival)
{
	if (arrival->socket >= 0)
		close(arrival->socket);
	arrival->socket = -1;
}

void kwhy_rank_acceptor_done(struct kwhy_rank_acceptor *acceptor)
{
	for (int i = 0; i < KWHY_RANK_ARRIVALS; i++)
		let_go(&acceptor->arrivals[i]);
	if (acceptor->listener >= 0)
		close(acceptor->listener);
	acceptor->listener = -1;
}

static bool make_hello(const struct kwhy_rank_acceptor *acceptor, struct kwhy_rank_hello *out)
{
	const struct kwhy_rank_link *link = acceptor->link;

	*out = (struct kwhy_rank_hello){.version = VERSION,
		.rank = link->rank,
		.size = link->size,
		.port = acceptor->port,
		.process = link->processes[link->rank]};
	memcpy(out->mark, mark, sizeof(mark));
	memcpy(out->host, link->hosts[link->rank], sizeof(out->host));
	return getrandom(out->nonce, sizeof(out->nonce), 0) == sizeof(out->nonce);
}

static bool is_hello(const struct kwhy_rank_hello *hello)
{
	const struct kwhy_rank_limits limits = {.ranks = KWHY_PAIR_GPUS_MAX};
	struct kwhy_error why;

	return memcmp(hello->mark, mark, sizeof(mark)) == 0 && hello->version == VERSION &&
		kwhy_rank_wire_check(KWHY_RANK_HELLO, false, hello, sizeof(*hello), &limits, &why) == KWHY_OK;
}

/*
 * Computes the proof of one end of a connection: the HMAC, keyed with the secret, of the text `of` and both
 * hello messages. `of` is the constant `connecting` or `accepting`, which says which end it is. Without a
 * secret a proof shows nothing; the kernel's socket table must then show that the other end belongs to the
 * same user.
 */
static void prove(const struct kwhy_rank_acceptor *acceptor, const char *of,
	const struct kwhy_rank_hello *connects, const struct kwhy_rank_hello *accepts,
	unsigned char out[KWHY_SHA256_BYTES])
{
	const char *secret = acceptor->secret ? acceptor->secret : "";
	const struct kwhy_sha256_part key = {secret, strlen(secret)},
				      parts[] = {{of, strlen(of) + 1}, {connects, sizeof(*connects)},
					      {accepts, sizeof(*accepts)}};

	kwhy_hmac_sha256(&key, parts, sizeof(parts) / sizeof(parts[0]), out);
}

static const char *const connecting = "kwhy rank that connects", *const accepting = "kwhy rank that accepts";

bool kwhy_rank_acceptor_handshake(
	struct kwhy_rank_acceptor *acceptor, int socket, struct kwhy_rank_hello *out)
{
	const int64_t end_ns = kwhy_clock_mono_ns() + HELLO_NS;
	unsigned char proof[KWHY_SHA256_BYTES], theirs[KWHY_SHA256_BYTES];
	struct kwhy_rank_hello ours;

	if (!make_hello(acceptor, &ours) || !kwhy_rank_socket_send(socket, &ours, sizeof(ours), end_ns) ||
		!kwhy_rank_socket_receive(socket, out, sizeof(*out), end_ns) || !is_hello(out) ||
		(!acceptor->secret && !kwhy_rank_socket_is_of_user(socket)))
		return false;
	prove(acceptor, connecting, &ours, out, proof);
	if (!kwhy_rank_socket_send(socket, proof, sizeof(proof), end_ns) ||
		!kwhy_rank_socket_receive(socket, theirs, sizeof(theirs), end_ns))
		return false;
	prove(acceptor, accepting, &ours, out, proof);
	return kwhy_sha256_equal(proof, theirs);
}

/*
 * Sends a hello message or a proof without waiting; it fits, since the send buffer of a new connection is
 * empty. false: it could not be sent, so the caller closes the connection.
 */
static bool send_now(int socket, const void *bytes, size_t count)
{
	return send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)count;
}

static bool answer_hello(struct kwhy_rank_acceptor *acceptor, struct kwhy_rank_arrival *arrival)
{
	if (!is_hello(&arrival->theirs))
		return false;
	if (!acceptor->secret && !kwhy_rank_socket_is_of_user(arrival->socket)) {
		acceptor->refused++;
		return false;
	}
	arrival->has_hello = true;
	arrival->got = 0;
	return make_hello(acceptor, &arrival->ours) &&
		send_now(arrival->socket, &arrival->ours, sizeof(arrival->ours));
}

static bool answer_proof(struct kwhy_rank_acceptor *acceptor, struct kwhy_rank_arrival *arrival)
{
	unsigned char proof[KWHY_SHA256_BYTES];

	prove(acceptor, connecting, &arrival->theirs, &arrival->ours, proof);
	if (!kwhy_sha256_equal(proof, arrival->proof)) {
		acceptor->refused++;
		return false;
	}
	prove(acceptor, accepting, &arrival->theirs, &arrival->ours, proof);
	return send_now(arrival->socket, proof, sizeof(proof));
}

/*
 * Reads bytes that have arrived on a connection, and answers a complete hello message or proof. true: the
 * other end has proved that it knows the secret. If the message is invalid, the proof wrong, or the other end
 * gone, the connection is closed and its socket becomes -1.
 */
static bool hear(struct kwhy_rank_acceptor *acceptor, struct kwhy_rank_arrival *arrival)
{
	unsigned char *into = arrival->has_hello ? arrival->proof : (unsigned char *)&arrival->theirs;
	size_t whole = arrival->has_hello ? sizeof(arrival->proof) : sizeof(arrival->theirs);
	ssize_t came = recv(arrival->socket, into + arrival->got, whole - arrival->got, MSG_DONTWAIT);
	bool had_hello = arrival->has_hello;

	if (came > 0)
		arrival->got += (size_t)came;
	if (came > 0 && arrival->got < whole)
		return false;
	if (came <= 0 || !(had_hello ? answer_proof(acceptor, arrival) : answer_hello(acceptor, arrival))) {
		let_go(arrival);
		return false;
	}
	return had_hello;
}

static void let_in(struct kwhy_rank_acceptor *acceptor)
{
	int socket = accept4(acceptor->listener, NULL, NULL, SOCK_CLOEXEC);
	struct kwhy_rank_arrival *testbed = &acceptor->arrivals[0];

	if (socket < 0)
		return;
	for (int i = 0; i < KWHY_RANK_ARRIVALS && testbed->socket >= 0; i++)
		if (acceptor->arrivals[i].socket < 0 || acceptor->arrivals[i].end_ns < testbed->end_ns)
			testbed = &acceptor->arrivals[i];
	let_go(testbed);
	kwhy_rank_socket_prepare(socket);
	*testbed = (struct kwhy_rank_arrival){.socket = socket, .end_ns = kwhy_clock_mono_ns() + HELLO_NS};
}

/*
 * Closes connections whose handshake was not done by its deadline. Returns the earliest deadline of the other
 * connections, at most `end_ns`.
 */
static int64_t look_at_time(struct kwhy_rank_acceptor *acceptor, int64_t now_ns, int64_t end_ns)
{
	for (int i = 0; i < KWHY_RANK_ARRIVALS; i++) {
		struct kwhy_rank_arrival *arrival = &acceptor->arrivals[i];

		if (arrival->socket >= 0 && arrival->end_ns <= now_ns)
			let_go(arrival);
		else if (arrival->socket >= 0 && arrival->end_ns < end_ns)
			end_ns = arrival->end_ns;
	}
	return end_ns;
}

/*
 * Reads from those connections for which poll() reported data, until the other end of one has proved itself
 * (hear()), and returns that one; NULL: none did.
 */
static struct kwhy_rank_arrival *hear_all(
	struct kwhy_rank_acceptor *acceptor, const struct pollfd waits[KWHY_RANK_ARRIVALS])
{
	for (int i = 0; i < KWHY_RANK_ARRIVALS; i++)
		if (waits[i].fd >= 0 && waits[i].revents && hear(acceptor, &acceptor->arrivals[i]))
			return &acceptor->arrivals[i];
	return NULL;
}

bool kwhy_rank_acceptor_accept(
	struct kwhy_rank_acceptor *acceptor, int64_t end_ns, struct kwhy_rank_hello *out, int *out_socket)
{
	struct pollfd waits[KWHY_RANK_ARRIVALS + 1];
	int64_t now_ns;

	while ((now_ns = kwhy_clock_mono_ns()) < end_ns) {
		int64_t wait_ns = look_at_time(acceptor, now_ns, end_ns) - now_ns;
		struct kwhy_rank_arrival *ready;

		for (int i = 0; i < KWHY_RANK_ARRIVALS; i++)
			waits[i] = (struct pollfd){.fd = acceptor->arrivals[i].socket, .events = POLLIN};
		waits[KWHY_RANK_ARRIVALS] = (struct pollfd){.fd = acceptor->listener, .events = POLLIN};
		if (poll(waits, KWHY_RANK_ARRIVALS + 1, (int)(wait_ns / 1000000) + 1) <= 0)
			continue;
		ready = hear_all(acceptor, waits);
		if (ready) {
			*out = ready->theirs;
			*out_socket = ready->socket;
			ready->socket = -1;
			return true;
		}
		if (waits[KWHY_RANK_ARRIVALS].revents)
			let_in(acceptor);
	}
	return false;
}
