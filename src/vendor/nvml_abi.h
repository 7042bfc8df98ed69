/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_VENDOR_NVML_ABI_H
#define KWHY_VENDOR_NVML_ABI_H

/*
 * The part of NVML's binary interface that kwhy calls, declared by hand from its public documentation (API
 * version 13; all of it is older, and a layout that has a version number never changes). Functions have the
 * vendor's names, types have kwhy's. The test unit_vendor_nvml_layout compares the declarations with the
 * toolkit's nvml.h where it is installed.
 */

/* Results of calls. Any other value is also an error. */
enum kwhy_nvml_result {
	KWHY_NVML_SUCCESS = 0,
	KWHY_NVML_UNINITIALIZED = 1,
	KWHY_NVML_INVALID_ARGUMENT = 2,
	KWHY_NVML_NOT_SUPPORTED = 3,
	KWHY_NVML_NO_PERMISSION = 4,
	KWHY_NVML_NOT_FOUND = 6,
	KWHY_NVML_INSUFFICIENT_SIZE = 7,
	KWHY_NVML_DRIVER_NOT_LOADED = 9,
	KWHY_NVML_TIMEOUT = 10,
	/* kwhy_nvml_call() also returns it if an optional call is missing */
	KWHY_NVML_FUNCTION_NOT_FOUND = 13,
	KWHY_NVML_GPU_IS_LOST = 15,
	KWHY_NVML_RESET_REQUIRED = 16,
	KWHY_NVML_UNKNOWN = 999
};

typedef struct kwhy_nvml_device_opaque *kwhy_nvml_handle;
typedef struct kwhy_nvml_gpm_sample_opaque *kwhy_nvml_gpm_sample;

enum { KWHY_NVML_INIT_NO_GPUS = 1 }; /* flag: a machine without GPUs is no error */
/* sizes of names, UUIDs and versions, and of PCI addresses */
enum { KWHY_NVML_TEXT_BYTES = 96, KWHY_NVML_PCI_ID_BYTES = 32 };
enum { KWHY_NVML_TOTAL_POWER_SAMPLES = 0 }; /* type of samples: power in mW, as unsigned int */
enum { KWHY_NVML_CLOCK_SM = 1, KWHY_NVML_CLOCK_MEMORY = 2 };  /* clocks, whose rates are in MHz */
enum { KWHY_NVML_TEMPERATURE_GPU = 0 };			      /* temperature sensors, in degrees Celsius */
enum { KWHY_NVML_SCOPE_GPU = 0, KWHY_NVML_SCOPE_MEMORY = 2 }; /* scopes of the power fields */
enum { KWHY_NVML_DISABLED = 0, KWHY_NVML_ENABLED = 1 };

/* Bits of the reasons why clock rates are below their maximum. */
enum {
	KWHY_NVML_REASON_IDLE = 1 << 0,
	KWHY_NVML_REASON_APPLICATION_CLOCKS = 1 << 1,
	KWHY_NVML_REASON_POWER_CAP = 1 << 2,
	KWHY_NVML_REASON_HARDWARE = 1 << 3,
	KWHY_NVML_REASON_SYNC_BOOST = 1 << 4,
	KWHY_NVML_REASON_SOFTWARE_THERMAL = 1 << 5,
	KWHY_NVML_REASON_HARDWARE_THERMAL = 1 << 6,
	KWHY_NVML_REASON_HARDWARE_POWER_BRAKE = 1 << 7,
	KWHY_NVML_REASON_DISPLAY_CLOCKS = 1 << 8
};

/* Policies that nvmlDeviceGetViolationStatus() reports on. */
enum { KWHY_NVML_POLICY_POWER = 0, KWHY_NVML_POLICY_THERMAL = 1 };

enum { KWHY_NVML_ECC_UNCORRECTED = 1 }; /* kind of memory error */
/* period in which errors are counted: since the driver was loaded, or in the GPU's whole life */
enum { KWHY_NVML_ECC_VOLATILE = 0, KWHY_NVML_ECC_AGGREGATE = 1 };

enum {
	KWHY_NVML_COMPUTE_DEFAULT = 0,
	KWHY_NVML_COMPUTE_PROHIBITED = 2,
	KWHY_NVML_COMPUTE_EXCLUSIVE_PROCESS = 3
};

/* Numbers of the fields of nvmlDeviceGetFieldValues(). */
enum {
	KWHY_NVML_FIELD_MEMORY_TEMPERATURE = 82, /* in degrees Celsius */
	KWHY_NVML_FIELD_NVLINK_SPEED_ALL = 90,	 /* rate in one direction of each active link, in MB/s */
	KWHY_NVML_FIELD_NVLINK_COUNT = 91,	 /* number of the device's links */
	/* rate in one direction of the link whose number is the scope, in MB/s */
	KWHY_NVML_FIELD_NVLINK_SPEED = 164,
	KWHY_NVML_FIELD_POWER_AVERAGE = 185, /* average power, in mW */
	KWHY_NVML_FIELD_POWER_INSTANT = 186  /* instantaneous power, in mW */
};

enum { KWHY_NVML_LINKS_MAX = 18 }; /* largest number of NVLinks of a device */

/* Kinds of devices to which an NVLink leads. */
enum { KWHY_NVML_LINK_TO_GPU = 0, KWHY_NVML_LINK_TO_SWITCH = 2 };

/* Values of nvmlDeviceGetNvLinkVersion(). They enumerate versions and are not version numbers. */
enum {
	KWHY_NVML_NVLINK_1 = 1,
	KWHY_NVML_NVLINK_2 = 2,
	KWHY_NVML_NVLINK_2_2 = 3,
	KWHY_NVML_NVLINK_3 = 4,
	KWHY_NVML_NVLINK_3_1 = 5,
	KWHY_NVML_NVLINK_4 = 6,
	KWHY_NVML_NVLINK_5 = 7
};

/* Nearest common ancestor of two devices in the topology, from the nearest kind to the farthest. */
enum {
	KWHY_NVML_ANCESTOR_BOARD = 0,
	KWHY_NVML_ANCESTOR_SWITCH = 10,
	KWHY_NVML_ANCESTOR_SWITCHES = 20,
	KWHY_NVML_ANCESTOR_BRIDGE = 30,
	KWHY_NVML_ANCESTOR_NODE = 40,
	KWHY_NVML_ANCESTOR_SYSTEM = 50
};

/* Types of values; each says which member of the union below is valid. */
enum {
	KWHY_NVML_TYPE_DOUBLE = 0,
	KWHY_NVML_TYPE_UNSIGNED_INT = 1,
	KWHY_NVML_TYPE_UNSIGNED_LONG = 2,
	KWHY_NVML_TYPE_UNSIGNED_LONG_LONG = 3,
	KWHY_NVML_TYPE_SIGNED_LONG_LONG = 4,
	KWHY_NVML_TYPE_SIGNED_INT = 5,
	KWHY_NVML_TYPE_UNSIGNED_SHORT = 6
};

union kwhy_nvml_value {
	double as_double;
	int as_int;
	unsigned as_unsigned;
	unsigned long as_unsigned_long;
	unsigned long long as_unsigned_long_long;
	long long as_long_long;
	unsigned short as_unsigned_short;
};

struct kwhy_nvml_sample {
	unsigned long long time_unix_us; /* Unix time on the driver's own clock */
	union kwhy_nvml_value value;
};

struct kwhy_nvml_field {
	unsigned field, scope;
	long long time_unix_us, latency_us;
	unsigned type;
	enum kwhy_nvml_result result;
	union kwhy_nvml_value value;
};

struct kwhy_nvml_pci {
	char bus_id_legacy[16];
	unsigned domain, bus, device;
	unsigned pci_device_id, pci_subsystem_id;
	char bus_id[KWHY_NVML_PCI_ID_BYTES]; /* such as "00000000:19:00.0" */
};

struct kwhy_nvml_memory_v1 {
	/* used_bytes includes what the driver reserves */
	unsigned long long total_bytes, free_bytes, used_bytes;
};

struct kwhy_nvml_memory_v2 {
	unsigned version; /* must be KWHY_NVML_MEMORY_V2 */
	unsigned long long total_bytes, reserved_bytes, free_bytes, used_bytes;
};
#define KWHY_NVML_MEMORY_V2 ((unsigned)sizeof(struct kwhy_nvml_memory_v2) | 2U << 24)

struct kwhy_nvml_utilization {
	unsigned gpu_percent, memory_percent;
};

struct kwhy_nvml_violation {
	unsigned long long reference_us, violation_ns;
};

struct kwhy_nvml_attributes {
	unsigned sm_count;
	unsigned copy_engines, decoders, encoders, jpeg_engines, optical_flow_engines;
	unsigned gpu_slices, compute_slices;
	unsigned long long memory_mib;
};

/* A process as listed by nvmlDeviceGetComputeRunningProcesses_v2() and later versions. */
struct kwhy_nvml_process {
	unsigned pid;
	unsigned long long used_bytes; /* all bits set: not available */
	unsigned gpu_instance, compute_instance;
};

/*
 * What a process used of a device since the time that nvmlDeviceGetProcessUtilization() was asked for.
 * Processes that used nothing are left out.
 */
struct kwhy_nvml_process_utilization {
	unsigned pid;
	unsigned long long time_unix_us; /* time of the newest sample */
	unsigned sm_percent, memory_percent, encoder_percent, decoder_percent;
};

struct kwhy_nvml_gpm_support {
	unsigned version; /* must be 1 */
	unsigned is_supported;
};

/* Numbers of GPM metrics. Shares are in percent, rates in MiB/s. */
enum {
	KWHY_NVML_GPM_SM_ACTIVE = 2,
	KWHY_NVML_GPM_SM_OCCUPANCY = 3,
	KWHY_NVML_GPM_INTEGER_ACTIVE = 4,
	KWHY_NVML_GPM_TENSOR_ACTIVE = 5,
	KWHY_NVML_GPM_DRAM_ACTIVE = 10,
	KWHY_NVML_GPM_FP64_ACTIVE = 11,
	KWHY_NVML_GPM_FP32_ACTIVE = 12,
	KWHY_NVML_GPM_FP16_ACTIVE = 13,
	KWHY_NVML_GPM_PCIE_TX = 20,
	KWHY_NVML_GPM_PCIE_RX = 21,
	KWHY_NVML_GPM_NVLINK_RX = 60,
	KWHY_NVML_GPM_NVLINK_TX = 61
};

struct kwhy_nvml_gpm_metric {
	unsigned metric;
	enum kwhy_nvml_result result;
	double value;
	struct {
		char *short_name, *long_name, *unit;
	} words;
};

/*
 * Arguments of nvmlGpmMetricsGet(). In newer versions the vendor's array is longer, but only its first
 * `count` items are used.
 */
struct kwhy_nvml_gpm_metrics {
	unsigned version; /* must be 1 */
	unsigned count;
	kwhy_nvml_gpm_sample first, second;
	struct kwhy_nvml_gpm_metric metrics[333];
};

enum kwhy_nvml_result nvmlInit_v2(void);
enum kwhy_nvml_result nvmlInitWithFlags(unsigned flags);
enum kwhy_nvml_result nvmlShutdown(void);
const char *nvmlErrorString(enum kwhy_nvml_result result);
enum kwhy_nvml_result nvmlSystemGetDriverVersion(char *out, unsigned out_bytes);
enum kwhy_nvml_result nvmlSystemGetCudaDriverVersion_v2(int *out); /* 1000 * major + 10 * minor */
enum kwhy_nvml_result nvmlDeviceGetCount_v2(unsigned *out);
enum kwhy_nvml_result nvmlDeviceGetHandleByIndex_v2(unsigned index, kwhy_nvml_handle *out);
enum kwhy_nvml_result nvmlDeviceGetName(kwhy_nvml_handle device, char *out, unsigned out_bytes);
enum kwhy_nvml_result nvmlDeviceGetUUID(kwhy_nvml_handle device, char *out, unsigned out_bytes);
enum kwhy_nvml_result nvmlDeviceGetPciInfo_v3(kwhy_nvml_handle device, struct kwhy_nvml_pci *out);
enum kwhy_nvml_result nvmlDeviceGetTotalEnergyConsumption(
	kwhy_nvml_handle device, unsigned long long *out_mj);
/* Gets the samples that are later than `after_unix_us`. If `samples` is NULL, it gets only their number. */
enum kwhy_nvml_result nvmlDeviceGetSamples(kwhy_nvml_handle device, unsigned type,
	unsigned long long after_unix_us, unsigned *out_value_type, unsigned *count,
	struct kwhy_nvml_sample *samples);
enum kwhy_nvml_result nvmlDeviceGetPowerUsage(kwhy_nvml_handle device, unsigned *out_mw);
enum kwhy_nvml_result nvmlDeviceGetFieldValues(
	kwhy_nvml_handle device, int count, struct kwhy_nvml_field *fields);
enum kwhy_nvml_result nvmlDeviceGetClockInfo(kwhy_nvml_handle device, unsigned clock, unsigned *out_mhz);
enum kwhy_nvml_result nvmlDeviceGetMaxClockInfo(kwhy_nvml_handle device, unsigned clock, unsigned *out_mhz);
enum kwhy_nvml_result nvmlDeviceGetTemperature(kwhy_nvml_handle device, unsigned sensor, unsigned *out_c);
enum kwhy_nvml_result nvmlDeviceGetCurrentClocksEventReasons(
	kwhy_nvml_handle device, unsigned long long *out);
enum kwhy_nvml_result nvmlDeviceGetCurrentClocksThrottleReasons(kwhy_nvml_handle device,
	unsigned long long *out); /* older name of the call above, before driver 535 */
enum kwhy_nvml_result nvmlDeviceGetViolationStatus(
	kwhy_nvml_handle device, unsigned policy, struct kwhy_nvml_violation *out);
enum kwhy_nvml_result nvmlDeviceGetMemoryInfo(kwhy_nvml_handle device, struct kwhy_nvml_memory_v1 *out);
enum kwhy_nvml_result nvmlDeviceGetMemoryInfo_v2(kwhy_nvml_handle device, struct kwhy_nvml_memory_v2 *out);
enum kwhy_nvml_result nvmlDeviceGetEnforcedPowerLimit(kwhy_nvml_handle device, unsigned *out_mw);
enum kwhy_nvml_result nvmlDeviceGetPowerManagementDefaultLimit(kwhy_nvml_handle device, unsigned *out_mw);
/*
 * The first of these calls gets the power limit that was set, which may be higher than the one in force. The
 * second one gets the range in which the limit can be set. The third one sets the limit, which only root may
 * do.
 */
enum kwhy_nvml_result nvmlDeviceGetPowerManagementLimit(kwhy_nvml_handle device, unsigned *out_mw);
enum kwhy_nvml_result nvmlDeviceGetPowerManagementLimitConstraints(
	kwhy_nvml_handle device, unsigned *out_least_mw, unsigned *out_most_mw);
enum kwhy_nvml_result nvmlDeviceSetPowerManagementLimit(kwhy_nvml_handle device, unsigned limit_mw);
enum kwhy_nvml_result nvmlDeviceSetGpuLockedClocks(
	kwhy_nvml_handle device, unsigned least_mhz, unsigned most_mhz);
enum kwhy_nvml_result nvmlDeviceResetGpuLockedClocks(kwhy_nvml_handle device);
enum kwhy_nvml_result nvmlDeviceGetFanSpeed(kwhy_nvml_handle device, unsigned *out_percent);
enum kwhy_nvml_result nvmlDeviceGetUtilizationRates(
	kwhy_nvml_handle device, struct kwhy_nvml_utilization *out);
enum kwhy_nvml_result nvmlDeviceGetCurrPcieLinkGeneration(kwhy_nvml_handle device, unsigned *out);
enum kwhy_nvml_result nvmlDeviceGetCurrPcieLinkWidth(kwhy_nvml_handle device, unsigned *out_lanes);
enum kwhy_nvml_result nvmlDeviceGetMaxPcieLinkGeneration(kwhy_nvml_handle device, unsigned *out);
enum kwhy_nvml_result nvmlDeviceGetMaxPcieLinkWidth(kwhy_nvml_handle device, unsigned *out_lanes);
enum kwhy_nvml_result nvmlDeviceGetTopologyCommonAncestor(
	kwhy_nvml_handle one, kwhy_nvml_handle other, unsigned *out);
enum kwhy_nvml_result nvmlDeviceGetNvLinkState(kwhy_nvml_handle device, unsigned link, unsigned *out_is_up);
enum kwhy_nvml_result nvmlDeviceGetNvLinkVersion(kwhy_nvml_handle device, unsigned link, unsigned *out);
enum kwhy_nvml_result nvmlDeviceGetNvLinkRemoteDeviceType(
	kwhy_nvml_handle device, unsigned link, unsigned *out);
enum kwhy_nvml_result nvmlDeviceGetNvLinkRemotePciInfo_v2(
	kwhy_nvml_handle device, unsigned link, struct kwhy_nvml_pci *out);
enum kwhy_nvml_result nvmlDeviceGetPersistenceMode(kwhy_nvml_handle device, unsigned *out);
enum kwhy_nvml_result nvmlDeviceGetEccMode(
	kwhy_nvml_handle device, unsigned *out_current, unsigned *out_pending);
enum kwhy_nvml_result nvmlDeviceGetTotalEccErrors(
	kwhy_nvml_handle device, unsigned kind, unsigned since, unsigned long long *out);
enum kwhy_nvml_result nvmlDeviceGetRemappedRows(kwhy_nvml_handle device, unsigned *out_corrected,
	unsigned *out_uncorrected, unsigned *out_is_pending, unsigned *out_failed);
enum kwhy_nvml_result nvmlDeviceGetComputeMode(kwhy_nvml_handle device, unsigned *out);
enum kwhy_nvml_result nvmlDeviceGetMigMode(
	kwhy_nvml_handle device, unsigned *out_current, unsigned *out_pending);
enum kwhy_nvml_result nvmlDeviceGetMaxMigDeviceCount(kwhy_nvml_handle device, unsigned *out);
enum kwhy_nvml_result nvmlDeviceGetMigDeviceHandleByIndex(
	kwhy_nvml_handle device, unsigned index, kwhy_nvml_handle *out);
enum kwhy_nvml_result nvmlDeviceGetAttributes_v2(
	kwhy_nvml_handle mig_device, struct kwhy_nvml_attributes *out);
enum kwhy_nvml_result nvmlDeviceGetComputeRunningProcesses_v2(
	kwhy_nvml_handle device, unsigned *count, struct kwhy_nvml_process *out);
enum kwhy_nvml_result nvmlDeviceGetComputeRunningProcesses_v3(
	kwhy_nvml_handle device, unsigned *count, struct kwhy_nvml_process *out);
/* Result KWHY_NVML_NOT_FOUND: no process used the device since after_unix_us. */
enum kwhy_nvml_result nvmlDeviceGetProcessUtilization(kwhy_nvml_handle device,
	struct kwhy_nvml_process_utilization *out, unsigned *count, unsigned long long after_unix_us);
enum kwhy_nvml_result nvmlGpmQueryDeviceSupport(
	kwhy_nvml_handle device, struct kwhy_nvml_gpm_support *support);
enum kwhy_nvml_result nvmlGpmSampleAlloc(kwhy_nvml_gpm_sample *out);
enum kwhy_nvml_result nvmlGpmSampleFree(kwhy_nvml_gpm_sample sample);
enum kwhy_nvml_result nvmlGpmSampleGet(kwhy_nvml_handle device, kwhy_nvml_gpm_sample sample);
enum kwhy_nvml_result nvmlGpmMigSampleGet(
	kwhy_nvml_handle device, unsigned gpu_instance, kwhy_nvml_gpm_sample sample);
enum kwhy_nvml_result nvmlDeviceGetGpuInstanceId(kwhy_nvml_handle mig_device, unsigned *out_id);
enum kwhy_nvml_result nvmlGpmMetricsGet(struct kwhy_nvml_gpm_metrics *metrics);

#endif
