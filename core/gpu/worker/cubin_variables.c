/* Reads the variables of a module from the symbol table of its cubin, an ELF file.  Owns nothing; any thread. */
#include "gpu/worker/cubin_variables.h"
#include <elf.h>
#include <string.h>

#define WRITABLE_SECTION ".nv.global" /* and ".nv.global.init", whose contents the cubin has */

typedef struct elf {
   const char *at;
   size_t bytes;
   Elf64_Ehdr head;
} elf_t;

static bool inside(const elf_t *elf, uint64_t offset, uint64_t bytes) {
   return offset <= elf->bytes && bytes <= elf->bytes - offset;
}

static bool read_head(elf_t *elf) {
   if (!inside(elf, 0, sizeof elf->head))
      return false;
   memcpy(&elf->head, elf->at, sizeof elf->head);
   return memcmp(elf->head.e_ident, ELFMAG, SELFMAG) == 0 && elf->head.e_ident[EI_CLASS] == ELFCLASS64 &&
          elf->head.e_ident[EI_DATA] == ELFDATA2LSB && elf->head.e_shentsize == sizeof(Elf64_Shdr) &&
          inside(elf, elf->head.e_shoff, (uint64_t)elf->head.e_shnum * sizeof(Elf64_Shdr));
}

static bool read_section(const elf_t *elf, uint32_t number, Elf64_Shdr *section) {
   if (number >= elf->head.e_shnum)
      return false;
   memcpy(section, elf->at + elf->head.e_shoff + number * sizeof *section, sizeof *section);
   return section->sh_type == SHT_NOBITS || inside(elf, section->sh_offset, section->sh_size);
}

/* The text at `offset` of a section of strings; NULL when it has no end there. */
static const char *text_of(const elf_t *elf, uint32_t section, uint64_t offset) {
   Elf64_Shdr strings;
   if (!read_section(elf, section, &strings) || strings.sh_type != SHT_STRTAB || offset >= strings.sh_size)
      return NULL;
   const char *text = elf->at + strings.sh_offset + offset;
   return memchr(text, '\0', strings.sh_size - offset) ? text : NULL;
}

static bool is_writable(const elf_t *elf, const Elf64_Shdr *section) {
   const char *name = text_of(elf, elf->head.e_shstrndx, section->sh_name);
   return name && (section->sh_flags & SHF_WRITE) &&
          strncmp(name, WRITABLE_SECTION, strlen(WRITABLE_SECTION)) == 0;
}

static bool read_variable(const elf_t *elf, uint32_t names, const Elf64_Sym *symbol,
                          rkb_cubin_variable_t *v) {
   Elf64_Shdr section;
   if (ELF64_ST_TYPE(symbol->st_info) != STT_OBJECT || symbol->st_size == 0 ||
       !read_section(elf, symbol->st_shndx, &section) || !is_writable(elf, &section) ||
       symbol->st_value > section.sh_size || symbol->st_size > section.sh_size - symbol->st_value)
      return false;
   *v = (rkb_cubin_variable_t){.name = text_of(elf, names, symbol->st_name),
                               .zeroed = section.sh_type == SHT_NOBITS};
   return v->name && v->name[0];
}

uint32_t rkb_cubin_variables(const void *cubin, size_t bytes, rkb_cubin_variable_t *list, uint32_t most) {
   elf_t elf = {.at = cubin, .bytes = bytes};
   uint32_t count = 0;
   if (!read_head(&elf))
      return 0;
   for (uint32_t i = 0; i < elf.head.e_shnum; i++) {
      Elf64_Shdr table;
      if (!read_section(&elf, i, &table) || table.sh_type != SHT_SYMTAB ||
          table.sh_entsize != sizeof(Elf64_Sym))
         continue;
      for (uint64_t k = 0; k < table.sh_size / sizeof(Elf64_Sym); k++) {
         Elf64_Sym symbol;
         rkb_cubin_variable_t variable;
         memcpy(&symbol, elf.at + table.sh_offset + k * sizeof symbol, sizeof symbol);
         if (!read_variable(&elf, table.sh_link, &symbol, &variable))
            continue;
         if (count < most)
            list[count] = variable;
         count++;
      }
   }
   return count;
}
