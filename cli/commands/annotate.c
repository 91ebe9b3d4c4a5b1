/* SPDX-License-Identifier: GPL-2.0-only */
/* annotate: the source lines, or the instructions, that a procedure's own time went to. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/query/interval.h"
#include "cli/code/annotation.h"
#include "cli/code/excerpt.h"
#include "cli/code/origin.h"
#include "cli/query/view.h"
#include "cli/render/cells.h"
#include "cli/render/output.h"
#include "cli/render/scope_label.h"
#include "core/format/json_fields.h"
#include "core/report/report_json.h"
#include "core/util/vec.h"

/* What one scope shows. */
struct section {
	struct annotation annotation;
	struct disassembly assembly;
};

static void free_section(struct section *s)
{
	qz_code_times__free(s->annotation.times, s->annotation.n);
	for (uint32_t i = 0; i < s->annotation.nfiles; i++)
		source_file__free(&s->annotation.files[i].source);
	free(s->annotation.files);
	disassembly__free(&s->assembly);
}

/* ---- what is missing ---- */

static const struct qz_procedure *procedure_of(const struct view *v, uint32_t i)
{
	return &v->profile->procedures[v->rows[i]->procedure];
}

static const char *build_id_of(const struct view *v, uint32_t i)
{
	uint32_t mapping = origin__mapping(v->reports[i], v->rows[i]->procedure);

	return mapping == QZ_NONE ? "" : v->profile->mappings[mapping].build_id;
}

static enum status complain_no_time(const struct view *v, uint32_t i)
{
	char *name = names__format(v->names, v->rows[i]->procedure);

	complain("'%s' has no time of its own, only that of what it calls: 'quartzctl report %s' "
		 "shows it",
		 name ? name : "?", name ? name : "?");
	free(name);
	return STATUS_NO_SAMPLES;
}

static enum status complain_no_lines(const struct view *v, uint32_t i)
{
	const struct qz_procedure *p = procedure_of(v, i);
	char *name = names__format(v->names, v->rows[i]->procedure);
	char *module = output__escape(p->module), *hint = NULL;

	if (!qz_code_times__any_line(v->profile) && !v->profile->addresses_sampled) {
		complain("this profile has no source lines: record with --lines");
	} else if (!strcmp(p->module, "[kernel]") || !strcmp(p->module, "[jit]") ||
		   qz_procedure__is_interpreted(p)) {
		complain("'%s' has no source lines: it is code of %s", name ? name : "?", module);
	} else {
		hint = origin__debug_hint(p->module, build_id_of(v, i));
		complain("'%s' has no source lines: %s has no debug information; %s, then record "
			 "with --lines; --asm works without",
			 name ? name : "?", module ? module : "?", hint ? hint : "");
	}
	free(hint);
	free(module);
	free(name);
	return STATUS_NO_SAMPLES;
}

/* Not a failure: the lines have their figures without it. */
static void complain_no_source(const struct view *v, uint32_t i, const char *file, const char *path,
			       int err)
{
	const struct qz_procedure *p = procedure_of(v, i);
	char *name = output__escape(path ? path : file);
	char *hint = origin__source_hint(p->module, build_id_of(v, i), file);

	complain("no source text: cannot read '%s': %s; --source-dir DIR says where it is, "
		 "--strip-prefix PREFIX what to cut off its name%s",
		 name ? name : "?", source_file__error(err), hint ? hint : "");
	free(hint);
	free(name);
}

static void complain_newer(const char *path)
{
	char *name = output__escape(path);

	complain("'%s' has changed since this was measured: its lines may be others",
		 name ? name : "?");
	free(name);
}

/* ---- sections ---- */

/* The times are in the order of their files. Where no line is known, there is no file to read. */
static int find_files(struct annotation *a)
{
	for (uint32_t i = 0; i < a->n; i++) {
		if (!a->times[i].line)
			continue;
		if (!a->nfiles || a->times[i].part != a->files[a->nfiles - 1].part) {
			if (qz_array__reserve((void **)&a->files, a->nfiles, sizeof(*a->files)))
				return -ENOMEM;
			a->files[a->nfiles++] =
				(struct annotated_file) {.part = a->times[i].part, .first = i};
		}
		a->files[a->nfiles - 1].n++;
	}
	return 0;
}

static enum status open_source(const struct view *v, uint32_t i, struct annotated_file *f,
			       const char *file)
{
	struct source_file *source = &f->source;
	int err = source_file__read(source, v->config, file, v->profile->wall_start_ns);

	if (err == -ENOMEM)
		return out_of_memory();
	if (err)
		complain_no_source(v, i, file, source->path, err);
	else if (source->newer)
		complain_newer(source->path);
	return STATUS_OK;
}

static enum status open_lines(const struct view *v, uint32_t i, struct section *s)
{
	struct annotation *a = &s->annotation;
	enum status status = STATUS_OK;

	if (a->n == 1 && !a->times[0].line)
		return complain_no_lines(v, i);
	if (find_files(a))
		return out_of_memory();
	for (uint32_t k = 0; status == STATUS_OK && k < a->nfiles; k++)
		status = open_source(v, i, &a->files[k],
				     excerpt__file(v->reports[i], a, a->files[k].part));
	return status;
}

static enum status open_assembly(const struct view *v, uint32_t i, struct section *s)
{
	struct annotation *a = &s->annotation;
	uint32_t mapping = origin__mapping(v->reports[i], v->rows[i]->procedure), most = 0;
	enum status status;

	if (!v->profile->addresses_sampled) {
		complain("this profile has no addresses of instructions, only those of procedures: "
			 "record with --lines");
		return STATUS_NO_SAMPLES;
	}
	if (mapping == QZ_NONE) {
		complain("--asm needs a file: this procedure is code of the kernel, or made at run "
			 "time");
		return STATUS_FAILURE;
	}
	/* Inlined, it may be in several procedures of the file. */
	for (uint32_t k = 0; k < a->n; k++)
		if (a->times[k].mapping == mapping &&
		    (a->times[most].mapping != mapping ||
		     a->times[k].figure.cpu_ns > a->times[most].figure.cpu_ns))
			most = k;
	status = disassembly__read(&s->assembly, v->profile, mapping, a->times[most].address);
	a->assembly = &s->assembly;
	return status;
}

static enum status open_section(const struct view *v, uint32_t i, struct section *s)
{
	enum qz_code_unit unit = v->config->assembly ? QZ_CODE_INSTRUCTIONS : QZ_CODE_LINES;
	struct annotation *a = &s->annotation;

	*s = (struct section) {.annotation = {.row = v->rows[i]}};
	if (qz_code_times__of(v->reports[i], v->rows[i]->procedure, unit, &a->times, &a->n))
		return out_of_memory();
	if (!a->n)
		return STATUS_OK;
	return v->config->assembly ? open_assembly(v, i, s) : open_lines(v, i, s);
}

/* Prints one scope to an output, or adds it to a JSON array. */
typedef enum status show_section(const struct view *v, uint32_t i, const struct section *s,
				 void *to);

/* Where several are shown, each says which it is. */
static int print_scope(const struct view *v, uint32_t i, const struct output *out)
{
	char *label;

	if (v->n == 1)
		return 0;
	label = scope_label(&v->profile->scopes[v->scopes[i]], out->width - 1);
	if (!label)
		return -ENOMEM;
	fprintf(out->file, "%s%s\n", i ? "\n" : "", label);
	free(label);
	return 0;
}

static enum status show_text(const struct view *v, uint32_t i, const struct section *s, void *to)
{
	struct output *out = to;
	bool rough = false;
	struct scope_view view = {v->config, out,      v->reports[i],
				  NULL,	     v->names, cells__decimals(v->reports[i]),
				  &rough};

	return print_scope(v, i, out) || annotation__print(&view, &s->annotation) ? out_of_memory()
										  : STATUS_OK;
}

static enum status show_json(const struct view *v, uint32_t i, const struct section *s, void *to)
{
	uint32_t max = v->config->rows > 0 ? (uint32_t)v->config->rows : UINT32_MAX;

	return json_array_append_new(to, annotation__json(v->reports[i], &s->annotation, max))
		       ? out_of_memory()
		       : STATUS_OK;
}

static enum status show_all(const struct view *v, show_section *show, void *to)
{
	enum status status = STATUS_OK;
	uint32_t without = 0;
	bool any = false;

	for (uint32_t i = 0; status == STATUS_OK && i < v->n; i++) {
		struct section s;

		if (!v->rows[i])
			continue;
		status = open_section(v, i, &s);
		if (status == STATUS_OK && s.annotation.n)
			status = show(v, i, &s, to);
		any |= s.annotation.n;
		without = i;
		free_section(&s);
	}
	return status == STATUS_OK && !any ? complain_no_time(v, without) : status;
}

/* ---- documents ---- */

static enum status print_text(const struct view *v)
{
	struct output out;
	enum status status;

	output__open(&out, v->config);
	interval__print(out.file, v->profile);
	status = show_all(v, show_text, &out);
	output__close(&out);
	return status;
}

static enum status print_json(const struct view *v)
{
	json_t *root = json_object(), *scopes = json_array();
	enum status status = scopes ? show_all(v, show_json, scopes) : out_of_memory();
	bool failed =
		json_object_set_new(root, "schema", json_string("quartz.annotate/v1")) ||
		json_object_set_new(root, "processors", json_integer(v->profile->processors)) ||
		qz_report_json__add_rate(root, v->profile) ||
		json_object_set(root, "scopes", scopes);

	json_decref(scopes);
	if (status == STATUS_OK)
		return output__json(qz_json_fields__unless(failed, root), 1);
	json_decref(root);
	return status;
}

static enum status check_procedure(const struct view *v)
{
	for (uint32_t i = 0; i < v->n; i++)
		if (v->rows[i])
			return STATUS_OK;
	complain("'%s' is an object, and only procedures have lines", v->config->procedure);
	return STATUS_FAILURE;
}

static enum status annotate(const struct config *config)
{
	struct view v;
	enum status status = view__open(&v, config);

	if (status == STATUS_OK)
		status = check_procedure(&v);
	if (status == STATUS_OK)
		status = config->json ? print_json(&v) : print_text(&v);
	view__close(&v);
	return status;
}

static const char *find_misuse(const struct config *config)
{
	return config->assembly && (config->source_dir || config->strip_prefix)
		       ? "--asm shows no source text: not with --source-dir or --strip-prefix"
		       : NULL;
}

static const struct qz_option options[] = {
	{"asm", 0, QZ_OPTION_FLAG, FIELD(assembly), NULL,
	 "Show instructions instead of source lines; needs\nobjdump and the program's file."},
	{"source-dir", 0, QZ_OPTION_STRING, FIELD(source_dir), "DIR",
	 "Look for source files in DIR: under their whole\npath, or under the last parts of it."},
	{"strip-prefix", 0, QZ_OPTION_STRING, FIELD(strip_prefix), "PREFIX",
	 "Cut this directory off the names of source files."},
	{0},
};

const struct command cmd_annotate = {
	.name = "annotate",
	.operands = " PROCEDURE",
	.summary = "Show a procedure's source lines with their time",
	.details = "Needs a profile of 'quartzctl record --lines'.\n",
	.options = options,
	.shared = SHARED_SCOPE | SHARED_SOURCE | SHARED_PART | SHARED_FIGURES,
	.takes_procedure = true,
	.needs_procedure = true,
	.by_part = true,
	.find_misuse = find_misuse,
	.run = annotate,
};
