/* The dynamic symbol table of an ELF64 object (System V gABI, chapters 4 and 5; elf(5)).  Pure but for reading the file. */
#include "tools/plugin_test/symbols.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "base/file.h"

#define MAX_OBJECT_BYTES ((size_t)256 << 20)
enum { MAX_NAMED = 5 };

typedef struct object {
   const char *bytes;
   size_t length;
   const Elf64_Shdr *sections;
   unsigned section_count;
} object_t;

static bool inside(const object_t *object, uint64_t offset, uint64_t size) {
   return offset <= object->length && size <= object->length - offset;
}

static bool object_open(object_t *object) {
   const Elf64_Ehdr *head = (const Elf64_Ehdr *)object->bytes;
   if (object->length < sizeof *head || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
       head->e_ident[EI_CLASS] != ELFCLASS64 || head->e_type != ET_DYN ||
       head->e_shentsize != sizeof(Elf64_Shdr) || head->e_shoff % sizeof(uint64_t) != 0 ||
       !inside(object, head->e_shoff, (uint64_t)head->e_shnum * sizeof(Elf64_Shdr)))
      return false;
   object->sections = (const Elf64_Shdr *)(object->bytes + head->e_shoff);
   object->section_count = head->e_shnum;
   return true;
}

static const Elf64_Shdr *section_of(const object_t *object, uint32_t type) {
   for (unsigned i = 0; i < object->section_count; i++)
      if (object->sections[i].sh_type == type &&
          inside(object, object->sections[i].sh_offset, object->sections[i].sh_size))
         return &object->sections[i];
   return NULL;
}

/* A name from the string table that belongs to a section; NULL when it does not end inside it. */
static const char *name_at(const object_t *object, const Elf64_Shdr *section, uint32_t offset) {
   const Elf64_Shdr *names;
   if (section->sh_link >= object->section_count)
      return NULL;
   names = &object->sections[section->sh_link];
   if (!inside(object, names->sh_offset, names->sh_size) || offset >= names->sh_size)
      return NULL;
   const char *name = object->bytes + names->sh_offset + offset;
   return memchr(name, '\0', names->sh_size - offset) ? name : NULL;
}

static bool is_exported(const Elf64_Sym *symbol) {
   unsigned binding = ELF64_ST_BIND(symbol->st_info), visibility = ELF64_ST_VISIBILITY(symbol->st_other);
   return symbol->st_shndx != SHN_UNDEF && binding != STB_LOCAL &&
          (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static void check_exports(const object_t *object, report_t *report) {
   const Elf64_Shdr *table = section_of(object, SHT_DYNSYM);
   const Elf64_Sym *symbols = table ? (const Elf64_Sym *)(object->bytes + table->sh_offset) : NULL;
   size_t count = table ? table->sh_size / sizeof *symbols : 0;
   char others[256] = "";
   bool has_entry = false;
   int named = 0;
   for (size_t i = 0; i < count; i++) {
      const char *name = name_at(object, table, symbols[i].st_name);
      if (!name || !is_exported(&symbols[i]))
         continue;
      if (strcmp(name, "rkb_plugin_entry") == 0) {
         has_entry = true;
         continue;
      }
      if (named++ < MAX_NAMED)
         snprintf(others + strlen(others), sizeof others - strlen(others), "%s%.40s", named == 1 ? "" : ", ",
                  name);
   }
   if (!has_entry)
      report_broken(report, "it exports no rkb_plugin_entry: define it with RKB_EXPORT");
   else if (named > 0)
      report_broken(
         report,
         "it exports %d symbols besides rkb_plugin_entry (%s): compile with -fvisibility=hidden and link "
         "with -Wl,--exclude-libs,ALL",
         named, others);
   else
      report_kept(report, "it exports rkb_plugin_entry and nothing else");
}

static void check_flags(const object_t *object, report_t *report) {
   const Elf64_Shdr *table = section_of(object, SHT_DYNAMIC);
   const Elf64_Dyn *entries = table ? (const Elf64_Dyn *)(object->bytes + table->sh_offset) : NULL;
   size_t count = table ? table->sh_size / sizeof *entries : 0;
   for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++)
      if (entries[i].d_tag == DT_FLAGS_1 && (entries[i].d_un.d_val & DF_1_NODELETE)) {
         report_kept(report, "it stays mapped until the program ends");
         return;
      }
   report_broken(report, "it may be unmapped while a callback of it is pending: link with -Wl,-z,nodelete");
}

void symbols_check(const char *path, report_t *report) {
   rkb_error_t err;
   char *bytes = NULL;
   object_t object = {.bytes = NULL};
   if (rkb_file_read(path, MAX_OBJECT_BYTES, &bytes, &object.length, &err) != RKB_OK) {
      report_broken(report, "%s", err.message);
      return;
   }
   object.bytes = bytes;
   if (!object_open(&object)) {
      report_broken(report, "%s is not a 64-bit ELF shared object", path);
   } else {
      check_exports(&object, report);
      check_flags(&object, report);
   }
   free(bytes);
}
