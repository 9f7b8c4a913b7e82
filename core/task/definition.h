/* task.yaml and reference.graph.yaml as read: names, domains and expressions, without a case's numbers.  Lives in one arena; does
 * not change after loading. */
#ifndef RKB_TASK_DEFINITION_H
#define RKB_TASK_DEFINITION_H

#include "base/expression.h"
#include "base/hash.h"
#include "base/yaml.h"
#include "reference/functions/functions.h"
#include "task/matrix_structure.h"
#include "task/task.h"

#define RKB_MAX_DIMS 64u
#define RKB_MAX_TENSORS 2048u
#define RKB_MAX_CASES 256u

enum rkb_init_kind {
   RKB_INIT_NORMAL = 1,
   RKB_INIT_UNIFORM,
   RKB_INIT_KAIMING,
   RKB_INIT_KAIMING_NORMAL,
   RKB_INIT_XAVIER,
   RKB_INIT_ONES,
   RKB_INIT_ZEROS,
   RKB_INIT_CONSTANT,
   RKB_INIT_POSITIVE,
   RKB_INIT_INTEGERS
};

typedef struct rkb_init {
   uint32_t kind; /* enum rkb_init_kind */
   rkb_expression_t *first,
      *second; /* the parameters, in the order of docs/task-format.md; NULL: the default */
} rkb_init_t;

typedef struct rkb_dim {
   const char *name, *domain; /* domain: its text in the file */
   rkb_place_t place;
   int64_t low, high, multiple_of;
   int64_t *choices;
   uint32_t choice_count;
} rkb_dim_t;

typedef struct rkb_let {
   const char *name;
   rkb_expression_t *value;
} rkb_let_t;

typedef struct rkb_task_attribute {
   const char *name;
   double fallback, *choices;
   uint32_t choice_count;
} rkb_task_attribute_t;

typedef struct rkb_tensor_definition {
   const char *name;
   rkb_place_t place;
   uint32_t role, dtype, alignment;
   rkb_expression_t **shape;
   uint32_t rank;
   const char *shape_text;
   rkb_init_t init;
   uint32_t structure; /* enum rkb_structure */
   rkb_place_t structure_place;
   bool masked; /* some elements may be minus infinity */
   rkb_place_t masked_place;
} rkb_tensor_definition_t;

typedef struct rkb_init_setting {
   const char *name;
   rkb_init_t *inits; /* by tensor; kind 0: not replaced */
} rkb_init_setting_t;

typedef struct rkb_case_definition {
   const char *name;
   rkb_place_t place;
   uint32_t kind;                     /* enum rkb_case_kind */
   bool forward, backward;            /* the directions that use the case */
   int64_t *dims;                     /* by dim */
   double *attributes;                /* by attribute */
   const rkb_init_setting_t *setting; /* or NULL */
} rkb_case_definition_t;

typedef struct rkb_graph_output {
   const char *name;
   uint32_t dtype;
   rkb_expression_t **shape;
   uint32_t rank;
   const char *shape_text;
   rkb_place_t place;
} rkb_graph_output_t;

typedef struct rkb_graph_attribute {
   bool given;
   rkb_expression_t **parts; /* for INT, INTS, REAL or BOOL */
   uint32_t part_count;
   const char *word; /* for WORD; for BOOL "true" or "false" */
} rkb_graph_attribute_t;

typedef struct rkb_graph_node {
   const char *id;
   rkb_place_t place;
   const rkb_function_t *function;
   const char *inputs[RKB_MAX_OPERANDS];
   uint32_t input_count;
   rkb_graph_attribute_t attributes[RKB_MAX_FUNCTION_ATTRIBUTES];
   rkb_graph_output_t outputs[RKB_MAX_FUNCTION_OUTPUTS];
   uint32_t output_count;
} rkb_graph_node_t;

typedef struct rkb_named_value {
   const char *name, *value;
   rkb_place_t place;
} rkb_named_value_t;

typedef struct rkb_definition {
   rkb_arena_t *arena;
   const char *directory, *name, *summary, *source, *precision, *reference;
   rkb_place_t precision_place;
   const char *directions[3]; /* NULL-terminated */
   char hash[RKB_HASH_TEXT];
   rkb_dim_t *dims;
   uint32_t dim_count;
   rkb_let_t *lets;
   uint32_t let_count;
   rkb_expression_t **require;
   uint32_t require_count;
   rkb_task_attribute_t *attributes;
   uint32_t attribute_count;
   rkb_tensor_definition_t *tensors;
   uint32_t tensor_count;
   rkb_init_setting_t *settings;
   uint32_t setting_count;
   bool *wants_grad; /* by tensor */
   rkb_tensor_definition_t
      *saves; /* what a backward candidate also receives: outputs, or values of the graph */
   uint32_t save_count;
   rkb_case_definition_t *cases;
   uint32_t case_count;
   bool has_tolerance;
   double relative_tolerance, absolute_tolerance;
   rkb_graph_node_t *nodes;
   uint32_t node_count;
   rkb_named_value_t *outputs; /* task output: graph value */
   uint32_t output_count;
   rkb_named_value_t *guards; /* only the name is used */
   uint32_t guard_count;
} rkb_definition_t;

/* The two files as bytes, with the names to use in messages. */
typedef struct rkb_task_texts {
   const char *task_path, *task, *graph_path, *graph;
   size_t task_length, graph_length;
} rkb_task_texts_t;

/* These functions add problems.  They return false or NULL when they cannot go on. */
rkb_definition_t *rkb_definition_load(const char *directory,
                                      rkb_problems_t *problems); /* task.yaml and reference.graph.yaml */
rkb_definition_t *rkb_definition_parse(const rkb_task_texts_t *texts, rkb_problems_t *problems);
bool rkb_definition_read(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems);
/* Resolves the names of saved values.  Call it once the graph is read. */
void rkb_definition_find_saves(rkb_definition_t *definition, rkb_problems_t *problems);
/* Adds a problem for each masked tensor that something else than a softmax reads. */
void rkb_definition_check_masks(const rkb_definition_t *definition, rkb_problems_t *problems);
bool rkb_graph_read(rkb_definition_t *definition, const rkb_yaml_t *root, rkb_problems_t *problems);
void rkb_definition_free(rkb_definition_t *definition);

uint32_t rkb_definition_tensor(const rkb_definition_t *definition,
                               const char *name); /* UINT32_MAX when there is none */
/* Reads one expression from a scalar; NULL after adding a problem. */
rkb_expression_t *rkb_definition_expression(rkb_definition_t *definition, const rkb_yaml_t *node,
                                            const char *what, rkb_problems_t *problems);
bool rkb_definition_expressions(rkb_definition_t *definition, const rkb_yaml_t *node, const char *what,
                                rkb_expression_t ***list, uint32_t *count, rkb_problems_t *problems);

#endif
