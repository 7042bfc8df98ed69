/* SPDX-License-Identifier: Apache-2.0 */
#include "host_engine.h"
#include "ok.h"
#include "text_file.h"
#include "transfer/engine.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * Tests an engine with a ring of slots on each of two NUMA nodes, on the host back end. The threads state
 * which node they run on (`here`).
 */

static _Thread_local uint32_t here;
static struct kwhy_error error;
static char message[KWHY_TRANSFER_MESSAGE_BYTES];

static uint32_t of_thread(const struct kwhy_transfer_nodes *nodes)
{
	assert_true(here < nodes->count);
	return here;
}

static struct kwhy_transfer *open_with(struct kwhy_transfer_options options)
{
	const struct kwhy_transfer_nodes nodes = {.count = 2, .node = {-1, -1}, .of_thread = of_thread};
	struct kwhy_transfer *transfer = NULL;

	here = 0;
	options.size = sizeof(options);
	options.backend = KWHY_TRANSFER_HOST;
	if (kwhy_transfer_open_on(&options, &nodes, &transfer, message, sizeof(message)))
		fail_msg("%s", message);
	return transfer;
}

static void put(struct kwhy_transfer *transfer, char *to, char sign)
{
	succeeds(transfer, kwhy_transfer_put(transfer, address(to), &sign, 1));
}

static long open_node(const struct kwhy_transfer *transfer, enum kwhy_transfer_operation direction)
{
	const struct kwhy_transfer_ring *ring = &transfer->rings[direction];

	return ring->open ? ring->open - ring->node_rings : -1;
}

static bool is_in_slab(const struct kwhy_transfer *transfer, uint32_t node, const char *memory)
{
	const struct kwhy_gpu_host *slab = &transfer->slabs[node];

	return memory >= (char *)slab->memory && memory < (char *)slab->memory + slab->bytes;
}

static void a_slot_lies_on_the_node_of_the_thread_that_opens_it(void **state)
{
	struct kwhy_transfer *transfer = open_with((struct kwhy_transfer_options){0});
	char *device = device_memory(transfer, 100);
	const struct kwhy_transfer_ring *ring = &transfer->rings[KWHY_TRANSFER_PUT];

	(void)state;
	assert_int_equal(open_node(transfer, KWHY_TRANSFER_PUT), -1);
	here = 1;
	put(transfer, device, 'a');
	assert_int_equal(open_node(transfer, KWHY_TRANSFER_PUT), 1);
	assert_true(is_in_slab(transfer, 1, ring->open->slots[ring->open->at].host));
	here = 0;
	put(transfer, device + 1, 'b'); /* joins 'a' in node 1's slot, not yet flushed */
	assert_int_equal(open_node(transfer, KWHY_TRANSFER_PUT), 1);
	flush_and_wait(transfer);
	put(transfer, device + 2, 'c');
	assert_int_equal(open_node(transfer, KWHY_TRANSFER_PUT), 0);
	assert_true(is_in_slab(transfer, 0, ring->open->slots[ring->open->at].host));
	kwhy_transfer_cancel(transfer);
	assert_int_equal(open_node(transfer, KWHY_TRANSFER_PUT), -1);
	assert_memory_equal(device, "ab\0", 3);
	kwhy_transfer_close(transfer);
}

/*
 * Puts and gets must take effect in the order of their calls, however often the thread changes its node. 100
 * rounds use the slots of both nodes' rings many times.
 */
static void the_later_of_puts_and_of_gets_wins_wherever_its_slot_lies(void **state)
{
	struct kwhy_transfer *transfer = open_with((struct kwhy_transfer_options){.slots = 2});
	char *device = device_memory(transfer, 100), back = 0;
	uint64_t ticket = 0;

	(void)state;
	for (int i = 0; i < 100; i++) {
		here = (uint32_t)(i * 7 % 5 % 2);
		put(transfer, device, (char)i);
		put(transfer, device + 1 + i % 50, 'x');
		succeeds(transfer, kwhy_transfer_flush(transfer, NULL));
		here = (uint32_t)(i * 3 % 4 / 2);
		succeeds(transfer, kwhy_transfer_get(transfer, &back, address(device), 1));
		succeeds(transfer, kwhy_transfer_flush(transfer, &ticket));
		if (i % 9 == 8) {
			succeeds(transfer, kwhy_transfer_wait(transfer, ticket));
			assert_int_equal(back, i);
		}
	}
	succeeds(transfer, kwhy_transfer_wait(transfer, ticket));
	assert_int_equal(back, 99);
	kwhy_transfer_close(transfer);
}

static void a_full_ring_of_ones_own_node_refuses_and_the_others_has_room(void **state)
{
	struct kwhy_transfer *transfer = open_with(
		(struct kwhy_transfer_options){.slot_bytes = 8192, .slots = 2, .refuse_full = 1});
	char *device = device_memory(transfer, 50000), *from = calloc(1, 50000);
	struct kwhy_gpu_gate *gate;

	(void)state;
	assert_non_null(from);
	succeeds(transfer, transfer->ops->gate_new(transfer->gpu, &gate, &transfer->error));
	succeeds(transfer, transfer->ops->gate_hold(transfer->gpu, gate, transfer->stream, &transfer->error));
	here = 1;
	for (int i = 0; i < 2; i++) {
		succeeds(transfer, kwhy_transfer_put(transfer, address(device + 8000 * i), from, 8000));
		succeeds(transfer, kwhy_transfer_flush(transfer, NULL));
	}
	assert_int_equal(
		kwhy_transfer_put(transfer, address(device + 16000), from, 8000), KWHY_TRANSFER_FULL);
	here = 0;
	succeeds(transfer, kwhy_transfer_put(transfer, address(device + 16000), from, 8000));
	here = 1; /* node 0's slot being filled is full; node 1 has no free slot */
	assert_int_equal(
		kwhy_transfer_put(transfer, address(device + 24000), from, 8000), KWHY_TRANSFER_FULL);
	succeeds(transfer, transfer->ops->gate_open(transfer->gpu, gate, &transfer->error));
	flush_and_wait(transfer);
	succeeds(transfer, kwhy_transfer_put(transfer, address(device + 24000), from, 16000));
	flush_and_wait(transfer);
	transfer->ops->gate_free(transfer->gpu, gate);
	free(from);
	kwhy_transfer_close(transfer);
}

struct user {
	struct kwhy_transfer *transfer;
	char *device;
	uint32_t node;
	char sign;
};

/* Thread: puts and gets a byte 200 times on its node. Returns NULL if it got each byte back. */
static void *use(void *context)
{
	struct user *user = context;

	here = user->node;
	for (int round = 0; round < 200; round++) {
		char sign = (char)(user->sign + round % 3), back = 0;
		uint64_t ticket;

		if (kwhy_transfer_put(user->transfer, address(user->device), &sign, 1) ||
			kwhy_transfer_flush(user->transfer, NULL) ||
			kwhy_transfer_get(user->transfer, &back, address(user->device), 1) ||
			kwhy_transfer_flush(user->transfer, &ticket) ||
			kwhy_transfer_wait(user->transfer, ticket) || back != sign)
			return user;
	}
	return NULL;
}

static void threads_of_both_nodes_share_an_engine(void **state)
{
	struct kwhy_transfer *transfer = open_with((struct kwhy_transfer_options){.slots = 2, .pieces = 7});
	struct user users[4];
	pthread_t threads[4];
	void *failure;

	(void)state;
	for (uint32_t i = 0; i < 4; i++) {
		users[i] = (struct user){
			transfer, device_memory(transfer, 1), i % 2, (char)('a' + 5 * (int)i)};
		assert_int_equal(pthread_create(&threads[i], NULL, use, &users[i]), 0);
	}
	for (int i = 0; i < 4; i++) {
		assert_int_equal(pthread_join(threads[i], &failure), 0);
		assert_null(failure);
	}
	kwhy_transfer_close(transfer);
}

static void write_file(const char *folder, const char *name, const char *text)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/devices/system/node/%s", folder, name);
	text_file_write(path, text);
}

static void rings_lie_on_all_nodes_with_processors_the_devices_first(void **state)
{
	static const char *const folders[] = {"devices", "devices/system", "devices/system/node",
		"devices/system/node/node0", "devices/system/node/node1", "devices/system/node/node2"};
	char sys[] = "/tmp/kwhy-nodes-XXXXXX", path[300];
	struct kwhy_transfer_nodes nodes;

	(void)state;
	assert_non_null(mkdtemp(sys));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", sys, folders[i]);
		assert_int_equal(mkdir(path, 0700), 0);
	}
	write_file(sys, "has_memory", "0-2\n");
	write_file(sys, "node0/cpulist", "0-3\n");
	write_file(sys, "node1/cpulist", "4-7\n");
	write_file(sys, "node2/cpulist", "\n");
	OK(kwhy_transfer_nodes_find(&nodes, sys, 1, 0, &error));
	assert_int_equal(nodes.count, 2);
	assert_int_equal(nodes.node[0], 1);
	assert_int_equal(nodes.node[1], 0);
	assert_true(nodes.of_thread(&nodes) < 2);
	OK(kwhy_transfer_nodes_find(&nodes, sys, 1, 3, &error));
	assert_int_equal(nodes.count, 1);
	assert_int_equal(nodes.node[0], 2);
	OK(kwhy_transfer_nodes_find(&nodes, sys, -1, 0, &error));
	assert_int_equal(nodes.count, 1);
	assert_int_equal(nodes.node[0], -1);
	assert_int_equal(nodes.of_thread(&nodes), 0);
	assert_int_equal(kwhy_transfer_nodes_find(&nodes, sys, 1, 4, &error), KWHY_E_INPUT);
	assert_non_null(strstr(error.text, "node 3"));
	snprintf(path, sizeof(path), "rm -r '%s'", sys);
	assert_int_equal(system(path), 0);
}

static void a_machine_that_lists_no_nodes_has_the_first_alone(void **state)
{
	struct kwhy_transfer_nodes nodes;

	(void)state;
	OK(kwhy_transfer_nodes_find(&nodes, "/nowhere", -1, 1, &error));
	assert_int_equal(nodes.node[0], 0);
	assert_int_equal(kwhy_transfer_nodes_find(&nodes, "/nowhere", -1, 2, &error), KWHY_E_INPUT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_slot_lies_on_the_node_of_the_thread_that_opens_it),
		cmocka_unit_test(the_later_of_puts_and_of_gets_wins_wherever_its_slot_lies),
		cmocka_unit_test(a_full_ring_of_ones_own_node_refuses_and_the_others_has_room),
		cmocka_unit_test(threads_of_both_nodes_share_an_engine),
		cmocka_unit_test(rings_lie_on_all_nodes_with_processors_the_devices_first),
		cmocka_unit_test(a_machine_that_lists_no_nodes_has_the_first_alone),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
