# Writes OUT, a source file that holds the text of TEMPLATE.
file(READ ${TEMPLATE} html)
file(WRITE ${OUT} "// Made of src/report/web/ when hone is built.\n#include \"report/html.h\"\n\nnamespace hone::report {\n\nstd::string_view Template() {\n  static const char html[] = R\"hone-report(${html})hone-report\";\n  return {html, sizeof html - 1};\n}\n\n}  // namespace hone::report\n")
