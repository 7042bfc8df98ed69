/* SPDX-License-Identifier: Apache-2.0 */
#include "import/nsys/parquet.h"

#include "base/text.h"
#include "import/nsys/nsys.h"
#include "import/parquet/database.h"
#include "import/reader.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * A folder that "nsys export --type parquetdir" makes has one file for each table of the SQLite export. The
 * files are copied into a temporary SQLite database, which kwhy_nsys_read() then reads.
 */

static const char ending[] = ".parquet";

enum { FILES_MAX = 1024 };

bool kwhy_nsys_parquet_is(const char *path)
{
	struct kwhy_text name = {0};
	bool is;

	kwhy_text_addf(&name, "%s/StringIds.parquet", path);
	is = !name.failed && access(name.data, F_OK) == 0;
	kwhy_text_done(&name);
	return is;
}

static enum kwhy_status add_table(
	struct kwhy_parquet_database *made, const char *file, struct kwhy_error *error)
{
	const int length = (int)(strlen(file) - strlen(ending));
	char *path = NULL, *table = NULL;
	struct kwhy_parquet_part part = {0};
	enum kwhy_status status = KWHY_OK;

	if (asprintf(&path, "%s/%s", made->shown, file) < 0 || asprintf(&table, "%.*s", length, file) < 0) {
		free(path);
		return kwhy_fail_memory(error, "reading a folder of Parquet files");
	}
	part = (struct kwhy_parquet_part){.file = path, .table = table};
	if (!strcmp(table, "StringIds"))
		part.key = "id";
	status = kwhy_parquet_database_add(made, &part, error);
	free(path);
	free(table);
	return status;
}

static int is_table(const struct dirent *entry)
{
	const size_t length = strlen(entry->d_name), tail = sizeof(ending) - 1;

	return length > tail && !strcmp(entry->d_name + length - tail, ending);
}

static enum kwhy_status add_tables(struct kwhy_parquet_database *made, struct kwhy_error *error)
{
	struct dirent **entries = NULL;
	int count = scandir(made->shown, &entries, is_table, alphasort);
	enum kwhy_status status = KWHY_OK;

	if (count < 0)
		return kwhy_fail(error, KWHY_E_IO, "folder %s cannot be read: %s; check its permissions",
			made->shown, strerror(errno));
	for (int i = 0; i < count; i++) {
		if (!status && i < FILES_MAX)
			status = add_table(made, entries[i]->d_name, error);
		free(entries[i]);
	}
	free(entries);
	return status ? status : kwhy_parquet_database_finish(made, error);
}

static enum kwhy_status read_parquet(struct kwhy_recording *recording, const char *path,
	const struct kwhy_import_options *options, struct kwhy_error *error)
{
	static const char cure[] = "export it again with \"nsys export --type sqlite\"";
	struct kwhy_parquet_database made;
	enum kwhy_status status = kwhy_parquet_database_open(
		&made, path, "export it with \"nsys export --type sqlite\"", error);

	if (status)
		return status;
	status = add_tables(&made, error);
	if (!status)
		status = kwhy_nsys_read(
			recording, &(struct kwhy_sqlite_file){made.path, path, cure}, options, error);
	kwhy_parquet_database_close(&made);
	return status;
}

/* Recognises the folder by its files; the start of a file (`head`) is not needed. */
static bool probe_parquet(const char *path, const unsigned char *head, size_t length)
{
	(void)head;
	(void)length;
	return kwhy_nsys_parquet_is(path);
}

const struct kwhy_trace_reader kwhy_reader_nsys_parquet = {.probe = probe_parquet, .read = read_parquet};
