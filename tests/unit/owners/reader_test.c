/* SPDX-License-Identifier: Apache-2.0 */
#include "owners/reader.h"

#include "ok.h"
#include "owners/mapping.h"
#include "text_file.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "6c7f0a2e-1b7d-4a4e-9a51-0d4b3c2a1f00"

static struct kwhy_error error;
static char root[64];

/* Writes `text` to the file `path` below the folder `root`, and makes the folders between. */
static void put(const char *path, const char *text)
{
	char full[600];

	snprintf(full, sizeof(full), "%s/%s", root, path);
	for (char *at = full + strlen(root) + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		mkdir(full, 0755);
		*at = '/';
	}
	text_file_write(full, text);
}

/*
 * Makes the files of /proc of a process with this content of its cgroup file. Its user is 1000, it started at
 * clock tick 777, and it used 3 s of CPU time (100 ticks per second).
 */
static void put_process(const char *pid, const char *cgroup)
{
	char path[64];

	snprintf(path, sizeof(path), "proc/%s/cgroup", pid);
	put(path, cgroup);
	snprintf(path, sizeof(path), "proc/%s/status", pid);
	put(path, "Name:\tpython\nPid:\t1\nUid:\t1000\t1000\t1000\t1000\n");
	snprintf(path, sizeof(path), "proc/%s/stat", pid);
	put(path, "1 (a ) b) S 1 1 1 0 -1 4194560 1 2 3 4 100 50 100 50 20 0 1 0 777 1 1\n");
}

static int make_root(void **state)
{
	(void)state;
	strcpy(root, "/tmp/kwhy-owners-XXXXXX");
	if (!mkdtemp(root))
		return 1;
	put("etc/passwd", "root:x:0:0:root:/:/bin/sh\nalice:x:1000:1000:,,,:/:/bin/sh\n");
	return 0;
}

static int remove_root(void **state)
{
	char command[128];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", root);
	return system(command);
}

static struct kwhy_owned find(int64_t pid)
{
	struct kwhy_owner_reader *reader;
	struct kwhy_owned owned;

	OK(kwhy_owner_reader_new(root, &reader, &error));
	kwhy_owner_reader_find(reader, pid, &owned);
	kwhy_owner_reader_free(reader);
	return owned;
}

static void a_job_has_its_user_and_cpu_time(void **state)
{
	struct kwhy_owner_reader *reader;
	struct kwhy_owned owned;

	(void)state;
	put_process("10", "0::/system.slice/slurmstepd.scope/job_5/step_2/user/task_0\n");
	put("sys/fs/cgroup/system.slice/slurmstepd.scope/job_5/cpu.stat",
		"usage_usec 1500000\nuser_usec 1\n");
	owned = find(10);
	assert_int_equal(owned.owner.kind, KWHY_OWNER_SLURM);
	assert_string_equal(owned.owner.name, "5");
	assert_string_equal(owned.owner.part, "2");
	assert_string_equal(owned.owner.user, "alice");
	assert_int_equal(owned.started, 777);
	OK(kwhy_owner_reader_new(root, &reader, &error));
	assert_int_equal(kwhy_owner_reader_cpu_ns(reader, owned.cpu_file, 10), INT64_C(1500000000));
	assert_int_equal(kwhy_owner_reader_started(reader, 10), 777);
	assert_int_equal(kwhy_owner_reader_started(reader, 11), 0);
	kwhy_owner_reader_free(reader);
}

static void cpu_time_of_version_1_and_of_a_process_alone(void **state)
{
	struct kwhy_owner_reader *reader;
	struct kwhy_owned owned;

	(void)state;
	put_process("20", "4:cpu,cpuacct:/docker/" CID "\n");
	put("sys/fs/cgroup/cpuacct/docker/" CID "/cpuacct.usage", "987654321\n");
	put_process("21", "0::/user.slice/user-1000.slice/session-1.scope\n");
	OK(kwhy_owner_reader_new(root, &reader, &error));
	kwhy_owner_reader_find(reader, 20, &owned);
	assert_int_equal(kwhy_owner_reader_cpu_ns(reader, owned.cpu_file, 20), 987654321);
	kwhy_owner_reader_find(reader, 21, &owned);
	assert_string_equal(owned.cpu_file, "");
	assert_int_equal(owned.owner.kind, KWHY_OWNER_USER);
	assert_string_equal(owned.owner.name, "alice");
	assert_int_equal(
		kwhy_owner_reader_cpu_ns(reader, "", 21), INT64_C(300) * 1000000000 / sysconf(_SC_CLK_TCK));
	assert_int_equal(kwhy_owner_reader_cpu_ns(reader, "", 99), -1);
	kwhy_owner_reader_free(reader);
}

static void a_pod_has_the_names_of_its_logs(void **state)
{
	struct kwhy_owned owned;

	(void)state;
	put_process("30", "0::/kubepods/pod" POD "/" CID "\n");
	owned = find(30);
	assert_string_equal(owned.owner.name, POD);
	assert_string_equal(owned.owner.part, "0123456789ab");
	put("var/log/pods/research_llama-0_" POD "/main/0.log", "");
	owned = find(30);
	assert_string_equal(owned.owner.name, "llama-0");
	assert_string_equal(owned.owner.space, "research");
	assert_string_equal(owned.owner.part, "0123456789ab");
	put("var/log/containers/llama-0_research_trainer-" CID ".log", "");
	owned = find(30);
	assert_string_equal(owned.owner.name, "llama-0");
	assert_string_equal(owned.owner.space, "research");
	assert_string_equal(owned.owner.part, "trainer");
}

static void who_cannot_be_seen_is_unknown(void **state)
{
	struct kwhy_owned owned = find(4242);

	(void)state;
	assert_int_equal(owned.owner.kind, KWHY_OWNER_UNKNOWN);
	assert_int_equal(owned.started, 0);
}

static void a_user_without_a_name_has_a_number(void **state)
{
	struct kwhy_owner_reader *reader;
	char name[KWHY_OWNER_USER_BYTES];

	(void)state;
	OK(kwhy_owner_reader_new(root, &reader, &error));
	for (uint32_t uid = 2000; uid < 2600; uid++)
		kwhy_owner_reader_user(reader, uid, name);
	assert_string_equal(name, "2599");
	kwhy_owner_reader_user(reader, 1000, name);
	assert_string_equal(name, "alice");
	kwhy_owner_reader_free(reader);
}

static void the_files_of_dcgms_exporter_name_jobs(void **state)
{
	struct kwhy_owner owners[4];
	char folder[128];

	(void)state;
	put("jobs/0", "4711\n\n  4712 bob \nnightly run\r\n");
	put("jobs/1.2", "99");
	snprintf(folder, sizeof(folder), "%s/jobs", root);
	assert_int_equal(kwhy_mapping_read(folder, 0, -1, owners, 4), 3);
	assert_int_equal(owners[0].kind, KWHY_OWNER_SLURM);
	assert_string_equal(owners[0].name, "4711");
	assert_string_equal(owners[0].user, "");
	assert_string_equal(owners[1].name, "4712");
	assert_string_equal(owners[1].user, "bob");
	assert_int_equal(owners[2].kind, KWHY_OWNER_MAPPED);
	assert_string_equal(owners[2].name, "nightly");
	assert_int_equal(kwhy_mapping_read(folder, 0, -1, owners, 2), 2);
	assert_int_equal(kwhy_mapping_read(folder, 1, 2, owners, 4), 1);
	assert_string_equal(owners[0].name, "99");
	assert_int_equal(kwhy_mapping_read(folder, 1, -1, owners, 4), 0);
}

static void a_root_that_is_too_long_is_refused(void **state)
{
	struct kwhy_owner_reader *reader;
	char path[KWHY_OWNER_ROOT_BYTES + 1];

	(void)state;
	memset(path, 'a', sizeof(path));
	path[KWHY_OWNER_ROOT_BYTES] = '\0';
	assert_int_equal(kwhy_owner_reader_new(path, &reader, &error), KWHY_E_USAGE);
	assert_non_null(strstr(error.text, "at most 255 bytes"));
	path[KWHY_OWNER_ROOT_BYTES - 1] = '\0';
	OK(kwhy_owner_reader_new(path, &reader, &error));
	kwhy_owner_reader_free(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_job_has_its_user_and_cpu_time),
		cmocka_unit_test(cpu_time_of_version_1_and_of_a_process_alone),
		cmocka_unit_test(a_pod_has_the_names_of_its_logs),
		cmocka_unit_test(who_cannot_be_seen_is_unknown),
		cmocka_unit_test(a_root_that_is_too_long_is_refused),
		cmocka_unit_test(a_user_without_a_name_has_a_number),
		cmocka_unit_test(the_files_of_dcgms_exporter_name_jobs),
	};

	return kwhy_test_main(tests, make_root, remove_root);
}
