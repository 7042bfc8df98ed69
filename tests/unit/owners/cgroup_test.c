/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/cgroup.h"

#include "cmocka_all.h"

#include <string.h>

#define CID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "6c7f0a2e-1b7d-4a4e-9a51-0d4b3c2a1f00"
#define POD_ "6c7f0a2e_1b7d_4a4e_9a51_0d4b3c2a1f00"
#define STATIC_POD "6c7f0a2e1b7d4a4e9a510d4b3c2a1f00"

/*
 * Contents of /proc/PID/cgroup of a process of each kind of owner, and the expected kind, name, part and CPU
 * cgroup of the owner. is_v1: the CPU cgroup is of cgroup v1.
 */
static const struct {
	const char *text;
	enum kwhy_owner_kind kind;
	const char *name, *part, *cpu_path;
	bool is_v1;
} cases[] = {
	{"0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n", KWHY_OWNER_SLURM, "4711", "0",
		"/system.slice/slurmstepd.scope/job_4711", false},
	{"0::/system.slice/node1_slurmstepd.scope/job_4711/step_batch/user/task_special\n", KWHY_OWNER_SLURM,
		"4711", "batch", "/system.slice/node1_slurmstepd.scope/job_4711", false},
	{"9:devices:/slurm/uid_1000/job_12/step_extern\n4:cpu,cpuacct:/slurm/uid_1000/job_12/step_3/task_0\n"
	 "1:name=systemd:/system.slice/slurmd.service\n",
		KWHY_OWNER_SLURM, "12", "extern", "/slurm/uid_1000/job_12", true},
	{"11:memory:/slurm_gpu01/uid_1000/job_12/step_0\n", KWHY_OWNER_SLURM, "12", "0", "", false},
	{"0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_
	 ".slice/cri-containerd-" CID ".scope\n",
		KWHY_OWNER_KUBERNETES, POD, "0123456789ab",
		"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_ ".slice", false},
	{"0::/kubepods.slice/kubepods-pod" POD_ ".slice/crio-" CID ".scope/container\n",
		KWHY_OWNER_KUBERNETES, POD, "0123456789ab", "/kubepods.slice/kubepods-pod" POD_ ".slice",
		false},
	{"0::/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" POD_ ".slice/docker-" CID
	 ".scope\n",
		KWHY_OWNER_KUBERNETES, POD, "0123456789ab",
		"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod" POD_ ".slice", false},
	{"12:cpu,cpuacct:/kubepods/burstable/pod" POD "/" CID "\n2:memory:/kubepods/burstable/pod" POD "/" CID
	 "\n",
		KWHY_OWNER_KUBERNETES, POD, "0123456789ab", "/kubepods/burstable/pod" POD, true},
	{"0::/kubepods/pod" STATIC_POD "/" CID "\n", KWHY_OWNER_KUBERNETES, STATIC_POD, "0123456789ab",
		"/kubepods/pod" STATIC_POD, false},
	{"0::/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" POD_ ".slice/cri-containerd-" CID
	 ".scope\n",
		KWHY_OWNER_KUBERNETES, POD, "0123456789ab",
		"/kubelet.slice/kubelet-kubepods.slice/kubelet-kubepods-pod" POD_ ".slice", false},
	{"1:cpuacct:/system.slice/containerd.service/kubepods-burstable-pod" POD_ ".slice:cri-containerd:" CID
	 "\n",
		KWHY_OWNER_KUBERNETES, POD, "0123456789ab",
		"/system.slice/containerd.service/kubepods-burstable-pod" POD_ ".slice:cri-containerd:" CID,
		true},
	{"0::/../../kubepods-pod" POD_ ".slice/cri-containerd-" CID ".scope\n", KWHY_OWNER_KUBERNETES, POD,
		"0123456789ab", "/../../kubepods-pod" POD_ ".slice", false},
	{"0::/system.slice/docker-" CID ".scope\n", KWHY_OWNER_CONTAINER, "0123456789ab", "docker",
		"/system.slice/docker-" CID ".scope", false},
	{"5:cpuacct:/docker/" CID "\n", KWHY_OWNER_CONTAINER, "0123456789ab", "docker", "/docker/" CID, true},
	{"0::/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" CID ".scope/container\n",
		KWHY_OWNER_CONTAINER, "0123456789ab", "podman",
		"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" CID ".scope", false},
	{"0::/machine.slice/libpod-conmon-" CID ".scope\n", KWHY_OWNER_USER, "", "", "", false},
	{"0::/lxc.payload.web1/system.slice/cron.service\n", KWHY_OWNER_CONTAINER, "web1", "lxc",
		"/lxc.payload.web1", false},
	{"0::/default/" CID "\n", KWHY_OWNER_CONTAINER, "0123456789ab", "containerd", "/default/" CID, false},
	{"0::/system.slice/vllm@7b.service\n", KWHY_OWNER_UNIT, "vllm@7b.service", "",
		"/system.slice/vllm@7b.service", false},
	{"0::/system.slice/system-vllm.slice/vllm@7b.service/sub\n", KWHY_OWNER_UNIT, "vllm@7b.service", "",
		"/system.slice/system-vllm.slice/vllm@7b.service", false},
	{"0::/user.slice/user-1000.slice/session-3.scope\n", KWHY_OWNER_USER, "", "", "", false},
	{"0::/user.slice/user-1000.slice/user@1000.service/app.slice/train.service\n", KWHY_OWNER_USER, "",
		"", "", false},
	/* a Slurm job that runs in a pod: the job is the owner */
	{"0::/kubepods/pod" POD "/" CID "/system.slice/slurmstepd.scope/job_7/step_1\n", KWHY_OWNER_SLURM,
		"7", "1", "/kubepods/pod" POD "/" CID "/system.slice/slurmstepd.scope/job_7", false},
	/* names that only resemble those of a Slurm job, a pod or a container: the owner is the user */
	{"0::/place/job_12/step_1\n", KWHY_OWNER_USER, "", "", "", false},
	{"0::/kubepods/podling/deadbeef\n", KWHY_OWNER_USER, "", "", "", false},
	{"0::/\n", KWHY_OWNER_USER, "", "", "", false},
	{"", KWHY_OWNER_USER, "", "", "", false},
	{"nonsense\n:\n0:\n", KWHY_OWNER_USER, "", "", "", false},
};

static void each_form_of_a_path_has_its_owner(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct kwhy_cgroup cgroup;

		kwhy_cgroup_parse(cases[i].text, strlen(cases[i].text), &cgroup);
		if (cgroup.owner.kind != cases[i].kind || strcmp(cgroup.owner.name, cases[i].name) != 0 ||
			strcmp(cgroup.owner.part, cases[i].part) != 0)
			fail_msg("%s is %s '%s' '%s'", cases[i].text, kwhy_owner_kind_name(cgroup.owner.kind),
				cgroup.owner.name, cgroup.owner.part);
		if (cgroup.cpu_path.length != strlen(cases[i].cpu_path) ||
			memcmp(cgroup.cpu_path.bytes, cases[i].cpu_path, cgroup.cpu_path.length) != 0)
			fail_msg("%s counts CPU time in '%.*s'", cases[i].text, (int)cgroup.cpu_path.length,
				cgroup.cpu_path.bytes);
		assert_int_equal(cgroup.is_v1, cases[i].is_v1);
	}
}

static void names_are_cut_and_made_clean(void **state)
{
	char text[600] = "0::/system.slice/\x1b[31m\xff", *end = text + strlen(text);
	struct kwhy_cgroup cgroup;

	(void)state;
	memset(end, 'a', 400);
	strcpy(end + 400, ".service\n");
	kwhy_cgroup_parse(text, strlen(text), &cgroup);
	assert_int_equal(cgroup.owner.kind, KWHY_OWNER_UNIT);
	assert_int_equal(strlen(cgroup.owner.name), KWHY_OWNER_NAME_BYTES - 1);
	assert_memory_equal(cgroup.owner.name, " [31m\xef\xbf\xbd", 8);
}

static void a_name_is_cut_at_a_code_point(void **state)
{
	char out[5];

	(void)state;
	kwhy_owner_text(out, sizeof(out), "ab\xe2\x82\xac", 5);
	assert_string_equal(out, "ab");
	kwhy_owner_text(out, sizeof(out), "a\xe2\x82\xac", 4);
	assert_string_equal(out, "a\xe2\x82\xac");
}

static void each_kind_is_found_by_its_name(void **state)
{
	(void)state;
	for (int kind = 0; kind < KWHY_OWNER_KIND_COUNT; kind++) {
		enum kwhy_owner_kind found;

		assert_true(kwhy_owner_kind_find(kwhy_owner_kind_name((enum kwhy_owner_kind)kind), &found));
		assert_int_equal(found, kind);
	}
	assert_false(kwhy_owner_kind_find("", &(enum kwhy_owner_kind){0}));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_form_of_a_path_has_its_owner),
		cmocka_unit_test(names_are_cut_and_made_clean),
		cmocka_unit_test(a_name_is_cut_at_a_code_point),
		cmocka_unit_test(each_kind_is_found_by_its_name),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
