// SPDX-License-Identifier: GPL-2.0-only
/* Loading and unloading. The device, which users reach everything by, comes last and goes first. */
#include <linux/kernel.h>
#include <linux/module.h>

#include "quartz.h"

static int __init qz_init(void)
{
	int err = qz_publish_init();

	if (err)
		return err;
	err = qz_scopes_init();
	if (err)
		goto publish;
	err = qz_sets_init();
	if (err)
		goto scopes;
	err = qz_snapshot_init();
	if (err)
		goto sets;
	err = qz_device_init();
	if (err)
		goto snapshot;
	return 0;

snapshot:
	qz_snapshot_exit();
sets:
	qz_sets_exit();
scopes:
	qz_scopes_exit();
publish:
	qz_publish_exit();
	return err;
}

static void __exit qz_exit(void)
{
	qz_device_exit();
	qz_snapshot_exit();
	qz_sets_exit();
	qz_scopes_exit();
	qz_publish_exit();
}

module_init(qz_init);
module_exit(qz_exit);
MODULE_LICENSE("GPL");
MODULE_DESCRIPTION("Quartz: pages shared with programs, results in sysfs, synchronized snapshots");
MODULE_VERSION(QUARTZ_VERSION);
