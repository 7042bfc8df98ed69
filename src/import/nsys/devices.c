/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/nsys.h"

#include "base/column.h"

#include <stdlib.h>
#include <string.h>

/*
 * Columns of the table with the properties of GPUs, TARGET_INFO_GPU; in older exports its name is
 * TARGET_INFO_CUDA_GPU. No export has all columns.
 */
enum gpu_column {
	GPU_ID,
	GPU_NAME,
	GPU_UUID,
	GPU_MEMORY,
	GPU_RATE,
	GPU_SMS,
	GPU_WARPS,
	GPU_WARP_THREADS,
	GPU_REGISTERS,
	GPU_SHARED,
	GPU_COMPUTE_MAJOR,
	GPU_COMPUTE_MINOR,
	GPU_PCI,
	GPU_COLUMN_COUNT
};

static const struct kwhy_sqlite_column gpu_columns[GPU_COLUMN_COUNT] = {
	[GPU_ID] = {"id", "gpuId"},
	[GPU_NAME] = {"name", NULL},
	[GPU_UUID] = {"uuid", NULL},
	[GPU_MEMORY] = {"totalMemory", NULL},
	[GPU_RATE] = {"memoryBandwidth", NULL},
	[GPU_SMS] = {"smCount", "numMultiprocessors"},
	[GPU_WARPS] = {"maxWarpsPerSm", NULL},
	[GPU_WARP_THREADS] = {"threadsPerWarp", NULL},
	[GPU_REGISTERS] = {"maxRegistersPerSm", NULL},
	[GPU_SHARED] = {"maxShmemPerSm", NULL},
	[GPU_COMPUTE_MAJOR] = {"computeMajor", NULL},
	[GPU_COMPUTE_MINOR] = {"computeMinor", NULL},
	[GPU_PCI] = {"busLocation", NULL},
};

static const struct kwhy_sqlite_table gpu_tables[] = {
	{"TARGET_INFO_GPU", gpu_columns, GPU_COLUMN_COUNT},
	{"TARGET_INFO_CUDA_GPU", gpu_columns, GPU_COLUMN_COUNT},
};

/*
 * Columns of TARGET_INFO_CUDA_DEVICE, which exports have since schema 3.20. It maps the CUDA device number of
 * a process, which depends on CUDA_VISIBLE_DEVICES, to a physical GPU.
 */
enum { MAP_GPU, MAP_ORDINAL, MAP_PID, MAP_UUID, MAP_SMS, MAP_COLUMN_COUNT };

static const struct kwhy_sqlite_column map_columns[MAP_COLUMN_COUNT] = {
	[MAP_GPU] = {"gpuId", NULL},
	[MAP_ORDINAL] = {"cudaId", NULL},
	[MAP_PID] = {"pid", NULL},
	[MAP_UUID] = {"uuid", NULL},
	[MAP_SMS] = {"numMultiprocessors", NULL},
};

static const struct kwhy_sqlite_table map_table = {"TARGET_INFO_CUDA_DEVICE", map_columns, MAP_COLUMN_COUNT};

/* The number in a column if it is above 0 and below 2^32 - 1; otherwise 0, which means unknown. */
static uint32_t figure(const struct kwhy_sqlite_rows *rows, size_t column)
{
	int64_t value;

	return kwhy_sqlite_integer(rows, column, &value) && value > 0 && value < UINT32_MAX ? (uint32_t)value
											    : 0;
}

static struct kwhy_nsys_gpu *find_gpu(struct kwhy_nsys *nsys, int64_t id)
{
	for (size_t i = 0; i < nsys->gpu_count; i++)
		if (nsys->gpus[i].id == id)
			return &nsys->gpus[i];
	return NULL;
}

/*
 * Sets *out to the GPU with that id, which is added if it is new; NULL: there are already
 * KWHY_NSYS_DEVICES_MAX.
 */
static enum kwhy_status take_gpu(
	struct kwhy_nsys *nsys, int64_t id, struct kwhy_nsys_gpu **out, struct kwhy_error *error)
{
	enum kwhy_status status;

	*out = find_gpu(nsys, id);
	if (*out || nsys->gpu_count == KWHY_NSYS_DEVICES_MAX)
		return KWHY_OK;
	status = kwhy_column_reserve((void **)&nsys->gpus, &nsys->gpu_capacity, nsys->gpu_count + 1,
		sizeof(*nsys->gpus), "devices", error);
	if (status)
		return status;
	*out = &nsys->gpus[nsys->gpu_count++];
	**out = (struct kwhy_nsys_gpu){.id = id, .figures = kwhy_device_unknown(0, KWHY_NONE)};
	return KWHY_OK;
}

static enum kwhy_status read_gpu(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_nsys_gpu *gpu;
	enum kwhy_status status;
	struct kwhy_device *figures;
	int64_t id, value;

	if (!kwhy_sqlite_integer(rows, GPU_ID, &id))
		return KWHY_OK;
	status = take_gpu(nsys, id, &gpu, error);
	if (status || !gpu)
		return status;
	figures = &gpu->figures;
	figures->name = kwhy_sqlite_kept_text(rows, GPU_NAME, &nsys->tracks);
	figures->uuid = kwhy_sqlite_kept_text(rows, GPU_UUID, &nsys->tracks);
	figures->pci = kwhy_sqlite_kept_text(rows, GPU_PCI, &nsys->tracks);
	figures->sm_count = figure(rows, GPU_SMS);
	figures->registers_per_sm = figure(rows, GPU_REGISTERS);
	figures->shared_bytes_per_sm = figure(rows, GPU_SHARED);
	figures->compute_major = figure(rows, GPU_COMPUTE_MAJOR);
	figures->compute_minor = figure(rows, GPU_COMPUTE_MINOR);
	if (figure(rows, GPU_WARPS) < 65536 && figure(rows, GPU_WARP_THREADS) < 65536)
		figures->threads_per_sm = figure(rows, GPU_WARPS) * figure(rows, GPU_WARP_THREADS);
	if (kwhy_sqlite_integer(rows, GPU_MEMORY, &value) && value > 0)
		figures->memory_bytes = (uint64_t)value;
	if (kwhy_sqlite_integer(rows, GPU_RATE, &value) && value > 0)
		figures->memory_rate_bytes_per_s = (double)value;
	return KWHY_OK;
}

static enum kwhy_status read_mapping(
	struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows, struct kwhy_error *error)
{
	struct kwhy_track_key key = {.a = -1};
	struct kwhy_nsys_gpu *gpu;
	enum kwhy_status status;
	int64_t id;

	if (!kwhy_sqlite_integer(rows, MAP_GPU, &id) || !kwhy_sqlite_integer(rows, MAP_ORDINAL, &key.b) ||
		id < 0 || id >= KWHY_NSYS_DEVICES_MAX)
		return KWHY_OK;
	if (!kwhy_sqlite_integer(rows, MAP_PID, &key.a))
		key.a = -1;
	status = kwhy_track_map_put(&nsys->physical, key, (uint32_t)id, error);
	if (!status)
		status = take_gpu(nsys, id, &gpu, error);
	if (status || !gpu)
		return status;
	if (!gpu->figures.uuid)
		gpu->figures.uuid = kwhy_sqlite_kept_text(rows, MAP_UUID, &nsys->tracks);
	if (gpu->figures.sm_count == 0)
		gpu->figures.sm_count = figure(rows, MAP_SMS);
	return KWHY_OK;
}

static enum kwhy_status read_table(struct kwhy_nsys *nsys, const struct kwhy_sqlite_table *table,
	enum kwhy_status (*read)(struct kwhy_nsys *, const struct kwhy_sqlite_rows *, struct kwhy_error *),
	struct kwhy_error *error)
{
	struct kwhy_sqlite_rows rows = {0};
	enum kwhy_status status;
	bool more;

	status = kwhy_sqlite_rows_open(nsys->db, table, &rows, &more, error);
	while (!status && more && rows.number < KWHY_TRACKS_MAX) {
		status = kwhy_sqlite_rows_next(&rows, &more, error);
		if (!status && more)
			status = read(nsys, &rows, error);
	}
	kwhy_sqlite_rows_close(&rows);
	return status;
}

enum kwhy_status kwhy_nsys_devices_read(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	enum kwhy_status status = KWHY_OK;

	for (size_t i = 0; !status && i < sizeof(gpu_tables) / sizeof(gpu_tables[0]); i++)
		status = read_table(nsys, &gpu_tables[i], read_gpu, error);
	return status ? status : read_table(nsys, &map_table, read_mapping, error);
}

int64_t kwhy_nsys_physical(struct kwhy_nsys *nsys, uint32_t process, int64_t ordinal)
{
	struct kwhy_track_key key = {.a = nsys->recording->processes[process].pid, .b = ordinal};
	uint32_t id;

	if (kwhy_track_map_find(&nsys->physical, key, &id))
		return id;
	key.a = -1;
	return kwhy_track_map_find(&nsys->physical, key, &id) ? (int64_t)id : ordinal;
}

/*
 * Sets the properties of a device from the GPU whose id is the device's index. Does nothing if there is no
 * such GPU or the device already has a name.
 */
static void describe(struct kwhy_nsys *nsys, struct kwhy_device *device)
{
	const struct kwhy_nsys_gpu *gpu = find_gpu(nsys, device->index);
	struct kwhy_device known;

	if (!gpu || device->name)
		return;
	known = gpu->figures;
	known.index = device->index;
	known.rank = device->rank;
	known.machine = device->machine;
	*device = known;
}

enum kwhy_status kwhy_nsys_device(struct kwhy_nsys *nsys, const struct kwhy_sqlite_rows *rows,
	uint32_t process, int64_t ordinal, uint32_t *out_device, struct kwhy_error *error)
{
	size_t before = nsys->tracks.devices.map.count;
	int64_t index = kwhy_nsys_physical(nsys, process, ordinal);
	enum kwhy_status status;

	if (index < 0 || index >= KWHY_NSYS_DEVICES_MAX)
		return kwhy_sqlite_row_fail(
			rows, error, "its device is not between 0 and 1023; skip such rows with --partial");
	status = kwhy_tracks_device(&nsys->tracks,
		&(struct kwhy_track_device){(int32_t)index, nsys->rank, KWHY_NONE}, out_device, error);
	if (!status && nsys->tracks.devices.map.count > before)
		describe(nsys, &nsys->recording->devices[*out_device]);
	return status;
}

/*
 * For each device of the recording from number `first` on, sets place[device] to the number that the device
 * gets when these devices are sorted by index.
 */
static void rank_devices(const struct kwhy_recording *recording, size_t first, uint32_t *place)
{
	for (size_t i = first; i < recording->device_count; i++) {
		place[i] = (uint32_t)first;
		for (size_t other = first; other < recording->device_count; other++)
			place[i] += recording->devices[other].index < recording->devices[i].index;
	}
}

static void move_devices(struct kwhy_nsys *nsys, const uint32_t *place, struct kwhy_device *scratch)
{
	struct kwhy_recording *recording = nsys->recording;

	for (size_t i = nsys->first_device; i < recording->device_count; i++)
		scratch[place[i]] = recording->devices[i];
	for (size_t i = nsys->first_device; i < recording->device_count; i++)
		recording->devices[i] = scratch[i];
	for (size_t i = nsys->first_stream; i < recording->stream_count; i++)
		if (recording->streams[i].device >= nsys->first_device)
			recording->streams[i].device = place[recording->streams[i].device];
	for (size_t i = 0; i < nsys->memory_count; i++)
		if (nsys->memory[i].device >= nsys->first_device)
			nsys->memory[i].device = place[nsys->memory[i].device];
}

enum kwhy_status kwhy_nsys_devices_sort(struct kwhy_nsys *nsys, struct kwhy_error *error)
{
	size_t count = nsys->recording->device_count;
	struct kwhy_device *scratch = calloc(count + 1, sizeof(*scratch));
	uint32_t *place = calloc(count + 1, sizeof(*place));
	bool made = scratch && place;

	if (made) {
		rank_devices(nsys->recording, nsys->first_device, place);
		move_devices(nsys, place, scratch);
	}
	free(scratch);
	free(place);
	return made ? KWHY_OK : kwhy_fail_memory(error, "devices");
}
