/* Every plugin that was found and loaded, by path and by stage id.  Nothing is ever unloaded: dlclose crashes while a
 * callback or a thread-local destructor is pending.  All functions belong to the calling thread, one thread at a time. */
#ifndef RKB_PLUGIN_REGISTRY_H
#define RKB_PLUGIN_REGISTRY_H

#include <stdint.h>
#include <rkb/plugin.h>
#include <rkb/strategy.h>
#include "base/problems.h"

typedef struct rkb_registry rkb_registry_t; /* every plugin that was loaded; nothing is ever unloaded */

typedef struct rkb_registry_object {
   const char *path; /* absolute */
   const rkb_plugin_t *plugin;
   const char *hash; /* rkb_registry_hash gives it; NULL: nobody asked yet */
} rkb_registry_object_t;

/* What a descriptor lists in needs; NULL where it was compiled before there was such a member. */
#define RKB_NEEDS(descriptor) (RKB_HAS((descriptor), needs) ? (descriptor)->needs : NULL)

/* Loads, in this order, everything in: first (NULL-terminated files and directories: the pipeline's "plugins:", already
 * absolute), paths (--plugin-path), RKB_PLUGIN_PATH (colon-separated), and the build's or installation's directory.
 * A directory gives its *.so and those of its direct subdirectories, by name.  The same file twice counts once.  A bad
 * object becomes a warning in problems, one sentence, and is left out; two objects with one stage id are an error that
 * names both.  first and paths may be NULL.  Never NULL. */
rkb_registry_t *rkb_registry_open(const char *const *first, const char *const *paths,
                                  rkb_problems_t *problems);
void rkb_registry_free(rkb_registry_t *registry); /* the objects stay mapped */
uint32_t rkb_registry_count(const rkb_registry_t *registry);
const rkb_registry_object_t *rkb_registry_at(const rkb_registry_t *registry, uint32_t index);
/* 64 hex digits of SHA-256 over the bytes of the object's file, which is read when somebody first asks: most commands never do.  NULL when it cannot be read any
 * more. */
const char *rkb_registry_hash(const rkb_registry_t *registry, const rkb_registry_object_t *object);
/* By stage or strategy id; NULL when there is none.  *object (or NULL) receives where it came from. */
const rkb_stage_t *rkb_registry_stage(const rkb_registry_t *registry, const char *id,
                                      const rkb_registry_object_t **object);
const rkb_strategy_t *rkb_registry_strategy(const rkb_registry_t *registry, const char *id,
                                            const rkb_registry_object_t **object);
/* The id that ends with what was written ("lint"), or the nearest to it, or NULL. */
const char *rkb_registry_nearest(const rkb_registry_t *registry, const char *written);
const char *rkb_kind_name(uint32_t kind); /* "translator", ...; "" for no kind */

#endif
