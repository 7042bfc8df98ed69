/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A decoder on several GPUs: each has some heads of every layer, as many columns of its inner part, and some
 * words of the vocabulary. All run the same launches on memory of the same layout; what their products leave
 * they add up themselves (kernels/decode/meet.cu).
 */
#include "lab/decode/inside.h"

enum { WORD_STEP = KWHY_DECODE_VOCABULARY_STEP };

uint32_t kwhy_decode_ranks(const struct kwhy_decode *decode)
{
	return decode->request.peer_count + 1;
}

void kwhy_decode_part_of(const struct kwhy_decode_shape *whole, uint32_t ranks, struct kwhy_decode_shape *out)
{
	*out = *whole;
	out->heads /= ranks;
	out->inner /= ranks;
}

enum kwhy_status kwhy_decode_part_check(const struct kwhy_decode_request *request, struct kwhy_error *error)
{
	const struct kwhy_decode_shape *shape = request->shape;
	uint32_t ranks = request->peer_count + 1, chunk = 4 * kwhy_decode_each(request->weights),
		 columns = shape->heads / ranks * KWHY_DECODE_HEAD, inner = shape->inner / ranks;

	if (ranks == 1)
		return KWHY_OK;
	if (ranks > KWHY_DECODE_RANKS_MOST)
		return kwhy_fail(error, KWHY_E_INPUT, "decode: %u GPUs; there may be %d at most", ranks,
			KWHY_DECODE_RANKS_MOST);
	if (shape->heads % ranks || shape->inner % ranks || columns % chunk || inner % chunk ||
		inner % WORD_STEP)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the %u heads and %u inner columns of %s in %s do not divide among %u GPUs by whole "
			"heads and by %u columns",
			shape->heads, shape->inner, shape->name, kwhy_decode_weights_name(request->weights),
			ranks, chunk);
	if (request->launching == KWHY_DECODE_DEVICE)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"all tokens in one launch are of one GPU; launch a graph instead");
	if (request->products == KWHY_DECODE_PRODUCTS_LIBRARY)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"on %u GPUs own kernels make all products; leave --products out", ranks);
	if (request->choice.temperature > 0)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"to draw a token takes all logits on one GPU; on %u it is the likeliest", ranks);
	return KWHY_OK;
}

static enum kwhy_status enter_rank(const struct kwhy_decode *decode, uint32_t rank, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = rank ? decode->peers[rank - 1].gpu : decode->gpu;

	return decode->request.peer_count ? gpu->ops->enter(gpu, error) : KWHY_OK;
}

/* An address of the first GPU as another one has it; what is not in its memory stays. */
static uint64_t shift(const struct kwhy_decode *decode, uint32_t rank, uint64_t address)
{
	if (rank == 0 || address < decode->memory || address >= decode->memory + decode->bytes)
		return address;
	return address - decode->memory + decode->peers[rank - 1].memory;
}

struct kwhy_decode_args kwhy_decode_args_of(const struct kwhy_decode *decode, uint32_t rank)
{
	struct kwhy_decode_args args = decode->args;
	uint64_t *addresses = &args.layers;
	uint32_t ranks = kwhy_decode_ranks(decode),
		 steps = kwhy_decode_vocabulary_room(decode->request.shape) / WORD_STEP;

	for (size_t i = 0; i < offsetof(struct kwhy_decode_args, apart) / sizeof(*addresses); i++)
		addresses[i] = shift(decode, rank, addresses[i]);
	for (uint32_t k = 0; k < ranks; k++)
		args.apart[k] = (k ? decode->peers[k - 1].memory : decode->memory) -
			(rank ? decode->peers[rank - 1].memory : decode->memory);
	args.rank = rank;
	args.first_word = steps * rank / ranks * WORD_STEP;
	args.word_count = steps * (rank + 1) / ranks * WORD_STEP - args.first_word;
	return args;
}

uint32_t kwhy_decode_words_most(const struct kwhy_decode *decode)
{
	uint32_t ranks = kwhy_decode_ranks(decode),
		 steps = kwhy_decode_vocabulary_room(decode->request.shape) / WORD_STEP;

	return (steps + ranks - 1) / ranks * WORD_STEP;
}

enum kwhy_status kwhy_decode_launch_on(const struct kwhy_decode *decode, uint32_t rank,
	enum kwhy_decode_kernel kernel, const struct kwhy_gpu_launch *launch, struct kwhy_error *error)
{
	const struct kwhy_decode_peer *peer = rank ? &decode->peers[rank - 1] : NULL;
	struct kwhy_gpu_launch call = *launch;
	enum kwhy_status status = enter_rank(decode, rank, error);

	call.kernel = peer ? peer->kernels[kernel] : decode->kernels[kernel];
	call.stream = peer ? peer->stream : decode->stream;
	return status ? status : decode->gpu->ops->launch(peer ? peer->gpu : decode->gpu, &call, error);
}

uint64_t kwhy_decode_address_on(const struct kwhy_decode *decode, uint32_t rank, uint64_t address)
{
	return shift(decode, rank, address);
}

/* --- What all do --- */

enum kwhy_status kwhy_decode_synchronize(const struct kwhy_decode *decode, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = decode->gpu->ops;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = kwhy_decode_ranks(decode); !status && r-- > 0;) {
		status = enter_rank(decode, r, error);
		if (!status)
			status = r ? ops->synchronize(
					     decode->peers[r - 1].gpu, decode->peers[r - 1].stream, error)
				   : ops->synchronize(decode->gpu, decode->stream, error);
	}
	return status;
}

enum kwhy_status kwhy_decode_peers_copy(
	const struct kwhy_decode *decode, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (shift(decode, 1, to) == to)
		return KWHY_OK; /* to the host: from the first one alone */
	for (uint32_t r = 1; !status && r < kwhy_decode_ranks(decode); r++) {
		const struct kwhy_gpu_copy copy = {shift(decode, r, to), shift(decode, r, from), bytes};

		status = enter_rank(decode, r, error);
		if (!status)
			status = decode->gpu->ops->copy_now(decode->peers[r - 1].gpu, &copy, error);
	}
	return status ? status : enter_rank(decode, 0, error);
}

/* --- Who waits for whom --- */

enum kwhy_status kwhy_decode_leave_alone(struct kwhy_decode *decode, bool is_alone, struct kwhy_error *error)
{
	const uint32_t word = is_alone;

	if (!decode->request.peer_count)
		return KWHY_OK;
	return kwhy_decode_copy(decode, decode->args.meet + KWHY_DECODE_MEET_ALONE * sizeof(word),
		kwhy_gpu_address(&word), sizeof(word), error);
}

enum kwhy_status kwhy_decode_met(struct kwhy_decode *decode, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = decode->gpu->ops;
	enum kwhy_status status = kwhy_decode_synchronize(decode, error);

	for (uint32_t r = 0; !status && decode->request.peer_count && r < kwhy_decode_ranks(decode); r++) {
		uint32_t lost = 0;
		struct kwhy_gpu *gpu = r ? decode->peers[r - 1].gpu : decode->gpu;
		const struct kwhy_gpu_copy copy = {kwhy_gpu_address(&lost),
			shift(decode, r, decode->args.meet) + KWHY_DECODE_MEET_LOST * sizeof(lost),
			sizeof(lost)};

		status = enter_rank(decode, r, error);
		if (!status)
			status = ops->copy_now(gpu, &copy, error);
		if (!status && lost)
			status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"GPU %d waited for the others in vain: they do not reach each other's memory "
				"while kernels run, or one of them stalls",
				gpu->facts.index);
	}
	return status ? status : enter_rank(decode, 0, error);
}

/*
 * Runs what the decoder is about to run once while nobody waits: a driver that loads code or makes room for
 * it at a first launch may wait for all that its GPU has queued, and a GPU that waits for another would then
 * wait for ever. `at`: where all slots come to for it.
 */
static enum kwhy_status run_alone(struct kwhy_decode *decode, uint32_t at,
	void (*run)(struct kwhy_decode_issue *issue), struct kwhy_error *error)
{
	struct kwhy_decode_issue issue = {decode, error, kwhy_decode_leave_alone(decode, true, error)};

	kwhy_decode_issue_reset(&issue, at, 0);
	issue.status = kwhy_decode_await(&issue);
	for (uint32_t slot = 0; slot < decode->args.slots; slot++)
		decode->bests[slot] = UINT64_MAX; /* token 0 is next */
	if (!issue.status)
		issue.status = kwhy_decode_copy(decode, decode->args.best, kwhy_gpu_address(decode->bests),
			decode->args.slots * sizeof(*decode->bests), error);
	if (!issue.status)
		run(&issue);
	issue.status = kwhy_decode_await(&issue);
	return issue.status ? issue.status : kwhy_decode_leave_alone(decode, false, error);
}

static void issue_all(struct kwhy_decode_issue *issue)
{
	struct kwhy_decode *decode = issue->decode;

	kwhy_decode_issue_pass(issue);
	decode->args.each = decode->request.prompt;
	decode->args.tokens = decode->args.slots * decode->args.each;
	kwhy_decode_issue_pass(issue);
	decode->args.each = 1;
	decode->args.tokens = decode->args.slots;
}

enum kwhy_status kwhy_decode_peers_begin(struct kwhy_decode *decode, struct kwhy_error *error)
{
	if (!decode->request.peer_count)
		return KWHY_OK;
	decode->args.each = 1;
	decode->args.tokens = decode->args.slots;
	return run_alone(decode, 0, issue_all, error);
}

/* --- Graphs --- */

/* The two graphs of a peer are those of the first GPU. */
static struct kwhy_gpu_graph **graph_of(struct kwhy_decode *decode, uint32_t rank, bool is_reading)
{
	struct kwhy_decode_peer *peer = rank ? &decode->peers[rank - 1] : NULL;

	if (is_reading)
		return peer ? &peer->reading : &decode->reading;
	return peer ? &peer->graph : &decode->graph;
}

enum kwhy_status kwhy_decode_launch_graphs(
	struct kwhy_decode *decode, bool is_reading, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = decode->gpu->ops;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < kwhy_decode_ranks(decode); r++) {
		struct kwhy_gpu *gpu = r ? decode->peers[r - 1].gpu : decode->gpu;
		struct kwhy_gpu_stream *stream = r ? decode->peers[r - 1].stream : decode->stream;

		status = enter_rank(decode, r, error);
		if (!status)
			status = ops->graph_launch(gpu, stream, *graph_of(decode, r, is_reading), error);
	}
	return status;
}

static void issue_step(struct kwhy_decode_issue *issue)
{
	issue->status = kwhy_decode_launch_graphs(issue->decode, false, issue->error);
}

static void issue_reading(struct kwhy_decode_issue *issue)
{
	issue->status = kwhy_decode_launch_graphs(issue->decode, true, issue->error);
}

/* First launches: of a last token, so that what was read before is not touched; prompts come before all. */
static enum kwhy_status begin_graphs(struct kwhy_decode *decode, bool is_reading, struct kwhy_error *error)
{
	uint32_t alone = 0;
	enum kwhy_status status = kwhy_decode_copy(decode, kwhy_gpu_address(&alone),
		decode->args.meet + KWHY_DECODE_MEET_ALONE * sizeof(alone), sizeof(alone), error);

	if (!status)
		status = run_alone(decode, is_reading ? 0 : decode->args.room - 2,
			is_reading ? issue_reading : issue_step, error);
	return status || !alone ? status : kwhy_decode_leave_alone(decode, true, error);
}

struct recorded_work {
	struct kwhy_decode *decode;
	void (*issue)(struct kwhy_decode_issue *issue);
};

static enum kwhy_status issue_recorded(void *context, struct kwhy_error *error)
{
	const struct recorded_work *work = context;
	struct kwhy_decode_issue issue = {.decode = work->decode, .error = error};

	work->issue(&issue);
	return issue.status;
}

static enum kwhy_status record_one(struct kwhy_decode *decode, uint32_t rank, bool is_reading,
	void (*work)(struct kwhy_decode_issue *issue), struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = rank ? decode->peers[rank - 1].gpu : decode->gpu;
	struct kwhy_gpu_stream *stream = rank ? decode->peers[rank - 1].stream : decode->stream;
	struct kwhy_gpu_graph **graph = graph_of(decode, rank, is_reading);
	struct recorded_work recorded = {decode, work};
	enum kwhy_status status = enter_rank(decode, rank, error);

	if (status)
		return status;
	gpu->ops->graph_free(gpu, *graph);
	decode->recorded = rank + 1;
	status = kwhy_gpu_capture(gpu, stream, issue_recorded, &recorded, graph, error);
	decode->recorded = 0;
	return status;
}

/* One after the other: a driver makes no graph while another is being recorded. */
enum kwhy_status kwhy_decode_record(struct kwhy_decode *decode, bool is_reading,
	void (*work)(struct kwhy_decode_issue *issue), struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < kwhy_decode_ranks(decode); r++)
		status = record_one(decode, r, is_reading, work, error);
	if (!status)
		status = enter_rank(decode, 0, error);
	return status || !decode->request.peer_count ? status : begin_graphs(decode, is_reading, error);
}

void kwhy_decode_peers_forget_graphs(struct kwhy_decode *decode)
{
	for (struct kwhy_decode_peer *peer = decode->peers; peer < decode->peers + decode->request.peer_count;
		peer++) {
		if (peer->graph)
			decode->gpu->ops->graph_free(peer->gpu, peer->graph);
		if (peer->reading)
			decode->gpu->ops->graph_free(peer->gpu, peer->reading);
		peer->graph = peer->reading = NULL;
	}
}

/* --- Opening --- */

static enum kwhy_status open_peer(struct kwhy_decode *decode, uint32_t rank, struct kwhy_error *error)
{
	struct kwhy_decode_peer *peer = &decode->peers[rank - 1];
	struct kwhy_gpu *gpu = decode->request.peers[rank - 1];
	enum kwhy_status status = gpu->ops->enter(gpu, error);

	peer->gpu = gpu;
	if (!status)
		status = kwhy_decode_open_kernels(decode, gpu, &peer->module, peer->kernels, error);
	if (!status)
		status = gpu->ops->stream_new(gpu, &peer->stream, error);
	if (!status)
		status = gpu->ops->memory_new(gpu, decode->bytes, &peer->memory, error);
	if (!status)
		status = gpu->ops->fill(gpu, peer->stream, peer->memory, 0, decode->bytes, error);
	if (!status)
		status = gpu->ops->synchronize(gpu, peer->stream, error);
	if (!status)
		status = gpu->ops->peer_enable(gpu, decode->gpu, error);
	for (uint32_t k = 1; !status && k < rank; k++)
		status = gpu->ops->peer_enable(gpu, decode->peers[k - 1].gpu, error);
	for (uint32_t k = 0; !status && k < rank; k++) {
		struct kwhy_gpu *other = k ? decode->peers[k - 1].gpu : decode->gpu;

		status = other->ops->enter(other, error);
		if (!status)
			status = other->ops->peer_enable(other, gpu, error);
	}
	return status;
}

enum kwhy_status kwhy_decode_peers_open(struct kwhy_decode *decode, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 1; !status && r < kwhy_decode_ranks(decode); r++)
		status = open_peer(decode, r, error);
	return status ? status : enter_rank(decode, 0, error);
}

void kwhy_decode_peers_close(struct kwhy_decode *decode)
{
	const struct kwhy_gpu_ops *ops = decode->gpu->ops;
	struct kwhy_decode_peer *peers = decode->peers, *end = peers;
	struct kwhy_error ignored;

	while (end < peers + decode->request.peer_count && end->gpu)
		end++;
	/* Nobody's memory goes while another GPU may still reach for it. */
	if (end > peers && decode->stream && !ops->enter(decode->gpu, &ignored))
		(void)ops->synchronize(decode->gpu, decode->stream, &ignored);
	for (struct kwhy_decode_peer *peer = peers; peer < end; peer++)
		if (peer->stream && !ops->enter(peer->gpu, &ignored))
			(void)ops->synchronize(peer->gpu, peer->stream, &ignored);
	kwhy_decode_peers_forget_graphs(decode);
	for (struct kwhy_decode_peer *peer = peers; peer < end; peer++) {
		(void)ops->enter(peer->gpu, &ignored);
		ops->memory_free(peer->gpu, peer->memory);
		ops->stream_free(peer->gpu, peer->stream);
		ops->module_free(peer->gpu, peer->module);
	}
	if (end > peers)
		(void)ops->enter(decode->gpu, &ignored);
}
