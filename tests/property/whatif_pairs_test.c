/* SPDX-License-Identifier: Apache-2.0 */
#include "cmocka_all.h"
#include "whatif/whatif.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/*
 * Simulates pairs of programs, before and after a change, on a machine with known costs. Projects
 * the change from the recording of the first program, and compares the projected time with that of
 * the second. The machine has one thread of the host and, except where stated, one stream; lengths
 * vary by up to 2 %. Of the machine's costs, the projection knows only those that are in its
 * profile.
 */

enum { STEPS = 20, SENDS = 22, KERNELS = 10, READS = 200, BATCH = 4 };
enum {
	CALL_NS = 2500,	     /* length of a call that launches */
	PAUSE_NS = 400,	     /* pause between the calls of a loop */
	ISSUE_NS = 5000,     /* time from a call to its work in an idle stream */
	QUEUED_NS = 1100,    /* time between activities that are queued in a stream */
	RETURN_NS = 3000,    /* time from the end of the work to the return of a wait */
	IDLE_WAIT_NS = 1300, /* length of a wait for nothing */
	SMALL_COPY_NS = 1200,
	GRAPH_NS = 4000,
	THINK_NS = 30000, /* host time between two steps */
};

static struct kwhy_error error;

struct machine {
	struct kwhy_recording *recording;
	int64_t host_ns, device_ns;
	uint32_t correlation;
	uint64_t random;
};

static int64_t scattered(struct machine *machine, int64_t length_ns)
{
	machine->random = machine->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return length_ns +
		(int64_t)((double)length_ns * 0.04 * ((double)(machine->random >> 40) / 16777216 - 0.5));
}

static void must(enum kwhy_status status)
{
	if (status)
		fail_msg("%s", error.text);
}

static uint32_t name_of(struct machine *machine, const char *text)
{
	uint32_t name;

	must(kwhy_names_intern(&machine->recording->names, text, strlen(text), &name, &error));
	return name;
}

static struct machine machine_new(void)
{
	struct kwhy_device device = {.rank = KWHY_NONE,
		.sm_count = 100,
		.limit_mw = -1,
		.context_idle_mw = -1,
		.clean_idle_mw = -1};
	struct kwhy_process process = {.pid = 1, .rank = KWHY_NONE};
	struct machine machine = {.random = 7};

	must(kwhy_recording_new(&machine.recording, &error));
	must(kwhy_recording_add_device(machine.recording, &device, NULL, &error));
	must(kwhy_recording_add_process(machine.recording, &process, NULL, &error));
	must(kwhy_recording_add_thread(machine.recording, &(struct kwhy_thread){.tid = 1}, NULL, &error));
	must(kwhy_recording_add_stream(machine.recording, &(struct kwhy_stream){.id = 0}, NULL, &error));
	return machine;
}

static void add_call(
	struct machine *machine, const char *name, int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
	must(kwhy_recording_add_call(
		machine->recording, start_ns, end_ns, name_of(machine, name), 0, correlation, &error));
	machine->host_ns = end_ns + scattered(machine, PAUSE_NS);
}

/*
 * Adds an activity that starts once the queued work has ended and the call at call_ns has reached the
 * device. Returns its end.
 */
static int64_t work(
	struct machine *machine, struct kwhy_activity activity, int64_t call_ns, int64_t length_ns)
{
	int64_t issued_ns = call_ns + scattered(machine, ISSUE_NS);
	int64_t queued_ns = machine->device_ns + scattered(machine, QUEUED_NS);

	activity.stream = 0;
	activity.start_ns = issued_ns > queued_ns ? issued_ns : queued_ns;
	activity.end_ns = machine->device_ns = activity.start_ns + scattered(machine, length_ns);
	activity.call = machine->correlation;
	must(kwhy_recording_add_activity(machine->recording, &activity, &error));
	return activity.end_ns;
}

static struct kwhy_activity kernel_of(struct machine *machine, const char *name)
{
	struct kwhy_activity activity = kwhy_activity_unknown();

	activity.name = name_of(machine, name);
	return activity;
}

static void launch(struct machine *machine, const char *name, int64_t length_ns)
{
	int64_t start_ns = machine->host_ns;

	machine->correlation++;
	work(machine, kernel_of(machine, name), start_ns, length_ns);
	add_call(machine, "cudaLaunchKernel", start_ns, start_ns + scattered(machine, CALL_NS),
		machine->correlation);
}

static struct kwhy_activity copy_of(
	struct machine *machine, enum kwhy_copy_kind kind, enum kwhy_memory_kind memory, uint64_t bytes)
{
	struct kwhy_activity activity = kwhy_activity_unknown();
	bool up = kind == KWHY_COPY_H2D;

	activity.kind = KWHY_ACTIVITY_COPY;
	activity.copy_kind = (uint8_t)kind;
	activity.bytes = bytes;
	activity.src_memory = (uint8_t)(up ? memory : KWHY_MEMORY_DEVICE);
	activity.dst_memory = (uint8_t)(up ? KWHY_MEMORY_DEVICE : memory);
	activity.name = name_of(machine, "copy");
	return activity;
}

static int64_t copy_ns(uint64_t bytes, enum kwhy_memory_kind memory)
{
	return SMALL_COPY_NS + (int64_t)(bytes / (memory == KWHY_MEMORY_PINNED ? 50 : 10));
}

static void copy(
	struct machine *machine, enum kwhy_copy_kind kind, enum kwhy_memory_kind memory, uint64_t bytes)
{
	int64_t start_ns = machine->host_ns, end_ns;

	machine->correlation++;
	end_ns = work(machine, copy_of(machine, kind, memory, bytes), start_ns, copy_ns(bytes, memory));
	end_ns = memory == KWHY_MEMORY_PINNED ? start_ns + scattered(machine, CALL_NS)
					      : end_ns + scattered(machine, RETURN_NS);
	add_call(machine, "cudaMemcpyAsync", start_ns, end_ns, machine->correlation);
}

static void wait(struct machine *machine)
{
	int64_t start_ns = machine->host_ns, end_ns = start_ns + scattered(machine, IDLE_WAIT_NS);
	int64_t done_ns = machine->device_ns + scattered(machine, RETURN_NS);

	if (machine->device_ns > start_ns && done_ns > end_ns)
		end_ns = done_ns;
	add_call(machine, "cudaStreamSynchronize", start_ns, end_ns, KWHY_NONE);
}

static void compute(struct machine *machine)
{
	static const char *const names[] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "k8", "k9"};

	for (int i = 0; i < KERNELS; i++)
		launch(machine, names[i], 2000 + 400 * i);
}

/*
 * Adds one step of a program to the machine's recording. For each pair of programs there is one
 * such function for the program before the change and one for that after it.
 */
typedef void program_step(struct machine *machine);

static void step_naive(struct machine *machine)
{
	for (int i = 0; i < SENDS; i++) {
		copy(machine, KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 40);
		wait(machine);
	}
	compute(machine);
	for (int i = 0; i < READS; i++) {
		copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PAGEABLE, 4);
		wait(machine);
	}
}

static void step_pinned(struct machine *machine)
{
	for (int i = 0; i < SENDS; i++)
		copy(machine, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 40);
	compute(machine);
	for (int i = 0; i < READS; i++) {
		copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 4);
		wait(machine);
	}
}

static void step_waits_for_all(struct machine *machine)
{
	for (int i = 0; i < SENDS; i++)
		copy(machine, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 40);
	compute(machine);
	for (int i = 0; i < READS; i++)
		copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 4);
	wait(machine);
}

static void step_read_once(struct machine *machine)
{
	for (int i = 0; i < SENDS; i++)
		copy(machine, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 40);
	compute(machine);
	launch(machine, "gather", 2000);
	copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 4 * READS);
	wait(machine);
}

static void step_sent_once(struct machine *machine)
{
	copy(machine, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 40 * SENDS);
	launch(machine, "scatter", 2000);
	compute(machine);
	launch(machine, "gather", 2000);
	copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 4 * READS);
	wait(machine);
}

/* Runs the step as one graph. */
static void step_graph(struct machine *machine)
{
	int64_t start_ns = machine->host_ns;

	machine->correlation++;
	work(machine, copy_of(machine, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 40 * SENDS), start_ns,
		copy_ns(40 * SENDS, KWHY_MEMORY_PINNED));
	work(machine, kernel_of(machine, "scatter"), start_ns, 2000);
	for (int i = 0; i < KERNELS; i++)
		work(machine, kernel_of(machine, "k"), start_ns, 2000 + 400 * i);
	work(machine, kernel_of(machine, "gather"), start_ns, 2000);
	work(machine, copy_of(machine, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 4 * READS), start_ns,
		copy_ns(4 * READS, KWHY_MEMORY_PINNED));
	add_call(machine, "cudaGraphLaunch", start_ns, start_ns + GRAPH_NS, machine->correlation);
	wait(machine);
}

/*
 * Waits after every kernel and at the end of the step. step_waits_once(), the program after the change, waits
 * only at the end.
 */
static void step_waits(struct machine *machine)
{
	for (int i = 0; i < KERNELS; i++) {
		launch(machine, "k", 8000);
		wait(machine);
	}
	copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 8);
	wait(machine);
}

static void step_waits_once(struct machine *machine)
{
	for (int i = 0; i < KERNELS; i++)
		launch(machine, "k", 8000);
	copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 8);
	wait(machine);
}

static void allocate(struct machine *machine, const char *name, int64_t length_ns)
{
	int64_t start_ns = machine->host_ns;

	add_call(machine, name, start_ns, start_ns + scattered(machine, length_ns), KWHY_NONE);
}

static void step_allocates(struct machine *machine)
{
	allocate(machine, "cudaMalloc", 60000);
	compute(machine);
	copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 8);
	wait(machine);
	allocate(machine, "cudaFree", 80000);
}

static void step_pools(struct machine *machine)
{
	allocate(machine, "cudaMallocAsync", CALL_NS);
	compute(machine);
	copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PINNED, 8);
	wait(machine);
	allocate(machine, "cudaFreeAsync", CALL_NS);
}

/*
 * Launches kernels that take less time than their launches, so that the host determines the time.
 * step_launches_once(), the program after the change, launches them as one graph.
 */
static void step_launches(struct machine *machine)
{
	for (int i = 0; i < 4 * KERNELS; i++) {
		launch(machine, i % 2 ? "k" : "l", 1500);
		machine->host_ns += scattered(machine, 3000);
	}
	wait(machine);
}

static void step_launches_once(struct machine *machine)
{
	int64_t start_ns = machine->host_ns;

	machine->correlation++;
	for (int i = 0; i < 4 * KERNELS; i++)
		work(machine, kernel_of(machine, i % 2 ? "k" : "l"), start_ns, 1500);
	add_call(machine, "cudaGraphLaunch", start_ns, start_ns + GRAPH_NS, machine->correlation);
	wait(machine);
}

/*
 * Copies data to the host and back in every step. step_stays(), the program after the change, leaves them on
 * the device.
 */
static void step_goes_round(struct machine *machine)
{
	compute(machine);
	copy(machine, KWHY_COPY_D2H, KWHY_MEMORY_PAGEABLE, 4000000);
	copy(machine, KWHY_COPY_H2D, KWHY_MEMORY_PAGEABLE, 4000000);
}

static void step_stays(struct machine *machine)
{
	compute(machine);
}

/*
 * Copies 8 MB in every step, then runs the kernel that reads them. record_overlapped() is the same work after
 * the change.
 */
static void step_streams(struct machine *machine)
{
	copy(machine, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 8000000);
	launch(machine, "big", 200000);
}

/*
 * Records the work of step_streams() with copies on a second stream into two buffers: a copy starts when the
 * kernel before the last one, which read its buffer, has ended; a kernel starts when its own copy has.
 */
static struct kwhy_recording *record_overlapped(void)
{
	struct machine machine = machine_new();
	int64_t kernel_ends[STEPS + 2] = {0}, copied_ns = 0;

	must(kwhy_recording_add_stream(machine.recording, &(struct kwhy_stream){.id = 1}, NULL, &error));
	for (int i = 0; i < STEPS; i++) {
		struct kwhy_activity send = copy_of(&machine, KWHY_COPY_H2D, KWHY_MEMORY_PINNED, 8000000);
		int64_t call_ns = (int64_t)i * 10000;

		send.stream = 1;
		send.start_ns = fmax(call_ns + ISSUE_NS, fmax(copied_ns, kernel_ends[i]) + QUEUED_NS);
		send.end_ns = copied_ns = send.start_ns + copy_ns(8000000, KWHY_MEMORY_PINNED);
		must(kwhy_recording_add_activity(machine.recording, &send, &error));
		machine.device_ns = fmax(copied_ns, kernel_ends[i + 1]);
		kernel_ends[i + 2] = work(&machine, kernel_of(&machine, "big"), call_ns, 200000);
	}
	must(kwhy_recording_finish(machine.recording, &error));
	return machine.recording;
}

static struct kwhy_recording *record(program_step *step)
{
	struct machine machine = machine_new();

	for (int i = 0; i < STEPS; i++) {
		step(&machine);
		machine.host_ns += scattered(&machine, THINK_NS);
	}
	must(kwhy_recording_finish(machine.recording, &error));
	return machine.recording;
}

static int64_t span_ns(const struct kwhy_recording *recording)
{
	const struct kwhy_activities *rows = &recording->activities;

	return rows->end_ns[rows->count - 1] - rows->start_ns[0];
}

struct change_request {
	const char *id;
	uint32_t number;
};

/* Returns the relative error of the projected time. */
static double error_of(
	const struct kwhy_recording *before, int64_t after_ns, const struct change_request *ids, size_t count)
{
	struct kwhy_whatif_request change_requests[8];
	struct kwhy_profile profile;
	struct kwhy_whatif *whatif;
	struct kwhy_plan *plan;
	double off;

	kwhy_profile_init(&profile);
	profile.graph_launch_s.value = GRAPH_NS * 1e-9;
	profile.h2d_pinned_rate_bytes_per_s.value = profile.d2h_pinned_rate_bytes_per_s.value = 50e9;
	for (size_t i = 0; i < count; i++)
		change_requests[i] = (struct kwhy_whatif_request){
			kwhy_whatif_change_find(ids[i].id), ids[i].number};
	must(kwhy_whatif_new(before, NULL, &profile, &whatif, &error));
	must(kwhy_whatif_project(whatif, change_requests, count, &plan, &error));
	if (plan->refused_count)
		fail_msg("%s: %s", plan->refused[0].id, plan->refused[0].reason);
	off = (double)(kwhy_plan_after(plan)->time_ns - after_ns) / (double)after_ns;
	kwhy_plan_free(plan);
	kwhy_whatif_free(whatif);
	return off;
}

/* Checks that the error of the projection is at most `limit`. Frees both recordings. */
static void foretells(struct kwhy_recording *a, struct kwhy_recording *b, const struct change_request *ids,
	size_t count, double limit)
{
	double off = error_of(a, span_ns(b), ids, count);

	print_message("%s%s: %.0f us became %.0f us, projected %+.1f %% off\n", ids[0].id,
		count > 1 ? " ..." : "", (double)span_ns(a) / 1e3, (double)span_ns(b) / 1e3, off * 100);
	if (fabs(off) > limit)
		fail_msg("%s%s is off by %.1f %%, more than %.0f %%", ids[0].id,
			count > 1 ? " and others" : "", off * 100, limit * 100);
	kwhy_recording_free(a);
	kwhy_recording_free(b);
}

#define FORETELLS(before, after, limit, ...)                                           \
	foretells(record(before), after, (const struct change_request[]){__VA_ARGS__}, \
		sizeof((const struct change_request[]){__VA_ARGS__}) / sizeof(struct change_request), limit)

static void copies_from_page_locked_memory_without_waits(void **state)
{
	(void)state;
	FORETELLS(step_naive, record(step_pinned), 0.05, {"event-waits", 0}, {"pinned", 0});
}

static void one_wait_for_many_read_backs(void **state)
{
	(void)state;
	FORETELLS(step_pinned, record(step_waits_for_all), 0.05, {"join-waits", 0});
}

static void queued_copies_waited_for_once_a_step(void **state)
{
	(void)state;
	FORETELLS(step_naive, record(step_waits_for_all), 0.05, {"event-waits", 0}, {"join-waits", 0},
		{"pinned", 0});
}

static void one_read_back_for_many_that_were_queued(void **state)
{
	(void)state;
	FORETELLS(step_waits_for_all, record(step_read_once), 0.05, {"pack-d2h", 0});
}

static void one_read_back_for_many(void **state)
{
	(void)state;
	FORETELLS(step_pinned, record(step_read_once), 0.05, {"pack-d2h", 0});
}

static void one_copy_for_many(void **state)
{
	(void)state;
	FORETELLS(step_read_once, record(step_sent_once), 0.05, {"pack-h2d", 0});
}

static void one_graph_for_a_step(void **state)
{
	(void)state;
	FORETELLS(step_sent_once, record(step_graph), 0.05, {"graph", 0});
}

static void all_of_that_at_once(void **state)
{
	(void)state;
	FORETELLS(step_naive, record(step_graph), 0.1, {"pack-h2d", 0}, {"pack-d2h", 0}, {"event-waits", 0},
		{"pinned", 0}, {"graph", 0});
}

static void one_wait_for_many(void **state)
{
	(void)state;
	FORETELLS(step_waits, record(step_waits_once), 0.05, {"event-waits", 0});
}

static void memory_from_a_pool(void **state)
{
	(void)state;
	FORETELLS(step_allocates, record(step_pools), 0.05, {"pool", 0});
}

static void a_graph_for_what_the_host_is_too_slow_for(void **state)
{
	(void)state;
	/*
	 * in the projection one of the twenty steps is still launched kernel by kernel, as the graph is
	 * captured in it
	 */
	FORETELLS(step_launches, record(step_launches_once), 0.1, {"graph", 0});
}

static void data_that_stay_on_the_device(void **state)
{
	(void)state;
	FORETELLS(step_goes_round, record(step_stays), 0.05, {"keep-on-device", 0});
}

static void copies_beside_compute(void **state)
{
	(void)state;
	FORETELLS(step_streams, record_overlapped(), 0.05, {"overlap-copies", 2});
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(copies_from_page_locked_memory_without_waits),
		cmocka_unit_test(one_wait_for_many_read_backs),
		cmocka_unit_test(queued_copies_waited_for_once_a_step),
		cmocka_unit_test(one_read_back_for_many_that_were_queued),
		cmocka_unit_test(one_read_back_for_many),
		cmocka_unit_test(one_copy_for_many),
		cmocka_unit_test(one_graph_for_a_step),
		cmocka_unit_test(all_of_that_at_once),
		cmocka_unit_test(one_wait_for_many),
		cmocka_unit_test(memory_from_a_pool),
		cmocka_unit_test(a_graph_for_what_the_host_is_too_slow_for),
		cmocka_unit_test(data_that_stay_on_the_device),
		cmocka_unit_test(copies_beside_compute),
	};

	return kwhy_test_main(tests, NULL, NULL);
}
