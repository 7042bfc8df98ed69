/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by which this rank serves requests of other ranks (rank_messages.h). */
#include "bench/pairs/rank_wire.h"

#include "base/clock.h"
#include "bench/pairs/collectives.h"

#include <math.h>
#include <string.h>

struct request {
	struct kwhy_pair_ranks *ranks;
	uint32_t from;
	const struct kwhy_pair_message *requested;
	struct kwhy_pair_message *answer;
};

static enum kwhy_status serve_facts(const struct request *request, struct kwhy_error *error)
{
	const struct kwhy_pair_ranks *ranks = request->ranks;

	(void)error;
	kwhy_pair_answer(request->answer, &ranks->facts[ranks->testbed->own], sizeof(ranks->facts[0]));
	return KWHY_OK;
}

static enum kwhy_status serve_learn(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_pair_testbed *testbed = ranks->testbed;
	const struct kwhy_pair_rank_facts own = ranks->facts[testbed->own];
	enum kwhy_status status = kwhy_pair_body(
		request->requested, ranks->facts, ranks->calls.link.size * sizeof(ranks->facts[0]), error);

	ranks->facts[testbed->own] =
		own; /* restores this rank's facts, which were overwritten by what rank 0 sent */
	if (!status)
		status = kwhy_pair_ranks_learn(ranks, error);
	ranks->has_learned = !status;
	kwhy_pair_answer(request->answer, testbed->is_direct[testbed->own], sizeof(testbed->is_direct[0]));
	return status;
}

static enum kwhy_status refuse(const struct request *request, const char *what, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"rank %u asks %s; run one version of kwhy on all ranks and nothing else", request->from,
		what);
}

/*
 * Whether a configuration that another rank sent is valid here: `leader` leads it, and this rank takes part
 * in it. The size of a collective must be divisible into equal parts.
 */
static bool is_ours(
	const struct kwhy_pair_ranks *ranks, const struct kwhy_pair_config *config, uint32_t leader)
{
	const uint32_t own = ranks->testbed->own;

	if (kwhy_pair_ranks_leader(config) != leader)
		return false;
	if (kwhy_pair_is_collective(config->engine))
		return kwhy_pair_collective_bytes(config->engine, config->bytes, ranks->testbed->count) ==
			config->bytes;
	return config->source != config->target && (own == config->source || own == config->target);
}

static enum kwhy_status serve_batch(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_rank_batch wire;
	struct kwhy_pair_batch batch;
	enum kwhy_status status = kwhy_pair_body(request->requested, &wire, sizeof(wire), error);

	if (status)
		return status;
	batch = kwhy_rank_batch_back(&wire);
	if (!is_ours(ranks, &batch.config, ranks->testbed->own))
		return refuse(request, "for a configuration that this rank does not lead", error);
	status = kwhy_pair_batch(ranks->testbed, &batch, error);
	wire = kwhy_rank_batch_of(&batch);
	kwhy_pair_answer(request->answer, &wire, sizeof(wire));
	return status;
}

static enum kwhy_status serve_nccl(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_testbed *testbed = request->ranks->testbed;
	struct kwhy_rank_nccl nccl;
	enum kwhy_status status = kwhy_pair_body(request->requested, &nccl, sizeof(nccl), error);

	return status
		? status
		: kwhy_pair_nccl_join(testbed, &nccl.id, nccl.all ? testbed->own : request->from, error);
}

static enum kwhy_status serve_begin(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_rank_begin begin;
	struct kwhy_rank_rounds rounds;
	enum kwhy_status status = kwhy_pair_body(request->requested, &begin, sizeof(begin), error);

	if (status)
		return status;
	ranks->requested = kwhy_rank_config_of(&begin.key);
	ranks->part = (struct kwhy_pair_work){.config = NULL};
	if (!is_ours(ranks, &ranks->requested, request->from))
		return refuse(request, "for a part in what it does not lead", error);
	status = kwhy_pair_work_begin(ranks->testbed, &ranks->requested, begin.spoils, &ranks->part, error);
	if (status)
		ranks->part.config = NULL;
	rounds = (struct kwhy_rank_rounds){ranks->testbed->put_rounds, ranks->testbed->together_rounds};
	kwhy_pair_answer(request->answer, &rounds, sizeof(rounds));
	return status;
}

static enum kwhy_status serve_issue(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_bench_buffers *buffers = ranks->testbed->gpu_buffers[ranks->testbed->own];
	struct kwhy_rank_issue issue;
	enum kwhy_status status = kwhy_pair_body(request->requested, &issue, sizeof(issue), error);

	if (status)
		return status;
	ranks->testbed->put_rounds = issue.put_rounds;
	ranks->testbed->together_rounds = issue.together_rounds;
	if (issue.is_held)
		status = buffers->gpu->ops->gate_hold(
			buffers->gpu, buffers->gate, buffers->streams[0], error);
	return status ? status : kwhy_pair_part_issue(&ranks->part, issue.warm, issue.count, error);
}

static enum kwhy_status serve_go(const struct request *request, struct kwhy_error *error)
{
	const struct kwhy_pair_testbed *testbed = request->ranks->testbed;
	struct kwhy_bench_buffers *buffers = testbed->gpu_buffers[testbed->own];

	return buffers->gpu->ops->gate_open(buffers->gpu, buffers->gate, error);
}

static enum kwhy_status serve_drain(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_work *part = &request->ranks->part;
	double seconds = NAN;
	enum kwhy_status status = kwhy_pair_drain(part, error);

	if (!status)
		status = kwhy_pair_part_elapsed(part, &seconds, error);
	kwhy_pair_answer(request->answer, &seconds, sizeof(seconds));
	return status;
}

static enum kwhy_status serve_verify(const struct request *request, struct kwhy_error *error)
{
	bool same = false;
	uint32_t answer;
	enum kwhy_status status = kwhy_pair_part_verify(&request->ranks->part, &same, error);

	answer = same;
	kwhy_pair_answer(request->answer, &answer, sizeof(answer));
	return status;
}

/*
 * Receives the bytes of each transfer of a KWHY_RANK_STREAM into socket_sink and, if the request says so,
 * sends them back.
 */
static enum kwhy_status serve_stream(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_rank_link *link = &ranks->calls.link;
	struct kwhy_rank_stream stream;
	enum kwhy_status status = kwhy_pair_body(request->requested, &stream, sizeof(stream), error);

	if (!status)
		status = kwhy_pair_ranks_buffers(ranks, ranks->requested.bytes, error);
	for (uint32_t i = 0; !status && i < stream.count; i++) {
		status = kwhy_rank_link_receive(
			link, request->from, ranks->socket_sink, ranks->requested.bytes, error);
		if (!status && stream.returns)
			status = kwhy_rank_link_send(
				link, request->from, ranks->socket_sink, ranks->requested.bytes, error);
	}
	return status;
}

static enum kwhy_status serve_clock(const struct request *request, struct kwhy_error *error)
{
	const struct kwhy_rank_clock clock = {kwhy_clock_unix_ns(), kwhy_clock_mono_ns()};

	(void)error;
	kwhy_pair_answer(request->answer, &clock, sizeof(clock));
	return KWHY_OK;
}

static enum kwhy_status serve_sense(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_rank_sense sense;
	enum kwhy_status status = kwhy_pair_body(request->requested, &sense, sizeof(sense), error);

	if (status)
		return status;
	kwhy_bench_conditions_fold(&request->ranks->sensors, (size_t)sense.readings, &sense.conditions);
	kwhy_pair_answer(request->answer, &sense.conditions, sizeof(sense.conditions));
	return KWHY_OK;
}

static enum kwhy_status serve_mark(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	uint32_t at_end;
	enum kwhy_status status = kwhy_pair_body(request->requested, &at_end, sizeof(at_end), error);

	if (!status)
		status = kwhy_pair_marks_take(ranks->testbed, at_end ? &ranks->end : &ranks->begin, error);
	if (!status)
		ranks->has_marked[at_end] = true;
	return status;
}

static enum kwhy_status serve_drift(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_pair_drift drifts[KWHY_PAIR_GPUS_MAX];
	enum kwhy_status status;

	if (!ranks->has_marked[0] || !ranks->has_marked[1])
		return refuse(request, "how clocks drifted before they were compared twice", error);
	status = kwhy_pair_drifts(ranks->testbed, &ranks->begin, &ranks->end, drifts, error);
	kwhy_pair_answer(request->answer, &drifts[ranks->testbed->own], sizeof(drifts[0]));
	return status;
}

static enum kwhy_status serve_part(const struct request *request, struct kwhy_error *error)
{
	(void)error;
	request->ranks->part.config = NULL;
	request->ranks->has_learned = false;
	kwhy_pair_ranks_forget(request->ranks);
	return KWHY_OK;
}

static enum kwhy_status serve_stop(const struct request *request, struct kwhy_error *error)
{
	(void)error;
	request->ranks->done = true;
	return KWHY_OK;
}

enum kwhy_status kwhy_pair_rank_check(void *context, uint32_t what, bool is_answer,
	const struct kwhy_pair_message *message, struct kwhy_error *error)
{
	const struct kwhy_pair_ranks *ranks = context;
	const struct kwhy_bench_buffers *buffers = ranks->testbed
		? ranks->testbed->gpu_buffers[ranks->testbed->own]
		: NULL;
	const struct kwhy_rank_limits limits = {ranks->calls.link.size, buffers ? buffers->capacity : 0};

	if (what >= KWHY_RANK_REQUESTED_COUNT)
		return kwhy_fail(error, KWHY_E_INPUT,
			"a rank asks an unknown request; run one version of kwhy on all ranks");
	return kwhy_rank_wire_check(
		(enum kwhy_rank_word)what, is_answer, message->body, message->head.bytes, &limits, error);
}

/* The stages of a run at which a request is allowed; BEGUN: KWHY_RANK_BEGIN has come. */
enum stage {
	ALWAYS,
	ONCE,	/* only while the facts of all ranks are not known yet */
	KNOWN,	/* once the facts of all ranks are known */
	BEGUN,	/* while a configuration is in progress here that the requesting rank leads */
	SHARED, /* as BEGUN, and each participating rank does a part of a transfer (kwhy_pair_is_shared()) */
	SOCKETS /* as BEGUN, and the engine is the socket */
};

static bool is_at(const struct kwhy_pair_ranks *ranks, enum stage stage, uint32_t from)
{
	const struct kwhy_pair_config *config = ranks->part.config;
	const bool is_begun = config && kwhy_pair_ranks_leader(config) == from;

	switch (stage) {
	case ONCE:
		return !ranks->has_learned;
	case KNOWN:
		return ranks->has_learned;
	case BEGUN:
		return is_begun;
	case SHARED:
		return is_begun && kwhy_pair_is_shared(config);
	case SOCKETS:
		return is_begun && config->engine == KWHY_PAIR_SOCKET;
	default:
		return true;
	}
}

enum kwhy_status kwhy_pair_rank_serve(void *context, uint32_t from, const struct kwhy_pair_message *requested,
	struct kwhy_pair_message *answer, struct kwhy_error *error)
{
	static const struct {
		enum kwhy_status (*serve)(const struct request *request, struct kwhy_error *error);
		enum stage stage;
		bool of_first; /* only rank 0 may send the request */
	} rows[KWHY_RANK_REQUESTED_COUNT] = {
		[KWHY_RANK_FACTS] = {serve_facts, ALWAYS, true},
		[KWHY_RANK_LEARN] = {serve_learn, ONCE, true},
		[KWHY_RANK_BATCH] = {serve_batch, KNOWN, true},
		[KWHY_RANK_NCCL] = {serve_nccl, KNOWN, false},
		[KWHY_RANK_BEGIN] = {serve_begin, KNOWN, false},
		[KWHY_RANK_ISSUE] = {serve_issue, SHARED, false},
		[KWHY_RANK_GO] = {serve_go, SHARED, false},
		[KWHY_RANK_DRAIN] = {serve_drain, SHARED, false},
		[KWHY_RANK_VERIFY] = {serve_verify, BEGUN, false},
		[KWHY_RANK_STREAM] = {serve_stream, SOCKETS, false},
		[KWHY_RANK_CLOCK] = {serve_clock, ALWAYS, true},
		[KWHY_RANK_SENSE] = {serve_sense, ALWAYS, true},
		[KWHY_RANK_MARK] = {serve_mark, KNOWN, true},
		[KWHY_RANK_DRIFT] = {serve_drift, KNOWN, true},
		[KWHY_RANK_PART] = {serve_part, ALWAYS, true},
		[KWHY_RANK_STOP] = {serve_stop, ALWAYS, true},
	};
	const struct request request = {context, from, requested, answer};
	const uint32_t what = requested->head.what;

	if (what >= KWHY_RANK_REQUESTED_COUNT || !rows[what].serve)
		return refuse(&request, "an unknown request", error);
	if ((rows[what].of_first && from != 0) || !is_at(request.ranks, rows[what].stage, from))
		return refuse(&request, "something at a time when no rank does", error);
	return rows[what].serve(&request, error);
}
