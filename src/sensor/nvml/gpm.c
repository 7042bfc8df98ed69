/* SPDX-License-Identifier: Apache-2.0 */
/*
 * GPM: performance counters that GPUs from Hopper on offer without a profiler. Two samples give means over
 * the time between them, which must be at least 100 ms.
 */
#include "sensor/nvml/parts.h"

#include <math.h>

#define MIN_NS INT64_C(100000000)
/* shortest period of samples: longer than MIN_NS, so that a read that is slightly early is still allowed */
#define PERIOD_MIN_NS INT64_C(120000000)
/*
 * If the period is longer than FIRST_NS, the second sample is taken PERIOD_MIN_NS after the first, so that
 * the first means are available after PERIOD_MIN_NS, not only after a whole period.
 */
#define FIRST_NS INT64_C(2000000000)
#define MIB 1048576.0

static const struct {
	unsigned metric;
	enum kwhy_gauge gauge;
	double unit; /* how many of kwhy's units make one of NVML's: 10 permille are 1 %, MIB bytes/s are 1
			MiB/s */
} rows[] = {
	{KWHY_NVML_GPM_SM_ACTIVE, KWHY_GAUGE_SM_ACTIVE, 10},
	{KWHY_NVML_GPM_SM_OCCUPANCY, KWHY_GAUGE_SM_OCCUPANCY, 10},
	{KWHY_NVML_GPM_FP32_ACTIVE, KWHY_GAUGE_FP32_ACTIVE, 10},
	{KWHY_NVML_GPM_TENSOR_ACTIVE, KWHY_GAUGE_TENSOR_ACTIVE, 10},
	{KWHY_NVML_GPM_INTEGER_ACTIVE, KWHY_GAUGE_INTEGER_ACTIVE, 10},
	{KWHY_NVML_GPM_FP16_ACTIVE, KWHY_GAUGE_FP16_ACTIVE, 10},
	{KWHY_NVML_GPM_FP64_ACTIVE, KWHY_GAUGE_FP64_ACTIVE, 10},
	{KWHY_NVML_GPM_DRAM_ACTIVE, KWHY_GAUGE_DRAM_ACTIVE, 10},
	{KWHY_NVML_GPM_PCIE_RX, KWHY_GAUGE_PCIE_RX, MIB},
	{KWHY_NVML_GPM_PCIE_TX, KWHY_GAUGE_PCIE_TX, MIB},
	{KWHY_NVML_GPM_NVLINK_RX, KWHY_GAUGE_NVLINK_RX, MIB},
	{KWHY_NVML_GPM_NVLINK_TX, KWHY_GAUGE_NVLINK_TX, MIB},
};

enum { ROW_COUNT = sizeof(rows) / sizeof(rows[0]) };

struct gpm {
	struct kwhy_nvml_unit *unit;
	int newer;	  /* which of the unit's two samples is the newer one: 0 or 1 */
	int64_t taken_ns; /* time of the newer sample, on CLOCK_MONOTONIC */
	bool has_newer;
	int64_t period_ns;  /* time between two samples */
	unsigned row_count; /* number of `rows` that are read: of a MIG instance only the first one */
	/* index of the source of each metric; KWHY_NVML_NO_SOURCE: the GPU does not support the metric */
	uint32_t sources[ROW_COUNT];
	struct kwhy_nvml_gpm_metrics metrics;
};

/* Computes the means over the time between the two samples, and stores them in gpm->metrics. */
static enum kwhy_nvml_result compute(struct gpm *gpm)
{
	struct kwhy_nvml_gpm_metrics *metrics = &gpm->metrics;

	metrics->version = 1;
	metrics->count = gpm->row_count;
	metrics->first = gpm->unit->gpm[1 - gpm->newer];
	metrics->second = gpm->unit->gpm[gpm->newer];
	for (unsigned i = 0; i < gpm->row_count; i++)
		metrics->metrics[i].metric = rows[i].metric;
	return gpm->unit->nvml->nvmlGpmMetricsGet(metrics);
}

static void settle(struct gpm *gpm, size_t row, enum kwhy_nvml_result result)
{
	const struct kwhy_nvml_gpm_metric *metric = &gpm->metrics.metrics[row];
	double value = metric->value * rows[row].unit;

	if (!result)
		result = metric->result;
	if (!result && value >= 0 && value < 9e18)
		kwhy_nvml_unit_push(gpm->unit, gpm->sources[row], gpm->taken_ns, llround(value));
	else
		kwhy_nvml_unit_refuse(gpm->unit, gpm->sources[row], result);
}

static void settle_all(struct gpm *gpm, enum kwhy_nvml_result result)
{
	for (size_t i = 0; i < gpm->row_count; i++)
		if (gpm->sources[i] != KWHY_NVML_NO_SOURCE)
			settle(gpm, i, result);
}

/*
 * Takes a sample of a GPU or of a MIG instance. The call for an instance takes the handle of its GPU and the
 * number of the GPU instance.
 */
static enum kwhy_nvml_result sample(const struct kwhy_nvml_unit *unit, kwhy_nvml_gpm_sample out)
{
	return unit->parent
		? kwhy_nvml_call(unit->nvml, nvmlGpmMigSampleGet, unit->parent, unit->gpu_instance, out)
		: kwhy_nvml_call(unit->nvml, nvmlGpmSampleGet, unit->handle, out);
}

static int64_t read_gpm(void *state, uint32_t argument, int64_t now_ns)
{
	struct gpm *gpm = state;
	struct kwhy_nvml_unit *unit = gpm->unit;
	int older = 1 - gpm->newer;
	int64_t asked_ns = 0;
	enum kwhy_nvml_result result;

	(void)argument;
	if (kwhy_nvml_unit_is_lost(unit)) {
		gpm->has_newer = false;
		return unit->parent ? 0 : INT64_MAX;
	}
	if (gpm->has_newer && now_ns - gpm->taken_ns < MIN_NS)
		return 0;
	result = sample(unit, unit->gpm[older]);
	if (result) {
		settle_all(gpm, result);
		return 0;
	}
	gpm->newer = older;
	gpm->taken_ns = now_ns;
	if (gpm->has_newer)
		settle_all(gpm, compute(gpm));
	else if (gpm->period_ns > FIRST_NS)
		asked_ns = now_ns + PERIOD_MIN_NS;
	gpm->has_newer = true;
	return asked_ns;
}

static enum kwhy_nvml_result query(const struct kwhy_nvml_unit *unit)
{
	struct kwhy_nvml_gpm_support support = {.version = 1};
	enum kwhy_nvml_result result = kwhy_nvml_call(
		unit->nvml, nvmlGpmQueryDeviceSupport, unit->parent ? unit->parent : unit->handle, &support);

	if (!result && !support.is_supported)
		result = KWHY_NVML_NOT_SUPPORTED;
	if (!unit->nvml->nvmlGpmSampleFree || !unit->nvml->nvmlGpmMetricsGet)
		result = KWHY_NVML_FUNCTION_NOT_FOUND;
	return result;
}

/* Allocates and takes two samples, so that add_rows() can ask at once which metrics the GPU supports. */
static enum kwhy_nvml_result prepare(struct kwhy_nvml_unit *unit)
{
	enum kwhy_nvml_result result = query(unit);

	if (!result && unit->parent)
		result = kwhy_nvml_call(
			unit->nvml, nvmlDeviceGetGpuInstanceId, unit->handle, &unit->gpu_instance);
	for (int i = 0; !result && i < 2; i++) {
		result = kwhy_nvml_call(unit->nvml, nvmlGpmSampleAlloc, &unit->gpm[i]);
		if (!result)
			result = sample(unit, unit->gpm[i]);
	}
	return result;
}

static enum kwhy_status add_rows(struct gpm *gpm, int64_t period_ns, struct kwhy_error *error)
{
	enum kwhy_nvml_result result = compute(gpm);
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < gpm->row_count; i++) {
		gpm->sources[i] = KWHY_NVML_NO_SOURCE;
		if (!result && gpm->metrics.metrics[i].result != KWHY_NVML_NOT_SUPPORTED)
			status = kwhy_nvml_unit_add_gauge(
				gpm->unit, rows[i].gauge, period_ns, &gpm->sources[i], error);
	}
	return status;
}

enum kwhy_status kwhy_nvml_gpm_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error)
{
	struct gpm *gpm = kwhy_arena_alloc(&unit->sensors->arena, 1, sizeof(*gpm));
	/*
	 * An instance is read at the faster period of gauges, because its SM activity is the weight by which
	 * the energy of the GPU is divided among instances.
	 */
	int64_t period_ns = unit->parent ? kwhy_nvml_unit_gauge_period_ns(unit)
					 : kwhy_nvml_unit_slow_period_ns(unit);
	enum kwhy_nvml_result result;

	if (!gpm)
		return kwhy_fail_memory(error, "the meters");
	result = prepare(unit);
	if (result)
		return kwhy_nvml_unit_add_absence(unit,
			"the shares of busy units and the PCIe and NVLink traffic (GPM)", result, error);
	gpm->unit = unit;
	gpm->row_count = unit->parent ? 1 : ROW_COUNT;
	gpm->period_ns = period_ns > PERIOD_MIN_NS ? period_ns : PERIOD_MIN_NS;
	if (add_rows(gpm, period_ns, error))
		return error->status;
	return kwhy_nvml_unit_add_task(unit, "gpm", gpm, gpm->period_ns, read_gpm, error);
}

void kwhy_nvml_gpm_done(struct kwhy_nvml_unit *unit)
{
	for (int i = 0; i < 2; i++)
		if (unit->gpm[i])
			(void)unit->nvml->nvmlGpmSampleFree(unit->gpm[i]);
}
