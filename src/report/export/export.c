/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/export.h"

#include <stdbool.h>
#include <string.h>

static const struct kwhy_exporter *const exporters[] = {
	&kwhy_export_perfetto,
	/*
	 * before kwhy_export_chrome, since a name that ends in ".powers.json" also ends in Chrome's ".json"
	 * and the first match is taken
	 */
	&kwhy_export_powers,
	&kwhy_export_chrome,
	&kwhy_export_sqlite,
	&kwhy_export_csv,
	&kwhy_export_parquet,
};

const struct kwhy_exporter *kwhy_exporter_find(const char *name)
{
	for (size_t i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}

static bool ends_in(const char *path, size_t length, const char *with)
{
	size_t tail = strlen(with);

	return length > tail && memcmp(path + length - tail, with, tail) == 0;
}

const struct kwhy_exporter *kwhy_exporter_of_file(const char *path)
{
	size_t length = strlen(path);

	length -= ends_in(path, length, ".gz") ? strlen(".gz") : 0;
	for (size_t i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++)
		if (ends_in(path, length, exporters[i]->extension))
			return exporters[i];
	return NULL;
}

enum kwhy_status kwhy_exporter_check_file(
	const struct kwhy_exporter *exporter, const char *path, struct kwhy_error *error)
{
	const struct kwhy_exporter *named = kwhy_exporter_of_file(path);

	/*
	 * A file name that ends in ".powers.json" also has the extension ".json" of another format; that is
	 * no contradiction.
	 */
	if (named && named != exporter &&
		!ends_in(exporter->extension, strlen(exporter->extension), named->extension))
		return kwhy_fail(error, KWHY_E_USAGE,
			"--to %s and -o '%.200s' say different formats; leave out --to, or choose a name "
			"like run%s",
			exporter->name, path, exporter->extension);
	if (exporter->uncompressed && ends_in(path, strlen(path), ".gz"))
		return kwhy_fail(error, KWHY_E_USAGE, "-o '%.200s': %s; leave .gz out of the name", path,
			exporter->uncompressed);
	return KWHY_OK;
}
