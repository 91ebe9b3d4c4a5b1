// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loading and unloading. The device is registered last and removed first, because users reach
 * everything by it.
 */
#include <linux/kernel.h>
#include <linux/module.h>

#include "quartz.h"

static int __init qz_init(void)
{
	int err = qz_sysfs_init();

	if (err)
		return err;
	err = qz_sysfs_scopes_init();
	if (err)
		goto publish;
	err = qz_cpu_snapshot_init();
	if (err)
		goto scopes;
	err = qz_device_init();
	if (err)
		goto snapshot;
	return 0;

snapshot:
	qz_cpu_snapshot_exit();
scopes:
	qz_sysfs_scopes_exit();
publish:
	qz_sysfs_exit();
	return err;
}

static void __exit qz_exit(void)
{
	qz_device_exit();
	qz_cpu_snapshot_exit();
	qz_sysfs_scopes_exit();
	qz_sysfs_exit();
}

module_init(qz_init);
module_exit(qz_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Quartz: results in sysfs, synchronized snapshots");
MODULE_VERSION(QUARTZ_VERSION);
