/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/calibration/calibration.h"

#include "base/clock.h"
#include "base/settle.h"
#include "sensor/sampler.h"

#include <stdlib.h>

#define MS INT64_C(1000000)
#define IDLE_NS (1500 * MS)	    /* how long an idle level is measured */
#define SETTLE_NS (1000 * MS)	    /* pause between making a context and measuring its idle level */
#define METER_SETTLE_NS (1200 * MS) /* pause after each load; longer than any meter's averaging window */
/* shift_ns (struct kwhy_load) of loads with pauses: the update period of the fastest meter */
#define SHIFT_NS (20 * MS)
#define AVERAGE_PERIOD_NS (50 * MS)
#define CALLS_S 1.0
#define OPEN_S 2.0

/* State of a self-test. */
struct session {
	const struct kwhy_calibration_request *request;
	struct kwhy_calibration *out;
	struct kwhy_sensors *sensors;
	struct kwhy_sampler *sampler;
	struct kwhy_gpu *gpu;
	struct kwhy_loads *loads;
	uint32_t device; /* index into sensors->devices */
};

static const struct {
	const char *name;
	enum kwhy_burn burn;
	int32_t on_ms, off_ms;
	bool quick; /* whether the short self-test (request->quick) runs this load, too */
} plan[] = {
	{"step", KWHY_BURN_FMA, 500, 0, true},
	{"5/5 ms", KWHY_BURN_FMA, 5, 5, false},
	{"20/80 ms", KWHY_BURN_FMA, 20, 80, true},
	{"50/50 ms", KWHY_BURN_FMA, 50, 50, false},
	{"100/100 ms", KWHY_BURN_FMA, 100, 100, false},
	{"500/500 ms", KWHY_BURN_FMA, 500, 500, true},
	{"copy", KWHY_BURN_COPY, 500, 0, false},
	{"integer", KWHY_BURN_INTEGER, 500, 0, false},
	{"one-block", KWHY_BURN_ONE_BLOCK, 500, 0, false},
};

enum { PLAN_COUNT = sizeof(plan) / sizeof(plan[0]) };

const char *kwhy_phase_kind_name(enum kwhy_phase_kind kind)
{
	static const char *const names[] = {"clean-idle", "context-idle", "load"};

	return names[kind];
}

static bool is_planned(const struct kwhy_calibration_request *request, size_t which)
{
	return plan[which].quick || !request->quick;
}

double kwhy_calibration_seconds(const struct kwhy_calibration_request *request)
{
	double seconds = OPEN_S + CALLS_S + (double)(2 * IDLE_NS + SETTLE_NS) * 1e-9;

	for (size_t i = 0; i < PLAN_COUNT; i++)
		if (is_planned(request, i))
			seconds += request->load_s + (double)METER_SETTLE_NS * 1e-9;
	return seconds;
}

static void tell(const struct session *session, const char *what)
{
	if (session->request->progress)
		session->request->progress(session->request->context, what);
}

static struct kwhy_phase *begin_phase(struct session *session, enum kwhy_phase_kind kind)
{
	struct kwhy_phase *phase = &session->out->phases[session->out->phase_count++];

	phase->kind = kind;
	phase->start_ns = kwhy_clock_mono_ns();
	phase->first_pulse = session->out->pulse_count;
	return phase;
}

static void idle_phase(struct session *session, enum kwhy_phase_kind kind, const char *what)
{
	struct kwhy_phase *phase;

	tell(session, what);
	phase = begin_phase(session, kind);
	kwhy_settle(IDLE_NS);
	phase->end_ns = kwhy_clock_mono_ns();
}

static struct kwhy_load planned(size_t which, double load_s)
{
	int64_t on_ns = plan[which].on_ms * MS, off_ns = plan[which].off_ms * MS;
	double pulses = load_s * 1e9 / (double)(on_ns + off_ns);

	return (struct kwhy_load){.name = plan[which].name,
		.burn = plan[which].burn,
		.on_ns = on_ns,
		.off_ns = off_ns,
		.shift_ns = off_ns ? SHIFT_NS : 0,
		.pulses = pulses < 2			? 2
			: pulses > KWHY_LOAD_PULSES_MAX ? KWHY_LOAD_PULSES_MAX
							: (uint32_t)(pulses + 0.5)};
}

static enum kwhy_status load_phase(struct session *session, size_t which, struct kwhy_error *error)
{
	struct kwhy_calibration *out = session->out;
	struct kwhy_phase *phase;
	enum kwhy_status status;

	tell(session, plan[which].name);
	phase = begin_phase(session, KWHY_PHASE_LOAD);
	phase->load = planned(which, session->request->load_s);
	phase->pulse_count = phase->load.pulses;
	status = kwhy_load_run(session->loads, &phase->load, out->pulses + out->pulse_count, error);
	out->pulse_count += phase->pulse_count;
	if (!status)
		kwhy_settle(METER_SETTLE_NS);
	phase->end_ns = kwhy_clock_mono_ns();
	return status;
}

static enum kwhy_status open_sensors(struct session *session, struct kwhy_error *error)
{
	const struct kwhy_sensor_request request = {
		.devices = session->request->device ? session->request->device : "0",
		.gauges = true,
		.processes = true,
		.all_meters = true,
		.without_rocm = true,
		.without_host = true,
		.ring_period_ns = 1000 * MS,
		.counter_period_ns = 100000000, /* short enough to read every update: an H200 updates its
						   counter every 100 ms */
		.average_period_ns = AVERAGE_PERIOD_NS,
		.history_s = 60 + (size_t)kwhy_calibration_seconds(session->request),
	};
	enum kwhy_status status = kwhy_sensors_open(&request, &session->sensors, error);

	/*
	 * The user named no device, so the failure to open the default device is no wrong usage
	 * (KWHY_E_USAGE).
	 */
	if (status && !session->request->device)
		return error->status = KWHY_E_UNSUPPORTED;
	if (status)
		return status;
	for (size_t i = 0; i < session->sensors->device_count; i++)
		if (session->sensors->devices[i].mig_index < 0) {
			session->device = (uint32_t)i;
			return KWHY_OK;
		}
	return kwhy_fail(error, KWHY_E_UNSUPPORTED, "no NVIDIA GPU to calibrate: %s",
		session->sensors->absence_count ? session->sensors->absences[0].text
						: "the driver lists none");
}

static enum kwhy_status learn_device(struct session *session, struct kwhy_error *error)
{
	const struct kwhy_sensor_device *device = &session->sensors->devices[session->device];
	struct kwhy_sensor_process processes[KWHY_SENSOR_PROCESSES];
	struct kwhy_calibration *out = session->out;
	size_t pulses = 0;

	if (!kwhy_sensors_best_meter(session->sensors,
		    KWHY_METER_COUNTERS | KWHY_METER_ROLE_SAMPLES | KWHY_METER_ROLE_INSTANTS,
		    session->device))
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s has no meter to test; kwhy doctor says what this machine offers",
			device->name ? device->name : "this GPU");
	for (size_t i = 0; i < PLAN_COUNT; i++)
		pulses += planned(i, session->request->load_s).pulses;
	out->processes_before = (uint32_t)kwhy_sensors_processes(
		session->sensors, session->device, processes);
	out->limit_mw = device->limit_mw;
	out->driver = device->driver ? kwhy_arena_copy(&out->arena, device->driver) : NULL;
	out->pulses = kwhy_arena_alloc(&out->arena, pulses, sizeof(*out->pulses));
	out->started_unix_ns = kwhy_clock_unix_ns();
	out->started_mono_ns = kwhy_clock_mono_ns();
	out->seed = session->request->seed;
	return out->pulses ? KWHY_OK : kwhy_fail_memory(error, "the times of the loads");
}

static enum kwhy_status open_gpu(struct session *session, struct kwhy_error *error)
{
	const struct kwhy_sensor_device *device = &session->sensors->devices[session->device];
	enum kwhy_status status;

	tell(session, "making a context and compiling kernels");
	status = kwhy_gpu_open(KWHY_GPU_CUDA, device->pci_address, &session->gpu, error);
	if (status)
		return status;
	session->out->gpu = session->gpu->facts;
	return KWHY_OK;
}

/*
 * Measures the idle power without a context (only if no other process uses the device), then with a context
 * that has run no kernel yet, and then runs the loads.
 */
static enum kwhy_status run_phases(struct session *session, struct kwhy_error *error)
{
	enum kwhy_status status;

	if (session->out->processes_before == 0)
		idle_phase(session, KWHY_PHASE_CLEAN_IDLE, "idle without a context");
	status = open_gpu(session, error);
	if (status)
		return status;
	kwhy_settle(SETTLE_NS);
	idle_phase(session, KWHY_PHASE_CONTEXT_IDLE, "idle with a context");
	status = kwhy_loads_new(session->gpu, session->request->seed, &session->loads, error);
	if (!status)
		kwhy_settle(METER_SETTLE_NS);
	for (size_t i = 0; !status && i < PLAN_COUNT; i++)
		if (is_planned(session->request, i))
			status = load_phase(session, i, error);
	if (status)
		return status;
	tell(session, "calls and copies");
	return kwhy_call_costs_measure(
		session->gpu, session->loads, session->request->seed, &session->out->costs, error);
}

static enum kwhy_status take_readings(struct kwhy_calibration *out, const struct kwhy_source_channel *source,
	struct kwhy_meter_series *series, struct kwhy_error *error)
{
	struct kwhy_channel_cursor cursor = {0};
	struct kwhy_reading *items = kwhy_arena_alloc(&out->arena, source->channel.capacity, sizeof(*items));

	if (!items)
		return kwhy_fail_memory(error, "the readings of a self-test");
	series->count = kwhy_channel_read(&source->channel, &cursor, items, source->channel.capacity);
	series->items = items;
	return KWHY_OK;
}

static enum kwhy_status take_all(struct session *session, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < session->sensors->source_count; i++) {
		const struct kwhy_source_channel *source = &session->sensors->sources[i];

		if (source->device != session->device)
			continue;
		status = take_readings(session->out, source,
			source->kind == KWHY_SOURCE_METER ? &session->out->meters[source->meter]
							  : &session->out->gauges[source->gauge],
			error);
	}
	return status;
}

static enum kwhy_status run_session(struct session *session, struct kwhy_error *error)
{
	enum kwhy_status status = open_sensors(session, error);

	if (!status)
		status = learn_device(session, error);
	if (!status)
		status = kwhy_sampler_start(session->sensors, NULL, &session->sampler, error);
	if (!status)
		status = run_phases(session, error);
	if (session->sampler)
		kwhy_sampler_stop(session->sampler, NULL);
	if (!status)
		status = take_all(session, error);
	kwhy_loads_free(session->loads);
	if (session->gpu)
		session->gpu->ops->close(session->gpu);
	if (session->sensors)
		kwhy_sensors_close(session->sensors);
	return status;
}

enum kwhy_status kwhy_calibrate(const struct kwhy_calibration_request *request, struct kwhy_calibration **out,
	struct kwhy_error *error)
{
	struct kwhy_calibration *calibration = calloc(1, sizeof(*calibration));
	struct session session = {.request = request, .out = calibration};
	enum kwhy_status status;

	if (!calibration)
		return kwhy_fail_memory(error, "a self-test");
	calibration->costs = kwhy_call_costs_unknown();
	status = run_session(&session, error);
	if (status)
		kwhy_calibration_free(calibration);
	else
		*out = calibration;
	return status;
}

void kwhy_calibration_free(struct kwhy_calibration *calibration)
{
	if (!calibration)
		return;
	kwhy_arena_done(&calibration->arena);
	free(calibration);
}
