/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/kept_rows.h"

#include "base/file.h"
#include "base/output.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 512 << 20 };

static enum kwhy_status cannot_write(const char *path, struct kwhy_error *error)
{
	return kwhy_fail(error, KWHY_E_IO, "%s cannot be written: %s; free space or name another folder",
		path, strerror(errno));
}

enum kwhy_status kwhy_kept_path(
	const char *folder, const char *name, char out[KWHY_KEPT_PATH_BYTES], struct kwhy_error *error)
{
	if (snprintf(out, KWHY_KEPT_PATH_BYTES, "%s/%s", folder, name) >= KWHY_KEPT_PATH_BYTES)
		return kwhy_fail(error, KWHY_E_USAGE, "the folder's name is too long; name another one");
	return KWHY_OK;
}

static bool has_samples(const char *folder)
{
	char path[KWHY_KEPT_PATH_BYTES];

	return snprintf(path, sizeof(path), "%s/samples.csv", folder) < (int)sizeof(path) &&
		access(path, F_OK) == 0;
}

bool kwhy_kept_folder_find(const char *folder, char out[KWHY_KEPT_PATH_BYTES])
{
	struct dirent **entries;
	char only[KWHY_KEPT_PATH_BYTES] = "";
	int count;

	snprintf(out, KWHY_KEPT_PATH_BYTES, "%s", folder);
	if (has_samples(folder))
		return true;
	count = scandir(folder, &entries, kwhy_file_is_shown, NULL);
	if (count < 0)
		return false;
	for (int i = 0; i < count; i++) {
		if (count == 1 &&
			snprintf(only, sizeof(only), "%s/%s", folder, entries[i]->d_name) >=
				(int)sizeof(only))
			*only = '\0';
		free(entries[i]);
	}
	free(entries);
	if (!*only || !has_samples(only))
		return false;
	memcpy(out, only, sizeof(only));
	return true;
}

enum kwhy_status kwhy_kept_folder_make(const char *folder, struct kwhy_error *error)
{
	char path[KWHY_KEPT_PATH_BYTES];
	enum kwhy_status status = kwhy_kept_path(folder, "", path, error);

	for (char *slash = status ? NULL : strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(path, 0777) && errno != EEXIST)
			return kwhy_fail(error, KWHY_E_IO, "%s cannot be made: %s; name another folder", path,
				strerror(errno));
		*slash = '/';
	}
	return status ? status : kwhy_output_folder(folder, error);
}

enum kwhy_status kwhy_kept_read(const char *path, struct kwhy_text *out, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_file_read(path, FILE_MAX_BYTES, out, error);

	while (!status && out->length > 0 && out->data[out->length - 1] != '\n')
		out->length--;
	return status;
}

enum kwhy_status kwhy_kept_open(const char *path, const char *mode, FILE **out, struct kwhy_error *error)
{
	int file;
	enum kwhy_status status = kwhy_output_open(
		path, *mode == 'w' ? KWHY_OUTPUT_TRUNCATE : KWHY_OUTPUT_APPEND, &file, error);

	if (status)
		return status;
	*out = fdopen(file, mode);
	if (*out)
		return KWHY_OK;
	close(file);
	return cannot_write(path, error);
}

enum kwhy_status kwhy_kept_cut(const char *path, const struct kwhy_text *whole, struct kwhy_error *error)
{
	int file;
	enum kwhy_status status = kwhy_output_open(path, KWHY_OUTPUT_AS_IT_IS, &file, error);

	if (status)
		return status;
	if (ftruncate(file, (off_t)whole->length))
		status = cannot_write(path, error);
	close(file);
	return status;
}

enum kwhy_status kwhy_kept_write(
	FILE *file, const char *path, struct kwhy_text *text, struct kwhy_error *error)
{
	enum kwhy_status status = kwhy_text_check(text, error);

	if (!status && text->length &&
		(fwrite(text->data, 1, text->length, file) != text->length || fflush(file)))
		status = cannot_write(path, error);
	kwhy_text_done(text);
	return status;
}
