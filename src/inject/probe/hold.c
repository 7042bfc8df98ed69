/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/probe/hold.h"

#include "base/clock.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Longest time that a thread of the program waits for the burst of another thread; then all probing ends. */
#define WAIT_NS INT64_C(2000000000)
enum { LINE_BYTES = 2048 };

/*
 * is_inside: this thread is within a call of the prober. has_burst: this thread is between the start and the
 * end of a launch that is repeated.
 */
static _Thread_local bool is_inside, has_burst;

__attribute__((format(printf, 2, 3))) static void say(struct kwhy_probe *probe, const char *format, ...)
{
	char line[LINE_BYTES];
	va_list arguments;
	int length;

	if (probe->log < 0)
		return;
	va_start(arguments, format);
	length = vsnprintf(line, sizeof(line), format, arguments);
	va_end(arguments);
	if (length > 0 &&
		write(probe->log, line, (size_t)length < sizeof(line) ? (size_t)length : sizeof(line) - 1) <
			0)
		probe->log = -1;
}

/*
 * Ends all probing. The reason, in the format of printf, becomes probe->note, which is written to the
 * recording; a second reason is dropped.
 */
__attribute__((format(printf, 2, 3))) static void give_up(struct kwhy_probe *probe, const char *format, ...)
{
	va_list arguments;

	atomic_store(&probe->pace.is_over, true);
	if (atomic_load(&probe->has_note))
		return;
	va_start(arguments, format);
	vsnprintf(probe->note, sizeof(probe->note), format, arguments);
	va_end(arguments);
	atomic_store(&probe->has_note, true);
	say(probe, "gave up: %s\n", probe->note);
}

/*
 * After WAIT_NS it ends all probing (give_up()) and returns. The wait is needed because the burst of another
 * thread restores memory, which would undo what this thread is about to change.
 */
void kwhy_probe_wait_for_others(struct kwhy_probe *probe)
{
	const struct timespec moment = {.tv_nsec = 50000};
	int64_t until_mono_ns;

	if (!atomic_load_explicit(&probe->is_held, memory_order_acquire) || has_burst)
		return;
	until_mono_ns = kwhy_clock_mono_ns() + WAIT_NS;
	while (atomic_load(&probe->is_held) && kwhy_clock_mono_ns() < until_mono_ns)
		nanosleep(&moment, NULL);
	if (atomic_load(&probe->is_held))
		give_up(probe,
			"a burst of repeats took longer than another thread of the program waited for it");
}

void kwhy_probe_let_go(struct kwhy_probe *probe)
{
	has_burst = false;
	atomic_store(&probe->is_held, false);
	atomic_flag_clear_explicit(&probe->held, memory_order_release);
}

static struct kwhy_probe_context *probe_context_of(struct kwhy_probe *probe, kwhy_cuda_context context)
{
	for (size_t i = 0; i < KWHY_PROBE_CONTEXTS; i++)
		if (probe->probe_contexts[i].context == context || !probe->probe_contexts[i].context) {
			probe->probe_contexts[i].context = context;
			return &probe->probe_contexts[i];
		}
	return NULL;
}

static bool is_checked(const struct kwhy_probe *probe, const struct kwhy_probe_account *account)
{
	return probe->options.verify == KWHY_PROBE_VERIFY_ALL ||
		(probe->options.verify == KWHY_PROBE_VERIFY_FIRST && !account->checks);
}

/*
 * By how much an attempt without a burst increases account->refusals: 4, 1 if the reason may not hold for the
 * next launch, 0 if the stream was being captured.
 */
static unsigned weight_of(enum kwhy_probe_reason reason)
{
	if (reason == KWHY_PROBE_CAPTURED)
		return 0;
	return reason == KWHY_PROBE_BUSY || reason == KWHY_PROBE_WRITES ? 1 : 4;
}

static void refuse(
	struct kwhy_probe *probe, struct kwhy_probe_account *account, enum kwhy_probe_reason reason)
{
	const struct kwhy_probe_burst *burst = &probe->burst;

	atomic_store(&account->reason, (unsigned char)reason);
	atomic_fetch_add(&account->refusals, weight_of(reason));
	say(probe, "refused %.200s [%u x %u]: %s; reaches %zu allocations of %llu bytes, failure %d\n",
		account->name, account->blocks, account->threads_per_block, kwhy_probe_reason_words(reason),
		burst->reach.count, (unsigned long long)burst->reach.bytes, (int)burst->failure);
}

struct kwhy_probe_own kwhy_probe_enter(struct kwhy_probe *probe)
{
	struct kwhy_probe_own own = {KWHY_CUDA_CAPTURE_RELAXED, errno};

	is_inside = true;
	probe->driver.cuThreadExchangeStreamCaptureMode(&own.capture_mode);
	return own;
}

void kwhy_probe_leave(struct kwhy_probe *probe, struct kwhy_probe_own own)
{
	probe->driver.cuThreadExchangeStreamCaptureMode(&own.capture_mode);
	is_inside = false;
	errno = own.errno_before;
}

void kwhy_probe_end_attempt(struct kwhy_probe *probe)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();

	kwhy_probe_pace_spend(&probe->pace, now_mono_ns - probe->burst.own_mono_ns, now_mono_ns);
	kwhy_probe_pace_review(&probe->pace, &probe->accounts, now_mono_ns);
	kwhy_probe_let_go(probe);
}

bool kwhy_probe_take_hold(struct kwhy_probe *probe)
{
	if (atomic_flag_test_and_set_explicit(&probe->held, memory_order_acquire))
		return false;
	has_burst = true;
	atomic_store(&probe->is_held, true);
	return true;
}

static void keep_row(struct kwhy_probe *probe)
{
	const struct kwhy_probe_burst *burst = &probe->burst;
	const bool is_after = burst->is_of_graph || burst->launch.copy.bytes;
	const uint8_t form = is_after ? KWHY_PROBE_ROW_AFTER
		: burst->is_of_copies ? KWHY_PROBE_ROW_COPIES
				      : burst->account->form == KWHY_PROBE_STATEFUL;
	const unsigned head = atomic_load(&probe->row_head);

	if (head - atomic_load_explicit(&probe->row_tail, memory_order_acquire) == KWHY_PROBE_ROWS) {
		atomic_fetch_add(&probe->lost_rows, 1);
		return;
	}
	probe->rows[head % KWHY_PROBE_ROWS] = (struct kwhy_probe_row){.account = burst->account,
		.start_mono_ns = burst->start_mono_ns,
		.launch_mono_ns = is_after ? burst->own_mono_ns : burst->launch_mono_ns,
		.launched_mono_ns = is_after ? burst->own_mono_ns : burst->launched_mono_ns,
		.end_mono_ns = burst->end_mono_ns,
		.repeated_ns = burst->repeated_ns,
		.saved_bytes = burst->saved.bytes,
		.correlation = burst->launch.correlation,
		.context = burst->launch.context_id,
		.thread = (uint32_t)syscall(SYS_gettid),
		.repeats = burst->repeats,
		.form = form,
		.check = (uint8_t)burst->check};
	atomic_store_explicit(&probe->row_head, head + 1, memory_order_release);
}

/*
 * Ends an attempt that made no burst. If it waited for the device, it is recorded as a row without repeats,
 * because its time is part of the time of the program's call.
 */
static void end_without_burst(struct kwhy_probe *probe)
{
	struct kwhy_probe_burst *burst = &probe->burst;

	burst->launch_mono_ns = burst->launched_mono_ns = burst->end_mono_ns = kwhy_clock_mono_ns();
	if (burst->has_waited)
		keep_row(probe);
	kwhy_probe_end_attempt(probe);
}

void kwhy_probe_begin_burst(struct kwhy_probe *probe, struct kwhy_probe_account *account,
	const struct kwhy_probe_launch *launch, bool is_of_graph)
{
	struct kwhy_probe_burst *burst = &probe->burst;
	enum kwhy_probe_reason reason;
	struct kwhy_probe_own own;

	burst->is_of_graph = is_of_graph;
	burst->driver = &probe->driver;
	burst->memory = &probe->memory;
	burst->account = account;
	burst->all_writes = probe->writes;
	burst->launch = *launch;
	burst->probe_context = probe_context_of(probe, launch->context);
	burst->is_checked = is_checked(probe, account);
	burst->wanted_ns = kwhy_probe_pace_length(&probe->pace, account);
	burst->reach.count = 0;
	burst->own_mono_ns = kwhy_clock_mono_ns();
	burst->has_waited = false;
	own = kwhy_probe_enter(probe);
	reason = burst->probe_context ? kwhy_probe_burst_begin(burst, probe->options.memory_bytes)
				      : KWHY_PROBE_CONTEXT;
	kwhy_probe_leave(probe, own);
	if (!reason) {
		say(probe, "begin %.200s [%u x %u x %u, %u]\n", account->name, launch->grid[0],
			launch->grid[1], launch->grid[2], account->threads_per_block);
		return;
	}
	refuse(probe, account, reason);
	if (burst->failure)
		give_up(probe, "a call of the driver failed with %d before a repeat of %.300s",
			(int)burst->failure, account->name);
	end_without_burst(probe);
}

static void judge_burst(struct kwhy_probe *probe, enum kwhy_probe_reason reason)
{
	const struct kwhy_probe_burst *burst = &probe->burst;
	struct kwhy_probe_account *account = burst->account;

	if (burst->failure)
		give_up(probe, "a call of the driver failed with %d while %.300s was repeated",
			(int)burst->failure, account->name);
	else if (burst->is_late)
		give_up(probe, "the repeats of %.300s did not end", account->name);
	else if (burst->check == KWHY_PROBE_DIFFERENT)
		give_up(probe,
			"memory was not the same after the repeats of %.300s: the results of this run are "
			"not to be trusted; leave that kernel out with --skip",
			account->name);
	if (reason)
		refuse(probe, account, reason);
	else if (!burst->is_of_copies)
		atomic_fetch_add(&account->bursts, 1);
}

static void say_burst(struct kwhy_probe *probe)
{
	const struct kwhy_probe_burst *burst = &probe->burst;

	say(probe,
		"burst %.200s [%u x %u]: %u repeats, %s, kernel %lld ns, %zu allocations of %llu bytes, "
		"%llu saved, check %d, %.3f ms at %.3f s\n",
		burst->account->name, burst->account->blocks, burst->account->threads_per_block,
		burst->repeats,
		burst->is_of_copies				      ? "copies alone"
			: burst->account->form == KWHY_PROBE_STATEFUL ? "put back each"
								      : "back to back",
		(long long)atomic_load(&burst->account->kernel_ns), burst->reach.count,
		(unsigned long long)burst->reach.bytes, (unsigned long long)burst->saved.bytes,
		(int)burst->check, 1e-6 * (double)(burst->end_mono_ns - burst->start_mono_ns),
		1e-9 * (double)(burst->end_mono_ns - atomic_load(&probe->pace.begun_mono_ns)));
}

void kwhy_probe_finish_burst(struct kwhy_probe *probe)
{
	const struct kwhy_probe_own own = kwhy_probe_enter(probe);
	const enum kwhy_probe_reason reason = kwhy_probe_burst_end(&probe->burst);

	kwhy_probe_leave(probe, own);
	judge_burst(probe, reason);
	keep_row(probe);
	atomic_fetch_add(&probe->bursts, 1);
	if (probe->burst.repeats)
		say_burst(probe);
	kwhy_probe_end_attempt(probe);
}

void kwhy_probe_end_burst(struct kwhy_probe *probe, const struct kwhy_cupti_callback *data)
{
	const enum kwhy_cuda_result *result = data->result;

	if (data->correlation != probe->burst.launch.correlation || (result && *result))
		end_without_burst(probe);
	else
		kwhy_probe_finish_burst(probe);
}

bool kwhy_probe_is_inside(void)
{
	return is_inside;
}

bool kwhy_probe_has_burst(void)
{
	return has_burst;
}

void kwhy_probe_forget_hold(void)
{
	is_inside = has_burst = false;
}
