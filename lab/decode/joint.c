/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens by clusters of blocks: few, as kernels/decode/clusters.cu and joint.cu have them, or a crowd
 * (crowds.cu). */
#include "lab/decode/library.h"

enum {
	CLUSTER = 8,
	HEAD_BLOCKS = 2, /* a multiprocessor */
	PAD_BYTES = 64,
	PIECES_BYTES = 2176,
	CROWD_THREADS = 256,
	CROWD_DEPTH = 4,	    /* steps of attention that are on their way */
	CROWD_STAGE_NUMBERS = 2048, /* of one, of a warp */
	CROWD_WORD_THREADS = 256,   /* one block a multiprocessor */
	CROWD_END_WARPS = 8,
	CROWD_SHARED_BYTES = 228 << 10 /* of a multiprocessor: what more than 32 tokens take */
};

/* Pages and beams have not been tried with them. */
bool kwhy_decode_is_joint(const struct kwhy_decode *decode)
{
	const struct kwhy_decode_shape *shape = decode->request.shape;

	return kwhy_decode_ranks(decode) == 1 && !decode->request.page && !kwhy_decode_has_beams(decode) &&
		decode->gpu->facts.architecture >= 90 && kwhy_decode_each(decode->request.weights) <= 16 &&
		shape->width <= 1024 && (shape->inner < 1024 || shape->inner % 1024 == 0);
}

bool kwhy_decode_is_crowd(const struct kwhy_decode *decode)
{
	const struct kwhy_decode_request *request = &decode->request;

	return request->slots > KWHY_DECODE_FEW && request->slots <= KWHY_DECODE_CROWD &&
		request->products != KWHY_DECODE_PRODUCTS_LIBRARY && kwhy_decode_is_joint(decode) &&
		kwhy_decode_is_recalled(decode) &&
		decode->gpu->facts.shared_bytes_per_sm >= CROWD_SHARED_BYTES;
}

uint32_t kwhy_decode_known_slots(const struct kwhy_decode *decode)
{
	const struct kwhy_decode_request *request = &decode->request;

	return kwhy_decode_is_crowd(decode) ||
			(request->slots <= KWHY_DECODE_FEW && request->launching != KWHY_DECODE_DEVICE &&
				kwhy_decode_is_joint(decode))
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

/* --- A crowd --- */

/* Clusters that share the inner columns. Of more than 32 tokens a multiprocessor holds one block, and a GPU
 * of 132 holds 15 clusters of them, not 16. */
static uint32_t inner_clusters(const struct kwhy_decode *decode)
{
	uint32_t inner = decode->request.shape->inner;

	return inner / 64 < 16 ? inner / 64 : decode->args.slots > 32 && inner == 3072 ? 12 : 16;
}

/* Of a token in shared memory: 16 bytes more, for its banks. */
static uint32_t crowd_stride(uint32_t columns)
{
	return columns * 2 + 16;
}

/* x of all tokens or a head of theirs, their moments, and what comes of the block's own. */
static uint32_t crowd_room(const struct kwhy_decode *decode, uint32_t groups, uint32_t columns)
{
	uint32_t chunks = (decode->request.shape->width / 32 + CLUSTER - 1) / CLUSTER;

	return groups * 16 * crowd_stride(chunks > 2 ? chunks * 32 : 64) + CLUSTER * groups * 16 +
		groups * 2 * columns * 2;
}

/* What the blocks of a cluster send of so many tiles: of every 32 tokens a block's own 4, of 8 rows, 2 bytes
 * each. Then, at the same place, sums of warps that share columns. */
static uint32_t crowd_inbox(const struct kwhy_decode *decode, uint32_t groups, uint32_t tiles)
{
	uint32_t sums = CLUSTER * tiles * ((groups + 1) / 2) * 64,
		 turns = (decode->request.shape->width / 8 / CLUSTER + 3) / 4, joined = turns * groups * 2048;

	return sums > joined ? sums : joined;
}

static void issue_crowd_layer(struct kwhy_decode_issue *issue, uint32_t layer)
{
	const struct kwhy_decode *decode = issue->decode;
	uint32_t clusters = inner_clusters(decode), columns = decode->request.shape->inner / clusters,
		 groups = (decode->args.slots + 15) / 16, room = crowd_room(decode, groups, columns),
		 attending = groups == 2 ? CROWD_THREADS / 32 : groups * 2; /* warps: two a token, or one */

	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_CROWD_ATTEND,
			.blocks = decode->request.shape->heads * CLUSTER,
			.threads = CROWD_THREADS,
			.shared_bytes = room + crowd_inbox(decode, groups, 3 * KWHY_DECODE_HEAD / 8) +
				attending * CROWD_DEPTH * CROWD_STAGE_NUMBERS *
					kwhy_decode_kept_bytes(&decode->request),
			.numbers = {layer}});
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_CROWD_INNER,
			.blocks = clusters * CLUSTER,
			.threads = CROWD_THREADS,
			.shared_bytes = room + crowd_inbox(decode, groups, columns / 8) +
				groups * 16 * crowd_stride(columns),
			.numbers = {layer}});
}

void kwhy_decode_issue_crowd(struct kwhy_decode_issue *issue)
{
	const struct kwhy_decode *decode = issue->decode;
	uint32_t tokens = decode->args.tokens;

	for (uint32_t layer = 0; layer < decode->args.layer_count; layer++)
		issue_crowd_layer(issue, layer);
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_CROWD_END,
			.blocks = (tokens + CROWD_END_WARPS - 1) / CROWD_END_WARPS,
			.threads = CROWD_END_WARPS * 32});
	kwhy_decode_issue(issue,
		&(struct kwhy_decode_launch){.kernel = KWHY_DECODE_CROWD_HEAD,
			.blocks = kwhy_decode_place_count(decode),
			.threads = CROWD_WORD_THREADS,
			.shared_bytes = (tokens + 15) / 16 * 16 *
				crowd_stride(decode->request.shape->width)});
}
