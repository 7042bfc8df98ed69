/* SPDX-License-Identifier: Apache-2.0 */
#include "gpu/device.h"

#include "gpu/kernels.h"

#include <stdlib.h>

/*
 * A gate's state in page-locked host memory, where the waiting kernel reads it. opened: how often the gate
 * was opened; timed_out: number of the opening for which a kernel last gave up waiting.
 */
struct latch {
	_Atomic uint32_t opened, timed_out;
};

struct kwhy_gpu_gate {
	struct kwhy_gpu_host host; /* page-locked memory that holds a struct latch */
	/*
	 * number of the next opening, from 1: work behind gate_hold() waits until latch->opened has this
	 * value
	 */
	uint32_t opening;
};

static struct latch *latch_of(const struct kwhy_gpu_gate *gate)
{
	return gate->host.memory;
}

static enum kwhy_status load_kernel(struct kwhy_gpu *gpu, struct kwhy_error *error)
{
	const struct kwhy_gpu_source source = {.title = "gate.cu", .text = kwhy_kernels_gate};
	struct kwhy_gpu_device *self = kwhy_gpu_device(gpu);
	enum kwhy_status status = KWHY_OK;

	pthread_mutex_lock(&self->gate_lock);
	if (!self->gate_module)
		status = self->ops.module_new(gpu, &source, &self->gate_module, error);
	if (!status && !self->gate_kernel)
		status = self->ops.kernel_find(
			gpu, self->gate_module, "kwhy_gate", &self->gate_kernel, error);
	pthread_mutex_unlock(&self->gate_lock);
	return status;
}

static void gate_free(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate)
{
	if (!gate)
		return;
	if (gate->host.memory)
		atomic_store(&latch_of(gate)->opened, gate->opening);
	gpu->ops->host_free(gpu, &gate->host);
	free(gate);
}

static enum kwhy_status gate_new(struct kwhy_gpu *gpu, struct kwhy_gpu_gate **out, struct kwhy_error *error)
{
	struct kwhy_gpu_gate *gate = calloc(1, sizeof(*gate));
	enum kwhy_status status = gate ? load_kernel(gpu, error) : kwhy_fail_memory(error, "a gate");

	if (!status)
		status = gpu->ops->host_new(
			gpu, KWHY_GPU_HOST_PINNED, sizeof(struct latch), -1, &gate->host, error);
	if (status) {
		gate_free(gpu, gate);
		return status;
	}
	atomic_init(&latch_of(gate)->opened, 0);
	atomic_init(&latch_of(gate)->timed_out, 0);
	gate->opening = 1;
	*out = gate;
	return KWHY_OK;
}

static enum kwhy_status gate_hold(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate,
	struct kwhy_gpu_stream *stream, struct kwhy_error *error)
{
	void *arguments[] = {&gate->host.address, &gate->opening};
	struct kwhy_gpu_launch launch = {.kernel = kwhy_gpu_device(gpu)->gate_kernel,
		.blocks = 1,
		.threads_per_block = 1,
		.arguments = arguments,
		.stream = stream};

	return gpu->ops->launch(gpu, &launch, error);
}

static enum kwhy_status gate_open(struct kwhy_gpu *gpu, struct kwhy_gpu_gate *gate, struct kwhy_error *error)
{
	struct latch *latch = latch_of(gate);
	bool is_late = atomic_load(&latch->timed_out) == gate->opening;

	atomic_store(&latch->opened, gate->opening++);
	if (!is_late)
		return KWHY_OK;
	return kwhy_fail(error, KWHY_E_UNSUPPORTED,
		"work was held back on %s for 10 s and then ran early: its times do not count; queue less of "
		"it",
		gpu->facts.name);
}

void kwhy_gpu_device_add_gates(struct kwhy_gpu_ops *ops)
{
	ops->gate_new = gate_new;
	ops->gate_free = gate_free;
	ops->gate_hold = gate_hold;
	ops->gate_open = gate_open;
}
