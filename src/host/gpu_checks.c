/* SPDX-License-Identifier: Apache-2.0 */
#include "host/check.h"

#include <inttypes.h>
#include <stdio.h>

#define NS_PER_S 1e9

/*
 * The check gives advice if heat has reduced the clocks for at least this time in ns since the driver was
 * loaded (NVML's thermal violation status).
 */
#define THERMAL_NS INT64_C(1000000000)

/*
 * Reasons of NVML for reduced clocks for which the check says that the GPU is too hot or slowed by its board.
 * They come from cooling or hardware, not from a setting.
 */
#define REASONS_OF_HEAT \
	(KWHY_NVML_REASON_SOFTWARE_THERMAL | KWHY_NVML_REASON_HARDWARE_THERMAL | KWHY_NVML_REASON_HARDWARE)

/*
 * Utilisation in % up to which a GPU on which NVML lists no process counts as unused: NVML averages over up
 * to a second, so a program that has just ended still shows in it.
 */
enum { BUSY_PERCENT = 5 };

/*
 * Why a check has no result: `value` or `other`, the two values that it needs, is unknown. The reason is a
 * denied permission if that is so for one of the two. A check that needs a single value passes 0 as `other`.
 */
static const char *not_reported(int64_t value, int64_t other)
{
	return value == KWHY_HOST_REFUSED || other == KWHY_HOST_REFUSED
		? "permission denied; run as root, or let an administrator grant access to /dev/nvidia*"
		: "the driver does not report it";
}

static bool is_idle(const struct kwhy_host_gpu *gpu)
{
	return gpu->busy_percent == 0 || (gpu->reasons > 0 && gpu->reasons & KWHY_NVML_REASON_IDLE);
}

static void judge_meters(const struct kwhy_judging *judging)
{
	int64_t energy_mj = judging->gpu->energy_mj, power_mw = judging->gpu->power_mw;

	if (energy_mj == KWHY_HOST_REFUSED || power_mw == KWHY_HOST_REFUSED ||
		(energy_mj < 0 && power_mw < 0))
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(energy_mj, power_mw));
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%s can be read",
			energy_mj < 0	       ? "power (no energy counter)"
				: power_mw < 0 ? "the energy counter (no power)"
					       : "energy counter and power");
}

static void judge_persistence(const struct kwhy_judging *judging)
{
	int64_t mode = judging->gpu->persistence;

	if (mode < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(mode, 0));
	else if (mode == KWHY_NVML_ENABLED)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "on: the GPU stays initialised between programs");
	else
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE,
			"off: the driver initialises the GPU for the first program and forgets it after the "
			"last");
}

static void judge_power_limit(const struct kwhy_judging *judging)
{
	int64_t limit_mw = judging->gpu->limit_mw, default_mw = judging->gpu->default_limit_mw;

	if (limit_mw < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(limit_mw, 0));
	else if (default_mw < 0)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%.0f W; the default is not known",
			(double)limit_mw / 1e3);
	else if (limit_mw < default_mw)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "%.0f W, below the default of %.0f W",
			(double)limit_mw / 1e3, (double)default_mw / 1e3);
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%.0f W, %s", (double)limit_mw / 1e3,
			limit_mw == default_mw ? "the default" : "above the default");
}

static void judge_clocks(const struct kwhy_judging *judging)
{
	const struct kwhy_host_gpu *gpu = judging->gpu;

	if (gpu->sm_clock_mhz < 0 || gpu->sm_clock_most_mhz < 0 || gpu->reasons < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(gpu->reasons, gpu->sm_clock_mhz));
	else if (gpu->reasons & KWHY_NVML_REASON_APPLICATION_CLOCKS)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE,
			"%" PRId64 " MHz of %" PRId64 " MHz, held there by clocks that were set",
			gpu->sm_clock_mhz, gpu->sm_clock_most_mhz);
	else if (is_idle(gpu) && gpu->sm_clock_mhz < gpu->sm_clock_most_mhz)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD,
			"%" PRId64 " MHz of %" PRId64 " MHz; low clocks are normal while nothing runs",
			gpu->sm_clock_mhz, gpu->sm_clock_most_mhz);
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%" PRId64 " MHz of %" PRId64 " MHz", gpu->sm_clock_mhz,
			gpu->sm_clock_most_mhz);
}

static void judge_throttling_now(const struct kwhy_judging *judging)
{
	int64_t reasons = judging->gpu->reasons;

	if (reasons < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(reasons, 0));
	else if (reasons & KWHY_NVML_REASON_HARDWARE_POWER_BRAKE)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "the power supply asks for less (power brake)");
	else if (reasons & REASONS_OF_HEAT)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "too hot, or slowed by the board");
	else if (reasons & KWHY_NVML_REASON_POWER_CAP)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "at the power limit: heavy work does that");
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "none");
}

static void judge_throttling_before(const struct kwhy_judging *judging)
{
	int64_t power_ns = judging->gpu->power_violation_ns, heat_ns = judging->gpu->thermal_violation_ns;

	if (power_ns < 0 && heat_ns < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(power_ns, heat_ns));
	else if (heat_ns >= THERMAL_NS)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "%.1f s for heat since the driver was loaded",
			(double)heat_ns / NS_PER_S);
	else if (power_ns < 0)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%.1f s for heat since the driver was loaded",
			(double)heat_ns / NS_PER_S);
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD,
			"%.1f s at the power limit%s since the driver was loaded",
			(double)power_ns / NS_PER_S, heat_ns < 0 ? "" : ", none to speak of for heat");
}

static void judge_ecc(const struct kwhy_judging *judging)
{
	const struct kwhy_host_gpu *gpu = judging->gpu;

	if (gpu->ecc < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(gpu->ecc, 0));
	else if (gpu->ecc == KWHY_NVML_DISABLED)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "off: errors of the memory go unnoticed");
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "on");
}

static void judge_memory(const struct kwhy_judging *judging)
{
	const struct kwhy_host_gpu *gpu = judging->gpu;

	if (gpu->remap_failed > 0)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "rows of the memory could not be replaced");
	else if (gpu->remap_pending > 0)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "rows of the memory wait to be replaced at a reset");
	else if (gpu->ecc_uncorrected > 0)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE,
			"%" PRId64 " uncorrected errors since the driver was loaded", gpu->ecc_uncorrected);
	else if (gpu->ecc_uncorrected < 0 && gpu->remap_pending < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s",
			not_reported(gpu->ecc_uncorrected, gpu->remap_pending));
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "no uncorrected errors");
}

static void judge_pcie_generation(const struct kwhy_judging *judging)
{
	const struct kwhy_host_gpu *gpu = judging->gpu;
	int64_t now = gpu->pcie_generation, most = gpu->pcie_generation_most;

	if (now < 0 || most < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(now, most));
	else if (now >= most)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%" PRId64 ", the most this machine can do", now);
	else if (is_idle(gpu))
		kwhy_judge(judging, KWHY_DOCTOR_GOOD,
			"%" PRId64 " of %" PRId64 "; the link slows down while nothing runs, which is normal",
			now, most);
	else
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "%" PRId64 " of %" PRId64 " although the GPU works",
			now, most);
}

static void judge_pcie_width(const struct kwhy_judging *judging)
{
	int64_t now = judging->gpu->pcie_lanes, most = judging->gpu->pcie_lanes_most;

	if (now < 0 || most < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(now, most));
	else
		kwhy_judge(judging, now < most ? KWHY_DOCTOR_ADVICE : KWHY_DOCTOR_GOOD,
			"%" PRId64 " lanes of %" PRId64, now, most);
}

static void judge_locality(const struct kwhy_judging *judging)
{
	const struct kwhy_gpu_locality *locality = &judging->gpu->locality;

	if (!locality->known)
		kwhy_judge(
			judging, KWHY_DOCTOR_UNKNOWN, "the GPU is not in the machine's map of PCI devices");
	else if (locality->numa_nodes < 2)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "one memory node, as near as it gets");
	else if (locality->node < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN,
			"the system does not say which of %d memory nodes the GPU is at",
			locality->numa_nodes);
	else if (locality->local_cpus == 0)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE,
			"the GPU is at memory node %d, and none of the %d CPUs allowed here is",
			locality->node, locality->cpus);
	else if (locality->local_cpus < locality->cpus)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE,
			"the GPU is at memory node %d with %d of the %d CPUs allowed here", locality->node,
			locality->local_cpus, locality->cpus);
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "memory node %d, where all %d CPUs allowed here are",
			locality->node, locality->cpus);
}

/* Writes a text such as ", 7 % busy"; "" if the utilisation is unknown. Returns `out`. */
static const char *busy_words(char out[32], const struct kwhy_host_gpu *gpu)
{
	out[0] = '\0';
	if (gpu->busy_percent >= 0)
		snprintf(out, 32, ", %" PRId64 " %% busy", gpu->busy_percent);
	return out;
}

static void judge_sharing(const struct kwhy_judging *judging)
{
	const struct kwhy_host_gpu *gpu = judging->gpu;
	bool one = gpu->process_count == 1;
	char busy[32];

	if (gpu->process_count < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(gpu->process_count, 0));
	else if (gpu->process_count > 0)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "%" PRId64 " %s a context%s", gpu->process_count,
			one ? "process has" : "processes have", busy_words(busy, gpu));
	else if (gpu->busy_percent > BUSY_PERCENT)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE,
			"%" PRId64 " %% busy by processes that are not shown here (another container?)",
			gpu->busy_percent);
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "no process uses it");
}

static void judge_mig(const struct kwhy_judging *judging)
{
	int64_t mode = judging->gpu->mig;

	if (mode < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(mode, 0));
	else if (mode == KWHY_NVML_ENABLED)
		kwhy_judge(
			judging, KWHY_DOCTOR_GOOD, "divided (MIG): power is metered for the whole GPU alone");
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "whole (no MIG)");
}

static void judge_compute_mode(const struct kwhy_judging *judging)
{
	int64_t mode = judging->gpu->compute_mode;

	if (mode < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", not_reported(mode, 0));
	else if (mode == KWHY_NVML_COMPUTE_PROHIBITED)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "prohibited: no program can use this GPU");
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%s",
			mode == KWHY_NVML_COMPUTE_DEFAULT ? "default" : "one process at a time");
}

const struct kwhy_check_kind kwhy_gpu_checks[] = {
	{"meters", "power meters", NULL, NULL, NULL, judge_meters},
	{"persistence", "persistence mode",
		"The first program on an unused GPU waits 1 to 3 s for it, and settings such as limits are "
		"lost.",
		"NVIDIA, Driver Persistence, overview",
		"sudo nvidia-smi -i {gpu} -pm 1, or run nvidia-persistenced", judge_persistence},
	{"power_limit", "power limit",
		"Work that would draw more runs at lower clocks; it takes longer, and often fewer joules.",
		"NVML: the limit is kept by lowering clocks",
		"if it is not meant: sudo nvidia-smi -i {gpu} -pl WATTS", judge_power_limit},
	{"clocks", "SM clock", "Work takes longer than it could, and often fewer joules.",
		"NVML, clocks event reasons",
		"if it is not meant: sudo nvidia-smi -i {gpu} --reset-gpu-clocks --reset-applications-clocks",
		judge_clocks},
	{"throttling_now", "throttling now", "Clocks fall, by hardware to half or less; times do not repeat.",
		"NVML, clocks event reasons",
		"look after cooling and power supply: nvidia-smi -i {gpu} -q -d "
		"PERFORMANCE,TEMPERATURE,POWER",
		judge_throttling_now},
	{"throttling_before", "throttling so far", "Times and joules of hot runs do not repeat.",
		"NVML, violation status", "look after cooling: nvidia-smi -i {gpu} -q -d TEMPERATURE",
		judge_throttling_before},
	{"ecc", "ECC", NULL, NULL, NULL, judge_ecc},
	{"memory_errors", "memory errors", "Programs that meet such a row end with an error.",
		"NVIDIA, GPU Memory Error Management",
		"let the GPU be reset when nothing uses it; if it comes back, have it replaced",
		judge_memory},
	{"pcie_generation", "PCIe generation",
		"Copies between host and GPU take twice as long for each generation that is missing.",
		"PCI Express: every generation from 3 to 6 doubles the rate",
		"look at the slot, the riser and the BIOS: nvidia-smi -i {gpu} -q -d PERFORMANCE; lspci -vv",
		judge_pcie_generation},
	{"pcie_width", "PCIe width", "Copies between host and GPU take longer in proportion.",
		"PCI Express: the rate goes with the lanes",
		"look at the slot, the riser and the BIOS: lspci -vv", judge_pcie_width},
	{"place", "nearest CPUs",
		"Copies and launches from a CPU at another memory node pass between the sockets.",
		"hwloc, the machine's map",
		"numactl --cpunodebind=N --membind=N COMMAND, with N the GPU's node", judge_locality},
	{"sharing", "shared or busy",
		"Measured joules are those of all. A context that does nothing costs too: an H200 drew "
		"119-124 W with one, 79 W without.",
		"measured on an H200, driver 580.159.04", "end what is not needed: nvidia-smi -i {gpu}",
		judge_sharing},
	{"mig", "division", NULL, NULL, NULL, judge_mig},
	{"compute_mode", "compute mode", "CUDA programs fail at their start.", "NVML, compute modes",
		"sudo nvidia-smi -i {gpu} -c DEFAULT", judge_compute_mode},
	{0},
};
