/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/rank.h"

void lab_rank_open(struct lab_rank *rank, struct lab_tries *tries, struct kwhy_gpu *gpu,
	const struct kwhy_gpu_source *source)
{
	rank->tries = tries;
	rank->gpu = gpu;
	lab_rank_enter(rank);
	TRY(tries, gpu->ops->stream_new, gpu, &rank->stream);
	TRY(tries, gpu->ops->module_new, gpu, source, &rank->module);
	for (size_t k = 0; source->on_host[k].name; k++)
		TRY(tries, gpu->ops->kernel_find, gpu, rank->module, source->on_host[k].name,
			&rank->kernels[k]);
}

void lab_rank_fill(const struct lab_rank *rank, uint64_t bytes, uint8_t value, uint64_t *out)
{
	lab_rank_enter(rank);
	TRY(rank->tries, rank->gpu->ops->memory_new, rank->gpu, bytes, out);
	TRY(rank->tries, rank->gpu->ops->fill, rank->gpu, rank->stream, *out, value, bytes);
	lab_rank_wait(rank);
}

void lab_rank_enter(const struct lab_rank *rank)
{
	TRY(rank->tries, rank->gpu->ops->enter, rank->gpu);
}

void lab_rank_launch(const struct lab_rank *rank, const struct lab_rank_launch *launch)
{
	void *arguments[] = {(void *)(uintptr_t)launch->args, (void *)(uintptr_t)launch->call};
	const struct kwhy_gpu_launch call = {.kernel = rank->kernels[launch->kernel],
		.blocks = launch->blocks,
		.threads_per_block = launch->threads,
		.arguments = arguments,
		.stream = rank->stream};

	lab_rank_enter(rank);
	TRY(rank->tries, rank->gpu->ops->launch, rank->gpu, &call);
}

void lab_rank_copy(const struct lab_rank *rank, uint64_t to, uint64_t from, size_t bytes)
{
	const struct kwhy_gpu_copy copy = {to, from, bytes};

	lab_rank_enter(rank);
	TRY(rank->tries, rank->gpu->ops->copy_now, rank->gpu, &copy);
}

void lab_rank_wait(const struct lab_rank *rank)
{
	lab_rank_enter(rank);
	TRY(rank->tries, rank->gpu->ops->synchronize, rank->gpu, rank->stream);
}

void lab_rank_settle(const struct lab_rank *rank)
{
	struct kwhy_error ignored;

	if (rank->stream && !rank->gpu->ops->enter(rank->gpu, &ignored))
		(void)rank->gpu->ops->synchronize(rank->gpu, rank->stream, &ignored);
}

void lab_rank_close(const struct lab_rank *rank)
{
	const struct kwhy_gpu_ops *ops = rank->gpu->ops;
	struct kwhy_error ignored;

	(void)ops->enter(rank->gpu, &ignored);
	lab_blaslt_close(rank->blaslt);
	ops->memory_free(rank->gpu, rank->memory);
	ops->stream_free(rank->gpu, rank->stream);
	ops->module_free(rank->gpu, rank->module);
}

enum kwhy_status lab_group_open(const struct kwhy_collectives_member *members, uint32_t count,
	struct kwhy_collectives **out, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (count == 1)
		return KWHY_OK;
	status = kwhy_collectives_nccl_new(members, count, out, error);
	return status == KWHY_E_UNSUPPORTED ? kwhy_collectives_own_new(members, count, out, error) : status;
}
