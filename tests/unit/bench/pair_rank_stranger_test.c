/* SPDX-License-Identifier: Apache-2.0 */
/* Tests that connections of programs that are no ranks of the benchmark's run do not disturb the run. */
#include "base/clock.h"
#include "bench/pairs/rank_calls.h"
#include "bench/pairs/rank_wire.h"
#include "cmocka_all.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define WAIT_NS INT64_C(20000000000)
#define STEP_NS INT64_C(4000000000)

static const char secret[] = "0123456789abcdef0123456789abcdef";

/*
 * Simulates a peer that sends slowly: while `dribbles` is set, each recv() returns one byte (counted in
 * `dribbled`) and advances the clock by STEP_NS (in `late_ns`).
 */
static atomic_bool dribbles;
static atomic_int dribbled;
static atomic_llong late_ns;

int64_t __real_kwhy_clock_mono_ns(void);
int64_t __wrap_kwhy_clock_mono_ns(void);
ssize_t __real_recv(int socket, void *bytes, size_t count, int flags);
ssize_t __wrap_recv(int socket, void *bytes, size_t count, int flags);

int64_t __wrap_kwhy_clock_mono_ns(void)
{
	return __real_kwhy_clock_mono_ns() + late_ns;
}

ssize_t __wrap_recv(int socket, void *bytes, size_t count, int flags)
{
	if (!dribbles || count == 0)
		return __real_recv(socket, bytes, count, flags);
	late_ns += STEP_NS;
	dribbled++;
	*(char *)bytes = 0;
	return 1;
}

struct member {
	pthread_t thread;
	struct kwhy_rank_link_request request;
	struct kwhy_rank_link link;
	struct kwhy_error error;
	enum kwhy_status status;
};

static void *come(void *context)
{
	struct member *member = context;

	member->status = kwhy_rank_link_open(&member->request, &member->link, &member->error);
	return NULL;
}

static void prepare(struct member members[2], int *out_listener, uint16_t *out_port)
{
	struct kwhy_error error;

	assert_int_equal(kwhy_rank_link_listen_here(out_listener, out_port, &error), KWHY_OK);
	for (uint32_t i = 0; i < 2; i++)
		members[i].request = (struct kwhy_rank_link_request){.rank = i,
			.size = 2,
			.address = "127.0.0.1",
			.port = *out_port,
			.secret = secret,
			.listener = i ? -1 : *out_listener,
			.wait_ns = WAIT_NS};
}

static void meet(struct member members[2])
{
	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&members[i].thread, NULL, come, &members[i]), 0);
	for (int i = 0; i < 2; i++) {
		pthread_join(members[i].thread, NULL);
		if (members[i].status)
			fail_msg("%s", members[i].error.text);
	}
}

static void part(struct member members[2])
{
	for (int i = 0; i < 2; i++)
		kwhy_rank_link_close(&members[i].link);
}

static int call(uint16_t port)
{
	const struct sockaddr_in address = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(number, (const struct sockaddr *)&address, sizeof(address)), 0);
	return number;
}

static struct kwhy_rank_hello right_hello(void)
{
	struct kwhy_rank_hello hello = {
		.version = 2, .rank = 1, .size = 2, .port = 1, .process = 1, .host = "stranger"};

	memcpy(hello.mark, "kwhyrank", sizeof(hello.mark));
	return hello;
}

/*
 * 60 strangers connect, more than rank 0 keeps connections for: some send nothing, some half of a hello
 * message, some a hello message with a wrong field.
 */
static void strangers_of_every_kind_do_not_end_the_run(void **state)
{
	enum { STRANGERS = 60 };
	struct member members[2] = {{.status = KWHY_OK}};
	int listener, strangers[STRANGERS];
	uint16_t port;

	(void)state;
	prepare(members, &listener, &port);
	for (int i = 0; i < STRANGERS; i++) {
		struct kwhy_rank_hello hello = right_hello();
		size_t length = i % 8 == 1 ? sizeof(hello) / 2 : sizeof(hello);

		hello.version = i % 8 == 2 ? 1 : 2;
		hello.rank = i % 8 == 3 ? UINT32_MAX : 1;
		hello.size = i % 8 == 4 ? 0 : 2;
		hello.port = i % 8 == 5 ? 1 << 20 : 1;
		memset(hello.host, 'x', i % 8 == 6 ? sizeof(hello.host) : 1);
		strangers[i] = call(port);
		if (i % 8)
			assert_int_equal(send(strangers[i], &hello, length, MSG_NOSIGNAL), length);
	}
	meet(members);
	part(members);
	for (int i = 0; i < STRANGERS; i++)
		close(strangers[i]);
}

/*
 * The stranger sends a valid hello message, and a proof computed with another secret. It must get a hello
 * message, but not the proof of rank 0.
 */
static void a_proof_by_another_secret_is_sent_away(void **state)
{
	struct member members[2] = {{.status = KWHY_OK}};
	struct kwhy_rank_hello hello = right_hello(), theirs;
	unsigned char proof[KWHY_SHA256_BYTES] = {1};
	int listener, stranger;
	uint16_t port;
	char byte;

	(void)state;
	prepare(members, &listener, &port);
	stranger = call(port);
	assert_int_equal(send(stranger, &hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
	assert_int_equal(send(stranger, proof, sizeof(proof), MSG_NOSIGNAL), sizeof(proof));
	meet(members);
	assert_int_equal(recv(stranger, &theirs, sizeof(theirs), MSG_WAITALL), sizeof(theirs));
	assert_true(recv(stranger, &byte, 1, 0) <= 0);
	close(stranger);
	part(members);
}

static void ranks_of_different_secrets_do_not_meet_and_say_why(void **state)
{
	struct member members[2] = {{.status = KWHY_OK}};
	int listener;
	uint16_t port;

	(void)state;
	prepare(members, &listener, &port);
	members[1].request.secret = "another secret of other ranks";
	for (int i = 0; i < 2; i++) {
		members[i].request.wait_ns = 300000000;
		assert_int_equal(pthread_create(&members[i].thread, NULL, come, &members[i]), 0);
	}
	for (int i = 0; i < 2; i++)
		pthread_join(members[i].thread, NULL);
	assert_int_equal(members[0].status, KWHY_E_IO);
	assert_non_null(strstr(members[0].error.text, "another KWHY_RANKS_SECRET"));
	assert_int_equal(members[1].status, KWHY_E_IO);
	assert_non_null(strstr(members[1].error.text, "KWHY_RANKS_SECRET"));
}

/*
 * Without a secret, kwhy accepts connections of the same user only, whom it finds in the system's table of
 * sockets.
 */
static void without_a_secret_another_user_is_sent_away(void **state)
{
	enum { STRANGER = 65533 };
	struct member members[2] = {{.status = KWHY_OK}};
	int listener, end_state = -1;
	uint16_t port;
	pid_t child;

	(void)state;
	if (geteuid() != 0)
		kwhy_skip("needs root");
	prepare(members, &listener, &port);
	for (int i = 0; i < 2; i++) {
		members[i].request.secret = NULL;
		members[i].request.wait_ns = 300000000;
	}
	child = fork();
	if (child == 0) {
		if (setuid(STRANGER))
			_exit(1);
		come(&members[1]);
		_exit(members[1].status == KWHY_E_IO ? 0 : 1);
	}
	come(&members[0]);
	assert_int_equal(members[0].status, KWHY_E_IO);
	assert_non_null(strstr(members[0].error.text, "of another user"));
	assert_int_equal(waitpid(child, &end_state, 0), child);
	assert_int_equal(end_state, 0);
}

static void without_a_secret_one_user_s_ranks_meet(void **state)
{
	struct member members[2] = {{.status = KWHY_OK}};
	int listener;
	uint16_t port;

	(void)state;
	prepare(members, &listener, &port);
	members[0].request.secret = members[1].request.secret = NULL;
	meet(members);
	part(members);
}

static void hosts_that_differ_need_a_secret_and_a_long_one(void **state)
{
	struct member member = {
		.request = {.size = 2, .address = "192.0.2.1", .port = 1, .listener = -1, .wait_ns = 1}};

	(void)state;
	come(&member);
	assert_int_equal(member.status, KWHY_E_USAGE);
	assert_non_null(strstr(member.error.text, "set KWHY_RANKS_SECRET"));
	member.request.secret = "short";
	come(&member);
	assert_int_equal(member.status, KWHY_E_USAGE);
	assert_non_null(strstr(member.error.text, "has 5 characters"));
	/* 192.0.2.1 is reserved for documentation (RFC 5737), so no host has it */
	member.request.secret = secret;
	come(&member);
	assert_int_equal(member.status, KWHY_E_IO);
	assert_non_null(strstr(member.error.text, "MASTER_ADDR is no address of the host"));
}

static void a_rank_that_dribbles_is_lost_after_one_time_for_all_its_bytes(void **state)
{
	enum { BYTES = 4096 };
	struct member members[2] = {{.status = KWHY_OK}};
	struct kwhy_error error;
	unsigned char bytes[BYTES];
	int listener;
	uint16_t port;

	(void)state;
	prepare(members, &listener, &port);
	meet(members);
	dribbles = true;
	assert_int_equal(
		kwhy_rank_link_receive(&members[0].link, 1, bytes, sizeof(bytes), &error), KWHY_E_LOST);
	dribbles = false;
	late_ns = 0;
	assert_true(dribbled >= 1 && dribbled <= KWHY_RANK_SILENCE_S * INT64_C(1000000000) / STEP_NS);
	assert_non_null(strstr(error.text, "rank 1"));
	assert_int_equal(members[0].link.sockets[1], -1);
	part(members);
}

static enum kwhy_status refuse_all(void *context, uint32_t what, bool is_answer,
	const struct kwhy_pair_message *message, struct kwhy_error *error)
{
	(void)context;
	(void)message;
	return is_answer && what == 7 ? kwhy_fail(error, KWHY_E_INPUT, "'field' is wrong") : KWHY_OK;
}

/*
 * Rank 0 sends request number 7, which rank 1 answers with a message of these fields and bytes. Checks that
 * rank 0 gives up rank 1 with an error that contains `words`.
 */
static void assert_lost(
	uint32_t what, uint32_t status, uint64_t bytes, const char *body, size_t length, const char *words)
{
	struct member members[2] = {{.status = KWHY_OK}};
	struct kwhy_pair_calls calls = {.check = refuse_all};
	struct kwhy_pair_message message = {.head = {what, status, bytes}};
	struct kwhy_error error;
	int listener;
	uint16_t port;

	prepare(members, &listener, &port);
	meet(members);
	assert_int_equal(kwhy_pair_calls_init(&calls, &members[0].link, &error), KWHY_OK);
	assert_int_equal(kwhy_rank_request(&calls, 1, 7, NULL, 0, &error), KWHY_OK);
	memcpy(message.body, body, length);
	assert_int_equal(
		kwhy_rank_link_send(&members[1].link, 0, &message, sizeof(message.head) + length, &error),
		KWHY_OK);
	assert_int_equal(kwhy_pair_await(&calls, 1, NULL, 0, &error), KWHY_E_LOST);
	assert_non_null(strstr(error.text, words));
	kwhy_pair_calls_done(&calls);
	kwhy_rank_link_close(&members[1].link);
}

static void answers_that_no_rank_gives_end_the_call(void **state)
{
	(void)state;
	assert_lost(0, 0, 1, "x", 1, "'field' is wrong");
	assert_lost(0, 0, KWHY_PAIR_CALL_BYTES_MAX + 1, "", 0, "what no rank sends");
	assert_lost(0, 0, UINT64_MAX, "", 0, "what no rank sends");
	assert_lost(0, KWHY_STATUS_COUNT, 2, "x", 2, "what no rank sends");
	assert_lost(0, KWHY_E_IO, 0, "", 0, "what no rank sends");
	assert_lost(0, KWHY_E_IO, 3, "xyz", 3, "what no rank sends"); /* error text without a terminator */
	assert_lost(0, KWHY_E_IO, 4, "x\0y", 4,
		"what no rank sends"); /* error text with a terminator before its end */
	assert_lost(0, KWHY_E_IO, 6, "\033[2Jx", 6, "what no rank sends");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(strangers_of_every_kind_do_not_end_the_run),
		cmocka_unit_test(a_proof_by_another_secret_is_sent_away),
		cmocka_unit_test(ranks_of_different_secrets_do_not_meet_and_say_why),
		cmocka_unit_test(without_a_secret_another_user_is_sent_away),
		cmocka_unit_test(without_a_secret_one_user_s_ranks_meet),
		cmocka_unit_test(hosts_that_differ_need_a_secret_and_a_long_one),
		cmocka_unit_test(a_rank_that_dribbles_is_lost_after_one_time_for_all_its_bytes),
		cmocka_unit_test(answers_that_no_rank_gives_end_the_call),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
