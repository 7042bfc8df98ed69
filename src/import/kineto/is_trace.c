/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/is_trace.h"

#include "import/input.h"

#include <stdlib.h>
#include <string.h>

static const char events_key[] = "\"traceEvents\"";

enum { WINDOW_BYTES = 1 << 18, KEY_BYTES = sizeof(events_key) - 1 };

/*
 * Whether the text contains "traceEvents", the key of the list of events, anywhere, since metadata of any
 * length may come before it. `window` is a buffer of WINDOW_BYTES.
 */
static bool has_key(struct kwhy_input *input, char *window)
{
	struct kwhy_error unused;
	size_t kept = 0, got;

	do {
		if (kwhy_input_read(input, window + kept, WINDOW_BYTES - kept, &got, &unused) != KWHY_OK)
			return false;
		if (memmem(window, kept + got, events_key, KEY_BYTES))
			return true;
		if (kept + got < WINDOW_BYTES)
			return false;
		kept = KEY_BYTES - 1;
		memmove(window, window + WINDOW_BYTES - kept, kept);
	} while (true);
}

static bool object_has_events(const char *path)
{
	char *window = malloc(WINDOW_BYTES);
	struct kwhy_input *input;
	struct kwhy_error unused;
	bool found = false;

	if (window && kwhy_input_open(path, &input, &unused) == KWHY_OK) {
		found = has_key(input, window);
		kwhy_input_close(input);
	}
	free(window);
	return found;
}

bool kwhy_kineto_is_trace(const char *path, const unsigned char *head, size_t length)
{
	const unsigned char *object = memchr(head, '{', length), *list = memchr(head, '[', length);

	if (list && (!object || list < object))
		return memmem(head, length, "\"ph\"", 4) != NULL;
	return memmem(head, length, events_key, KEY_BYTES) || object_has_events(path);
}
