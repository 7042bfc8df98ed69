/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/kernels.h"
#include "lab/parts.h"
#include "lab/twin/inside.h"

#include <stdlib.h>

/*
 * Sets the addresses of a field's arrays from `start` on, each at a multiple of 256 bytes. Returns their size
 * in bytes.
 */
static size_t lay_out(struct lab_twin_args *args, uint64_t start)
{
#define PART(type, name, count) {&args->name, (count) * sizeof(type)},
	const struct lab_part parts[] = {LAB_TWIN_PARTS(PART, (size_t)args->cells)};

	return lab_parts_place(parts, sizeof(parts) / sizeof(parts[0]), start);
}

static void open_place(struct lab_twin *twin, struct kwhy_gpu *gpu)
{
	static const char *const options[] = {"-fmad=false", NULL};
	static const struct kwhy_gpu_source source = {
		"twin.cu", kwhy_kernels_twin, options, lab_twin_host_kernels};

	lab_rank_open(&twin->places[twin->place_count++], &twin->tries, gpu, &source);
}

/*
 * Opens the next field of the ring on the GPU `place`. parts: number of fields. The field's memory is filled
 * with POISON, so that a kernel that reads what was never written gives wrong results.
 */
static void open_field(struct lab_twin *twin, const struct lab_rank *place, uint32_t parts)
{
	const struct lab_twin_variant *variant = twin->variant;
	struct lab_twin_field *field = &twin->fields[twin->field_count];

	field->place = place;
	field->args = (struct lab_twin_args){.cells = (variant->apart ? 1 : twin->shape.ranks) * CELLS,
		.first_cell = twin->field_count++ * CELLS,
		.doubled = variant->doubled,
		.has_edges = variant->apart || !variant->doubled,
		.scattered = variant->scattered,
		.steps = twin->shape.steps,
		.closed = twin->shape.closed,
		.parts = parts};
	lab_rank_fill(place, lay_out(&field->args, 0), POISON, &field->memory);
	lay_out(&field->args, field->memory);
}

static void open_fields(struct lab_twin *twin, const struct lab_twin_request *request)
{
	uint32_t fields = request->variant->apart ? request->shape.ranks : 1,
		 places = fields < request->gpu_count ? fields : request->gpu_count;

	for (uint32_t i = 0; i < places; i++)
		open_place(twin, request->gpus[i]);
	for (uint32_t i = 0; i < fields; i++)
		open_field(twin, &twin->places[i * places / fields], fields);
	twin->stream = twin->places[0].stream;
}

static void open_group(struct lab_twin *twin, bool by_nccl)
{
	struct kwhy_collectives_member members[KWHY_COLLECTIVES_MEMBERS_MAX];

	for (uint32_t i = 0; i < twin->field_count; i++)
		members[i] = (struct kwhy_collectives_member){
			twin->fields[i].place->gpu, twin->fields[i].place->stream};
	TRY(&twin->tries, (by_nccl ? kwhy_collectives_nccl_new : kwhy_collectives_own_new), members,
		twin->field_count, &twin->group);
}

/*
 * Fails because the GPU cannot run the variant. The message is the GPU's name, followed by `what` (the
 * reason, as "records no graphs") and the advice to leave the variant out.
 */
static enum kwhy_status refuse(const struct lab_twin *twin, const char *what, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s %s; leave %s out", twin->gpu->facts.name, what,
		twin->variant->id);
}

static void open_mail(struct lab_twin *twin)
{
	struct kwhy_gpu *gpu = twin->gpu;
	struct lab_twin_args *args = &twin->fields[0].args;
	enum kwhy_gpu_host_kind kind = twin->variant->pageable ? KWHY_GPU_HOST_PAGEABLE
							       : KWHY_GPU_HOST_PINNED;
	uint64_t mail;

	TRY(&twin->tries, gpu->ops->host_new, gpu, kind, sizeof(*twin->mail), gpu->facts.numa_node,
		&twin->mail_memory);
	twin->mail = twin->mail_memory.memory;
	mail = twin->mail_memory.address;
	if (!twin->variant->mapped)
		return;
	if (!mail)
		TRY(&twin->tries, refuse, twin, "cannot reach the host's memory");
	args->inbox = mail + offsetof(struct lab_twin_mail, controls);
	args->outbox = mail + offsetof(struct lab_twin_mail, outbox);
	args->flag = mail + offsetof(struct lab_twin_mail, flag);
}

/*
 * Queues a step that a graph can repeat: its kernels get BY_CLOCK as step, so they read the step's number
 * from device memory.
 */
static enum kwhy_status issue_step(void *context, struct kwhy_error *error)
{
	struct lab_twin *twin = context;

	(void)error; /* twin->tries keeps the error */
	if (twin->variant->send)
		twin->variant->send(twin, BY_CLOCK);
	twin->variant->compute(twin, BY_CLOCK);
	if (twin->variant->fetch)
		twin->variant->fetch(twin, BY_CLOCK);
	return twin->tries.status;
}

/* Captures a step as a graph. */
static void capture(struct lab_twin *twin)
{
	if (!twin->gpu->ops->capture_begin)
		TRY(&twin->tries, refuse, twin, "records no graphs");
	TRY(&twin->tries, kwhy_gpu_capture, twin->gpu, twin->stream, issue_step, twin, &twin->graph);
	twin->graph_tally = twin->tally;
}

/*
 * Number of blocks of a run in one launch: one for each 1024 cells, but no more than can be resident
 * together; a block then computes more cells.
 */
static void find_blocks(struct lab_twin *twin)
{
	struct kwhy_gpu *gpu = twin->gpu;
	uint32_t wanted = twin->fields[0].args.cells / 1024, most = 0;

	TRY(&twin->tries, gpu->ops->resident_blocks, gpu, twin->places[0].kernels[LAB_TWIN_WHOLE], 1024,
		&most);
	most = gpu->facts.sm_count ? most * gpu->facts.sm_count : wanted;
	if (!most)
		TRY(&twin->tries, refuse, twin, "holds too few concurrent blocks");
	twin->run_blocks = wanted < most ? wanted : most;
}

static void prepare(struct lab_twin *twin, const struct lab_twin_request *request)
{
	struct kwhy_gpu *gpu = twin->gpu;

	open_fields(twin, request);
	TRY(&twin->tries, gpu->ops->enter, gpu);
	open_mail(twin);
	TRY(&twin->tries, gpu->ops->event_new, gpu, false, &twin->fetched);
	TRY(&twin->tries, lab_gate_open, gpu, twin->stream, &twin->gate);
	open_group(twin, request->by_nccl);
	if (twin->variant->batched && !gpu->ops->copy_batch)
		TRY(&twin->tries, refuse, twin, "has a driver that takes no batches of copies");
	if (twin->variant->host == LAB_TWIN_GRAPHS)
		capture(twin);
	else if (twin->variant->host == LAB_TWIN_DEVICE)
		find_blocks(twin);
	lab_twin_wait(twin);
}

void lab_twin_close(struct lab_twin *twin)
{
	const struct kwhy_gpu_ops *ops;

	if (!twin)
		return;
	ops = twin->gpu->ops;
	for (uint32_t i = 0; i < twin->place_count; i++)
		lab_rank_settle(&twin->places[i]);
	if (twin->group)
		twin->group->ops->free(twin->group);
	if (ops->graph_free)
		ops->graph_free(twin->gpu, twin->graph);
	ops->event_free(twin->gpu, twin->fetched);
	lab_gate_close(&twin->gate);
	if (twin->mail)
		ops->host_free(twin->gpu, &twin->mail_memory);
	for (uint32_t i = 0; i < twin->field_count; i++)
		ops->memory_free(twin->fields[i].place->gpu, twin->fields[i].memory);
	for (uint32_t i = 0; i < twin->place_count; i++)
		lab_rank_close(&twin->places[i]);
	free(twin);
}

enum kwhy_status lab_twin_open(
	const struct lab_twin_request *request, struct lab_twin **out, struct kwhy_error *error)
{
	struct lab_twin *twin;
	enum kwhy_status status = lab_twin_shape_check(&request->shape, error);

	if (status)
		return status;
	twin = calloc(1, sizeof(*twin));
	if (!twin)
		return kwhy_fail_memory(error, "a run of twin");
	twin->variant = request->variant;
	twin->shape = request->shape;
	twin->gpu = request->gpus[0];
	twin->tries.error = error;
	prepare(twin, request);
	status = twin->tries.status;
	if (status)
		lab_twin_close(twin);
	else
		*out = twin;
	return status;
}
