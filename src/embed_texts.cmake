# Writes OUT, a source file with the texts of FILES, each under PREFIX and its file's name, without the
# extension where STEM:
#   const TYPE& NAMESPACE::FUNCTION()
# TYPE is a container of pairs of strings, or of what two strings make; HEADER declares the function.
set(text "// Made of the files that it holds when hone is built.\n#include \"${HEADER}\"\n\n")
string(APPEND text "namespace ${NAMESPACE} {\n\n")
string(APPEND text "const ${TYPE}& ${FUNCTION}() {\n  static const ${TYPE} texts = {\n")
foreach(file IN LISTS FILES)
  if(STEM)
    get_filename_component(name ${file} NAME_WE)
  else()
    get_filename_component(name ${file} NAME)
  endif()
  file(READ ${file} content)
  string(APPEND text "      {\"${PREFIX}${name}\", R\"EMBEDDED(${content})EMBEDDED\"},\n")
endforeach()
string(APPEND text "  };\n  return texts;\n}\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE ${OUT} "${text}")
