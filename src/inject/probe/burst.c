/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/burst.h"

#include "base/clock.h"
#include "inject/probe/contents.h"
#include "inject/probe/fit.h"

#include <sched.h>
#include <time.h>

/*
 * Longest wait until the device is idle before a burst. A program that launches in a loop without ever
 * waiting could keep it busy forever.
 */
#define REST_NS INT64_C(500000000)
#define END_NS INT64_C(20000000000)
#define SPIN_NS INT64_C(100000)
enum { REPEATS_MIN = 2, REPEATS_MAX = 5000, CHECKS_EVERY = 16 };
/*
 * If the copies take at most this share of the time of kernel and copies together, the power of the copies
 * need not be measured. Powers of copies differ by up to 15 %, which then changes the kernel's power by less
 * than 1 %.
 */
#define COPIES_SHARE_MIN 0.05
/*
 * Assumed speed of copies on the device until copies have been timed, in bytes per ns: half of the sum of
 * bytes that an H200 reads and writes per ns.
 */
enum { COPY_BYTES_PER_NS = 1000, LAUNCH_NS = 5000 };

/*
 * Indices of the sums of hashes. INSIDE: sums over the memory that the kernel reaches; OUTSIDE: sums over all
 * other live memory; END: at the end of the burst.
 */
enum {
	OUTSIDE_BEFORE, /* BEFORE, AFTER: before and after the program's own launch */
	OUTSIDE_AFTER,
	INSIDE_AFTER,
	INSIDE_ONCE, /* after one repeat and after two repeats */
	INSIDE_TWICE,
	INSIDE_BEFORE, /* not compared: changes are found by the words of the table of chunks */
	OUTSIDE_END,
	INSIDE_END
};

static void pause_briefly(int64_t since_mono_ns)
{
	const struct timespec moment = {.tv_nsec = 20000};

	if (kwhy_clock_mono_ns() - since_mono_ns < SPIN_NS)
		sched_yield();
	else
		nanosleep(&moment, NULL);
}

/*
 * Waits until all work on a stream has ended. false: it did not within REST_NS after since_mono_ns, or the
 * stream is being captured; then it may not be queried, because that would end its capture.
 */
static bool rests(const struct kwhy_probe_burst *burst, kwhy_cuda_stream stream, int64_t since_mono_ns)
{
	enum kwhy_cuda_result result;
	int capture = KWHY_CUDA_CAPTURE_NONE;

	if (burst->driver->cuStreamIsCapturing(stream, &capture) || capture != KWHY_CUDA_CAPTURE_NONE)
		return false;
	while ((result = burst->driver->cuStreamQuery(stream)) == KWHY_CUDA_NOT_READY) {
		if (kwhy_clock_mono_ns() - since_mono_ns > REST_NS)
			return false;
		pause_briefly(since_mono_ns);
	}
	return result == KWHY_CUDA_SUCCESS;
}

static enum kwhy_probe_reason wait_for_rest(struct kwhy_probe_burst *burst)
{
	const int64_t since_mono_ns = kwhy_clock_mono_ns();
	const size_t count = kwhy_probe_memory_streams(
		burst->memory, burst->launch.context, burst->streams, KWHY_PROBE_STREAMS);

	if (burst->memory->has_lost_streams)
		return KWHY_PROBE_STREAMS_MANY;
	if (!rests(burst, burst->launch.stream, since_mono_ns))
		return KWHY_PROBE_BUSY;
	for (size_t i = 0; i < count; i++)
		if (!rests(burst, burst->streams[i], since_mono_ns))
			return KWHY_PROBE_BUSY;
	return KWHY_PROBE_NONE;
}

static void look_before(struct kwhy_probe_burst *burst)
{
	kwhy_probe_contents_note(burst,
		burst->driver->cuMemsetD8Async(burst->probe_context->table, 0,
			kwhy_probe_writes_chunks(&burst->reach) * sizeof(uint64_t), burst->launch.stream));
	kwhy_probe_contents_look(burst, 1, INSIDE_BEFORE);
}

/*
 * Whether all memory that the kernel reaches is hashed at the end of the burst, to check that it was
 * restored. That is done in bursts that check all live memory or observe the kernel's writes. Of the other
 * bursts, it is done in one of CHECKS_EVERY of those in which only predicted writes are restored or which
 * follow a graph.
 */
static bool is_end_checked(struct kwhy_probe_burst *burst)
{
	const uint32_t before = burst->is_of_graph ? burst->account->graph_bursts++
						   : atomic_load(&burst->account->bursts);

	return burst->is_checked || burst->is_looked_at ||
		((burst->writes || burst->is_of_graph) && before % CHECKS_EVERY == 0);
}

/*
 * Launches of one account may differ in how many layers of the grid share a matrix product (fit.c). If it is
 * not certain that this launch can run on memory that its own earlier run left, memory is from now on
 * restored before each repeat of the account.
 */
static void distrust_layers(struct kwhy_probe_burst *burst)
{
	struct kwhy_probe_account *account = burst->account;

	if (account->form == KWHY_PROBE_IDEMPOTENT && !burst->launch.copy.bytes &&
		!kwhy_probe_may_rerun(account->name, burst->launch.grid))
		account->form = KWHY_PROBE_STATEFUL;
}

enum kwhy_probe_reason kwhy_probe_burst_begin(struct kwhy_probe_burst *burst, uint64_t limit_bytes)
{
	enum kwhy_probe_reason reason = kwhy_probe_launch_refuse(burst->driver, &burst->launch);

	burst->start_mono_ns = burst->own_mono_ns = kwhy_clock_mono_ns();
	burst->repeats = 0;
	burst->repeated_ns = 0;
	burst->check = KWHY_PROBE_UNCHECKED;
	burst->failure = KWHY_CUDA_SUCCESS;
	burst->is_late = burst->is_saved = burst->is_of_copies = burst->has_waited = false;
	burst->is_learning = burst->account->form == KWHY_PROBE_FORM_UNKNOWN;
	distrust_layers(burst);
	burst->outside_count = 0;
	if (!reason)
		reason = kwhy_probe_reach_read(
			burst->driver, burst->memory, burst->probe_context, &burst->launch, &burst->reach);
	burst->has_waited = !reason;
	if (!reason && !kwhy_probe_context_prepare(burst->driver, burst->probe_context, limit_bytes)) {
		kwhy_probe_contents_note(burst, burst->probe_context->failure);
		reason = KWHY_PROBE_CONTEXT;
	}
	if (!reason)
		reason = kwhy_probe_contents_choose(burst);
	if (!reason)
		reason = wait_for_rest(burst);
	burst->own_mono_ns = kwhy_clock_mono_ns();
	if (reason)
		return reason;
	burst->is_end_checked = is_end_checked(burst);
	if (burst->is_checked)
		kwhy_probe_contents_list_outside(burst);
	kwhy_probe_contents_note(burst,
		burst->driver->cuMemsetD8Async(
			burst->probe_context->sums, 0, KWHY_PROBE_SUMS_BYTES, burst->launch.stream));
	if (burst->is_learning)
		kwhy_probe_contents_hash_outside(burst, OUTSIDE_BEFORE);
	if (burst->is_looked_at)
		look_before(burst);
	kwhy_probe_contents_copy(burst, KWHY_PROBE_COPY_BEFORE, false);
	burst->launch_mono_ns = kwhy_clock_mono_ns();
	return burst->failure ? KWHY_PROBE_FAILED : KWHY_PROBE_NONE;
}

/*
 * Queues the copy of the sums of hashes to the host and waits until the stream has done all work. False: a
 * call has failed, or the work took longer than END_NS.
 */
static bool settle(struct kwhy_probe_burst *burst)
{
	const int64_t since_mono_ns = kwhy_clock_mono_ns();
	enum kwhy_cuda_result result;

	kwhy_probe_contents_note(burst,
		burst->driver->cuMemcpyDtoHAsync_v2(burst->probe_context->sums_host,
			burst->probe_context->sums, KWHY_PROBE_SUMS * sizeof(uint64_t),
			burst->launch.stream));
	while ((result = burst->driver->cuStreamQuery(burst->launch.stream)) == KWHY_CUDA_NOT_READY) {
		burst->is_late = kwhy_clock_mono_ns() - since_mono_ns > END_NS;
		if (burst->is_late)
			return false;
		pause_briefly(since_mono_ns);
	}
	kwhy_probe_contents_note(burst, result);
	return !burst->failure;
}

static int64_t elapsed_ns(struct kwhy_probe_burst *burst)
{
	float elapsed_ms = 0;

	kwhy_probe_contents_note(burst,
		burst->driver->cuEventElapsedTime(
			&elapsed_ms, burst->probe_context->start, burst->probe_context->end));
	return (int64_t)(1e6 * (double)elapsed_ms);
}

static void mark(struct kwhy_probe_burst *burst, kwhy_cuda_event event)
{
	kwhy_probe_contents_note(burst, burst->driver->cuEventRecord(event, burst->launch.stream));
}

static void repeat(struct kwhy_probe_burst *burst)
{
	if (!burst->failure)
		kwhy_probe_contents_note(burst, kwhy_probe_launch_repeat(burst->driver, &burst->launch));
}

/*
 * Finds out where the program's own launch wrote, and learns from it. KWHY_PROBE_WRITES: it also wrote memory
 * that was not predicted, which was not saved, so the launch is not repeated.
 */
static enum kwhy_probe_reason look_after(struct kwhy_probe_burst *burst)
{
	kwhy_probe_contents_look(burst, -1, INSIDE_AFTER);
	kwhy_probe_contents_note(burst,
		burst->driver->cuMemcpyDtoHAsync_v2(burst->probe_context->table_host,
			burst->probe_context->table,
			kwhy_probe_writes_chunks(&burst->reach) * sizeof(uint64_t), burst->launch.stream));
	if (!settle(burst))
		return KWHY_PROBE_FAILED;
	return kwhy_probe_writes_learn(
		       burst->writes, &burst->reach, &burst->saved, burst->probe_context->table_host)
		? KWHY_PROBE_NONE
		: KWHY_PROBE_WRITES;
}

/*
 * Compares the hashes, from before and after the program's own launch, of the memory to which none of its
 * parameters points. KWHY_PROBE_HIDDEN: the launch wrote such memory; its kernel is then never repeated.
 */
static enum kwhy_probe_reason look_for_hidden_writes(struct kwhy_probe_burst *burst)
{
	const uint64_t *sums = burst->probe_context->sums_host;

	if (!settle(burst))
		return KWHY_PROBE_FAILED;
	return sums[OUTSIDE_BEFORE] == sums[OUTSIDE_AFTER] ? KWHY_PROBE_NONE : KWHY_PROBE_HIDDEN;
}

/*
 * Modelled time, in ns, of the copies that restore the saved memory once, from its size and the number of
 * ranges.
 */
static int64_t modelled_copies_ns(const struct kwhy_probe_burst *burst)
{
	return (int64_t)(burst->saved.bytes / COPY_BYTES_PER_NS) + (int64_t)burst->saved.count * LAUNCH_NS;
}

/*
 * Estimated time, in ns, of the copies that restore the saved memory once: measured in the account's last
 * burst that could measure it. If this launch saves more memory than that burst, the difference of the
 * modelled times is added; if less, the time is scaled by their ratio. 0: nothing is restored between
 * repeats.
 */
static int64_t copies_ns(const struct kwhy_probe_burst *burst)
{
	const int64_t measured_ns = atomic_load(&burst->account->copies_ns),
		      then_ns = burst->account->modelled_copies_ns, now_ns = modelled_copies_ns(burst);

	if (burst->account->form != KWHY_PROBE_STATEFUL || !burst->saved.count || !then_ns)
		return measured_ns;
	if (now_ns >= then_ns)
		return measured_ns + (now_ns - then_ns);
	return (int64_t)((double)measured_ns * (double)now_ns / (double)then_ns) + 1;
}

static void keep_copies_ns(struct kwhy_probe_burst *burst, int64_t time_ns)
{
	atomic_store(&burst->account->copies_ns, time_ns);
	burst->account->modelled_copies_ns = modelled_copies_ns(burst);
}

/*
 * In an account's first burst: times one repeat, and finds out whether the saved memory has the same contents
 * after a second repeat (KWHY_PROBE_IDEMPOTENT) or not. The second is made only if the kernel may run on its
 * own output; otherwise the account is KWHY_PROBE_STATEFUL, too.
 */
static enum kwhy_probe_reason learn(struct kwhy_probe_burst *burst)
{
	const bool may_rerun = kwhy_probe_may_rerun(burst->account->name, burst->launch.grid);
	const uint64_t *sums = burst->probe_context->sums_host;

	kwhy_probe_contents_copy(burst, KWHY_PROBE_COPY_BEFORE, true);
	mark(burst, burst->probe_context->start);
	repeat(burst);
	mark(burst, burst->probe_context->end);
	kwhy_probe_contents_hash_saved(burst, INSIDE_ONCE);
	if (may_rerun) {
		repeat(burst);
		kwhy_probe_contents_hash_saved(burst, INSIDE_TWICE);
	}
	if (!settle(burst))
		return KWHY_PROBE_FAILED;
	atomic_store(&burst->account->kernel_ns, elapsed_ns(burst) + 1);
	burst->account->form = burst->launch.copy.bytes ||
			(may_rerun && sums[INSIDE_ONCE] == sums[INSIDE_TWICE])
		? KWHY_PROBE_IDEMPOTENT
		: KWHY_PROBE_STATEFUL;
	if (burst->account->form == KWHY_PROBE_STATEFUL)
		keep_copies_ns(burst, modelled_copies_ns(burst));
	return KWHY_PROBE_NONE;
}

/*
 * Whether this burst repeats only the copies that restore memory. When kernel and copies alternate, the meter
 * shows the energy of both. To subtract the energy of the copies, the copies are also repeated alone, for as
 * much time in total as they take in the bursts with the kernel.
 */
static bool is_turn_of_copies(const struct kwhy_probe_burst *burst)
{
	const struct kwhy_probe_account *account = burst->account;
	const double its_ns = (double)copies_ns(burst),
		     share = its_ns / ((double)atomic_load(&account->kernel_ns) + its_ns);

	return account->form == KWHY_PROBE_STATEFUL && !burst->is_of_graph && burst->saved.count &&
		share > COPIES_SHARE_MIN && (double)account->alone_ns < share * (double)account->both_ns;
}

static uint32_t repeats_of(const struct kwhy_probe_burst *burst)
{
	const int64_t kernel_ns = burst->is_of_copies ? 0 : atomic_load(&burst->account->kernel_ns),
		      repeats = burst->wanted_ns / (kernel_ns + copies_ns(burst));

	return repeats < REPEATS_MIN ? REPEATS_MIN : repeats > REPEATS_MAX ? REPEATS_MAX : (uint32_t)repeats;
}

static void repeat_all(struct kwhy_probe_burst *burst)
{
	const bool is_stateful = burst->account->form == KWHY_PROBE_STATEFUL;
	uint32_t repeats;

	burst->is_of_copies = is_turn_of_copies(burst);
	repeats = repeats_of(burst);
	kwhy_probe_contents_copy(burst, KWHY_PROBE_COPY_BEFORE, true);
	mark(burst, burst->probe_context->start);
	for (uint32_t i = 0; i < repeats && !burst->failure; i++) {
		if (is_stateful && i)
			kwhy_probe_contents_copy(burst, KWHY_PROBE_COPY_BEFORE, true);
		if (!burst->is_of_copies)
			repeat(burst);
		burst->repeats++;
	}
	mark(burst, burst->probe_context->end);
}

/*
 * Adds the burst's time to its account, and updates the account's times of one repeat and of the copies that
 * restore memory. If memory is restored before each repeat, the copies before the first one are outside of
 * the timed interval, which thus contains the copies repeats - 1 times.
 */
static void keep_time(struct kwhy_probe_burst *burst)
{
	struct kwhy_probe_account *account = burst->account;
	const int64_t all_ns = elapsed_ns(burst), copied = burst->repeats - 1,
		      kernels_ns = burst->repeats * atomic_load(&account->kernel_ns);

	if (burst->is_of_copies) {
		account->alone_ns += all_ns;
		keep_copies_ns(burst, all_ns / copied + 1);
		return;
	}
	account->both_ns += all_ns;
	if (account->form == KWHY_PROBE_IDEMPOTENT)
		atomic_store(&account->kernel_ns, all_ns / burst->repeats + 1);
	else if (all_ns > kernels_ns)
		keep_copies_ns(burst, (all_ns - kernels_ns) / copied + 1);
	burst->repeated_ns = atomic_load(&account->kernel_ns) * burst->repeats;
	atomic_fetch_add(&account->repeated_ns, burst->repeated_ns);
}

static void check(struct kwhy_probe_burst *burst)
{
	const uint64_t *sums = burst->probe_context->sums_host;

	if (!burst->is_end_checked)
		return;
	burst->check = sums[OUTSIDE_AFTER] == sums[OUTSIDE_END] && sums[INSIDE_AFTER] == sums[INSIDE_END]
		? KWHY_PROBE_SAME
		: KWHY_PROBE_DIFFERENT;
	burst->account->checks += burst->is_checked;
}

static void finish(struct kwhy_probe_burst *burst)
{
	if (burst->is_late)
		return;
	if (burst->is_saved)
		kwhy_probe_contents_copy(burst, KWHY_PROBE_COPY_AFTER, true);
	if (burst->is_checked)
		kwhy_probe_contents_hash_outside(burst, OUTSIDE_END);
	if (burst->is_end_checked)
		kwhy_probe_contents_hash_inside(burst, INSIDE_END);
	if (settle(burst)) {
		check(burst);
		if (burst->repeats)
			keep_time(burst);
	}
}

enum kwhy_probe_reason kwhy_probe_burst_end(struct kwhy_probe_burst *burst)
{
	enum kwhy_probe_reason reason = KWHY_PROBE_NONE;

	burst->launched_mono_ns = kwhy_clock_mono_ns();
	kwhy_probe_contents_copy(burst, KWHY_PROBE_COPY_AFTER, false);
	burst->is_saved = !burst->failure;
	if (burst->is_checked)
		kwhy_probe_contents_hash_outside(burst, OUTSIDE_AFTER);
	if (burst->is_looked_at)
		reason = look_after(burst);
	else if (burst->is_end_checked)
		kwhy_probe_contents_hash_inside(burst, INSIDE_AFTER);
	if (!reason && burst->is_learning && burst->is_checked)
		reason = look_for_hidden_writes(burst);
	if (burst->is_learning && !reason && !burst->failure)
		reason = learn(burst);
	if (!reason && !burst->failure)
		repeat_all(burst);
	finish(burst);
	burst->end_mono_ns = kwhy_clock_mono_ns();
	return burst->failure || burst->is_late ? KWHY_PROBE_FAILED : reason;
}
