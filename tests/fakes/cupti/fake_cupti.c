/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cupti/fake_cupti.h"

#include "vendor/cupti_abi.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Sizes of the records of CUPTI 13.0, which are larger than the parts that cupti_abi.h declares. */
enum {
	KERNEL_BYTES = 216,
	COPY_BYTES = 96,
	MEMSET_BYTES = 88,
	CALL_BYTES = 40,
	MEMORY_BYTES = 128,
	OVERHEAD_BYTES = 56,
	GRAPH_BYTES = 56,
	KINDS = 64,
	CALLS = 24,
	LASTS_NS = 50000000 /* 50 ms, longer than the flush period of the tests' recordings, 2 ms */
};

/* Names of calls, indexed by domain (driver, runtime) and callback id. The ids differ from those of every
 * real version. */
static const char *const calls[2][CALLS] = {
	{NULL, "cuInit", "cuLaunchKernel", "cuMemAlloc_v2", "cuCtxSynchronize", "cuLaunchHostFunc_ptsz",
		"cuProfilerStop", "cuMemFree_v2", "cuGraphInstantiateWithFlags", "cuGraphLaunch",
		"cuGraphExecDestroy", "cuMemAllocAsync", "cuMemFreeAsync", "cuMemMap", "cuMemUnmap",
		"cuMemcpyDtoDAsync_v2", "cuMemcpyHtoDAsync_v2", "cuMemsetD32Async",
		"cuGraphExecKernelNodeSetParams_v2", "cuGraphExecChildGraphNodeSetParams",
		"cuLaunchCooperativeKernel"},
	{NULL, "cudaGetDevice_v3020", "cudaMalloc_v3020", "cudaLaunchKernel_v7000",
		"cudaMemcpyAsync_ptsz_v7000", "cudaDeviceSynchronize_v3020", "cudaGraphLaunch_v10000",
		"cudaProfilerStop_v4000"},
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static kwhy_cupti_buffer_wanted *wanted;
static kwhy_cupti_buffer_done *done;
static kwhy_cupti_clock *_Atomic own_clock;
static atomic_bool kinds[KINDS], chosen[2][CALLS], alive[2], has_context, taken_over, may_be_whole = true,
										      is_over;
static kwhy_cupti_on_call *subscriber;
static void *subscriber_context;
static bool called_back[2][CALLS];
static uint8_t *buffer;
static size_t buffer_bytes, used_bytes, dropped;
static unsigned flushes;
static atomic_uint switches, device;

static bool asked_for(const char *what)
{
	const char *scenario = getenv("KWHY_FAKE_CUPTI");

	return scenario && strcmp(scenario, what) == 0;
}

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec time;

	clock_gettime(clock, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static uint64_t now_ns(void)
{
	kwhy_cupti_clock *clock = atomic_load(&own_clock);

	return clock ? clock() : clock_ns(CLOCK_REALTIME);
}

static size_t bytes_of(uint32_t kind)
{
	switch (kind) {
	case KWHY_CUPTI_KIND_CONCURRENT_KERNEL:
		return KERNEL_BYTES;
	case KWHY_CUPTI_KIND_MEMCPY:
	case KWHY_CUPTI_KIND_MEMCPY2:
		return COPY_BYTES;
	case KWHY_CUPTI_KIND_MEMSET:
		return MEMSET_BYTES;
	case KWHY_CUPTI_KIND_RUNTIME:
	case KWHY_CUPTI_KIND_DRIVER:
		return CALL_BYTES;
	case KWHY_CUPTI_KIND_MEMORY2:
		return MEMORY_BYTES;
	case KWHY_CUPTI_KIND_OVERHEAD:
		return OVERHEAD_BYTES;
	case KWHY_CUPTI_KIND_GRAPH_TRACE:
		return GRAPH_BYTES;
	default:
		return 0;
	}
}

/* Gives the buffer to the callback of the program, without the lock, as a thread of CUPTI would. */
static void hand_over(void)
{
	uint8_t *full = buffer;
	const size_t bytes = buffer_bytes, valid_bytes = used_bytes;

	buffer = NULL;
	used_bytes = 0;
	dropped += full && asked_for("drops") ? 3 : 0;
	if (!full || taken_over)
		return;
	pthread_mutex_unlock(&lock);
	done(NULL, 0, full, bytes, valid_bytes);
	pthread_mutex_lock(&lock);
}

static void put(const void *record, size_t record_bytes, uint32_t kind)
{
	const size_t bytes = bytes_of(kind);
	size_t most = 0;

	pthread_mutex_lock(&lock);
	if (kinds[kind] && buffer && used_bytes + bytes > buffer_bytes)
		hand_over();
	if (kinds[kind] && !buffer && !taken_over)
		wanted(&buffer, &buffer_bytes, &most);
	if (kinds[kind] && buffer) {
		memcpy(buffer + used_bytes, record, record_bytes < bytes ? record_bytes : bytes);
		used_bytes += bytes;
	} else if (kinds[kind]) {
		dropped++;
	}
	pthread_mutex_unlock(&lock);
}

static void make_context(void)
{
	bool any;

	if (has_context)
		return;
	has_context = true;
	for (int domain = 0; domain < 2; domain++) {
		any = false;
		for (int i = 0; i < CALLS; i++)
			any |= chosen[domain][i];
		if (!any)
			alive[domain] = false;
	}
}

uint64_t fake_cupti_now(void)
{
	return now_ns();
}

void fake_cupti_call_since(int domain, const char *name, uint32_t correlation, uint64_t start_ns)
{
	struct kwhy_cupti_call call = {
		.kind = domain == KWHY_CUPTI_DOMAIN_DRIVER ? KWHY_CUPTI_KIND_DRIVER : KWHY_CUPTI_KIND_RUNTIME,
		.start_ns = start_ns,
		.process = (uint32_t)getpid(),
		.thread = (uint32_t)syscall(SYS_gettid),
		.correlation = correlation};

	make_context();
	for (uint32_t i = 1; i < CALLS && alive[domain - 1]; i++)
		if (calls[domain - 1][i] && !strcmp(calls[domain - 1][i], name) && chosen[domain - 1][i])
			call.id = i;
	call.end_ns = now_ns();
	if (call.id)
		put(&call, sizeof(call), call.kind);
}

void fake_cupti_call(int domain, const char *name, uint32_t correlation)
{
	fake_cupti_call_since(domain, name, correlation, now_ns());
}

static void *launch_elsewhere(void *correlation)
{
	fake_cupti_call(KWHY_CUPTI_DOMAIN_RUNTIME, "cudaLaunchKernel_v7000", *(uint32_t *)correlation);
	return NULL;
}

void fake_cupti_elsewhere(uint32_t correlation)
{
	pthread_t thread;

	if (!pthread_create(&thread, NULL, launch_elsewhere, &correlation))
		pthread_join(thread, NULL);
}

void fake_cupti_tell(int domain, const char *name, const void *data)
{
	for (uint32_t i = 1; i < CALLS && subscriber; i++)
		if (called_back[domain - 1][i] && calls[domain - 1][i] && !strcmp(calls[domain - 1][i], name))
			subscriber(subscriber_context, domain, i, data);
}

void fake_cupti_kernel(const char *name, uint32_t correlation, int64_t length_ns, uint64_t graph_node)
{
	struct kwhy_cupti_kernel kernel = {.kind = KWHY_CUPTI_KIND_CONCURRENT_KERNEL,
		.registers = 32,
		.start_ns = now_ns(),
		.device = device,
		.context = 1,
		.stream = 7,
		.grid = {132, 2, 1},
		.block = {256, 1, 1},
		.static_shared_bytes = 1024,
		.dynamic_shared_bytes = 512,
		.correlation = correlation,
		.name = name,
		.graph_node = graph_node};

	/* With graph tracing on, a graph launch is one record and its kernels have none. */
	if (graph_node && kinds[KWHY_CUPTI_KIND_GRAPH_TRACE])
		return;
	kernel.end_ns = length_ns < 0 ? 0 : kernel.start_ns + (uint64_t)length_ns;
	put(&kernel, sizeof(kernel), kernel.kind);
}

void fake_cupti_copy(uint8_t kind, uint8_t from, uint8_t to, uint64_t bytes, uint32_t correlation)
{
	const uint64_t start_ns = now_ns();
	const struct kwhy_cupti_copy copy = {.kind = KWHY_CUPTI_KIND_MEMCPY,
		.copy_kind = kind,
		.src_memory = from,
		.dst_memory = to,
		.bytes = bytes,
		.start_ns = start_ns,
		.end_ns = start_ns + 1000,
		.context = 1,
		.stream = 7,
		.correlation = correlation};

	put(&copy, sizeof(copy), copy.kind);
}

void fake_cupti_peer_copy(uint32_t from_device, uint32_t to_device, uint64_t bytes, uint32_t correlation)
{
	const uint64_t start_ns = now_ns();
	const struct kwhy_cupti_peer_copy copy = {.kind = KWHY_CUPTI_KIND_MEMCPY2,
		.copy_kind = KWHY_CUPTI_COPY_PTOP,
		.src_memory = 3,
		.dst_memory = 3,
		.bytes = bytes,
		.start_ns = start_ns,
		.end_ns = start_ns + 1000,
		.device = from_device,
		.context = 1,
		.stream = 7,
		.src_device = from_device,
		.dst_device = to_device,
		.correlation = correlation};

	put(&copy, sizeof(copy), copy.kind);
}

void fake_cupti_memset(uint64_t bytes, uint32_t correlation)
{
	const uint64_t start_ns = now_ns();
	const struct kwhy_cupti_memset set = {.kind = KWHY_CUPTI_KIND_MEMSET,
		.bytes = bytes,
		.start_ns = start_ns,
		.end_ns = start_ns + 500,
		.context = 1,
		.stream = 7,
		.correlation = correlation,
		.memory = 3};

	put(&set, sizeof(set), set.kind);
}

void fake_cupti_graph(uint32_t graph, uint32_t correlation)
{
	const uint64_t start_ns = now_ns();

	if (kinds[KWHY_CUPTI_KIND_GRAPH_TRACE] && !may_be_whole)
		raise(SIGSEGV); /* as CUPTI 13.0: the graph was instantiated while graph tracing was off */

	const struct kwhy_cupti_graph row = {.kind = KWHY_CUPTI_KIND_GRAPH_TRACE,
		.correlation = correlation,
		.start_ns = start_ns,
		.end_ns = start_ns + 9000,
		.graph = graph,
		.context = 1,
		.stream = 7};

	put(&row, sizeof(row), row.kind);
}

void fake_cupti_overhead(uint32_t kind, int64_t length_ns)
{
	const uint64_t start_ns = now_ns();
	const struct kwhy_cupti_overhead row = {.kind = KWHY_CUPTI_KIND_OVERHEAD,
		.overhead = kind,
		.object = KWHY_CUPTI_OBJECT_THREAD,
		.thread = (uint32_t)syscall(SYS_gettid),
		.start_ns = start_ns,
		.end_ns = start_ns + (uint64_t)length_ns};

	put(&row, sizeof(row), row.kind);
}

void fake_cupti_memory(int is_free, uint64_t bytes, uint64_t address)
{
	const struct kwhy_cupti_memory row = {.kind = KWHY_CUPTI_KIND_MEMORY2,
		.operation = is_free ? KWHY_CUPTI_MEMORY_GIVEN_BACK : KWHY_CUPTI_MEMORY_TAKEN,
		.memory = 3,
		.address = address,
		.bytes = bytes,
		.time_ns = now_ns()};

	put(&row, sizeof(row), row.kind);
}

void fake_cupti_take_over(void)
{
	pthread_mutex_lock(&lock);
	taken_over = true;
	own_clock = NULL; /* the timestamp callback was that of the former client */
	pthread_mutex_unlock(&lock);
}

void fake_cupti_use_device(unsigned number)
{
	device = number;
}

int fake_cupti_is_on(void)
{
	return kinds[KWHY_CUPTI_KIND_CONCURRENT_KERNEL];
}

void fake_cupti_instantiate(void)
{
	may_be_whole = kinds[KWHY_CUPTI_KIND_GRAPH_TRACE];
}

unsigned fake_cupti_switches(void)
{
	return switches;
}

unsigned fake_cupti_flushes(void)
{
	unsigned count;

	pthread_mutex_lock(&lock);
	count = flushes;
	pthread_mutex_unlock(&lock);
	return count;
}

enum kwhy_cupti_result cuptiGetVersion(uint32_t *out_version)
{
	*out_version = asked_for("old") ? 17 : 130001;
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiGetResultString(enum kwhy_cupti_result result, const char **out_words)
{
	(void)result;
	*out_words = "CUPTI_ERROR_UNKNOWN";
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiGetTimestamp(uint64_t *out_ns)
{
	*out_ns = now_ns();
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiGetCallbackName(int domain, uint32_t id, const char **out_name)
{
	if (id >= CALLS || !calls[domain - 1][id])
		return KWHY_CUPTI_UNKNOWN;
	*out_name = calls[domain - 1][id];
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiSubscribe(
	kwhy_cupti_subscriber *out_subscriber, kwhy_cupti_on_call *on_call, void *context)
{
	if (asked_for("subscribed"))
		return KWHY_CUPTI_MULTIPLE_SUBSCRIBERS;
	*out_subscriber = NULL;
	subscriber_context = context;
	subscriber = on_call;
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiEnableCallback(
	uint32_t enable, kwhy_cupti_subscriber ours, int domain, uint32_t id)
{
	(void)ours;
	if (domain <= KWHY_CUPTI_DOMAIN_RUNTIME && id < CALLS)
		called_back[domain - 1][id] = enable;
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiSetThreadIdType(int type)
{
	return type == KWHY_CUPTI_THREADS_OF_SYSTEM ? KWHY_CUPTI_SUCCESS : KWHY_CUPTI_UNKNOWN;
}

enum kwhy_cupti_result cuptiActivitySetAttribute(int attribute, size_t *value_bytes, void *value)
{
	(void)attribute, (void)value_bytes, (void)value;
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiActivityRegisterCallbacks(
	kwhy_cupti_buffer_wanted *on_wanted, kwhy_cupti_buffer_done *on_done)
{
	if (asked_for("taken"))
		return KWHY_CUPTI_MULTIPLE_SUBSCRIBERS;
	wanted = on_wanted;
	done = on_done;
	return KWHY_CUPTI_SUCCESS;
}

static int domain_of_kind(int kind)
{
	return kind == KWHY_CUPTI_KIND_RUNTIME	 ? KWHY_CUPTI_DOMAIN_RUNTIME
		: kind == KWHY_CUPTI_KIND_DRIVER ? KWHY_CUPTI_DOMAIN_DRIVER
						 : 0;
}

/* In the scenario "lasts", ends the program if it uses CUPTI after the last flush, when CUPTI may be gone. */
static void use(void)
{
	if (asked_for("lasts") && atomic_load(&is_over))
		_exit(96); /* not abort(): the calling thread may block its signal */
}

/* Raises SIGALRM at this point if the scenario is `what` and the program handles the signal, as a timer
 * could do at any moment. */
static void interrupt_when(const char *what)
{
	struct sigaction action;

	if (asked_for(what) && !sigaction(SIGALRM, NULL, &action) && action.sa_handler != SIG_DFL)
		raise(SIGALRM);
}

static void turn(int kind, bool is_on)
{
	const int domain = domain_of_kind(kind);

	use();
	interrupt_when("interrupted-switching");
	kinds[kind] = is_on;
	if (domain)
		alive[domain - 1] = is_on;
	for (int i = 0; i < CALLS && domain && is_on; i++)
		chosen[domain - 1][i] = true;
	switches += kind == KWHY_CUPTI_KIND_CONCURRENT_KERNEL;
}

enum kwhy_cupti_result cuptiActivityEnable(int kind)
{
	turn(kind, true);
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiActivityDisable(int kind)
{
	turn(kind, false);
	return KWHY_CUPTI_SUCCESS;
}

/* CUPTI of CUDA 12.0 lacks cuptiActivityEnableRuntimeApi() and cuptiActivityEnableDriverApi(). */
#ifndef FAKE_CUPTI_WITHOUT_CHOICE
/*
 * As in CUPTI of CUDA 13.0, a call that is selected after the context was created is recorded only
 * if calls of its domain (driver or runtime) were selected or enabled before (`alive`).
 */
static void choose(int domain, uint32_t id, bool is_on)
{
	use();
	if (has_context && is_on && asked_for("forgets"))
		return;
	chosen[domain - 1][id] = is_on;
	if (!has_context && is_on)
		alive[domain - 1] = true;
}

enum kwhy_cupti_result cuptiActivityRegisterTimestampCallback(kwhy_cupti_clock *clock)
{
	own_clock = clock;
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiActivityEnableRuntimeApi(uint32_t id, uint8_t enable)
{
	kinds[KWHY_CUPTI_KIND_RUNTIME] = true;
	choose(KWHY_CUPTI_DOMAIN_RUNTIME, id, enable);
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiActivityEnableDriverApi(uint32_t id, uint8_t enable)
{
	kinds[KWHY_CUPTI_KIND_DRIVER] = true;
	choose(KWHY_CUPTI_DOMAIN_DRIVER, id, enable);
	return KWHY_CUPTI_SUCCESS;
}
#endif

static size_t offset_before(uint8_t *from, size_t before)
{
	size_t at = 0, last = 0;

	while (at < before) {
		last = at;
		at += bytes_of(((struct kwhy_cupti_record *)(void *)(from + at))->kind);
	}
	return last;
}

enum kwhy_cupti_result cuptiActivityGetNextRecord(
	uint8_t *from, size_t valid_bytes, struct kwhy_cupti_record **record)
{
	size_t at = 0;

	interrupt_when("interrupted-reading");
	if (asked_for("reorders")) {
		const size_t end = *record ? (size_t)((uint8_t *)*record - from) : valid_bytes;

		if (end == 0)
			return KWHY_CUPTI_MAX_LIMIT_REACHED;
		at = offset_before(from, end);
	} else if (*record) {
		at = (size_t)((uint8_t *)*record - from) + bytes_of((*record)->kind);
	}
	if (at >= valid_bytes || !bytes_of(((struct kwhy_cupti_record *)(void *)(from + at))->kind))
		return KWHY_CUPTI_MAX_LIMIT_REACHED;
	*record = (void *)(from + at);
	return KWHY_CUPTI_SUCCESS;
}

enum kwhy_cupti_result cuptiActivityGetNumDroppedRecords(void *context, uint32_t stream, size_t *out_records)
{
	(void)context, (void)stream;
	pthread_mutex_lock(&lock);
	*out_records = dropped;
	dropped = 0;
	pthread_mutex_unlock(&lock);
	return KWHY_CUPTI_SUCCESS;
}

static void linger(void)
{
	nanosleep(&(struct timespec){.tv_nsec = LASTS_NS}, NULL);
}

/* In the scenario "lasts", makes a forced flush take LASTS_NS and marks CUPTI as ended after it. */
static void last(uint32_t flags)
{
	use();
	if (!asked_for("lasts") || !(flags & KWHY_CUPTI_FLUSH_FORCED))
		return;
	linger();
	atomic_store(&is_over, true);
}

/* In the scenario "lasts" the unloading of this library, after the exit handlers, takes LASTS_NS. */
__attribute__((destructor)) static void end(void)
{
	if (asked_for("lasts"))
		linger();
}

/*
 * Gives the buffer to the program. As in CUPTI, a buffer with a kernel that still runs is given
 * only by a forced flush.
 */
enum kwhy_cupti_result cuptiActivityFlushAll(uint32_t flags)
{
	bool is_complete = true;

	last(flags);
	pthread_mutex_lock(&lock);
	for (size_t at = 0; buffer && at < used_bytes;) {
		const struct kwhy_cupti_kernel *kernel = (void *)(buffer + at);

		is_complete &= kernel->kind != KWHY_CUPTI_KIND_CONCURRENT_KERNEL || kernel->end_ns;
		at += bytes_of(kernel->kind);
	}
	if (is_complete || flags & KWHY_CUPTI_FLUSH_FORCED)
		hand_over();
	flushes++;
	pthread_mutex_unlock(&lock);
	return KWHY_CUPTI_SUCCESS;
}
