/* SPDX-License-Identifier: Apache-2.0 */
#include "report/export/export.h"

#include <string.h>

static const struct kwhy_exporter *const exporters[] = {
	&kwhy_export_perfetto,
	&kwhy_export_chrome,
	&kwhy_export_sqlite,
	&kwhy_export_csv,
};

const struct kwhy_exporter *kwhy_exporter_find(const char *name)
{
	for (size_t i = 0; i < sizeof(exporters) / sizeof(exporters[0]); i++)
		if (!strcmp(exporters[i]->name, name))
			return exporters[i];
	return NULL;
}
