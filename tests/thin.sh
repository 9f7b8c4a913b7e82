#!/bin/sh
# What a plain ctest takes of many like cases.  Standard input has a case a line: its kind, a tab, its name.  Printed are the names of the first
# case of each kind and of every STEP-th after it, so that every kind is there; of all cases where RKB_LONG is in the environment.
# usage: thin.sh STEP <CASES
exec awk -F '\t' -v step="$1" -v all="${RKB_LONG:+yes}" 'all || seen[$1]++ % step == 0 { print substr($0, length($1) + 2) }'
