# Writes OUT: a function that has the text of each of TARGETS under its file's stem.
set(text "// Made of src/compiler/gpu/targets/ when hone is built.\n#include \"compiler/gpu/targets.h\"\n\nnamespace hone::compiler::gpu {\n\nstd::map<std::string, std::string> EmbeddedTargets() {\n  return {\n")
foreach(target IN LISTS TARGETS)
  get_filename_component(name ${target} NAME_WE)
  file(READ ${target} description)
  string(APPEND text "      {\"${name}\", R\"target(${description})target\"},\n")
endforeach()
string(APPEND text "  };\n}\n\n}  // namespace hone::compiler::gpu\n")
file(WRITE ${OUT} "${text}")
