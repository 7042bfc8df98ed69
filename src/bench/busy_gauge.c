/* SPDX-License-Identifier: Apache-2.0 */
#include "bench/busy_gauge.h"

#include "base/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define EVERY_NS INT64_C(100000000)
#define SETTLE_NS INT64_C(1000000000)

static void tell_missing(struct kwhy_busy_gauge *gauge, const char *why)
{
	snprintf(gauge->missing, sizeof(gauge->missing), "%s", why);
}

void kwhy_busy_gauge_open(const struct kwhy_gpu *gpu, struct kwhy_busy_gauge *out)
{
	struct kwhy_error error;

	*out = (struct kwhy_busy_gauge){0};
	if (strcmp(gpu->ops->name, "cuda") != 0) {
		tell_missing(out, "NVML knows NVIDIA's GPUs alone");
		return;
	}
	if (kwhy_nvml_open(&out->nvml, &error)) {
		tell_missing(out, error.text);
		return;
	}
	out->handle = kwhy_nvml_find(&out->nvml, gpu->facts.pci_address);
	if (!out->handle)
		tell_missing(out, "NVML knows no GPU at its PCI address");
}

void kwhy_busy_gauge_close(struct kwhy_busy_gauge *gauge)
{
	if (gauge->nvml.library)
		kwhy_nvml_close(&gauge->nvml);
	gauge->nvml.library = NULL;
	gauge->handle = NULL;
}

void kwhy_busy_gauge_begin(struct kwhy_busy_gauge *gauge)
{
	gauge->asked_ns = kwhy_clock_mono_ns() + SETTLE_NS - EVERY_NS;
	gauge->sum = 0;
	gauge->count = 0;
}

void kwhy_busy_gauge_poll(struct kwhy_busy_gauge *gauge)
{
	struct kwhy_nvml_utilization busy = {0};
	int64_t now_ns = kwhy_clock_mono_ns();

	if (!gauge->handle || now_ns < gauge->asked_ns + EVERY_NS)
		return;
	gauge->asked_ns = now_ns;
	if (kwhy_nvml_call(&gauge->nvml, nvmlDeviceGetUtilizationRates, gauge->handle, &busy))
		return;
	gauge->sum += busy.gpu_percent / 100.0;
	gauge->count++;
}

double kwhy_busy_gauge_mean(const struct kwhy_busy_gauge *gauge)
{
	return gauge->count ? gauge->sum / gauge->count : NAN;
}
