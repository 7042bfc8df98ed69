/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/inside.h"

/*
 * Layers apart on GPUs: all parts of a batch go forward, one behind the other, then all go back. A rank keeps
 * for every part what goes into its layers, in slots of hidden: of its n-th layer those from n times the
 * parts on; one more is what it sends on. Slots of errors from FIRST_ARRIVED on are what comes back, for each
 * part.
 */
enum { FIRST_ARRIVED = 2 };

void kwhy_train_layers_of(const struct kwhy_train *train, uint32_t rank, uint32_t *first, uint32_t *end)
{
	*first = rank * train->shape.layers / train->rank_count;
	*end = (rank + 1) * train->shape.layers / train->rank_count;
}

/* A rank that queues a part. */
struct stage {
	struct kwhy_train *train;
	struct kwhy_train_rank *rank;
	uint32_t r, part, first, end; /* its layers */
};

static struct stage stage_of(struct kwhy_train *train, uint32_t r, uint32_t part)
{
	struct stage stage = {.train = train, .rank = &train->ranks[r], .r = r, .part = part};

	kwhy_train_layers_of(train, r, &stage.first, &stage.end);
	return stage;
}

static bool is_last(const struct stage *stage)
{
	return stage->r + 1 == stage->train->rank_count;
}

static uint32_t inputs_slot(const struct stage *stage, uint32_t layer)
{
	return layer ? (layer - stage->first) * stage->train->shape.parts + stage->part : KWHY_TRAIN_INPUTS;
}

static uint64_t plane_at(const struct kwhy_train_rank *rank, uint64_t memory, uint32_t slot, size_t *bytes)
{
	const struct kwhy_train_args *a = &rank->args;

	*bytes = (size_t)(a->batch / a->parts) * a->width * 2;
	return memory + slot * (uint64_t)*bytes;
}

/* Begins behind what a neighbour has sent. */
static enum kwhy_status enter(
	const struct stage *stage, const struct kwhy_gpu_event *sent, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = stage->rank->gpu->ops;
	enum kwhy_status status = ops->enter(stage->rank->gpu, error);

	return status || !sent ? status
			       : ops->stream_wait(stage->rank->gpu, stage->rank->stream, sent, error);
}

/* A plane to a neighbour, and the event behind it. */
static enum kwhy_status send(const struct stage *stage, uint64_t to, uint64_t from, size_t bytes,
	struct kwhy_gpu_event *event, struct kwhy_error *error)
{
	const struct kwhy_gpu_ops *ops = stage->rank->gpu->ops;
	const struct kwhy_gpu_copy copy = {to, from, bytes};
	enum kwhy_status status = ops->copy(stage->rank->gpu, stage->rank->stream, &copy, error);

	stage->train->tally.copies++;
	return status ? status : ops->event_record(stage->rank->gpu, event, stage->rank->stream, error);
}

/* What the last of a rank's layers gives to the first of the next rank's. */
static enum kwhy_status send_on(const struct stage *stage, uint32_t slot, struct kwhy_error *error)
{
	struct kwhy_train_rank *next = &stage->train->ranks[stage->r + 1];
	size_t bytes;
	uint64_t from = plane_at(stage->rank, stage->rank->args.hidden, slot, &bytes),
		 to = plane_at(next, next->args.hidden, stage->part, &bytes);

	return send(stage, to, from, bytes, stage->rank->ready, error);
}

static enum kwhy_status send_back(const struct stage *stage, uint32_t slot, struct kwhy_error *error)
{
	struct kwhy_train_rank *before = &stage->train->ranks[stage->r - 1];
	size_t bytes;
	uint64_t from = plane_at(stage->rank, stage->rank->args.errors, slot, &bytes),
		 to = plane_at(before, before->args.errors, FIRST_ARRIVED + stage->part, &bytes);

	return send(stage, to, from, bytes, stage->rank->done, error);
}

static enum kwhy_status queue_forward(const struct stage *stage, struct kwhy_error *error)
{
	const struct kwhy_train *train = stage->train;
	const uint32_t outbox = (stage->end - stage->first) * train->shape.parts;
	const struct kwhy_train_call soften = {.part = stage->part, .out = FIRST_ARRIVED + stage->part};
	enum kwhy_status status = enter(stage, stage->r ? train->ranks[stage->r - 1].ready : NULL, error);

	for (uint32_t layer = stage->first; !status && layer < stage->end; layer++) {
		const struct kwhy_train_call call = {.layer = layer,
			.part = stage->part,
			.in = inputs_slot(stage, layer),
			.out = layer + 1 < stage->end ? inputs_slot(stage, layer + 1) : outbox};

		status = kwhy_train_multiply(stage->rank, KWHY_TRAIN_FORWARD, &call, error);
	}
	if (status)
		return status;
	return is_last(stage) ? kwhy_train_launch(stage->rank, KWHY_TRAIN_SOFTEN, &soften, error)
			      : send_on(stage, outbox, error);
}

/* The errors of a layer's inputs first, and on their way; then the gradients, and with the last part AdamW.
 */
static enum kwhy_status queue_layer(
	const struct stage *stage, uint32_t layer, uint32_t errors, struct kwhy_error *error)
{
	const bool is_last_part = stage->part + 1 == stage->train->shape.parts;
	const struct kwhy_train_call call = {.layer = layer,
		.part = stage->part,
		.in = errors,
		.out = layer % 2,
		.kept = inputs_slot(stage, layer),
		.mode = (stage->part ? KWHY_TRAIN_ADD : 0u) | (is_last_part ? KWHY_TRAIN_APPLY : 0u)};
	enum kwhy_status status = KWHY_OK;

	if (layer)
		status = kwhy_train_multiply(stage->rank, KWHY_TRAIN_BACKWARD, &call, error);
	if (!status && layer && layer == stage->first)
		status = send_back(stage, call.out, error);
	if (!status)
		status = kwhy_train_multiply(stage->rank, KWHY_TRAIN_UPDATE, &call, error);
	return status ? status : kwhy_train_launch(stage->rank, KWHY_TRAIN_BIAS, &call, error);
}

static enum kwhy_status queue_back(const struct stage *stage, struct kwhy_error *error)
{
	uint32_t errors = FIRST_ARRIVED + stage->part;
	enum kwhy_status status = enter(
		stage, is_last(stage) ? NULL : stage->train->ranks[stage->r + 1].done, error);

	for (uint32_t layer = stage->end; !status && layer-- > stage->first;) {
		status = queue_layer(stage, layer, errors, error);
		errors = layer % 2;
	}
	return status;
}

static enum kwhy_status advance(struct kwhy_train *train, struct kwhy_error *error)
{
	const struct kwhy_train_call none = {0};
	enum kwhy_status status = KWHY_OK;

	for (uint32_t r = 0; !status && r < train->rank_count; r++) {
		status = train->ranks[r].gpu->ops->enter(train->ranks[r].gpu, error);
		if (!status)
			status = kwhy_train_launch(&train->ranks[r], KWHY_TRAIN_ADVANCE, &none, error);
	}
	return status;
}

/* A wait is for an event's last record before it: what is queued in this order finds the right one. */
enum kwhy_status kwhy_train_queue_pipeline(struct kwhy_train *train, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t part = 0; !status && part < train->shape.parts; part++)
		for (uint32_t r = 0; !status && r < train->rank_count; r++) {
			struct stage stage = stage_of(train, r, part);

			status = queue_forward(&stage, error);
		}
	for (uint32_t part = 0; !status && part < train->shape.parts; part++)
		for (uint32_t r = train->rank_count; !status && r-- > 0;) {
			struct stage stage = stage_of(train, r, part);

			status = queue_back(&stage, error);
		}
	if (!status)
		status = kwhy_train_meet(train, true, error);
	return status ? status : advance(train, error);
}
