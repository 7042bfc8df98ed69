/* SPDX-License-Identifier: Apache-2.0 */
#include "fake.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static enum kwhy_cuda_result dead; /* the error that destroyed the context; 0: none */
static unsigned failing_calls;	   /* calls so far of the function that "fail:CALL:N:RESULT" names */
static struct kwhy_cuda_context_opaque contexts[FAKE_DEVICES_MAX];
static unsigned retained[FAKE_DEVICES_MAX];
static _Thread_local kwhy_cuda_context current;

/* Header of each block that fake_new() allocates. */
struct piece {
	struct piece *next, **place;
	max_align_t bytes[];
};

static struct piece *pieces;

void *fake_new(size_t bytes)
{
	struct piece *piece = calloc(1, sizeof(*piece) + bytes);

	if (!piece)
		return NULL;
	piece->next = pieces;
	piece->place = &pieces;
	if (pieces)
		pieces->place = &piece->next;
	pieces = piece;
	return piece->bytes;
}

void fake_free(void *memory)
{
	struct piece *piece;

	if (!memory)
		return;
	piece = (struct piece *)(void *)((char *)memory - offsetof(struct piece, bytes));
	*piece->place = piece->next;
	if (piece->next)
		piece->next->place = piece->place;
	free(piece);
}

/* Frees everything, as a driver does when its last context is destroyed. */
static void end_all(void)
{
	fake_streams_end();
	fake_memory_end();
	while (pieces)
		fake_free(pieces->bytes);
}

static bool is_used(void)
{
	for (int i = 0; i < FAKE_DEVICES_MAX; i++)
		if (retained[i])
			return true;
	return false;
}

int64_t fake_now_ns(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

bool fake_asked_for(const char *what)
{
	const char *scenario = getenv("KWHY_FAKE_CUDA");

	return scenario && strcmp(scenario, what) == 0;
}

int fake_device_count(void)
{
	const char *count = getenv("KWHY_FAKE_CUDA_DEVICES");

	return count ? atoi(count) : 1;
}

int fake_current_device(void)
{
	return current ? current->device : -1;
}

static enum kwhy_cuda_result failure(const char *call)
{
	const char *scenario = getenv("KWHY_FAKE_CUDA");
	unsigned nth, result;
	char name[64];

	if (dead)
		return dead;
	if (!scenario || sscanf(scenario, "fail:%63[^:]:%u:%u", name, &nth, &result) != 3 ||
		strcmp(name, call) != 0 || ++failing_calls != nth)
		return KWHY_CUDA_SUCCESS;
	if (result >= KWHY_CUDA_ILLEGAL_ADDRESS && result <= KWHY_CUDA_LAUNCH_FAILED)
		dead = (enum kwhy_cuda_result)result;
	return (enum kwhy_cuda_result)result;
}

enum kwhy_cuda_result fake_begin(const char *call)
{
	enum kwhy_cuda_result result;

	pthread_mutex_lock(&lock);
	result = failure(call);
	if (result != KWHY_CUDA_SUCCESS)
		pthread_mutex_unlock(&lock);
	return result;
}

enum kwhy_cuda_result fake_end(enum kwhy_cuda_result result)
{
	fake_run_all();
	pthread_mutex_unlock(&lock);
	return result;
}

/*
 * Loads the kernels from the library KWHY_FAKE_GPU_KERNELS, for programs such as kwhy that do not call
 * kwhy_fake_gpu_kernels().
 */
static void load_kernels(void)
{
	const char *path = getenv("KWHY_FAKE_GPU_KERNELS");
	void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL,
	     *address = library ? dlsym(library, "kwhy_fake_gpu_all") : NULL;
	void (*give_all)(void (*give)(const struct kwhy_gpu_host_kernel *kernels));

	if (path && !address)
		fprintf(stderr, "fake driver: no kernels in %s: %s\n", path, dlerror());
	if (!address)
		return;
	memcpy(&give_all, &address, sizeof(give_all));
	give_all(kwhy_fake_gpu_kernels);
}

enum kwhy_cuda_result cuInit(unsigned flags)
{
	(void)flags;
	if (fake_asked_for("no-device"))
		return KWHY_CUDA_NO_DEVICE;
	pthread_mutex_lock(&lock);
	if (dead)
		end_all();
	dead = KWHY_CUDA_SUCCESS;
	failing_calls = 0;
	load_kernels();
	fake_kernels_start();
	fake_streams_start();
	for (int i = 0; i < FAKE_DEVICES_MAX; i++)
		contexts[i].device = i;
	pthread_mutex_unlock(&lock);
	return KWHY_CUDA_SUCCESS;
}

static const char *words_of(enum kwhy_cuda_result result)
{
	switch ((int)result) {
	case KWHY_CUDA_INVALID_VALUE:
		return "invalid argument";
	case KWHY_CUDA_OUT_OF_MEMORY:
		return "out of memory";
	case KWHY_CUDA_NOT_FOUND:
		return "named symbol not found";
	case KWHY_CUDA_ILLEGAL_ADDRESS:
		return "an illegal memory access was encountered";
	default:
		return "unspecified launch failure";
	}
}

#ifdef FAKE_HIP
const char *hipGetErrorString(enum kwhy_cuda_result result)
{
	return words_of(result);
}
#else
enum kwhy_cuda_result cuGetErrorString(enum kwhy_cuda_result result, const char **out_words)
{
	*out_words = words_of(result);
	return KWHY_CUDA_SUCCESS;
}
#endif

enum kwhy_cuda_result cuDriverGetVersion(int *out_version)
{
	*out_version = FAKE_VERSION;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGet(kwhy_cuda_device *out_device, int ordinal)
{
	if (ordinal >= fake_device_count())
		return KWHY_CUDA_INVALID_DEVICE;
	*out_device = ordinal;
	return KWHY_CUDA_SUCCESS;
}

static const char *const addresses[FAKE_DEVICES_MAX] = {
	"0000:19:00.0", "0000:3b:00.0", "0000:5d:00.0", "0000:9b:00.0"};

enum kwhy_cuda_result cuDeviceGetByPCIBusId(kwhy_cuda_device *out_device, const char *pci_address)
{
	for (int i = 0; i < fake_device_count(); i++)
		if (strcmp(addresses[i], pci_address) == 0) {
			*out_device = i;
			return KWHY_CUDA_SUCCESS;
		}
	return KWHY_CUDA_INVALID_DEVICE;
}

enum kwhy_cuda_result cuDeviceGetPCIBusId(char *out_address, int space_bytes, kwhy_cuda_device device)
{
	snprintf(out_address, (size_t)space_bytes, "%s", addresses[device]);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGetCount(int *out_count)
{
	*out_count = fake_device_count();
	return KWHY_CUDA_SUCCESS;
}

#ifndef FAKE_HIP
enum kwhy_cuda_result cuDeviceGetUuid(struct kwhy_cuda_uuid *out_uuid, kwhy_cuda_device device)
{
	for (int i = 0; i < 16; i++)
		out_uuid->bytes[i] = (unsigned char)(0x10 * i + device);
	return KWHY_CUDA_SUCCESS;
}
#endif

enum kwhy_cuda_result cuDeviceTotalMem_v2(size_t *out_bytes, kwhy_cuda_device device)
{
	(void)device;
	*out_bytes = (size_t)140 << 30;
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGetName(char *out_name, int space_bytes, kwhy_cuda_device device)
{
	(void)device;
	snprintf(out_name, (size_t)space_bytes, "%s", FAKE_NAME);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDeviceGetAttribute(int *out_value, int attribute, kwhy_cuda_device device)
{
	static const int values[][2] = {
		FAKE_ATTRIBUTE(MULTIPROCESSORS, 132),
		FAKE_ATTRIBUTE(THREADS_PER_MULTIPROCESSOR, 2048),
		FAKE_ATTRIBUTE(CAPABILITY_MAJOR, 9),
		FAKE_ATTRIBUTE(CAPABILITY_MINOR, 0),
		FAKE_ATTRIBUTE(SHARED_BYTES_PER_MULTIPROCESSOR, 233472),
		FAKE_ATTRIBUTE(REGISTERS_PER_MULTIPROCESSOR, 65536),
		FAKE_ATTRIBUTE(COPY_ENGINES, 3),
		FAKE_ATTRIBUTE(CONCURRENT_MANAGED_ACCESS, 1),
		FAKE_ATTRIBUTE(COOPERATIVE_LAUNCH, 1),
		FAKE_ATTRIBUTE(MEMORY_POOLS, 1),
#ifndef FAKE_HIP
		FAKE_ATTRIBUTE(MEMORY_CLOCK_KHZ, 3201000),
		FAKE_ATTRIBUTE(MEMORY_BUS_BITS, 6144),
#endif
	};

	(void)device;
	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i][0] == attribute) {
			*out_value = values[i][1];
			return KWHY_CUDA_SUCCESS;
		}
	return KWHY_CUDA_INVALID_VALUE;
}

enum kwhy_cuda_result fake_context_retain(kwhy_cuda_context *out_context, kwhy_cuda_device device)
{
	BEGIN("cuDevicePrimaryCtxRetain");
	if (retained[device]++ == 0 && device == 0)
		fake_context_power(true);
	*out_context = &contexts[device];
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result fake_context_release(kwhy_cuda_device device)
{
	/* without fake_begin(), as releasing must also work after the context was destroyed */
	pthread_mutex_lock(&lock);
	if (--retained[device] == 0 && device == 0)
		fake_context_power(false);
	if (!is_used())
		end_all();
	pthread_mutex_unlock(&lock);
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result fake_context_set(kwhy_cuda_context context)
{
	BEGIN("cuCtxSetCurrent");
	current = context;
	return fake_end(KWHY_CUDA_SUCCESS);
}

enum kwhy_cuda_result cuDeviceCanAccessPeer(int *out_can, kwhy_cuda_device device, kwhy_cuda_device peer)
{
	*out_can = device != peer && device < 2 && peer < 2;
	return KWHY_CUDA_SUCCESS;
}

static enum kwhy_cuda_result enable_peer(int peer)
{
	if (!current)
		return KWHY_CUDA_INVALID_CONTEXT;
	if (current->reaches[peer])
		return KWHY_CUDA_PEER_ALREADY_ENABLED;
	current->reaches[peer] = true;
	return KWHY_CUDA_SUCCESS;
}

#ifdef FAKE_HIP
/* Sets the device of the thread. HIP has no contexts in its interface and creates them itself. */
enum kwhy_cuda_result hipSetDevice(int device)
{
	return fake_context_set(&contexts[device]);
}

enum kwhy_cuda_result hipDeviceEnablePeerAccess(int peer, unsigned flags)
{
	(void)flags;
	BEGIN("hipDeviceEnablePeerAccess");
	return fake_end(enable_peer(peer));
}
#else
/*
 * Reports the primary context as active if it is retained, or if KWHY_FAKE_CONTEXT is set. The latter is for
 * programs under test that create no context in this fake driver.
 */
enum kwhy_cuda_result cuDevicePrimaryCtxGetState(
	kwhy_cuda_device device, unsigned *out_flags, int *out_is_active)
{
	*out_flags = 0;
	*out_is_active = retained[device] > 0 || getenv("KWHY_FAKE_CONTEXT");
	return KWHY_CUDA_SUCCESS;
}

enum kwhy_cuda_result cuDevicePrimaryCtxRetain(kwhy_cuda_context *out_context, kwhy_cuda_device device)
{
	return fake_context_retain(out_context, device);
}

enum kwhy_cuda_result cuDevicePrimaryCtxRelease_v2(kwhy_cuda_device device)
{
	return fake_context_release(device);
}

enum kwhy_cuda_result cuCtxSetCurrent(kwhy_cuda_context context)
{
	return fake_context_set(context);
}

enum kwhy_cuda_result cuCtxEnablePeerAccess(kwhy_cuda_context peer, unsigned flags)
{
	(void)flags;
	BEGIN("cuCtxEnablePeerAccess");
	return fake_end(enable_peer(peer->device));
}
#endif
