/* SPDX-License-Identifier: Apache-2.0 */
#include "sensor/rocm/parts.h"

int64_t kwhy_rocm_saturated(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

static int read_system_clock(const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out)
{
	uint64_t hz = 0;
	int result = kwhy_rocm_smi_clock(rocm, device, KWHY_RSMI_CLOCK_SYSTEM, &hz);

	*out = kwhy_rocm_saturated(hz);
	return result;
}

static int read_memory_clock(const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out)
{
	uint64_t hz = 0;
	int result = kwhy_rocm_smi_clock(rocm, device, KWHY_RSMI_CLOCK_MEMORY, &hz);

	*out = kwhy_rocm_saturated(hz);
	return result;
}

static int read_place(const struct kwhy_rocm_smi *rocm, uint32_t device, uint32_t place, int64_t *out)
{
	return kwhy_rocm_smi_call(
		rocm, rsmi_dev_temp_metric_get, device, place, KWHY_RSMI_TEMPERATURE_CURRENT, out);
}

/*
 * Reads the edge sensor's temperature. Cards without such a sensor (MI300) have one at the hottest spot
 * ("junction"), which is read instead.
 */
static int read_temperature(const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out)
{
	int result = read_place(rocm, device, KWHY_RSMI_PLACE_EDGE, out);

	return result == KWHY_RSMI_SUCCESS ? result : read_place(rocm, device, KWHY_RSMI_PLACE_JUNCTION, out);
}

static int read_memory_temperature(const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out)
{
	return read_place(rocm, device, KWHY_RSMI_PLACE_MEMORY, out);
}

static int read_memory_used(const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out)
{
	uint64_t bytes = 0;
	int result = kwhy_rocm_smi_call(
		rocm, rsmi_dev_memory_usage_get, device, KWHY_RSMI_MEMORY_VRAM, &bytes);

	*out = kwhy_rocm_saturated(bytes);
	return result;
}

static int read_power_limit(const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out)
{
	uint64_t power_uw = 0;
	int result = kwhy_rocm_smi_call(rocm, rsmi_dev_power_cap_get, device, 0, &power_uw);

	*out = kwhy_rocm_saturated(power_uw / 1000);
	return result;
}

static int read_busy(const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out)
{
	uint32_t percent = 0;
	int result = kwhy_rocm_smi_call(rocm, rsmi_dev_busy_percent_get, device, &percent);

	*out = (int64_t)percent * 10;
	return result;
}

static int read_memory_busy(const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out)
{
	uint32_t percent = 0;
	int result = kwhy_rocm_smi_call(rocm, rsmi_dev_memory_busy_percent_get, device, &percent);

	*out = (int64_t)percent * 10;
	return result;
}

static int read_fan(const struct kwhy_rocm_smi *rocm, uint32_t device, int64_t *out)
{
	int64_t speed = 0;
	uint64_t most = 0;
	int result = kwhy_rocm_smi_call(rocm, rsmi_dev_fan_speed_get, device, 0, &speed);

	if (result == KWHY_RSMI_SUCCESS)
		result = kwhy_rocm_smi_call(rocm, rsmi_dev_fan_speed_max_get, device, 0, &most);
	if (result != KWHY_RSMI_SUCCESS)
		return result;
	if (most == 0 || most > INT32_MAX || speed < 0 || speed > (int64_t)most)
		return KWHY_RSMI_UNKNOWN;
	*out = speed * 1000 / (int64_t)most;
	return result;
}

const struct kwhy_rocm_gauge kwhy_rocm_gauges[KWHY_ROCM_GAUGES] = {
	{KWHY_GAUGE_SM_CLOCK, read_system_clock},
	{KWHY_GAUGE_MEMORY_CLOCK, read_memory_clock},
	{KWHY_GAUGE_TEMPERATURE, read_temperature},
	{KWHY_GAUGE_MEMORY_TEMPERATURE, read_memory_temperature},
	{KWHY_GAUGE_MEMORY_USED, read_memory_used},
	{KWHY_GAUGE_POWER_LIMIT, read_power_limit},
	{KWHY_GAUGE_BUSY, read_busy},
	{KWHY_GAUGE_MEMORY_BUSY, read_memory_busy},
	{KWHY_GAUGE_FAN_SPEED, read_fan},
};
