/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank does when another one asks. */
#include "bench/pairs/rank_wire.h"

#include "base/clock.h"
#include "bench/pairs/collectives.h"

#include <math.h>
#include <string.h>

struct request {
	struct kwhy_pair_ranks *ranks;
	uint32_t from;
	const struct kwhy_pair_message *asked;
	struct kwhy_pair_message *answer;
};

static enum kwhy_status serve_facts(const struct request *request, struct kwhy_error *error)
{
	const struct kwhy_pair_ranks *ranks = request->ranks;

	(void)error;
	kwhy_pair_answer(request->answer, &ranks->facts[ranks->place->own], sizeof(ranks->facts[0]));
	return KWHY_OK;
}

static enum kwhy_status serve_learn(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_pair_place *place = ranks->place;
	const struct kwhy_pair_rank_facts own = ranks->facts[place->own];
	enum kwhy_status status = kwhy_pair_body(
		request->asked, ranks->facts, ranks->calls.link.size * sizeof(ranks->facts[0]), error);

	ranks->facts[place->own] = own; /* nobody else knows them better */
	if (!status)
		status = kwhy_pair_ranks_learn(ranks, error);
	ranks->has_learned = !status;
	kwhy_pair_answer(request->answer, place->is_direct[place->own], sizeof(place->is_direct[0]));
	return status;
}

static enum kwhy_status refuse(const struct request *request, const char *what, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_INPUT,
		"rank %u asks %s; run one version of kwhy on all ranks and nothing else", request->from,
		what);
}

/* Two ends or all; led by `leader`, and this rank has a part in it. */
static bool is_ours(
	const struct kwhy_pair_ranks *ranks, const struct kwhy_pair_config *config, uint32_t leader)
{
	const uint32_t own = ranks->place->own;

	if (kwhy_pair_ranks_leader(config) != leader)
		return false;
	if (kwhy_pair_is_collective(config->engine))
		return kwhy_pair_collective_bytes(config->engine, config->bytes, ranks->place->count) ==
			config->bytes;
	return config->source != config->target && (own == config->source || own == config->target);
}

static enum kwhy_status serve_visit(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_rank_visit wire;
	struct kwhy_pair_visit visit;
	enum kwhy_status status = kwhy_pair_body(request->asked, &wire, sizeof(wire), error);

	if (status)
		return status;
	visit = kwhy_rank_visit_back(&wire);
	if (!is_ours(ranks, &visit.config, ranks->place->own))
		return refuse(request, "for a configuration that this rank does not lead", error);
	status = kwhy_pair_visit(ranks->place, &visit, error);
	wire = kwhy_rank_visit_of(&visit);
	kwhy_pair_answer(request->answer, &wire, sizeof(wire));
	return status;
}

static enum kwhy_status serve_nccl(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_place *place = request->ranks->place;
	struct kwhy_rank_nccl nccl;
	enum kwhy_status status = kwhy_pair_body(request->asked, &nccl, sizeof(nccl), error);

	return status ? status
		      : kwhy_pair_nccl_join(place, &nccl.id, nccl.all ? place->own : request->from, error);
}

static enum kwhy_status serve_begin(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_rank_begin begin;
	struct kwhy_rank_rounds rounds;
	enum kwhy_status status = kwhy_pair_body(request->asked, &begin, sizeof(begin), error);

	if (status)
		return status;
	ranks->asked = kwhy_rank_config_of(&begin.key);
	ranks->part = (struct kwhy_pair_work){.config = NULL};
	if (!is_ours(ranks, &ranks->asked, request->from))
		return refuse(request, "for a part in what it does not lead", error);
	status = kwhy_pair_work_begin(ranks->place, &ranks->asked, begin.spoils, &ranks->part, error);
	if (status)
		ranks->part.config = NULL;
	rounds = (struct kwhy_rank_rounds){ranks->place->put_rounds, ranks->place->together_rounds};
	kwhy_pair_answer(request->answer, &rounds, sizeof(rounds));
	return status;
}

static enum kwhy_status serve_issue(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_bench_room *room = ranks->place->rooms[ranks->place->own];
	struct kwhy_rank_issue issue;
	enum kwhy_status status = kwhy_pair_body(request->asked, &issue, sizeof(issue), error);

	if (status)
		return status;
	ranks->place->put_rounds = issue.put_rounds;
	ranks->place->together_rounds = issue.together_rounds;
	if (issue.is_held)
		status = room->gpu->ops->gate_hold(room->gpu, room->gate, room->streams[0], error);
	return status ? status : kwhy_pair_part_issue(&ranks->part, issue.warm, issue.count, error);
}

static enum kwhy_status serve_go(const struct request *request, struct kwhy_error *error)
{
	const struct kwhy_pair_place *place = request->ranks->place;
	struct kwhy_bench_room *room = place->rooms[place->own];

	return room->gpu->ops->gate_open(room->gpu, room->gate, error);
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

/* Into the sink and, where it is wanted so, back from there. */
static enum kwhy_status serve_stream(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_rank_link *link = &ranks->calls.link;
	struct kwhy_rank_stream stream;
	enum kwhy_status status = kwhy_pair_body(request->asked, &stream, sizeof(stream), error);

	if (!status)
		status = kwhy_pair_ranks_buffers(ranks, ranks->asked.bytes, error);
	for (uint32_t i = 0; !status && i < stream.count; i++) {
		status = kwhy_rank_link_receive(
			link, request->from, ranks->socket_sink, ranks->asked.bytes, error);
		if (!status && stream.returns)
			status = kwhy_rank_link_send(
				link, request->from, ranks->socket_sink, ranks->asked.bytes, error);
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
	enum kwhy_status status = kwhy_pair_body(request->asked, &sense, sizeof(sense), error);

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
	enum kwhy_status status = kwhy_pair_body(request->asked, &at_end, sizeof(at_end), error);

	if (!status)
		status = kwhy_pair_marks_take(ranks->place, at_end ? &ranks->end : &ranks->begin, error);
	if (!status)
		ranks->has_marked[at_end] = true;
	return status;
}

static enum kwhy_status serve_drift(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_pair_drift drifts[KWHY_PAIR_GPUS_MOST];
	enum kwhy_status status;

	if (!ranks->has_marked[0] || !ranks->has_marked[1])
		return refuse(request, "how clocks drifted before they were compared twice", error);
	status = kwhy_pair_drifts(ranks->place, &ranks->begin, &ranks->end, drifts, error);
	kwhy_pair_answer(request->answer, &drifts[ranks->place->own], sizeof(drifts[0]));
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
	const struct kwhy_bench_room *room = ranks->place ? ranks->place->rooms[ranks->place->own] : NULL;
	const struct kwhy_rank_limits limits = {ranks->calls.link.size, room ? room->capacity : 0};

	if (what >= KWHY_RANK_ASKED_COUNT)
		return kwhy_fail(error, KWHY_E_INPUT,
			"a rank asks what nobody knows; run one version of kwhy on all ranks");
	return kwhy_rank_wire_check(
		(enum kwhy_rank_word)what, is_answer, message->body, message->head.bytes, &limits, error);
}

/* What must have been before, and who may ask. */
enum stage {
	ALWAYS,
	ONCE,	/* until all ranks are known */
	KNOWN,	/* they are */
	BEGUN,	/* by the same rank: a configuration */
	SHARED, /* one in which all take part in every transfer */
	SOCKETS /* one of sockets */
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

enum kwhy_status kwhy_pair_rank_serve(void *context, uint32_t from, const struct kwhy_pair_message *asked,
	struct kwhy_pair_message *answer, struct kwhy_error *error)
{
	static const struct {
		enum kwhy_status (*serve)(const struct request *request, struct kwhy_error *error);
		enum stage stage;
		bool of_first; /* only rank 0 asks it */
	} rows[KWHY_RANK_ASKED_COUNT] = {
		[KWHY_RANK_FACTS] = {serve_facts, ALWAYS, true},
		[KWHY_RANK_LEARN] = {serve_learn, ONCE, true},
		[KWHY_RANK_VISIT] = {serve_visit, KNOWN, true},
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
	const struct request request = {context, from, asked, answer};
	const uint32_t what = asked->head.what;

	if (what >= KWHY_RANK_ASKED_COUNT || !rows[what].serve)
		return refuse(&request, "what nobody knows", error);
	if ((rows[what].of_first && from != 0) || !is_at(request.ranks, rows[what].stage, from))
		return refuse(&request, "something at a time when no rank does", error);
	return rows[what].serve(&request, error);
}
