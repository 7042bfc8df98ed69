/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/export.h"

#include <stdbool.h>
#include <string.h>

static const struct kwhy_exporter *const exporters[] = {
	&kwhy_export_perfetto,
	&kwhy_export_powers, /* stands before Chrome's .json, because its own extension ends in .json, too */
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
