# SPDX-License-Identifier: GPL-2.0-only
# cli: quartzctl, a reader of profiles.
CLI_SRC := cli/main.c cli/options.c cli/output.c cli/columns.c cli/names.c \
           cli/source.c cli/history.c cli/live.c cli/scopes.c \
           cli/view.c cli/report.c cli/section.c cli/summary.c cli/ranking.c cli/objects.c cli/threads.c \
           cli/procedure.c cli/procedure_json.c cli/bars.c cli/states.c \
           cli/object.c cli/objects_json.c cli/woken.c cli/together.c cli/together_json.c cli/waiting.c \
           cli/ps.c cli/top.c cli/screen.c cli/control.c cli/record.c cli/checks.c cli/doctor.c cli/events.c cli/stacks.c cli/version.c
PROGRAMS += $(O)/quartzctl

$(O)/quartzctl: $(CLI_SRC:%.c=$(O)/%.o) $(CORE_LIB)
	$(call link,$(CORE_LIBS) -lncursesw -ltinfo)
