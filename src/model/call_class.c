/* SPDX-License-Identifier: Apache-2.0 */
#include "model/recording.h"

#include <stdbool.h>
#include <string.h>

/*
 * Classes of API calls by name. The prefix (such as cuda, cu or hip) is removed first; then the first rule
 * whose pattern matches the rest of the name applies. A star in a pattern matches any text. The names are
 * from the references of the CUDA runtime and driver, the HIP runtime, MUSA, Unified Runtime (ur) and its
 * predecessor (pi), Level Zero (ze) and OpenCL (cl).
 */
struct rule {
	const char *pattern;
	enum kwhy_call_class class;
};

static const struct rule rules[] = {
	{"LaunchHostFunc*", KWHY_CALL_OTHER},
	{"*GraphLaunch*", KWHY_CALL_LAUNCH},
	{"GraphUpload*", KWHY_CALL_LAUNCH},
	{"*Launch*Kernel*", KWHY_CALL_LAUNCH},
	{"LaunchKernel*", KWHY_CALL_LAUNCH},
	{"Launch*", KWHY_CALL_LAUNCH},
	{"*MemcpyBatch*Async*", KWHY_CALL_LAUNCH},
	{"Memcpy*Async*", KWHY_CALL_LAUNCH},
	{"Memcpy*", KWHY_CALL_COPY},
	{"Memset*", KWHY_CALL_LAUNCH},
	{"MemPrefetch*", KWHY_CALL_LAUNCH},
	{"*Synchronize*", KWHY_CALL_SYNC},
	{"MemPool*", KWHY_CALL_OTHER},
	{"EnqueueEventsWait*", KWHY_CALL_LAUNCH}, /* queues a barrier and does not wait */
	{"EnqueueRead*", KWHY_CALL_COPY},
	{"EnqueueWrite*", KWHY_CALL_COPY},
	{"Enqueue*", KWHY_CALL_LAUNCH},
	{"extUSMEnqueue*", KWHY_CALL_LAUNCH},
	{"CommandListAppend*", KWHY_CALL_LAUNCH},
	{"CommandQueueExecute*", KWHY_CALL_LAUNCH},
	{"QueueFinish*", KWHY_CALL_SYNC},
	{"EventWait*", KWHY_CALL_SYNC},
	{"EventsWait*", KWHY_CALL_SYNC},
	{"WaitForEvents*", KWHY_CALL_SYNC},
	{"Finish*", KWHY_CALL_SYNC},
	{"USM*Alloc*", KWHY_CALL_ALLOC},
	{"extUSM*Alloc*", KWHY_CALL_ALLOC},
	{"USMFree*", KWHY_CALL_FREE},
	{"Malloc*", KWHY_CALL_ALLOC},
	{"HostMalloc*", KWHY_CALL_ALLOC},
	{"HostAlloc*", KWHY_CALL_ALLOC},
	{"HostRegister*", KWHY_CALL_ALLOC},
	{"MemHostRegister*", KWHY_CALL_ALLOC},
	{"MemAlloc*", KWHY_CALL_ALLOC},
	{"MemHostAlloc*", KWHY_CALL_ALLOC},
	{"MemCreate*", KWHY_CALL_ALLOC},
	{"MemMap*", KWHY_CALL_ALLOC},
	{"ExtMalloc*", KWHY_CALL_ALLOC},
	{"Free*", KWHY_CALL_FREE},
	{"HostFree*", KWHY_CALL_FREE},
	{"HostUnregister*", KWHY_CALL_FREE},
	{"MemFree*", KWHY_CALL_FREE},
	{"MemRelease*", KWHY_CALL_FREE},
	{"MemUnmap*", KWHY_CALL_FREE},
};

static bool matches(const char *pattern, const char *text)
{
	for (; *pattern && *pattern != '*'; pattern++, text++)
		if (*pattern != *text)
			return false;
	if (*pattern == '\0')
		return *text == '\0';
	do {
		if (matches(pattern + 1, text))
			return true;
	} while (*text++);
	return false;
}

/*
 * Returns the name without its prefix; NULL: it has none. Some short prefixes, such as "cl", count only
 * before a capital letter.
 */
static const char *after_prefix(const char *name)
{
	static const struct {
		const char *text;
		bool before_capital;
	} prefixes[] = {{"cuda", false}, {"hip", false}, {"cu", false}, {"musa", false}, {"mu", true},
		{"ur", true}, {"pi", false}, {"ze", true}, {"cl", true}};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		const char *rest = name + strlen(prefixes[i].text);

		if (strncmp(name, prefixes[i].text, strlen(prefixes[i].text)) != 0)
			continue;
		if (!prefixes[i].before_capital || (*rest >= 'A' && *rest <= 'Z'))
			return rest;
	}
	return NULL;
}

enum kwhy_call_class kwhy_call_class_of(const char *name)
{
	const char *rest = after_prefix(name);

	for (size_t i = 0; rest && i < sizeof(rules) / sizeof(rules[0]); i++)
		if (matches(rules[i].pattern, rest))
			return rules[i].class;
	return KWHY_CALL_OTHER;
}
