/* SPDX-License-Identifier: GPL-2.0-only */
/* Which code is the program's own. */
#include <check.h>
#include <stdlib.h>

#include "core/advise/closeness.h"
#include "tests/unit/suites.h"

#define GO "/opt/server"
#define C  "/opt/solver"

static const struct {
	const char *module, *name;
	enum qz_closeness close;
} known[] = {
	{GO, "runtime.goexit.abi0", QZ_CLOSE_NOT},
	{GO, "runtime.mallocgc", QZ_CLOSE_NOT},
	{GO, "main.main", QZ_CLOSE_OWN},
	{GO, "main.(*Server).serve", QZ_CLOSE_OWN},
	{GO, "github.com/acme/time.Now", QZ_CLOSE_OWN},
	{GO, "time.Now", QZ_CLOSE_LIBRARY},
	{GO, "encoding/json.(*decodeState).value", QZ_CLOSE_LIBRARY},
	{GO, "timer.Next", QZ_CLOSE_OWN},
	/* a clone that gcc has made of a C procedure */
	{C, "time.part.0", QZ_CLOSE_OWN},
	{C, "sort", QZ_CLOSE_OWN},
	{C, "main", QZ_CLOSE_NOT},
	{C, "_start", QZ_CLOSE_NOT},
	{C, "std::sort<int*>(int*, int*)", QZ_CLOSE_LIBRARY},
	{C, "<alloc::vec::Vec<T> as core::ops::Drop>::drop", QZ_CLOSE_LIBRARY},
	{C, "<solver::Matrix as core::ops::Drop>::drop", QZ_CLOSE_OWN},
	{"[jit]", "JS:handle /srv/app.js:4:15", QZ_CLOSE_OWN},
	{"[jit]", "py::handle:/srv/app.py", QZ_CLOSE_OWN},
	{"[jit]", "Builtins_LoadIC", QZ_CLOSE_NOT},
	{"[jit]", "[unknown]", QZ_CLOSE_NOT},
	{"[jit]", "JS:emit node:events:466:44", QZ_CLOSE_LIBRARY},
	{"[jit]", "long Work.burn(long)", QZ_CLOSE_OWN},
	{"[jit]", "void sunny.Day.run(java.lang.Object)", QZ_CLOSE_OWN},
	{"[jit]", "void java.lang.Thread.run()", QZ_CLOSE_LIBRARY},
	{"[jit]", "Interpreter", QZ_CLOSE_NOT},
	{"[jit]", "StubRoutines (1)", QZ_CLOSE_NOT},
	{"[jit]", "_complete_monitor_locking_Java", QZ_CLOSE_NOT},
	{"[jit]", "monitorenter Runtime1 stub", QZ_CLOSE_NOT},
	{"/usr/bin/node", "node::Start(int, char**)", QZ_CLOSE_LIBRARY},
	{"/usr/bin/python3.11", "_PyEval_EvalFrameDefault", QZ_CLOSE_LIBRARY},
	{"/opt/node_exporter", "collect", QZ_CLOSE_OWN},
	{"/usr/lib/libz.so.1", "deflate", QZ_CLOSE_LIBRARY},
	{"[kernel]", "do_syscall_64", QZ_CLOSE_NOT},
};
#define NKNOWN ((uint32_t)(sizeof(known) / sizeof(known[0])))

START_TEST(own_code_is_told_from_libraries)
{
	struct qz_procedure procedures[NKNOWN];
	struct qz_profile p = {.procedures = procedures, .nprocedures = NKNOWN};
	enum qz_closeness *all;

	for (uint32_t i = 0; i < NKNOWN; i++)
		procedures[i] = (struct qz_procedure) {.name = (char *)known[i].name,
						       .module = (char *)known[i].module};
	all = qz_closeness__of(&p);
	ck_assert_ptr_nonnull(all);
	for (uint32_t i = 0; i < NKNOWN; i++)
		ck_assert_msg(all[i] == known[i].close, "%s is %u", known[i].name, all[i]);
	free(all);
}
END_TEST

Suite *suite_closeness(void)
{
	Suite *s = suite_create("closeness");
	TCase *tc = tcase_create("all");

	tcase_add_test(tc, own_code_is_told_from_libraries);
	suite_add_tcase(s, tc);
	return s;
}
