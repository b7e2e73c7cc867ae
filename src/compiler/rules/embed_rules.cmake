# Writes OUT, a source file that holds the text of all RULES (a list of files):
#   cmake -DOUT=embedded_rules.cc "-DRULES=a.rules;b.rules" -P embed_rules.cmake
set(text "// Made of rules/*.rules by embed_rules.cmake.\n#include \"compiler/rules/rule_files.h\"\n\n")
string(APPEND text "namespace hone::compiler {\n\n")
string(APPEND text "const std::vector<RuleFile>& ShippedRuleFiles() {\n")
string(APPEND text "  static const std::vector<RuleFile> files = {\n")
foreach(file IN LISTS RULES)
  get_filename_component(name ${file} NAME)
  file(READ ${file} content)
  string(APPEND text "      {\"rules/${name}\", R\"RULES(${content})RULES\"},\n")
endforeach()
string(APPEND text "  };\n  return files;\n}\n\n}  // namespace hone::compiler\n")
file(WRITE ${OUT} "${text}")
