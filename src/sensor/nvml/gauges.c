/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gauges of a GPU; each row of the table is one NVML call. Every call takes the driver's lock, so values that
 * seldom change are read seldom. Gauges that the GPU does not support when the back end opens are never read.
 */
#include "sensor/nvml/parts.h"

enum { VALUES_MAX = 2 };

/*
 * How often a row is read: FAST every gauge_period_ns, SLOW every slow_gauge_period_ns of the request, SELDOM
 * every SELDOM_NS or, if that is longer, as SLOW.
 */
enum rate { FAST, SLOW, SELDOM };
#define SELDOM_NS INT64_C(10000000000)

typedef enum kwhy_nvml_result gauge_read(const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX]);

static enum kwhy_nvml_result read_clocks(const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX])
{
	static const unsigned clocks[] = {KWHY_NVML_CLOCK_SM, KWHY_NVML_CLOCK_MEMORY};
	enum kwhy_nvml_result result = KWHY_NVML_SUCCESS;
	unsigned mhz;

	for (int i = 0; result == KWHY_NVML_SUCCESS && i < 2; i++) {
		result = kwhy_nvml_call(unit->nvml, nvmlDeviceGetClockInfo, unit->handle, clocks[i], &mhz);
		if (result == KWHY_NVML_SUCCESS)
			out[i] = mhz * INT64_C(1000000);
	}
	return result;
}

static enum kwhy_nvml_result read_temperature(const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX])
{
	unsigned degree_c = 0;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		unit->nvml, nvmlDeviceGetTemperature, unit->handle, KWHY_NVML_TEMPERATURE_GPU, &degree_c);

	out[0] = degree_c * INT64_C(1000);
	return result;
}

/* Converts NVML's bits of throttle reasons to kwhy's. */
static int64_t throttle_of(unsigned long long reasons)
{
	static const int64_t bits[] = {KWHY_THROTTLE_IDLE, KWHY_THROTTLE_APPLICATION_CLOCKS,
		KWHY_THROTTLE_POWER_CAP, KWHY_THROTTLE_HARDWARE, KWHY_THROTTLE_SYNC_BOOST,
		KWHY_THROTTLE_SOFTWARE_THERMAL, KWHY_THROTTLE_HARDWARE_THERMAL,
		KWHY_THROTTLE_HARDWARE_POWER_BRAKE, KWHY_THROTTLE_DISPLAY_CLOCKS};
	int64_t ours = 0;

	for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++)
		if (reasons >> i & 1)
			ours |= bits[i];
	return ours;
}

static enum kwhy_nvml_result read_throttle(const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX])
{
	unsigned long long reasons = 0;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		unit->nvml, nvmlDeviceGetCurrentClocksEventReasons, unit->handle, &reasons);

	if (result == KWHY_NVML_FUNCTION_NOT_FOUND)
		result = kwhy_nvml_call(
			unit->nvml, nvmlDeviceGetCurrentClocksThrottleReasons, unit->handle, &reasons);
	out[0] = throttle_of(reasons);
	return result;
}

static enum kwhy_nvml_result read_memory(const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX])
{
	struct kwhy_nvml_memory memory;
	enum kwhy_nvml_result result = kwhy_nvml_memory(unit->nvml, unit->handle, &memory);

	if (result == KWHY_NVML_SUCCESS)
		out[0] = (int64_t)memory.used_bytes;
	return result;
}

static enum kwhy_nvml_result read_limit(const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX])
{
	unsigned limit_mw = 0;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		unit->nvml, nvmlDeviceGetEnforcedPowerLimit, unit->handle, &limit_mw);

	out[0] = limit_mw;
	return result;
}

static enum kwhy_nvml_result read_fan(const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX])
{
	unsigned percent = 0;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		unit->nvml, nvmlDeviceGetFanSpeed, unit->handle, &percent);

	out[0] = percent * INT64_C(10);
	return result;
}

static enum kwhy_nvml_result read_busy(const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX])
{
	struct kwhy_nvml_utilization busy = {0};
	enum kwhy_nvml_result result = kwhy_nvml_call(
		unit->nvml, nvmlDeviceGetUtilizationRates, unit->handle, &busy);

	out[0] = busy.gpu_percent * INT64_C(10);
	out[1] = busy.memory_percent * INT64_C(10);
	return result;
}

static enum kwhy_nvml_result read_link(const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX])
{
	unsigned generation = 0, lanes = 0;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		unit->nvml, nvmlDeviceGetCurrPcieLinkGeneration, unit->handle, &generation);

	if (result == KWHY_NVML_SUCCESS)
		result = kwhy_nvml_call(unit->nvml, nvmlDeviceGetCurrPcieLinkWidth, unit->handle, &lanes);
	out[0] = generation;
	out[1] = lanes;
	return result;
}

static enum kwhy_nvml_result read_memory_temperature(
	const struct kwhy_nvml_unit *unit, int64_t out[VALUES_MAX])
{
	struct kwhy_nvml_field field = {.field = KWHY_NVML_FIELD_MEMORY_TEMPERATURE};
	enum kwhy_nvml_result result = kwhy_nvml_call(
		unit->nvml, nvmlDeviceGetFieldValues, unit->handle, 1, &field);

	if (result || field.result)
		return result ? result : field.result;
	if (!kwhy_nvml_value_int(field.type, field.value, &out[0]))
		return KWHY_NVML_UNKNOWN;
	out[0] *= 1000;
	return KWHY_NVML_SUCCESS;
}

static const struct row {
	const char *words;
	gauge_read *read;
	enum rate rate;
	int count;
	enum kwhy_gauge gauges[VALUES_MAX];
} rows[] = {
	{"the clocks", read_clocks, FAST, 2, {KWHY_GAUGE_SM_CLOCK, KWHY_GAUGE_MEMORY_CLOCK}},
	{"the temperature", read_temperature, SLOW, 1, {KWHY_GAUGE_TEMPERATURE}},
	{"the temperature of the memory", read_memory_temperature, SLOW, 1, {KWHY_GAUGE_MEMORY_TEMPERATURE}},
	{"the reasons of throttling", read_throttle, SLOW, 1, {KWHY_GAUGE_THROTTLE_REASONS}},
	{"the memory in use", read_memory, SLOW, 1, {KWHY_GAUGE_MEMORY_USED}},
	{"the utilisation", read_busy, FAST, 2, {KWHY_GAUGE_BUSY, KWHY_GAUGE_MEMORY_BUSY}},
	{"the power limit", read_limit, SELDOM, 1, {KWHY_GAUGE_POWER_LIMIT}},
	{"a fan", read_fan, SELDOM, 1, {KWHY_GAUGE_FAN_SPEED}},
	{"the PCIe link", read_link, SELDOM, 2, {KWHY_GAUGE_PCIE_GENERATION, KWHY_GAUGE_PCIE_WIDTH}},
};

enum { CLOCKS, ROW_COUNT = sizeof(rows) / sizeof(rows[0]) }; /* CLOCKS: index of the row of the clocks */

struct gauges {
	struct kwhy_nvml_unit *unit;
	uint32_t round;
	uint32_t rounds[ROW_COUNT]; /* rounds[i]: row `i` is read in every rounds[i]-th call of read_gauges()
				     */
	bool has_clock_task; /* a task of its own reads the SM clock, more often than the other gauges */
	uint32_t sources[ROW_COUNT]
			/*
			 * index of the source of each value; KWHY_NVML_NO_SOURCE: the GPU does not support it
			 */
			[VALUES_MAX];
};

/*
 * Whether the driver does not report the gauges of a row: it reports no utilisation of a GPU that is divided
 * into MIG instances.
 */
static bool is_hidden(const struct kwhy_nvml_unit *unit, size_t row)
{
	return unit->is_divided && rows[row].read == read_busy;
}

static void withhold_row(const struct gauges *gauges, size_t row)
{
	for (int i = 0; i < rows[row].count; i++)
		kwhy_nvml_unit_set_refused(gauges->unit, gauges->sources[row][i], true);
}

static void read_row(struct gauges *gauges, size_t row)
{
	int64_t values[VALUES_MAX], time_ns = kwhy_nvml_unit_now_ns(gauges->unit);
	enum kwhy_nvml_result result;

	if (is_hidden(gauges->unit, row)) {
		withhold_row(gauges, row);
		return;
	}
	result = rows[row].read(gauges->unit, values);
	/* value 0 of the row of the clocks is the SM clock, which is left out if its own task reads it */
	for (int i = row == CLOCKS && gauges->has_clock_task; i < rows[row].count; i++)
		if (result == KWHY_NVML_SUCCESS)
			kwhy_nvml_unit_push(gauges->unit, gauges->sources[row][i], time_ns, values[i]);
		else
			kwhy_nvml_unit_refuse(gauges->unit, gauges->sources[row][i], result);
}

static int64_t read_gauges(void *state, uint32_t argument, int64_t now_ns)
{
	struct gauges *gauges = state;

	(void)argument;
	(void)now_ns;
	for (size_t row = 0; row < ROW_COUNT; row++) {
		if (kwhy_nvml_unit_is_lost(gauges->unit))
			return INT64_MAX;
		if (gauges->sources[row][0] != KWHY_NVML_NO_SOURCE &&
			gauges->round % gauges->rounds[row] == 0)
			read_row(gauges, row);
	}
	gauges->round++;
	return 0;
}

/* Task that reads only the SM clock, more often than read_gauges() reads the other gauges. */
static int64_t read_clock_alone(void *state, uint32_t argument, int64_t now_ns)
{
	struct gauges *gauges = state;
	const int64_t time_ns = kwhy_nvml_unit_now_ns(gauges->unit);
	enum kwhy_nvml_result result;
	unsigned mhz = 0;

	(void)argument;
	(void)now_ns;
	if (kwhy_nvml_unit_is_lost(gauges->unit))
		return INT64_MAX;
	result = kwhy_nvml_call(
		gauges->unit->nvml, nvmlDeviceGetClockInfo, gauges->unit->handle, KWHY_NVML_CLOCK_SM, &mhz);
	if (result == KWHY_NVML_SUCCESS)
		kwhy_nvml_unit_push(
			gauges->unit, gauges->sources[CLOCKS][0], time_ns, mhz * INT64_C(1000000));
	else
		kwhy_nvml_unit_refuse(gauges->unit, gauges->sources[CLOCKS][0], result);
	return 0;
}

/* Number of calls of read_gauges() of which one reads the row. */
static uint32_t rounds_of(const struct kwhy_nvml_unit *unit, enum rate rate)
{
	const int64_t round_ns = kwhy_nvml_unit_gauge_period_ns(unit),
		      slow_ns = kwhy_nvml_unit_slow_period_ns(unit);
	const int64_t seldom_ns = slow_ns > SELDOM_NS ? slow_ns : SELDOM_NS;
	const int64_t periods_ns[] = {[FAST] = round_ns, [SLOW] = slow_ns, [SELDOM] = seldom_ns};

	return (uint32_t)((periods_ns[rate] + round_ns - 1) / round_ns);
}

static enum kwhy_status add_row(struct gauges *gauges, size_t row, struct kwhy_error *error)
{
	struct kwhy_nvml_unit *unit = gauges->unit;
	int64_t period_ns;
	int64_t values[VALUES_MAX];
	enum kwhy_nvml_result result = rows[row].read(unit, values);
	enum kwhy_status status = KWHY_OK;

	gauges->rounds[row] = rounds_of(unit, rows[row].rate);
	period_ns = gauges->rounds[row] * kwhy_nvml_unit_gauge_period_ns(unit);
	gauges->sources[row][0] = KWHY_NVML_NO_SOURCE;
	if (result != KWHY_NVML_SUCCESS)
		status = kwhy_nvml_unit_add_absence(unit, rows[row].words, result, error);
	/*
	 * The utilisation of a divided GPU gets its sources nevertheless, for the GPU may be whole again
	 * later.
	 */
	if (result != KWHY_NVML_SUCCESS && !is_hidden(unit, row))
		return status;
	for (int i = 0; !status && i < rows[row].count; i++)
		status = kwhy_nvml_unit_add_gauge(
			unit, rows[row].gauges[i], period_ns, &gauges->sources[row][i], error);
	return status;
}

enum kwhy_status kwhy_nvml_gauges_add(struct kwhy_nvml_unit *unit, struct kwhy_error *error)
{
	struct gauges *gauges = kwhy_arena_alloc(&unit->sensors->arena, 1, sizeof(*gauges));
	enum kwhy_status status = KWHY_OK;

	if (!gauges)
		return kwhy_fail_memory(error, "the meters");
	gauges->unit = unit;
	for (size_t row = 0; !status && row < ROW_COUNT; row++)
		status = add_row(gauges, row, error);
	if (!status)
		status = kwhy_nvml_unit_add_task(
			unit, "gauges", gauges, kwhy_nvml_unit_gauge_period_ns(unit), read_gauges, error);
	gauges->has_clock_task = unit->request->clock_period_ns &&
		gauges->sources[CLOCKS][0] != KWHY_NVML_NO_SOURCE;
	if (!status && gauges->has_clock_task)
		status = kwhy_nvml_unit_add_task(
			unit, "clock", gauges, unit->request->clock_period_ns, read_clock_alone, error);
	return status;
}
