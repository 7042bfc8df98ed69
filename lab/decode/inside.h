/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_INSIDE_H
#define LAB_DECODE_INSIDE_H

#include "lab/decode/rules.h"
#include "lab/rank.h"

#define AT(type) uint64_t
#include "lab/decode/kernels/args.cu"

/* The inside of a decoder that is open, for the files of this folder. */

#define LAB_DECODE_KERNEL(upper, lower, threads) LAB_DECODE_##upper,
enum lab_decode_kernel { LAB_DECODE_KERNELS(LAB_DECODE_KERNEL) LAB_DECODE_KERNEL_COUNT };

/* A GPU, with its part of each layer and of the vocabulary. */
struct lab_decode_rank {
	struct lab_rank base;
	struct lab_decode_replica *replica;
	uint64_t layers; /* weights, a layer behind the other, and then those of words */
	uint64_t dense;	 /* a matrix, expanded */
	struct lab_decode_args args;
};

/* What is launched at once: all prompts, or a token of each sequence. */
enum lab_decode_work { LAB_DECODE_READING, LAB_DECODE_STEP, LAB_DECODE_WORK_COUNT };

/* A decoder, of one GPU or of several that share it. */
struct lab_decode_replica {
	struct lab_tries *tries;
	const struct lab_decode_request *request;
	const struct lab_decode_kind *kind;
	struct lab_decode_shape part; /* what each GPU has of the model */
	uint32_t slots, first_sequence;
	struct lab_decode_rank ranks[LAB_DECODE_GPUS_MAX];
	uint32_t rank_count;
	struct kwhy_collectives *group;			      /* NULL: one GPU */
	struct kwhy_gpu_graph *graphs[LAB_DECODE_WORK_COUNT]; /* NULL: calls */
	uint32_t kernel_count;				      /* launched on a GPU since it was set to 0 */
	uint32_t step_kernels;
	uint64_t weight_bytes; /* of a GPU */
};

struct lab_decode {
	struct lab_tries tries; /* of the call at hand */
	struct lab_decode_request request;
	struct lab_decode_replica replicas[LAB_DECODE_GPUS_MAX];
	uint32_t replica_count;
	bool is_prefilled, is_written;
};

static inline uint32_t lab_decode_round_up(uint32_t count, uint32_t step)
{
	return (count + step - 1) / step * step;
}

/* Bytes of weights, whose count is a multiple of 4. */
static inline uint64_t lab_decode_weight_bytes(const struct lab_decode_replica *replica, uint64_t count)
{
	return count / 4 * (replica->kind->weight_bits / 2);
}

/* --- pass.c --- */

void lab_decode_launch(const struct lab_decode_rank *rank, enum lab_decode_kernel kernel, uint32_t blocks,
	const struct lab_decode_call *call);

/* Each slot is at a position; has_first: with the next tokens behind the prompts, else with token 0. */
void lab_decode_issue_reset(struct lab_decode_replica *replica, uint32_t at, bool has_first);
/* The prompts of all slots; each: the tokens of one. */
void lab_decode_issue_prompts(struct lab_decode_replica *replica, uint32_t each);
/* By a graph where there is one. */
void lab_decode_issue(struct lab_decode_replica *replica, enum lab_decode_work work);
void lab_decode_capture(struct lab_decode_replica *replica);

void lab_decode_wait(const struct lab_decode_replica *replica); /* for all of its GPUs */

/* The same bytes to all GPUs; `address` is the first one's. */
void lab_decode_send(
	const struct lab_decode_replica *replica, uint64_t address, const void *from, size_t bytes);

/* Prompts of sequences `first` and on, of which there are `distinct` ones, to the first slots. */
struct lab_decode_prompts {
	uint32_t slots, each, first, distinct;
};

void lab_decode_send_prompts(
	const struct lab_decode_replica *replica, const struct lab_decode_prompts *prompts);
/* The decoder's own, to where those of others lay. */
void lab_decode_send_own_prompts(const struct lab_decode_replica *replica);

/* --- weights.c, memory.c --- */

void lab_decode_fill_weights(const struct lab_decode_rank *rank);
/* A GPU's memory, and the args of its kernels. */
void lab_decode_open_memory(struct lab_decode_rank *rank, uint32_t number);
uint64_t lab_decode_cache_bytes(const struct lab_decode_replica *replica, uint64_t tokens);

#endif
