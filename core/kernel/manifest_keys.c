/* The table of a manifest's keys, and the words that they take. */
#include "kernel/manifest_keys.h"

static const char *const directions[] = {"forward", "backward", NULL};
static const char *const algorithms[] = {"transform", NULL};
const char *const RKB_MANIFEST_TYPES[] = {"float32",       "float64",     "float16", "bfloat16",
                                          "float8_e4m3fn", "float8_e5m2", "int8",    "uint8",
                                          "int32",         "int64",       NULL};
const char *const RKB_MAP_TYPES[] = {"uint8",       "uint16",   "uint32",       "int32",   "uint64",
                                     "int64",       "float16",  "float32",      "float64", "bfloat16",
                                     "float32_ftz", "tfloat32", "tfloat32_ftz", NULL};
const char *const RKB_MAP_INTERLEAVES[] = {"none", "16", "32", NULL};
const char *const RKB_MAP_SWIZZLES[] = {"none", "32", "64", "128", NULL};
const char *const RKB_MAP_FILLS[] = {"zero", "nan", NULL};

const rkb_key_t RKB_MANIFEST_KEYS[] = {
   {"rkb-kernel", RKB_MANIFEST_FILE, NULL, NULL, true,
    "the format's version, and the comment's first word: `rkb-kernel: 1`"},
   {"task", RKB_MANIFEST_FILE, NULL, NULL, true, "what the kernel computes: a task's name"},
   {"direction", RKB_MANIFEST_FILE, NULL, directions, true, "of the task"},
   {"algorithm", RKB_MANIFEST_FILE, NULL, algorithms, false,
    "the method is not exact on exact inputs: Winograd, FFT, a sum times 1/n"},
   {"tune", RKB_MANIFEST_FILE, NULL, NULL, false,
    "integer parameters that a search may set, by name; each is a macro of the file: `BLOCK: {default: 256, choices: [128, 256]}`"},
   {"let", RKB_MANIFEST_FILE, NULL, NULL, false,
    "names for expressions, each of which may use the names before it: `rows: B * T`"},
   {"scratch", RKB_MANIFEST_FILE, NULL, NULL, false, "buffers of the kernel's own, by name"},
   {"maps", RKB_MANIFEST_FILE, NULL, NULL, false,
    "tensor maps, by name, for copies by the tensor memory accelerator (cp.async.bulk.tensor, sm_90)"},
   {"fill", RKB_MANIFEST_FILE, NULL, NULL, false,
    "outputs that are set before each run, to `zero` or a number: `grad_weight: zero`; all others are poisoned"},
   {"launches", RKB_MANIFEST_FILE, NULL, NULL, true, "a list of what is launched, in order"},
   {"schedule", RKB_MANIFEST_FILE, NULL, NULL, false,
    "what the graph translator wrote the kernel from; only the schedule mutator reads it"},

   {"default", RKB_MANIFEST_TUNE, NULL, NULL, true,
    "the parameter's value where nothing sets it; one of its choices"},
   {"choices", RKB_MANIFEST_TUNE, NULL, NULL, true, "a list of up to 64 integers"},

   {"dtype", RKB_MANIFEST_SCRATCH, NULL, RKB_MANIFEST_TYPES, true, "the elements' type"},
   {"shape", RKB_MANIFEST_SCRATCH, NULL, NULL, true, "expressions, in one string: `\"rows, 64\"`"},
   {"init", RKB_MANIFEST_SCRATCH, NULL, NULL, false,
    "`zero` or a number, set before each run; without it a run finds what the one before it left, the first one poison"},

   {"buffer", RKB_MANIFEST_TENSORS, NULL, NULL, true, "a tensor or a scratch buffer"},
   {"dtype", RKB_MANIFEST_TENSORS, "the buffer's", RKB_MAP_TYPES, false, "how elements are copied"},
   {"offset", RKB_MANIFEST_TENSORS, "0", NULL, false, "the tensor's first element in the buffer"},
   {"dims", RKB_MANIFEST_TENSORS, NULL, NULL, true,
    "1 to 5 expressions, in one string: the elements of each dimension; those of the first are consecutive"},
   {"strides", RKB_MANIFEST_TENSORS, "no gaps", NULL, false,
    "elements between neighbours in the second and each later dimension"},
   {"box", RKB_MANIFEST_TENSORS, NULL, NULL, false,
    "the elements that one copy moves, by dimension; a map has either a box or pixels"},
   {"steps", RKB_MANIFEST_TENSORS, "1", NULL, false, "element strides of the box, by dimension"},
   {"interleave", RKB_MANIFEST_TENSORS, "none", RKB_MAP_INTERLEAVES, false, "bytes of a slice of channels"},
   {"swizzle", RKB_MANIFEST_TENSORS, "none", RKB_MAP_SWIZZLES, false,
    "bytes in which pieces of a row change places in shared memory"},
   {"fill", RKB_MANIFEST_TENSORS, "zero", RKB_MAP_FILLS, false, "what lies outside of the tensor is read as"},
   {"lower", RKB_MANIFEST_TENSORS, NULL, NULL, false,
    "with pixels (im2col): where their box begins, from the first pixel of each dimension"},
   {"upper", RKB_MANIFEST_TENSORS, NULL, NULL, false,
    "with pixels: where their box ends, from the last pixel of each dimension"},
   {"channels", RKB_MANIFEST_TENSORS, NULL, NULL, false,
    "with pixels: how many channels of each a copy takes"},
   {"pixels", RKB_MANIFEST_TENSORS, NULL, NULL, false, "instead of a box: how many pixels a copy takes"},

   {"kernel", RKB_MANIFEST_LAUNCHES, NULL, NULL, true,
    "a __global__ function, with template arguments if it has any: `gemm<BLOCK, 4>`"},
   {"when", RKB_MANIFEST_LAUNCHES, "always", NULL, false, "the launch runs if this condition holds"},
   {"else", RKB_MANIFEST_LAUNCHES, NULL, NULL, false,
    "stands alone: the launch runs if the one before it, and those joined to that one, did not"},
   {"grid", RKB_MANIFEST_LAUNCHES, NULL, NULL, true,
    "blocks: one to three expressions, in one string; a launch with a zero is skipped"},
   {"block", RKB_MANIFEST_LAUNCHES, NULL, NULL, true, "threads of a block: one to three expressions"},
   {"shared", RKB_MANIFEST_LAUNCHES, "0", NULL, false, "bytes of dynamic shared memory"},
   {"cluster", RKB_MANIFEST_LAUNCHES, "no clusters", NULL, false,
    "blocks of a cluster: one to three expressions (sm_90); of a kernel with __cluster_dims__ the same as there"},
   {"cooperative", RKB_MANIFEST_LAUNCHES, "false", NULL, false,
    "all blocks run at once, and may wait for each other"},
   {"dependent", RKB_MANIFEST_LAUNCHES, "false", NULL, false,
    "may begin before the launch in front of it has ended, and waits for it with griddepcontrol.wait (sm_90)"},
   {"args", RKB_MANIFEST_LAUNCHES, NULL, NULL, true,
    "one for each parameter, in one string: a buffer, `buffer + elements`, an expression, `null`, a tensor map, `struct(...)`; `\"\"` for none"},
   {"constants", RKB_MANIFEST_LAUNCHES, NULL, NULL, false,
    "inputs that are copied into __constant__ variables before each run: `{symbol: tensor}`"},
   {NULL, 0, NULL, NULL, false, NULL},
};
