/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/inside.h"
#include "lab/kernels.h"

#include <stdio.h>
#include <stdlib.h>

const char *const lab_decode_weights_names[LAB_DECODE_WEIGHTS_COUNT] = {
	"fp32", "tf32", "bf16", "fp16", "fp8", "int8", "int4", "fp16-2:4"};
const char *const lab_decode_launching_names[LAB_DECODE_LAUNCHING_COUNT] = {"calls", "graph"};

const struct lab_decode_kind lab_decode_kinds[LAB_DECODE_WEIGHTS_COUNT] = {
	[LAB_DECODE_FP32] = {32, LAB_FP32, LAB_FP32, UNPACKED, 0, 80, 1e-3},
	[LAB_DECODE_TF32] = {32, LAB_TF32, LAB_FP32, UNPACKED, 0, 80, 0.02},
	[LAB_DECODE_BF16] = {16, LAB_BF16, LAB_BF16, UNPACKED, 0, 80, 0.1},
	[LAB_DECODE_FP16] = {16, LAB_FP16, LAB_FP16, UNPACKED, 0, 80, 0.02},
	[LAB_DECODE_FP8] = {8, LAB_FP8, LAB_FP16, UNPACKED, 448, 89, 0.3},
	[LAB_DECODE_INT8] = {8, LAB_INT8, LAB_FP16, UNPACKED, 127, 80, 0.1},
	[LAB_DECODE_INT4] = {4, LAB_BF16, LAB_BF16, FOUR_BITS, 7, 80, 0.8},
	[LAB_DECODE_SPARSE] = {8, LAB_FP16, LAB_FP16, TWO_OF_FOUR, 0, 80, 0.1},
};

/* --- Checks of the request --- */

static enum kwhy_status check_sharing(const struct lab_decode_request *request, struct kwhy_error *error)
{
	const struct lab_decode_shape *shape = request->shape;

	if (request->batch % request->dp)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%u sequences cannot be divided among %u decoders; take another batch",
			request->batch, request->dp);
	if (shape->heads % request->tp || shape->inner / request->tp % 16)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the %u heads of %s cannot be divided among %u GPUs", shape->heads, shape->name,
			request->tp);
	if (request->tp > 1 && request->launching == LAB_DECODE_GRAPH)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"GPUs that share a decoder are given their work by calls; take --launch calls");
	return KWHY_OK;
}

static enum kwhy_status check_gpus(const struct lab_decode_request *request, struct kwhy_error *error)
{
	const struct lab_decode_kind *kind = &lab_decode_kinds[request->weights];

	for (uint32_t i = 0; i < request->tp * request->dp; i++) {
		const struct kwhy_gpu_facts *facts = &request->gpus[i]->facts;

		if (facts->architecture && facts->architecture < kind->architecture)
			return kwhy_fail(error, KWHY_E_UNSUPPORTED,
				"%s has no tensor instructions for %s; they want compute capability %d.%d",
				facts->name, lab_decode_weights_names[request->weights],
				kind->architecture / 10, kind->architecture % 10);
	}
	return KWHY_OK;
}

/* --- A replica --- */

/* Opens a GPU. Its kernels are compiled for the number types of the request's kind of weights. */
static void open_rank(struct lab_decode_replica *replica, struct kwhy_gpu *gpu)
{
	struct lab_decode_rank *rank = &replica->ranks[replica->rank_count++];
	const struct lab_decode_kind *kind = replica->kind;
	char act[24], kept[24], packing[24];
	const char *const options[] = {act, kept, packing, NULL};
	const struct kwhy_gpu_source source = {.title = "decode.cu",
		.text = kwhy_kernels_decode,
		.options = options,
		.on_host = lab_decode_host_kernels};

	snprintf(act, sizeof(act), "-DACT_TYPE=%d", (int)kind->factors);
	snprintf(kept, sizeof(kept), "-DKEPT_TYPE=%d", (int)kind->kept);
	snprintf(packing, sizeof(packing), "-DPACKING_TYPE=%u", kind->packing);
	rank->replica = replica;
	lab_rank_open(&rank->base, replica->tries, gpu, &source);
	TRY(replica->tries, lab_blaslt_open, gpu, rank->base.stream, &rank->base.blaslt);
}

static void open_replica(struct lab_decode *decode, uint32_t number)
{
	const struct lab_decode_request *request = &decode->request;
	struct lab_decode_replica *replica = &decode->replicas[decode->replica_count++];
	struct kwhy_collectives_member members[LAB_DECODE_GPUS_MAX];

	replica->tries = &decode->tries;
	replica->request = request;
	replica->kind = &lab_decode_kinds[request->weights];
	replica->part = *request->shape;
	replica->part.heads /= request->tp;
	replica->part.inner /= request->tp;
	replica->slots = request->batch / request->dp;
	replica->first_sequence = number * replica->slots;
	for (uint32_t i = 0; !decode->tries.status && i < request->tp; i++) {
		open_rank(replica, request->gpus[number * request->tp + i]);
		members[i] = (struct kwhy_collectives_member){
			replica->ranks[i].base.gpu, replica->ranks[i].base.stream};
	}
	TRY(&decode->tries, lab_group_open, members, request->tp, &replica->group);
	for (uint32_t i = 0; !decode->tries.status && i < request->tp; i++) {
		lab_decode_open_memory(&replica->ranks[i], i);
		lab_decode_fill_weights(&replica->ranks[i]);
	}
	if (!decode->tries.status) {
		lab_decode_send_own_prompts(replica);
		lab_decode_capture(replica);
	}
}

static void close_replica(struct lab_decode_replica *replica)
{
	struct kwhy_gpu *gpu = replica->ranks[0].base.gpu;

	for (uint32_t i = 0; i < replica->rank_count; i++)
		lab_rank_settle(&replica->ranks[i].base);
	if (replica->group)
		replica->group->ops->free(replica->group);
	for (int work = 0; work < LAB_DECODE_WORK_COUNT; work++)
		if (replica->graphs[work])
			gpu->ops->graph_free(gpu, replica->graphs[work]);
	for (uint32_t i = 0; i < replica->rank_count; i++)
		lab_rank_close(&replica->ranks[i].base);
}

/* --- A decoder --- */

enum kwhy_status lab_decode_open(
	const struct lab_decode_request *request, struct lab_decode **out, struct kwhy_error *error)
{
	struct lab_decode *decode = calloc(1, sizeof(*decode));
	enum kwhy_status status;

	if (!decode)
		return kwhy_fail_memory(error, "a decoder");
	decode->request = *request;
	decode->request.tp += !request->tp;
	decode->request.dp += !request->dp;
	decode->tries.error = error;
	TRY(&decode->tries, check_sharing, &decode->request);
	TRY(&decode->tries, check_gpus, &decode->request);
	for (uint32_t i = 0; !decode->tries.status && i < decode->request.dp; i++)
		open_replica(decode, i);
	status = decode->tries.status;
	if (status)
		lab_decode_close(decode);
	else
		*out = decode;
	return status;
}

void lab_decode_close(struct lab_decode *decode)
{
	for (uint32_t i = 0; decode && i < decode->replica_count; i++)
		close_replica(&decode->replicas[i]);
	free(decode);
}

void lab_decode_facts(const struct lab_decode *decode, struct lab_decode_facts *out)
{
	const struct lab_decode_request *request = &decode->request;
	const struct lab_decode_replica *first = &decode->replicas[0];
	uint64_t gpus = (uint64_t)request->tp * request->dp, token_bytes = lab_decode_cache_bytes(first, 1);

	*out = (struct lab_decode_facts){.weights = lab_decode_weights_names[request->weights],
		.launching = lab_decode_launching_names[request->launching],
		.batch = request->batch,
		.tp = request->tp,
		.dp = request->dp,
		.products = lab_blaslt_name(first->ranks[0].base.blaslt),
		.gathers = first->group ? first->group->ops->name : NULL,
		.kernels = first->step_kernels,
		.weight_bytes = first->weight_bytes * gpus,
		.cache_bytes = token_bytes * first->slots * first->ranks[0].args.positions * gpus,
		.token_bytes = token_bytes * request->tp};
}
