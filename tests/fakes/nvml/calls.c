/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls of NVML that change state or depend on time; facts.c has the others of vendor/nvml_symbols.def.
 * README.md describes the fake.
 */
#include "calls.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MIB 1048576.0

static struct fake_scenario scenario;
static unsigned opened;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void wait_ms(double length_ms)
{
	struct timespec length = {(time_t)(length_ms / 1000), (long)(fmod(length_ms, 1000) * 1e6)};

	if (length_ms > 0 && fake_waits())
		nanosleep(&length, NULL);
}

/*
 * Returns the error that the scenario's faults prescribe for this call now, or success. Adds the delays that
 * they prescribe to *out_delay_ms.
 */
static enum kwhy_nvml_result fault_of(const char *call, double *out_delay_ms)
{
	double now_s = (double)fake_now_ns(&scenario) / 1e9;

	for (unsigned i = 0; i < scenario.fault_count; i++) {
		struct fake_fault *fault = &scenario.faults[i];

		if (strcmp(fault->call, call) != 0 && strcmp(fault->call, "*") != 0)
			continue;
		*out_delay_ms += fault->delay_ms;
		if (fault->result == KWHY_NVML_SUCCESS || now_s < fault->after_s || now_s >= fault->until_s)
			continue;
		fault->seen++;
		if (fault->seen >= fault->nth && fault->seen - fault->nth < fault->times)
			return fault->result;
	}
	return KWHY_NVML_SUCCESS;
}

/* Whether now is at from_s or later and before until_s; NAN: no limit on that side. */
static bool is_within(double from_s, double until_s)
{
	double now_s = (double)fake_now_ns(&scenario) / 1e9;

	return !(now_s < from_s) && !(now_s >= until_s);
}

bool fake_is_divided(const struct fake_gpu *gpu)
{
	return gpu->numbers.mig_mode == 1 && is_within(gpu->numbers.mig_from_s, gpu->numbers.mig_until_s);
}

bool fake_is_there(const struct fake_gpu *instance)
{
	return fake_is_divided(instance->parent) && is_within(instance->from_s, instance->until_s);
}

struct fake_gpu *fake_instance_at(const struct fake_gpu *gpu, unsigned place)
{
	for (unsigned i = 0; i < gpu->instance_count; i++)
		if (fake_is_there(gpu->instances[i]) && place-- == 0)
			return gpu->instances[i];
	return NULL;
}

struct fake_gpu *fake_device(kwhy_nvml_handle handle)
{
	for (unsigned i = 0; i < scenario.gpu_count; i++) {
		struct fake_gpu *gpu = &scenario.gpus[i];
		const char *place = (const char *)handle;

		if (handle == (kwhy_nvml_handle)gpu)
			return gpu;
		if (place >= gpu->places && place < gpu->places + FAKE_INSTANCES)
			return fake_instance_at(gpu, (unsigned)(place - gpu->places));
	}
	return NULL;
}

static enum kwhy_nvml_result begin_locked(const char *call, struct fake_gpu *gpu, double *out_delay_ms)
{
	struct fake_gpu *whole = gpu && gpu->parent ? gpu->parent : gpu;
	int64_t now_ns = fake_now_ns(&scenario);
	enum kwhy_nvml_result result;

	if (opened == 0)
		return KWHY_NVML_UNINITIALIZED;
	result = fault_of(call, out_delay_ms);
	if (result || !gpu)
		return result;
	if ((double)now_ns / 1e9 >= whole->numbers.lost_at_s)
		return KWHY_NVML_GPU_IS_LOST;
	fake_meters_advance(&scenario, whole, now_ns);
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result fake_begin(const char *call, kwhy_nvml_handle handle, bool needs_gpu, void *out)
{
	struct fake_gpu *gpu;
	enum kwhy_nvml_result result = KWHY_NVML_INVALID_ARGUMENT;
	double delay_ms = 0;

	pthread_mutex_lock(&lock);
	gpu = fake_device(handle);
	if (out && (!needs_gpu || opened == 0 || gpu))
		result = begin_locked(call, gpu, &delay_ms);
	pthread_mutex_unlock(&lock);
	wait_ms(delay_ms);
	return result;
}

unsigned long long fake_now_unix_us(const struct fake_gpu *gpu)
{
	const struct fake_gpu *whole = gpu->parent ? gpu->parent : gpu;

	return (unsigned long long)fake_unix_us(&scenario, whole->meters.now_ns);
}

pthread_mutex_t *fake_turn_begin(void)
{
	pthread_mutex_lock(&lock);
	return &lock;
}

void fake_turn_end(pthread_mutex_t **turn)
{
	pthread_mutex_unlock(*turn);
}

enum kwhy_nvml_result fake_offer(double value, unsigned *out)
{
	if (isnan(value))
		return KWHY_NVML_NOT_SUPPORTED;
	*out = (unsigned)llround(value);
	return KWHY_NVML_SUCCESS;
}

static enum kwhy_nvml_result copy_text(const char *text, char *out, unsigned out_bytes)
{
	if (strlen(text) >= out_bytes)
		return KWHY_NVML_INSUFFICIENT_SIZE;
	strcpy(out, text);
	return KWHY_NVML_SUCCESS;
}

static enum kwhy_nvml_result open_locked(const char *call)
{
	double delay_ms = 0;
	enum kwhy_nvml_result result;

	if (opened == 0)
		fake_scenario_read(&scenario, getenv("KWHY_FAKE_NVML"));
	result = fault_of(call, &delay_ms);
	if (result == KWHY_NVML_SUCCESS)
		opened++;
	else if (opened == 0)
		fake_scenario_done(&scenario);
	return result;
}

enum kwhy_nvml_result nvmlInitWithFlags(unsigned flags)
{
	enum kwhy_nvml_result result;

	(void)flags;
	pthread_mutex_lock(&lock);
	result = open_locked(__func__);
	pthread_mutex_unlock(&lock);
	return result;
}

enum kwhy_nvml_result nvmlInit_v2(void)
{
	return nvmlInitWithFlags(0);
}

enum kwhy_nvml_result nvmlShutdown(void)
{
	enum kwhy_nvml_result result = KWHY_NVML_UNINITIALIZED;

	pthread_mutex_lock(&lock);
	if (opened > 0) {
		result = KWHY_NVML_SUCCESS;
		if (--opened == 0)
			fake_scenario_done(&scenario);
	}
	pthread_mutex_unlock(&lock);
	return result;
}

void fake_forget(void)
{
	pthread_mutex_lock(&lock);
	fake_scenario_done(&scenario);
	opened = 0;
	pthread_mutex_unlock(&lock);
}

const char *nvmlErrorString(enum kwhy_nvml_result result)
{
	return result == KWHY_NVML_TIMEOUT ? "Timeout" : "Unknown Error";
}

enum kwhy_nvml_result nvmlSystemGetDriverVersion(char *out, unsigned out_bytes)
{
	enum kwhy_nvml_result result = fake_begin(__func__, NULL, false, out);

	return result ? result : copy_text(scenario.driver, out, out_bytes);
}

enum kwhy_nvml_result nvmlSystemGetCudaDriverVersion_v2(int *out)
{
	enum kwhy_nvml_result result = fake_begin(__func__, NULL, false, out);

	if (!result)
		*out = 13000;
	return result;
}

enum kwhy_nvml_result nvmlDeviceGetCount_v2(unsigned *out)
{
	enum kwhy_nvml_result result = fake_begin(__func__, NULL, false, out);

	if (!result)
		*out = scenario.gpu_count;
	return result;
}

enum kwhy_nvml_result nvmlDeviceGetHandleByIndex_v2(unsigned index, kwhy_nvml_handle *out)
{
	enum kwhy_nvml_result result = fake_begin(__func__, NULL, false, out);

	if (result)
		return result;
	if (index >= scenario.gpu_count)
		return KWHY_NVML_INVALID_ARGUMENT;
	*out = (kwhy_nvml_handle)&scenario.gpus[index];
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetName(kwhy_nvml_handle device, char *out, unsigned out_bytes)
{
	BEGIN(device, out);
	return copy_text(gpu->name, out, out_bytes);
}

enum kwhy_nvml_result nvmlDeviceGetUUID(kwhy_nvml_handle device, char *out, unsigned out_bytes)
{
	BEGIN(device, out);
	return copy_text(gpu->uuid, out, out_bytes);
}

enum kwhy_nvml_result nvmlDeviceGetPciInfo_v3(kwhy_nvml_handle device, struct kwhy_nvml_pci *out)
{
	BEGIN(device, out);
	if (gpu->parent)
		return KWHY_NVML_NOT_SUPPORTED;
	*out = (struct kwhy_nvml_pci){
		.domain = gpu->pci_domain, .bus = gpu->pci_bus, .device = gpu->pci_device};
	snprintf(out->bus_id, sizeof(out->bus_id), "%08X:%02X:%02X.0", gpu->pci_domain & 0xffffff,
		gpu->pci_bus & 0xff, gpu->pci_device & 0xff);
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetTotalEnergyConsumption(kwhy_nvml_handle device, unsigned long long *out_mj)
{
	BEGIN(device, out_mj);
	if (gpu->parent)
		return KWHY_NVML_NOT_SUPPORTED;
	*out_mj = gpu->meters.counter_mj;
	return KWHY_NVML_SUCCESS;
}

static uint64_t ring_first(const struct fake_gpu *gpu)
{
	uint64_t count = gpu->meters.sample_count, depth = (uint64_t)gpu->numbers.ring_depth;

	return count > depth ? count - depth : 0;
}

static unsigned copy_ring(const struct fake_gpu *gpu, unsigned long long after_unix_us, unsigned space,
	struct kwhy_nvml_sample *out)
{
	const struct fake_meters *meters = &gpu->meters;
	unsigned copied = 0;

	for (uint64_t i = ring_first(gpu); i < meters->sample_count && copied < space; i++) {
		unsigned long long stamp_us = (unsigned long long)fake_unix_us(
			&scenario, meters->stamps_ns[i % FAKE_RING]);

		if (stamp_us > after_unix_us)
			out[copied++] = (struct kwhy_nvml_sample){
				stamp_us, {.as_unsigned = meters->samples_mw[i % FAKE_RING]}};
	}
	return copied;
}

enum kwhy_nvml_result nvmlDeviceGetSamples(kwhy_nvml_handle device, unsigned type,
	unsigned long long after_unix_us, unsigned *out_value_type, unsigned *count,
	struct kwhy_nvml_sample *samples)
{
	BEGIN(device, count);
	if (type != KWHY_NVML_TOTAL_POWER_SAMPLES || gpu->parent)
		return KWHY_NVML_NOT_SUPPORTED;
	if (!samples) {
		*count = (unsigned)gpu->numbers.ring_depth;
		return KWHY_NVML_SUCCESS;
	}
	*out_value_type = KWHY_NVML_TYPE_UNSIGNED_INT;
	*count = copy_ring(gpu, after_unix_us, *count, samples);
	return *count ? KWHY_NVML_SUCCESS : KWHY_NVML_NOT_FOUND;
}

enum kwhy_nvml_result nvmlDeviceGetPowerUsage(kwhy_nvml_handle device, unsigned *out_mw)
{
	BEGIN(device, out_mw);
	if (gpu->parent)
		return KWHY_NVML_NOT_SUPPORTED;
	*out_mw = gpu->meters.average_mw;
	return KWHY_NVML_SUCCESS;
}

static double field_of(const struct fake_gpu *gpu, unsigned field, unsigned scope)
{
	const struct fake_meters *meters = &gpu->meters;

	if (field == KWHY_NVML_FIELD_MEMORY_TEMPERATURE)
		return gpu->numbers.memory_temperature_c;
	if (field == KWHY_NVML_FIELD_POWER_AVERAGE && scope == KWHY_NVML_SCOPE_MEMORY)
		return gpu->numbers.memory_w * 1000;
	if (field == KWHY_NVML_FIELD_NVLINK_COUNT)
		return gpu->numbers.nvlinks;
	if (field == KWHY_NVML_FIELD_NVLINK_SPEED_ALL || field == KWHY_NVML_FIELD_NVLINK_SPEED)
		return scope < gpu->numbers.nvlinks ? gpu->numbers.nvlink_mb_s : NAN;
	if (gpu->parent || scope != KWHY_NVML_SCOPE_GPU)
		return NAN;
	if (field == KWHY_NVML_FIELD_POWER_AVERAGE)
		return meters->average_mw;
	return field == KWHY_NVML_FIELD_POWER_INSTANT ? meters->instant_mw : NAN;
}

enum kwhy_nvml_result nvmlDeviceGetFieldValues(
	kwhy_nvml_handle device, int count, struct kwhy_nvml_field *fields)
{
	BEGIN(device, fields);
	for (int i = 0; i < count; i++) {
		struct kwhy_nvml_field *field = &fields[i];

		field->type = KWHY_NVML_TYPE_UNSIGNED_INT;
		field->time_unix_us = fake_unix_us(&scenario, gpu->meters.now_ns);
		field->result = fake_offer(
			field_of(gpu, field->field, field->scope), &field->value.as_unsigned);
	}
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetClockInfo(kwhy_nvml_handle device, unsigned clock, unsigned *out_mhz)
{
	BEGIN(device, out_mhz);
	if (clock == KWHY_NVML_CLOCK_MEMORY)
		return fake_offer(gpu->numbers.memory_clock_mhz, out_mhz);
	return fake_offer(isnan(gpu->numbers.locked_clock_mhz) ? gpu->numbers.sm_clock_mhz
							       : gpu->numbers.locked_clock_mhz,
		out_mhz);
}

enum kwhy_nvml_result nvmlDeviceGetTemperature(kwhy_nvml_handle device, unsigned sensor, unsigned *out_c)
{
	BEGIN(device, out_c);
	return sensor == KWHY_NVML_TEMPERATURE_GPU ? fake_offer(gpu->numbers.temperature_c, out_c)
						   : KWHY_NVML_INVALID_ARGUMENT;
}

enum kwhy_nvml_result nvmlDeviceGetCurrentClocksEventReasons(kwhy_nvml_handle device, unsigned long long *out)
{
	BEGIN(device, out);
	if (isnan(gpu->numbers.throttle_reasons))
		return KWHY_NVML_NOT_SUPPORTED;
	*out = (unsigned long long)gpu->numbers.throttle_reasons;
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(
	kwhy_nvml_handle device, unsigned long long *out)
{
	return nvmlDeviceGetCurrentClocksEventReasons(device, out);
}

static unsigned long long used_bytes(const struct fake_gpu *gpu)
{
	double used_mib = gpu->numbers.memory_used_mib;

	for (unsigned i = 0; i < gpu->process_count; i++)
		if (gpu->processes[i].info.used_bytes != ~0ULL)
			used_mib += (double)gpu->processes[i].info.used_bytes / MIB;
	return (unsigned long long)(used_mib * MIB);
}

enum kwhy_nvml_result nvmlDeviceGetMemoryInfo_v2(kwhy_nvml_handle device, struct kwhy_nvml_memory_v2 *out)
{
	BEGIN(device, out);
	if (out->version != KWHY_NVML_MEMORY_V2)
		return KWHY_NVML_INVALID_ARGUMENT;
	out->total_bytes = (unsigned long long)(gpu->numbers.memory_total_mib * MIB);
	out->reserved_bytes = (unsigned long long)(gpu->numbers.memory_reserved_mib * MIB);
	out->used_bytes = used_bytes(gpu);
	out->free_bytes = out->total_bytes - out->reserved_bytes - out->used_bytes;
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetMemoryInfo(kwhy_nvml_handle device, struct kwhy_nvml_memory_v1 *out)
{
	BEGIN(device, out);
	out->total_bytes = (unsigned long long)(gpu->numbers.memory_total_mib * MIB);
	out->used_bytes = used_bytes(gpu) + (unsigned long long)(gpu->numbers.memory_reserved_mib * MIB);
	out->free_bytes = out->total_bytes - out->used_bytes;
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetEnforcedPowerLimit(kwhy_nvml_handle device, unsigned *out_mw)
{
	BEGIN(device, out_mw);
	return fake_offer(gpu->parent ? NAN : gpu->numbers.power_limit_w * 1000, out_mw);
}

enum kwhy_nvml_result nvmlDeviceGetPowerManagementDefaultLimit(kwhy_nvml_handle device, unsigned *out_mw)
{
	BEGIN(device, out_mw);
	return fake_offer(gpu->parent ? NAN : gpu->numbers.default_limit_w * 1000, out_mw);
}

enum kwhy_nvml_result nvmlDeviceGetPowerManagementLimit(kwhy_nvml_handle device, unsigned *out_mw)
{
	return nvmlDeviceGetEnforcedPowerLimit(device, out_mw);
}

enum kwhy_nvml_result nvmlDeviceGetPowerManagementLimitConstraints(
	kwhy_nvml_handle device, unsigned *out_least_mw, unsigned *out_most_mw)
{
	BEGIN(device, out_least_mw);
	began = fake_offer(gpu->parent ? NAN : gpu->numbers.limit_least_w * 1000, out_least_mw);
	return began ? began : fake_offer(gpu->numbers.limit_most_w * 1000, out_most_mw);
}

enum kwhy_nvml_result nvmlDeviceSetPowerManagementLimit(kwhy_nvml_handle device, unsigned limit_mw)
{
	BEGIN(device, &limit_mw);
	if (limit_mw < gpu->numbers.limit_least_w * 1000 || limit_mw > gpu->numbers.limit_most_w * 1000)
		return KWHY_NVML_INVALID_ARGUMENT;
	gpu->numbers.power_limit_w = limit_mw / 1000.0;
	fake_settings_write(&scenario);
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceSetGpuLockedClocks(
	kwhy_nvml_handle device, unsigned least_mhz, unsigned most_mhz)
{
	BEGIN(device, &least_mhz);
	if (least_mhz > most_mhz || !least_mhz || most_mhz > gpu->numbers.sm_clock_max_mhz)
		return KWHY_NVML_INVALID_ARGUMENT;
	gpu->numbers.locked_clock_mhz = most_mhz;
	fake_settings_write(&scenario);
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceResetGpuLockedClocks(kwhy_nvml_handle device)
{
	BEGIN(device, device);
	gpu->numbers.locked_clock_mhz = NAN;
	fake_settings_write(&scenario);
	return KWHY_NVML_SUCCESS;
}

enum kwhy_nvml_result nvmlDeviceGetFanSpeed(kwhy_nvml_handle device, unsigned *out_percent)
{
	BEGIN(device, out_percent);
	return fake_offer(gpu->numbers.fan_percent, out_percent);
}

enum kwhy_nvml_result nvmlDeviceGetUtilizationRates(
	kwhy_nvml_handle device, struct kwhy_nvml_utilization *out)
{
	BEGIN(device, out);
	if (gpu->parent || fake_is_divided(gpu) || fake_offer(gpu->numbers.busy_percent, &out->gpu_percent))
		return KWHY_NVML_NOT_SUPPORTED;
	if (fake_has_process_file())
		out->gpu_percent = fake_processes_percent(gpu);
	return fake_offer(gpu->numbers.memory_busy_percent, &out->memory_percent);
}

enum kwhy_nvml_result nvmlDeviceGetViolationStatus(
	kwhy_nvml_handle device, unsigned policy, struct kwhy_nvml_violation *out)
{
	double violation_s;

	BEGIN(device, out);
	violation_s = policy == KWHY_NVML_POLICY_POWER ? gpu->numbers.power_violation_s
						       : gpu->numbers.thermal_violation_s;
	if (isnan(violation_s) || policy > KWHY_NVML_POLICY_THERMAL)
		return KWHY_NVML_NOT_SUPPORTED;
	out->reference_us = (unsigned long long)fake_unix_us(&scenario, gpu->meters.now_ns);
	out->violation_ns = (unsigned long long)(violation_s * 1e9);
	return KWHY_NVML_SUCCESS;
}
