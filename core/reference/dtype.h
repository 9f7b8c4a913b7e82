/* Element types: conversion between their bytes and doubles.  Pure functions; any thread. */
#ifndef RKB_REFERENCE_DTYPE_H
#define RKB_REFERENCE_DTYPE_H

#include <stdbool.h>
#include <stdint.h>

uint32_t rkb_dtype_bytes(uint32_t dtype);
const char *rkb_dtype_name(uint32_t dtype); /* "float32" */
bool rkb_dtype_parse(const char *name, uint32_t *dtype);
/* Rounds x to the nearest number of the type (ties to even); leaves x as it is for integer types. */
double rkb_dtype_round(uint32_t dtype, double x);
/* Converts count doubles to the type and stores them. */
void rkb_dtype_store(uint32_t dtype, const double *from, uint64_t count, void *to);
/* Element number i of an array of the type. */
double rkb_dtype_load(uint32_t dtype, const void *from, uint64_t i);

#endif
