/* SPDX-License-Identifier: Apache-2.0 */
#include "host/check.h"

#include <inttypes.h>

enum {
	CUDA_OLDEST =
		12000 /* CUDA 12.0, the oldest whose CUPTI kwhy supports, as a value of facts->cuda_version */
};

/*
 * The NVIDIA Container Toolkit puts libraries of the driver into a container only for capabilities that are
 * requested: NVML for `utility`, libcuda for `compute`. So in a container the devices may be there without a
 * library, for which this check gives advice.
 */
static void judge_driver_libraries(const struct kwhy_judging *judging)
{
	const struct kwhy_host_facts *facts = judging->facts;

	if (facts->has_nvml && facts->has_cuda)
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "NVML and CUDA can be loaded");
	else if (!facts->gpu_devices && !facts->has_nvml && !facts->has_cuda)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "no NVIDIA driver here; reports need none");
	else if (!facts->gpu_devices)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "%s can be loaded, but /dev/nvidiactl is not here",
			facts->has_nvml ? "NVML" : "CUDA");
	else
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "the GPU's devices are here, but not %s",
			facts->has_cuda ? "libnvidia-ml.so.1 (capability utility)"
				: facts->has_nvml
				? "libcuda.so.1 (capability compute)"
				: "libnvidia-ml.so.1 and libcuda.so.1 (capabilities utility and "
				  "compute)");
}

static void judge_driver_age(const struct kwhy_judging *judging)
{
	int64_t version = judging->facts->cuda_version;

	if (version < 0)
		kwhy_judge(judging, KWHY_DOCTOR_UNKNOWN, "no driver tells its version");
	else if (version < CUDA_OLDEST)
		kwhy_judge(judging, KWHY_DOCTOR_ADVICE, "it runs programs up to CUDA %" PRId64 ".%" PRId64,
			version / 1000, version % 1000 / 10);
	else
		kwhy_judge(judging, KWHY_DOCTOR_GOOD, "new enough for all that kwhy does");
}

const struct kwhy_check_kind kwhy_installation_checks[] = {
	{"driver_libraries", "libraries of the NVIDIA driver",
		"Without NVML no joules are measured, without CUDA no activity is recorded.",
		"NVIDIA Container Toolkit, driver capabilities",
		"start the container with NVIDIA_DRIVER_CAPABILITIES=utility,compute; outside of containers "
		"install the driver's packages of both libraries",
		judge_driver_libraries},
	{"driver_age", "age of the NVIDIA driver",
		"kwhy record and kwhy probe record no activity, because CUPTI is older than they need.",
		"CUDA 12.0 needs driver 525.60 or later", "install driver 525.60 or later", judge_driver_age},
	{0},
};
