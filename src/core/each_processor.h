// One copy of a function for each generation of processors, chosen when the program is loaded.
#ifndef HONE_CORE_EACH_PROCESSOR_H_
#define HONE_CORE_EACH_PROCESSOR_H_

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HONE_FOR_EACH_PROCESSOR \
  __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define HONE_FOR_EACH_PROCESSOR
#endif

#endif  // HONE_CORE_EACH_PROCESSOR_H_
