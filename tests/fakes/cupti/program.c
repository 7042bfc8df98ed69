/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA program without CUDA. Like the driver, it loads the library that CUDA_INJECTION64_PATH names and
 * calls it. It has its own copy of NVTX. Without "cuda" as the first argument CUDA is never initialised. The
 * arguments name the program's work:
 *
 *   settle         waits until the work so far is in the recording
 *   on, off        waits until recording of kernels is on, or off
 *   loop:MS        launches a kernel about every 0.2 ms for MS ms
 *   launch:N       launches N kernels
 *   running        launches a kernel that has not ended when the program ends
 *   device:N       lets the kernels that follow run on device N
 *   instantiate    marks the graphs that follow as instantiated before this argument
 *   open:NAME      begins a range, which `close` ends; range:NAME begins and ends one
 *   takeover       another client of CUPTI gets all records from now on
 *   fork           starts a child process that also works
 *   forked-cuda    starts a child process that initialises CUDA itself
 *   threads        prints the number of kwhy's threads
 *   retake:PATH    closes all descriptors from 3 on and reuses their numbers for a file of its own
 *   handle:N       installs a handler of SIGALRM that calls exit(N)
 *
 * Others record what they are named after (copy, peer, memset, graph, overhead, memory, call:DOMAIN:NAME,
 * span:NAME, domain:NAME), or print, end the program or call exec (print:TEXT, threads-at-end, exit:N,
 * _exit:N, kill, signal, exec:PATH).
 */
#include "fakes/cupti/fake_cupti.h"
#include "vendor/nvtx_abi.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint32_t correlation = 100;

/*
 * 1 MiB of thread-local memory, as some programs have. It lies on the stack of each thread, so a thread of
 * kwhy with a small stack could not start.
 */
static _Thread_local volatile char of_each_thread[1 << 20];

/* Functions of the fake CUPTI, if it is loaded. */
static struct {
	__typeof__(fake_cupti_call) *call;
	__typeof__(fake_cupti_kernel) *kernel;
	__typeof__(fake_cupti_copy) *copy;
	__typeof__(fake_cupti_peer_copy) *peer_copy;
	__typeof__(fake_cupti_memset) *set;
	__typeof__(fake_cupti_instantiate) *instantiate;
	__typeof__(fake_cupti_graph) *graph;
	__typeof__(fake_cupti_overhead) *overhead;
	__typeof__(fake_cupti_memory) *memory;
	__typeof__(fake_cupti_take_over) *take_over;
	__typeof__(fake_cupti_flushes) *flushes;
	__typeof__(fake_cupti_use_device) *use_device;
	__typeof__(fake_cupti_is_on) *is_on;
	__typeof__(fake_cupti_switches) *switches;
} cupti;

static void *find(void *library, const char *name)
{
	void *found = dlsym(library, name);

	if (!found) {
		fprintf(stderr, "no %s\n", name);
		exit(99);
	}
	return found;
}

/* Loads the injected library and the fake CUPTI, as cuInit() does. */
static void initialise_cuda(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH"), *fake = getenv("FAKE_CUPTI_PATH");
	void *injected = path ? dlopen(path, RTLD_NOW) : NULL;
	void *library = dlopen(fake ? fake : getenv("KWHY_CUPTI"), RTLD_NOW);
	int (*initialise)(void) = injected ? find(injected, "InitializeInjection") : NULL;

	if (!library || (path && !injected)) {
		fprintf(stderr, "%s\n", dlerror());
		exit(99);
	}
	cupti.call = find(library, "fake_cupti_call");
	cupti.kernel = find(library, "fake_cupti_kernel");
	cupti.copy = find(library, "fake_cupti_copy");
	cupti.peer_copy = find(library, "fake_cupti_peer_copy");
	cupti.set = find(library, "fake_cupti_memset");
	cupti.graph = find(library, "fake_cupti_graph");
	cupti.overhead = find(library, "fake_cupti_overhead");
	cupti.memory = find(library, "fake_cupti_memory");
	cupti.take_over = find(library, "fake_cupti_take_over");
	cupti.flushes = find(library, "fake_cupti_flushes");
	cupti.use_device = find(library, "fake_cupti_use_device");
	cupti.is_on = find(library, "fake_cupti_is_on");
	cupti.instantiate = find(library, "fake_cupti_instantiate");
	cupti.switches = find(library, "fake_cupti_switches");
	if (initialise && initialise() != 1)
		exit(98);
}

/* The tables of this program's copy of NVTX: pointers to functions that a tool may set. */
enum { PLACES = 17 };
static kwhy_nvtx_function *core[PLACES], *core2[PLACES], **core_table[PLACES], **core2_table[PLACES];

static int table_of(int module, kwhy_nvtx_function ****out_table, unsigned *out_places)
{
	if (module != KWHY_NVTX_MODULE_CORE && module != KWHY_NVTX_MODULE_CORE2)
		return 0;
	*out_table = module == KWHY_NVTX_MODULE_CORE ? core_table : core2_table;
	*out_places = PLACES;
	return 1;
}

static const void *export_table(uint32_t table)
{
	static const struct kwhy_nvtx_callbacks callbacks = {sizeof(callbacks), table_of};

	return table == KWHY_NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

static void initialise_nvtx(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *injected = path ? dlopen(path, RTLD_NOW) : NULL;
	int (*initialise)(kwhy_nvtx_export *) = injected ? find(injected, "InitializeInjectionNvtx2") : NULL;

	for (int i = 0; i < PLACES; i++) {
		core_table[i] = &core[i];
		core2_table[i] = &core2[i];
	}
	if (initialise)
		initialise(export_table);
}

static void range(const char *name)
{
	int (*push)(const char *) = (void *)core[KWHY_NVTX_PUSH_A];
	int (*pop)(void) = (void *)core[KWHY_NVTX_POP];

	if (push && pop) {
		push(name);
		pop();
	}
}

static void open_range(const char *name)
{
	int (*push)(const char *) = (void *)core[KWHY_NVTX_PUSH_A];

	if (push)
		push(name);
}

static void end_range(const char *name)
{
	int (*pop)(void) = (void *)core[KWHY_NVTX_POP];

	(void)name;
	if (pop)
		pop();
}

static void span(const char *name)
{
	uint64_t (*start)(const char *) = (void *)core[KWHY_NVTX_START_A];
	void (*end)(uint64_t) = (void *)core[KWHY_NVTX_END];

	if (start && end)
		end(start(name));
}

/*
 * Opens and closes ranges in two domains, each with its own nesting; the inner range's name is a registered
 * string.
 */
static void domain_ranges(const char *name)
{
	void *(*create)(const char *) = (void *)core2[KWHY_NVTX_DOMAIN_CREATE_A];
	void *(*registered)(void *, const char *) = (void *)core2[KWHY_NVTX_DOMAIN_REGISTER_A];
	int (*push)(void *, const struct kwhy_nvtx_event *) = (void *)core2[KWHY_NVTX_DOMAIN_PUSH_EX];
	int (*pop)(void *) = (void *)core2[KWHY_NVTX_DOMAIN_POP];
	struct kwhy_nvtx_event event = {
		.version = 3, .struct_bytes = sizeof(event), .message_type = KWHY_NVTX_MESSAGE_UNICODE};
	void *domain, *other;

	if (!create || !registered || !push || !pop)
		return;
	domain = create("domain");
	other = create("other");
	event.message = L"K\u00e4se";
	push(domain, &event);
	event.message_type = KWHY_NVTX_MESSAGE_REGISTERED;
	event.message = registered(other, name);
	push(other, &event);
	pop(domain);
	pop(other);
}

static void launch(const char *text)
{
	for (int i = text ? atoi(text) : 1; i > 0; i--) {
		cupti.call(2, "cudaGetDevice_v3020", correlation + 1);
		cupti.call(2, "cudaLaunchKernel_v7000", ++correlation);
		cupti.kernel(i % 2 ? "_Z4evenPf" : "_Z3oddPf", correlation, 1000, 0);
	}
}

static void wait_for(bool is_on)
{
	const struct timespec moment = {.tv_nsec = 200000};

	while (cupti.is_on() != is_on)
		nanosleep(&moment, NULL);
}

static void wait_on(const char *text)
{
	(void)text;
	wait_for(true);
}

static void wait_off(const char *text)
{
	(void)text;
	wait_for(false);
}

static int64_t now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

/*
 * Launches a kernel of 0.1 ms every 0.2 ms or more for `text` milliseconds. Prints the number of launches,
 * and how often recording was switched.
 */
static void loop(const char *text)
{
	const int64_t until_ns = now_ns() + atoi(text) * INT64_C(1000000);
	const struct timespec moment = {.tv_nsec = 200000};
	unsigned count = 0;

	while (now_ns() < until_ns) {
		cupti.call(2, "cudaLaunchKernel_v7000", ++correlation);
		cupti.kernel("_Z4evenPf", correlation, 100000, 0);
		nanosleep(&moment, NULL);
		count++;
	}
	printf("%u launches, %u switches\n", count, cupti.switches());
}

/*
 * Waits for three flushes, of which at least two began after this call, so that the records made before it
 * are in the recording.
 */
static void settle(const char *text)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	const unsigned from = cupti.flushes();

	(void)text;
	while (cupti.flushes() < from + 3)
		nanosleep(&moment, NULL);
}

static void use_device(const char *text)
{
	cupti.use_device((unsigned)atoi(text));
}

static void running(const char *text)
{
	(void)text;
	cupti.kernel("_Z4lastPf", ++correlation, -1, 0);
}

static void copies(const char *text)
{
	(void)text;
	cupti.call(2, "cudaMemcpyAsync_ptsz_v7000", ++correlation);
	cupti.copy(1, 2, 3, 4096, correlation);
	cupti.copy(2, 3, 1, 8192, ++correlation);
}

static void peer(const char *text)
{
	(void)text;
	cupti.peer_copy(0, 1, 65536, ++correlation);
}

static void set(const char *text)
{
	(void)text;
	cupti.set(256, ++correlation);
}

static void graph(const char *text)
{
	(void)text;
	cupti.call(2, "cudaGraphLaunch_v10000", ++correlation);
	cupti.graph(5, correlation);
	cupti.kernel("_Z4nodePf", correlation, 700, 77);
}

static void instantiate(const char *text)
{
	(void)text;
	cupti.instantiate();
}

static void overhead(const char *text)
{
	(void)text;
	cupti.overhead(1 << 16, 2000000);
	cupti.overhead(5 << 16, 7000000); /* overhead whose kind is not CUPTI's own */
}

static void memory(const char *text)
{
	(void)text;
	cupti.memory(0, 1 << 20, 0x7f0000000000);
	cupti.memory(1, 1 << 20, 0x7f0000000000);
}

static void call(const char *text)
{
	cupti.call(text[0] - '0', text + 2, ++correlation);
}

static void take_over(const char *text)
{
	(void)text;
	cupti.take_over();
}

/* Forks a child that opens a range and ends by exit(). A forked child is not recorded. */
static void fork_child(const char *text)
{
	const pid_t child = fork();

	(void)text;
	if (child == 0) {
		range("range of the child");
		exit(0);
	}
	waitpid(child, NULL, 0);
}

static void fork_cuda(const char *text)
{
	const pid_t child = fork();

	(void)text;
	if (child == 0) {
		initialise_cuda();
		launch("5");
		exit(0);
	}
	waitpid(child, NULL, 0);
}

static void print(const char *text)
{
	puts(text);
	fflush(stdout);
}

static void print_threads(const char *text)
{
	glob_t threads;
	int ours = 0;

	(void)text;
	if (glob("/proc/self/task/*/comm", 0, NULL, &threads))
		exit(98);
	for (size_t i = 0; i < threads.gl_pathc; i++) {
		FILE *file = fopen(threads.gl_pathv[i], "r");
		char name[32] = "";

		if (!file) /* the thread has ended since glob() */
			continue;
		ours += fgets(name, sizeof(name), file) && !strcmp(name, "kwhy\n");
		fclose(file);
	}
	globfree(&threads);
	printf("%d of kwhy\n", ours);
	fflush(stdout);
}

static bool prints_last_threads;

static void print_threads_at_end(const char *text)
{
	(void)text;
	prints_last_threads = true;
}

/*
 * Prints the number of kwhy's threads once more, at the end: destructors of the program run after the exit
 * handlers of its libraries.
 */
__attribute__((destructor)) static void print_last_threads(void)
{
	if (prints_last_threads)
		print_threads(NULL);
}

enum { RETAKEN_FROM = 3, RETAKEN_UNTIL = 1000 };
static bool has_retaken;

static void retake(const char *text)
{
	int file;

	closefrom(RETAKEN_FROM);
	file = open(text, O_WRONLY | O_CREAT | O_APPEND, 0666);
	if (file != RETAKEN_FROM || write(file, "mine", 4) != 4)
		exit(98);
	for (int i = RETAKEN_FROM + 1; i < RETAKEN_UNTIL; i++)
		dup2(file, i);
	has_retaken = true;
}

__attribute__((destructor)) static void print_retaken(void)
{
	int lost = 0;

	for (int i = RETAKEN_FROM; i < RETAKEN_UNTIL && has_retaken; i++)
		lost += fcntl(i, F_GETFD) < 0;
	if (has_retaken)
		printf("%d closed by others\n", lost);
	fflush(stdout);
}

static int handler_exit;

static void on_alarm(int signal)
{
	(void)signal;
	exit(handler_exit);
}

/* Installs a signal handler that calls exit(), which is not async-signal-safe, but some programs do it. */
static void handle(const char *text)
{
	handler_exit = atoi(text);
	signal(SIGALRM, on_alarm);
}

static void end(const char *text)
{
	exit(atoi(text));
}

static void end_at_once(const char *text)
{
	_exit(atoi(text));
}

static void die(const char *text)
{
	kill(getpid(), text ? atoi(text) : SIGKILL);
}

static void execute(const char *text)
{
	execl(text, text, "cuda", "launch:2", (char *)NULL);
}

static const struct {
	const char *word;
	void (*act)(const char *text); /* `text` follows the colon; NULL: the argument has no colon */
} actions[] = {
	{"launch", launch},
	{"device", use_device},
	{"running", running},
	{"copy", copies},
	{"peer", peer},
	{"memset", set},
	{"graph", graph},
	{"instantiate", instantiate},
	{"overhead", overhead},
	{"memory", memory},
	{"call", call},
	{"range", range},
	{"open", open_range},
	{"close", end_range},
	{"span", span},
	{"domain", domain_ranges},
	{"settle", settle},
	{"on", wait_on},
	{"off", wait_off},
	{"loop", loop},
	{"takeover", take_over},
	{"fork", fork_child},
	{"forked-cuda", fork_cuda},
	{"print", print},
	{"threads", print_threads},
	{"threads-at-end", print_threads_at_end},
	{"retake", retake},
	{"handle", handle},
	{"exit", end},
	{"_exit", end_at_once},
	{"kill", die},
	{"signal", die},
	{"exec", execute},
};

static void act(const char *words)
{
	const char *colon = strchr(words, ':');
	const size_t length = colon ? (size_t)(colon - words) : strlen(words);

	for (size_t i = 0; i < sizeof(actions) / sizeof(actions[0]); i++)
		if (strlen(actions[i].word) == length && !memcmp(actions[i].word, words, length)) {
			actions[i].act(colon ? colon + 1 : NULL);
			return;
		}
	fprintf(stderr, "what is %s?\n", words);
	exit(97);
}

int main(int count, char **words)
{
	const bool has_cuda = count > 1 && !strcmp(words[1], "cuda");

	of_each_thread[0] = 1;
	initialise_nvtx();
	if (has_cuda)
		initialise_cuda();
	for (int i = 1 + has_cuda; i < count; i++)
		act(words[i]);
	return 0;
}
