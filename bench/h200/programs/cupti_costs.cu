/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Measures what CUPTI costs a program that launches small kernels: how many nanoseconds longer a launch takes than in a process without CUPTI. The two
 * processes take turns on one core, in shuffled order. Settings that can be chosen only once in a process are variants; settings that can be switched at
 * any time are measured within one process.
 *
 * usage: cupti_costs VARIANT ROUNDS TURN_MS
 * The environment variable OTHER_CALLS is the number of other calls per launch (default 5). Variants ("the context" is the CUDA context of the program):
 *
 *   today                   as in kwhy record: recording of kernels and of each call is enabled before the context is made
 *   today-default           as today, but with CUPTI's clock instead of this program's
 *   today-pthread           as today-default, with CUPTI's default thread ids, which are those of pthread_self()
 *   today-alone             as today-default; then calls are disabled and enabled one by one
 *   subscribed              no calls are enabled before the context is made; a callback of this program records them instead
 *   clock                   as subscribed, with this program's clock
 *   counted                 as clock, and counts how often CUPTI reads the clock
 *   threads                 as subscribed, with one set of buffers for all threads
 *   buffers                 as subscribed, with larger buffers
 *   pinned                  as subscribed, with CUPTI's buffers in page-locked memory of the host
 *   unsubscribed            as subscribed, but without the callback
 *   after-calls             kernels only, before and after all calls were recorded for a while
 *   keep-one, keep-none     tests whether a single call can be recorded that was disabled when the context was made; at that time one call of each
 *                           domain is enabled (keep-one) or none (keep-none)
 *   presence-X              cost while nothing is recorded, where before the context was made: loaded: CUPTI was only loaded; registered, late: it got the
 *                           functions for its buffers (late: kernels are recorded for the first time later); kept: one call of each domain was enabled, too;
 *                           early: kernels and copies were enabled until the context was made; early-calls: calls, too; early-alone: kernels without copies;
 *                           early-copies: copies and memsets alone; early-unsubscribed: as early, and a subscriber came and went after that
 *   flushes, flushes-clock  a thread makes CUPTI deliver its buffers
 *   rests                   one rare kind of activity stays enabled
 *
 * build: nvcc -O2 -arch=sm_90 -o cupti_costs cupti_costs.cu -ldl
 * The environment variable CUPTI names CUPTI's library. Without it, the loader looks for libcupti.so.13.
 */
#include <algorithm>
#include <atomic>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <vector>

enum { MEMCPY = 1, MEMSET = 2, DRIVER = 4, RUNTIME = 5, CONCURRENT_KERNEL = 10, OVERHEAD = 17, PER_SYNC = 200 };
static int other_calls = 5;
enum { DOMAIN_DRIVER = 1, DOMAIN_RUNTIME = 2 };
enum { BUFFER_BYTES = 1 << 20, BUFFERS = 32, CALLS_MAX = 2048, RING = 1 << 16 };

struct callback_data {
	int site;
	const char *name;
	const void *params;
	void *result;
	const char *symbol;
	void *context;
	uint32_t context_id;
	uint64_t *between;
	uint32_t correlation;
};
typedef void handler_of(void *, int, uint32_t, const callback_data *);
typedef int some_call(...);

static struct {
	int (*version)(uint32_t *), (*name)(int, uint32_t, const char **), (*subscribe)(void **, handler_of *, void *), (*unsubscribe)(void *);
	int (*callback)(uint32_t, void *, int, uint32_t), (*enable)(int), (*disable)(int);
	int (*runtime_call)(uint32_t, uint8_t), (*driver_call)(uint32_t, uint8_t);
	int (*buffers)(void (*)(uint8_t **, size_t *, size_t *), void (*)(void *, uint32_t, uint8_t *, size_t, size_t));
	int (*flush)(uint32_t), (*next)(uint8_t *, size_t, uint32_t **), (*attribute)(int, size_t *, void *), (*own_clock)(uint64_t (*)(void)), (*thread_ids)(int);
	int (*timestamp)(uint64_t *), (*all_domains)(uint32_t, void *);
} cupti;

static __global__ void tiny(float *x) { x[threadIdx.x] += 1; }

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Host work between launches: reads that miss the first-level cache. */
static uint32_t walk[1 << 16];
static volatile uint32_t walked;
static void host_work(int steps)
{
	uint32_t at = walked;
	for (int i = 0; i < steps; i++) at = walk[(at + i) & 0xffff];
	walked = at;
}

static int steps_of_host;
static double turn(int64_t length_ns)
{
	static float *x;
	if (!x) cudaMalloc(&x, 4096), cudaDeviceSynchronize();
	const int64_t start = now_ns();
	int64_t launches = 0, end;
	do {
		for (int i = 0; i < PER_SYNC; i++) {
			int device;
			host_work(steps_of_host);
			for (int j = 0; j < other_calls; j++) j & 1 ? (void)cudaPeekAtLastError() : (void)cudaGetDevice(&device);
			tiny<<<1, 32>>>(x);
		}
		launches += PER_SYNC;
		cudaStreamSynchronize(0);
		end = now_ns();
	} while (end - start < length_ns);
	return (double)(end - start) / launches;
}

/* Buffers of CUPTI's activity API. `lent`: CUPTI has the buffer; the counters are of the records in returned buffers. */
static uint8_t *pool;
static std::atomic<bool> lent[BUFFERS];
static std::atomic<uint64_t> kernels, calls, joined, main_thread_buffers, clock_calls, handled[3];
static pid_t main_thread;
static std::atomic<uint8_t> seen[1 << 26];

static void wanted(uint8_t **buffer, size_t *bytes, size_t *most)
{
	*buffer = NULL, *bytes = *most = 0;
	for (int i = 0; i < BUFFERS; i++)
		if (!lent[i].exchange(true)) { *buffer = pool + (size_t)i * BUFFER_BYTES, *bytes = BUFFER_BYTES; return; }
}

static bool look_at_records;
static void done(void *, uint32_t, uint8_t *buffer, size_t, size_t valid)
{
	uint32_t *record = NULL;
	main_thread_buffers += syscall(SYS_gettid) == main_thread;
	while (look_at_records && !cupti.next(buffer, valid, &record)) {
		calls += *record == DRIVER || *record == RUNTIME;
		if (*record == CONCURRENT_KERNEL) {
			kernels++;
			joined += seen[*(uint32_t *)((char *)record + 92) & ((1 << 26) - 1)].load(std::memory_order_relaxed);
		}
	}
	memset(buffer, 0, valid);
	lent[(buffer - pool) / BUFFER_BYTES] = false;
}

static uint64_t mono_clock(void) { return now_ns(); }
static uint64_t counted_clock(void) { clock_calls++; return now_ns(); }

/* Records of API calls that a callback of this program makes, in place of CUPTI's activity records of calls */
struct row { int64_t start, end; uint32_t correlation, id, thread, result; };
static __thread struct { uint64_t put; uint32_t thread; row rows[RING]; } ring;
static bool count_handled;

static void on_call(void *, int domain, uint32_t id, const callback_data *data)
{
	if (domain > DOMAIN_RUNTIME) return;
	if (data->site == 0) { *data->between = now_ns(); return; }
	row *r = &ring.rows[ring.put % RING];
	r->start = *data->between, r->end = now_ns(), r->correlation = data->correlation, r->id = id, r->thread = ring.thread;
	r->result = *(uint32_t *)data->result;
	__atomic_store_n(&ring.put, ring.put + 1, __ATOMIC_RELEASE);
	if (count_handled) seen[data->correlation & ((1 << 26) - 1)].store(1, std::memory_order_relaxed), handled[domain]++;
}

static bool matters[3][CALLS_MAX];
static uint32_t calls_of[3];
static void read_calls(void)
{
	static const char *const some[] = {"cudaLaunch", "cudaGraphLaunch", "cudaMemcpy", "cudaMemset", "cudaStreamSynchronize", "cudaDeviceSynchronize",
		"cudaEventSynchronize", "cudaMalloc", "cudaFree", "cuLaunch", "cuGraphLaunch", "cuMemcpy", "cuMemset", "cuStreamSynchronize", "cuCtxSynchronize",
		"cuEventSynchronize", "cuMemAlloc", "cuMemFree"};
	const char *name;
	for (int d = 1; d <= 2; d++)
		for (calls_of[d] = 1; calls_of[d] < CALLS_MAX && !cupti.name(d, calls_of[d], &name); calls_of[d]++)
			for (const char *s : some) matters[d][calls_of[d]] |= name && !strncmp(name, s, strlen(s)) && !strstr(name, "HostFunc");
}

static void *subscriber;
static void kernels_on(bool on)
{
	for (int kind : {CONCURRENT_KERNEL, MEMCPY, MEMSET}) on ? cupti.enable(kind) : cupti.disable(kind);
}
static void callbacks_on(int domain, bool on)
{
	for (uint32_t i = 1; i < calls_of[domain]; i++)
		if (matters[domain][i]) cupti.callback(on, subscriber, domain, i);
}
static void api_alone(bool on)
{
	for (int d = 1; d <= 2; d++)
		for (uint32_t i = 1; i < calls_of[d]; i++)
			if (matters[d][i]) (d == 1 ? cupti.driver_call : cupti.runtime_call)(i, on);
}
static void api_all(bool on)
{
	for (int d = 1; d <= 2; d++) {
		const int kind = d == 1 ? DRIVER : RUNTIME;
		if (!on) { cupti.disable(kind); continue; }
		cupti.enable(kind);
		for (uint32_t i = 1; i < calls_of[d]; i++)
			if (!matters[d][i]) (d == 1 ? cupti.driver_call : cupti.runtime_call)(i, 0);
	}
}

static std::atomic<bool> flushes;
static void *flush_thread(void *)
{
	for (;; usleep(100000)) if (flushes) cupti.flush(0);
}

enum { PLAIN = 1, KERNELS = 2, CB_RUNTIME = 4, CB_DRIVER = 8, API_ALL = 16, FLUSH = 32, API_ALONE = 64, OVERHEADS = 128, KERNELS_ALONE = 256, COPIES = 512, KIND = 1024 /* KIND * n: activity kind n alone */ };
static const char *words_of(unsigned what)
{
	static char text[200];
	if (what >= KIND) { snprintf(text, sizeof(text), "kind %u alone", what / KIND); return text; }
	snprintf(text, sizeof(text), "%s%s%s%s%s%s%s%s%s%s", what & PLAIN ? "plain" : what ? "" : "nothing on", what & KERNELS ? "kernels " : "", what & CB_RUNTIME ? "+runtime callbacks " : "",
		what & CB_DRIVER ? "+driver callbacks " : "", what & API_ALL ? "+api less others " : "", what & API_ALONE ? "+api alone " : "", what & KERNELS_ALONE ? "kernels without copies " : "", what & COPIES ? "copies and memsets " : "", what & OVERHEADS ? "+overheads " : "",
		what & FLUSH ? "+flush 100 ms" : "");
	return text;
}
static void set(unsigned what, bool on)
{
	if (what >= KIND) {
		on ? cupti.enable(what / KIND) : cupti.disable(what / KIND);
		return;
	}
	if (what & KERNELS) kernels_on(on);
	if (what & KERNELS_ALONE) on ? cupti.enable(CONCURRENT_KERNEL) : cupti.disable(CONCURRENT_KERNEL);
	if (what & COPIES)
		for (int kind : {MEMCPY, MEMSET}) on ? cupti.enable(kind) : cupti.disable(kind);
	if (what & CB_RUNTIME) callbacks_on(DOMAIN_RUNTIME, on);
	if (what & CB_DRIVER) callbacks_on(DOMAIN_DRIVER, on);
	if (what & API_ALL) api_all(on);
	if (what & API_ALONE) api_alone(on);
	if (what & OVERHEADS) on ? cupti.enable(OVERHEAD) : cupti.disable(OVERHEAD);
	if (what & FLUSH) flushes = on;
}

/*
 * Pins only the calling thread to the chosen core. Called after CUDA has started its own threads, which therefore may run on all cores. segment.py does the
 * same.
 */
static cpu_set_t one;
static void pin(void) { sched_setaffinity(0, sizeof(one), &one); }
static void choose_core(void)
{
	cpu_set_t all;
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	for (int i = 0, nth = 0, last = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &all)) continue;
		if (nth) CPU_CLR(last, &one);
		CPU_SET(i, &one);
		last = i;
		if (nth++ == 5) break;
	}
}

/* The process without CUPTI, to which the costs are compared. It runs a turn whenever this process writes the turn's length to a pipe. */
static int to_plain, from_plain;
static double plain_turn(int64_t length)
{
	double ns = 0;
	if (write(to_plain, &length, 8) != 8 || read(from_plain, &ns, 8) != 8) exit(3);
	return ns;
}
static void fork_plain(void)
{
	int there[2], back[2];
	if (pipe(there) || pipe(back)) exit(3);
	if (!fork()) {
		int64_t length;
		close(there[1]);
		while (read(there[0], &length, 8) == 8) {
			double ns = turn(length);
			pin();
			if (write(back[1], &ns, 8) != 8) break;
		}
		_exit(0);
	}
	close(there[0]), close(back[1]);
	to_plain = there[1], from_plain = back[0];
}

static double median(std::vector<double> v) { std::sort(v.begin(), v.end()); return v[v.size() / 2]; }

static void measure(const char *variant, const char *phase, const std::vector<unsigned> &configs, int rounds, int64_t length, bool switches = true)
{
	std::vector<std::vector<double>> ns(configs.size()), over(configs.size());
	for (int r = 0; r < rounds; r++) {
		std::vector<size_t> order(configs.size());
		for (size_t i = 0; i < order.size(); i++) order[i] = i;
		for (size_t i = order.size() - 1; i; i--) std::swap(order[i], order[rand() % (i + 1)]);
		double base = 0;
		std::vector<double> of(configs.size());
		for (size_t i : order) {
			if (configs[i] & PLAIN) { base = of[i] = plain_turn(length); continue; }
			if (switches) set(configs[i], true);
			turn(2000000);
			of[i] = turn(length);
			if (switches) set(configs[i], false), turn(2000000);
		}
		for (size_t i = 0; i < configs.size(); i++) ns[i].push_back(of[i]), over[i].push_back(of[i] - base);
	}
	for (size_t i = 0; i < configs.size(); i++) {
		std::vector<double> medians;
		for (int b = 0; b < 1000; b++) {
			std::vector<double> draw;
			for (int r = 0; r < rounds; r++) draw.push_back(over[i][rand() % rounds]);
			medians.push_back(median(draw));
		}
		std::sort(medians.begin(), medians.end());
		printf("%-13s %-12s %-60s %8.0f ns/launch  over plain %6.0f [%6.0f, %6.0f]\n", variant, phase, words_of(configs[i]), median(ns[i]), median(over[i]), medians[25], medians[975]);
	}
	fflush(stdout);
}

static void find(void *library, const char *name, void *slot) { *(void **)slot = dlsym(library, name); if (!*(void **)slot) fprintf(stderr, "no %s\n", name); }

static void open_cupti(void)
{
	const char *path = getenv("CUPTI") && *getenv("CUPTI") ? getenv("CUPTI") : "libcupti.so.13";
	void *l = dlopen(path, RTLD_NOW);
	if (!l) { fprintf(stderr, "%s\n", dlerror()); exit(2); }
	find(l, "cuptiGetVersion", &cupti.version), find(l, "cuptiGetCallbackName", &cupti.name), find(l, "cuptiSubscribe", &cupti.subscribe);
	find(l, "cuptiUnsubscribe", &cupti.unsubscribe), find(l, "cuptiEnableCallback", &cupti.callback), find(l, "cuptiActivityEnable", &cupti.enable);
	find(l, "cuptiActivityDisable", &cupti.disable), find(l, "cuptiActivityEnableRuntimeApi", &cupti.runtime_call);
	find(l, "cuptiActivityEnableDriverApi", &cupti.driver_call), find(l, "cuptiActivityRegisterCallbacks", &cupti.buffers);
	find(l, "cuptiActivityFlushAll", &cupti.flush), find(l, "cuptiActivityGetNextRecord", &cupti.next), find(l, "cuptiActivitySetAttribute", &cupti.attribute);
	find(l, "cuptiActivityRegisterTimestampCallback", &cupti.own_clock), find(l, "cuptiSetThreadIdType", &cupti.thread_ids);
	find(l, "cuptiEnableAllDomains", &cupti.all_domains);
	find(l, "cuptiGetTimestamp", &cupti.timestamp);
}

static void set_size(int attribute, size_t value)
{
	size_t bytes = sizeof(value);
	printf("attribute %d = %zu: %d\n", attribute, value, cupti.attribute(attribute, &bytes, &value));
}
static void set_byte(int attribute, uint8_t value)
{
	size_t bytes = 1;
	int result = cupti.attribute(attribute, &bytes, &value);
	if (result) printf("attribute %d = %u: %d\n", attribute, value, result);
}

/*
 * Counts the API records whose correlation id is that of a kernel, and how often CUPTI reads the clock and calls the callback for each launch. Also tests
 * whether CUPTI accepts a second subscriber.
 */
static void count_all(const char *variant, bool with_clock)
{
	count_handled = look_at_records = true;
	if (subscriber) callbacks_on(DOMAIN_RUNTIME, true), callbacks_on(DOMAIN_DRIVER, true);
	kernels_on(true);
	cudaDeviceSynchronize();
	cupti.flush(1);
	kernels = joined = clock_calls = handled[1] = handled[2] = 0;
	for (int i = 0; i < 1000; i++) turn(1);
	cudaDeviceSynchronize();
	cupti.flush(1);
	kernels_on(false);
	if (subscriber) callbacks_on(DOMAIN_RUNTIME, false), callbacks_on(DOMAIN_DRIVER, false);
	printf("%s: %lu kernels, %lu of them with a call of the handler's by correlation; %lu runtime and %lu driver calls handled", variant, kernels.load(), joined.load(), handled[2].load(), handled[1].load());
	if (with_clock) printf("; the clock was asked %lu times", clock_calls.load());
	void *another = NULL;
	const int result = cupti.subscribe(&another, on_call, NULL);
	printf("; %lu buffers came on the program's thread; another cuptiSubscribe: %d", main_thread_buffers.load(), result);
	if (subscriber) {
		cupti.unsubscribe(subscriber);
		printf(", after cuptiUnsubscribe: %d", cupti.subscribe(&another, on_call, NULL));
		kernels = 0, kernels_on(true), turn(1), cudaDeviceSynchronize(), cupti.flush(1);
		printf(", kernels of %d recorded then: %lu", PER_SYNC, kernels.load());
	}
	printf("\n");
	count_handled = look_at_records = false;
}

/* Compares CUPTI's clock with those of the system. */
static void tell_clock(const char *variant)
{
	for (int i = 0; i < 3; i++, usleep(50000)) {
		uint64_t at = 0;
		struct timespec real;
		const int64_t before = now_ns();
		cupti.timestamp(&at);
		clock_gettime(CLOCK_REALTIME, &real);
		const int64_t after = now_ns();
		printf("%s: CUPTI's clock less CLOCK_REALTIME %ld ns, less CLOCK_MONOTONIC %ld ns, read within %ld ns\n", variant, (int64_t)at - (real.tv_sec * 1000000000L + real.tv_nsec),
			(int64_t)at - (before + after) / 2, after - before);
	}
}

/* Enables and disables the recording of selected API calls twice in turn, and shows whether their records appear only while they are enabled. */
static void try_alone(const char *variant)
{
	look_at_records = true;
	for (int i = 0; i < 4; i++) {
		const bool on = i % 2 == 0;
		kernels_on(true), api_alone(on);
		cupti.flush(1), kernels = calls = 0;
		turn(1);
		cudaDeviceSynchronize(), cupti.flush(1);
		printf("%s: calls alone switched %s: %lu calls and %lu kernels of %d launches\n", variant, on ? "on" : "off", calls.load(), kernels.load(), PER_SYNC);
	}
	kernels_on(false);
	look_at_records = false;
}

/*
 * Enables (`on`) or disables the recording of one rare call of each domain (cuProfilerStop, cudaProfilerStop). It tests whether calls that were disabled when
 * the context was created can be recorded later if one call stayed enabled.
 */
static void keep_one(bool on)
{
	const char *name;
	for (int d = 1; d <= 2; d++)
		for (uint32_t i = 1; i < calls_of[d]; i++)
			if (!cupti.name(d, i, &name) && name && strstr(name, "ProfilerStop")) {
				const int result = (d == 1 ? cupti.driver_call : cupti.runtime_call)(i, on);
				printf("%s stays on: %d\n", name, result);
			}
}
static int try_keeping(const char *variant, int rounds, int64_t length)
{
	cupti.buffers(wanted, done);
	kernels_on(true), api_alone(true);
	kernels_on(false), api_alone(false);
	if (!strcmp(variant, "keep-one")) keep_one(true);
	if (cudaFree(0)) return 2;
	turn(1000000), plain_turn(1000000), pin(), turn(100000000), plain_turn(100000000);
	try_alone(variant);
	measure(variant, "", {PLAIN, 0, KERNELS, KERNELS | API_ALONE}, rounds, length);
	try_alone(variant);
	api_all(true), turn(1), api_all(false);
	try_alone(variant);
	return 0;
}

/*
 * Measures what a launch costs while recording is paused after kernels were recorded: with one rare kind of activity left enabled, and after all domains of a
 * subscriber were enabled and disabled.
 */
static int measure_rests(const char *variant, int rounds, int64_t length)
{
	cupti.buffers(wanted, done);
	kernels_on(true), api_alone(true), keep_one(true);
	if (cudaFree(0)) return 2;
	turn(1000000), plain_turn(1000000), pin(), turn(100000000), plain_turn(100000000);
	kernels_on(false), api_alone(false);
	cudaDeviceSynchronize(), cupti.flush(1);
	measure(variant, "", {PLAIN, 0, COPIES, API_ALONE, KIND * MEMCPY, KIND * MEMSET, KIND * OVERHEAD, KIND * 8 /* device */, KIND * 9 /* context */, KIND * 11 /* name */,
		KIND * 22 /* copies between devices */, KIND * 27 /* module */, KIND * 37 /* stream */, KIND * 49 /* memory */, KIND * 51 /* graphs */}, rounds, length);
	printf("subscribe %d", cupti.subscribe(&subscriber, on_call, NULL));
	printf(", all domains on %d", cupti.all_domains(1, subscriber));
	printf(", off %d", cupti.all_domains(0, subscriber));
	printf(", unsubscribe %d\n", cupti.unsubscribe(subscriber));
	measure(variant, "domains off", {PLAIN, 0, KERNELS, COPIES}, rounds, length);
	try_alone(variant);
	return 0;
}

/* Measures what a launch costs more if another thread makes CUPTI return its buffers every 100 ms and reads their records. */
static int measure_flushes(const char *variant, int rounds, int64_t length)
{
	if (strstr(variant, "clock")) printf("own clock: %d\n", cupti.own_clock(mono_clock));
	cupti.buffers(wanted, done);
	kernels_on(true), api_alone(true), keep_one(true);
	if (cudaFree(0)) return 2;
	turn(1000000), plain_turn(1000000);
	pthread_t thread;
	pthread_create(&thread, NULL, flush_thread, NULL);
	pin(), turn(100000000), plain_turn(100000000);
	kernels_on(false), api_alone(false);
	look_at_records = true;
	measure(variant, "", {PLAIN, 0, KERNELS, KERNELS | FLUSH, KERNELS | API_ALONE, KERNELS | API_ALONE | FLUSH}, rounds, length);
	printf("%lu buffers came on the program's thread\n", main_thread_buffers.load());
	return 0;
}

/* Measures what CUPTI costs a launch while nothing is recorded. The suffix of the variant (presence-X) says what was enabled before the context was created. */
static int measure_presence(const char *variant, int rounds, int64_t length)
{
	const char *how = variant + strlen("presence-");
	const unsigned kinds = strstr(how, "copies") ? COPIES : strstr(how, "alone") ? KERNELS_ALONE : KERNELS;
	if (strcmp(how, "loaded")) cupti.buffers(wanted, done);
	if (!strncmp(how, "early", 5)) set(kinds, true);
	if (strstr(how, "calls")) api_alone(true);
	if (!strcmp(how, "kept")) keep_one(true);
	if (cudaFree(0)) return 2;
	turn(1000000), plain_turn(1000000), pin(), turn(100000000), plain_turn(100000000);
	if (!strncmp(how, "early", 5)) set(kinds, false);
	if (strstr(how, "calls")) api_alone(false);
	if (strstr(how, "unsubscribed")) {
		printf("subscribe %d", cupti.subscribe(&subscriber, on_call, NULL));
		callbacks_on(DOMAIN_RUNTIME, true), callbacks_on(DOMAIN_RUNTIME, false);
		printf(", unsubscribe %d\n", cupti.unsubscribe(subscriber));
	}
	cudaDeviceSynchronize(), cupti.flush(1);
	if (strstr(how, "loaded") || strstr(how, "registered")) measure(variant, "", {PLAIN, 0}, rounds, length);
	else if (!strcmp(how, "late")) measure(variant, "never on", {PLAIN, 0}, rounds, length), measure(variant, "", {PLAIN, 0, kinds}, rounds, length);
	else if (!strcmp(how, "kept")) {
		measure(variant, "never on", {PLAIN, 0}, rounds, length);
		try_alone(variant);
		measure(variant, "", {PLAIN, 0, kinds, kinds | API_ALONE}, rounds, length);
	} else if (strstr(how, "calls")) measure(variant, "", {PLAIN, 0, kinds, kinds | API_ALONE}, rounds, length);
	else measure(variant, "", {PLAIN, 0, kinds}, rounds, length);
	return 0;
}

int main(int, char **words)
{
	const char *variant = words[1];
	const int rounds = atoi(words[2]);
	const int64_t length = atoll(words[3]) * 1000000;
	const bool is_today = !strncmp(variant, "today", 5), is_counted = !strcmp(variant, "counted");
	const bool has_clock = !strcmp(variant, "today") || is_counted || !strcmp(variant, "clock");
	pthread_t thread;

	if (getenv("OTHER_CALLS")) other_calls = atoi(getenv("OTHER_CALLS"));
	srand(7);
	for (uint32_t &at : walk) at = rand() & 0xffff;
	host_work(1000000);
	const int64_t before = now_ns();
	host_work(1000000);
	steps_of_host = (int)(6000.0 * 1000000 / (now_ns() - before)); /* number of steps of host_work() that take 6 us, the host work between two launches */
	choose_core();
	fork_plain();
	main_thread = syscall(SYS_gettid);
	pool = (uint8_t *)calloc(BUFFERS, BUFFER_BYTES);
	memset(pool, 1, (size_t)BUFFERS * BUFFER_BYTES), memset(pool, 0, (size_t)BUFFERS * BUFFER_BYTES);
	open_cupti();
	uint32_t version = 0;
	cupti.version(&version);
	read_calls();
	set_byte(5, 1);
	cupti.thread_ids(strcmp(variant, "today-pthread") != 0);
	if (has_clock) {
		const int result = cupti.own_clock(is_counted ? counted_clock : mono_clock);
		printf("own clock: %d\n", result);
	}
	if (!strcmp(variant, "rests")) return measure_rests(variant, rounds, length);
	if (!strncmp(variant, "flushes", 7)) return measure_flushes(variant, rounds, length);
	if (!strncmp(variant, "keep-", 5)) return try_keeping(variant, rounds, length);
	if (!strncmp(variant, "presence-", 9)) return measure_presence(variant, rounds, length);
	if (!strcmp(variant, "threads")) set_byte(9, 0); /* one set of buffers for all threads */
	if (!strcmp(variant, "buffers")) set_size(0, 16 << 20), set_size(6, 8);
	if (!strcmp(variant, "pinned")) set_byte(8, 1);
	if (strcmp(variant, "unsubscribed") && !is_today) printf("%s: version %u, cuptiSubscribe %d\n", variant, version, cupti.subscribe(&subscriber, on_call, NULL));
	cupti.buffers(wanted, done);
	kernels_on(true); /* before the context is created, as kwhy's recorder does */
	if (is_today) api_alone(true);
	if (cudaFree(0)) { fprintf(stderr, "no CUDA\n"); return 2; }
	turn(1000000);
	pthread_create(&thread, NULL, flush_thread, NULL);
	plain_turn(1000000);
	pin();
	ring.thread = main_thread;
	for (auto &r : ring.rows) r.start = 1;
	turn(200000000), plain_turn(200000000);
	if (is_today) {
		measure(variant, "as it began", {PLAIN, KERNELS | API_ALONE}, rounds, length, false);
		if (!strcmp(variant, "today-alone")) {
			try_alone(variant);
			measure(variant, "one by one", {PLAIN, 0, KERNELS, KERNELS | API_ALONE}, rounds, length);
			try_alone(variant);
			return 0;
		}
		if (strcmp(variant, "today")) { tell_clock(variant); return 0; }
		flushes = true;
		measure(variant, "and flushed", {PLAIN, KERNELS | API_ALONE | FLUSH}, rounds, length, false);
		flushes = false;
		api_alone(false), api_all(false), kernels_on(false);
		cudaDeviceSynchronize(), cupti.flush(1);
		measure(variant, "after", {PLAIN, 0, KERNELS, KERNELS | API_ALL}, rounds, length);
		printf("today: another cuptiSubscribe: %d\n", cupti.subscribe(&subscriber, on_call, NULL));
	} else {
		kernels_on(false);
		cudaDeviceSynchronize(), cupti.flush(1);
		if (!strcmp(variant, "subscribed")) {
			measure(variant, "", {PLAIN, 0, KERNELS, KERNELS | FLUSH, CB_RUNTIME, CB_RUNTIME | CB_DRIVER, KERNELS | CB_RUNTIME, KERNELS | CB_RUNTIME | CB_DRIVER}, rounds, length);
		} else if (!strcmp(variant, "after-calls")) {
			measure(variant, "before", {PLAIN, 0, KERNELS}, rounds, length);
			api_all(true), turn(50000000), api_all(false), cupti.flush(1);
			measure(variant, "after calls", {PLAIN, 0, KERNELS, KERNELS | API_ALL}, rounds, length);
		} else if (!strcmp(variant, "unsubscribed")) {
			measure(variant, "", {PLAIN, 0, KERNELS, KERNELS | FLUSH, KERNELS | OVERHEADS}, rounds, length);
			tell_clock(variant);
			count_all(variant, false);
			return 0;
		} else {
			measure(variant, "", {PLAIN, 0, KERNELS, KERNELS | CB_RUNTIME | CB_DRIVER}, rounds, length);
		}
		count_all(variant, has_clock);
	}
	close(to_plain);
	wait(NULL);
	return 0;
}
