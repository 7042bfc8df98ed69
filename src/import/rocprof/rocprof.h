/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROCPROF_ROCPROF_H
#define KWHY_IMPORT_ROCPROF_ROCPROF_H

#include "base/span.h"
#include "import/collectives.h"
#include "import/import.h"
#include "import/tracks.h"

/*
 * One trace of rocprofv3 while it is read: what its three forms (database, JSON, CSV) have in common. Times
 * are of CLOCK_BOOTTIME, which the recording's clock is named after.
 */

#define KWHY_ROCPROF_AGENTS_MAX 1024

#define KWHY_ROCPROF_UNKNOWN (-1) /* an id, size or number that the trace does not have */

/* An agent of ROCm: a CPU or a GPU. Rows name agents by ids that count CPUs, too. */
struct kwhy_rocprof_agent {
	int64_t id, logical; /* its number on the machine, and among the agents that the program may use */
	bool is_gpu;
	struct kwhy_device figures; /* index: number among the GPUs, as HIP counts them; rank unused */
};

/* Figures of an agent as ROCm states them; KWHY_ROCPROF_UNKNOWN: not stated. */
struct kwhy_rocprof_figures {
	int64_t id, logical, number; /* number: among agents of its type */
	bool is_gpu;
	int64_t units, waves_per_unit, waves_per_simd, simds_per_unit, threads_per_wave, lds_kib;
	int64_t domain, location; /* location: bus in bits 8 to 15, device in 3 to 7, function in 0 to 2 */
	int64_t memory_bytes;
	struct kwhy_span product, model, name;
};

/* A row of the device. Times as the trace states them. */
struct kwhy_rocprof_work {
	int64_t start_ns, end_ns;
	int64_t agent, stream, correlation;
	int64_t graph_node;
};

struct kwhy_rocprof_kernel {
	struct kwhy_rocprof_work work;
	uint32_t name;
	int64_t grid[3]; /* in work-items, as HSA counts, not in blocks */
	int64_t workgroup[3];
	int64_t registers, shared_bytes;
};

struct kwhy_rocprof_copy {
	struct kwhy_rocprof_work work; /* its agent is not used */
	int64_t source, destination;   /* agents */
	int64_t bytes;
	struct kwhy_span direction; /* "MEMORY_COPY_HOST_TO_DEVICE"; used where an agent is not known */
};

/* A call or a range of the host. */
struct kwhy_rocprof_host {
	int64_t start_ns, end_ns;
	int64_t thread, correlation;
	struct kwhy_span name;
};

struct kwhy_rocprof_tally {
	uint64_t rows, kernels, calls;
	uint64_t untimed, other_calls, host_copies, unnamed;
};

struct kwhy_rocprof {
	struct kwhy_recording *recording;
	const struct kwhy_import_options *options;
	struct kwhy_tracks tracks;
	struct kwhy_collectives *collectives;
	struct kwhy_track_map kinds; /* of kernel names */
	uint32_t rank, world_size;   /* of the present process; KWHY_NONE and 0: not stated */
	bool rank_by_order;
	uint32_t process; /* the present process */
	uint32_t first_process;
	bool has_origin;
	int64_t shift_ns; /* added to times to get those since the recording's origin */

	struct kwhy_rocprof_agent *agents; /* of the present process */
	size_t agent_count, agent_capacity;

	const char *place; /* the table, list or file that is read now, for messages */
	uint64_t number;   /* of the row in it, from 1 */
	struct kwhy_rocprof_tally tally;
};

/* rocprof/rocprof.c */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_begin(struct kwhy_rocprof *rocprof,
	struct kwhy_recording *recording, const struct kwhy_source *source,
	const struct kwhy_import_options *options, struct kwhy_error *error);
/* Makes a process the present one, without agents. `host`: NULL where unknown. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_process(
	struct kwhy_rocprof *rocprof, int64_t pid, const char *host, struct kwhy_error *error);
/* Takes the rank of the present process from the value of one of a launcher's variables. */
struct kwhy_rocprof_ranks {
	int64_t rank, world_size;
};
void kwhy_rocprof_set_ranks(struct kwhy_rocprof *rocprof, struct kwhy_rocprof_ranks ranks);
/* Adds what could not be read as notes. A trace without any row is KWHY_E_INPUT. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_finish(struct kwhy_rocprof *rocprof, struct kwhy_error *error);
void kwhy_rocprof_release(struct kwhy_rocprof *rocprof);

/* KWHY_E_INPUT with "FILE, PLACE, row N: WORDS". */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_fail(
	const struct kwhy_rocprof *rocprof, struct kwhy_error *error, const char *words);
/* Passes over a row that is no good, where --partial asks for that. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_pass(struct kwhy_rocprof *rocprof, enum kwhy_status status);

/* rocprof/agents.c */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_agent_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_figures *figures, struct kwhy_error *error);
/* NULL: the trace does not describe it. */
const struct kwhy_rocprof_agent *kwhy_rocprof_agent_find(const struct kwhy_rocprof *rocprof, int64_t id);
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_device(
	struct kwhy_rocprof *rocprof, int64_t agent, uint32_t *out_device, struct kwhy_error *error);

/* rocprof/rows.c: add rows of the present process. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_name(
	struct kwhy_rocprof *rocprof, struct kwhy_span name, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_kernel_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_kernel *kernel, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_copy_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_copy *copy, struct kwhy_error *error);
/* Adds a call of HIP; calls of other libraries are counted and left out. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_call_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_host *call, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_range_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_host *range, struct kwhy_error *error);
/* Whether a function belongs to HIP, or to a library whose calls are left out; else it is a range's name. */
bool kwhy_rocprof_is_call(struct kwhy_span name);

#endif
