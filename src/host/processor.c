/* SPDX-License-Identifier: Apache-2.0 */
#include "host/facts.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 160, PATH_BYTES = 512 };

static const char *line_of(const struct kwhy_host_facts *facts, const char *path)
{
	char line[LINE_BYTES];

	return kwhy_host_read_line(facts, path, line, sizeof(line)) ? kwhy_host_keep(facts, line) : NULL;
}

static void read_rapl(struct kwhy_host_facts *facts)
{
	static const char *const paths[] = {"/sys/class/powercap/intel-rapl:0/energy_uj",
		"/sys/class/powercap/intel-rapl-mmio:0/energy_uj"};
	char line[LINE_BYTES];

	for (size_t i = 0; !facts->rapl && i < 2; i++)
		if (kwhy_host_exists(facts, paths[i])) {
			facts->rapl = paths[i];
			facts->rapl_readable = kwhy_host_read_line(facts, paths[i], line, sizeof(line));
		}
}

/*
 * Name of the hypervisor; NULL: none is detected. /sys/hypervisor/type has the name under Xen. Others are
 * recognised by a name in the vendor or product of the machine in its DMI tables, which x86 and Arm servers
 * have.
 */
static const char *hypervisor_of(const struct kwhy_host_facts *facts)
{
	static const char *const marks[] = {
		"KVM", "QEMU", "VMware", "Xen", "Virtual Machine", "VirtualBox", "Amazon EC2", "Google"};
	const char *vendor = line_of(facts, "/sys/class/dmi/id/sys_vendor");
	const char *product = line_of(facts, "/sys/class/dmi/id/product_name");

	if (kwhy_host_exists(facts, "/sys/hypervisor/type"))
		return line_of(facts, "/sys/hypervisor/type");
	for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
		if ((vendor && strstr(vendor, marks[i])) || (product && strstr(product, marks[i])))
			return marks[i];
	return NULL;
}

void kwhy_host_read_processor(struct kwhy_host_facts *facts)
{
	facts->governor = line_of(facts, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	facts->cpu_driver = line_of(facts, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver");
	facts->clock_source = line_of(
		facts, "/sys/devices/system/clocksource/clocksource0/current_clocksource");
	facts->hypervisor = hypervisor_of(facts);
	read_rapl(facts);
}
