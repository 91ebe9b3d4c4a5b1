// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/quartz: figures of the whole run, as quartzd last published them. When it dies, they
 * stay, `enabled` becomes 0 and the heartbeat gets older. Documented in doc/formats.md.
 */
#include <linux/kobject.h>
#include <linux/ktime.h>
#include <linux/mutex.h>
#include <linux/sysfs.h>

#include "quartz.h"

/* Guards the figures below. */
static DEFINE_MUTEX(publish_lock);
static struct qz_ioc_publish figures;
static bool enabled;
static u64 heartbeat; /* ktime_get_ns() of the last figures, 0: none yet */

static struct kobject *root;

struct kobject *qz_sysfs_root(void)
{
	return root;
}

void qz_sysfs_publish(const struct qz_ioc_publish *new)
{
	mutex_lock(&publish_lock);
	figures = *new;
	heartbeat = ktime_get_ns();
	mutex_unlock(&publish_lock);
}

void qz_sysfs_enable(bool now)
{
	mutex_lock(&publish_lock);
	enabled = now;
	if (now)
		heartbeat = ktime_get_ns();
	mutex_unlock(&publish_lock);
}

/* ---- attributes ---- */

static ssize_t version_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", QUARTZ_VERSION);
}

static ssize_t enabled_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	bool now;

	mutex_lock(&publish_lock);
	now = enabled;
	mutex_unlock(&publish_lock);
	return sysfs_emit(buf, "%d\n", now);
}

static ssize_t heartbeat_age_ms_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	s64 age = -1;

	mutex_lock(&publish_lock);
	if (heartbeat)
		age = div_u64(ktime_get_ns() - heartbeat, NSEC_PER_MSEC);
	mutex_unlock(&publish_lock);
	return sysfs_emit(buf, "%lld\n", age);
}

/* Shows a parallelism in thousandths as a decimal number. */
static ssize_t show_milli(char *buf, const u64 *milli)
{
	u64 value;

	mutex_lock(&publish_lock);
	value = *milli;
	mutex_unlock(&publish_lock);
	return sysfs_emit(buf, "%llu.%03llu\n", div_u64(value, 1000),
			  value - div_u64(value, 1000) * 1000);
}

static ssize_t show_count(char *buf, const u64 *count)
{
	u64 value;

	mutex_lock(&publish_lock);
	value = *count;
	mutex_unlock(&publish_lock);
	return sysfs_emit(buf, "%llu\n", value);
}

static ssize_t targets_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	u32 targets;

	mutex_lock(&publish_lock);
	targets = figures.targets;
	mutex_unlock(&publish_lock);
	return sysfs_emit(buf, "%u\n", targets);
}

static ssize_t effective_parallelism_show(struct kobject *kobj, struct kobj_attribute *attr,
					  char *buf)
{
	return show_milli(buf, &figures.effective_milli);
}

static ssize_t nominal_parallelism_show(struct kobject *kobj, struct kobj_attribute *attr,
					char *buf)
{
	return show_milli(buf, &figures.nominal_milli);
}

static ssize_t samples_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return show_count(buf, &figures.samples);
}

static ssize_t lost_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return show_count(buf, &figures.lost);
}

static ssize_t overhead_ppm_show(struct kobject *kobj, struct kobj_attribute *attr, char *buf)
{
	return show_count(buf, &figures.overhead_ppm);
}

static struct kobj_attribute attributes[] = {
	__ATTR_RO(version),
	__ATTR_RO(enabled),
	__ATTR_RO(heartbeat_age_ms),
	__ATTR_RO(targets),
	__ATTR_RO(effective_parallelism),
	__ATTR_RO(nominal_parallelism),
	__ATTR_RO(samples),
	__ATTR_RO(lost),
	__ATTR_RO(overhead_ppm),
};

static struct attribute *list[ARRAY_SIZE(attributes) + 1];
static const struct attribute_group group = {.attrs = list};

int qz_sysfs_init(void)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(attributes); i++)
		list[i] = &attributes[i].attr;
	root = kobject_create_and_add("quartz", kernel_kobj);
	if (!root)
		return -ENOMEM;
	err = sysfs_create_group(root, &group);
	if (err)
		kobject_put(root);
	return err;
}

void qz_sysfs_exit(void)
{
	sysfs_remove_group(root, &group);
	kobject_put(root);
}
