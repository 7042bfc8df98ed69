/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the kernels of `decode` are given, by value, before other numbers. The host's program (device.h) has addresses as
 * numbers. An `act` is what a product takes: fp32, bf16, fp16, fp8 or int8; `kept` are keys and values: fp32, bf16 or fp16.
 */
#ifndef LAB_DECODE_ARGS
#define LAB_DECODE_ARGS

#ifndef AT
#define AT(type) type *
#endif

struct lab_decode_args {
	AT(const u8) words;	     /* weights [word_count * ranks][width] */
	AT(const float) word_scales; /* [word_count * ranks] */
	AT(const float) places;	     /* [positions][width] */
	AT(const float) scales;	     /* [layers][rows of a layer] */
	AT(const float) biases;	     /* [layers][rows of a layer] */
	AT(kept) keys;		     /* [layers][cache_slots][heads][positions][HEAD] */
	AT(kept) values;	     /* the same */
	AT(float) queries;	     /* [tokens][heads * HEAD] */
	AT(float) x;		     /* [tokens][width] */
	AT(act) acts;		     /* what the next product takes, [tokens][columns] */
	AT(float) act_scales;	     /* [tokens] */
	AT(float) last_scales;	     /* [slots], of what the last product takes */
	AT(float) sums;		     /* what a product has left, [tokens][rows]; of int8 they are int */
	AT(float) parts;	     /* [ranks][tokens][width] the same of all GPUs, scaled; 0: of one GPU */
	AT(float) logits;	     /* [slots][word_count], this GPU's; scaled by picking */
	AT(float) all_logits;	     /* [ranks][slots][word_count] */
	AT(u64) best;		     /* [slots] the next token: its logit's bits in order, then ~token */
	AT(u32) at;		     /* [slots] the position that a slot is at */
	AT(const u32) prompt;	     /* [slots][each] */
	AT(u32) chosen;		     /* [slots][positions] the token of every position */
	AT(u64) times;		     /* [positions] when the first slot came to a position, ns */
	u32 tokens, each;	     /* in hand; of a slot: 1, or of a whole prompt from position 0 on */
	u32 slots, cache_slots, positions;
	u32 vocabulary, word_count, first_word; /* of all; that this GPU multiplies with, from which on */
	u32 width, heads, inner, ranks;		/* heads and inner are this GPU's */
	u32 rank, kind;
	u32 top_k, seed; /* of choosing: the likeliest k, 0: all */
	float top_p, temperature;
};
#endif
