/* A stand-in for NVML, loaded in its place (LD_PRELOAD, by its soname).  RKB_DOUBLE_ENERGY says how its
 * energy counter behaves: "steps", it grows by 1 mJ at each fourth reading; "still", it does not change;
 * "none", there is no counter.  One thread. */
#include <stdlib.h>
#include <string.h>

static unsigned long long reads;

int nvmlInit_v2(void) {
   return 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device) {
   (void)bus;
   *device = &reads;
   return 0;
}
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
   const char *set = getenv("RKB_DOUBLE_ENERGY") ? getenv("RKB_DOUBLE_ENERGY") : "none";
   (void)device;
   reads++;
   *millijoules = strcmp(set, "steps") == 0 ? 1000 + reads / 4 : 1000;
   return strcmp(set, "none") == 0 ? 3 : 0; /* NVML_ERROR_NOT_SUPPORTED */
}
