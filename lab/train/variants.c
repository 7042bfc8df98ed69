/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/train/train.h"

#include <string.h>

#define BF16 .type = LAB_BF16
#define QUEUED BF16, .batches = LAB_TRAIN_PREFETCHED, .queued = true

const struct lab_train_variant lab_train_variants[] = {
	{"plain", "a plain loop in fp32", NULL,
		"batches from pageable memory, AdamW in four passes, the loss read in every step",
		.type = LAB_FP32},
	{"tf32", "products in tf32", "plain", "factors are rounded to tf32 in the products",
		.type = LAB_TF32},
	{"bf16", "mixed precision", "plain", "products of bf16; weights, sums and moments stay fp32", BF16},
	{"pinned", "page-locked batches", "bf16",
		"batches lie in page-locked memory, and their copies are not waited for", BF16,
		.batches = LAB_TRAIN_PINNED},
	{"prefetch", "the next batch early", "pinned",
		"the next batch is copied during the step, by a stream of its own", BF16,
		.batches = LAB_TRAIN_PREFETCHED},
	{"queued", "losses read at the end", "prefetch", "losses stay on the GPU until the run's end",
		QUEUED},
	{"fused", "AdamW in one pass", "queued", "one kernel for all of AdamW instead of five", QUEUED,
		.fused = true},
	{"graph", "a graph a step", "fused", "one launch of a graph a step", QUEUED, .fused = true,
		.graph = true},
	{"checkpoint", "checkpointing", "graph",
		"activations are kept at every n-th layer; the others are computed twice", QUEUED,
		.fused = true, .graph = true, .recompute = true},
	{"accumulate", "micro-batches", "graph", "a batch in parts, whose gradients are added up", QUEUED,
		.fused = true, .graph = true, .parts = true},
	{"parallel", "data parallel", "fused",
		"a share of the batch for each GPU; gradients are added up over GPUs", QUEUED, .fused = true,
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
