// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/quartz/scopes: a directory for each scope, with its totals, and the procedures and
 * objects with the most normalized time in top/0, top/1 and so on. Totals are world-readable. Names
 * show what other users run, so they are readable by root and a group only.
 *
 * A directory is a kobject that owns its figures, so that a reader that opened a file before the
 * removal can still read.
 */
#include <linux/ctype.h>
#include <linux/kobject.h>
#include <linux/list.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "quartz.h"

static uint names_gid;
module_param(names_gid, uint, 0444);
MODULE_PARM_DESC(names_gid, "group that may read names of procedures, 0 if not given");

/* A page has room for 195 numbers of 20 digits; times have 8 to 12 digits. */
#define SHOWN_LEVELS 512

struct row {
	struct kobject kobj;
	struct scope *scope; /* holds a reference; dropped by row_release */
	struct qz_top_row figures;
};

/* Fields that `lock` does not guard are guarded by scopes_lock. */
struct scope {
	struct kobject kobj;
	struct list_head link;
	struct mutex lock;		     /* guards figures, levels, and the rows' figures */
	struct qz_ioc_publish_scope figures; /* its addresses are not used */
	u64 *level_ns;
	u32 nlevels;
	struct kobject *top;
	u32 nrows;
	struct row *rows[QZ_TOP_MAX];
};

static DEFINE_MUTEX(scopes_lock);
static LIST_HEAD(scopes);
static uint nscopes;
static struct kobject *directory;

static void names_ownership(QZ_CONST_6_2 struct kobject *kobj, kuid_t *uid, kgid_t *gid)
{
	*uid = GLOBAL_ROOT_UID;
	*gid = make_kgid(&init_user_ns, names_gid);
}

/* ---- rows ---- */

struct row_attribute {
	struct attribute attr;
	ssize_t (*show)(const struct qz_top_row *row, char *buf);
};

static ssize_t row_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct row_attribute *a = container_of(attr, struct row_attribute, attr);
	struct row *row = container_of(kobj, struct row, kobj);
	ssize_t n;

	mutex_lock(&row->scope->lock);
	n = a->show(&row->figures, buf);
	mutex_unlock(&row->scope->lock);
	return n;
}

static void row_release(struct kobject *kobj)
{
	struct row *row = container_of(kobj, struct row, kobj);

	kobject_put(&row->scope->kobj);
	kfree(row);
}

static ssize_t show_row_name(const struct qz_top_row *row, char *buf)
{
	return sysfs_emit(buf, "%s\n", row->name);
}

static ssize_t show_row_kind(const struct qz_top_row *row, char *buf)
{
	return sysfs_emit(buf, "%s\n", row->kind);
}

#define ROW_TIME(field)                                                                            \
	static ssize_t show_row_##field(const struct qz_top_row *row, char *buf)                   \
	{                                                                                          \
		return sysfs_emit(buf, "%llu\n", row->field);                                      \
	}                                                                                          \
	static struct row_attribute row_##field = {{.name = #field, .mode = 0444}, show_row_##field}

static struct row_attribute row_name = {{.name = "name", .mode = 0440}, show_row_name};
static struct row_attribute row_kind = {{.name = "kind", .mode = 0444}, show_row_kind};
ROW_TIME(normalized_ns);
ROW_TIME(self_normalized_ns);
ROW_TIME(cpu_ns);
ROW_TIME(spin_ns);

static struct attribute *row_attrs[] = {
	&row_name.attr,
	&row_kind.attr,
	&row_normalized_ns.attr,
	&row_self_normalized_ns.attr,
	&row_cpu_ns.attr,
	&row_spin_ns.attr,
	NULL,
};
ATTRIBUTE_GROUPS(row);

static const struct sysfs_ops row_ops = {.show = row_show};
static const struct kobj_type row_type = {
	.release = row_release,
	.sysfs_ops = &row_ops,
	.default_groups = row_groups,
	.get_ownership = names_ownership,
};

static int row_add(struct scope *scope)
{
	struct row *row = kzalloc(sizeof(*row), GFP_KERNEL_ACCOUNT);
	int err;

	if (!row)
		return -ENOMEM;
	kobject_get(&scope->kobj);
	row->scope = scope;
	err = kobject_init_and_add(&row->kobj, &row_type, scope->top, "%u", scope->nrows);
	if (err) {
		kobject_put(&row->kobj);
		return err;
	}
	scope->rows[scope->nrows++] = row;
	return 0;
}

static void row_remove_last(struct scope *scope)
{
	struct row *row = scope->rows[--scope->nrows];

	kobject_del(&row->kobj);
	kobject_put(&row->kobj);
}

/* ---- scopes ---- */

struct scope_attribute {
	struct attribute attr;
	ssize_t (*show)(const struct scope *scope, char *buf);
};

static ssize_t scope_show(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct scope_attribute *a = container_of(attr, struct scope_attribute, attr);
	struct scope *scope = container_of(kobj, struct scope, kobj);
	ssize_t n;

	mutex_lock(&scope->lock);
	n = a->show(scope, buf);
	mutex_unlock(&scope->lock);
	return n;
}

static void scope_release(struct kobject *kobj)
{
	struct scope *scope = container_of(kobj, struct scope, kobj);

	mutex_destroy(&scope->lock);
	kvfree(scope->level_ns);
	kfree(scope);
}

static ssize_t show_level_ns(const struct scope *scope, char *buf)
{
	u32 shown = min_t(u32, scope->nlevels, SHOWN_LEVELS), i;
	int n = 0;

	for (i = 0; i < shown; i++)
		n += sysfs_emit_at(buf, n, "%s%llu", i ? " " : "", scope->level_ns[i]);
	return n + sysfs_emit_at(buf, n, "\n");
}

#define SCOPE_TIME(field)                                                                          \
	static ssize_t show_##field(const struct scope *scope, char *buf)                          \
	{                                                                                          \
		return sysfs_emit(buf, "%llu\n", scope->figures.field);                            \
	}                                                                                          \
	static struct scope_attribute scope_##field = {{.name = #field, .mode = 0444}, show_##field}

SCOPE_TIME(elapsed_ns);
SCOPE_TIME(normalized_ns);
SCOPE_TIME(cpu_ns);
SCOPE_TIME(spin_ns);
SCOPE_TIME(serial_ns);
SCOPE_TIME(mean_parallelism_milli);
static struct scope_attribute scope_level_ns = {{.name = "level_ns", .mode = 0444}, show_level_ns};

static struct attribute *scope_attrs[] = {
	&scope_elapsed_ns.attr, &scope_normalized_ns.attr,
	&scope_cpu_ns.attr,	&scope_spin_ns.attr,
	&scope_serial_ns.attr,	&scope_mean_parallelism_milli.attr,
	&scope_level_ns.attr,	NULL,
};
ATTRIBUTE_GROUPS(scope);

static const struct sysfs_ops scope_ops = {.show = scope_show};
static const struct kobj_type scope_type = {
	.release = scope_release,
	.sysfs_ops = &scope_ops,
	.default_groups = scope_groups,
};

static bool name_valid(const char *name)
{
	size_t n = strnlen(name, QZ_NAME_MAX), i;

	if (!n || n == QZ_NAME_MAX || name[0] == '.')
		return false;
	for (i = 0; i < n; i++)
		if (!isascii(name[i]) || (!isalnum(name[i]) && !strchr("._:@-", name[i])))
			return false;
	return true;
}

static struct scope *scope_find(const char *name)
{
	struct scope *scope;

	lockdep_assert_held(&scopes_lock);
	list_for_each_entry(scope, &scopes, link)
		if (!strcmp(scope->figures.name, name))
			return scope;
	return NULL;
}

static void scope_remove(struct scope *scope)
{
	lockdep_assert_held(&scopes_lock);
	list_del(&scope->link);
	nscopes--;
	while (scope->nrows)
		row_remove_last(scope);
	kobject_put(scope->top);
	kobject_del(&scope->kobj);
	kobject_put(&scope->kobj);
}

static struct scope *scope_add(const char *name)
{
	struct scope *scope;
	int err;

	lockdep_assert_held(&scopes_lock);
	if (nscopes == QZ_SCOPES_MAX)
		return ERR_PTR(-ENOSPC);
	scope = kzalloc(sizeof(*scope), GFP_KERNEL_ACCOUNT);
	if (!scope)
		return ERR_PTR(-ENOMEM);
	mutex_init(&scope->lock);
	strscpy(scope->figures.name, name, sizeof(scope->figures.name));
	err = kobject_init_and_add(&scope->kobj, &scope_type, directory, "%s", name);
	if (!err) {
		scope->top = kobject_create_and_add("top", &scope->kobj);
		err = scope->top ? 0 : -ENOMEM;
	}
	if (err) {
		kobject_put(&scope->kobj);
		return ERR_PTR(err);
	}
	list_add_tail(&scope->link, &scopes);
	nscopes++;
	return scope;
}

static int scope_resize_top(struct scope *scope, u32 rows)
{
	int err = 0;

	while (scope->nrows > rows)
		row_remove_last(scope);
	while (!err && scope->nrows < rows)
		err = row_add(scope);
	return err;
}

/* Takes ownership of level_ns. */
static void scope_set(struct scope *scope, const struct qz_ioc_publish_scope *new, u64 *level_ns,
		      const struct qz_top_row *top)
{
	u64 *old;
	u32 i;

	mutex_lock(&scope->lock);
	scope->figures = *new;
	old = scope->level_ns;
	scope->level_ns = level_ns;
	scope->nlevels = new->levels;
	for (i = 0; i < scope->nrows; i++)
		scope->rows[i]->figures = top[i];
	mutex_unlock(&scope->lock);
	kvfree(old);
}

/* Texts are shown unchanged, so they must be one line without control characters. */
static bool row_valid(const struct qz_top_row *row)
{
	size_t i, name = strnlen(row->name, sizeof(row->name));
	size_t kind = strnlen(row->kind, sizeof(row->kind));

	if (name == sizeof(row->name) || kind == sizeof(row->kind))
		return false;
	for (i = 0; i < name; i++)
		if (iscntrl(row->name[i]))
			return false;
	for (i = 0; i < kind; i++)
		if (!islower(row->kind[i]))
			return false;
	return true;
}

static int rows_valid(const struct qz_top_row *top, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (!row_valid(&top[i]))
			return -EINVAL;
	return 0;
}

static int scope_update(const struct qz_ioc_publish_scope *new, u64 *level_ns,
			const struct qz_top_row *top)
{
	struct scope *scope;
	int err;

	mutex_lock(&scopes_lock);
	scope = scope_find(new->name);
	if (!scope)
		scope = scope_add(new->name);
	err = PTR_ERR_OR_ZERO(scope);
	if (!err)
		err = scope_resize_top(scope, new->rows);
	if (!err)
		scope_set(scope, new, level_ns, top);
	mutex_unlock(&scopes_lock);
	return err;
}

long qz_sysfs_scope_publish(const struct qz_ioc_publish_scope *new)
{
	struct qz_top_row *top;
	u64 *level_ns;
	int err;

	if (!name_valid(new->name) || !new->levels || new->levels > QZ_LEVELS_MAX ||
	    new->rows > QZ_TOP_MAX)
		return -EINVAL;
	level_ns = vmemdup_user(u64_to_user_ptr(new->level_ns), new->levels * sizeof(*level_ns));
	if (IS_ERR(level_ns))
		return PTR_ERR(level_ns);
	top = vmemdup_user(u64_to_user_ptr(new->top), new->rows * sizeof(*top));
	if (IS_ERR(top)) {
		kvfree(level_ns);
		return PTR_ERR(top);
	}
	err = rows_valid(top, new->rows);
	if (!err)
		err = scope_update(new, level_ns, top);
	if (err)
		kvfree(level_ns);
	kvfree(top);
	return err;
}

long qz_sysfs_scope_retire(const char *name)
{
	struct scope *scope;

	mutex_lock(&scopes_lock);
	scope = scope_find(name);
	if (scope)
		scope_remove(scope);
	mutex_unlock(&scopes_lock);
	return scope ? 0 : -ENOENT;
}

int qz_sysfs_scopes_init(void)
{
	if (!gid_valid(make_kgid(&init_user_ns, names_gid)))
		return -EINVAL;
	directory = kobject_create_and_add("scopes", qz_sysfs_root());
	return directory ? 0 : -ENOMEM;
}

void qz_sysfs_scopes_retire_all(void)
{
	struct scope *scope, *next;

	mutex_lock(&scopes_lock);
	list_for_each_entry_safe(scope, next, &scopes, link)
		scope_remove(scope);
	mutex_unlock(&scopes_lock);
}

void qz_sysfs_scopes_exit(void)
{
	qz_sysfs_scopes_retire_all();
	kobject_put(directory);
}
