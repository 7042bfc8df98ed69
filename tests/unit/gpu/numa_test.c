/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "gpu/numa.h"
#include "text_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A temporary folder that takes the place of /sys. */
static char sys[] = "/tmp/kwhy-numa-XXXXXX";

static void write_file(const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/devices/system/node/%s", sys, name);
	text_file_write(path, text);
}

static int make_tree(void **state)
{
	static const char *const folders[] = {"devices", "devices/system", "devices/system/node",
		"devices/system/node/node0", "devices/system/node/node2", "devices/system/node/node9"};
	char path[256];

	(void)state;
	if (!mkdtemp(sys))
		return -1;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", sys, folders[i]);
		if (mkdir(path, 0700) != 0)
			return -1;
	}
	return 0;
}

static int remove_tree(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "rm -r '%s'", sys);
	return system(command);
}

static void nodes_with_memory_are_read_with_their_processors(void **state)
{
	struct kwhy_numa *numa = malloc(sizeof(*numa));

	(void)state;
	assert_non_null(numa);
	write_file("has_memory", "0,2,9\n");
	write_file("node0/cpulist", "0-3,8\n");
	write_file("node0/meminfo", "Node 0 MemTotal:       65842 kB\nNode 0 MemFree: 12 kB\n");
	write_file("node2/cpulist", "\n");
	kwhy_numa_read(sys, numa);
	assert_int_equal(numa->count, 3);
	assert_int_equal(numa->nodes[0].node, 0);
	assert_int_equal(numa->nodes[0].memory_bytes, 65842 * 1024);
	assert_int_equal(CPU_COUNT(&numa->nodes[0].cpus), 5);
	assert_true(CPU_ISSET(8, &numa->nodes[0].cpus));
	assert_int_equal(numa->nodes[1].node, 2);
	assert_int_equal(CPU_COUNT(&numa->nodes[1].cpus), 0);
	assert_int_equal(numa->nodes[2].node, 9);
	assert_int_equal(numa->nodes[2].memory_bytes, 0);
	free(numa);
}

static void a_list_that_is_none_or_has_no_end_gives_no_nodes_beyond_the_set(void **state)
{
	static const char *const lists[] = {"", "x\n", "7-3\n", "4096-9999999\n", "-5\n"};
	struct kwhy_numa *numa = malloc(sizeof(*numa));

	(void)state;
	assert_non_null(numa);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
		write_file("has_memory", lists[i]);
		kwhy_numa_read(sys, numa);
		assert_int_equal(numa->count, 0);
	}
	write_file("has_memory", "0-99999999999999999999999\n");
	kwhy_numa_read(sys, numa);
	assert_int_equal(numa->count, KWHY_NUMA_NODES_MAX);
	kwhy_numa_read("/nowhere", numa);
	assert_int_equal(numa->count, 0);
	free(numa);
}

static void memory_is_bound_to_a_node_that_is_and_to_no_other(void **state)
{
	struct kwhy_numa *numa = malloc(sizeof(*numa));
	size_t bytes = 1 << 20;
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)state;
	assert_non_null(numa);
	assert_ptr_not_equal(memory, MAP_FAILED);
	assert_false(kwhy_numa_bind(memory, bytes, -1));
	assert_false(kwhy_numa_bind(memory, bytes, 1023));
	assert_false(kwhy_numa_bind(memory, bytes, 1 << 20));
	kwhy_numa_read("/sys", numa);
	if (numa->count > 0 && !kwhy_numa_bind(memory, bytes, numa->nodes[0].node))
		print_message("the system does not let this process bind memory\n");
	memset(memory, 1, bytes);
	munmap(memory, bytes);
	free(numa);
}

static void a_thread_stays_where_it_may_be(void **state)
{
	cpu_set_t before, none, after;

	(void)state;
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&none);
	kwhy_numa_stay(&none);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
	kwhy_numa_stay(&before);
	assert_int_equal(sched_getaffinity(0, sizeof(after), &after), 0);
	assert_true(CPU_EQUAL(&before, &after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nodes_with_memory_are_read_with_their_processors),
		cmocka_unit_test(a_list_that_is_none_or_has_no_end_gives_no_nodes_beyond_the_set),
		cmocka_unit_test(memory_is_bound_to_a_node_that_is_and_to_no_other),
		cmocka_unit_test(a_thread_stays_where_it_may_be),
	};

	return kwhy_test_main(tests, make_tree, remove_tree);
}
