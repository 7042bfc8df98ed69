/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/kernels.h"
#include "lab/next.h"
#include "lab/parts.h"
#include "lab/twin/inside.h"

#include <stdlib.h>

static const char *const options[] = {"-fmad=false", NULL};

#define NAME(upper, lower) "lab_twin_" #lower,
static const char *const kernel_names[] = {LAB_TWIN_KERNELS(NAME)};

/* The parts of a field's memory, each at a multiple of 256 bytes; gives the bytes in all. */
static size_t lay_out(struct lab_twin_args *args, uint64_t start)
{
#define PART(type, name, count) {&args->name, (count) * sizeof(type)},
	const struct lab_part parts[] = {LAB_TWIN_PARTS(PART, (size_t)args->cells)};

	return lab_parts_place(parts, sizeof(parts) / sizeof(parts[0]), start);
}

static enum kwhy_status open_place(struct lab_twin *twin, struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	static const struct kwhy_gpu_source source = {.title = "twin.cu",
		.text = kwhy_kernels_twin,
		.options = options,
		.on_host = lab_twin_host_kernels};
	struct lab_twin_place *place = &twin->places[twin->place_count++];
	enum kwhy_status status;

	place->gpu = gpu;
	status = gpu->ops->enter(gpu, error);
	NEXT(status, gpu->ops->module_new(gpu, &source, &place->module, error));
	for (size_t k = 0; !status && k < LAB_TWIN_KERNEL_COUNT; k++)
		status = gpu->ops->kernel_find(
			gpu, place->module, kernel_names[k], &place->kernels[k], error);
	return status ? status : gpu->ops->stream_new(gpu, &place->stream, error);
}

/* All memory is a pattern at first: what nothing wrote is seen. */
static enum kwhy_status open_field(
	struct lab_twin *twin, const struct lab_twin_place *place, struct kwhy_error *error)
{
	const struct lab_twin_variant *variant = twin->variant;
	struct kwhy_gpu *gpu = place->gpu;
	struct lab_twin_field *field = &twin->fields[twin->field_count];
	size_t bytes;
	enum kwhy_status status = gpu->ops->enter(gpu, error);

	field->place = place;
	field->args = (struct lab_twin_args){.cells = (variant->apart ? 1 : twin->shape.ranks) * CELLS,
		.first_cell = twin->field_count++ * CELLS,
		.doubled = variant->doubled,
		.has_edges = variant->apart || !variant->doubled,
		.scattered = variant->scattered,
		.steps = twin->shape.steps,
		.closed = twin->shape.closed};
	bytes = lay_out(&field->args, 0);
	NEXT(status, gpu->ops->memory_new(gpu, bytes, &field->memory, error));
	if (status)
		return status;
	lay_out(&field->args, field->memory);
	return gpu->ops->fill(gpu, place->stream, field->memory, POISON, bytes, error);
}

static enum kwhy_status open_fields(
	struct lab_twin *twin, const struct lab_twin_request *request, struct kwhy_error *error)
{
	uint32_t fields = request->variant->apart ? request->shape.ranks : 1,
		 places = fields < request->gpu_count ? fields : request->gpu_count;
	enum kwhy_status status = KWHY_OK;

	for (uint32_t i = 0; !status && i < places; i++)
		status = open_place(twin, request->gpus[i], error);
	for (uint32_t i = 0; !status && i < fields; i++)
		status = open_field(twin, &twin->places[i * places / fields], error);
	for (uint32_t i = 0; i < fields; i++)
		twin->fields[i].args.parts = fields;
	twin->stream = twin->places[0].stream;
	return status;
}

static enum kwhy_status open_group(struct lab_twin *twin, bool by_nccl, struct kwhy_error *error)
{
	struct kwhy_collectives_member members[KWHY_COLLECTIVES_MEMBERS_MOST];

	for (uint32_t i = 0; i < twin->field_count; i++)
		members[i] = (struct kwhy_collectives_member){
			twin->fields[i].place->gpu, twin->fields[i].place->stream};
	return by_nccl ? kwhy_collectives_nccl_new(members, twin->field_count, &twin->group, error)
		       : kwhy_collectives_own_new(members, twin->field_count, &twin->group, error);
}

static enum kwhy_status open_mail(struct lab_twin *twin, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = twin->gpu;
	struct lab_twin_args *args = &twin->fields[0].args;
	uint64_t mail;
	enum kwhy_status status = gpu->ops->host_new(gpu,
		twin->variant->pageable ? KWHY_GPU_HOST_PAGEABLE : KWHY_GPU_HOST_PINNED, sizeof(*twin->mail),
		gpu->facts.numa_node, &twin->mail_memory, error);

	if (status)
		return status;
	twin->mail = twin->mail_memory.memory;
	mail = twin->mail_memory.address;
	if (!twin->variant->mapped)
		return KWHY_OK;
	if (!mail)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s cannot reach the host's memory; leave %s out",
			gpu->facts.name, twin->variant->id);
	args->inbox = mail + offsetof(struct lab_twin_mail, controls);
	args->outbox = mail + offsetof(struct lab_twin_mail, outbox);
	args->flag = mail + offsetof(struct lab_twin_mail, flag);
	return KWHY_OK;
}

/* A step of kernels that look at the device's clock. */
static enum kwhy_status issue_step(void *context, struct kwhy_error *error)
{
	struct lab_twin *twin = context;
	const struct lab_twin_variant *variant = twin->variant;
	enum kwhy_status status = KWHY_OK;

	if (variant->send)
		status = variant->send(twin, BY_CLOCK, error);
	NEXT(status, variant->compute(twin, BY_CLOCK, error));
	if (!status && variant->fetch)
		status = variant->fetch(twin, BY_CLOCK, error);
	return status;
}

/* A step, to be launched again and again. */
static enum kwhy_status capture(struct lab_twin *twin, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = twin->gpu;
	enum kwhy_status status;

	if (!gpu->ops->capture_begin)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s records no graphs; leave %s out",
			gpu->facts.name, twin->variant->id);
	status = kwhy_gpu_capture(gpu, twin->stream, issue_step, twin, &twin->graph, error);
	twin->graph_tally = twin->tally;
	return status;
}

/* As many blocks as there are cells for, if they can all run at once, and one that folds what agents saw. */
static enum kwhy_status find_blocks(struct lab_twin *twin, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = twin->gpu;
	uint32_t wanted = twin->fields[0].args.cells / 1024, sms = gpu->facts.sm_count, resident;
	enum kwhy_status status = gpu->ops->resident_blocks(
		gpu, twin->places[0].kernels[LAB_TWIN_WHOLE], 1024, &resident, error);

	if (status)
		return status;
	if (sms && resident * sms < 2)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "%s holds too few blocks at once; leave %s out",
			gpu->facts.name, twin->variant->id);
	if (sms && wanted > resident * sms - 1)
		wanted = resident * sms - 1;
	twin->run_blocks = wanted + 1;
	return KWHY_OK;
}

static enum kwhy_status prepare(
	struct lab_twin *twin, const struct lab_twin_request *request, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = twin->gpu;
	enum kwhy_status status = open_fields(twin, request, error);

	NEXT(status, gpu->ops->enter(gpu, error));
	NEXT(status, open_mail(twin, error));
	NEXT(status, gpu->ops->event_new(gpu, false, &twin->fetched, error));
	NEXT(status, lab_gate_open(gpu, twin->stream, &twin->gate, error));
	NEXT(status, open_group(twin, request->by_nccl, error));
	if (!status && twin->variant->batched && !gpu->ops->copy_batch)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"the driver of %s takes no batches of copies; leave %s out", gpu->facts.name,
			twin->variant->id);
	if (!status && twin->variant->host == LAB_TWIN_GRAPHS)
		status = capture(twin, error);
	else if (!status && twin->variant->host == LAB_TWIN_DEVICE)
		status = find_blocks(twin, error);
	return status ? status : lab_twin_wait(twin, error);
}

/* What is still queued, after a failure, must not find its memory gone. */
static void await_places(const struct lab_twin *twin)
{
	struct kwhy_error ignored;

	for (uint32_t i = 0; i < twin->place_count; i++) {
		const struct lab_twin_place *place = &twin->places[i];

		if (place->stream && !place->gpu->ops->enter(place->gpu, &ignored))
			(void)place->gpu->ops->synchronize(place->gpu, place->stream, &ignored);
	}
}

static void close_places(struct lab_twin *twin)
{
	for (uint32_t i = 0; i < twin->field_count; i++) {
		struct kwhy_gpu *gpu = twin->fields[i].place->gpu;

		gpu->ops->memory_free(gpu, twin->fields[i].memory);
	}
	for (uint32_t i = 0; i < twin->place_count; i++) {
		struct lab_twin_place *place = &twin->places[i];

		place->gpu->ops->stream_free(place->gpu, place->stream);
		place->gpu->ops->module_free(place->gpu, place->module);
	}
}

void lab_twin_close(struct lab_twin *twin)
{
	struct kwhy_gpu *gpu;

	if (!twin)
		return;
	gpu = twin->gpu;
	await_places(twin);
	if (twin->group)
		twin->group->ops->free(twin->group);
	if (gpu->ops->graph_free)
		gpu->ops->graph_free(gpu, twin->graph);
	gpu->ops->event_free(gpu, twin->fetched);
	lab_gate_close(&twin->gate);
	if (twin->mail)
		gpu->ops->host_free(gpu, &twin->mail_memory);
	close_places(twin);
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
	status = prepare(twin, request, error);
	if (status)
		lab_twin_close(twin);
	else
		*out = twin;
	return status;
}
