/* Measures where a stage's time goes: one phase at a time, so that the parts add up to the whole.  One
 * thread. */
#ifndef DEVICE_VALUES_STOPWATCH_H
#define DEVICE_VALUES_STOPWATCH_H

#include <jansson.h>
#include <stdint.h>

/* The phases of stages that use a device. */
enum phase {
   PHASE_OTHER,   /* the build's look-up, emitting */
   PHASE_DEVICE,  /* waiting for a device and a worker with its context */
   PHASE_PLAN,    /* planning launches and asking for values */
   PHASE_OPEN,    /* modules, buffers, graphs */
   PHASE_STAGE,   /* drawing and sending inputs, or finding them on the device */
   PHASE_RUN,     /* the candidate, before its answers are judged */
   PHASE_TIME,    /* timed runs */
   PHASE_OWN,     /* anchors, the floor, the tuned copy */
   PHASE_EXPECT,  /* evaluating the reference, or finding what was kept of it */
   PHASE_COMPARE, /* reading outputs back, judging them, adding up inputs */
   PHASE_CLOSE,   /* giving memory back */
   PHASES
};

typedef struct stopwatch {
   uint64_t spent_ns[PHASES], since_ns;
   enum phase phase;
} stopwatch_t;

void stopwatch_start(stopwatch_t *watch); /* begins in PHASE_OTHER */
/* Counts time for phase from now on; returns the phase before, so that the caller can switch back. */
enum phase stopwatch_turn(stopwatch_t *watch, enum phase phase);

/* Returns {"all": milliseconds, "run": ..., ...}, without phases that took no time; owned. */
json_t *stopwatch_json(stopwatch_t *watch);

#endif
