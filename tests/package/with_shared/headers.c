/* The installed headers of each shared folder, with what they include. */
#include "asking/proposal.h"
#include "device_values/element_ranges.h"
#include "device_values/stopwatch.h"
#include "device_values/value_staging.h"
#include "reply/extract.h"
#include "source/source_functions.h"
