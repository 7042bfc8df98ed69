/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "host/check.h"
#include "host/doctor.h"
#include "report/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The simulated machine that kwhy doctor examines: a temporary folder in place of /, a fake NVML with a
 * scenario, and a hardware topology in the XML format of hwloc.
 */
static char root[] = "/tmp/kwhy-host-XXXXXX";
static struct kwhy_doctor_report report;

#define H200 "gpu \"NVIDIA H200\"\n"

static void put(const char *path, const char *text)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", root, path);
	for (char *slash = strchr(whole + strlen(root) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(whole, 0755);
		*slash = '/';
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static int new_machine(void **state)
{
	static const char *const clean[] = {"CUDA_LAUNCH_BLOCKING", "CUDA_DEVICE_MAX_CONNECTIONS",
		"CUDA_MODULE_LOADING", "NCCL_DEBUG", "NCCL_P2P_DISABLE", "NCCL_ALGO", "HWLOC_XMLFILE",
		"CUDA_MPS_PIPE_DIRECTORY"};
	static char scenario[64];

	(void)state;
	strcpy(root, "/tmp/kwhy-host-XXXXXX");
	if (!mkdtemp(root))
		return -1;
	for (size_t i = 0; i < sizeof(clean) / sizeof(clean[0]); i++)
		unsetenv(clean[i]);
	snprintf(scenario, sizeof(scenario), "%s/scenario.txt", root);
	setenv("KWHY_FAKE_NVML", scenario, 1);
	put("/scenario.txt", H200);
	put("/proc/meminfo", "MemTotal:       16000000 kB\n");
	return 0;
}

static int end_machine(void **state)
{
	char command[128];

	(void)state;
	kwhy_doctor_done(&report);
	snprintf(command, sizeof(command), "rm -r '%s'", root);
	return system(command);
}

static void look(void)
{
	const struct kwhy_doctor_request request = {.root = root, .gpu = -1};
	struct kwhy_error error;

	kwhy_doctor_done(&report);
	report = (struct kwhy_doctor_report){0};
	assert_int_equal(kwhy_doctor_run(&request, &report, &error), KWHY_OK);
}

static const struct kwhy_doctor_check *check_of(const char *id)
{
	for (size_t i = 0; i < report.check_count; i++)
		if (strcmp(report.checks[i].id, id) == 0)
			return &report.checks[i];
	fail_msg("there is no check '%s'", id);
	return NULL;
}

static void expect(const char *id, enum kwhy_doctor_verdict verdict, const char *words)
{
	const struct kwhy_doctor_check *check = check_of(id);

	if (check->verdict != verdict || !strstr(check->fact, words))
		fail_msg("%s: verdict %d, '%s' (no '%s')", id, check->verdict, check->fact, words);
	assert_true((check->cure != NULL) == (verdict == KWHY_DOCTOR_ADVICE));
}

static void expect_of_gpu(
	const char *scenario, const char *id, enum kwhy_doctor_verdict verdict, const char *words)
{
	put("/scenario.txt", scenario);
	look();
	expect(id, verdict, words);
}

static void an_idle_h200_as_it_should_be_needs_nothing(void **state)
{
	(void)state;
	look();
	assert_int_equal(report.gpu_count, 1);
	assert_null(report.no_gpu);
	assert_int_equal(kwhy_doctor_count(&report, KWHY_DOCTOR_ADVICE), 0);
	expect("persistence", KWHY_DOCTOR_GOOD, "on");
	expect("power_limit", KWHY_DOCTOR_GOOD, "700 W, the default");
	expect("clocks", KWHY_DOCTOR_GOOD, "345 MHz of 1980 MHz; low clocks are normal");
	expect("driver", KWHY_DOCTOR_GOOD, "580.159.04, for programs up to CUDA 13.0");
}

static void every_fault_of_a_gpu_is_advice_with_its_number_in_the_cure(void **state)
{
	(void)state;
	expect_of_gpu(H200 H200 "persistence 0\n", "persistence", KWHY_DOCTOR_GOOD, "on");
	expect_of_gpu(H200 "persistence 0\n", "persistence", KWHY_DOCTOR_ADVICE, "off");
	assert_non_null(strstr(check_of("persistence")->cure, "nvidia-smi -i 0 -pm 1"));
	expect_of_gpu(H200 "power_limit_w 350\n", "power_limit", KWHY_DOCTOR_ADVICE,
		"350 W, below the default of 700 W");
	expect_of_gpu(
		H200 "throttle_reasons 2\nbusy_percent 100\n", "clocks", KWHY_DOCTOR_ADVICE, "held there");
	expect_of_gpu(H200 "throttle_reasons 0x40\n", "throttling_now", KWHY_DOCTOR_ADVICE, "too hot");
	expect_of_gpu(H200 "throttle_reasons 0x88\n", "throttling_now", KWHY_DOCTOR_ADVICE, "power brake");
	expect_of_gpu(H200 "throttle_reasons 4\n", "throttling_now", KWHY_DOCTOR_GOOD, "at the power limit");
	expect_of_gpu(H200 "thermal_violation_s 12.5\n", "throttling_before", KWHY_DOCTOR_ADVICE,
		"12.5 s for heat");
	expect_of_gpu(H200 "power_violation_s 99\n", "throttling_before", KWHY_DOCTOR_GOOD,
		"99.0 s at the power limit");
	expect_of_gpu(H200 "remap_pending 1\n", "memory_errors", KWHY_DOCTOR_ADVICE, "wait to be replaced");
	expect_of_gpu(H200 "remap_failed 1\n", "memory_errors", KWHY_DOCTOR_ADVICE, "could not be replaced");
	expect_of_gpu(H200 "ecc_uncorrected 3\n", "memory_errors", KWHY_DOCTOR_ADVICE, "3 uncorrected");
	expect_of_gpu(H200 "pcie_width 8\n", "pcie_width", KWHY_DOCTOR_ADVICE, "8 lanes of 16");
	expect_of_gpu(H200 "compute_mode 2\n", "compute_mode", KWHY_DOCTOR_ADVICE, "prohibited");
	expect_of_gpu(H200 "process 42 100\nbusy_percent 7\n", "sharing", KWHY_DOCTOR_ADVICE,
		"1 process has a context, 7 %");
	expect_of_gpu(H200 "busy_percent 7\n", "sharing", KWHY_DOCTOR_ADVICE, "not shown here");
	expect_of_gpu(H200 "busy_percent 1\n", "sharing", KWHY_DOCTOR_GOOD, "no process");
	expect_of_gpu(H200 "sm_clock_mhz 1980\n", "clocks", KWHY_DOCTOR_GOOD, "1980 MHz of 1980 MHz");
}

static void a_slow_link_is_normal_while_nothing_runs_and_not_at_work(void **state)
{
	(void)state;
	expect_of_gpu(H200 "pcie_generation 1\n", "pcie_generation", KWHY_DOCTOR_GOOD,
		"1 of 5; the link slows down");
	expect_of_gpu(H200 "pcie_generation 4\nbusy_percent 90\nthrottle_reasons 0\n", "pcie_generation",
		KWHY_DOCTOR_ADVICE, "4 of 5 although the GPU works");
}

static void what_the_driver_does_not_tell_is_not_known(void **state)
{
	(void)state;
	put("/scenario.txt",
		H200 "persistence none\npower_limit_w none\nsm_clock_mhz none\nthrottle_reasons none\n"
		     "power_violation_s none\nthermal_violation_s none\necc none\nremap_pending none\n"
		     "fail nvmlDeviceGetTotalEnergyConsumption not_supported\n"
		     "fail nvmlDeviceGetPowerUsage not_supported\n"
		     "pcie_generation none\npcie_width none\nmig_mode none\ncompute_mode none\n"
		     "fail nvmlDeviceGetComputeRunningProcesses_v3 no_permission\n");
	look();
	for (size_t i = 0; i < report.check_count; i++)
		if (report.checks[i].gpu == 0)
			assert_int_equal(report.checks[i].verdict, KWHY_DOCTOR_UNKNOWN);
}

static void what_the_driver_refuses_is_not_known_with_the_cure(void **state)
{
	(void)state;
	expect_of_gpu(H200, "meters", KWHY_DOCTOR_GOOD, "energy counter and power can be read");
	expect_of_gpu(H200 "fail nvmlDeviceGetTotalEnergyConsumption no_permission\n", "meters",
		KWHY_DOCTOR_UNKNOWN, "permission denied; run as root");
	expect_of_gpu(H200 "fail nvmlDeviceGetEnforcedPowerLimit no_permission\n", "power_limit",
		KWHY_DOCTOR_UNKNOWN, "permission denied; run as root");
	expect_of_gpu(H200 "fail nvmlDeviceGetHandleByIndex_v2 no_permission\n", "gpus", KWHY_DOCTOR_UNKNOWN,
		"GPU 0 cannot be opened: permission denied; run as root");
	expect_of_gpu(H200 "fail nvmlInitWithFlags no_permission\n", "gpus", KWHY_DOCTOR_UNKNOWN,
		"permission denied; run as root");
	expect_of_gpu(H200 H200 "fail nvmlDeviceGetHandleByIndex_v2 no_permission nth 2\n", "gpus",
		KWHY_DOCTOR_UNKNOWN, "GPU 1 cannot be opened");
}

/*
 * Returns the number of checks in a section. Each line is one check, except that one line lists all
 * environment variables that are not set.
 */
static size_t count_checks_in(const char *section)
{
	size_t checks = 0;

	for (const char *line = strchr(section, '\n') + 1; strncmp(line, "  ", 2) == 0;
		line = strchr(line, '\n') + 1) {
		size_t unset = 1;

		sscanf(line, " host environment: %zu variables", &unset);
		checks += line[2] != ' ' ? unset : 0;
	}
	return checks;
}

static void the_head_counts_every_check_and_the_lines_add_up_to_it(void **state)
{
	static const char *const sections[] = {"\nTo change", "\nThis installation", "\nGood", "\nNot known"};
	struct kwhy_text_style style = {.columns = 80};
	struct kwhy_error error;

	(void)state;
	look();
	for (int verbose = 0; verbose < 2; verbose++) {
		struct kwhy_text text = {0};
		size_t checks = 0;
		char head[64];

		style.verbose = verbose;
		assert_int_equal(kwhy_doctor_text(&report, &style, &text, &error), KWHY_OK);
		snprintf(head, sizeof(head), " to change, %zu good, %zu not known\n",
			kwhy_doctor_count(&report, KWHY_DOCTOR_GOOD),
			kwhy_doctor_count(&report, KWHY_DOCTOR_UNKNOWN));
		if (!strstr(text.data, head))
			fail_msg("not '%s' in %s", head, text.data);
		for (size_t i = 0; i < 4; i++)
			if (strstr(text.data, sections[i]))
				checks += count_checks_in(strstr(text.data, sections[i]) + 1);
		assert_int_equal(checks, report.check_count);
		kwhy_text_done(&text);
	}
}

static void no_driver_is_a_sentence_and_the_rest_is_looked_at(void **state)
{
	(void)state;
	put("/scenario.txt", H200 "fail nvmlInitWithFlags driver_not_loaded\n");
	look();
	assert_int_equal(report.gpu_count, 0);
	assert_non_null(strstr(report.no_gpu, "the kernel module is not loaded"));
	expect("driver", KWHY_DOCTOR_UNKNOWN, "");
	expect("memory_limit", KWHY_DOCTOR_GOOD, "all of 16.4 GB");
}

static void a_gpu_that_is_not_there_is_wrong_usage(void **state)
{
	const struct kwhy_doctor_request request = {.root = root, .gpu = 3};
	struct kwhy_error error;

	(void)state;
	assert_int_equal(kwhy_doctor_run(&request, &report, &error), KWHY_E_USAGE);
	assert_string_equal(error.text, "there is no GPU 3; this machine has 1");
}

static void one_gpu_of_several_can_be_looked_at_alone(void **state)
{
	const struct kwhy_doctor_request request = {.root = root, .gpu = 1};
	struct kwhy_error error;

	(void)state;
	put("/scenario.txt", H200 H200 "persistence 0\n");
	assert_int_equal(kwhy_doctor_run(&request, &report, &error), KWHY_OK);
	assert_int_equal(report.gpu_count, 1);
	assert_int_equal(report.gpus[0].index, 1);
	assert_non_null(strstr(check_of("persistence")->cure, "nvidia-smi -i 1 -pm 1"));
}

static void limits_of_a_container_are_found_at_every_level_of_its_group(void **state)
{
	(void)state;
	put("/.dockerenv", "");
	put("/proc/self/cgroup", "0::/kube/pod\n");
	put("/sys/fs/cgroup/kube/pod/cpu.max", "max 100000\n");
	put("/sys/fs/cgroup/kube/cpu.max", "50000 100000\n");
	put("/sys/fs/cgroup/kube/pod/memory.max", "4000000000\n");
	put("/sys/fs/cgroup/memory.max", "max\n");
	look();
	expect("cpu_quota", KWHY_DOCTOR_ADVICE, "time of 0.5 CPUs is granted");
	expect("memory_limit", KWHY_DOCTOR_GOOD, "4.00 GB of 16.4 GB");
	expect("container", KWHY_DOCTOR_GOOD, "in Docker");
}

static void a_group_that_is_no_path_is_passed_over(void **state)
{
	static const char *const lines[] = {"", "0::\n", "0::pod\n", "0::/\n", "0:://\n", "1:cpu:/pod\n"};

	(void)state;
	put("/sys/fs/cgroup/cpu.max", "10000 100000\n");
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		put("/proc/self/cgroup", lines[i]);
		look();
		expect("cpu_quota", KWHY_DOCTOR_ADVICE, "0.1 CPUs");
	}
}

static void limits_of_version_1_are_found_too(void **state)
{
	(void)state;
	put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "25000\n");
	put("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
	put("/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
	look();
	expect("cpu_quota", KWHY_DOCTOR_ADVICE, "0.25 CPUs");
	expect("memory_limit", KWHY_DOCTOR_GOOD, "all of");
}

/* Both versions are mounted, as systemd does in its hybrid mode. A job of Slurm has its limits in version 1.
 */
static void limits_of_a_group_of_version_1_are_found_beside_version_2(void **state)
{
	(void)state;
	put("/proc/self/cgroup",
		"5:cpuset:/\n4:cpuacct,cpu:/slurm/job_7\n3:memory:/slurm/job_7/step_0\n1:name=systemd:/a\n"
		"0::/system.slice\n");
	put("/sys/fs/cgroup/cpu/slurm/job_7/cpu.cfs_quota_us", "25000\n");
	put("/sys/fs/cgroup/cpu/slurm/job_7/cpu.cfs_period_us", "100000\n");
	put("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
	put("/sys/fs/cgroup/memory/slurm/job_7/step_0/memory.limit_in_bytes", "9223372036854771712\n");
	put("/sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "4000000000\n");
	look();
	expect("cpu_quota", KWHY_DOCTOR_ADVICE, "0.25 CPUs");
	expect("memory_limit", KWHY_DOCTOR_GOOD, "4.00 GB of 16.4 GB");
	put("/sys/fs/cgroup/system.slice/cpu.max", "10000 100000\n");
	look();
	expect("cpu_quota", KWHY_DOCTOR_ADVICE, "0.1 CPUs");
}

static void the_processor_is_judged_by_governor_clock_and_rapl(void **state)
{
	(void)state;
	look();
	expect("governor", KWHY_DOCTOR_UNKNOWN, "no CPU frequencies");
	expect("cpu_energy", KWHY_DOCTOR_UNKNOWN, "not available");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "acpi-cpufreq\n");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");
	put("/sys/class/powercap/intel-rapl:0/energy_uj", "12345\n");
	put("/sys/class/dmi/id/sys_vendor", "QEMU\n");
	look();
	expect("governor", KWHY_DOCTOR_ADVICE, "powersave");
	expect("clock_source", KWHY_DOCTOR_ADVICE, "hpet");
	expect("cpu_energy", KWHY_DOCTOR_GOOD, "can be read");
	expect("container", KWHY_DOCTOR_GOOD, "a virtual machine");
	put("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", "intel_pstate\n");
	put("/sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
	look();
	expect("governor", KWHY_DOCTOR_GOOD, "powersave, by intel_pstate");
	expect("clock_source", KWHY_DOCTOR_GOOD, "tsc");
}

static void variables_that_cost_are_advice_and_others_are_quoted_harmlessly(void **state)
{
	(void)state;
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	setenv("CUDA_DEVICE_MAX_CONNECTIONS", "8", 1);
	setenv("NCCL_ALGO", "Ring\033[31m", 1);
	look();
	expect("cuda_launch_blocking", KWHY_DOCTOR_ADVICE, "1");
	expect("cuda_device_max_connections", KWHY_DOCTOR_GOOD, "8");
	expect("nccl_algo", KWHY_DOCTOR_ADVICE, "Ring?[31m");
	expect("cuda_module_loading", KWHY_DOCTOR_GOOD, "not set");
	assert_true(check_of("cuda_module_loading")->minor);
}

static void an_mps_daemon_is_seen_by_its_pipe(void **state)
{
	(void)state;
	put("/tmp/nvidia-mps/control", "");
	look();
	expect("mps", KWHY_DOCTOR_GOOD, "a daemon runs");
}

/* Simulates two sockets with two CPUs each. The GPU at 0000:19:00.0 belongs to the second socket. */
static void use_two_sockets(const char *allowed)
{
	char text[4096], path[128];

	snprintf(text, sizeof(text),
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		/* hwloc's own XML parser, used without libxml2, needs these line breaks */
		"<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
		"<topology version=\"2.0\">"
		"<object type=\"Machine\" os_index=\"0\" cpuset=\"0xf\" complete_cpuset=\"0xf\" "
		"allowed_cpuset=\"%s\" "
		"nodeset=\"0x3\" complete_nodeset=\"0x3\" allowed_nodeset=\"0x3\" gp_index=\"1\">"
		"<object type=\"Package\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
		"nodeset=\"0x1\" "
		"complete_nodeset=\"0x1\" gp_index=\"2\">"
		"<object type=\"NUMANode\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" "
		"nodeset=\"0x1\" "
		"complete_nodeset=\"0x1\" gp_index=\"3\" local_memory=\"1000000\"/>"
		"<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x1\" "
		"complete_nodeset=\"0x1\" gp_index=\"4\"/>"
		"<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" nodeset=\"0x1\" "
		"complete_nodeset=\"0x1\" gp_index=\"5\"/></object>"
		"<object type=\"Package\" os_index=\"1\" cpuset=\"0xc\" complete_cpuset=\"0xc\" "
		"nodeset=\"0x2\" "
		"complete_nodeset=\"0x2\" gp_index=\"6\">"
		"<object type=\"NUMANode\" os_index=\"1\" cpuset=\"0xc\" complete_cpuset=\"0xc\" "
		"nodeset=\"0x2\" "
		"complete_nodeset=\"0x2\" gp_index=\"7\" local_memory=\"1000000\"/>"
		"<object type=\"PU\" os_index=\"2\" cpuset=\"0x4\" complete_cpuset=\"0x4\" nodeset=\"0x2\" "
		"complete_nodeset=\"0x2\" gp_index=\"8\"/>"
		"<object type=\"PU\" os_index=\"3\" cpuset=\"0x8\" complete_cpuset=\"0x8\" nodeset=\"0x2\" "
		"complete_nodeset=\"0x2\" gp_index=\"9\"/>"
		"<object type=\"Bridge\" gp_index=\"10\" bridge_type=\"0-1\" depth=\"0\" "
		"bridge_pci=\"0000:[19-19]\">"
		"<object type=\"PCIDev\" gp_index=\"11\" pci_busid=\"0000:19:00.0\" "
		"pci_type=\"0302 [10de:2335] [10de:18be] a1\" pci_link_speed=\"63.0\"/>"
		"</object></object></object></topology>",
		allowed);
	put("/machine.xml", text);
	snprintf(path, sizeof(path), "%s/machine.xml", root);
	setenv("HWLOC_XMLFILE", path, 1);
	look();
}

static void cpus_at_another_memory_node_than_the_gpu_are_advice(void **state)
{
	(void)state;
	use_two_sockets("0xf");
	expect("cpus", KWHY_DOCTOR_GOOD, "4 of 4");
	expect("place", KWHY_DOCTOR_ADVICE, "at memory node 1 with 2 of the 4 CPUs");
	use_two_sockets("0x3");
	expect("place", KWHY_DOCTOR_ADVICE, "none of the 2 CPUs allowed here is");
	use_two_sockets("0xc");
	expect("cpus", KWHY_DOCTOR_GOOD, "2 of 4");
	expect("place", KWHY_DOCTOR_GOOD, "memory node 1, where all 2 CPUs");
}

static void a_driver_s_missing_library_is_named_with_the_capability_that_brings_it(void **state)
{
	static const struct {
		bool devices, nvml, cuda;
		enum kwhy_doctor_verdict verdict;
		const char *words;
	} rows[] = {
		{true, true, true, KWHY_DOCTOR_GOOD, "can be loaded"},
		{true, false, true, KWHY_DOCTOR_ADVICE, "(capability utility)"},
		{true, true, false, KWHY_DOCTOR_ADVICE, "(capability compute)"},
		{true, false, false, KWHY_DOCTOR_ADVICE, "(capabilities utility and compute)"},
		{false, true, false, KWHY_DOCTOR_UNKNOWN, "NVML can be loaded, but /dev/nvidiactl"},
		{false, false, false, KWHY_DOCTOR_UNKNOWN, "no NVIDIA driver here"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct kwhy_host_facts facts = {
			.gpu_devices = rows[i].devices, .has_nvml = rows[i].nvml, .has_cuda = rows[i].cuda};
		struct kwhy_doctor_check check = {0};
		const struct kwhy_judging judging = {&facts, NULL, &check, &report.arena};

		kwhy_installation_checks[0].judge(&judging);
		assert_int_equal(check.verdict, rows[i].verdict);
		assert_non_null(strstr(check.fact, rows[i].words));
	}
}

static void a_driver_before_cuda_12_is_advice(void **state)
{
	static const struct {
		int64_t version;
		enum kwhy_doctor_verdict verdict;
		const char *words;
	} rows[] = {
		{11040, KWHY_DOCTOR_ADVICE, "up to CUDA 11.4"},
		{12000, KWHY_DOCTOR_GOOD, ""},
		{KWHY_HOST_UNKNOWN, KWHY_DOCTOR_UNKNOWN, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct kwhy_host_facts facts = {.cuda_version = rows[i].version};
		struct kwhy_doctor_check check = {0};

		kwhy_installation_checks[1].judge(
			&(struct kwhy_judging){&facts, NULL, &check, &report.arena});
		assert_int_equal(check.verdict, rows[i].verdict);
		assert_non_null(strstr(check.fact, rows[i].words));
	}
}

static void the_text_keeps_to_80_columns_and_shows_costs_with_their_source(void **state)
{
	const struct kwhy_text_style style = {.columns = 80};
	struct kwhy_text text = {0};
	struct kwhy_error error;

	(void)state;
	setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
	put("/scenario.txt", H200 "persistence 0\n");
	look();
	assert_int_equal(kwhy_doctor_text(&report, &style, &text, &error), KWHY_OK);
	for (const char *line = text.data; *line; line += strcspn(line, "\n") + 1)
		assert_true(strcspn(line, "\n") <= 80);
	assert_non_null(strstr(text.data, "2 things to change"));
	assert_non_null(strstr(text.data, "Cure: sudo nvidia-smi -i 0 -pm 1"));
	assert_non_null(strstr(text.data, "(NVIDIA, Driver"));
	assert_non_null(strstr(text.data, "variables that can cost time are not set"));
	kwhy_text_done(&text);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, new_machine, end_machine)
	const struct CMUnitTest tests[] = {
		T(an_idle_h200_as_it_should_be_needs_nothing),
		T(every_fault_of_a_gpu_is_advice_with_its_number_in_the_cure),
		T(a_slow_link_is_normal_while_nothing_runs_and_not_at_work),
		T(what_the_driver_does_not_tell_is_not_known),
		T(what_the_driver_refuses_is_not_known_with_the_cure),
		T(the_head_counts_every_check_and_the_lines_add_up_to_it),
		T(no_driver_is_a_sentence_and_the_rest_is_looked_at),
		T(a_gpu_that_is_not_there_is_wrong_usage),
		T(one_gpu_of_several_can_be_looked_at_alone),
		T(limits_of_a_container_are_found_at_every_level_of_its_group),
		T(a_group_that_is_no_path_is_passed_over),
		T(limits_of_version_1_are_found_too),
		T(limits_of_a_group_of_version_1_are_found_beside_version_2),
		T(the_processor_is_judged_by_governor_clock_and_rapl),
		T(variables_that_cost_are_advice_and_others_are_quoted_harmlessly),
		T(an_mps_daemon_is_seen_by_its_pipe),
		T(cpus_at_another_memory_node_than_the_gpu_are_advice),
		T(a_driver_s_missing_library_is_named_with_the_capability_that_brings_it),
		T(a_driver_before_cuda_12_is_advice),
		T(the_text_keeps_to_80_columns_and_shows_costs_with_their_source),
	};
#undef T

	return kwhy_test_main(tests, NULL, NULL);
}
