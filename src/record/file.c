/* SPDX-License-Identifier: Apache-2.0 */
#include "record/file.h"

#include "base/boot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARE_BYTES = 16384, HOST_BYTES = 256, MODE = 0666 };

static enum kwhy_status refused(const char *path, int why, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO, "cannot write '%.300s': %s; name another folder with -o", path,
		strerror(why));
}

enum kwhy_status kwhy_record_file_open(
	struct kwhy_record_file *file, const char *path, uint64_t limit_bytes, struct kwhy_error *error)
{
	*file = (struct kwhy_record_file){
		.fd = -1, .path = strdup(path), .memory = malloc(KWHY_BLOCK_WRITER_BYTES(SHARE_BYTES))};
	if (!file->path || !file->memory)
		return kwhy_fail_memory(error, "a file of the recording");
	file->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, MODE);
	if (file->fd < 0)
		return refused(path, errno, error);
	/*
	 * The id of the writer in the recording is made of pid and time, because processes on several
	 * machines, or one after another, may have the same pid.
	 */
	kwhy_block_writer_init(&file->writer, file->fd,
		(uint64_t)getpid() << 40 ^ (uint64_t)kwhy_clock_mono_ns(), file->memory, SHARE_BYTES);
	file->writer.limit_bytes = limit_bytes;
	return KWHY_OK;
}

void kwhy_record_file_release(struct kwhy_record_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	free(file->path);
	free(file->memory);
}

enum kwhy_status kwhy_record_file_check(const struct kwhy_record_file *file, struct kwhy_error *error)
{
	return file->writer.failure ? refused(file->path, file->writer.failure, error) : KWHY_OK;
}

bool kwhy_record_file_is_in_place(const struct kwhy_record_file *file)
{
	struct stat ours, there;

	return !fstat(file->fd, &ours) && !stat(file->path, &there) && ours.st_dev == there.st_dev &&
		ours.st_ino == there.st_ino;
}

uint32_t kwhy_record_file_name(struct kwhy_record_file *file, const char *text)
{
	if (!text)
		return 0;
	kwhy_block_writer_add_name(&file->writer, ++file->names, text, strlen(text));
	return file->names;
}

void kwhy_record_file_add_clock(struct kwhy_record_file *file, const struct kwhy_clock_relation *relation)
{
	struct kwhy_wire_clock *clock = kwhy_block_writer_add(&file->writer, KWHY_WIRE_CLOCK);

	if (clock)
		*clock = (struct kwhy_wire_clock){relation->mono_ns, relation->offset_ns, relation->width_ns};
}

void kwhy_record_file_add_process(struct kwhy_record_file *file, const struct kwhy_record_process *process)
{
	char name[HOST_BYTES] = "", start[KWHY_BOOT_BYTES];
	bool is_named = !gethostname(name, sizeof(name) - 1) && name[0];
	struct kwhy_wire_process row = {.pid = getpid(),
		.parent_pid = getppid(),
		.start_mono_ns = process->start_mono_ns,
		.host = kwhy_record_file_name(file, is_named ? name : NULL),
		.command = process->command,
		.rank = KWHY_WIRE_UNKNOWN_U32,
		.world_size = KWHY_WIRE_UNKNOWN_U32,
		.is_helper = process->is_helper};
	struct kwhy_wire_process *place;

	row.producer = kwhy_record_file_name(file, process->producer);
	kwhy_boot_read(NULL, start);
	row.boot = kwhy_record_file_name(file, start[0] ? start : NULL);
	place = kwhy_block_writer_add(&file->writer, KWHY_WIRE_PROCESS);
	if (place)
		*place = row;
}

void kwhy_record_file_add_device(struct kwhy_record_file *file, const struct kwhy_sensor_device *device)
{
	uint32_t name = kwhy_record_file_name(file, device->name),
		 uuid = kwhy_record_file_name(file, device->uuid);
	struct kwhy_wire_device *row = kwhy_block_writer_add(&file->writer, KWHY_WIRE_DEVICE);

	if (row)
		*row = (struct kwhy_wire_device){.index = device->index,
			.name = name,
			.uuid = uuid,
			.sm_count = device->sm_count,
			.memory_bytes = device->memory_bytes,
			.limit_mw = device->limit_mw};
}
