/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about one configuration, which the rank that leads it sends to the other ranks that take part. */
#include "bench/pairs/rank_messages.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t kwhy_pair_ranks_leader(const struct kwhy_pair_config *config)
{
	return config->engine == KWHY_PAIR_READ ? config->target : config->source;
}

/* Copies the members that identify a configuration: all but its samples and results. */
struct kwhy_rank_key kwhy_rank_key_of(const struct kwhy_pair_config *config)
{
	return (struct kwhy_rank_key){.engine = config->engine,
		.load = config->load,
		.clock = config->clock,
		.source = config->source,
		.target = config->target,
		.bytes = config->bytes};
}

struct kwhy_pair_config kwhy_rank_config_of(const struct kwhy_rank_key *key)
{
	return (struct kwhy_pair_config){.engine = (enum kwhy_pair_engine)key->engine,
		.load = (enum kwhy_pair_load)key->load,
		.clock = (enum kwhy_pair_clock)key->clock,
		.source = key->source,
		.target = key->target,
		.bytes = key->bytes};
}

struct kwhy_rank_batch kwhy_rank_batch_of(const struct kwhy_pair_batch *batch)
{
	struct kwhy_rank_batch out = {.key = kwhy_rank_key_of(&batch->config),
		.verifies = batch->verifies,
		.most = batch->most,
		.count = batch->count,
		.verified = batch->verified};

	memcpy(out.samples, batch->samples, batch->count * sizeof(*out.samples));
	return out;
}

struct kwhy_pair_batch kwhy_rank_batch_back(const struct kwhy_rank_batch *batch)
{
	struct kwhy_pair_batch out = {.config = kwhy_rank_config_of(&batch->key),
		.verifies = batch->verifies,
		.most = batch->most,
		.count = batch->count,
		.verified = batch->verified};

	memcpy(out.samples, batch->samples, sizeof(out.samples));
	return out;
}

bool kwhy_pair_leads(const struct kwhy_pair_work *work)
{
	return work->testbed->ranks && work->testbed->own == kwhy_pair_ranks_leader(work->config);
}

bool kwhy_pair_is_shared(const struct kwhy_pair_config *config)
{
	switch (config->engine) {
	case KWHY_PAIR_PUT:
	case KWHY_PAIR_EXCHANGE:
	case KWHY_PAIR_NCCL:
	case KWHY_PAIR_NCCL_EXCHANGE:
	case KWHY_PAIR_NCCL_FULL:
		return true;
	default:
		return kwhy_pair_is_collective(config->engine);
	}
}

static bool takes_part(const struct kwhy_pair_work *work, uint32_t rank)
{
	const struct kwhy_pair_config *config = work->config;

	return rank != work->testbed->own &&
		(rank == config->source || rank == config->target || kwhy_pair_is_collective(config->engine));
}

/*
 * Sends the same request to all other ranks that take part in the transfer, without waiting for their
 * answers. Stops at the first error.
 */
static enum kwhy_status request_all(struct kwhy_pair_work *work, enum kwhy_rank_word word, const void *body,
	size_t bytes, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = work->testbed;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < testbed->count; i++)
		if (takes_part(work, i))
			status = kwhy_rank_request(&testbed->ranks->calls, i, word, body, bytes, error);
	return status;
}

/*
 * Waits for the answers of all ranks that were asked, even after an error, and returns the first error. The
 * answer of rank `i`, of `bytes` bytes, is copied to out[i]; `out` NULL: the answers are empty.
 */
static enum kwhy_status await_all(
	struct kwhy_pair_work *work, void *out, size_t bytes, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = work->testbed;
	struct kwhy_pair_calls *calls = &testbed->ranks->calls;
	enum kwhy_status status = KWHY_OK, one;
	struct kwhy_error other;

	for (uint32_t i = 0; i < testbed->count; i++) {
		if (!takes_part(work, i) || !calls->is_requested[i])
			continue;
		one = kwhy_pair_await(
			calls, i, out ? (char *)out + i * bytes : NULL, bytes, status ? &other : error);
		if (!status)
			status = one;
	}
	return status;
}

static enum kwhy_status call_all(struct kwhy_pair_work *work, enum kwhy_rank_word word, const void *body,
	size_t bytes, void *out, size_t out_bytes, struct kwhy_error *error)
{
	struct kwhy_error other;
	enum kwhy_status status = request_all(work, word, body, bytes, error),
			 awaited = await_all(work, out, out_bytes, status ? &other : error);

	return status ? status : awaited;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

enum kwhy_status kwhy_pair_ranks_begin(struct kwhy_pair_work *work, bool spoils, struct kwhy_error *error)
{
	const struct kwhy_rank_begin begin = {kwhy_rank_key_of(work->config), spoils};
	struct kwhy_rank_rounds rounds[KWHY_PAIR_GPUS_MAX];
	struct kwhy_pair_testbed *testbed = work->testbed;
	enum kwhy_status status;

	if (!kwhy_pair_leads(work))
		return KWHY_OK;
	status = call_all(work, KWHY_RANK_BEGIN, &begin, sizeof(begin), rounds, sizeof(rounds[0]), error);
	for (uint32_t i = 0; !status && i < testbed->count; i++)
		if (takes_part(work, i)) {
			testbed->put_rounds = larger(testbed->put_rounds, rounds[i].put);
			testbed->together_rounds = larger(testbed->together_rounds, rounds[i].together);
		}
	return status;
}

/*
 * Whether a gate holds the copies of each GPU until both GPUs have queued their copies, so that the copies
 * begin at the same time. This is so for an exchange.
 */
static bool is_held(const struct kwhy_pair_work *work)
{
	return work->config->engine == KWHY_PAIR_EXCHANGE;
}

enum kwhy_status kwhy_pair_ranks_go(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	return kwhy_pair_leads(work) && is_held(work) ? request_all(work, KWHY_RANK_GO, NULL, 0, error)
						      : KWHY_OK;
}

enum kwhy_status kwhy_pair_ranks_gone(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	return kwhy_pair_leads(work) && is_held(work) ? await_all(work, NULL, 0, error) : KWHY_OK;
}

enum kwhy_status kwhy_pair_ranks_issue(
	struct kwhy_pair_work *work, uint32_t warm, uint32_t count, bool waits, struct kwhy_error *error)
{
	const struct kwhy_rank_issue issue = {
		warm, count, is_held(work), work->testbed->put_rounds, work->testbed->together_rounds};
	enum kwhy_status status;

	if (!kwhy_pair_leads(work) || !kwhy_pair_is_shared(work->config))
		return KWHY_OK;
	status = request_all(work, KWHY_RANK_ISSUE, &issue, sizeof(issue), error);
	return status || !waits ? status : kwhy_pair_ranks_issued(work, error);
}

enum kwhy_status kwhy_pair_ranks_issued(struct kwhy_pair_work *work, struct kwhy_error *error)
{
	return kwhy_pair_leads(work) && kwhy_pair_is_shared(work->config) ? await_all(work, NULL, 0, error)
									  : KWHY_OK;
}

enum kwhy_status kwhy_pair_ranks_drain(struct kwhy_pair_work *work, double *out_s, struct kwhy_error *error)
{
	double seconds[KWHY_PAIR_GPUS_MAX];
	enum kwhy_status status;

	*out_s = NAN;
	if (!kwhy_pair_leads(work) || !kwhy_pair_is_shared(work->config))
		return KWHY_OK;
	status = call_all(work, KWHY_RANK_DRAIN, NULL, 0, seconds, sizeof(seconds[0]), error);
	for (uint32_t i = 0; !status && i < work->testbed->count; i++)
		if (takes_part(work, i))
			*out_s = fmax(*out_s, seconds[i]);
	return status;
}

enum kwhy_status kwhy_pair_ranks_verify(struct kwhy_pair_work *work, bool *out_same, struct kwhy_error *error)
{
	uint32_t same[KWHY_PAIR_GPUS_MAX];
	enum kwhy_status status;

	*out_same = true;
	if (!kwhy_pair_leads(work))
		return KWHY_OK;
	status = call_all(work, KWHY_RANK_VERIFY, NULL, 0, same, sizeof(same[0]), error);
	for (uint32_t i = 0; !status && i < work->testbed->count; i++)
		if (takes_part(work, i) && !same[i])
			*out_same = false;
	return status;
}

enum kwhy_status kwhy_pair_ranks_buffers(
	struct kwhy_pair_ranks *ranks, uint64_t bytes, struct kwhy_error *error)
{
	const struct kwhy_bench_buffers *buffers = ranks->testbed->gpu_buffers[ranks->testbed->own];
	size_t most = buffers->capacity < KWHY_PAIR_SOCKET_BYTES_MAX ? buffers->capacity
								     : (size_t)KWHY_PAIR_SOCKET_BYTES_MAX;

	if (bytes > most)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"sockets are measured up to %zu bytes; ask for smaller sizes", most);
	if (ranks->socket_sink)
		return KWHY_OK;
	if (!ranks->socket_source)
		ranks->socket_source = malloc(most);
	if (ranks->socket_source)
		ranks->socket_sink = malloc(most);
	if (!ranks->socket_sink)
		return kwhy_fail_memory(error, "what is sent by sockets");
	kwhy_bench_pattern_write(ranks->socket_source, most, buffers->seed, 0);
	memset(ranks->socket_sink, 0, most); /* touches all pages, so that no page fault is timed */
	return KWHY_OK;
}

static enum kwhy_status send_rounds(
	struct kwhy_pair_work *work, uint32_t count, bool returns, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = work->testbed->ranks;
	struct kwhy_rank_link *link = &ranks->calls.link;
	uint32_t target = work->config->target;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < count; i++) {
		status = kwhy_rank_link_send(link, target, ranks->socket_source, work->config->bytes, error);
		if (!status && returns)
			status = kwhy_rank_link_receive(
				link, target, ranks->socket_sink, work->config->bytes, error);
	}
	return status;
}

enum kwhy_status kwhy_pair_ranks_stream(
	struct kwhy_pair_work *work, uint32_t count, bool returns, double *out_s, struct kwhy_error *error)
{
	const struct kwhy_rank_stream stream = {count, returns};
	int64_t start_ns;
	enum kwhy_status status = request_all(work, KWHY_RANK_STREAM, &stream, sizeof(stream), error);

	start_ns = kwhy_clock_mono_ns();
	if (!status)
		status = send_rounds(work, count, returns, error);
	if (!status && !returns) /* one-way: the time ends with the receiver's answer, which it sends after
				    the last byte has come */
		status = await_all(work, NULL, 0, error);
	*out_s = (double)(kwhy_clock_mono_ns() - start_ns) * 1e-9 / count / (returns ? 2 : 1);
	return status || !returns ? status : await_all(work, NULL, 0, error);
}

enum kwhy_status kwhy_pair_ranks_nccl(
	struct kwhy_pair_testbed *testbed, uint32_t one, uint32_t other, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = testbed->ranks;
	bool all = one == other;
	struct kwhy_pair_config config = {
		.engine = all ? KWHY_PAIR_ALL_REDUCE : KWHY_PAIR_NCCL, .source = one, .target = other};
	struct kwhy_pair_work work = {.testbed = testbed, .config = &config};
	struct kwhy_rank_nccl nccl = {.all = all};
	struct kwhy_error why;
	enum kwhy_status status, awaited;

	for (uint32_t i = 0; i < testbed->count; i++)
		if ((takes_part(&work, i) || i == testbed->own) && *ranks->facts[i].no_nccl)
			return kwhy_fail(
				error, KWHY_E_UNSUPPORTED, "rank %u: %s", i, ranks->facts[i].no_nccl);
	status = kwhy_pair_nccl_name(testbed, &nccl.id, error);
	if (!status)
		status = request_all(&work, KWHY_RANK_NCCL, &nccl, sizeof(nccl), error);
	if (!status)
		status = kwhy_pair_nccl_join(testbed, &nccl.id,
			all			      ? testbed->own
				: testbed->own == one ? other
						      : one,
			error);
	awaited = await_all(&work, NULL, 0, status ? &why : error);
	return status ? status : awaited;
}

enum kwhy_status kwhy_pair_ranks_batch(
	struct kwhy_pair_ranks *ranks, struct kwhy_pair_batch *batch, struct kwhy_error *error)
{
	uint32_t leader = kwhy_pair_ranks_leader(&batch->config);
	struct kwhy_rank_batch wire;
	enum kwhy_status status;

	batch->count = 0;
	wire = kwhy_rank_batch_of(batch);
	batch->config = kwhy_rank_config_of(&wire.key);
	if (leader == ranks->testbed->own)
		return kwhy_pair_batch(ranks->testbed, batch, error);
	status = kwhy_pair_call(
		&ranks->calls, leader, KWHY_RANK_BATCH, &wire, sizeof(wire), &wire, sizeof(wire), error);
	if (!status)
		*batch = kwhy_rank_batch_back(&wire);
	return status;
}

enum kwhy_status kwhy_pair_ranks_sense(struct kwhy_pair_ranks *ranks, uint32_t rank, size_t readings,
	struct kwhy_transfer_conditions *conditions, struct kwhy_error *error)
{
	const struct kwhy_rank_sense sense = {*conditions, readings};

	if (rank != ranks->testbed->own)
		return kwhy_pair_call(&ranks->calls, rank, KWHY_RANK_SENSE, &sense, sizeof(sense), conditions,
			sizeof(*conditions), error);
	kwhy_bench_conditions_fold(&ranks->sensors, readings, conditions);
	return KWHY_OK;
}
