/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rocprof/csv.h"

#include <string.h>

static const struct kwhy_csv_range any = {INT64_MIN, INT64_MAX};

/*
 * Sets *out to the number in a column; KWHY_ROCPROF_UNKNOWN: the file lacks the column, or the field is
 * empty.
 */
static enum kwhy_status take_integer(
	const struct kwhy_rocprof_csv *csv, size_t column, int64_t *out, struct kwhy_error *error)
{
	bool known;
	enum kwhy_status status = kwhy_csv_integer(csv->csv, column, any, &known, out, error);

	if (!status && !known)
		*out = KWHY_ROCPROF_UNKNOWN;
	return status;
}

static enum kwhy_status take_integers(const struct kwhy_rocprof_csv *csv, const size_t *columns,
	int64_t *const *outs, size_t count, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < count; i++)
		status = take_integer(csv, columns[i], outs[i], error);
	return status;
}

/* Columns of files about agents. */

enum agent_column {
	AGENT_ID,
	AGENT_LOGICAL_ID,
	AGENT_TYPE,
	AGENT_WAVES_PER_SIMD,
	AGENT_SIMDS,
	AGENT_WAVES,
	AGENT_WAVE_THREADS,
	AGENT_UNITS,
	AGENT_LDS,
	AGENT_DOMAIN,
	AGENT_LOCATION,
	AGENT_MEMORY,
	AGENT_PRODUCT,
	AGENT_MODEL,
	AGENT_NAME,
	AGENT_COLUMN_COUNT
};

static const struct kwhy_csv_column agent_columns[AGENT_COLUMN_COUNT] = {
	[AGENT_ID] = {"Node_Id", true},
	[AGENT_LOGICAL_ID] = {"Logical_Node_Id", false},
	[AGENT_TYPE] = {"Agent_Type", true},
	[AGENT_WAVES_PER_SIMD] = {"Max_Waves_Per_Simd", false},
	[AGENT_SIMDS] = {"Simd_Per_Cu", false},
	[AGENT_WAVES] = {"Max_Waves_Per_Cu", false},
	[AGENT_WAVE_THREADS] = {"Wave_Front_Size", false},
	[AGENT_UNITS] = {"Cu_Count", false},
	[AGENT_LDS] = {"Lds_Size_In_Kb", false},
	[AGENT_DOMAIN] = {"Domain", false},
	[AGENT_LOCATION] = {"Location_Id", false},
	[AGENT_MEMORY] = {"Local_Mem_Size", false},
	[AGENT_PRODUCT] = {"Product_Name", false},
	[AGENT_MODEL] = {"Model_Name", false},
	[AGENT_NAME] = {"Name", false},
};

/*
 * Number of GPUs among the agents read so far. HIP numbers GPUs from 0 in the order of the file, so this is
 * also HIP's number of the next GPU.
 */
static int64_t gpu_count(const struct kwhy_rocprof *rocprof)
{
	int64_t count = 0;

	for (size_t i = 0; i < rocprof->agent_count; i++)
		count += rocprof->agents[i].is_gpu;
	return count;
}

static enum kwhy_status read_agent(struct kwhy_rocprof_csv *csv, struct kwhy_error *error)
{
	struct kwhy_rocprof_figures figures = {.number = gpu_count(csv->rocprof),
		.is_gpu = kwhy_span_is(kwhy_csv_field(csv->csv, AGENT_TYPE), "GPU"),
		.product = kwhy_csv_field(csv->csv, AGENT_PRODUCT),
		.model = kwhy_csv_field(csv->csv, AGENT_MODEL),
		.name = kwhy_csv_field(csv->csv, AGENT_NAME)};
	static const size_t columns[] = {AGENT_ID, AGENT_LOGICAL_ID, AGENT_WAVES_PER_SIMD, AGENT_SIMDS,
		AGENT_WAVES, AGENT_WAVE_THREADS, AGENT_UNITS, AGENT_LDS, AGENT_DOMAIN, AGENT_LOCATION,
		AGENT_MEMORY};
	int64_t *const outs[] = {&figures.id, &figures.logical, &figures.waves_per_simd,
		&figures.simds_per_unit, &figures.waves_per_unit, &figures.threads_per_wave, &figures.units,
		&figures.lds_kib, &figures.domain, &figures.location, &figures.memory_bytes};
	enum kwhy_status status = take_integers(csv, columns, outs, sizeof(outs) / sizeof(outs[0]), error);

	if (figures.logical == KWHY_ROCPROF_UNKNOWN)
		figures.logical = figures.id;
	return status ? status : kwhy_rocprof_agent_add(csv->rocprof, &figures, error);
}

/*
 * How a field denotes an agent: "Agent N" by its logical number, "GPU N" or "CPU N" by its number among the
 * GPUs or CPUs, or a bare N by its node id.
 */
enum counting { BY_LOGICAL, AMONG_GPUS, AMONG_CPUS, BY_NODE };
static const char *const counted[] = {"Agent ", "GPU ", "CPU "};

static bool is_counted(
	const struct kwhy_rocprof_agent *agent, enum counting counting, int64_t number, int64_t *seen)
{
	if (counting == BY_LOGICAL)
		return agent->logical == number;
	return agent->is_gpu == (counting == AMONG_GPUS) && (*seen)++ == number;
}

/*
 * Sets *out to the id of the agent that a field denotes (enum counting); files before ROCm 6.4 have a bare
 * number, the id. KWHY_ROCPROF_UNKNOWN: the field is empty, or there is no such agent.
 */
static enum kwhy_status take_agent(
	struct kwhy_rocprof_csv *csv, size_t column, int64_t *out, struct kwhy_error *error)
{
	struct kwhy_span text = kwhy_csv_field(csv->csv, column);
	enum counting counting = BY_LOGICAL;
	int64_t number, seen = 0;
	enum kwhy_status status;

	*out = KWHY_ROCPROF_UNKNOWN;
	if (text.length == 0)
		return KWHY_OK;
	while (counting < BY_NODE &&
		(text.length <= strlen(counted[counting]) ||
			memcmp(text.bytes, counted[counting], strlen(counted[counting])) != 0))
		counting++;
	if (counting < BY_NODE) {
		text.bytes += strlen(counted[counting]);
		text.length -= strlen(counted[counting]);
	}
	status = kwhy_csv_parse_integer(csv->csv, "the agent's number", text, any, &number, error);
	if (status)
		return status;
	if (counting == BY_NODE)
		*out = number;
	for (size_t i = 0; counting < BY_NODE && i < csv->rocprof->agent_count; i++)
		if (is_counted(&csv->rocprof->agents[i], counting, number, &seen))
			*out = csv->rocprof->agents[i].id;
	return KWHY_OK;
}

/* Columns of files about kernels. */

enum kernel_column {
	KERNEL_START,
	KERNEL_END,
	KERNEL_NAME,
	KERNEL_AGENT,
	KERNEL_QUEUE,
	KERNEL_STREAM,
	KERNEL_CORRELATION,
	KERNEL_SHARED,
	KERNEL_ARCH,
	KERNEL_ACCUM,
	KERNEL_GROUP_X,
	KERNEL_GROUP_Y,
	KERNEL_GROUP_Z,
	KERNEL_GRID_X,
	KERNEL_GRID_Y,
	KERNEL_GRID_Z,
	KERNEL_COLUMN_COUNT
};

static const struct kwhy_csv_column kernel_columns[KERNEL_COLUMN_COUNT] = {
	[KERNEL_START] = {"Start_Timestamp", true},
	[KERNEL_END] = {"End_Timestamp", true},
	[KERNEL_NAME] = {"Kernel_Name", true},
	[KERNEL_AGENT] = {"Agent_Id", true},
	[KERNEL_QUEUE] = {"Queue_Id", false},
	[KERNEL_STREAM] = {"Stream_Id", false},
	[KERNEL_CORRELATION] = {"Correlation_Id", false},
	[KERNEL_SHARED] = {"LDS_Block_Size", false},
	[KERNEL_ARCH] = {"VGPR_Count", false},
	[KERNEL_ACCUM] = {"Accum_VGPR_Count", false},
	[KERNEL_GROUP_X] = {"Workgroup_Size_X", false},
	[KERNEL_GROUP_Y] = {"Workgroup_Size_Y", false},
	[KERNEL_GROUP_Z] = {"Workgroup_Size_Z", false},
	[KERNEL_GRID_X] = {"Grid_Size_X", false},
	[KERNEL_GRID_Y] = {"Grid_Size_Y", false},
	[KERNEL_GRID_Z] = {"Grid_Size_Z", false},
};

static enum kwhy_status read_kernel(struct kwhy_rocprof_csv *csv, struct kwhy_error *error)
{
	struct kwhy_rocprof_kernel kernel = {.work.graph_node = KWHY_ROCPROF_UNKNOWN};
	int64_t queue, arch, accum;
	static const size_t columns[] = {KERNEL_START, KERNEL_END, KERNEL_QUEUE, KERNEL_STREAM,
		KERNEL_CORRELATION, KERNEL_SHARED, KERNEL_ARCH, KERNEL_ACCUM, KERNEL_GROUP_X, KERNEL_GROUP_Y,
		KERNEL_GROUP_Z, KERNEL_GRID_X, KERNEL_GRID_Y, KERNEL_GRID_Z};
	int64_t *const outs[] = {&kernel.work.start_ns, &kernel.work.end_ns, &queue, &kernel.work.stream,
		&kernel.work.correlation, &kernel.shared_bytes, &arch, &accum, &kernel.workgroup[0],
		&kernel.workgroup[1], &kernel.workgroup[2], &kernel.grid[0], &kernel.grid[1],
		&kernel.grid[2]};
	enum kwhy_status status = take_integers(csv, columns, outs, sizeof(outs) / sizeof(outs[0]), error);

	if (!status)
		status = take_agent(csv, KERNEL_AGENT, &kernel.work.agent, error);
	if (!status)
		status = kwhy_rocprof_name(
			csv->rocprof, kwhy_csv_field(csv->csv, KERNEL_NAME), &kernel.name, error);
	if (status)
		return status;
	if (kernel.work.stream == KWHY_ROCPROF_UNKNOWN)
		kernel.work.stream = queue;
	kernel.registers = arch >= 0 && accum > 0 && accum < KWHY_UNKNOWN_U16 ? arch + accum : arch;
	return kwhy_rocprof_kernel_add(csv->rocprof, &kernel, error);
}

/* Columns of files about copies. */

enum copy_column {
	COPY_START,
	COPY_END,
	COPY_DIRECTION,
	COPY_SOURCE,
	COPY_DESTINATION,
	COPY_STREAM,
	COPY_CORRELATION,
	COPY_COLUMN_COUNT
};

static const struct kwhy_csv_column copy_columns[COPY_COLUMN_COUNT] = {
	[COPY_START] = {"Start_Timestamp", true},
	[COPY_END] = {"End_Timestamp", true},
	[COPY_DIRECTION] = {"Direction", true},
	[COPY_SOURCE] = {"Source_Agent_Id", true},
	[COPY_DESTINATION] = {"Destination_Agent_Id", true},
	[COPY_STREAM] = {"Stream_Id", false},
	[COPY_CORRELATION] = {"Correlation_Id", false},
};

static enum kwhy_status read_copy(struct kwhy_rocprof_csv *csv, struct kwhy_error *error)
{
	struct kwhy_rocprof_copy copy = {.work.graph_node = KWHY_ROCPROF_UNKNOWN,
		.bytes = KWHY_ROCPROF_UNKNOWN,
		.direction = kwhy_csv_field(csv->csv, COPY_DIRECTION)};
	static const size_t columns[] = {COPY_START, COPY_END, COPY_STREAM, COPY_CORRELATION};
	int64_t *const outs[] = {
		&copy.work.start_ns, &copy.work.end_ns, &copy.work.stream, &copy.work.correlation};
	enum kwhy_status status = take_integers(csv, columns, outs, sizeof(outs) / sizeof(outs[0]), error);

	if (!status)
		status = take_agent(csv, COPY_SOURCE, &copy.source, error);
	if (!status)
		status = take_agent(csv, COPY_DESTINATION, &copy.destination, error);
	return status ? status : kwhy_rocprof_copy_add(csv->rocprof, &copy, error);
}

/* Columns of files about calls and markers. */

enum host_column {
	HOST_START,
	HOST_END,
	HOST_NAME,
	HOST_PROCESS,
	HOST_THREAD,
	HOST_CORRELATION,
	HOST_COLUMN_COUNT
};

static const struct kwhy_csv_column host_columns[HOST_COLUMN_COUNT] = {
	[HOST_START] = {"Start_Timestamp", true},
	[HOST_END] = {"End_Timestamp", true},
	[HOST_NAME] = {"Function", true},
	[HOST_PROCESS] = {"Process_Id", true},
	[HOST_THREAD] = {"Thread_Id", true},
	[HOST_CORRELATION] = {"Correlation_Id", false},
};

static enum kwhy_status take_host(
	struct kwhy_rocprof_csv *csv, struct kwhy_rocprof_host *host, struct kwhy_error *error)
{
	int64_t pid;
	static const size_t columns[] = {HOST_START, HOST_END, HOST_PROCESS, HOST_THREAD, HOST_CORRELATION};
	int64_t *const outs[] = {&host->start_ns, &host->end_ns, &pid, &host->thread, &host->correlation};
	enum kwhy_status status = take_integers(csv, columns, outs, sizeof(outs) / sizeof(outs[0]), error);

	host->name = kwhy_csv_field(csv->csv, HOST_NAME);
	if (!status && pid >= 0)
		csv->rocprof->recording->processes[csv->rocprof->process].pid = pid;
	return status;
}

static enum kwhy_status read_call(struct kwhy_rocprof_csv *csv, struct kwhy_error *error)
{
	struct kwhy_rocprof_host call;
	enum kwhy_status status = take_host(csv, &call, error);

	return status ? status : kwhy_rocprof_call_add(csv->rocprof, &call, error);
}

static enum kwhy_status read_range(struct kwhy_rocprof_csv *csv, struct kwhy_error *error)
{
	struct kwhy_rocprof_host range;
	enum kwhy_status status = take_host(csv, &range, error);

	return status ? status : kwhy_rocprof_range_add(csv->rocprof, &range, error);
}

const struct kwhy_rocprof_csv_kind kwhy_rocprof_csv_kinds[KWHY_ROCPROF_CSV_KINDS] = {
	{"_agent_info.csv", agent_columns, AGENT_COLUMN_COUNT, read_agent, false},
	{"_hip_api_trace.csv", host_columns, HOST_COLUMN_COUNT, read_call, true},
	{"_hsa_api_trace.csv", host_columns, HOST_COLUMN_COUNT, read_call, true},
	{"_rccl_api_trace.csv", host_columns, HOST_COLUMN_COUNT, read_call, true},
	{"_marker_api_trace.csv", host_columns, HOST_COLUMN_COUNT, read_range, true},
	{"_kernel_trace.csv", kernel_columns, KERNEL_COLUMN_COUNT, read_kernel, true},
	{"_memory_copy_trace.csv", copy_columns, COPY_COLUMN_COUNT, read_copy, true},
};
