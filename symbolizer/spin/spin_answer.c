/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/spin/spin_answer.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

/* Code of a module, read from its file, not from the memory of the process. */
struct source {
	const struct module *module;
	int fd;
};

static bool find_range(void *context, uint64_t vaddr, uint64_t *start, uint64_t *end)
{
	const struct source *s = context;
	const struct elf_code *code = elf_file__code(module__file(s->module), vaddr);

	if (!code)
		return false;
	*start = code->start;
	*end = code->end;
	return true;
}

static size_t read_code(void *context, uint64_t vaddr, uint8_t *to, size_t size)
{
	const struct source *s = context;
	uint64_t offset;
	ssize_t n;

	if (!elf_file__offset(module__file(s->module), vaddr, &offset))
		return 0;
	n = pread(s->fd, to, size, (off_t)offset);
	return n < 0 ? 0 : (size_t)n;
}

/* Whether a procedure is sched_yield, or a stub that jumps to it. */
static bool yields(void *context, uint64_t vaddr)
{
	static const char *const names[] = {"sched_yield", "__sched_yield", "pthread_yield",
					    "thrd_yield"};
	const struct source *s = context;
	const struct procedure *p = module__procedure(s->module, vaddr);
	size_t length;

	if (!p || !p->name || p->start != vaddr)
		return false;
	length = strcspn(p->name, "@");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strlen(names[i]) == length && !memcmp(p->name, names[i], length))
			return true;
	return false;
}

/* Makes the classifier when it is first needed; all modules have the same architecture. */
static struct spin *find_spin(struct spin_answer_writer *w, uint16_t machine)
{
	if (!w->spin && !w->unable) {
		w->spin = spin__new(machine);
		w->machine = machine;
		w->unable = !w->spin;
	}
	return w->machine == machine ? w->spin : NULL;
}

static void classify(struct spin_answer_writer *w, const struct module *m, int fd, uint64_t address,
		     uint64_t vaddr, struct spin_code *code)
{
	struct source s = {m, fd};
	struct code_source source = {&s, find_range, read_code, yields};
	const struct procedure *p = module__procedure(m, vaddr);
	struct spin *spin = find_spin(w, module__file(m)->machine);

	if (!spin)
		return;
	spin__classify(spin, &source, vaddr, p ? p->start : 0, p ? p->end : 0, code);
	if (code->base == QZ_SPIN_FIXED)
		code->at += address - vaddr;
	if (code->operand.flags & QZ_OPERAND_CODE)
		code->operand.at += address - vaddr;
	if (code->end) {
		code->start += address - vaddr;
		code->end += address - vaddr;
	}
}

/* Writes the procedure of a record; its addresses are in the unit of the request. */
static void describe_procedure(struct spin_answer_writer *w, const struct module *m,
			       uint64_t address, uint64_t vaddr, struct spin_record *record)
{
	const struct procedure *p = module__procedure(m, vaddr);

	if (!p)
		return;
	record->procedure_start = address - (vaddr - p->start);
	record->procedure_end = record->procedure_start + (p->end - p->start);
	if (p->name)
		module__name(m, p, &w->name);
}

void spin_answer__write(struct spin_answer_writer *w, const struct module *m, int fd,
			const uint64_t *addresses, uint32_t n, size_t room)
{
	const struct elf_file *file = module__file(m);

	w->n = w->text_size = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct spin_record record = {.name = w->text_size};
		uint64_t vaddr = addresses[i];
		size_t size;

		name__set(&w->name, "");
		if (!file || elf_file__vaddr(file, addresses[i], &vaddr)) {
			describe_procedure(w, m, addresses[i], vaddr, &record);
			if (file)
				classify(w, m, fd, addresses[i], vaddr, &record.code);
		}
		size = w->name.length + 1;
		if ((w->n + 1) * sizeof(record) + w->text_size + size > room)
			break;
		memcpy(w->text + w->text_size, w->name.text, size);
		w->text_size += (uint32_t)size;
		w->records[w->n++] = record;
	}
}
