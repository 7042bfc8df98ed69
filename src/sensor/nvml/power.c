/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Power as single values: a trailing average, an instantaneous power, and the average of the memory alone.
 * The first two are read only if the driver keeps no ring buffer of power samples, or if all meters are
 * requested.
 */
#include "sensor/nvml/parts.h"

#define PERIOD_NS INT64_C(100000000)

enum { FIELDS_MAX = 2 };

struct row {
	unsigned field, scope;
	enum kwhy_meter meter;
};

static const struct row gpu_rows[] = {
	{KWHY_NVML_FIELD_POWER_AVERAGE, KWHY_NVML_SCOPE_GPU, KWHY_METER_NVML_AVERAGE},
	{KWHY_NVML_FIELD_POWER_INSTANT, KWHY_NVML_SCOPE_GPU, KWHY_METER_NVML_INSTANT},
};

static const struct row memory_rows[] = {
	{KWHY_NVML_FIELD_POWER_AVERAGE, KWHY_NVML_SCOPE_MEMORY, KWHY_METER_NVML_MEMORY_AVERAGE},
};

struct power {
	struct kwhy_nvml_unit *unit;
	int count; /* number of fields that are read; 0: the driver supports none of them, so
		      nvmlDeviceGetPowerUsage() is called in their place */
	struct kwhy_nvml_field fields[FIELDS_MAX];
	uint32_t sources[FIELDS_MAX];
};

static int64_t period_ns(const struct kwhy_nvml_unit *unit)
{
	return unit->request->average_period_ns ? unit->request->average_period_ns : PERIOD_NS;
}

static double updates_per_s(const struct kwhy_nvml_unit *unit)
{
	return 1e9 / (double)period_ns(unit);
}

static void settle(
	struct power *power, int i, enum kwhy_nvml_result result, int64_t time_ns, int64_t value_mw)
{
	if (result == KWHY_NVML_SUCCESS)
		kwhy_nvml_unit_push(power->unit, power->sources[i], time_ns, value_mw);
	else
		kwhy_nvml_unit_refuse(power->unit, power->sources[i], result);
}

static int64_t middle_ns(const struct power *power, int64_t begin_ns)
{
	return begin_ns + (kwhy_nvml_unit_now_ns(power->unit) - begin_ns) / 2;
}

static void read_fields(struct power *power, int64_t begin_ns)
{
	struct kwhy_nvml_unit *unit = power->unit;
	enum kwhy_nvml_result result = unit->nvml->nvmlDeviceGetFieldValues(
		unit->handle, power->count, power->fields);
	int64_t time_ns = middle_ns(power, begin_ns);

	for (int i = 0; i < power->count; i++) {
		const struct kwhy_nvml_field *field = &power->fields[i];
		enum kwhy_nvml_result each = result ? result : field->result;
		int64_t value_mw = 0;

		if (!each && !kwhy_nvml_value_int(field->type, field->value, &value_mw))
			each = KWHY_NVML_UNKNOWN;
		settle(power, i, each, time_ns, value_mw);
	}
}

static void read_usage(struct power *power, int64_t begin_ns)
{
	unsigned value_mw = 0;
	enum kwhy_nvml_result result = power->unit->nvml->nvmlDeviceGetPowerUsage(
		power->unit->handle, &value_mw);

	settle(power, 0, result, middle_ns(power, begin_ns), value_mw);
}

static int64_t read_power(void *state, uint32_t argument, int64_t now_ns)
{
	struct power *power = state;

	(void)argument;
	if (kwhy_nvml_unit_is_lost(power->unit))
		return INT64_MAX;
	if (power->count > 0)
		read_fields(power, now_ns);
	else
		read_usage(power, now_ns);
	return 0;
}

static struct power *new_power(struct kwhy_nvml_unit *unit)
{
	struct power *power = kwhy_arena_alloc(&unit->sensors->arena, 1, sizeof(*power));

	if (power)
		power->unit = unit;
	return power;
}

/*
 * Adds a source for each field that the GPU supports. *out_result is NVML's result for the last field of
 * `rows`, supported or not.
 */
static enum kwhy_status add_fields(struct power *power, const struct row *rows, int row_count,
	enum kwhy_nvml_result *out_result, struct kwhy_error *error)
{
	struct kwhy_nvml_unit *unit = power->unit;
	enum kwhy_status status = KWHY_OK;

	for (int i = 0; !status && i < row_count; i++) {
		struct kwhy_nvml_field field = {.field = rows[i].field, .scope = rows[i].scope};

		*out_result = kwhy_nvml_call(unit->nvml, nvmlDeviceGetFieldValues, unit->handle, 1, &field);
		if (!*out_result)
			*out_result = field.result;
		if (*out_result)
			continue;
		power->fields[power->count] = field;
		status = kwhy_nvml_unit_add_meter(unit, rows[i].meter, PERIOD_NS, updates_per_s(unit),
			&power->sources[power->count++], error);
	}
	return status;
}

/*
 * Adds nvmlDeviceGetPowerUsage() as a source. It is used on GPUs that support no power field (struct
 * kwhy_nvml_field), where it returns the instantaneous power; on GPUs with these fields it returns an
 * average.
 */
static enum kwhy_status add_usage(struct power *power, struct kwhy_error *error)
{
	return kwhy_nvml_unit_add_meter(power->unit, KWHY_METER_NVML_INSTANT, PERIOD_NS,
		updates_per_s(power->unit), &power->sources[0], error);
}

static enum kwhy_status add_gpu(struct kwhy_nvml_unit *unit, struct kwhy_error *error)
{
	struct power *power = new_power(unit);
	enum kwhy_nvml_result result;
	enum kwhy_status status;
	unsigned value_mw;

	if (!power)
		return kwhy_fail_memory(error, "the meters");
	status = add_fields(power, gpu_rows, 2, &result, error);
	if (!status && power->count == 0) {
		result = kwhy_nvml_call(unit->nvml, nvmlDeviceGetPowerUsage, unit->handle, &value_mw);
		if (result)
			return kwhy_nvml_unit_add_absence(unit, "the power", result, error);
		status = add_usage(power, error);
	}
	if (!status)
		status = kwhy_nvml_unit_add_task(unit, "power", power, period_ns(unit), read_power, error);
	return status;
}

static enum kwhy_status add_memory(struct kwhy_nvml_unit *unit, struct kwhy_error *error)
{
	struct power *power = new_power(unit);
	enum kwhy_nvml_result result;
	enum kwhy_status status;

	if (!power)
		return kwhy_fail_memory(error, "the meters");
	status = add_fields(power, memory_rows, 1, &result, error);
	if (status)
		return status;
	if (power->count == 0)
		return kwhy_nvml_unit_add_absence(unit, "the power of the memory alone", result, error);
	return kwhy_nvml_unit_add_task(
		unit, "memory power", power, kwhy_nvml_unit_slow_period_ns(unit), read_power, error);
}

enum kwhy_status kwhy_nvml_power_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	if (!unit->has_ring || unit->request->all_meters)
		status = add_gpu(unit, error);
	return status ? status : add_memory(unit, error);
}
