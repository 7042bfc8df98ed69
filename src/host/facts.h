/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KWHY_HOST_FACTS_H
#define KWHY_HOST_FACTS_H

#include "base/arena.h"
#include "base/status.h"
#include "vendor/nvml.h"

#include <stdbool.h>
#include <stdint.h>

/* What a machine and its GPUs are like at this moment; below 0 and NULL: not known. */

enum { KWHY_HOST_UNKNOWN = -1, KWHY_HOST_REFUSED = -2 /* the driver denies permission */ };

/* Where a GPU hangs, and where this process may run. */
struct kwhy_gpu_locality {
	bool known;
	int numa_nodes;	      /* of the machine */
	int node;	      /* the GPU's; -1: it is as far from all */
	int cpus, local_cpus; /* that the process may use; of these, in the GPU's node */
};

struct kwhy_host_gpu {
	int32_t index;
	const char *name, *uuid, *pci_address;
	unsigned pci_domain, pci_bus, pci_device;
	int64_t energy_mj, power_mw; /* of the meters */
	int64_t persistence, limit_mw, default_limit_mw;
	int64_t sm_clock_mhz, sm_clock_most_mhz, reasons, busy_percent;
	int64_t power_violation_ns, thermal_violation_ns;
	int64_t ecc, ecc_uncorrected, remap_pending, remap_failed;
	int64_t pcie_generation, pcie_generation_most, pcie_lanes, pcie_lanes_most;
	int64_t mig, compute_mode, process_count;
	struct kwhy_gpu_locality locality;
};

struct kwhy_host_facts {
	struct kwhy_arena *arena;
	const char *root; /* before every path */
	struct kwhy_host_gpu *gpus;
	size_t gpu_count;
	const char *no_gpu;		    /* why there are none, or one is left out */
	const char *driver;		    /* version */
	int64_t cuda_version, nccl_version; /* 13000, 22809 */
	int64_t cpus, cpus_allowed;
	double cpu_quota;	    /* CPUs' worth of time that a cgroup grants; NAN: no limit */
	int64_t memory_limit_bytes; /* of a cgroup; -1: none */
	int64_t memory_total_bytes;
	const char *governor, *cpu_driver, *clock_source;
	const char *container, *hypervisor; /* kind; NULL: none seen */
	const char *rapl;		    /* a RAPL zone's energy file; NULL: none */
	bool rapl_readable;
	bool mps;
};

/* One line of a file below the root, without its end; false: there is no such file or it may not be read. */
bool kwhy_host_read_line(const struct kwhy_host_facts *facts, const char *path, char *out, size_t out_bytes);
/* The same as a number. */
bool kwhy_host_read_number(const struct kwhy_host_facts *facts, const char *path, int64_t *out);
bool kwhy_host_exists(const struct kwhy_host_facts *facts, const char *path);
/* Kept in the arena; NULL: no memory. */
const char *kwhy_host_keep(const struct kwhy_host_facts *facts, const char *text);

/* Each fills its part. `only`: that GPU alone, -1: all; KWHY_E_USAGE: there is no such GPU. */
KWHY_MUST_USE enum kwhy_status kwhy_host_read_gpus(
	struct kwhy_host_facts *facts, int64_t only, struct kwhy_error *error);
void kwhy_host_read_topology(struct kwhy_host_facts *facts);
void kwhy_host_read_limits(struct kwhy_host_facts *facts);    /* cgroups, containers */
void kwhy_host_read_processor(struct kwhy_host_facts *facts); /* governor, clock source, RAPL */
void kwhy_host_read_software(struct kwhy_host_facts *facts);  /* NCCL, MPS */

#endif
