/* SPDX-License-Identifier: Apache-2.0 */
#ifndef LAB_DECODE_INSIDE_H
#define LAB_DECODE_INSIDE_H

#include "lab/decode/rules.h"
#include "lab/rank.h"

#define AT(type) uint64_t
#include "lab/decode/kernels/args.cu"

/* Internals of an open decoder, for the files of this folder. */

#define LAB_DECODE_KERNEL(upper, lower, threads) LAB_DECODE_##upper,
enum lab_decode_kernel { LAB_DECODE_KERNELS(LAB_DECODE_KERNEL) LAB_DECODE_KERNEL_COUNT };

/*
 * One GPU. It has an equal part of the heads and inner columns of each layer, and computes the logits of an
 * equal part of the vocabulary.
 */
struct lab_decode_rank {
	struct lab_rank base;
	struct lab_decode_replica *replica;
	/*
	 * address of the weights of all layers, one layer after the other, followed by the token vectors
	 */
	uint64_t layers;
	/*
	 * address of a buffer for one weight matrix, into which packed weights are expanded before its
	 * product
	 */
	uint64_t dense;
	struct lab_decode_args args;
};

/* Units of work: reading all prompts, or a step, which adds one token to each sequence. */
enum lab_decode_work { LAB_DECODE_READING, LAB_DECODE_STEP, LAB_DECODE_WORK_COUNT };

/* A decoder, on one GPU or shared by several. */
struct lab_decode_replica {
	struct lab_tries *tries;
	const struct lab_decode_request *request;
	const struct lab_decode_kind *kind;
	struct lab_decode_shape part; /* shape of the part of the model that each GPU has */
	uint32_t slots, first_sequence;
	struct lab_decode_rank ranks[LAB_DECODE_GPUS_MAX];
	uint32_t rank_count;
	struct kwhy_collectives *group;			      /* NULL: the decoder has one GPU */
	struct kwhy_gpu_graph *graphs[LAB_DECODE_WORK_COUNT]; /* NULL: kernels are launched by calls */
	/* number of kernels that each GPU was given since the last pass began */
	uint32_t kernel_count;
	uint32_t step_kernels;
	uint64_t weight_bytes; /* bytes of the weights of one GPU */
};

struct lab_decode {
	struct lab_tries tries; /* status of the current call */
	struct lab_decode_request request;
	struct lab_decode_replica replicas[LAB_DECODE_GPUS_MAX];
	uint32_t replica_count;
	bool is_prefilled, is_written;
};

static inline uint32_t lab_decode_round_up(uint32_t count, uint32_t step)
{
	return (count + step - 1) / step * step;
}

/* Bytes of `count` stored weights, without their scales; `count` is a multiple of 4. */
static inline uint64_t lab_decode_weight_bytes(const struct lab_decode_replica *replica, uint64_t count)
{
	return count / 4 * (replica->kind->weight_bits / 2);
}

/* --- pass.c --- */

void lab_decode_launch(const struct lab_decode_rank *rank, enum lab_decode_kernel kernel, uint32_t blocks,
	const struct lab_decode_call *call);

/*
 * Queues a reset of all slots (places in the batch): their position becomes `at`. With has_first, the next
 * token of a slot becomes the one that followed its prompt; otherwise it becomes token 0.
 */
void lab_decode_issue_reset(struct lab_decode_replica *replica, uint32_t at, bool has_first);
/* Queues the pass through all layers that reads the prompts of all slots, each of `each` tokens. */
void lab_decode_issue_prompts(struct lab_decode_replica *replica, uint32_t each);
/* Queues a unit of work, as a graph if there is one for it. */
void lab_decode_issue(struct lab_decode_replica *replica, enum lab_decode_work work);
void lab_decode_capture(struct lab_decode_replica *replica);

void lab_decode_wait(const struct lab_decode_replica *replica); /* waits for all GPUs of the decoder */

/*
 * Copies the same bytes from the host to every GPU of the decoder. `address`: the destination on the first
 * GPU; other GPUs have the same layout of memory.
 */
void lab_decode_send(
	const struct lab_decode_replica *replica, uint64_t address, const void *from, size_t bytes);

/*
 * Prompts for slots 0 to slots - 1. Each prompt has `each` tokens. Slot i gets the prompt of sequence
 * `first` + i % `distinct`.
 */
struct lab_decode_prompts {
	uint32_t slots, each, first, distinct;
};

void lab_decode_send_prompts(
	const struct lab_decode_replica *replica, const struct lab_decode_prompts *prompts);
/*
 * Sends the prompts of the request's sequences again, after a check or lab_decode_serve() sent other ones.
 */
void lab_decode_send_own_prompts(const struct lab_decode_replica *replica);

/* --- weights.c, memory.c --- */

void lab_decode_fill_weights(const struct lab_decode_rank *rank);
/* Allocates a GPU's memory and fills in the args of its kernels. */
void lab_decode_open_memory(struct lab_decode_rank *rank, uint32_t number);
uint64_t lab_decode_cache_bytes(const struct lab_decode_replica *replica, uint64_t tokens);

#endif
