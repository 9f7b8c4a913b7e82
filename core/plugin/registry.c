/* The registry: every plugin that was found, by path and by stage id.  Owns the list; the objects themselves stay mapped
 * until the process ends, for dlclose with a callback or a thread-local destructor pending crashes.  Loop thread. */
#include "plugin/declaration_check.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/file.h"
#include "base/folder_names.h"
#include "base/hash.h"
#include "base/memory.h"
#include "base/nearest_name.h"
#include "base/trusted_path.h"

#define MAX_OBJECTS 1024
#define MAX_OBJECT_BYTES (256u << 20)

struct rkb_registry {
   rkb_registry_object_t *objects;
   uint32_t count, room;
};

static bool known(const rkb_registry_t *registry, const char *path) {
   for (uint32_t i = 0; i < registry->count; i++)
      if (strcmp(registry->objects[i].path, path) == 0)
         return true;
   return false;
}

const rkb_stage_t *rkb_registry_stage(const rkb_registry_t *registry, const char *id,
                                      const rkb_registry_object_t **object) {
   for (uint32_t i = 0; i < registry->count; i++) {
      const rkb_stage_t *const *stages = registry->objects[i].plugin->stages;
      for (; stages && *stages; stages++) {
         if (strcmp((*stages)->id, id) != 0)
            continue;
         if (object)
            *object = &registry->objects[i];
         return *stages;
      }
   }
   return NULL;
}

const rkb_strategy_t *rkb_registry_strategy(const rkb_registry_t *registry, const char *id,
                                            const rkb_registry_object_t **object) {
   for (uint32_t i = 0; i < registry->count; i++) {
      const rkb_strategy_t *const *strategies = registry->objects[i].plugin->strategies;
      for (; strategies && *strategies; strategies++) {
         if (strcmp((*strategies)->id, id) != 0)
            continue;
         if (object)
            *object = &registry->objects[i];
         return *strategies;
      }
   }
   return NULL;
}

/* Both objects are named, so that a person knows which one to take away.  Ids are one name space for stages and
 * strategies. */
static bool clashes(const rkb_registry_t *registry, const char *id, const char *path,
                    rkb_problems_t *problems) {
   const rkb_registry_object_t *other = NULL;
   if (!rkb_registry_stage(registry, id, &other))
      rkb_registry_strategy(registry, id, &other);
   if (!other)
      return false;
   rkb_problem(problems, (rkb_place_t){.file = path}, "%s is also in %s; take one of the two away", id,
               other->path);
   return true;
}

static bool any_clash(const rkb_registry_t *registry, const rkb_plugin_t *plugin, const char *path,
                      rkb_problems_t *problems) {
   bool clash = false;
   for (const rkb_stage_t *const *stages = plugin->stages; stages && *stages; stages++) {
      clash |= clashes(registry, (*stages)->id, path, problems);
      for (const rkb_stage_t *const *other = plugin->stages; other != stages; other++)
         if (strcmp((*other)->id, (*stages)->id) == 0) {
            clash = true;
            rkb_problem(problems, (rkb_place_t){.file = path},
                        "%s is twice in it; give one of them another name", (*stages)->id);
         }
   }
   for (const rkb_strategy_t *const *strategies = plugin->strategies; strategies && *strategies; strategies++)
      clash |= clashes(registry, (*strategies)->id, path, problems);
   return clash;
}

static int hash_file(const char *path, char hash[RKB_HASH_TEXT], rkb_error_t *err) {
   char *bytes = NULL;
   size_t length = 0;
   int status = rkb_file_read(path, MAX_OBJECT_BYTES, &bytes, &length, err);
   if (status == RKB_OK)
      rkb_hash_text(bytes, length, hash);
   free(bytes);
   return status;
}

/* If another user can change a file, or any folder on the way to it, that user can act as this one. */
static bool trusted(const char *path, rkb_problems_t *problems) {
   char why[400];
   if (rkb_path_trusted(path, why, sizeof why))
      return true;
   rkb_problem_warning(problems, (rkb_place_t){.file = path}, "not loaded: %s", why);
   return false;
}

const char *rkb_registry_hash(const rkb_registry_t *registry, const rkb_registry_object_t *object) {
   rkb_registry_object_t *own = &registry->objects[object - registry->objects];
   rkb_error_t err = {0};
   char hash[RKB_HASH_TEXT];
   if (!own->hash && hash_file(own->path, hash, &err) == RKB_OK)
      own->hash = rkb_duplicate(hash);
   return own->hash;
}

static void add(rkb_registry_t *registry, const char *path, const rkb_plugin_t *plugin) {
   if (registry->count == registry->room) {
      uint32_t room = registry->room ? registry->room * 2 : 16;
      registry->objects = rkb_grow(registry->objects, room, sizeof *registry->objects);
      registry->room = room;
   }
   registry->objects[registry->count++] =
      (rkb_registry_object_t){.path = rkb_duplicate(path), .plugin = plugin};
}

static void load_object(rkb_registry_t *registry, const char *given, rkb_problems_t *problems) {
   rkb_error_t err = {0};
   char *path = realpath(given, NULL);
   if (!path) {
      rkb_problem_warning(problems, (rkb_place_t){.file = given}, "no such plugin");
      return;
   }
   rkb_place_t place = {.file = path};
   if (known(registry, path) || !trusted(path, problems))
      goto done;
   if (registry->count >= MAX_OBJECTS) {
      rkb_problem_warning(problems, place, "not loaded: there are %d plugins already, which is the most",
                          MAX_OBJECTS);
      goto done;
   }
   /* RTLD_NOW: a missing symbol is a sentence here, not the end of the process in the middle of a run. */
   void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
   if (!handle) {
      rkb_problem_warning(problems, place,
                          "not loaded: %s; a symbol or library it needs is missing ('ldd -r' lists them)",
                          dlerror());
      goto done;
   }
   const rkb_plugin_t *plugin = dlsym(handle, "rkb_plugin_entry");
   if (!plugin) {
      rkb_problem_warning(problems, place,
                          "not loaded: it exports no rkb_plugin_entry; define it with RKB_EXPORT");
      goto done;
   }
   if (!rkb_plugin_check(plugin, &err)) {
      rkb_problem_warning(problems, place, "not loaded: %s", err.message);
      goto done;
   }
   if (!any_clash(registry, plugin, path, problems))
      add(registry, path, plugin);
done:
   free(path);
}

static bool is_directory(const char *path) {
   struct stat status;
   return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static void load_directory(rkb_registry_t *registry, const char *directory, rkb_problems_t *problems) {
   char **names = rkb_folder_names(directory, ".so");
   for (char **name = names; name && *name; name++) {
      char *path = rkb_path_join(directory, *name);
      if (!is_directory(path))
         load_object(registry, path, problems);
      free(path);
   }
   rkb_folder_names_free(names);
}

/* A directory's objects, then those of its subdirectories: plugins/verifier/lint.so. */
static void load_tree(rkb_registry_t *registry, const char *directory, rkb_problems_t *problems) {
   load_directory(registry, directory, problems);
   char **names = rkb_folder_names(directory, NULL);
   for (char **name = names; name && *name; name++) {
      char *path = rkb_path_join(directory, *name);
      if (is_directory(path))
         load_directory(registry, path, problems);
      free(path);
   }
   rkb_folder_names_free(names);
}

static void load_path(rkb_registry_t *registry, const char *path, rkb_problems_t *problems) {
   if (is_directory(path))
      load_tree(registry, path, problems);
   else
      load_object(registry, path, problems);
}

static void load_environment(rkb_registry_t *registry, rkb_problems_t *problems) {
   const char *value = getenv("RKB_PLUGIN_PATH");
   char *copy = value ? rkb_duplicate(value) : NULL;
   char *rest = copy;
   for (char *path = strsep(&rest, ":"); path; path = strsep(&rest, ":")) {
      /* A relative entry would mean the current directory, which is never searched. */
      if (path[0] == '/')
         load_path(registry, path, problems);
      else if (path[0])
         rkb_problem_warning(problems, (rkb_place_t){.file = path},
                             "RKB_PLUGIN_PATH: not searched, write an absolute path");
   }
   free(copy);
}

/* Without any plugin no stage has a name.  own: where rkb's own were looked for; NULL: there is no such folder. */
static void say_none(const char *own, rkb_problems_t *problems) {
   char program[PATH_MAX];
   const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
   program[length > 0 ? length : 0] = '\0';
   rkb_problem_warning(
      problems, (rkb_place_t){.file = own ? own : program},
      "no plugin was loaded: %s; install rkb again, or name a folder with plugins by --plugin-path or RKB_PLUGIN_PATH",
      own ? "this folder has none that may be loaded, and no other folder was named"
          : "this program lies neither in a build folder (bin, libexec and plugins side by side) nor in an installation");
}

rkb_registry_t *rkb_registry_open(const char *const *first, const char *const *paths,
                                  rkb_problems_t *problems) {
   rkb_registry_t *registry = rkb_allocate(1, sizeof *registry);
   for (; first && *first; first++)
      load_path(registry, *first, problems);
   for (; paths && *paths; paths++)
      load_path(registry, *paths, problems);
   load_environment(registry, problems);
   char *own = rkb_find_data("plugins");
   if (own && is_directory(own))
      load_tree(registry, own, problems);
   if (!registry->count)
      say_none(own, problems);
   free(own);
   return registry;
}

void rkb_registry_free(rkb_registry_t *registry) {
   if (!registry)
      return;
   for (uint32_t i = 0; i < registry->count; i++) {
      free((char *)registry->objects[i].path);
      free((char *)registry->objects[i].hash);
   }
   free(registry->objects);
   free(registry);
}

uint32_t rkb_registry_count(const rkb_registry_t *registry) {
   return registry->count;
}

const rkb_registry_object_t *rkb_registry_at(const rkb_registry_t *registry, uint32_t index) {
   return index < registry->count ? &registry->objects[index] : NULL;
}

/* "lint" of "rkb.verifier.lint". */
static bool ends_with_word(const char *id, const char *word) {
   const char *dot = strrchr(id, '.');
   return dot && strcmp(dot + 1, word) == 0;
}

const char *rkb_registry_nearest(const rkb_registry_t *registry, const char *written) {
   const char *ids[4096];
   uint32_t count = 0;
   for (uint32_t i = 0; i < registry->count; i++) {
      const rkb_plugin_t *plugin = registry->objects[i].plugin;
      for (const rkb_stage_t *const *stages = plugin->stages; stages && *stages && count < 4095; stages++)
         ids[count++] = (*stages)->id;
      for (const rkb_strategy_t *const *all = plugin->strategies; all && *all && count < 4095; all++)
         ids[count++] = (*all)->id;
   }
   ids[count] = NULL;
   for (uint32_t i = 0; i < count; i++)
      if (ends_with_word(ids[i], written))
         return ids[i];
   return rkb_nearest(written, ids);
}
