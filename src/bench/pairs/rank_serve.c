/* SPDX-License-Identifier: Apache-2.0 */
/* What a rank does when another one asks. */
#include "bench/pairs/rank_words.h"

#include "base/clock.h"

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
	enum kwhy_status status = kwhy_pair_body(
		request->asked, ranks->facts, ranks->calls.link.size * sizeof(ranks->facts[0]), error);

	if (!status)
		status = kwhy_pair_ranks_learn(ranks, error);
	kwhy_pair_answer(request->answer, place->is_direct[place->own], sizeof(place->is_direct[0]));
	return status;
}

static enum kwhy_status serve_visit(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_visit visit;
	enum kwhy_status status = kwhy_pair_body(request->asked, &visit, sizeof(visit), error);

	if (!status)
		status = kwhy_pair_visit(request->ranks->place, &visit, error);
	kwhy_pair_answer(request->answer, &visit, sizeof(visit));
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
	ranks->asked = begin.config;
	status = kwhy_pair_work_begin(ranks->place, &ranks->asked, begin.spoils, &ranks->part, error);
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

	return status ? status
		      : kwhy_pair_marks_take(ranks->place, at_end ? &ranks->end : &ranks->begin, error);
}

static enum kwhy_status serve_drift(const struct request *request, struct kwhy_error *error)
{
	struct kwhy_pair_ranks *ranks = request->ranks;
	struct kwhy_pair_drift drifts[KWHY_PAIR_GPUS_MOST];
	enum kwhy_status status = kwhy_pair_drifts(ranks->place, &ranks->begin, &ranks->end, drifts, error);

	kwhy_pair_answer(request->answer, &drifts[ranks->place->own], sizeof(drifts[0]));
	return status;
}

static enum kwhy_status serve_part(const struct request *request, struct kwhy_error *error)
{
	(void)error;
	kwhy_pair_ranks_forget(request->ranks);
	return KWHY_OK;
}

static enum kwhy_status serve_stop(const struct request *request, struct kwhy_error *error)
{
	(void)error;
	request->ranks->done = true;
	return KWHY_OK;
}

enum kwhy_status kwhy_pair_rank_serve(void *context, uint32_t from, const struct kwhy_pair_message *asked,
	struct kwhy_pair_message *answer, struct kwhy_error *error)
{
	static enum kwhy_status (*const rows[])(const struct request *request, struct kwhy_error *error) = {
		[KWHY_RANK_FACTS] = serve_facts,
		[KWHY_RANK_LEARN] = serve_learn,
		[KWHY_RANK_VISIT] = serve_visit,
		[KWHY_RANK_NCCL] = serve_nccl,
		[KWHY_RANK_BEGIN] = serve_begin,
		[KWHY_RANK_ISSUE] = serve_issue,
		[KWHY_RANK_GO] = serve_go,
		[KWHY_RANK_DRAIN] = serve_drain,
		[KWHY_RANK_VERIFY] = serve_verify,
		[KWHY_RANK_STREAM] = serve_stream,
		[KWHY_RANK_CLOCK] = serve_clock,
		[KWHY_RANK_SENSE] = serve_sense,
		[KWHY_RANK_MARK] = serve_mark,
		[KWHY_RANK_DRIFT] = serve_drift,
		[KWHY_RANK_PART] = serve_part,
		[KWHY_RANK_STOP] = serve_stop,
	};
	const struct request request = {context, from, asked, answer};

	if (asked->head.what >= sizeof(rows) / sizeof(rows[0]) || !rows[asked->head.what])
		return kwhy_fail(error, KWHY_E_INPUT,
			"rank %u asks what nobody knows; run one version of kwhy on all ranks", from);
	return rows[asked->head.what](&request, error);
}
