cmake_minimum_required(VERSION 3.25)
# Writes OUTPUT, a header with a hash of everything that decides what the evaluator computes: FILES, a list of sources, and
# BUILD, a text that tells compilers and their flags apart.
string(SHA256 all "${BUILD}")
foreach(file ${FILES})
  file(SHA256 "${file}" hash)
  get_filename_component(name "${file}" NAME)
  string(SHA256 all "${all} ${name} ${hash}")
endforeach()
file(WRITE "${OUTPUT}" "#define RKB_EVALUATOR_IDENTITY \"${all}\"\n")
