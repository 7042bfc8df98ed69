/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/decode/inside.h"
#include "lab/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const lab_decode_launching_names[LAB_DECODE_LAUNCHING_COUNT] = {"calls", "graph"};

#define X(NAME, name, bytes, call) "lab_decode_" #name,
static const char *const kernel_names[LAB_DECODE_KERNEL_COUNT] = {
#include "lab/decode/kernels.def"
#include "lab/next.h"
};
#undef X

/* --- What is asked for --- */

static enum kwhy_status check_counts(const struct lab_decode_request *request, struct kwhy_error *error)
{
	const struct lab_decode_shape *shape = request->shape;

	if (request->batch < 1 || request->batch > LAB_DECODE_BATCH_MOST)
		return kwhy_fail(error, KWHY_E_INPUT, "decode: a batch of %u; there may be 1 to %d sequences",
			request->batch, (int)LAB_DECODE_BATCH_MOST);
	if (request->prompt < 2 || request->tokens < 2 ||
		request->prompt + request->tokens > shape->positions)
		return kwhy_fail(error, KWHY_E_INPUT,
			"decode: %u tokens behind a prompt of %u; each is at least 2, and %s knows %u "
			"positions",
			request->tokens, request->prompt, shape->name, shape->positions);
	if (request->tp > LAB_DECODE_GPUS_MOST || request->dp > LAB_DECODE_GPUS_MOST)
		return kwhy_fail(error, KWHY_E_INPUT, "decode: %u GPUs share %u decoders; there may be %d",
			request->tp, request->dp, (int)LAB_DECODE_GPUS_MOST);
	return KWHY_OK;
}

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
				facts->name, kind->name, kind->architecture / 10, kind->architecture % 10);
	}
	return KWHY_OK;
}

/* --- A replica --- */

static enum kwhy_status open_kernels(
	const struct lab_decode_replica *replica, struct lab_decode_rank *rank, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = rank->gpu;
	char kind[16];
	const char *const options[] = {kind, NULL};
	const struct kwhy_gpu_source source = {.title = "decode.cu",
		.text = kwhy_kernels_decode,
		.options = options,
		.on_host = lab_decode_host_kernels};
	enum kwhy_status status;

	snprintf(kind, sizeof(kind), "-DKIND=%d", (int)replica->request->weights);
	status = gpu->ops->module_new(gpu, &source, &rank->module, error);
	for (size_t k = 0; !status && k < LAB_DECODE_KERNEL_COUNT; k++)
		status = gpu->ops->kernel_find(gpu, rank->module, kernel_names[k], &rank->kernels[k], error);
	return status;
}

static enum kwhy_status open_ranks(struct lab_decode_replica *replica, struct kwhy_gpu *const *gpus,
	uint32_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < count; i++) {
		struct lab_decode_rank *rank = &replica->ranks[i];

		rank->gpu = gpus[i];
		replica->rank_count = i + 1;
		status = lab_decode_enter(replica, i, error);
		NEXT(status, rank->gpu->ops->stream_new(rank->gpu, &rank->stream, error));
		NEXT(status, open_kernels(replica, rank, error));
		NEXT(status, lab_blaslt_open(rank->gpu, rank->stream, &rank->blaslt, error));
	}
	return status;
}

/* By NCCL where it is found. */
static enum kwhy_status open_group(struct lab_decode_replica *replica, struct kwhy_error *error)
{
	struct kwhy_collectives_member members[LAB_DECODE_GPUS_MOST];
	enum kwhy_status status;

	if (replica->rank_count == 1)
		return KWHY_OK;
	for (uint32_t i = 0; i < replica->rank_count; i++)
		members[i] = (struct kwhy_collectives_member){
			replica->ranks[i].gpu, replica->ranks[i].stream};
	status = kwhy_collectives_nccl_new(members, replica->rank_count, &replica->group, error);
	return status == KWHY_E_UNSUPPORTED
		? kwhy_collectives_own_new(members, replica->rank_count, &replica->group, error)
		: status;
}

static enum kwhy_status open_replica(struct lab_decode *decode, struct lab_decode_replica *replica,
	uint32_t number, struct kwhy_error *error)
{
	const struct lab_decode_request *request = &decode->request;
	enum kwhy_status status;

	replica->request = request;
	replica->kind = &lab_decode_kinds[request->weights];
	replica->part = *request->shape;
	replica->part.heads /= request->tp;
	replica->part.inner /= request->tp;
	replica->slots = request->batch / request->dp;
	replica->first_sequence = number * replica->slots;
	status = open_ranks(replica, request->gpus + number * request->tp, request->tp, error);
	NEXT(status, lab_decode_memory_open(replica, error));
	NEXT(status, open_group(replica, error));
	NEXT(status, lab_decode_weights_fill(replica, error));
	NEXT(status, lab_decode_send_prompts(replica, error));
	return status ? status : lab_decode_capture(replica, error);
}

/* What is still queued, after a failure, must not find its memory gone. */
static void close_replica(struct lab_decode_replica *replica)
{
	struct kwhy_error ignored;

	for (uint32_t i = 0; i < replica->rank_count; i++)
		if (replica->ranks[i].stream && !lab_decode_enter(replica, i, &ignored))
			(void)replica->ranks[i].gpu->ops->synchronize(
				replica->ranks[i].gpu, replica->ranks[i].stream, &ignored);
	if (replica->group)
		replica->group->ops->free(replica->group);
	for (uint32_t i = 0; i < replica->rank_count; i++) {
		struct lab_decode_rank *rank = &replica->ranks[i];
		const struct kwhy_gpu_ops *ops = rank->gpu->ops;

		if (lab_decode_enter(replica, i, &ignored))
			continue;
		if (i == 0 && replica->step)
			ops->graph_free(rank->gpu, replica->step);
		if (i == 0 && replica->reading)
			ops->graph_free(rank->gpu, replica->reading);
		lab_blaslt_close(rank->blaslt);
		ops->memory_free(rank->gpu, rank->memory);
		ops->stream_free(rank->gpu, rank->stream);
		ops->module_free(rank->gpu, rank->module);
	}
}

/* --- A decoder --- */

enum kwhy_status lab_decode_open(
	const struct lab_decode_request *request, struct lab_decode **out, struct kwhy_error *error)
{
	struct lab_decode *decode;
	enum kwhy_status status = check_counts(request, error);

	if (status)
		return status;
	decode = calloc(1, sizeof(*decode));
	if (!decode)
		return kwhy_fail_memory(error, "a decoder");
	decode->request = *request;
	decode->request.tp += !request->tp;
	decode->request.dp += !request->dp;
	status = check_sharing(&decode->request, error);
	NEXT(status, check_gpus(&decode->request, error));
	while (!status && decode->replica_count < decode->request.dp) {
		struct lab_decode_replica *replica = &decode->replicas[decode->replica_count++];

		status = open_replica(decode, replica, decode->replica_count - 1, error);
	}
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
	const struct lab_decode_replica *first = &decode->replicas[0];
	uint64_t gpus = (uint64_t)decode->request.tp * decode->request.dp;

	*out = (struct lab_decode_facts){.products = lab_blaslt_name(first->ranks[0].blaslt),
		.gathers = first->group ? first->group->ops->name : NULL,
		.kernels = first->step_kernels,
		.weight_bytes = first->weight_bytes * gpus,
		.cache_bytes = lab_decode_cache_bytes(
				       first, (uint64_t)first->slots * first->ranks[0].args.positions) *
			gpus,
		.token_bytes = lab_decode_cache_bytes(first, 1) * decode->request.tp};
}
