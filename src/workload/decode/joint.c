/* SPDX-License-Identifier: Apache-2.0 */
/* Few tokens by clusters of blocks: as kernels/decode/clusters.cu and joint.cu have them. */
#include "workload/decode/library.h"

enum { CLUSTER = 8, HEAD_BLOCKS = 2 /* a multiprocessor */, PAD_BYTES = 64, PIECES_BYTES = 2176 };

/* Pages and beams have not been tried with them. */
bool kwhy_decode_is_joint(const struct kwhy_decode *decode)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;

	return kwhy_decode_ranks(decode) == 1 && !decode->request.page && !kwhy_decode_has_beams(decode) &&
		decode->gpu->facts.architecture >= 90 && kwhy_decode_each(decode->request.weights) <= 16 &&
		shape->width <= 1024 && (shape->inner < 1024 || shape->inner % 1024 == 0);
}

uint32_t kwhy_decode_known_slots(const struct kwhy_decode *decode)
{
	const struct kwhy_decode_request *request = &decode->request;

	return request->slots <= KWHY_DECODE_FEW && request->launching != KWHY_DECODE_DEVICE &&
			kwhy_decode_is_joint(decode)
		? request->slots
		: 0;
}

static uint32_t threads_of(const struct kwhy_decode *decode)
{
	return kwhy_decode_act_bytes(decode->request.weights) == 4 ? 256 : 128;
}

/* Tokens in shared memory and zeros behind them, of so many columns. */
static uint32_t room_of(const struct kwhy_decode *decode, uint32_t columns)
{
	return (decode->args.tokens + 1) *
		(columns * kwhy_decode_act_bytes(decode->request.weights) + PAD_BYTES);
}

static void issue_layer(struct kwhy_decode_issue *issue, uint32_t layer)
{
	const struct kwhy_decode *decode = issue->decode;
	const struct kwhy_decode_shape *shape = decode->request.shape;
	uint32_t clusters = shape->inner / 64 < 16 ? shape->inner / 64 : 16,
		 tokens = room_of(decode, shape->width),
		 mixed = PIECES_BYTES + room_of(decode, KWHY_DECODE_HEAD);

	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_JOINT_ATTEND,
			.blocks = shape->heads * CLUSTER,
			.threads = threads_of(decode),
			.shared_bytes = tokens > mixed ? tokens : mixed,
			.numbers = {layer}});
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_JOINT_INNER,
			.blocks = clusters * CLUSTER,
			.threads = threads_of(decode),
			.shared_bytes = tokens + room_of(decode, shape->inner / clusters),
			.numbers = {layer}});
}

void kwhy_decode_issue_joint(struct kwhy_decode_issue *issue)
{
	const struct kwhy_decode *decode = issue->decode;
	uint32_t sm_count = decode->gpu->facts.sm_count ? decode->gpu->facts.sm_count : 1;

	for (uint32_t layer = 0; layer < decode->args.layer_count; layer++)
		issue_layer(issue, layer);
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_JOINT_HEAD,
			.blocks = sm_count * HEAD_BLOCKS,
			.threads = threads_of(decode),
			.shared_bytes = room_of(decode, decode->request.shape->width)});
}
