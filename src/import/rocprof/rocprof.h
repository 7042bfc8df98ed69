/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_IMPORT_ROCPROF_ROCPROF_H
#define KWHY_IMPORT_ROCPROF_ROCPROF_H

#include "base/span.h"
#include "import/collectives.h"
#include "import/import.h"
#include "import/tracks.h"

/*
 * One trace of rocprofv3 while it is read: the state that its three forms (database, JSON, CSV) have in
 * common. Its times are those of CLOCK_BOOTTIME, which becomes the recording's clock.
 */

#define KWHY_ROCPROF_AGENTS_MAX 1024

#define KWHY_ROCPROF_UNKNOWN (-1) /* an id, size or number that the trace does not have */

/* An agent of ROCm, a CPU or a GPU. Rows of kernels and copies refer to agents by id. */
struct kwhy_rocprof_agent {
	int64_t id, logical; /* id: node id on the machine; logical: number among the agents that the program
				may use */
	bool is_gpu;
	struct kwhy_device
		figures; /* of a GPU; its index is the number that HIP gives it, its rank is not used */
};

/* Figures of an agent as ROCm states them; KWHY_ROCPROF_UNKNOWN: not stated. */
struct kwhy_rocprof_figures {
	int64_t id, logical, number; /* number: position among the agents of its type */
	bool is_gpu;
	int64_t units, waves_per_unit, waves_per_simd, simds_per_unit, threads_per_wave, lds_kib;
	int64_t domain, location; /* location: bus in bits 8 to 15, device in 3 to 7, function in 0 to 2 */
	int64_t memory_bytes;
	struct kwhy_span product, model, name;
};

/*
 * What kernels and copies have in common. start_ns and end_ns are times of the trace's clock; the other
 * members may be KWHY_ROCPROF_UNKNOWN.
 */
struct kwhy_rocprof_work {
	int64_t start_ns, end_ns;
	int64_t agent, stream, correlation;
	int64_t graph_node;
};

struct kwhy_rocprof_kernel {
	struct kwhy_rocprof_work work;
	uint32_t name;
	int64_t grid[3]; /* in work-items, as HSA counts the grid, not in blocks */
	int64_t workgroup[3];
	int64_t registers, shared_bytes;
};

struct kwhy_rocprof_copy {
	struct kwhy_rocprof_work work; /* its member `agent` is not used */
	int64_t source, destination;   /* ids of the agents from and to which bytes are copied */
	int64_t bytes;
	struct kwhy_span direction; /* "MEMORY_COPY_HOST_TO_DEVICE"; used if one of the agents is unknown */
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
	struct kwhy_track_map
		kinds; /* from the name of a kernel to KWHY_ACTIVITY_KERNEL or KWHY_ACTIVITY_COLLECTIVE */
	struct kwhy_map
		mangled; /* from a mangled name to the index of its demangled form in the recording's names */
	uint32_t rank, world_size; /* rank of the current process, KWHY_NONE: not stated; number of ranks, 0:
				      not stated */
	bool rank_by_order;
	uint32_t process; /* index of the current process in the recording */
	uint32_t first_process;
	bool has_origin;
	int64_t shift_ns; /* added to a time of the trace, gives the time since the recording's origin */

	struct kwhy_rocprof_agent *agents; /* agents of the current process */
	size_t agent_count, agent_capacity;

	const char *place; /* the table, list or file that is being read, for messages */
	uint64_t number;   /* number of the current row in `place`, from 1; in CSV its line */
	struct kwhy_rocprof_tally tally;
};

/* In rocprof/rocprof.c. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_begin(struct kwhy_rocprof *rocprof,
	struct kwhy_recording *recording, const struct kwhy_source *source,
	const struct kwhy_import_options *options, struct kwhy_error *error);
/* Adds a process and makes it the current one, without agents. `host` NULL: unknown. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_process(
	struct kwhy_rocprof *rocprof, int64_t pid, const char *host, struct kwhy_error *error);
/*
 * Sets rank and world size of the current process as its launcher stated them; does nothing unless there are
 * at least two ranks and the rank is below their number.
 */
struct kwhy_rocprof_ranks {
	int64_t rank, world_size;
};
void kwhy_rocprof_set_ranks(struct kwhy_rocprof *rocprof, struct kwhy_rocprof_ranks ranks);
/*
 * Adds notes on what the trace lacks and on what could not be read of it. KWHY_E_INPUT: the trace has no row.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_finish(struct kwhy_rocprof *rocprof, struct kwhy_error *error);
void kwhy_rocprof_release(struct kwhy_rocprof *rocprof);

/* Fails with KWHY_E_INPUT and the message "FILE, PLACE, row N: WORDS". */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_fail(
	const struct kwhy_rocprof *rocprof, struct kwhy_error *error, const char *words);
/*
 * Counts a row that was read with this status. With --partial an unusable row (KWHY_E_INPUT) is skipped and
 * the result is KWHY_OK; otherwise it is `status`.
 */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_pass(struct kwhy_rocprof *rocprof, enum kwhy_status status);

/* In rocprof/agents.c. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_agent_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_figures *figures, struct kwhy_error *error);
/* Finds the agent with this id; NULL: the trace does not describe it. */
const struct kwhy_rocprof_agent *kwhy_rocprof_agent_find(const struct kwhy_rocprof *rocprof, int64_t id);
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_device(
	struct kwhy_rocprof *rocprof, int64_t agent, uint32_t *out_device, struct kwhy_error *error);

/* In rocprof/rows.c: functions that add rows of the current process. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_name(
	struct kwhy_rocprof *rocprof, struct kwhy_span name, uint32_t *out_name, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_kernel_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_kernel *kernel, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_copy_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_copy *copy, struct kwhy_error *error);
/* Adds a call of HIP; calls of other libraries are counted and not added. */
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_call_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_host *call, struct kwhy_error *error);
KWHY_MUST_USE enum kwhy_status kwhy_rocprof_range_add(
	struct kwhy_rocprof *rocprof, const struct kwhy_rocprof_host *range, struct kwhy_error *error);
/*
 * Whether a name is that of a function of HIP, or of another library whose calls are not added; otherwise it
 * is the name of a range.
 */
bool kwhy_rocprof_is_call(struct kwhy_span name);

#endif
