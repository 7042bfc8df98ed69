/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_door.h"

#include "base/clock.h"
#include "bench/pairs/rank_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

enum { VERSION = 2 };

#define GREETING_NS (KWHY_RANK_GREETING_S * INT64_C(1000000000))

static const char mark[8] = "kwhyrank";

void kwhy_rank_door_init(struct kwhy_rank_door *door, const struct kwhy_rank_link *link, const char *secret)
{
	*door = (struct kwhy_rank_door){.link = link, .secret = secret, .listener = -1};
	for (int i = 0; i < KWHY_RANK_ARRIVALS; i++)
		door->arrivals[i].socket = -1;
}

static void let_go(struct kwhy_rank_arrival *arrival)
{
	if (arrival->socket >= 0)
		close(arrival->socket);
	arrival->socket = -1;
}

void kwhy_rank_door_done(struct kwhy_rank_door *door)
{
	for (int i = 0; i < KWHY_RANK_ARRIVALS; i++)
		let_go(&door->arrivals[i]);
	if (door->listener >= 0)
		close(door->listener);
	door->listener = -1;
}

static bool make_greeting(const struct kwhy_rank_door *door, struct kwhy_rank_greeting *out)
{
	const struct kwhy_rank_link *link = door->link;

	*out = (struct kwhy_rank_greeting){.version = VERSION,
		.rank = link->rank,
		.size = link->size,
		.port = door->port,
		.process = link->processes[link->rank]};
	memcpy(out->mark, mark, sizeof(mark));
	memcpy(out->host, link->hosts[link->rank], sizeof(out->host));
	return getrandom(out->nonce, sizeof(out->nonce), 0) == sizeof(out->nonce);
}

static bool is_greeting(const struct kwhy_rank_greeting *greeting)
{
	const struct kwhy_rank_limits limits = {.ranks = KWHY_PAIR_GPUS_MOST};
	struct kwhy_error why;

	return memcmp(greeting->mark, mark, sizeof(mark)) == 0 && greeting->version == VERSION &&
		kwhy_rank_wire_check(KWHY_RANK_GREETING, false, greeting, sizeof(*greeting), &limits, &why) ==
		KWHY_OK;
}

/* `of`: whose proof it is. Without a secret it says nothing, and the system tells whose socket it is. */
static void prove(const struct kwhy_rank_door *door, const char *of,
	const struct kwhy_rank_greeting *connects, const struct kwhy_rank_greeting *accepts,
	unsigned char out[KWHY_SHA256_BYTES])
{
	const char *secret = door->secret ? door->secret : "";
	const struct kwhy_sha256_part key = {secret, strlen(secret)},
				      parts[] = {{of, strlen(of) + 1}, {connects, sizeof(*connects)},
					      {accepts, sizeof(*accepts)}};

	kwhy_hmac_sha256(&key, parts, sizeof(parts) / sizeof(parts[0]), out);
}

static const char *const connecting = "kwhy rank that connects", *const accepting = "kwhy rank that accepts";

bool kwhy_rank_door_greet(struct kwhy_rank_door *door, int socket, struct kwhy_rank_greeting *out)
{
	const int64_t end_ns = kwhy_clock_mono_ns() + GREETING_NS;
	unsigned char proof[KWHY_SHA256_BYTES], theirs[KWHY_SHA256_BYTES];
	struct kwhy_rank_greeting ours;

	if (!make_greeting(door, &ours) || !kwhy_rank_socket_send(socket, &ours, sizeof(ours), end_ns) ||
		!kwhy_rank_socket_receive(socket, out, sizeof(*out), end_ns) || !is_greeting(out) ||
		(!door->secret && !kwhy_rank_socket_is_of_user(socket)))
		return false;
	prove(door, connecting, &ours, out, proof);
	if (!kwhy_rank_socket_send(socket, proof, sizeof(proof), end_ns) ||
		!kwhy_rank_socket_receive(socket, theirs, sizeof(theirs), end_ns))
		return false;
	prove(door, accepting, &ours, out, proof);
	return kwhy_sha256_equal(proof, theirs);
}

/* A few bytes into an empty buffer: whoever does not take them is let go. */
static bool send_now(int socket, const void *bytes, size_t count)
{
	return send(socket, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT) == (ssize_t)count;
}

static bool answer_greeting(struct kwhy_rank_door *door, struct kwhy_rank_arrival *arrival)
{
	if (!is_greeting(&arrival->theirs))
		return false;
	if (!door->secret && !kwhy_rank_socket_is_of_user(arrival->socket)) {
		door->refused++;
		return false;
	}
	arrival->is_greeted = true;
	arrival->got = 0;
	return make_greeting(door, &arrival->ours) &&
		send_now(arrival->socket, &arrival->ours, sizeof(arrival->ours));
}

static bool answer_proof(struct kwhy_rank_door *door, struct kwhy_rank_arrival *arrival)
{
	unsigned char proof[KWHY_SHA256_BYTES];

	prove(door, connecting, &arrival->theirs, &arrival->ours, proof);
	if (!kwhy_sha256_equal(proof, arrival->proof)) {
		door->refused++;
		return false;
	}
	prove(door, accepting, &arrival->theirs, &arrival->ours, proof);
	return send_now(arrival->socket, proof, sizeof(proof));
}

/* Takes what has come. True: it has proved itself; its socket is -1: it has not, and is gone. */
static bool hear(struct kwhy_rank_door *door, struct kwhy_rank_arrival *arrival)
{
	unsigned char *into = arrival->is_greeted ? arrival->proof : (unsigned char *)&arrival->theirs;
	size_t whole = arrival->is_greeted ? sizeof(arrival->proof) : sizeof(arrival->theirs);
	ssize_t came = recv(arrival->socket, into + arrival->got, whole - arrival->got, MSG_DONTWAIT);
	bool was_greeted = arrival->is_greeted;

	if (came > 0)
		arrival->got += (size_t)came;
	if (came > 0 && arrival->got < whole)
		return false;
	if (came <= 0 || !(was_greeted ? answer_proof(door, arrival) : answer_greeting(door, arrival))) {
		let_go(arrival);
		return false;
	}
	return was_greeted;
}

static void let_in(struct kwhy_rank_door *door)
{
	int socket = accept4(door->listener, NULL, NULL, SOCK_CLOEXEC);
	struct kwhy_rank_arrival *place = &door->arrivals[0];

	if (socket < 0)
		return;
	for (int i = 0; i < KWHY_RANK_ARRIVALS && place->socket >= 0; i++)
		if (door->arrivals[i].socket < 0 || door->arrivals[i].end_ns < place->end_ns)
			place = &door->arrivals[i];
	let_go(place);
	kwhy_rank_socket_prepare(socket);
	*place = (struct kwhy_rank_arrival){.socket = socket, .end_ns = kwhy_clock_mono_ns() + GREETING_NS};
}

/* Lets those go whose time is over; when the next one's is, or `end_ns`. */
static int64_t look_at_time(struct kwhy_rank_door *door, int64_t now_ns, int64_t end_ns)
{
	for (int i = 0; i < KWHY_RANK_ARRIVALS; i++) {
		struct kwhy_rank_arrival *arrival = &door->arrivals[i];

		if (arrival->socket >= 0 && arrival->end_ns <= now_ns)
			let_go(arrival);
		else if (arrival->socket >= 0 && arrival->end_ns < end_ns)
			end_ns = arrival->end_ns;
	}
	return end_ns;
}

/* The first of those with something to say that has proved itself; NULL: none. */
static struct kwhy_rank_arrival *hear_all(
	struct kwhy_rank_door *door, const struct pollfd waits[KWHY_RANK_ARRIVALS])
{
	for (int i = 0; i < KWHY_RANK_ARRIVALS; i++)
		if (waits[i].fd >= 0 && waits[i].revents && hear(door, &door->arrivals[i]))
			return &door->arrivals[i];
	return NULL;
}

bool kwhy_rank_door_accept(
	struct kwhy_rank_door *door, int64_t end_ns, struct kwhy_rank_greeting *out, int *out_socket)
{
	struct pollfd waits[KWHY_RANK_ARRIVALS + 1];
	int64_t now_ns;

	while ((now_ns = kwhy_clock_mono_ns()) < end_ns) {
		int64_t wait_ns = look_at_time(door, now_ns, end_ns) - now_ns;
		struct kwhy_rank_arrival *ready;

		for (int i = 0; i < KWHY_RANK_ARRIVALS; i++)
			waits[i] = (struct pollfd){.fd = door->arrivals[i].socket, .events = POLLIN};
		waits[KWHY_RANK_ARRIVALS] = (struct pollfd){.fd = door->listener, .events = POLLIN};
		if (poll(waits, KWHY_RANK_ARRIVALS + 1, (int)(wait_ns / 1000000) + 1) <= 0)
			continue;
		ready = hear_all(door, waits);
		if (ready) {
			*out = ready->theirs;
			*out_socket = ready->socket;
			ready->socket = -1;
			return true;
		}
		if (waits[KWHY_RANK_ARRIVALS].revents)
			let_in(door);
	}
	return false;
}
