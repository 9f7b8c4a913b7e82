/* rkb-bench-scale: a SIMULATION of one run on many cores and GPUs.  It makes and judges no candidate.  The
 * run is a closed network of queues; you give the measured times of its parts on the command line.  Prints
 * candidates a second, and how busy each part is.
 *
 *    rkb-bench-scale LOOP_MS PROPOSE_MS SCREEN_MS GPU_MS SHARE WINDOW CORES GPUS [CANDIDATES [LOCAL_CORES]]
 *
 * LOOP_MS is the loop's time for a whole candidate.  A candidate takes these steps: a core of the coordinator
 * proposes it, the loop sends it, a worker's core screens it, and the loop records the result.  SHARE of the
 * candidates go to a GPU, and the loop records that result too.  Times are lognormal, with a 90th percentile
 * of 3.8 times the median, as the whole check of seeds has (README.md, 0.76 s and 2.9 s).  The strategy gets
 * results in the order of requests.  Request n waits until it has all results up to n - WINDOW
 * (docs/architecture.md).  One thread. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/memory.h"
#include "base/usage.h"

enum { LOOP, PROPOSE, SCREEN, GPU, STATIONS };
enum { MAX_CANDIDATES = 10000000, MAX_WINDOW = 1000000, STEPS = 6 };
static const uint8_t way[STEPS] = {PROPOSE, LOOP, SCREEN, LOOP, GPU, LOOP};
static const char *const names[STATIONS] = {"loop", "propose", "screen", "gpu"};

typedef struct event {
   double time;
   uint32_t candidate; /* whose step ends then */
} event_t;

typedef struct station {
   uint32_t servers, busy;
   double mean, spent; /* in seconds; spent: by all servers together */
   uint32_t *queue;    /* a ring of window + 1 candidates */
   uint32_t head, count;
} station_t;

typedef struct simulation {
   station_t stations[STATIONS];
   event_t *heap;
   uint32_t heaped, window, total, next, told;
   uint8_t *step, *done; /* for each candidate */
   double share, now, sigma;
   uint64_t random;
} simulation_t;

/* SplitMix64 (Steele, Lea, Flood 2014). */
static double draw(simulation_t *simulation) {
   uint64_t z = simulation->random += 0x9e3779b97f4a7c15u;
   z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
   z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
   return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

/* A lognormal time with this mean.  The loop's own time is constant, since it varies little. */
static double service(simulation_t *simulation, const station_t *station, bool varies) {
   if (!varies)
      return station->mean;
   double normal = sqrt(-2 * log(draw(simulation))) * cos(2 * 3.14159265358979323846 * draw(simulation));
   return station->mean * exp(simulation->sigma * normal - simulation->sigma * simulation->sigma / 2);
}

static void push(simulation_t *simulation, double time, uint32_t candidate) {
   event_t *heap = simulation->heap;
   uint32_t at = simulation->heaped++;
   for (; at > 0 && heap[(at - 1) / 2].time > time; at = (at - 1) / 2)
      heap[at] = heap[(at - 1) / 2];
   heap[at] = (event_t){time, candidate};
}

static event_t pop(simulation_t *simulation) {
   event_t *heap = simulation->heap, first = heap[0], last = heap[--simulation->heaped];
   uint32_t at = 0;
   for (;;) {
      uint32_t child = 2 * at + 1;
      if (child + 1 < simulation->heaped && heap[child + 1].time < heap[child].time)
         child++;
      if (child >= simulation->heaped || heap[child].time >= last.time)
         break;
      heap[at] = heap[child];
      at = child;
   }
   heap[at] = last;
   return first;
}

static void serve(simulation_t *simulation, uint32_t which, uint32_t candidate) {
   station_t *station = &simulation->stations[which];
   double time = service(simulation, station, which != LOOP);
   station->busy++;
   station->spent += time;
   push(simulation, simulation->now + time, candidate);
}

static void arrive(simulation_t *simulation, uint32_t candidate) {
   const uint32_t which = way[simulation->step[candidate]];
   station_t *station = &simulation->stations[which];
   if (station->busy < station->servers)
      serve(simulation, which, candidate);
   else
      station->queue[(station->head + station->count++) % (simulation->window + 1)] = candidate;
}

static void leave(simulation_t *simulation, uint32_t which) {
   station_t *station = &simulation->stations[which];
   station->busy--;
   if (station->count == 0)
      return;
   uint32_t candidate = station->queue[station->head];
   station->head = (station->head + 1) % (simulation->window + 1);
   station->count--;
   serve(simulation, which, candidate);
}

/* The strategy gets results in the order of requests. */
static void finish(simulation_t *simulation, uint32_t candidate) {
   simulation->done[candidate] = 1;
   while (simulation->told < simulation->total && simulation->done[simulation->told])
      simulation->told++;
   while (simulation->next < simulation->total && simulation->next < simulation->told + simulation->window)
      arrive(simulation, simulation->next++);
}

static void run(simulation_t *simulation) {
   while (simulation->next < simulation->total && simulation->next < simulation->window)
      arrive(simulation, simulation->next++);
   while (simulation->heaped > 0) {
      event_t event = pop(simulation);
      simulation->now = event.time;
      uint8_t *step = &simulation->step[event.candidate];
      leave(simulation, way[*step]);
      (*step)++;
      if (*step == 4 && draw(simulation) >= simulation->share)
         *step = STEPS;
      if (*step == STEPS)
         finish(simulation, event.candidate);
      else
         arrive(simulation, event.candidate);
   }
}

static double number(const char *text, double most) {
   char *end;
   double value = strtod(text, &end);
   if (*end || !(value >= 0) || value > most) {
      fprintf(stderr, "'%s' is no number from 0 to %g\n", text, most);
      exit(2);
   }
   return value;
}

static void release(simulation_t *simulation) {
   for (int i = 0; i < STATIONS; i++)
      free(simulation->stations[i].queue);
   free(simulation->heap);
   free(simulation->step);
   free(simulation->done);
}

int main(int count, char **arguments) {
   const int over = rkb_usage(
      count, arguments, 10,
      "usage: rkb-bench-scale LOOP_MS PROPOSE_MS SCREEN_MS GPU_MS SHARE WINDOW CORES GPUS [CANDIDATES [LOCAL_CORES]]\n"
      "SIMULATES a run on many cores and GPUs from the times of its parts, and prints candidates a second and how busy each "
      "part is.\nCANDIDATES: 100000 unless given; LOCAL_CORES, which propose: 16.\n");
   if (over >= 0)
      return over;
   if (count < 9) {
      fprintf(stderr, "eight numbers are wanted; see --help\n");
      return 2;
   }
   simulation_t simulation = {.share = number(arguments[5], 1),
                              .window = (uint32_t)number(arguments[6], MAX_WINDOW),
                              .total = count > 9 ? (uint32_t)number(arguments[9], MAX_CANDIDATES) : 100000,
                              /* Divided by the 90th percentile of a normal distribution. */
                              .sigma = log(3.8) / 1.2815515655446004,
                              .random = 1};
   const double servers[STATIONS] = {1, count > 10 ? number(arguments[10], 1e6) : 16,
                                     number(arguments[7], 1e6), number(arguments[8], 1e6)};
   if (simulation.window == 0 || simulation.total == 0) {
      fprintf(stderr, "WINDOW and CANDIDATES must not be 0\n");
      return 2;
   }
   for (int i = 0; i < STATIONS; i++)
      simulation.stations[i] = (station_t){.servers = servers[i] < 1 ? 1 : (uint32_t)servers[i],
                                           .mean = number(arguments[1 + i], 1e9) * 1e-3,
                                           .queue = rkb_allocate(simulation.window + 1, sizeof(uint32_t))};
   /* The loop serves each candidate in this many steps. */
   simulation.stations[LOOP].mean /= 2 + simulation.share;
   simulation.heap = rkb_allocate(simulation.window + 1, sizeof *simulation.heap);
   simulation.step = rkb_allocate(simulation.total, 1);
   simulation.done = rkb_allocate(simulation.total, 1);
   bool room = simulation.heap && simulation.step && simulation.done;
   for (int i = 0; i < STATIONS; i++)
      room = room && simulation.stations[i].queue;
   if (!room) {
      fprintf(stderr, "there is not enough memory\n");
      release(&simulation);
      return 3;
   }
   run(&simulation);
   printf("simulation: %u candidates in %.0f s: %.1f a second; busy:", simulation.total, simulation.now,
          simulation.total / simulation.now);
   for (int i = 0; i < STATIONS; i++)
      printf(" %s %.0f %%", names[i],
             100 * simulation.stations[i].spent / simulation.now / simulation.stations[i].servers);
   printf("\n");
   release(&simulation);
   return 0;
}
