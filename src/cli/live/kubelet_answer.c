/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the kubelet's v1.ListPodResourcesResponse: pods, their containers, and the ids of the devices of
 * each resource. CPUs, memory, and devices of resource claims (dynamic resource allocation) are not read.
 */
#include "base/column.h"
#include "cli/live/kubelet.h"
#include "import/protobuf/message.h"

#include <string.h>

enum {
	PREFIX_BYTES = 5
}; /* length of what precedes each gRPC message: a flag that it is compressed (1 byte), and its length (4
      bytes) */

/*
 * Type of the function `take` that each() calls for each field of a message whose value is bytes (a string or
 * a message); each() skips the other fields.
 */
typedef enum kwhy_status take_field(void *context, const struct kwhy_protobuf_field *, struct kwhy_error *);

static enum kwhy_status each(
	struct kwhy_protobuf_message message, take_field *take, void *context, struct kwhy_error *error)
{
	struct kwhy_protobuf_field field;
	int more;

	while ((more = kwhy_protobuf_next(&message, &field)) > 0) {
		enum kwhy_status status = field.wire == KWHY_PROTOBUF_BYTES ? take(context, &field, error)
									    : KWHY_OK;

		if (status)
			return status;
	}
	return more < 0 ? kwhy_fail(error, KWHY_E_INPUT, "it is not a list of pods") : KWHY_OK;
}

static void copy(char *out, size_t out_bytes, struct kwhy_protobuf_message text)
{
	kwhy_owner_text(out, out_bytes, (const char *)text.at, kwhy_protobuf_length(text));
}

/*
 * The value of the first field of a message that has the number `number` and whose value is bytes; empty:
 * there is no such field.
 */
static struct kwhy_protobuf_message text_of(struct kwhy_protobuf_message message, uint32_t number)
{
	struct kwhy_protobuf_field field;

	while (kwhy_protobuf_next(&message, &field) > 0)
		if (field.number == number && field.wire == KWHY_PROTOBUF_BYTES)
			return field.bytes;
	return (struct kwhy_protobuf_message){0};
}

struct reading {
	struct kwhy_allocations *out;
	struct kwhy_owner owner;
};

/* Fields of ContainerDevices: 1 resource_name, 2 device_ids. */
static enum kwhy_status take_device(
	void *context, const struct kwhy_protobuf_field *field, struct kwhy_error *error)
{
	struct reading *reading = context;
	struct kwhy_allocations *out = reading->out;
	void *items = out->items;
	enum kwhy_status status;

	if (field->number != 2 || out->count == KWHY_ALLOCATIONS_MAX)
		return KWHY_OK;
	status = kwhy_column_reserve(
		&items, &out->capacity, out->count + 1, sizeof(*out->items), "the devices of pods", error);
	if (status)
		return status;
	out->items = items;
	out->items[out->count] = (struct kwhy_allocation){.owner = reading->owner};
	copy(out->items[out->count++].device, KWHY_ALLOCATION_DEVICE_BYTES, field->bytes);
	return KWHY_OK;
}

/* Fields of ContainerResources: 1 name, 2 devices. */
static enum kwhy_status take_devices(
	void *context, const struct kwhy_protobuf_field *field, struct kwhy_error *error)
{
	return field->number == 2 ? each(field->bytes, take_device, context, error) : KWHY_OK;
}

/* Fields of PodResources: 1 name, 2 namespace, 3 containers. */
static enum kwhy_status take_container(
	void *context, const struct kwhy_protobuf_field *field, struct kwhy_error *error)
{
	struct reading *reading = context;

	if (field->number != 3)
		return KWHY_OK;
	copy(reading->owner.part, sizeof(reading->owner.part), text_of(field->bytes, 1));
	return each(field->bytes, take_devices, reading, error);
}

/* Field of ListPodResourcesResponse: 1 pod_resources. */
static enum kwhy_status take_pod(
	void *context, const struct kwhy_protobuf_field *field, struct kwhy_error *error)
{
	struct reading reading = {.out = context, .owner = {.kind = KWHY_OWNER_KUBERNETES}};

	if (field->number != 1)
		return KWHY_OK;
	copy(reading.owner.name, sizeof(reading.owner.name), text_of(field->bytes, 1));
	copy(reading.owner.space, sizeof(reading.owner.space), text_of(field->bytes, 2));
	return each(field->bytes, take_container, &reading, error);
}

enum kwhy_status kwhy_kubelet_read(
	const void *bytes, size_t length, struct kwhy_allocations *out, struct kwhy_error *error)
{
	const unsigned char *at = bytes;
	size_t message = 0;

	for (size_t i = 1; i < PREFIX_BYTES && length >= PREFIX_BYTES; i++)
		message = message << 8 | at[i];
	if (length < PREFIX_BYTES || *at || message != length - PREFIX_BYTES)
		return kwhy_fail(error, KWHY_E_INPUT, "it is not one whole message of gRPC");
	return each((struct kwhy_protobuf_message){at + PREFIX_BYTES, at + length}, take_pod, out, error);
}
