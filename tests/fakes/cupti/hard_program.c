/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA program without CUDA that treats its process hard. Like the driver, it loads the library that
 * CUDA_INJECTION64_PATH names. It behaves and prints the same without that library. Arguments, in order:
 *
 *   cuda           initialises CUDA
 *   launch:N       launches N kernels
 *   threads:N      N threads, a few at a time, each of which launches a kernel and opens a range
 *   tiny:N         N threads with the smallest stack that the system allows, which do the same
 *   vfork, spawn   starts `true` by vfork() and exec, or by posix_spawn()
 *   daemon         the rest is done by a daemon (two forks, a session of its own, no descriptors)
 *   user:N         a child becomes user N and launches a kernel
 *   signals:N      another thread sends N signals while kernels are launched; prints how many arrived
 *   unload         unloads the injected library
 *   load           loads the injected library and calls it once more
 *   limit:NAME:N   sets a limit of the process: nofile, as, fsize, nproc
 *   deny           makes opening files, threads and processes fail (seccomp)
 *   user-of-cupti  another user of CUPTI takes its callbacks for a moment
 *   print:TEXT, exit:N, settle
 */
#include "fakes/cupti/fake_cupti.h"
#include "vendor/nvtx_abi.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_AT_ONCE = 16, PLACES = 17 };

static struct {
	__typeof__(fake_cupti_call) *call;
	__typeof__(fake_cupti_kernel) *kernel;
	__typeof__(fake_cupti_flushes) *flushes;
	__typeof__(fake_cupti_take_over) *take_over;
} cupti;
static void *injected;
static atomic_uint correlation = 100, arrived;
static kwhy_nvtx_function *core[PLACES], **core_table[PLACES];

static void *find(void *library, const char *name)
{
	void *found = library ? dlsym(library, name) : NULL;

	if (!found) {
		fprintf(stderr, "no %s: %s\n", name, dlerror());
		exit(99);
	}
	return found;
}

static int table_of(int module, kwhy_nvtx_function ****out_table, unsigned *out_places)
{
	*out_table = core_table;
	*out_places = PLACES;
	return module == KWHY_NVTX_MODULE_CORE;
}

static const void *export_table(uint32_t table)
{
	static const struct kwhy_nvtx_callbacks callbacks = {sizeof(callbacks), table_of};

	return table == KWHY_NVTX_EXPORT_CALLBACKS ? &callbacks : NULL;
}

static void load(const char *text)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");

	(void)text;
	if (!path)
		return;
	injected = dlopen(path, RTLD_NOW);
	if (((int (*)(void))find(injected, "InitializeInjection"))() != 1)
		exit(98);
	((int (*)(kwhy_nvtx_export *))find(injected, "InitializeInjectionNvtx2"))(export_table);
}

static void initialise(const char *text)
{
	void *library = dlopen(getenv("FAKE_CUPTI_PATH"), RTLD_NOW);

	for (int i = 0; i < PLACES; i++)
		core_table[i] = &core[i];
	cupti.call = find(library, "fake_cupti_call");
	cupti.kernel = find(library, "fake_cupti_kernel");
	cupti.flushes = find(library, "fake_cupti_flushes");
	cupti.take_over = find(library, "fake_cupti_take_over");
	load(text);
}

static void launch(const char *text)
{
	for (int i = text ? atoi(text) : 1; i > 0; i--) {
		const unsigned number = atomic_fetch_add(&correlation, 1);

		cupti.call(2, "cudaLaunchKernel_v7000", number);
		cupti.kernel("_Z4evenPf", number, 1000, 0);
	}
}

static void settle(const char *text)
{
	const struct timespec moment = {.tv_nsec = 1000000};
	const unsigned from = cupti.flushes();

	(void)text;
	while (getenv("CUDA_INJECTION64_PATH") && cupti.flushes() < from + 3)
		nanosleep(&moment, NULL);
}

static void *work_of_thread(void *context)
{
	int (*push)(const char *) = (void *)core[KWHY_NVTX_PUSH_A];
	int (*pop)(void) = (void *)core[KWHY_NVTX_POP];

	if (push && pop)
		push("of a thread");
	launch(NULL);
	if (push && pop)
		pop();
	return context;
}

static void run_threads(int count, const pthread_attr_t *attributes)
{
	pthread_t threads[THREADS_AT_ONCE];

	while (count > 0) {
		int started = 0;

		for (; started < THREADS_AT_ONCE && count > 0; started++, count--)
			if (pthread_create(&threads[started], attributes, work_of_thread, NULL))
				exit(96);
		while (started > 0)
			pthread_join(threads[--started], NULL);
	}
}

static void threads(const char *text)
{
	run_threads(atoi(text), NULL);
}

static void tiny_threads(const char *text)
{
	pthread_attr_t attributes;

	pthread_attr_init(&attributes);
	if (pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)))
		exit(96);
	run_threads(atoi(text), &attributes);
}

static void print(const char *text)
{
	puts(text);
	fflush(stdout);
}

static void print_status(const char *what, pid_t child)
{
	int status = -1;

	waitpid(child, &status, 0);
	printf("%s ended with %d\n", what, WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	fflush(stdout);
}

static void start_by_vfork(const char *text)
{
	const pid_t child = vfork();

	(void)text;
	if (child == 0) {
		execlp("true", "true", (char *)NULL);
		_exit(127);
	}
	print_status("vfork", child);
}

static void start_by_spawn(const char *text)
{
	char name[] = "true", *const words[] = {name, NULL};
	pid_t child;

	(void)text;
	if (posix_spawnp(&child, "true", NULL, NULL, words, environ))
		exit(96);
	print_status("spawn", child);
}

static void become_daemon(const char *text)
{
	(void)text;
	fflush(stdout);
	if (fork())
		_exit(0);
	setsid();
	if (fork())
		_exit(0);
	closefrom(3);
}

static void be_user(const char *text)
{
	const pid_t child = fork();

	if (child == 0) {
		if (setgid((gid_t)atoi(text)) || setuid((uid_t)atoi(text)))
			_exit(95);
		launch(NULL);
		exit(0);
	}
	print_status("user", child);
}

static void on_signal(int signal)
{
	(void)signal;
	atomic_fetch_add(&arrived, 1);
}

struct storm {
	pthread_t target;
	unsigned count;
};

static void *send_signals(void *context)
{
	const struct storm *storm = context;

	for (unsigned i = 0; i < storm->count; i++) {
		pthread_kill(storm->target, SIGUSR1);
		while (atomic_load(&arrived) <= i)
			sched_yield();
	}
	return NULL;
}

/*
 * Sends itself signals while kernels are launched. SA_RESTART is not set, so the signals interrupt (EINTR)
 * waiting system calls of the injected library, too.
 */
static void signals(const char *text)
{
	struct storm storm = {pthread_self(), (unsigned)atoi(text)};
	struct sigaction action = {.sa_handler = on_signal};
	pthread_t thread;

	sigaction(SIGUSR1, &action, NULL);
	if (pthread_create(&thread, NULL, send_signals, &storm))
		exit(96);
	while (atomic_load(&arrived) < storm.count)
		launch(NULL);
	pthread_join(thread, NULL);
	printf("%u signals\n", atomic_load(&arrived));
	fflush(stdout);
}

static void unload(const char *text)
{
	(void)text;
	if (injected)
		dlclose(injected);
}

static void limit(const char *text)
{
	static const struct {
		const char *name;
		__rlimit_resource_t resource;
	} limits[] = {{"nofile", RLIMIT_NOFILE}, {"as", RLIMIT_AS}, {"fsize", RLIMIT_FSIZE},
		{"nproc", RLIMIT_NPROC}};
	const char *number = strchr(text, ':') + 1;
	const struct rlimit value = {strtoul(number, NULL, 10), strtoul(number, NULL, 10)};

	for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
		if (!strncmp(limits[i].name, text, strlen(limits[i].name)) &&
			setrlimit(limits[i].resource, &value))
			exit(96);
}

/*
 * Denies the process, by seccomp, to open files, create threads and processes, and call exec: these system
 * calls fail with EPERM.
 */
static void deny(const char *text)
{
	static const uint32_t denied[] = {SYS_openat, SYS_clone, SYS_clone3, SYS_execve};
	enum { COUNT = sizeof(denied) / sizeof(denied[0]) };
	struct sock_filter steps[COUNT + 3] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	const struct sock_fprog program = {COUNT + 3, steps};

	(void)text;
	for (size_t i = 0; i < COUNT; i++)
		steps[1 + i] = (struct sock_filter)BPF_JUMP(
			BPF_JMP | BPF_JEQ | BPF_K, denied[i], (uint8_t)(COUNT - i), 0);
	steps[COUNT + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	steps[COUNT + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
		syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program))
		exit(96);
}

static void take_over(const char *text)
{
	(void)text;
	cupti.take_over();
}

static void end(const char *text)
{
	exit(atoi(text));
}

static const struct {
	const char *word;
	void (*act)(const char *text);
} actions[] = {
	{"cuda", initialise},
	{"load", load},
	{"launch", launch},
	{"settle", settle},
	{"threads", threads},
	{"tiny", tiny_threads},
	{"vfork", start_by_vfork},
	{"spawn", start_by_spawn},
	{"daemon", become_daemon},
	{"user", be_user},
	{"signals", signals},
	{"unload", unload},
	{"limit", limit},
	{"deny", deny},
	{"user-of-cupti", take_over},
	{"print", print},
	{"exit", end},
};

int main(int count, char **words)
{
	for (int i = 1; i < count; i++) {
		const size_t length = strcspn(words[i], ":");
		size_t action = 0;

		while (strlen(actions[action].word) != length ||
			memcmp(actions[action].word, words[i], length) != 0)
			if (++action == sizeof(actions) / sizeof(actions[0]))
				return 97;
		actions[action].act(words[i][length] ? words[i] + length + 1 : NULL);
	}
	return 0;
}
