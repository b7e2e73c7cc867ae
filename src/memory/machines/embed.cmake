# Writes OUT: a function that has the text of each of MACHINES under its file's stem.
set(text "// Made of src/memory/machines/ when hone is built.\n#include <string>\n#include <utility>\n#include <vector>\n\nnamespace hone::memory {\n\nstd::vector<std::pair<std::string, std::string>> EmbeddedMachines() {\n  return {\n")
foreach(machine IN LISTS MACHINES)
  get_filename_component(name ${machine} NAME_WE)
  file(READ ${machine} json)
  string(APPEND text "      {\"${name}\", R\"machine(${json})machine\"},\n")
endforeach()
string(APPEND text "  };\n}\n\n}  // namespace hone::memory\n")
file(WRITE ${OUT} "${text}")
