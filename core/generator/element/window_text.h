/* The windows that a thread owns, for writing its kernel: neighbours along the last dim, of one or several
 * channels.  One thread writes. */
#ifndef RKB_GENERATOR_WINDOW_TEXT_H
#define RKB_GENERATOR_WINDOW_TEXT_H

#include "generator/text/launch_text.h"

typedef struct rkb_windows {
   const rkb_node_t *pool,
      *counted;            /* the pool or its gradient, and the node with an element for each window */
   uint32_t number, under; /* node numbers: of the pool, and of the node whose values are under the windows */
   /* The convolution that computes these values in registers; RKB_NO_NODE: they are read from memory. */
   uint32_t convolution;
   uint32_t dims, outer, side; /* spatial dims; places of a window along all of them but the last; and along the last */
   uint32_t each, channels;    /* a thread's windows side by side, and its channels */
   bool gradient;
   const rkb_index_t
      /* Coordinates of the windows: the channel's first one, the last dim's first one. */
      *at[RKB_MAX_RANK];
   const rkb_index_t *channel; /* the present channel, and its number among the thread's own */
   const char *own_channel;
} rkb_windows_t;

/* The coordinates of a place under the windows.  outer: its number along all dims but the last; along: its number along the last dim,
 * among the thread's own places. */
void rkb_window_place(rkb_writer_t *writer, const rkb_windows_t *windows, uint32_t outer,
                      const rkb_index_t *along, const rkb_index_t **at);
/* Whether a convolution may be computed in the registers of threads that own the windows over it: its own
 * windows have constant sides. */
bool rkb_window_convolves(const rkb_graph_t *graph, uint32_t convolution);
/* Declares and computes sums[channel][outer][along]: the convolution's values under the windows. */
void rkb_window_convolve(rkb_writer_t *writer, const rkb_windows_t *windows);

#endif
