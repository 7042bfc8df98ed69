/* SPDX-License-Identifier: Apache-2.0 */
#include "inject/nvtx.h"

#include "base/clock.h"
#include "inject/session.h"

#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

static _Thread_local struct kwhy_inject_range_stack stack;

/*
 * Converts wide characters to UTF-8, as many as fit in `out`, and returns `out`. Invalid characters become
 * question marks; NULL becomes "".
 */
static const char *narrow(const wchar_t *wide, char out[KWHY_INJECT_RANGE_NAME_BYTES])
{
	size_t at = 0;

	for (; wide && *wide && at + 5 < KWHY_INJECT_RANGE_NAME_BYTES; wide++) {
		const unsigned long code = (unsigned long)*wide;

		if (code < 0x80) {
			out[at++] = (char)code;
		} else if (code < 0x800) {
			out[at++] = (char)(0xc0 | code >> 6);
			out[at++] = (char)(0x80 | (code & 0x3f));
		} else if (code < 0x10000 && (code < 0xd800 || code > 0xdfff)) {
			out[at++] = (char)(0xe0 | code >> 12);
			out[at++] = (char)(0x80 | (code >> 6 & 0x3f));
			out[at++] = (char)(0x80 | (code & 0x3f));
		} else if (code >= 0x10000 && code < 0x110000) {
			out[at++] = (char)(0xf0 | code >> 18);
			out[at++] = (char)(0x80 | (code >> 12 & 0x3f));
			out[at++] = (char)(0x80 | (code >> 6 & 0x3f));
			out[at++] = (char)(0x80 | (code & 0x3f));
		} else {
			out[at++] = '?';
		}
	}
	out[at] = '\0';
	return out;
}

/*
 * The name of an NVTX event, possibly in `space`; "": it has none. The handle of a registered name is a
 * pointer to its copy, which on_register_ascii() or on_register_wide() returned.
 */
static const char *name_of(const struct kwhy_nvtx_event *event, char space[KWHY_INJECT_RANGE_NAME_BYTES])
{
	const char *name = NULL;

	if (event && event->message_type == KWHY_NVTX_MESSAGE_UNICODE)
		name = narrow(event->message, space);
	else if (event &&
		(event->message_type == KWHY_NVTX_MESSAGE_ASCII ||
			event->message_type == KWHY_NVTX_MESSAGE_REGISTERED))
		name = event->message;
	return name ? name : "";
}

/*
 * If collection depends on ranges of this name, reports the start of such a range to the collection, and
 * returns true. Called before the range's start time is taken, so that the range does not include the time of
 * switching.
 */
static bool enter(const char *name)
{
	struct kwhy_inject_collection *collection = kwhy_inject_session_collection();
	const bool selects = collection && kwhy_inject_collection_wants(collection, name);

	if (selects)
		kwhy_inject_collection_enter(collection, kwhy_clock_mono_ns());
	return selects;
}

static void leave(int64_t now_mono_ns)
{
	struct kwhy_inject_collection *collection = kwhy_inject_session_collection();

	if (collection)
		kwhy_inject_collection_leave(collection, now_mono_ns);
}

static int push(const void *domain, const char *name)
{
	bool selects;

	if (!kwhy_inject_session_ranges())
		return -1;
	if (!stack.thread)
		stack.thread = (uint32_t)syscall(SYS_gettid);
	if (!name)
		name = "";
	selects = stack.depth < KWHY_INJECT_RANGE_DEPTH && enter(name);
	return kwhy_inject_range_push(&stack, domain, name, kwhy_clock_mono_ns(), selects);
}

static int pop(const void *domain)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();
	struct kwhy_inject_ranges *ranges = kwhy_inject_session_ranges();
	bool selects = false;
	int level = -1;

	if (ranges)
		level = kwhy_inject_range_pop(ranges, &stack, domain, now_mono_ns, &selects);
	if (selects)
		leave(now_mono_ns);
	return level;
}

static uint64_t start(const char *name)
{
	struct kwhy_inject_ranges *ranges = kwhy_inject_session_ranges();
	int64_t now_mono_ns;
	bool selects;
	uint64_t id;

	if (!ranges)
		return 0;
	selects = enter(name ? name : "");
	now_mono_ns = kwhy_clock_mono_ns();
	id = kwhy_inject_range_start(ranges, name ? name : "", now_mono_ns, selects);
	if (!id && selects)
		leave(now_mono_ns);
	return id;
}

static void on_end(uint64_t id)
{
	const int64_t now_mono_ns = kwhy_clock_mono_ns();
	struct kwhy_inject_ranges *ranges = kwhy_inject_session_ranges();

	if (ranges && kwhy_inject_range_end(ranges, id, now_mono_ns))
		leave(now_mono_ns);
}

static int on_push(const struct kwhy_nvtx_event *event)
{
	char space[KWHY_INJECT_RANGE_NAME_BYTES];

	return push(NULL, name_of(event, space));
}

static int on_push_ascii(const char *name)
{
	return push(NULL, name);
}

static int on_push_wide(const wchar_t *name)
{
	char space[KWHY_INJECT_RANGE_NAME_BYTES];

	return push(NULL, narrow(name, space));
}

static int on_pop(void)
{
	return pop(NULL);
}

static uint64_t on_start(const struct kwhy_nvtx_event *event)
{
	char space[KWHY_INJECT_RANGE_NAME_BYTES];

	return start(name_of(event, space));
}

static uint64_t on_start_ascii(const char *name)
{
	return start(name);
}

static uint64_t on_start_wide(const wchar_t *name)
{
	char space[KWHY_INJECT_RANGE_NAME_BYTES];

	return start(narrow(name, space));
}

static int on_domain_push(const void *domain, const struct kwhy_nvtx_event *event)
{
	char space[KWHY_INJECT_RANGE_NAME_BYTES];

	return push(domain, name_of(event, space));
}

static int on_domain_pop(const void *domain)
{
	return pop(domain);
}

static uint64_t on_domain_start(const void *domain, const struct kwhy_nvtx_event *event)
{
	(void)domain;
	return on_start(event);
}

static void on_domain_end(const void *domain, uint64_t id)
{
	(void)domain;
	on_end(id);
}

/*
 * Returns a copy of the name as its handle. The program may pass the handle in events at any time until the
 * program ends, so the copy is never freed.
 */
static void *on_register_ascii(const void *domain, const char *name)
{
	(void)domain;
	return strdup(name ? name : "");
}

static void *on_register_wide(const void *domain, const wchar_t *name)
{
	char space[KWHY_INJECT_RANGE_NAME_BYTES];

	(void)domain;
	return strdup(narrow(name, space));
}

static void *on_domain_create_ascii(const char *name)
{
	return strdup(name ? name : "");
}

static void *on_domain_create_wide(const wchar_t *name)
{
	char space[KWHY_INJECT_RANGE_NAME_BYTES];

	return strdup(narrow(name, space));
}

/* Casts a function of any type to the type of the entries of NVTX's function tables. */
#define FUNCTION(name) ((kwhy_nvtx_function *)(void *)(name))

struct place {
	int module;
	unsigned place;
	kwhy_nvtx_function *function;
};

static void fill(const struct kwhy_nvtx_callbacks *callbacks, const struct place *place)
{
	kwhy_nvtx_function ***table = NULL;
	unsigned places = 0;

	if (callbacks->table_of(place->module, &table, &places) && table && place->place < places &&
		table[place->place])
		*table[place->place] = place->function;
}

bool kwhy_inject_nvtx_attach(kwhy_nvtx_export *export)
{
	const struct place list[] = {
		{KWHY_NVTX_MODULE_CORE, KWHY_NVTX_START_EX, FUNCTION(on_start)},
		{KWHY_NVTX_MODULE_CORE, KWHY_NVTX_START_A, FUNCTION(on_start_ascii)},
		{KWHY_NVTX_MODULE_CORE, KWHY_NVTX_START_W, FUNCTION(on_start_wide)},
		{KWHY_NVTX_MODULE_CORE, KWHY_NVTX_END, FUNCTION(on_end)},
		{KWHY_NVTX_MODULE_CORE, KWHY_NVTX_PUSH_EX, FUNCTION(on_push)},
		{KWHY_NVTX_MODULE_CORE, KWHY_NVTX_PUSH_A, FUNCTION(on_push_ascii)},
		{KWHY_NVTX_MODULE_CORE, KWHY_NVTX_PUSH_W, FUNCTION(on_push_wide)},
		{KWHY_NVTX_MODULE_CORE, KWHY_NVTX_POP, FUNCTION(on_pop)},
		{KWHY_NVTX_MODULE_CORE2, KWHY_NVTX_DOMAIN_START_EX, FUNCTION(on_domain_start)},
		{KWHY_NVTX_MODULE_CORE2, KWHY_NVTX_DOMAIN_END, FUNCTION(on_domain_end)},
		{KWHY_NVTX_MODULE_CORE2, KWHY_NVTX_DOMAIN_PUSH_EX, FUNCTION(on_domain_push)},
		{KWHY_NVTX_MODULE_CORE2, KWHY_NVTX_DOMAIN_POP, FUNCTION(on_domain_pop)},
		{KWHY_NVTX_MODULE_CORE2, KWHY_NVTX_DOMAIN_REGISTER_A, FUNCTION(on_register_ascii)},
		{KWHY_NVTX_MODULE_CORE2, KWHY_NVTX_DOMAIN_REGISTER_W, FUNCTION(on_register_wide)},
		{KWHY_NVTX_MODULE_CORE2, KWHY_NVTX_DOMAIN_CREATE_A, FUNCTION(on_domain_create_ascii)},
		{KWHY_NVTX_MODULE_CORE2, KWHY_NVTX_DOMAIN_CREATE_W, FUNCTION(on_domain_create_wide)},
	};
	const struct kwhy_nvtx_callbacks *callbacks = export(KWHY_NVTX_EXPORT_CALLBACKS);

	if (!callbacks || callbacks->struct_bytes < sizeof(*callbacks) || !callbacks->table_of)
		return false;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		fill(callbacks, &list[i]);
	return true;
}
