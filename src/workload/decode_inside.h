/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_WORKLOAD_DECODE_INSIDE_H
#define KWHY_WORKLOAD_DECODE_INSIDE_H

#include "workload/decode_device.h"
#include "workload/decode_run.h"

/* The inside of a decoder that is open, for decode_*.c. */

enum { KWHY_DECODE_SPLITS_MOST = 8 }; /* of a wide product's columns */

enum kwhy_decode_kernel {
	KWHY_DECODE_FILL,
	KWHY_DECODE_FILL_FLOATS,
	KWHY_DECODE_RESET,
	KWHY_DECODE_BEGIN,
	KWHY_DECODE_ATTEND,
	KWHY_DECODE_THIN, /* and the three behind it, in the order of matrices */
	KWHY_DECODE_THIN_HEAD = KWHY_DECODE_THIN + KWHY_DECODE_MATRICES,
	KWHY_DECODE_WHOLE,
	KWHY_DECODE_SETTLE,
	KWHY_DECODE_WIDE32,
	KWHY_DECODE_WIDE64,
	KWHY_DECODE_CHOOSE,
	KWHY_DECODE_KERNEL_COUNT
};

struct kwhy_decode {
	struct kwhy_decode_request request;
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KWHY_DECODE_KERNEL_COUNT];
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_graph *graph; /* of a step */
	uint64_t memory, weight_bytes;
	uint64_t first;	 /* uint64 [slots] on the device: what was likeliest behind the prompts */
	uint64_t logits; /* float [slots][vocabulary] on the device */
	struct kwhy_decode_args args;
	uint32_t whole_blocks;
	uint32_t kernel_count;	 /* launched since it was set to 0 */
	uint32_t step_kernels;	 /* of one token's launches */
	uint64_t part_tokens;	 /* tokens times splits that parts have room for */
	uint32_t *prompts;	 /* [slots][prompt] */
	uint64_t *times, *bests; /* [room]; [slots] */
	bool is_prefilled;
};

/* Launches that follow each other; the first failure stays. */
struct kwhy_decode_issue {
	struct kwhy_decode *decode;
	struct kwhy_error *error;
	enum kwhy_status status;
};

struct kwhy_decode_launch {
	enum kwhy_decode_kernel kernel;
	uint32_t blocks, threads, shared_bytes;
	uint32_t numbers[3]; /* behind the args, or instead of them */
	uint64_t address;    /* instead of the second number, for KWHY_DECODE_RESET */
};

void kwhy_decode_issue(struct kwhy_decode_issue *issue, const struct kwhy_decode_launch *launch);

/* All kernels of a pass through the layers, of args.tokens tokens. */
void kwhy_decode_issue_pass(struct kwhy_decode_issue *issue);

/* Every slot comes to position `at`, with the best of `first` next; 0: with none. */
void kwhy_decode_issue_reset(struct kwhy_decode_issue *issue, uint32_t at, uint64_t first);

/* `steps` tokens as the decoder launches them. */
void kwhy_decode_issue_steps(struct kwhy_decode_issue *issue, uint32_t steps);

/* Whether tokens are drawn, as the request says, or are the likeliest; and whether logits are left. */
void kwhy_decode_set_choice(struct kwhy_decode *decode, bool is_drawn, bool has_logits);

/* Records the graph of a step anew, where one is used. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_capture(struct kwhy_decode *decode, struct kwhy_error *error);

/* Copies between host and device, and waits. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_copy(
	struct kwhy_decode *decode, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_decode_await(struct kwhy_decode_issue *issue);

#endif
