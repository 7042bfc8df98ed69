/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/inside.h"

/* What the GPUs of a training do together. */

enum { SHARE_BLOCKS = 1024 };

void kwhy_train_share_of(const struct kwhy_train *train, uint32_t rank, uint64_t *first, uint64_t *end)
{
	uint64_t pairs = kwhy_train_weight_count(&train->shape) / 2,
		 each = (pairs + train->rank_count - 1) / train->rank_count, at = rank * each;

	*first = 2 * (at < pairs ? at : pairs);
	*end = 2 * (at + each < pairs ? at + each : pairs);
}

/* --- Joining --- */

static enum kwhy_status join_rank(struct kwhy_train *train, uint32_t r, struct kwhy_error *error)
{
	struct kwhy_train_rank *rank = &train->ranks[r];
	const struct kwhy_gpu_ops *ops = rank->gpu->ops;
	enum kwhy_status status = ops->enter(rank->gpu, error);

	if (!status)
		status = ops->event_new(rank->gpu, false, &rank->ready, error);
	if (!status)
		status = ops->event_new(rank->gpu, false, &rank->done, error);
	for (uint32_t k = 0; !status && k < train->rank_count; k++)
		if (k != r)
			status = ops->peer_enable(rank->gpu, train->ranks[k].gpu, error);
	return status;
}

enum kwhy_status kwhy_train_join(struct kwhy_train *train, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && train->rank_count > 1 && r < train->rank_count; r++)
		status = join_rank(train, r, error);
	return status;
}

/* --- A step --- */

enum kwhy_status kwhy_train_meet(struct kwhy_train *train, bool is_done, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < train->rank_count; r++) {
		struct kwhy_train_rank *rank = &train->ranks[r];

		status = rank->gpu->ops->enter(rank->gpu, error);
		if (!status)
			status = rank->gpu->ops->event_record(
				rank->gpu, is_done ? rank->done : rank->ready, rank->stream, error);
	}
	for (uint32_t r = 0; !status && r < train->rank_count; r++) {
		struct kwhy_train_rank *rank = &train->ranks[r];

		status = rank->gpu->ops->enter(rank->gpu, error);
		for (uint32_t k = 0; !status && k < train->rank_count; k++)
			if (k != r)
				status = rank->gpu->ops->stream_wait(rank->gpu, rank->stream,
					is_done ? train->ranks[k].done : train->ranks[k].ready, error);
	}
	return status;
}

static enum kwhy_status launch_share(struct kwhy_train *train, uint32_t r, struct kwhy_error *error)
{
	struct kwhy_train_rank *rank = &train->ranks[r];
	struct kwhy_train_call none = {0};
	struct kwhy_train_peers peers = {.count = train->rank_count};
	void *arguments[] = {&rank->args, &none, &peers};
	const struct kwhy_gpu_launch launch = {.kernel = rank->kernels[KWHY_TRAIN_SHARE],
		.blocks = SHARE_BLOCKS,
		.threads_per_block = KWHY_TRAIN_THREADS,
		.arguments = arguments,
		.stream = rank->stream};
	enum kwhy_status status = rank->gpu->ops->enter(rank->gpu, error);

	kwhy_train_share_of(train, r, &peers.first, &peers.end);
	for (uint32_t k = 0; k < train->rank_count; k++) {
		peers.gradients[k] = train->ranks[k].args.gradients;
		peers.weights[k] = train->ranks[k].args.weights;
		peers.copies[k] = train->ranks[k].args.copies;
	}
	train->tally.launches++;
	return status ? status : rank->gpu->ops->launch(rank->gpu, &launch, error);
}

enum kwhy_status kwhy_train_share(struct kwhy_train *train, struct kwhy_error *error)
{
	const struct kwhy_train_call none = {0};
	enum kwhy_status status = kwhy_train_meet(train, false, error);

	for (uint32_t r = 0; !status && r < train->rank_count; r++)
		status = launch_share(train, r, error);
	if (!status)
		status = kwhy_train_meet(train, true, error);
	for (uint32_t r = 0; !status && r < train->rank_count; r++) {
		status = train->ranks[r].gpu->ops->enter(train->ranks[r].gpu, error);
		if (!status)
			status = kwhy_train_launch(&train->ranks[r], KWHY_TRAIN_ADVANCE, &none, error);
	}
	return status;
}
