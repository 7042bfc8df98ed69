/* SPDX-License-Identifier: Apache-2.0 */
#include "model/ledger.h"
#include "model/recording.h"

/* Names of the model's enumerations, as in report.json and CSV. */

const char *kwhy_activity_kind_name(enum kwhy_activity_kind kind)
{
	static const char *const names[KWHY_ACTIVITY_KIND_COUNT] = {
		[KWHY_ACTIVITY_KERNEL] = "kernel",
		[KWHY_ACTIVITY_COLLECTIVE] = "collective",
		[KWHY_ACTIVITY_GRAPH] = "graph",
		[KWHY_ACTIVITY_COPY] = "copy",
		[KWHY_ACTIVITY_MEMSET] = "memset",
	};

	return names[kind];
}

const char *kwhy_call_class_name(enum kwhy_call_class class)
{
	static const char *const names[KWHY_CALL_CLASS_COUNT] = {
		[KWHY_CALL_OTHER] = "other",
		[KWHY_CALL_LAUNCH] = "launch",
		[KWHY_CALL_COPY] = "copy",
		[KWHY_CALL_SYNC] = "sync",
		[KWHY_CALL_ALLOC] = "alloc",
		[KWHY_CALL_FREE] = "free",
	};

	return names[class];
}

const char *kwhy_copy_kind_name(enum kwhy_copy_kind kind)
{
	static const char *const names[KWHY_COPY_KIND_COUNT] = {
		[KWHY_COPY_UNKNOWN] = "unknown",
		[KWHY_COPY_H2D] = "h2d",
		[KWHY_COPY_D2H] = "d2h",
		[KWHY_COPY_D2D] = "d2d",
		[KWHY_COPY_P2P] = "p2p",
		[KWHY_COPY_H2H] = "h2h",
	};

	return names[kind];
}

const char *kwhy_memory_kind_name(enum kwhy_memory_kind kind)
{
	static const char *const names[KWHY_MEMORY_KIND_COUNT] = {
		[KWHY_MEMORY_UNKNOWN] = "unknown",
		[KWHY_MEMORY_PAGEABLE] = "pageable",
		[KWHY_MEMORY_PINNED] = "pinned",
		[KWHY_MEMORY_DEVICE] = "device",
		[KWHY_MEMORY_ARRAY] = "array",
		[KWHY_MEMORY_MANAGED] = "managed",
		[KWHY_MEMORY_DEVICE_STATIC] = "device_static",
		[KWHY_MEMORY_MANAGED_STATIC] = "managed_static",
	};

	return names[kind];
}

const char *kwhy_host_kind_name(enum kwhy_host_kind kind)
{
	static const char *const names[KWHY_HOST_KIND_COUNT] = {
		[KWHY_HOST_NVTX] = "nvtx",
		[KWHY_HOST_USER] = "user",
		[KWHY_HOST_STEP] = "step",
		[KWHY_HOST_OPERATOR] = "operator",
		[KWHY_HOST_PYTHON] = "python",
		[KWHY_HOST_SYSTEM] = "system",
		[KWHY_HOST_FRAME] = "frame",
	};

	return names[kind];
}

const char *kwhy_host_wait_reason_name(enum kwhy_host_wait_reason reason)
{
	static const char *const names[KWHY_HOST_WAIT_REASON_COUNT] = {
		[KWHY_HOST_WAIT_RANGE] = "range",
		[KWHY_HOST_WAIT_OUTSIDE] = "outside",
		[KWHY_HOST_WAIT_LAUNCHED] = "launched",
		[KWHY_HOST_WAIT_UNLINKED] = "unlinked",
	};

	return names[reason];
}

const char *kwhy_choice_name(enum kwhy_choice choice)
{
	static const char *const names[KWHY_CHOICE_COUNT] = {
		[KWHY_CHOICE_ALL] = "all",
		[KWHY_CHOICE_TIME] = "time",
		[KWHY_CHOICE_RANGE] = "range",
		[KWHY_CHOICE_DUTY] = "duty",
	};

	return names[choice];
}

const char *kwhy_cost_kind_name(enum kwhy_cost_kind kind)
{
	static const char *const names[KWHY_COST_KIND_COUNT] = {
		[KWHY_COST_THREAD] = "thread",
		[KWHY_COST_BUFFERS] = "buffers",
		[KWHY_COST_START] = "start",
		[KWHY_COST_SWITCH] = "switch",
		[KWHY_COST_FINISH] = "finish",
		[KWHY_COST_LAUNCHER] = "launcher",
		[KWHY_COST_SAMPLER] = "sampler",
		[KWHY_COST_MACHINE] = "machine",
	};

	return names[kind];
}

const char *kwhy_overhead_kind_name(uint32_t kind)
{
	if (kind == KWHY_OVERHEAD_PROFILER)
		return "profiler";
	if (kind == KWHY_OVERHEAD_DEVICE)
		return "device_idle";
	if (kind == KWHY_OVERHEAD_COUNTERS)
		return "counters";
	return kwhy_cost_kind_name((enum kwhy_cost_kind)kind);
}

const char *kwhy_gauge_name(enum kwhy_gauge gauge)
{
	static const char *const names[KWHY_GAUGE_COUNT] = {
#define X(name, text) [KWHY_GAUGE_##name] = text,
		KWHY_GAUGES(X)
#undef X
	};

	return names[gauge];
}

const char *kwhy_throttle_name(unsigned bit)
{
	static const char *const names[KWHY_THROTTLE_COUNT] = {"idle", "application_clocks", "power_cap",
		"hardware", "hardware_thermal", "hardware_power_brake", "software_thermal", "sync_boost",
		"display_clocks"};

	return names[bit];
}

const char *kwhy_category_name(enum kwhy_category category)
{
	static const char *const names[KWHY_CATEGORY_COUNT] = {
		[KWHY_CATEGORY_COMPUTE] = "compute",
		[KWHY_CATEGORY_COLLECTIVE] = "collective",
		[KWHY_CATEGORY_COPY] = "copy",
		[KWHY_CATEGORY_MEMSET] = "memset",
		[KWHY_CATEGORY_OVERLAP] = "overlap",
		[KWHY_CATEGORY_SYNC] = "sync",
		[KWHY_CATEGORY_LAUNCH] = "launch",
		[KWHY_CATEGORY_ALLOC] = "alloc",
		[KWHY_CATEGORY_HOST] = "host",
		[KWHY_CATEGORY_IDLE] = "idle",
		[KWHY_CATEGORY_OUTSIDE] = "outside",
		[KWHY_CATEGORY_PROBING] = "probing",
		[KWHY_CATEGORY_UNRECORDED] = "unrecorded",
	};

	return names[category];
}

bool kwhy_category_is_idle(enum kwhy_category category)
{
	return category >= KWHY_CATEGORY_SYNC && category <= KWHY_CATEGORY_OUTSIDE;
}

const char *kwhy_basis_name(enum kwhy_basis basis)
{
	static const char *const names[KWHY_BASIS_COUNT] = {
		[KWHY_BASIS_DATA] = "data",
		[KWHY_BASIS_LEARNT] = "learnt",
		[KWHY_BASIS_ASSUMED] = "prior",
		[KWHY_BASIS_GROUPED] = "joint",
		[KWHY_BASIS_MODELLED] = "modelled",
		[KWHY_BASIS_NONE] = "none",
	};

	return names[basis];
}
