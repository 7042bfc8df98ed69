/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/pairs/rank_wire.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length);

enum { HEAD_BYTES = 3 };

static void expect(bool holds)
{
	if (!holds)
		abort();
}

static void check_config(const struct kwhy_rank_key *key, const struct kwhy_rank_limits *limits)
{
	const struct kwhy_pair_config config = kwhy_rank_config_of(key);

	expect((unsigned)config.engine < KWHY_PAIR_ENGINE_COUNT &&
		(unsigned)config.load < KWHY_PAIR_LOAD_COUNT &&
		(unsigned)config.clock < KWHY_PAIR_CLOCK_COUNT);
	expect(config.source < limits->ranks && config.target < limits->ranks);
	expect(config.bytes >= 1 && config.bytes <= limits->bytes_most);
	expect(!config.samples && config.sample_count == 0);
}

static void check_batch(const unsigned char *bytes, const struct kwhy_rank_limits *limits)
{
	struct kwhy_rank_batch wire;
	struct kwhy_pair_batch batch;

	memcpy(&wire, bytes, sizeof(wire));
	batch = kwhy_rank_batch_back(&wire);
	check_config(&wire.key, limits);
	expect(batch.most <= KWHY_PAIR_BATCH_SAMPLES && batch.count <= batch.most);
	for (uint32_t i = 0; i < batch.count; i++)
		expect(batch.samples[i].start_unix_ns <= batch.samples[i].end_unix_ns);
}

static void check_facts(const unsigned char *bytes, uint32_t count)
{
	struct kwhy_pair_rank_facts facts;

	for (uint32_t i = 0; i < count; i++) {
		memcpy(&facts, bytes + i * sizeof(facts), sizeof(facts));
		expect(memchr(facts.name, 0, sizeof(facts.name)) &&
			memchr(facts.host, 0, sizeof(facts.host)) &&
			memchr(facts.settings, 0, sizeof(facts.settings)) &&
			memchr(facts.no_nccl, 0, sizeof(facts.no_nccl)));
		expect(!strchr(facts.name, '\033') && facts.shares <= 1 && facts.numa_node >= -1);
	}
}

static void check_issue(const unsigned char *bytes)
{
	struct kwhy_rank_issue issue;

	memcpy(&issue, bytes, sizeof(issue));
	expect(issue.warm <= 1024 && issue.count >= 1 && issue.count <= 1024 && issue.is_held <= 1);
}

/* Checks the members of an accepted message against the limits that the code which uses it relies on. */
static void check(enum kwhy_rank_word word, bool is_answer, const unsigned char *bytes,
	const struct kwhy_rank_limits *limits)
{
	struct kwhy_rank_begin begin;

	if (word == KWHY_RANK_BATCH)
		check_batch(bytes, limits);
	if (word == KWHY_RANK_FACTS && is_answer)
		check_facts(bytes, 1);
	if (word == KWHY_RANK_LEARN && !is_answer)
		check_facts(bytes, limits->ranks);
	if (word == KWHY_RANK_ISSUE && !is_answer)
		check_issue(bytes);
	if (word == KWHY_RANK_BEGIN && !is_answer) {
		memcpy(&begin, bytes, sizeof(begin));
		check_config(&begin.key, limits);
	}
}

/*
 * Fuzzes the function that checks messages between ranks of kwhy bench pairs. The input begins with the type
 * of the message, whether it is an answer, and the number of ranks; the message follows.
 */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t length)
{
	struct kwhy_error error = {0};

	if (length < HEAD_BYTES)
		return 0;
	const enum kwhy_rank_word word = (enum kwhy_rank_word)data[0];
	const bool is_answer = data[1] & 1;
	const struct kwhy_rank_limits limits = {2 + data[2] % (KWHY_PAIR_GPUS_MAX - 1), 1 << 20};

	if (kwhy_rank_wire_check(word, is_answer, data + HEAD_BYTES, length - HEAD_BYTES, &limits, &error))
		expect(error.text[0] != '\0');
	else
		check(word, is_answer, data + HEAD_BYTES, &limits);
	return 0;
}
