/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/train.h"

#include <string.h>

#define QUEUED .type = LAB_BF16, .batches = LAB_TRAIN_PREFETCHED, .queued = true

const struct lab_train_variant lab_train_variants[] = {
	{.id = "plain",
		.title = "a plain loop in fp32",
		.change = "batches from pageable memory, AdamW in four passes, the loss read in every step"},
	{.id = "tf32",
		.title = "products in tf32",
		.after = "plain",
		.change = "factors are rounded to tf32 in the products",
		.type = LAB_TF32},
	{.id = "bf16",
		.title = "mixed precision",
		.after = "plain",
		.change = "products of bf16; weights, sums and moments stay fp32",
		.type = LAB_BF16},
	{.id = "fp16",
		.title = "mixed precision in fp16",
		.after = "plain",
		.change = "products of fp16, with errors times 1024; weights, sums and moments stay fp32",
		.type = LAB_FP16},
	{.id = "pinned",
		.title = "page-locked batches",
		.after = "bf16",
		.change = "batches lie in page-locked memory, and their copies are not waited for",
		.type = LAB_BF16,
		.batches = LAB_TRAIN_PINNED},
	{.id = "prefetch",
		.title = "the next batch early",
		.after = "pinned",
		.change = "the next batch is copied during the step, by a stream of its own",
		.type = LAB_BF16,
		.batches = LAB_TRAIN_PREFETCHED},
	{.id = "queued",
		.title = "losses read at the end",
		.after = "prefetch",
		.change = "losses stay on the GPU until the run's end",
		QUEUED},
	{.id = "fused",
		.title = "AdamW in one pass",
		.after = "queued",
		.change = "one kernel for all of AdamW instead of five",
		QUEUED,
		.fused = true},
	{.id = "graph",
		.title = "a graph a step",
		.after = "fused",
		.change = "one launch of a graph a step",
		QUEUED,
		.fused = true,
		.graph = true},
	{.id = "checkpoint",
		.title = "checkpointing",
		.after = "graph",
		.change = "activations are kept at every n-th layer; the others are computed twice",
		QUEUED,
		.fused = true,
		.graph = true,
		.recompute = true},
	{.id = "accumulate",
		.title = "micro-batches",
		.after = "graph",
		.change = "a batch in parts, whose gradients are added up",
		QUEUED,
		.fused = true,
		.graph = true,
		.parts = true},
	{.id = "parallel",
		.title = "data parallel",
		.after = "fused",
		.change = "a share of the batch for each GPU; gradients are added up over GPUs",
		QUEUED,
		.fused = true,
		.parallel = true},
};

const size_t lab_train_variant_count = sizeof(lab_train_variants) / sizeof(lab_train_variants[0]);

const struct lab_train_variant *lab_train_variant_find(const char *id)
{
	for (size_t i = 0; i < lab_train_variant_count; i++)
		if (strcmp(lab_train_variants[i].id, id) == 0)
			return &lab_train_variants[i];
	return NULL;
}
