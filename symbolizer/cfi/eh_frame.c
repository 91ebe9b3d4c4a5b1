/* SPDX-License-Identifier: GPL-2.0-only */
#include "symbolizer/cfi/eh_frame.h"

#include <errno.h>
#include <dwarf.h>
#include <gelf.h>

#define ENCODING_FORM	  0x0f
#define ENCODING_BASE	  0x70
#define ENCODING_INDIRECT 0x80
#define LENGTH_64_BIT	  0xffffffffU
#define MAX_LETTERS	  8 /* of an augmentation; 5 different ones exist */

/* ---- encoded addresses ---- */

static bool read_signed(struct byte_reader *r, size_t size, uint64_t *value)
{
	unsigned int unused = 64 - 8 * (unsigned int)size;

	if (!byte_reader__number(r, size, value))
		return false;
	*value = (uint64_t)((int64_t)(*value << unused) >> unused);
	return true;
}

static bool read_form(struct byte_reader *r, uint8_t encoding, uint64_t *value)
{
	switch (encoding & ENCODING_FORM) {
	case DW_EH_PE_absptr:
	case DW_EH_PE_udata8:
	case DW_EH_PE_sdata8:
		return byte_reader__number(r, 8, value);
	case DW_EH_PE_udata4:
		return byte_reader__number(r, 4, value);
	case DW_EH_PE_udata2:
		return byte_reader__number(r, 2, value);
	case DW_EH_PE_sdata4:
		return read_signed(r, 4, value);
	case DW_EH_PE_sdata2:
		return read_signed(r, 2, value);
	case DW_EH_PE_uleb128:
		return byte_reader__uleb128(r, value);
	case DW_EH_PE_sleb128:
		return byte_reader__sleb128(r, (int64_t *)value);
	default:
		return false;
	}
}

static bool read_address(const struct eh_frame_section *s, struct byte_reader *r, uint8_t encoding,
			 uint64_t *address)
{
	uint64_t where = s->vaddr + (uint64_t)(r->at - s->bytes);

	if (encoding & ENCODING_INDIRECT || !read_form(r, encoding, address))
		return false;
	switch (encoding & ENCODING_BASE) {
	case DW_EH_PE_absptr:
		return true;
	case DW_EH_PE_pcrel:
		*address += where;
		return true;
	case DW_EH_PE_datarel:
		*address += s->data;
		return s->data;
	default:
		return false;
	}
}

/* ---- sections ---- */

static uint64_t section_vaddr(const struct elf_file *f, const char *name)
{
	Elf_Scn *section = elf_file__section_by_name(f, name);
	GElf_Shdr sh;

	return section && gelf_getshdr(section, &sh) ? sh.sh_addr : 0;
}

/* Files without section headers still have .eh_frame_hdr, which points at .eh_frame. */
static int find_by_header(const struct elf_file *f, struct eh_frame_section *s)
{
	struct eh_frame_section header = {0};
	const struct elf_segment *segment = NULL;
	uint64_t room;
	struct byte_reader r;
	size_t size;

	if (!f->frame_hdr || !elf_file__vaddr(f, f->frame_hdr, &header.vaddr))
		return -ENODATA;
	header.bytes = elf_file__bytes(f, header.vaddr, 12, &size);
	if (!header.bytes || size < 12 || header.bytes[0] != 1)
		return -ENODATA;
	r = (struct byte_reader) {header.bytes + 4, header.bytes + size};
	if (!read_address(&header, &r, header.bytes[1], &s->vaddr))
		return -ENODATA;
	for (size_t i = 0; i < f->nsegments; i++)
		if (s->vaddr >= f->segments[i].vaddr &&
		    s->vaddr - f->segments[i].vaddr < f->segments[i].filesz)
			segment = &f->segments[i];
	if (!segment)
		return -ENODATA;
	s->until_zero = true;
	room = segment->filesz - (s->vaddr - segment->vaddr);
	if (room > FRAME_MAX_SIZE)
		room = FRAME_MAX_SIZE;
	s->bytes = elf_file__bytes(f, s->vaddr, room, &s->size);
	return s->bytes ? 0 : -ENODATA;
}

/* Decompresses a section, unless it claims to be too large. */
static int decompress(Elf_Scn *section)
{
	GElf_Chdr header;

	if (!gelf_getchdr(section, &header))
		return -ENOEXEC;
	if (header.ch_size > FRAME_MAX_SIZE)
		return -E2BIG;
	return elf_compress(section, 0, 0) < 0 ? -ENOEXEC : 0;
}

int eh_frame__find(const struct elf_file *f, enum frame_kind kind, struct eh_frame_section *s)
{
	const char *name = kind == FRAME_EH ? ".eh_frame" : ".debug_frame";
	Elf_Scn *section = elf_file__section_by_name(f, name);
	Elf_Data *data;
	GElf_Shdr sh;
	int err;

	*s = (struct eh_frame_section) {.kind = kind};
	if (!section)
		return kind == FRAME_EH ? find_by_header(f, s) : -ENODATA;
	if (!gelf_getshdr(section, &sh))
		return -ENOEXEC;
	if (sh.sh_size > FRAME_MAX_SIZE)
		return -E2BIG;
	err = sh.sh_flags & SHF_COMPRESSED ? decompress(section) : 0;
	if (err)
		return err;
	data = sh.sh_flags & SHF_COMPRESSED ? elf_getdata(section, NULL)
					    : elf_rawdata(section, NULL);
	if (!data)
		return -ENOEXEC;
	if (!data->d_buf || !data->d_size)
		return -ENODATA;
	s->bytes = data->d_buf;
	s->size = data->d_size;
	s->vaddr = sh.sh_addr;
	s->data = section_vaddr(f, ".got.plt");
	if (!s->data)
		s->data = section_vaddr(f, ".got");
	return 0;
}

/* ---- entries ---- */

/*
 * Reads the position of an FDE's CIE: relative to this field in .eh_frame, from the start of the
 * section in .debug_frame.
 */
static bool read_owner(const struct eh_frame_section *s, struct eh_frame_entry *entry, bool wide)
{
	size_t here = (size_t)(entry->body.at - s->bytes), size = 4;
	uint64_t id, none = 0;

	if (s->kind == FRAME_DEBUG) {
		size = wide ? 8 : 4;
		none = wide ? DW_CIE_ID_64 : DW_CIE_ID_32;
	}
	if (!byte_reader__number(&entry->body, size, &id))
		return false;
	entry->is_cie = id == none;
	if (entry->is_cie)
		return true;
	if (id > (s->kind == FRAME_EH ? here : s->size))
		return false;
	entry->cie = s->kind == FRAME_EH ? here - (size_t)id : (size_t)id;
	return true;
}

static bool read_entry(const struct eh_frame_section *s, size_t at, struct eh_frame_entry *entry)
{
	struct byte_reader r = {s->bytes + at, s->bytes + s->size};
	uint64_t length;
	bool wide;

	if (at >= s->size || !byte_reader__number(&r, 4, &length) || length == 0)
		return false;
	wide = length == LENGTH_64_BIT;
	if ((wide && !byte_reader__number(&r, 8, &length)) || length > byte_reader__left(&r))
		return false;
	r.end = r.at + length;
	entry->at = at;
	entry->next = (size_t)(r.end - s->bytes);
	entry->body = r;
	return read_owner(s, entry, wide);
}

/* A length of 0 ends the entries of one object file; the linker may have placed others after it. */
bool eh_frame__entry(const struct eh_frame_section *s, size_t at, struct eh_frame_entry *entry)
{
	static const uint8_t zero[4];

	while (!s->until_zero && at < s->size && s->size - at >= sizeof(zero) &&
	       memcmp(s->bytes + at, zero, sizeof(zero)) == 0)
		at += sizeof(zero);
	return read_entry(s, at, entry);
}

/* The letters of the augmentation say which data follow. */
static bool read_augmentation(struct byte_reader *r, const char *letters, struct eh_frame_cie *cie)
{
	struct byte_reader data = *r;
	uint64_t length, ignored;
	uint8_t encoding;

	if (!byte_reader__uleb128(&data, &length) || length > byte_reader__left(&data))
		return false;
	r->at = data.at + length;
	data.end = r->at;
	for (; *letters; letters++) {
		switch (*letters) {
		case 'R':
			if (!byte_reader__bytes(&data, &cie->encoding, 1))
				return false;
			break;
		case 'P':
			if (!byte_reader__bytes(&data, &encoding, 1) ||
			    !read_form(&data, encoding, &ignored))
				return false;
			break;
		case 'L':
			if (!byte_reader__skip(&data, 1))
				return false;
			break;
		case 'S': /* a signal frame */
		case 'B': /* aarch64: how return addresses are signed */
			break;
		default:
			return false;
		}
	}
	return true;
}

/* DWARF 4 has the size of addresses; only that of this machine is accepted. */
static bool read_address_size(struct byte_reader *r)
{
	uint8_t sizes[2];

	return byte_reader__bytes(r, sizes, sizeof(sizes)) && sizes[0] == 8 && sizes[1] == 0;
}

bool eh_frame__cie(const struct eh_frame_section *s, size_t at, struct eh_frame_cie *cie)
{
	struct eh_frame_entry entry;
	struct byte_reader *r = &entry.body;
	const char *letters;
	uint8_t version;
	size_t n;

	*cie = (struct eh_frame_cie) {.encoding = DW_EH_PE_absptr};
	if (!read_entry(s, at, &entry) || !entry.is_cie || !byte_reader__bytes(r, &version, 1))
		return false;
	letters = (const char *)r->at;
	n = strnlen(letters,
		    byte_reader__left(r) < MAX_LETTERS ? byte_reader__left(r) : MAX_LETTERS);
	if (!byte_reader__skip(r, n + 1) || letters[n] != '\0')
		return false;
	if (version != 1 && version != 3 && (version != 4 || !read_address_size(r)))
		return false;
	if (!byte_reader__uleb128(r, &cie->code_factor) ||
	    !byte_reader__sleb128(r, &cie->data_factor))
		return false;
	if (version == 1 ? !byte_reader__number(r, 1, &cie->return_address)
			 : !byte_reader__uleb128(r, &cie->return_address))
		return false;
	cie->augmented = letters[0] == 'z';
	/* GNU as writes a bare S into .debug_frame. */
	if (cie->augmented ? !read_augmentation(r, letters + 1, cie)
			   : letters[strspn(letters, "S")])
		return false;
	cie->instructions = *r;
	return true;
}

bool eh_frame__fde(const struct eh_frame_section *s, const struct eh_frame_entry *entry,
		   const struct eh_frame_cie *cie, struct eh_frame_fde *fde)
{
	struct byte_reader r = entry->body;
	uint64_t size, length;

	if (!read_address(s, &r, cie->encoding, &fde->start) ||
	    !read_form(&r, cie->encoding, &size) || size == 0 || fde->start + size < fde->start)
		return false;
	fde->end = fde->start + size;
	if (cie->augmented &&
	    (!byte_reader__uleb128(&r, &length) || !byte_reader__skip(&r, length)))
		return false;
	fde->instructions = r;
	return true;
}
