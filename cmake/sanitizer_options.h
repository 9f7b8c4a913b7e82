/* What the address sanitizer does unless ASAN_OPTIONS says otherwise: it keeps fewer frames of each allocation and holds back less freed
 * memory.  Its own defaults (30 frames, 256 MiB) are much of what a short process costs, and helpers start with an empty environment,
 * so no variable would reach them.  It checks as much as before, but finds a use after free only until 4 MiB more have been freed.
 * The preset asan includes this into every source; the linker keeps one of the definitions, and the sanitizer calls it before main. */
#ifdef __has_feature
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1 /* as gcc says it; clang before 21 has no macro for it */
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
#ifdef __cplusplus
extern "C" {
#endif

__attribute__((weak, used, visibility("default"), no_sanitize("address", "undefined"))) const char *__asan_default_options(void) {
   return "malloc_context_size=4:quarantine_size_mb=4";
}

#ifdef __cplusplus
}
#endif
#endif
