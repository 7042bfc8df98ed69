/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_calls.h"
#include "cmocka_all.h"

#include <arpa/inet.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* The ranks are threads of this process, each with a link of its own. */
enum { RANKS = 4, DOUBLE = 1, RELAY = 2, REFUSE = 3, STOP = 4 };

#define WAIT_NS INT64_C(10000000000)

/*
 * What the wrapped bind() and connect() do in a test; 0 or -1: nothing special. first_port: port on which
 * rank 0 listens. refused: how often bind() to that port failed. to_itself: 1: the next connect() connects
 * the socket to itself; 2: it is doing so.
 */
static atomic_int first_port, refused, to_itself;
static atomic_int holder =
	-1; /* socket that occupies first_port; closed when rank 0 has failed to bind it once */
/* true: once rank 0 has failed to bind its port, the connection by which it finds out who listens there
 * connects to itself */
static bool looks_at_itself;
static _Thread_local bool is_looking;

int __real_bind(int socket, const struct sockaddr *address, socklen_t length);
int __wrap_bind(int socket, const struct sockaddr *address, socklen_t length);
int __real_connect(int socket, const struct sockaddr *address, socklen_t length);
int __wrap_connect(int socket, const struct sockaddr *address, socklen_t length);

int __wrap_bind(int socket, const struct sockaddr *address, socklen_t length)
{
	bool is_first = atomic_load(&first_port) &&
		ntohs(((const struct sockaddr_in *)address)->sin_port) == atomic_load(&first_port);
	int result, reason;

	while (is_first && atomic_load(&to_itself))
		sched_yield();
	result = __real_bind(socket, address, length);
	reason = errno;
	if (is_first && result) {
		int held = atomic_exchange(&holder, -1);

		atomic_fetch_add(&refused, 1);
		is_looking = looks_at_itself && held >= 0;
		if (held >= 0)
			close(held);
	}
	errno = reason;
	return result;
}

/*
 * Connects the socket to itself. That happens by chance if the system chooses the destination port as the
 * source port of a connection to the own host.
 */
static int connect_to_itself(int socket, const struct sockaddr *address, socklen_t length)
{
	int result = __real_bind(socket, address, length);

	return result ? result : __real_connect(socket, address, length);
}

int __wrap_connect(int socket, const struct sockaddr *address, socklen_t length)
{
	int result, armed = 1;

	if (is_looking) {
		is_looking = false;
		result = connect_to_itself(socket, address, length);
		assert_int_equal(result, 0);
		return result;
	}
	if (!atomic_compare_exchange_strong(&to_itself, &armed, 2))
		return __real_connect(socket, address, length);
	result = connect_to_itself(socket, address, length);
	atomic_store(&to_itself, 0);
	return result;
}

/*
 * Returns a listening socket on a free port, below the range from which the system takes source ports, so
 * that no other connection can take it.
 */
static int bind_free_port(uint16_t *out)
{
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	uint16_t port = (uint16_t)(20000 + getpid() % 10000);
	int number = socket(AF_INET, SOCK_STREAM, 0);

	do
		address.sin_port = htons(++port);
	while (__real_bind(number, (const struct sockaddr *)&address, sizeof(address)));
	*out = port;
	return number;
}

struct member {
	pthread_t thread;
	struct kwhy_rank_link_request request;
	struct kwhy_pair_calls calls;
	struct kwhy_error error;
	enum kwhy_status status;
	bool done, leaves, is_left; /* is_left: rank 0 drops this rank, which then ends with KWHY_E_LOST */
};

/*
 * Answers a request of another rank: DOUBLE: with twice the number. RELAY: with twice the number, too, for
 * which it asks rank 0 in turn, while rank 0 waits for this answer.
 */
static enum kwhy_status serve(void *context, uint32_t from, const struct kwhy_pair_message *asked,
	struct kwhy_pair_message *answer, struct kwhy_error *error)
{
	struct member *member = context;
	uint64_t number = 0;
	enum kwhy_status status = KWHY_OK;

	(void)from;
	if (asked->head.what == STOP) {
		member->done = true;
		return KWHY_OK;
	}
	if (asked->head.what == REFUSE)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "there is no such thing here");
	status = kwhy_pair_body(asked, &number, sizeof(number), error);
	if (!status && asked->head.what == RELAY)
		status = kwhy_pair_call(
			&member->calls, 0, DOUBLE, &number, sizeof(number), &number, sizeof(number), error);
	else
		number *= 2;
	kwhy_pair_answer(answer, &number, sizeof(number));
	return status;
}

static enum kwhy_status come(struct member *member)
{
	struct kwhy_rank_link link;

	member->status = kwhy_rank_link_open(&member->request, &link, &member->error);
	if (!member->status)
		member->status = kwhy_pair_calls_init(&member->calls, &link, &member->error);
	member->calls.serve = serve;
	member->calls.context = member;
	return member->status;
}

static void *run(void *context)
{
	struct member *member = context;

	if (!come(member) && !member->leaves)
		member->status = kwhy_pair_serve_all(&member->calls, &member->done, &member->error);
	kwhy_pair_calls_done(&member->calls);
	return NULL;
}

/* Connects all ranks to one another: rank 0 in this thread, the others in threads of their own. */
static void gather_at(struct member members[RANKS], int listener, uint16_t port)
{
	for (uint32_t i = 0; i < RANKS; i++)
		members[i].request = (struct kwhy_rank_link_request){.rank = i,
			.size = RANKS,
			.address = "127.0.0.1",
			.port = port,
			.listener = i ? -1 : listener,
			.wait_ns = WAIT_NS};
	for (uint32_t i = 1; i < RANKS; i++)
		assert_int_equal(pthread_create(&members[i].thread, NULL, run, &members[i]), 0);
	if (come(&members[0]))
		fail_msg("%s", members[0].error.text);
}

static void gather(struct member members[RANKS])
{
	uint16_t port;
	int listener;
	struct kwhy_error error;

	assert_int_equal(kwhy_rank_link_listen_here(&listener, &port, &error), KWHY_OK);
	gather_at(members, listener, port);
}

static void part(struct member members[RANKS])
{
	struct kwhy_error error;

	for (uint32_t i = 1; i < RANKS; i++)
		if (members[0].calls.link.sockets[i] >= 0)
			assert_int_equal(kwhy_pair_call(&members[0].calls, i, STOP, NULL, 0, NULL, 0, &error),
				KWHY_OK);
	for (uint32_t i = 1; i < RANKS; i++) {
		pthread_join(members[i].thread, NULL);
		assert_int_equal(members[i].status, members[i].is_left ? KWHY_E_LOST : KWHY_OK);
	}
	kwhy_pair_calls_done(&members[0].calls);
}

static void every_rank_answers_whoever_asks_first(void **state)
{
	struct member members[RANKS] = {{.done = false}};
	struct kwhy_pair_calls *calls = &members[0].calls;
	struct kwhy_error error;

	(void)state;
	gather(members);
	for (uint64_t i = 1; i < RANKS; i++)
		assert_int_equal(
			kwhy_rank_request(calls, (uint32_t)i, DOUBLE, &i, sizeof(i), &error), KWHY_OK);
	for (uint64_t i = RANKS - 1; i > 0; i--) {
		uint64_t twice = 0;

		assert_int_equal(kwhy_pair_await(calls, (uint32_t)i, &twice, sizeof(twice), &error), KWHY_OK);
		assert_int_equal(twice, 2 * i);
	}
	part(members);
}

static void a_rank_that_waits_does_what_it_is_asked(void **state)
{
	struct member members[RANKS] = {{.done = false}};
	uint64_t number = 21;
	struct kwhy_error error;

	(void)state;
	gather(members);
	assert_int_equal(kwhy_pair_call(&members[0].calls, 2, RELAY, &number, sizeof(number), &number,
				 sizeof(number), &error),
		KWHY_OK);
	assert_int_equal(number, 42);
	part(members);
}

static void what_one_rank_cannot_the_other_tells(void **state)
{
	struct member members[RANKS] = {{.done = false}};
	struct kwhy_error error;

	(void)state;
	gather(members);
	assert_int_equal(
		kwhy_pair_call(&members[0].calls, 3, REFUSE, NULL, 0, NULL, 0, &error), KWHY_E_UNSUPPORTED);
	assert_string_equal(error.text, "rank 3: there is no such thing here");
	part(members);
}

static void a_rank_that_ends_is_named(void **state)
{
	struct member members[RANKS] = {{.done = false}};
	uint64_t number = 1;
	struct kwhy_error error;
	enum kwhy_status status;

	(void)state;
	members[2].leaves = true;
	gather(members);
	status = kwhy_pair_call(
		&members[0].calls, 2, DOUBLE, &number, sizeof(number), &number, sizeof(number), &error);
	assert_int_equal(status, KWHY_E_LOST);
	assert_non_null(strstr(error.text, "rank 2"));
	assert_non_null(strstr(error.text, "ended"));
	assert_int_equal(kwhy_rank_link_check(&members[0].calls.link, &error), KWHY_E_LOST);
	part(members);
}

/*
 * Rank 0 has sent rank 2 a request and then notices that rank 2 has ended. Waiting for the answer must fail
 * at once.
 */
static void a_rank_that_ended_before_it_is_awaited_is_not_waited_for(void **state)
{
	struct member members[RANKS] = {{.done = false}, {.done = false}, {.is_left = true}};
	struct kwhy_error error;
	uint64_t number = 1;

	(void)state;
	gather(members);
	assert_int_equal(
		kwhy_rank_request(&members[0].calls, 2, DOUBLE, &number, sizeof(number), &error), KWHY_OK);
	assert_int_equal(kwhy_rank_link_drop(&members[0].calls.link, 2, false, &error), KWHY_E_LOST);
	assert_int_equal(kwhy_pair_await(&members[0].calls, 2, &number, sizeof(number), &error), KWHY_E_LOST);
	assert_non_null(strstr(error.text, "ended in the middle"));
	part(members);
}

static void a_stranger_who_connects_is_sent_away(void **state)
{
	struct member members[RANKS] = {{.done = false}};
	struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	char words[256];
	uint16_t port;
	int listener, stranger = socket(AF_INET, SOCK_STREAM, 0);
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_rank_link_listen_here(&listener, &port, &error), KWHY_OK);
	address.sin_port = htons(port);
	assert_int_equal(connect(stranger, (const struct sockaddr *)&address, sizeof(address)), 0);
	memset(words, 'x', sizeof(words));
	assert_int_equal(send(stranger, words, sizeof(words), 0), sizeof(words));
	gather_at(members, listener, port);
	part(members);
	close(stranger);
}

static void a_rank_that_reaches_itself_tries_again(void **state)
{
	struct member members[RANKS] = {{.done = false}};
	uint16_t port;

	(void)state;
	close(bind_free_port(&port));
	atomic_store(&first_port, port);
	atomic_store(&to_itself, 1);
	gather_at(members, -1, port);
	assert_int_equal(atomic_load(&to_itself), 0);
	part(members);
	atomic_store(&first_port, 0);
}

static void a_port_that_a_connection_holds_is_waited_for(void **state)
{
	struct member members[RANKS] = {{.done = false}};
	uint16_t port;

	(void)state;
	atomic_store(&holder, bind_free_port(&port));
	atomic_store(&first_port, port);
	atomic_store(&refused, 0);
	gather_at(members, -1, port);
	assert_true(atomic_load(&refused) > 0);
	part(members);
	atomic_store(&first_port, 0);
}

static void a_port_is_not_taken_since_the_look_at_it_reached_itself(void **state)
{
	looks_at_itself = true;
	a_port_that_a_connection_holds_is_waited_for(state);
	looks_at_itself = false;
}

static void a_port_that_another_program_listens_on_is_said_at_once(void **state)
{
	struct kwhy_rank_link_request request = {
		.size = 2, .address = "127.0.0.1", .listener = -1, .wait_ns = WAIT_NS};
	struct kwhy_rank_link link;
	struct kwhy_error error;
	int listener;

	(void)state;
	assert_int_equal(kwhy_rank_link_listen_here(&listener, &request.port, &error), KWHY_OK);
	atomic_store(&first_port, request.port);
	atomic_store(&refused, 0);
	assert_int_equal(kwhy_rank_link_open(&request, &link, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, "nothing can listen on port"));
	assert_int_equal(atomic_load(&refused), 1);
	atomic_store(&first_port, 0);
	close(listener);
}

static void who_counts_otherwise_is_refused(void **state)
{
	struct kwhy_rank_link_request request = {
		.rank = 3, .size = 2, .address = "127.0.0.1", .listener = -1, .wait_ns = 1};
	struct kwhy_rank_link link;
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_rank_link_open(&request, &link, &error), KWHY_E_USAGE);
	request.rank = 0;
	assert_int_equal(kwhy_rank_link_open(&request, &link, &error), KWHY_E_IO);
	assert_non_null(strstr(error.text, "1 of 2 ranks came in time"));
	assert_non_null(strstr(error.text, "--ranks 1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_rank_answers_whoever_asks_first),
		cmocka_unit_test(a_rank_that_waits_does_what_it_is_asked),
		cmocka_unit_test(what_one_rank_cannot_the_other_tells),
		cmocka_unit_test(a_rank_that_ends_is_named),
		cmocka_unit_test(a_rank_that_ended_before_it_is_awaited_is_not_waited_for),
		cmocka_unit_test(a_stranger_who_connects_is_sent_away),
		cmocka_unit_test(a_rank_that_reaches_itself_tries_again),
		cmocka_unit_test(a_port_that_a_connection_holds_is_waited_for),
		cmocka_unit_test(a_port_is_not_taken_since_the_look_at_it_reached_itself),
		cmocka_unit_test(a_port_that_another_program_listens_on_is_said_at_once),
		cmocka_unit_test(who_counts_otherwise_is_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
