/* A cubin as the worker reads it: three variables in two sections, and nothing else.  A test may damage it. */
#ifndef TESTS_GPU_WORKER_CUBIN_DOUBLE_H
#define TESTS_GPU_WORKER_CUBIN_DOUBLE_H

#include <elf.h>

enum { SECTION_NAMES = 1, SYMBOL_NAMES, SYMBOLS, ZEROS, STARTED, SECTIONS };

/* The layout of the file. */
typedef struct cubin {
   Elf64_Ehdr head;
   Elf64_Shdr sections[SECTIONS];
   Elf64_Sym symbols[4];
   char section_names[32], symbol_names[32];
   unsigned started;
} cubin_t;

static inline cubin_t cubin_of_double(void) {
#define AT(field) offsetof(cubin_t, field)
#define OBJECT(name, section, offset)                                                                        \
   { name, ELF64_ST_INFO(STB_LOCAL, STT_OBJECT), STV_DEFAULT, section, offset, sizeof(unsigned) }
   return (cubin_t){
      .head = {.e_ident = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
               .e_shoff = AT(sections),
               .e_shentsize = sizeof(Elf64_Shdr),
               .e_shnum = SECTIONS,
               .e_shstrndx = SECTION_NAMES},
      .sections =
         {[SECTION_NAMES] = {.sh_type = SHT_STRTAB, .sh_offset = AT(section_names), .sh_size = 32},
          [SYMBOL_NAMES] = {.sh_type = SHT_STRTAB, .sh_offset = AT(symbol_names), .sh_size = 32},
          [SYMBOLS] = {.sh_type = SHT_SYMTAB,
                       .sh_link = SYMBOL_NAMES,
                       .sh_offset = AT(symbols),
                       .sh_size = 4 * sizeof(Elf64_Sym),
                       .sh_entsize = sizeof(Elf64_Sym)},
          [ZEROS] = {.sh_name = 1, .sh_type = SHT_NOBITS, .sh_flags = SHF_ALLOC | SHF_WRITE, .sh_size = 8},
          [STARTED] = {.sh_name = 12,
                       .sh_type = SHT_PROGBITS,
                       .sh_flags = SHF_ALLOC | SHF_WRITE,
                       .sh_offset = AT(started),
                       .sh_size = 4}},
      .symbols = {{0}, OBJECT(1, ZEROS, 0), OBJECT(10, ZEROS, 4), OBJECT(16, STARTED, 0)},
      .section_names = "\0.nv.global\0.nv.global.init",
      .symbol_names = "\0launches\0turns\0started",
      .started = 40};
#undef AT
#undef OBJECT
}

#endif
