/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/export.h"

#include <string.h>

static const struct kwhy_exporter *const exporters[] = {
	&kwhy_export_perfetto,
	&kwhy_export_chrome,
	&kwhy_export_sqlite,
	&kwhy_export_csv,
};

const struct kwhy_exporter *kwhy_exporter_at(size_t index)
{
	return index < sizeof(exporters) / sizeof(exporters[0]) ? exporters[index] : NULL;
}

const struct kwhy_exporter *kwhy_exporter_find(const char *name)
{
	const struct kwhy_exporter *exporter;

	for (size_t i = 0; (exporter = kwhy_exporter_at(i)); i++)
		if (!strcmp(exporter->name, name))
			return exporter;
	return NULL;
}
