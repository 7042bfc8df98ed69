/* SPDX-License-Identifier: Apache-2.0 */
#include "lab/twin/inside.h"

#include <math.h>

enum { RUNS = 3, QUEUED_MOST = 64 }; /* a full queue blocks the host before it opens the gate */

enum kwhy_status kwhy_twin_hold(struct kwhy_twin *twin, struct kwhy_error *error)
{
	const struct kwhy_twin_field *field = &twin->fields[0];
	enum kwhy_status status;

	twin->queued = 0;
	if (!twin->gate)
		return KWHY_OK;
	status = field->gpu->ops->gate_hold(field->gpu, twin->gate, field->stream, error);
	return status ? status : field->gpu->ops->event_record(field->gpu, twin->start, field->stream, error);
}

static enum kwhy_status add_busy(struct kwhy_twin *twin, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = twin->fields[0].gpu;
	double busy_ns = 0;
	enum kwhy_status status = gpu->ops->event_synchronize(gpu, twin->end, error);

	if (!status)
		status = gpu->ops->event_elapsed_ns(gpu, twin->start, twin->end, &busy_ns, error);
	twin->busy_s += busy_ns * 1e-9;
	return status;
}

enum kwhy_status kwhy_twin_release(struct kwhy_twin *twin, enum kwhy_status queued, struct kwhy_error *error)
{
	const struct kwhy_twin_field *field = &twin->fields[0];
	struct kwhy_gpu *gpu = field->gpu;
	struct kwhy_error other;
	enum kwhy_status status = queued, opened;

	if (!twin->gate)
		return status;
	if (!status)
		status = gpu->ops->event_record(gpu, twin->end, field->stream, error);
	opened = gpu->ops->gate_open(gpu, twin->gate, status ? &other : error);
	if (!status)
		status = opened;
	return status ? status : add_busy(twin, error);
}

enum kwhy_status kwhy_twin_make_room(struct kwhy_twin *twin, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (!twin->gate || ++twin->queued < QUEUED_MOST)
		return KWHY_OK;
	status = kwhy_twin_release(twin, KWHY_OK, error);
	return status ? status : kwhy_twin_hold(twin, error);
}

static double median_of(const double values[RUNS])
{
	double low = fmin(values[0], values[1]), high = fmax(values[0], values[1]);

	return fmax(low, fmin(high, values[2]));
}

/* A first run does what a driver does only once: behind a gate it could not. */
static enum kwhy_status run_held(struct kwhy_twin *twin, const struct kwhy_twin_answer *answer,
	double *out_busy_s, struct kwhy_error *error)
{
	struct kwhy_gpu *gpu = twin->fields[0].gpu;
	struct kwhy_twin_result result = {0};
	double busy_s[RUNS] = {0};
	enum kwhy_status status = kwhy_twin_run(twin, answer, false, &result, error);

	if (!status)
		status = gpu->ops->gate_new(gpu, &twin->gate, error);
	for (int i = 0; !status && i < RUNS; i++) {
		twin->busy_s = 0;
		status = kwhy_twin_run(twin, answer, false, &result, error);
		busy_s[i] = twin->busy_s;
	}
	gpu->ops->gate_free(gpu, twin->gate);
	twin->gate = NULL;
	if (!status)
		*out_busy_s = median_of(busy_s);
	return status;
}

enum kwhy_status kwhy_twin_busy(const struct kwhy_twin_request *request,
	const struct kwhy_twin_answer *answer, double *out_busy_s, struct kwhy_error *error)
{
	struct kwhy_twin_variant variant = *request->variant;
	struct kwhy_twin_request held = *request;
	struct kwhy_twin *twin = NULL;
	enum kwhy_status status;

	if (variant.host == KWHY_TWIN_DEVICE)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED, "a run of twin %s is one launch: it tells itself",
			variant.id);
	/* What blocks the host would wait for what waits for the host. */
	if (variant.memory == KWHY_GPU_HOST_PAGEABLE)
		variant.memory = KWHY_GPU_HOST_PINNED;
	variant.waits_each = false;
	held.variant = &variant;
	status = kwhy_twin_open(&held, &twin, error);
	if (!status && twin->place_count > 1)
		status = kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"twin %s runs on %u GPUs, whose events have no common clock", variant.id,
			twin->place_count);
	if (!status)
		status = run_held(twin, answer, out_busy_s, error);
	kwhy_twin_close(twin);
	return status;
}
