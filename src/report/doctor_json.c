/* SPDX-License-Identifier: Apache-2.0 */
#include "report/doctor.h"
#include "report/json/writer.h"

static void write_gpus(struct kwhy_json *json, const struct kwhy_doctor_report *report)
{
	kwhy_json_array(json, "gpus");
	for (size_t i = 0; i < report->gpu_count; i++) {
		kwhy_json_row(json, NULL);
		kwhy_json_int(json, "index", report->gpus[i].index);
		kwhy_json_string(json, "name", report->gpus[i].name);
		kwhy_json_string(json, "uuid", report->gpus[i].uuid);
		kwhy_json_string(json, "pci_address", report->gpus[i].pci_address);
		kwhy_json_object_end(json);
	}
	kwhy_json_array_end(json);
	kwhy_json_string(json, "no_gpu", report->no_gpu);
}

static void write_check(struct kwhy_json *json, const struct kwhy_doctor_check *check)
{
	static const char *const verdicts[] = {[KWHY_DOCTOR_GOOD] = "good",
		[KWHY_DOCTOR_ADVICE] = "advice",
		[KWHY_DOCTOR_UNKNOWN] = "unknown"};

	kwhy_json_object(json, NULL);
	kwhy_json_string(json, "id", check->id);
	kwhy_json_string(json, "title", check->title);
	if (check->gpu < 0)
		kwhy_json_null(json, "gpu");
	else
		kwhy_json_int(json, "gpu", check->gpu);
	kwhy_json_bool(json, "installation", check->installation);
	kwhy_json_string(json, "verdict", verdicts[check->verdict]);
	kwhy_json_string(json, "fact", check->fact);
	kwhy_json_string(json, "effect", check->effect);
	kwhy_json_string(json, "source", check->source);
	kwhy_json_string(json, "cure", check->cure);
	kwhy_json_object_end(json);
}

enum kwhy_status kwhy_doctor_json(
	const struct kwhy_doctor_report *report, struct kwhy_text *out, struct kwhy_error *error)
{
	struct kwhy_json json;

	kwhy_json_init(&json, out);
	kwhy_json_object(&json, NULL);
	kwhy_json_string(&json, "schema", "kwhy.doctor/1");
	kwhy_json_count(&json, "advice_count", kwhy_doctor_count(report, KWHY_DOCTOR_ADVICE));
	kwhy_json_count(&json, "good_count", kwhy_doctor_count(report, KWHY_DOCTOR_GOOD));
	kwhy_json_count(&json, "unknown_count", kwhy_doctor_count(report, KWHY_DOCTOR_UNKNOWN));
	write_gpus(&json, report);
	kwhy_json_array(&json, "checks");
	for (size_t i = 0; i < report->check_count; i++)
		write_check(&json, &report->checks[i]);
	kwhy_json_array_end(&json);
	kwhy_json_object_end(&json);
	return kwhy_text_check(out, error);
}
