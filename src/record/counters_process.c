/* SPDX-License-Identifier: Apache-2.0 */
#include "record/counters_process.h"

#include "base/random.h"
#include "record/file.h"
#include "record/pm_sampling.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/*
 * READ_MS: time in ms between two readings of samples. ORPHAN_S: longest time in s for which the process
 * completes its file after the recorder was killed. WAIT_MS: longest wait between windows.
 */
enum { READ_MS = 10, ORPHAN_S = 5, WAIT_MS = 1000 };
#define FLUSH_NS INT64_C(1000000000)

/*
 * While a GPU's counters are enabled it draws some 30 W more (docs/results/probe.md). So they are enabled
 * for a window in each period. SWITCHING_NS is the longest time that enabling and disabling them took on an
 * H200. The window lies at a random time of the period, because a program may repeat itself every 2 s.
 */
#define PERIOD_NS INT64_C(2000000000)
#define SWITCHING_NS INT64_C(700000000)

struct process {
	int socket;
	const struct kwhy_sensor_device *device;
	struct kwhy_record_counters_order order;
	struct kwhy_record_file file;
	struct kwhy_pm_sampling pm;
	bool is_sampling;
	int64_t period_mono_ns; /* start of the current period */
	int64_t from_mono_ns;	/* time when the counters were or will be enabled */
	int64_t until_mono_ns;	/* end of the current window; INT64_MAX: it has none */
	uint64_t random;
	int64_t start_cpu_ns, flushed_mono_ns;
};

/*
 * Keeps the process from disturbing: it writes to no inherited stream, leaves no core file, is not itself
 * recorded by an outer recorder, and is killed when the recorder ends.
 */
static void keep_quiet(void)
{
	static const struct rlimit no_core = {0, 0};
	const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int stream = 0; nowhere >= 0 && stream < 3; stream++)
		dup2(nowhere, stream);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &no_core);
	unsetenv("CUDA_INJECTION64_PATH");
	unsetenv("NVTX_INJECTION64_PATH");
}

/*
 * Handler of the first SIGALRM, which comes when the recorder has ended: the next one comes after ORPHAN_S
 * and, since the handler is then gone, ends the process.
 */
static void set_alarm(int signal)
{
	(void)signal;
	alarm(ORPHAN_S);
}

/*
 * From now on the process is not killed when the recorder ends, but gets SIGALRM, so that it can complete its
 * file. If it cannot, as when CUPTI hangs, a second alarm ends it.
 */
static void outlive_the_recorder(void)
{
	const struct sigaction action = {.sa_handler = set_alarm, .sa_flags = SA_RESETHAND | SA_RESTART};
	sigset_t alarms;

	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigaction(SIGALRM, &action, NULL);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	prctl(PR_SET_PDEATHSIG, SIGALRM);
}

static int64_t cpu_ns(void)
{
	struct timespec used = {0, 0};

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
	return (int64_t)used.tv_sec * 1000000000 + used.tv_nsec;
}

static void answer(const struct process *process, bool is_end, const struct kwhy_error *error)
{
	struct kwhy_record_counters_answer message;

	memset(&message, 0, sizeof(message));
	message.is_end = is_end;
	message.error = *error;
	message.cpu_ns = cpu_ns() - process->start_cpu_ns;
	send(process->socket, &message, sizeof(message), MSG_NOSIGNAL);
}

/*
 * Waits for the next order of the recorder, for at most `most_ms` ms (-1: without limit), and stores it in
 * process->order. False: the recorder has shut its side down, so sampling must end.
 */
static bool take_order(struct process *process, int most_ms)
{
	struct pollfd file = {.fd = process->socket, .events = POLLIN};
	struct kwhy_record_counters_order order;
	ssize_t got;

	if (poll(&file, 1, most_ms) <= 0)
		return true;
	got = recv(process->socket, &order, sizeof(order), 0);
	if (got == (ssize_t)sizeof(order))
		process->order = order;
	return got == (ssize_t)sizeof(order) || (got < 0 && errno == EINTR);
}

static void begin_file(struct process *process, const char *producer)
{
	const struct kwhy_clock_relation relation = kwhy_clock_relate();
	const struct kwhy_record_process facts = {
		.producer = producer, .start_mono_ns = relation.mono_ns, .is_helper = true};

	kwhy_record_file_add_clock(&process->file, &relation);
	kwhy_record_file_add_process(&process->file, &facts);
	kwhy_record_file_add_device(&process->file, process->device);
	kwhy_block_writer_flush(&process->file.writer);
}

static void write_sample(void *context, const struct kwhy_perf_sample *sample)
{
	struct process *process = context;
	struct kwhy_wire_counters *row;

	if (sample->start_ns < process->order.start_mono_ns || sample->start_ns > process->order.end_mono_ns)
		return;
	for (size_t i = 0; i < KWHY_PERF_COUNTER_COUNT; i++)
		if (!isfinite(sample->counts[i]) || sample->counts[i] < 0) {
			process->file.writer.lost_records++;
			return;
		}
	row = kwhy_block_writer_add(&process->file.writer, KWHY_WIRE_COUNTERS);
	if (!row)
		return;
	*row = (struct kwhy_wire_counters){.start_mono_ns = sample->start_ns,
		.length_ns = sample->length_ns,
		.device = process->device->index};
	for (size_t i = 0; i < KWHY_PERF_COUNTER_COUNT; i++)
		row->counts[i] = sample->counts[i];
}

/*
 * Fails if a write has failed or the file has reached its limit. In the second case it can still be ended
 * like a complete file, and counts no lost records, since the error says that samples are missing.
 */
static enum kwhy_status check_file(struct process *process, struct kwhy_error *error)
{
	struct kwhy_block_writer *writer = &process->file.writer;

	if (!writer->full)
		return kwhy_record_file_check(&process->file, error);
	writer->full = false;
	writer->limit_bytes = 0;
	writer->lost_records = 0;
	return kwhy_fail(error, KWHY_E_IO, "their file has reached --max-size; allow more");
}

static enum kwhy_status read_samples(struct process *process, bool *out_more, struct kwhy_error *error)
{
	const int64_t now_ns = kwhy_clock_mono_ns();
	enum kwhy_status status = kwhy_pm_sampling_read(&process->pm, write_sample, process, out_more, error);

	if (now_ns > process->flushed_mono_ns + FLUSH_NS) {
		kwhy_block_writer_flush(&process->file.writer);
		process->flushed_mono_ns = now_ns;
	}
	return status ? status : check_file(process, error);
}

/* Length of a window in which counters are sampled, ns; INT64_MAX: all the time is one window. */
static int64_t window_ns(const struct process *process)
{
	return process->order.share < 1 ? (int64_t)(process->order.share * (double)PERIOD_NS) : INT64_MAX;
}

static enum kwhy_status begin_window(struct process *process, struct kwhy_error *error)
{
	const int64_t length_ns = window_ns(process);
	enum kwhy_status status;

	process->from_mono_ns = kwhy_clock_mono_ns();
	process->is_sampling = true;
	status = kwhy_pm_sampling_start(&process->pm, length_ns, error);
	process->until_mono_ns = length_ns < INT64_MAX ? kwhy_clock_mono_ns() + length_ns : INT64_MAX;
	return status;
}

/* Writes a record of the time in which the counters were enabled, up to now. */
static void write_window(struct process *process)
{
	struct kwhy_wire_counter_window *row = kwhy_block_writer_add(
		&process->file.writer, KWHY_WIRE_COUNTER_WINDOW);

	if (row)
		*row = (struct kwhy_wire_counter_window){.start_mono_ns = process->from_mono_ns,
			.end_mono_ns = kwhy_clock_mono_ns(),
			.device = process->device->index};
}

/*
 * Chooses a random time at which the next window begins, in the next period that has not begun yet. If all
 * the time is to be sampled, the next window may begin at once.
 */
static void choose_window(struct process *process)
{
	const int64_t now_ns = kwhy_clock_mono_ns();
	const double free_ns = (double)(PERIOD_NS - SWITCHING_NS - window_ns(process));

	process->from_mono_ns = now_ns;
	if (process->order.share >= 1)
		return;
	do
		process->period_mono_ns += PERIOD_NS;
	while (process->period_mono_ns < now_ns);
	process->from_mono_ns = process->period_mono_ns +
		(int64_t)(free_ns * kwhy_random_share(kwhy_random_next(&process->random)));
}

/*
 * Disables the counters and writes the window. After a failure of sampling, too, the window lasts until they
 * are disabled, or until CUPTI has failed to disable them. All is flushed, because nothing is written until
 * the next window.
 */
static enum kwhy_status close_window(
	struct process *process, enum kwhy_status status, struct kwhy_error *error)
{
	if (status) {
		kwhy_block_writer_flush(&process->file.writer);
		kwhy_pm_sampling_close(&process->pm);
	} else {
		status = kwhy_pm_sampling_release(&process->pm, error);
	}
	write_window(process);
	kwhy_block_writer_flush(&process->file.writer);
	process->is_sampling = false;
	return status;
}

static enum kwhy_status end_window(struct process *process, struct kwhy_error *error)
{
	bool more = true;
	enum kwhy_status status = kwhy_pm_sampling_stop(&process->pm, error);

	while (!status && more)
		status = read_samples(process, &more, error);
	return close_window(process, status, error);
}

/*
 * When counters may be enabled for the first time, because samples are recorded from then on. If all the time
 * is to be sampled, enabling begins before.
 */
static int64_t first_mono_ns(const struct process *process)
{
	const int64_t start_ns = process->order.start_mono_ns;

	return process->order.share < 1 || start_ns < SWITCHING_NS ? start_ns : start_ns - SWITCHING_NS;
}

/* Whether counters may be enabled at this time. */
static bool is_allowed(const struct process *process, int64_t now_ns)
{
	return now_ns >= first_mono_ns(process) && now_ns < process->order.end_mono_ns;
}

/* Time in ms until the next window may begin, at most WAIT_MS. */
static int wait_for_window(const struct process *process, int64_t now_ns)
{
	const int64_t first_ns = first_mono_ns(process),
		      start_ns = first_ns > process->from_mono_ns ? first_ns : process->from_mono_ns,
		      wait_ms = (start_ns - now_ns) / 1000000 + 1;

	return wait_ms < 1 || wait_ms > WAIT_MS ? WAIT_MS : (int)wait_ms;
}

/* Reads samples, or begins or ends a window. *out_wait_ms: longest time until the next step. */
static enum kwhy_status step(struct process *process, int *out_wait_ms, struct kwhy_error *error)
{
	const int64_t now_ns = kwhy_clock_mono_ns();
	bool more = false;
	enum kwhy_status status = KWHY_OK;

	*out_wait_ms = READ_MS;
	if (!process->is_sampling && now_ns >= process->from_mono_ns && is_allowed(process, now_ns))
		return begin_window(process, error);
	if (!process->is_sampling) {
		*out_wait_ms = wait_for_window(process, now_ns);
		return KWHY_OK;
	}
	if (now_ns < process->until_mono_ns && is_allowed(process, now_ns)) {
		status = read_samples(process, &more, error);
		*out_wait_ms = more ? 0 : READ_MS;
		return status;
	}
	status = end_window(process, error);
	choose_window(process);
	return status;
}

/* Reads and writes samples until the recorder ends the sampling; then stops it and reads the last samples. */
static enum kwhy_status sample(struct process *process, struct kwhy_error *error)
{
	int wait_ms = 0;
	enum kwhy_status status = KWHY_OK;

	while (!status && take_order(process, wait_ms))
		status = step(process, &wait_ms, error);
	if (!process->is_sampling)
		return status;
	return status ? close_window(process, status, error) : end_window(process, error);
}

static enum kwhy_status begin(struct process *process, const char *producer, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_pm_sampling_open(&process->pm, process->device->uuid, error);

	if (!take_order(process, -1))
		_exit(0);
	process->period_mono_ns = kwhy_clock_mono_ns();
	process->random = (uint64_t)process->period_mono_ns;
	if (!status)
		status = begin_window(process, error);
	if (!status)
		status = kwhy_record_file_open(
			&process->file, process->order.path, process->order.limit_bytes, error);
	if (!status)
		begin_file(process, producer);
	return status;
}

static void end_file(struct process *process)
{
	const struct kwhy_clock_relation relation = kwhy_clock_relate();

	if (process->file.fd < 0)
		return;
	kwhy_record_file_add_clock(&process->file, &relation);
	kwhy_block_writer_finish(&process->file.writer, relation.mono_ns);
}

void kwhy_record_counters_process(int socket, const struct kwhy_sensor_device *device, const char *producer)
{
	struct process process = {.socket = socket, .device = device, .file = {.fd = -1}};
	struct kwhy_error error = {0};
	enum kwhy_status status;

	keep_quiet();
	status = begin(&process, producer, &error);
	process.start_cpu_ns = cpu_ns();
	if (!status) {
		answer(&process, false, &error);
		outlive_the_recorder();
		status = sample(&process, &error);
	}
	end_file(&process);
	answer(&process, true, &error);
	kwhy_pm_sampling_close(&process.pm);
	_exit(status != KWHY_OK);
}
