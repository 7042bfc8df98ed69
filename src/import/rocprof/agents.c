/* SPDX-License-Identifier: Apache-2.0 */
#include "import/rocprof/rocprof.h"

#include "base/column.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* `value` if it is above 0 and below 2^32 - 1; otherwise 0, which means unknown. */
static uint32_t figure(int64_t value)
{
	return value > 0 && value < UINT32_MAX ? (uint32_t)value : 0;
}

static uint32_t product(int64_t a, int64_t b)
{
	return a > 0 && b > 0 && a < 65536 && b < 65536 ? (uint32_t)(a * b) : 0;
}

static uint32_t threads_of(const struct kwhy_rocprof_figures *figures)
{
	int64_t waves = figures->waves_per_unit > 0
		? figures->waves_per_unit
		: product(figures->waves_per_simd, figures->simds_per_unit);

	return product(waves, figures->threads_per_wave);
}

static const char *pci_of(struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_figures *figures)
{
	char text[32];
	int length;

	if (figures->domain < 0 || figures->location <= 0 || figures->domain > 0xFFFF ||
		figures->location > 0xFFFF)
		return NULL;
	length = snprintf(text, sizeof(text), "%04" PRIx64 ":%02" PRIx64 ":%02" PRIx64 ".%" PRIx64,
		(uint64_t)figures->domain, (uint64_t)figures->location >> 8,
		(uint64_t)figures->location >> 3 & 0x1F, (uint64_t)figures->location & 7);
	return kwhy_recording_copy(rocprof->recording, text, (size_t)length);
}

static const char *name_of(struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_figures *figures)
{
	const struct kwhy_span *names[] = {&figures->product, &figures->model, &figures->name};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (names[i]->length > 0)
			return kwhy_tracks_text(&rocprof->tracks, names[i]->bytes, names[i]->length);
	return NULL;
}

static void describe(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_figures *figures, struct kwhy_device *device)
{
	*device = kwhy_device_unknown((int32_t)figures->number, KWHY_NONE);
	device->name = name_of(rocprof, figures);
	device->pci = pci_of(rocprof, figures);
	device->sm_count = figure(figures->units);
	device->threads_per_sm = threads_of(figures);
	device->shared_bytes_per_sm = product(figures->lds_kib, 1024);
	if (figures->memory_bytes > 0)
		device->memory_bytes = (uint64_t)figures->memory_bytes;
}

enum kwhy_status kwhy_rocprof_agent_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_figures *figures, struct kwhy_error *error)
{
	struct kwhy_rocprof_agent *agent;
	enum kwhy_status status;

	if (figures->is_gpu && (figures->number < 0 || figures->number >= KWHY_ROCPROF_AGENTS_MAX))
		return kwhy_rocprof_fail(
			rocprof, error, "the number of its GPU is not between 0 and 1023; record again");
	if (rocprof->agent_count == KWHY_ROCPROF_AGENTS_MAX)
		return kwhy_rocprof_fail(rocprof, error, "it has more than 1,024 agents; record again");
	status = kwhy_column_reserve((void **)&rocprof->agents, &rocprof->agent_capacity,
		rocprof->agent_count + 1, sizeof(*rocprof->agents), "agents", error);
	if (status)
		return status;
	agent = &rocprof->agents[rocprof->agent_count++];
	*agent = (struct kwhy_rocprof_agent){
		.id = figures->id, .logical = figures->logical, .is_gpu = figures->is_gpu};
	if (figures->is_gpu)
		describe(rocprof, figures, &agent->figures);
	return KWHY_OK;
}

const struct kwhy_rocprof_agent *kwhy_rocprof_agent_find(const struct kwhy_rocprof *rocprof, int64_t id)
{
	for (size_t i = 0; i < rocprof->agent_count; i++)
		if (rocprof->agents[i].id == id)
			return &rocprof->agents[i];
	return NULL;
}

enum kwhy_status kwhy_rocprof_device(
	struct kwhy_rocprof *rocprof, int64_t agent, uint32_t *out_device, struct kwhy_error *error)
{
	const struct kwhy_rocprof_agent *found = kwhy_rocprof_agent_find(rocprof, agent);
	struct kwhy_device *device, known;
	enum kwhy_status status;

	if (!found || !found->is_gpu)
		return kwhy_rocprof_fail(rocprof, error,
			found ? "its agent is a CPU; skip such rows with --partial"
			      : "the trace does not describe its agent, so that its GPU is unknown; keep "
				"*_agent_info.csv in the folder of the other files, or skip such rows with "
				"--partial");
	known = found->figures;
	status = kwhy_tracks_device(&rocprof->tracks,
		&(struct kwhy_track_device){known.index, rocprof->rank, KWHY_NONE}, out_device, error);
	if (status)
		return status;
	device = &rocprof->recording->devices[*out_device];
	if (device->name || device->pci)
		return KWHY_OK;
	known.rank = device->rank;
	known.machine = device->machine;
	*device = known;
	return KWHY_OK;
}
