/* SPDX-License-Identifier: Apache-2.0 */
#include "import/kineto/file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

void kwhy_kineto_labels_done(struct kwhy_kineto_labels *labels)
{
	kwhy_track_map_done(&labels->by_track);
}

static int64_t key_of(const struct kwhy_kineto_event *event, enum kwhy_kineto_field field)
{
	struct kwhy_kineto_span text = kwhy_kineto_event_text(event, field);

	return kwhy_kineto_text_key(event->text + text.at, text.length);
}

struct kwhy_track_key kwhy_kineto_track_key(const struct kwhy_kineto_event *event, bool thread)
{
	return (struct kwhy_track_key){.a = key_of(event, KWHY_KINETO_FIELD_PID),
		.b = thread ? key_of(event, KWHY_KINETO_FIELD_TID) : 0,
		.c = thread};
}

static bool is_named(const struct kwhy_kineto_event *event, const char *name)
{
	struct kwhy_kineto_span text = kwhy_kineto_event_text(event, KWHY_KINETO_FIELD_NAME);

	return text.length == strlen(name) && !memcmp(event->text + text.at, name, text.length);
}

/*
 * The PCI address in "DEVICE<host>0:3b:0:0", unitrace's name for the process of a device; NULL: the name has
 * no address.
 */
static const char *unitrace_address(struct kwhy_recording *recording, const char *label)
{
	const char *device = strstr(label, "DEVICE<"), *at = device ? strchr(device, '>') : NULL;
	unsigned long parts[4]; /* domain, bus, slot, function */

	for (size_t i = 0; i < 4; i++) {
		char *end;

		if (!at || !isxdigit((unsigned char)at[1]))
			return NULL;
		parts[i] = strtoul(at + 1, &end, 16);
		at = i == 3 || *end == ':' ? end : NULL;
	}
	return kwhy_arena_printf(&recording->arena, "%04lx:%02lx:%02lx.%lx", parts[0] & 0xFFFFFFFF,
		parts[1] & 0xFF, parts[2] & 0xFF, parts[3] & 0xF);
}

/*
 * If the process that the event names represents a device, sets the PCI address of the device from `label`,
 * the name of the process. unitrace writes these names at the end of the file, after the work of the device.
 */
static enum kwhy_status describe(struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event,
	const char *label, struct kwhy_error *error)
{
	struct kwhy_kineto_place place;
	enum kwhy_status status = kwhy_kineto_place_read(file, event, KWHY_KINETO_FIELD_PID, &place, error);
	struct kwhy_track_key key = {place.number, place.group, KWHY_KINETO_DEVICE_BY_PROCESS};
	uint32_t device;

	if (!status && kwhy_track_map_find(&file->devices, key, &device))
		file->recording->devices[device].pci = unitrace_address(file->recording, label);
	return status;
}

enum kwhy_status kwhy_kineto_label_add(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, struct kwhy_error *error)
{
	struct kwhy_kineto_span text = kwhy_kineto_event_text(event, KWHY_KINETO_FIELD_LABEL);
	bool process = is_named(event, "process_name"), thread = is_named(event, "thread_name");
	enum kwhy_status status;
	uint32_t name;

	if (text.length == 0 || (!process && !thread))
		return KWHY_OK;
	status = kwhy_kineto_name(file, event->text + text.at, text.length, &name, error);
	if (!status)
		status = kwhy_track_map_put(
			&file->labels.by_track, kwhy_kineto_track_key(event, thread), name, error);
	if (!status && process)
		status = describe(file, event, kwhy_names_get(&file->recording->names, name), error);
	return status;
}

const char *kwhy_kineto_label(
	struct kwhy_kineto_file *file, const struct kwhy_kineto_event *event, bool thread)
{
	uint32_t name;

	if (!kwhy_track_map_find(&file->labels.by_track, kwhy_kineto_track_key(event, thread), &name))
		return NULL;
	return kwhy_names_get(&file->recording->names, name);
}
