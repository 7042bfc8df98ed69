/* SPDX-License-Identifier: Apache-2.0 */
#include "tune/setting.h"

#include <string.h>

enum { PROCESSES_ASKED = 64, CLOCK_MIN_MHZ = 210 };

static enum kwhy_status refuse(const struct kwhy_tune_setting *setting, const char *what,
	enum kwhy_nvml_result result, struct kwhy_error *error)
{
	return kwhy_fail(error, result == KWHY_NVML_NO_PERMISSION ? KWHY_E_IO : KWHY_E_UNSUPPORTED,
		"%s: %s: %s%s", setting->name, what, kwhy_nvml_words(&setting->nvml, result),
		result == KWHY_NVML_NO_PERMISSION ? "; root may set it" : "");
}

static enum kwhy_nvml_result list_processes(
	const struct kwhy_tune_setting *setting, unsigned *count, struct kwhy_nvml_process *out)
{
	enum kwhy_nvml_result result = kwhy_nvml_call(
		&setting->nvml, nvmlDeviceGetComputeRunningProcesses_v3, setting->device, count, out);

	if (result == KWHY_NVML_FUNCTION_NOT_FOUND)
		result = kwhy_nvml_call(
			&setting->nvml, nvmlDeviceGetComputeRunningProcesses_v2, setting->device, count, out);
	return result;
}

/*
 * Checks that no other process computes on the device, since the setting would affect it, too, and that the
 * device is not divided into MIG instances.
 */
static enum kwhy_status check_alone(const struct kwhy_tune_setting *setting, struct kwhy_error *error)
{
	struct kwhy_nvml_process processes[PROCESSES_ASKED];
	unsigned count = PROCESSES_ASKED, mode = 0, pending = 0;
	enum kwhy_nvml_result result = kwhy_nvml_call(
		&setting->nvml, nvmlDeviceGetMigMode, setting->device, &mode, &pending);

	if (!result && mode)
		return kwhy_fail(error, KWHY_E_UNSUPPORTED,
			"%s is divided into instances (MIG): its setting is not ours alone", setting->name);
	result = list_processes(setting, &count, processes);
	if (result && result != KWHY_NVML_INSUFFICIENT_SIZE)
		return refuse(setting, "who else uses it cannot be determined", result, error);
	if (count)
		return kwhy_fail(error, KWHY_E_INPUT,
			"%s is in use by %u other process%s, first %u: a setting would change their speed; "
			"tune it when it is free",
			setting->name, count, count == 1 ? "" : "es", processes[0].pid);
	return KWHY_OK;
}

static enum kwhy_status read_limits(struct kwhy_tune_setting *setting, struct kwhy_error *error)
{
	enum kwhy_nvml_result result;

	if (setting->order.kind == KWHY_TUNE_CLOCK) {
		setting->least = CLOCK_MIN_MHZ;
		result = kwhy_nvml_call(&setting->nvml, nvmlDeviceGetMaxClockInfo, setting->device,
			KWHY_NVML_CLOCK_SM, &setting->most);
		if (!result && !setting->nvml.nvmlDeviceResetGpuLockedClocks)
			result = KWHY_NVML_FUNCTION_NOT_FOUND;
		return result ? refuse(setting, "its clocks cannot be locked", result, error) : KWHY_OK;
	}
	result = kwhy_nvml_call(
		&setting->nvml, nvmlDeviceGetPowerManagementLimit, setting->device, &setting->order.limit_mw);
	if (!result)
		result = kwhy_nvml_call(&setting->nvml, nvmlDeviceGetPowerManagementLimitConstraints,
			setting->device, &setting->least, &setting->most);
	return result ? refuse(setting, "its power limit cannot be set", result, error) : KWHY_OK;
}

static enum kwhy_status look(struct kwhy_tune_setting *setting, unsigned index, struct kwhy_error *error)
{
	enum kwhy_nvml_result result = kwhy_nvml_call(
		&setting->nvml, nvmlDeviceGetHandleByIndex_v2, index, &setting->device);
	enum kwhy_status status;

	if (result)
		return kwhy_fail(error, KWHY_E_INPUT, "there is no device %u: %s", index,
			kwhy_nvml_words(&setting->nvml, result));
	if (kwhy_nvml_call(
		    &setting->nvml, nvmlDeviceGetName, setting->device, setting->name, sizeof(setting->name)))
		strcpy(setting->name, "the device");
	result = kwhy_nvml_call(&setting->nvml, nvmlDeviceGetUUID, setting->device, setting->order.uuid,
		sizeof(setting->order.uuid));
	if (result)
		return refuse(setting, "it cannot be distinguished from others", result, error);
	status = check_alone(setting, error);
	return status ? status : read_limits(setting, error);
}

enum kwhy_status kwhy_tune_setting_open(
	struct kwhy_tune_setting *setting, enum kwhy_tune_kind kind, unsigned index, struct kwhy_error *error)
{
	enum kwhy_status status;

	*setting = (struct kwhy_tune_setting){.order.kind = kind};
	status = kwhy_nvml_open(&setting->nvml, error);
	if (status)
		return status;
	status = look(setting, index, error);
	if (status)
		kwhy_tune_setting_close(setting);
	return status;
}

static enum kwhy_nvml_result apply(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle device, enum kwhy_tune_kind kind, unsigned value)
{
	if (kind == KWHY_TUNE_CAP)
		return kwhy_nvml_call(nvml, nvmlDeviceSetPowerManagementLimit, device, value);
	return kwhy_nvml_call(nvml, nvmlDeviceSetGpuLockedClocks, device, value, value);
}

static enum kwhy_nvml_result put_back(
	const struct kwhy_nvml *nvml, kwhy_nvml_handle device, const struct kwhy_tune_order *order)
{
	if (order->kind == KWHY_TUNE_CAP)
		return apply(nvml, device, KWHY_TUNE_CAP, order->limit_mw);
	return kwhy_nvml_call(nvml, nvmlDeviceResetGpuLockedClocks, device);
}

enum kwhy_status kwhy_tune_setting_set(
	struct kwhy_tune_setting *setting, unsigned value, struct kwhy_error *error)
{
	enum kwhy_nvml_result result;

	if (value < setting->least || value > setting->most)
		return kwhy_fail(error, KWHY_E_INPUT, "%s takes %u to %u %s, not %u", setting->name,
			setting->least, setting->most, setting->order.kind == KWHY_TUNE_CAP ? "mW" : "MHz",
			value);
	/*
	 * A refused call also counts as a change, because the driver may have changed something before it
	 * refused.
	 */
	setting->is_changed = true;
	result = apply(&setting->nvml, setting->device, setting->order.kind, value);
	return result ? refuse(setting, "the driver does not set it", result, error) : KWHY_OK;
}

enum kwhy_status kwhy_tune_setting_restore(struct kwhy_tune_setting *setting, struct kwhy_error *error)
{
	enum kwhy_nvml_result result;

	if (!setting->is_changed)
		return KWHY_OK;
	result = put_back(&setting->nvml, setting->device, &setting->order);
	if (result)
		return refuse(setting, "the driver does not put its setting back", result, error);
	setting->is_changed = false;
	return KWHY_OK;
}

void kwhy_tune_setting_close(struct kwhy_tune_setting *setting)
{
	kwhy_nvml_close(&setting->nvml);
}

static enum kwhy_nvml_result find(const struct kwhy_nvml *nvml, const char *uuid, kwhy_nvml_handle *out)
{
	char found[KWHY_NVML_TEXT_BYTES];
	unsigned count = 0;
	enum kwhy_nvml_result result = kwhy_nvml_call(nvml, nvmlDeviceGetCount_v2, &count);

	for (unsigned i = 0; !result && i < count; i++)
		if (!kwhy_nvml_call(nvml, nvmlDeviceGetHandleByIndex_v2, i, out) &&
			!kwhy_nvml_call(nvml, nvmlDeviceGetUUID, *out, found, sizeof(found)) &&
			strcmp(found, uuid) == 0)
			return KWHY_NVML_SUCCESS;
	return result ? result : KWHY_NVML_NOT_FOUND;
}

enum kwhy_status kwhy_tune_order_carry_out(const struct kwhy_tune_order *order, struct kwhy_error *error)
{
	struct kwhy_nvml nvml;
	kwhy_nvml_handle device;
	enum kwhy_nvml_result result;
	enum kwhy_status status = kwhy_nvml_open(&nvml, error);

	if (status)
		return status;
	result = find(&nvml, order->uuid, &device);
	if (!result)
		result = put_back(&nvml, device, order);
	if (result)
		status = kwhy_fail(error, KWHY_E_IO, "the setting of %s could not be put back: %s",
			order->uuid, kwhy_nvml_words(&nvml, result));
	kwhy_nvml_close(&nvml);
	return status;
}
