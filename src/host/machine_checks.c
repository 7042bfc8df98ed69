/* SPDX-License-Identifier: Apache-2.0 */
#include "base/quantity.h"
#include "host/check.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void judge_gpus(const struct kwhy_judging *judging)
{
	const struct kwhy_host_facts *facts = judging->facts;

	if (facts->no_gpu)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s", facts->no_gpu);
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "all that the driver shows can be looked at");
}

static void judge_driver(const struct kwhy_judging *judging)
{
	const struct kwhy_host_facts *facts = judging->facts;

	if (!facts->driver)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "no driver tells its version");
	else if (facts->cuda_version < 0)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%s", facts->driver);
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%s, for programs up to CUDA %" PRId64 ".%" PRId64,
			facts->driver, facts->cuda_version / 1000, facts->cuda_version % 1000 / 10);
}

/*
 * NCCL's version number is major * 10000 + minor * 100 + patch, 22809 for 2.28.9; up to 2.8 it was major *
 * 1000 + ..., 2804 for 2.8.4.
 */
static void judge_nccl(const struct kwhy_judging *judging)
{
	int64_t version = judging->facts->nccl_version, major = version < 10000 ? 1000 : 10000;

	if (version < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN,
			"libnccl.so.2 is not on the library path (PyTorch brings its own)");
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%" PRId64 ".%" PRId64 ".%" PRId64, version / major,
			version % major / 100, version % 100);
}

static void judge_cpus(const struct kwhy_judging *judging)
{
	const struct kwhy_host_facts *facts = judging->facts;

	if (facts->cpus_allowed < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "the machine's map cannot be read");
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%" PRId64 " of %" PRId64 " may be used",
			facts->cpus_allowed, facts->cpus);
}

static void judge_cpu_quota(const struct kwhy_judging *judging)
{
	const struct kwhy_host_facts *facts = judging->facts;

	if (isnan(facts->cpu_quota))
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "no limit on CPU time");
	else if (facts->cpus_allowed < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN,
			"time of %.3g CPUs is granted, how many are shown is not known", facts->cpu_quota);
	else if (facts->cpu_quota < (double)facts->cpus_allowed)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "time of %.3g CPUs is granted, %" PRId64 " are shown",
			facts->cpu_quota, facts->cpus_allowed);
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "time of %.3g CPUs, enough for those shown",
			facts->cpu_quota);
}

static void judge_memory_limit(const struct kwhy_judging *judging)
{
	const struct kwhy_host_facts *facts = judging->facts;
	char limit[KWHY_QUANTITY_BYTES], total[KWHY_QUANTITY_BYTES];

	if (facts->memory_total_bytes < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "/proc/meminfo cannot be read");
	else if (facts->memory_limit_bytes < 0 || facts->memory_limit_bytes >= facts->memory_total_bytes)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "all of %s",
			kwhy_quantity_bytes(total, (uint64_t)facts->memory_total_bytes));
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%s of %s, pinned memory included",
			kwhy_quantity_bytes(limit, (uint64_t)facts->memory_limit_bytes),
			kwhy_quantity_bytes(total, (uint64_t)facts->memory_total_bytes));
}

static void judge_container(const struct kwhy_judging *judging)
{
	const struct kwhy_host_facts *facts = judging->facts;

	if (facts->container || facts->hypervisor)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%s%s%s%s", facts->container ? "in " : "",
			facts->container ? facts->container : "",
			facts->container && facts->hypervisor ? ", on " : "",
			facts->hypervisor ? "a virtual machine" : "");
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "no sign of a container or a virtual machine");
}

/*
 * The governor "powersave" keeps the CPUs at their lowest clock. But the drivers intel_pstate and amd-pstate
 * choose the clock themselves and call their default governor "powersave", for which there is no advice.
 */
static void judge_governor(const struct kwhy_judging *judging)
{
	const struct kwhy_host_facts *facts = judging->facts;
	const bool chooses = facts->cpu_driver && strstr(facts->cpu_driver, "pstate");

	if (!facts->governor)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN,
			"the system shows no CPU frequencies (virtual machines do not)");
	else if (strcmp(facts->governor, "powersave") == 0 && !chooses)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "powersave: the CPUs stay at their lowest clock");
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%s%s%s", facts->governor,
			facts->cpu_driver ? ", by " : "", facts->cpu_driver ? facts->cpu_driver : "");
}

static void judge_clock_source(const struct kwhy_judging *judging)
{
	static const char *const fast[] = {
		"tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page"};
	const char *source = judging->facts->clock_source;

	if (!source) {
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "the system does not say");
		return;
	}
	for (size_t i = 0; i < sizeof(fast) / sizeof(fast[0]); i++)
		if (strcmp(source, fast[i]) == 0) {
			kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%s, read without a system call", source);
			return;
		}
	kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "%s: each look at the clock is a system call", source);
}

static void judge_rapl(const struct kwhy_judging *judging)
{
	const struct kwhy_host_facts *facts = judging->facts;

	if (!facts->rapl)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN,
			"not available: no RAPL counter here (virtual machines have none; else try modprobe "
			"intel_rapl_msr)");
	else if (facts->rapl_readable)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "RAPL can be read");
	else
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "RAPL is there, but for root alone");
}

static void judge_mps(const struct kwhy_judging *judging)
{
	kwhy_judge(judging, KWHY_DOCTOR_GOOD, "%s",
		judging->facts->mps ? "a daemon runs: kernels of several processes run concurrently, and "
				      "their joules are those of all"
				    : "no daemon");
}

const struct kwhy_check_kind kwhy_machine_checks[] = {
	{"gpus", "GPUs", NULL, NULL, NULL, judge_gpus},
	{"driver", "NVIDIA driver", NULL, NULL, NULL, judge_driver},
	{"nccl", "NCCL", NULL, NULL, NULL, judge_nccl},
	{"mps", "MPS", NULL, NULL, NULL, judge_mps},
	{"cpus", "CPUs", NULL, NULL, NULL, judge_cpus},
	{"cpu_quota", "CPU time",
		"Threads beyond the quota stand still until the next period, 100 ms by default; the GPU then "
		"waits for launches.",
		"Linux, CFS bandwidth control",
		"as many worker threads as CPUs are granted, or a larger quota", judge_cpu_quota},
	{"memory_limit", "host memory", NULL, NULL, NULL, judge_memory_limit},
	{"container", "container", NULL, NULL, NULL, judge_container},
	{"governor", "CPU governor", "Launches and data loading take longer, and the GPU idles meanwhile.",
		"Linux, CPU frequency scaling", "sudo cpupower frequency-set -g performance (or schedutil)",
		judge_governor},
	{"clock_source", "clock source", "Programs that take times often are slowed, profilers first.",
		"Linux, vDSO", "boot with clocksource=tsc if the kernel log does not call it unstable",
		judge_clock_source},
	{"cpu_energy", "CPU energy", "The joules of the CPUs are missing from every measurement.",
		"Linux 5.10: energy_uj became readable by root alone (CVE-2020-8694)",
		"sudo chmod o+r /sys/class/powercap/intel-rapl*/energy_uj, after each start; or run kwhy as "
		"root",
		judge_rapl},
	{0},
};
