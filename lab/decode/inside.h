/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_LAB_DECODE_INSIDE_H
#define KWHY_LAB_DECODE_INSIDE_H

#include "lab/decode/device.h"
#include "lab/decode/run.h"

struct kwhy_decode_library; /* decode_library.h */

/* The inside of a decoder that is open, for the files of this folder. */

enum {
	KWHY_DECODE_CROWD = 64,	     /* tokens that clusters of blocks take */
	KWHY_DECODE_SOME_MOST = 128, /* tokens that are some, and not yet many */
	KWHY_DECODE_SPLITS_MOST = 8, /* of a wide product's columns */
	KWHY_DECODE_PRODUCTS_BYTES = 256
};

enum kwhy_decode_kernel {
	KWHY_DECODE_FILL,
	KWHY_DECODE_FILL_FLOATS,
	KWHY_DECODE_PLAIN,
	KWHY_DECODE_PLAIN_FLOATS,
	KWHY_DECODE_RESET,
	KWHY_DECODE_BEGIN,
	KWHY_DECODE_ATTEND,
	KWHY_DECODE_RECALL,
	KWHY_DECODE_READ,
	KWHY_DECODE_NORMALISE,
	KWHY_DECODE_THIN, /* and the three behind it, in the order of matrices */
	KWHY_DECODE_THIN_HEAD = KWHY_DECODE_THIN + KWHY_DECODE_MATRICES,
	KWHY_DECODE_JOINT_ATTEND,
	KWHY_DECODE_JOINT_INNER,
	KWHY_DECODE_JOINT_HEAD,
	KWHY_DECODE_CROWD_ATTEND,
	KWHY_DECODE_CROWD_INNER,
	KWHY_DECODE_CROWD_END,
	KWHY_DECODE_CROWD_HEAD,
	KWHY_DECODE_WHOLE,
	KWHY_DECODE_SETTLE,
	KWHY_DECODE_WIDE32,
	KWHY_DECODE_WIDE64,
	KWHY_DECODE_SOME,
	KWHY_DECODE_FOLD_SUMS,
	KWHY_DECODE_FOLD_BEGIN,
	KWHY_DECODE_FOLD, /* and the three behind it, in the order of matrices */
	KWHY_DECODE_PICK = KWHY_DECODE_FOLD + KWHY_DECODE_MATRICES,
	KWHY_DECODE_CHOOSE,
	KWHY_DECODE_BEAM_RANK,
	KWHY_DECODE_BEAM_CHOOSE,
	KWHY_DECODE_KERNEL_COUNT
};

/* A further GPU that has a part of each layer. */
struct kwhy_decode_peer {
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KWHY_DECODE_KERNEL_COUNT];
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_graph *graph, *reading;
	uint64_t memory; /* laid out as the first one's */
};

struct kwhy_decode {
	struct kwhy_decode_request request;    /* its shape is `part` */
	const struct kwhy_decode_shape *whole; /* the model */
	struct kwhy_decode_shape part;	       /* what each GPU has of it; of one GPU the same */
	struct kwhy_decode_peer peers[KWHY_DECODE_RANKS_MOST - 1];
	struct kwhy_gpu *gpu;
	struct kwhy_gpu_module *module;
	const struct kwhy_gpu_kernel *kernels[KWHY_DECODE_KERNEL_COUNT];
	struct kwhy_gpu_stream *stream;
	struct kwhy_gpu_graph *graph;		   /* of a step */
	struct kwhy_gpu_graph *reading;		   /* of the prompts */
	struct kwhy_decode_library *library;	   /* NULL: own kernels make all products */
	char products[KWHY_DECODE_PRODUCTS_BYTES]; /* the library, or why there is none */
	uint64_t memory, bytes, weight_bytes;	   /* of one GPU */
	uint64_t first;	 /* uint64 [slots] on the device: what was likeliest behind the prompts */
	uint64_t logits; /* float [slots][vocabulary] on the device */
	struct kwhy_decode_args args;
	uint32_t whole_blocks;
	uint32_t kernel_count;	 /* launched since it was set to 0 */
	uint32_t recorded;	 /* the GPU that alone is launched on, and 1; 0: all are */
	uint32_t step_kernels;	 /* of one token's launches */
	uint64_t part_tokens;	 /* tokens times splits that parts have room for */
	uint32_t *prompts;	 /* [slots][prompt] */
	uint64_t *times, *bests; /* [room]; [slots] */
	bool is_prefilled;
	bool is_raw;		      /* a library makes queries, keys and values of x as it is */
	bool is_recorded;	      /* graphs are those of tokens that are written, where graphs are used */
	uint32_t *pages, *free_pages; /* [slots][pages_each]; NULL: keys and values have no pages */
	uint32_t free_count, pages_used, pages_most;
	bool is_table_new; /* the device has an older one */
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

/* Kernels for the decoder's part of the model. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_open_kernels(const struct kwhy_decode *decode,
	struct kwhy_gpu *gpu, struct kwhy_gpu_module **out,
	const struct kwhy_gpu_kernel *out_kernels[KWHY_DECODE_KERNEL_COUNT], struct kwhy_error *error);

/* --- Pages of keys and values, paged.c; without them nothing happens --- */

uint32_t kwhy_decode_pages_each(const struct kwhy_decode_request *request, uint32_t room);
KWHY_MUST_USE enum kwhy_status kwhy_decode_page_check(
	const struct kwhy_decode_request *request, struct kwhy_error *error);

/* All slots have all their pages at first. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_pages_open(struct kwhy_decode *decode, struct kwhy_error *error);
void kwhy_decode_pages_close(struct kwhy_decode *decode);
KWHY_MUST_USE enum kwhy_status kwhy_decode_pages_give_all(
	struct kwhy_decode *decode, struct kwhy_error *error);

/* Until they are sent the device knows nothing of it: all slots have none; one gets those up to a position;
 * one gives its back. */
void kwhy_decode_pages_take_all(struct kwhy_decode *decode);
void kwhy_decode_pages_give(struct kwhy_decode *decode, uint32_t slot, uint32_t position);
void kwhy_decode_pages_take(struct kwhy_decode *decode, uint32_t slot);
KWHY_MUST_USE enum kwhy_status kwhy_decode_pages_send(struct kwhy_decode *decode, struct kwhy_error *error);

/* --- Weights, fill.c --- */

/* On all GPUs, where their memory is. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_weights_fill(struct kwhy_decode *decode, struct kwhy_error *error);

/* --- Beams, beam.c; without them nothing happens --- */

KWHY_MUST_USE enum kwhy_status kwhy_decode_beam_check_request(
	const struct kwhy_decode_request *request, struct kwhy_error *error);
bool kwhy_decode_has_beams(const struct kwhy_decode *decode); /* it was asked for them */

/* Slots that read a prompt: of a sequence one alone. */
uint32_t kwhy_decode_readers(const struct kwhy_decode *decode);

/* Behind a pass, where beams go on. */
void kwhy_decode_issue_beams(struct kwhy_decode_issue *issue);

/* --- On several GPUs, tp.c; of one they do nothing more --- */

void kwhy_decode_part_of(
	const struct kwhy_decode_shape *whole, uint32_t ranks, struct kwhy_decode_shape *out);
KWHY_MUST_USE enum kwhy_status kwhy_decode_part_check(
	const struct kwhy_decode_request *request, struct kwhy_error *error);

/* After the first GPU's memory is there. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_peers_open(struct kwhy_decode *decode, struct kwhy_error *error);
/* After all weights are there: what is launched for the first time is launched while nobody waits. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_peers_begin(struct kwhy_decode *decode, struct kwhy_error *error);
void kwhy_decode_peers_close(struct kwhy_decode *decode);

/* The args and addresses of a GPU. */
struct kwhy_decode_args kwhy_decode_args_of(const struct kwhy_decode *decode, uint32_t rank);
uint32_t kwhy_decode_words_most(const struct kwhy_decode *decode); /* words of a GPU */
uint64_t kwhy_decode_address_on(const struct kwhy_decode *decode, uint32_t rank, uint64_t address);

/* In that GPU's stream; its kernel and stream are set. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_launch_on(const struct kwhy_decode *decode, uint32_t rank,
	enum kwhy_decode_kernel kernel, const struct kwhy_gpu_launch *launch, struct kwhy_error *error);

KWHY_MUST_USE enum kwhy_status kwhy_decode_synchronize(
	const struct kwhy_decode *decode, struct kwhy_error *error);

/* What the first GPU does, on all others: a copy to its memory. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_peers_copy(
	const struct kwhy_decode *decode, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error);

/* Records what `work` launches as the graph of a step or of reading the prompts, on all GPUs. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_record(struct kwhy_decode *decode, bool is_reading,
	void (*work)(struct kwhy_decode_issue *issue), struct kwhy_error *error);
void kwhy_decode_peers_forget_graphs(struct kwhy_decode *decode);

/* On all GPUs. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_launch_graphs(
	struct kwhy_decode *decode, bool is_reading, struct kwhy_error *error);

/* --- More single tokens than few, folded.c --- */

/* As many blocks as the GPU has multiprocessors; the host has none to count. */
uint32_t kwhy_decode_place_count(const struct kwhy_decode *decode);
uint32_t kwhy_decode_group_count(uint32_t tokens); /* of 64 */

/* Of a number of a key or a value. */
uint32_t kwhy_decode_kept_bytes(const struct kwhy_decode_request *request);

/* Whether a warp attends for a head of a token. */
bool kwhy_decode_is_recalled(const struct kwhy_decode *decode);
void kwhy_decode_issue_recall(struct kwhy_decode_issue *issue, uint32_t layer, bool is_joined);

/* Whether sums of rows are known, so that products may take x as it is. */
bool kwhy_decode_has_sums(const struct kwhy_decode *decode);

/* Whether so many single tokens are normalised inside of own products. */
bool kwhy_decode_folds(const struct kwhy_decode *decode, uint32_t tokens);
void kwhy_decode_issue_folded(struct kwhy_decode_issue *issue); /* all layers */

/* All kernels of a pass through the layers, of args.tokens tokens. */
void kwhy_decode_issue_pass(struct kwhy_decode_issue *issue);

/* --- Tokens by clusters of blocks, few or a crowd, joint.c --- */

/* Two kernels a layer, as kernels/decode/clusters.cu has them. */
bool kwhy_decode_is_joint(const struct kwhy_decode *decode);
/* Slots that the kernels are compiled for; 0: of any number. */
uint32_t kwhy_decode_known_slots(const struct kwhy_decode *decode);
/* All kernels of a pass but the first. */
void kwhy_decode_issue_joint(struct kwhy_decode_issue *issue);
/* The same of more single tokens than few, as kernels/decode/crowds.cu has them. */
bool kwhy_decode_is_crowd(const struct kwhy_decode *decode);
void kwhy_decode_issue_crowd(struct kwhy_decode_issue *issue);

/* Every slot comes to position `at`, with the best of `first` next; 0: with none. */
void kwhy_decode_issue_reset(struct kwhy_decode_issue *issue, uint32_t at, uint64_t first);

/* `steps` tokens as the decoder launches them. */
void kwhy_decode_issue_steps(struct kwhy_decode_issue *issue, uint32_t steps);

/* Whether tokens are drawn, as the request says, or are the likeliest; and whether logits are left. */
void kwhy_decode_set_choice(struct kwhy_decode *decode, bool is_drawn, bool has_logits);

/* Prompts of `each` tokens, of all slots, from their beginning. */
void kwhy_decode_issue_prompts(struct kwhy_decode_issue *issue, uint32_t each);

/* Record the graphs of a step and of reading the prompts anew, where graphs are used. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_capture(struct kwhy_decode *decode, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_decode_capture_reading(
	struct kwhy_decode *decode, struct kwhy_error *error);
void kwhy_decode_forget_graphs(struct kwhy_decode *decode);

/* Copies between host and device, and waits. */
KWHY_MUST_USE enum kwhy_status kwhy_decode_copy(
	struct kwhy_decode *decode, uint64_t to, uint64_t from, size_t bytes, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_decode_await(struct kwhy_decode_issue *issue);

#endif
