/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_wire.h"

#include "cmocka_all.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * The message under test, `length` bytes, is valid at first. The tests put an invalid value into each of its
 * fields in turn, and check that the error names the field.
 */
enum { RANKS = 3, MESSAGE_MAX = RANKS * sizeof(struct kwhy_pair_rank_facts) };

static const struct kwhy_rank_limits limits = {RANKS, 65536};
static unsigned char message[MESSAGE_MAX];
static size_t length;

static enum kwhy_status check(enum kwhy_rank_word word, bool is_answer, struct kwhy_error *error)
{
	return kwhy_rank_wire_check(word, is_answer, message, length, &limits, error);
}

static void begin_with(enum kwhy_rank_word word, bool is_answer, const void *bytes, size_t count)
{
	struct kwhy_error error;

	length = count;
	memcpy(message, bytes, count);
	if (check(word, is_answer, &error))
		fail_msg("%d: %s", (int)word, error.text);
	for (int off = -1; off <= 1; off += 2) {
		length = count + (size_t)off;
		assert_int_equal(check(word, is_answer, &error), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "bytes where"));
	}
	length = count;
}

/*
 * Writes the invalid bytes into the message, checks that it is refused with an error that names the field,
 * and restores the message.
 */
static void refuses(enum kwhy_rank_word word, bool is_answer, const char *name, size_t at, const void *bytes,
	size_t count)
{
	unsigned char before[256];
	struct kwhy_error error;

	assert_true(count <= sizeof(before) && at + count <= length);
	memcpy(before, message + at, count);
	memcpy(message + at, bytes, count);
	if (check(word, is_answer, &error) != KWHY_E_INPUT)
		fail_msg("%s at %zu is accepted", name, at);
	assert_non_null(strstr(error.text, name));
	assert_non_null(strstr(error.text, "run one version of kwhy"));
	memcpy(message + at, before, count);
	assert_int_equal(check(word, is_answer, &error), KWHY_OK);
}

/*
 * Checks that `value` is refused in a field of type double of a nested struct. The error must name the field
 * only, without the struct.
 */
#define BAD_CONDITION(type, member, field, value)                                               \
	refuses(KWHY_RANK_SENSE, false, #field, offsetof(type, member.field), &(double){value}, \
		sizeof(double))
#define BAD(word, is_answer, type, field, ...)                  \
	refuses(word, is_answer, #field, offsetof(type, field), \
		&(__typeof__(((type *)0)->field)){__VA_ARGS__}, sizeof(((type *)0)->field))

static void every_field_of_a_batch_is_checked(void **state)
{
	struct kwhy_rank_batch batch = {.key = {.target = 2, .bytes = 4096}, .most = 5, .count = 1};

	(void)state;
	batch.samples[0].end_unix_ns = 7;
	batch.samples[1].seconds = NAN;
	for (int is_answer = 0; is_answer < 2; is_answer++) {
#define BAD_BATCH(field, ...) BAD(KWHY_RANK_BATCH, is_answer, struct kwhy_rank_batch, field, __VA_ARGS__)
		begin_with(KWHY_RANK_BATCH, is_answer, &batch, sizeof(batch));
		BAD_BATCH(key.engine, KWHY_PAIR_ENGINE_COUNT);
		BAD_BATCH(key.engine, UINT32_MAX);
		BAD_BATCH(key.load, KWHY_PAIR_LOAD_COUNT);
		BAD_BATCH(key.clock, KWHY_PAIR_CLOCK_COUNT);
		BAD_BATCH(key.source, RANKS);
		BAD_BATCH(key.target, RANKS);
		BAD_BATCH(key.bytes, 0);
		BAD_BATCH(key.bytes, 65537);
		BAD_BATCH(key.bytes, UINT64_MAX);
		BAD_BATCH(verifies, 2);
		BAD_BATCH(most, KWHY_PAIR_BATCH_SAMPLES + 1);
		BAD_BATCH(most, UINT32_MAX);
		BAD_BATCH(count, KWHY_PAIR_BATCH_SAMPLES + 1);
		BAD_BATCH(verified, 2);
		BAD_BATCH(samples[0].start_unix_ns, 8);
		BAD_BATCH(samples[4].start_unix_ns, -1);
		refuses(KWHY_RANK_BATCH, is_answer, "samples[4]",
			offsetof(struct kwhy_rank_batch, samples[4].end_unix_ns), &(int64_t){-1},
			sizeof(int64_t));
		BAD_BATCH(samples[4].seconds, INFINITY);
		BAD_BATCH(samples[4].seconds, -1e10);
	}
}

static void every_field_of_a_begin_is_checked(void **state)
{
	const struct kwhy_rank_begin begin = {.key = {.source = 1, .bytes = 65536}, .spoils = 1};

	(void)state;
#define BAD_BEGIN(field, ...) BAD(KWHY_RANK_BEGIN, false, struct kwhy_rank_begin, field, __VA_ARGS__)
	begin_with(KWHY_RANK_BEGIN, false, &begin, sizeof(begin));
	BAD_BEGIN(key.engine, KWHY_PAIR_ENGINE_COUNT);
	BAD_BEGIN(key.load, KWHY_PAIR_LOAD_COUNT);
	BAD_BEGIN(key.clock, KWHY_PAIR_CLOCK_COUNT);
	BAD_BEGIN(key.source, RANKS);
	BAD_BEGIN(key.target, UINT32_MAX);
	BAD_BEGIN(key.bytes, 1 << 20);
	BAD_BEGIN(spoils, 2);
	begin_with(KWHY_RANK_BEGIN, true, &(struct kwhy_rank_rounds){1, 2}, sizeof(struct kwhy_rank_rounds));
	BAD(KWHY_RANK_BEGIN, true, struct kwhy_rank_rounds, put, UINT64_MAX);
	BAD(KWHY_RANK_BEGIN, true, struct kwhy_rank_rounds, together, UINT64_MAX);
}

static void every_field_of_work_is_checked(void **state)
{
	const struct kwhy_rank_issue issue = {4, 16, 1, 10, 11};
	const uint32_t yes = 1, two = 2;
	const double seconds = 1e-3, endless = INFINITY;

	(void)state;
	begin_with(KWHY_RANK_ISSUE, false, &issue, sizeof(issue));
	BAD(KWHY_RANK_ISSUE, false, struct kwhy_rank_issue, warm, UINT32_MAX);
	BAD(KWHY_RANK_ISSUE, false, struct kwhy_rank_issue, count, 0);
	BAD(KWHY_RANK_ISSUE, false, struct kwhy_rank_issue, count, UINT32_MAX);
	BAD(KWHY_RANK_ISSUE, false, struct kwhy_rank_issue, is_held, 2);
	BAD(KWHY_RANK_ISSUE, false, struct kwhy_rank_issue, put_rounds, UINT64_MAX);
	BAD(KWHY_RANK_ISSUE, false, struct kwhy_rank_issue, together_rounds, UINT64_MAX);
	begin_with(
		KWHY_RANK_STREAM, false, &(struct kwhy_rank_stream){20, 1}, sizeof(struct kwhy_rank_stream));
	BAD(KWHY_RANK_STREAM, false, struct kwhy_rank_stream, count, 0);
	BAD(KWHY_RANK_STREAM, false, struct kwhy_rank_stream, count, UINT32_MAX);
	BAD(KWHY_RANK_STREAM, false, struct kwhy_rank_stream, returns, 2);
	begin_with(KWHY_RANK_NCCL, false, &(struct kwhy_rank_nccl){.all = 1}, sizeof(struct kwhy_rank_nccl));
	BAD(KWHY_RANK_NCCL, false, struct kwhy_rank_nccl, all, 2);
	begin_with(KWHY_RANK_VERIFY, true, &yes, sizeof(yes));
	refuses(KWHY_RANK_VERIFY, true, "flag", 0, &two, sizeof(two));
	begin_with(KWHY_RANK_MARK, false, &yes, sizeof(yes));
	refuses(KWHY_RANK_MARK, false, "flag", 0, &two, sizeof(two));
	begin_with(KWHY_RANK_DRAIN, true, &seconds, sizeof(seconds));
	refuses(KWHY_RANK_DRAIN, true, "seconds", 0, &endless, sizeof(endless));
}

static void every_field_of_clocks_and_conditions_is_checked(void **state)
{
	const struct kwhy_rank_sense sense = {{40, 1.98e9, 2.6e9, NAN, 4}, 7};

	(void)state;
	begin_with(KWHY_RANK_CLOCK, true, &(struct kwhy_rank_clock){1, 2}, sizeof(struct kwhy_rank_clock));
	BAD(KWHY_RANK_CLOCK, true, struct kwhy_rank_clock, unix_ns, -1);
	BAD(KWHY_RANK_CLOCK, true, struct kwhy_rank_clock, mono_ns, INT64_MIN);
	begin_with(KWHY_RANK_SENSE, false, &sense, sizeof(sense));
	BAD_CONDITION(struct kwhy_rank_sense, conditions, temperature_c, -INFINITY);
	BAD_CONDITION(struct kwhy_rank_sense, conditions, clock_hz, -1);
	BAD_CONDITION(struct kwhy_rank_sense, conditions, memory_clock_hz, -1);
	BAD_CONDITION(struct kwhy_rank_sense, conditions, power_w, INFINITY);
	BAD(KWHY_RANK_SENSE, false, struct kwhy_rank_sense, readings, UINT64_MAX);
	begin_with(KWHY_RANK_SENSE, true, &sense.conditions, sizeof(sense.conditions));
	BAD(KWHY_RANK_SENSE, true, struct kwhy_transfer_conditions, power_w, INFINITY);
	begin_with(KWHY_RANK_DRIFT, true, &(struct kwhy_pair_drift){1, 2}, sizeof(struct kwhy_pair_drift));
	BAD(KWHY_RANK_DRIFT, true, struct kwhy_pair_drift, ppm, INFINITY);
	BAD(KWHY_RANK_DRIFT, true, struct kwhy_pair_drift, half_width_ppm, -1);
}

static struct kwhy_pair_rank_facts some_facts(void)
{
	return (struct kwhy_pair_rank_facts){
		.name = "NVIDIA H200", .host = "node1", .process = 42, .numa_node = -1, .shares = 1};
}

static void refuses_text(bool is_answer, enum kwhy_rank_word word, const char *name, size_t at, size_t size)
{
	char text[200];

	memset(text, 'x', sizeof(text));
	refuses(word, is_answer, name, at, text, size); /* text without a terminator */
	text[0] = '\033';
	text[1] = '\0';
	refuses(word, is_answer, name, at, text, size);
}

static void every_field_of_facts_is_checked(void **state)
{
	const struct kwhy_pair_rank_facts one = some_facts();

	(void)state;
#define FACTS struct kwhy_pair_rank_facts
#define BAD_TEXT(field) \
	refuses_text(true, KWHY_RANK_FACTS, #field, offsetof(FACTS, field), sizeof(((FACTS *)0)->field))
	begin_with(KWHY_RANK_FACTS, true, &one, sizeof(one));
	BAD_TEXT(name);
	BAD_TEXT(pci_address);
	BAD_TEXT(driver_api);
	BAD_TEXT(driver);
	BAD_TEXT(nccl);
	BAD_TEXT(host);
	BAD_TEXT(settings);
	BAD_TEXT(no_nccl);
	BAD(KWHY_RANK_FACTS, true, FACTS, process, 0);
	BAD(KWHY_RANK_FACTS, true, FACTS, memory_bytes, UINT64_MAX);
	BAD(KWHY_RANK_FACTS, true, FACTS, numa_node, -2);
	BAD(KWHY_RANK_FACTS, true, FACTS, architecture, -1);
	BAD(KWHY_RANK_FACTS, true, FACTS, sm_count, UINT32_MAX);
	BAD(KWHY_RANK_FACTS, true, FACTS, shares, 2);
}

static void facts_of_each_rank_are_checked(void **state)
{
	FACTS all[RANKS];
	unsigned char reach[KWHY_PAIR_GPUS_MAX] = {1}, two = 2;

	(void)state;
	for (int i = 0; i < RANKS; i++)
		all[i] = some_facts();
	begin_with(KWHY_RANK_LEARN, false, all, sizeof(all));
	for (size_t i = 0; i < RANKS; i++)
		refuses_text(false, KWHY_RANK_LEARN, "host", i * sizeof(FACTS) + offsetof(FACTS, host),
			sizeof(all[i].host));
	begin_with(KWHY_RANK_LEARN, true, reach, sizeof(reach));
	for (size_t i = 0; i < sizeof(reach); i++)
		refuses(KWHY_RANK_LEARN, true, "is_direct", i, &two, 1);
}

static void every_field_of_a_hello_and_of_places_is_checked(void **state)
{
	const struct kwhy_rank_hello hello = {.rank = 1, .size = 3, .process = 5, .host = "node1"};
	struct kwhy_rank_address addresses[RANKS] = {{.process = 1}, {.process = 2}, {.process = 3}};

	(void)state;
#define BAD_HELLO(field, ...) BAD(KWHY_RANK_HELLO, false, struct kwhy_rank_hello, field, __VA_ARGS__)
	begin_with(KWHY_RANK_HELLO, false, &hello, sizeof(hello));
	BAD_HELLO(rank, KWHY_PAIR_GPUS_MAX);
	BAD_HELLO(size, 1);
	BAD_HELLO(size, KWHY_PAIR_GPUS_MAX + 1);
	BAD_HELLO(port, 65536);
	BAD_HELLO(process, -1);
	refuses_text(false, KWHY_RANK_HELLO, "host", offsetof(struct kwhy_rank_hello, host), 64);
	begin_with(KWHY_RANK_ADDRESSES, false, addresses, sizeof(addresses));
	BAD(KWHY_RANK_ADDRESSES, false, struct kwhy_rank_address, rank, RANKS);
	BAD(KWHY_RANK_ADDRESSES, false, struct kwhy_rank_address, port, 65536);
	BAD(KWHY_RANK_ADDRESSES, false, struct kwhy_rank_address, family, 7);
	BAD(KWHY_RANK_ADDRESSES, false, struct kwhy_rank_address, process, 0);
	refuses_text(false, KWHY_RANK_ADDRESSES, "host", offsetof(struct kwhy_rank_address, host), 64);
}

static void words_that_nobody_knows_are_refused(void **state)
{
	static const unsigned unknown[] = {0, KWHY_RANK_ADDRESSES + 1, UINT32_MAX};
	struct kwhy_error error;

	(void)state;
	length = 0;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(unknown[0]); i++)
		for (int is_answer = 0; is_answer < 2; is_answer++)
			assert_int_equal(
				check((enum kwhy_rank_word)unknown[i], is_answer, &error), KWHY_E_INPUT);
}

/*
 * Serves requests as rank 1 of three that knows nothing of the others yet. Requests that need such knowledge
 * are refused, and so are those of rank 2 that only rank 0 may send.
 */
static void what_is_asked_out_of_order_or_by_the_wrong_rank_is_refused(void **state)
{
	static struct kwhy_pair_testbed testbed = {.own = 1};
	static struct kwhy_pair_ranks ranks = {
		.testbed = &testbed, .calls = {.link = {.rank = 1, .size = RANKS}}};
	static struct kwhy_pair_message asked, answer;
	static const enum kwhy_rank_word early[] = {KWHY_RANK_BATCH, KWHY_RANK_NCCL, KWHY_RANK_BEGIN,
		KWHY_RANK_ISSUE, KWHY_RANK_GO, KWHY_RANK_DRAIN, KWHY_RANK_VERIFY, KWHY_RANK_STREAM,
		KWHY_RANK_MARK, KWHY_RANK_DRIFT},
					 of_first[] = {KWHY_RANK_FACTS, KWHY_RANK_LEARN, KWHY_RANK_CLOCK,
						 KWHY_RANK_SENSE, KWHY_RANK_PART, KWHY_RANK_STOP};
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(early) / sizeof(early[0]); i++) {
		asked.head.what = early[i];
		assert_int_equal(kwhy_pair_rank_serve(&ranks, 0, &asked, &answer, &error), KWHY_E_INPUT);
		assert_non_null(strstr(error.text, "at a time when no rank does"));
	}
	for (size_t i = 0; i < sizeof(of_first) / sizeof(of_first[0]); i++) {
		asked.head.what = of_first[i];
		assert_int_equal(kwhy_pair_rank_serve(&ranks, 2, &asked, &answer, &error), KWHY_E_INPUT);
	}
	assert_false(ranks.done);
	ranks.has_learned = true;
	asked.head.what = KWHY_RANK_DRIFT; /* the clocks were not compared yet */
	assert_int_equal(kwhy_pair_rank_serve(&ranks, 0, &asked, &answer, &error), KWHY_E_INPUT);
}

/*
 * Serves requests as rank 1. It must refuse a transfer between ranks 0 and 2, in which it has no
 * part; a transfer that rank 2 requests, as only rank 0 may request transfers; and a transfer from
 * itself to itself.
 */
static void a_part_in_what_is_not_ours_is_refused(void **state)
{
	static struct kwhy_pair_testbed testbed = {.own = 1, .count = RANKS};
	static struct kwhy_pair_ranks ranks = {
		.testbed = &testbed, .has_learned = true, .calls = {.link = {.rank = 1, .size = RANKS}}};
	static struct kwhy_pair_message asked, answer;
	static const struct {
		uint32_t from, source, target;
	} rows[] = {{0, 0, 2}, {2, 0, 1}, {1, 1, 1}};
	struct kwhy_error error;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct kwhy_rank_begin begin = {
			.key = {.source = rows[i].source, .target = rows[i].target, .bytes = 1}};

		asked.head.what = KWHY_RANK_BEGIN;
		asked.head.bytes = sizeof(begin);
		memcpy(asked.body, &begin, sizeof(begin));
		assert_int_equal(
			kwhy_pair_rank_serve(&ranks, rows[i].from, &asked, &answer, &error), KWHY_E_INPUT);
		assert_null(ranks.part.config);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_field_of_a_batch_is_checked),
		cmocka_unit_test(every_field_of_a_begin_is_checked),
		cmocka_unit_test(every_field_of_work_is_checked),
		cmocka_unit_test(every_field_of_clocks_and_conditions_is_checked),
		cmocka_unit_test(every_field_of_facts_is_checked),
		cmocka_unit_test(facts_of_each_rank_are_checked),
		cmocka_unit_test(every_field_of_a_hello_and_of_places_is_checked),
		cmocka_unit_test(words_that_nobody_knows_are_refused),
		cmocka_unit_test(what_is_asked_out_of_order_or_by_the_wrong_rank_is_refused),
		cmocka_unit_test(a_part_in_what_is_not_ours_is_refused),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
