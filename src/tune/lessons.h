// The decision store of XTAT, ConfStore[stage][key]: what each key's value was in plans that became
// the best of their program.
#ifndef HONE_TUNE_LESSONS_H_
#define HONE_TUNE_LESSONS_H_

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "store/rows.h"
#include "tune/space.h"

namespace hone::tune {

class Lessons {
 public:
  Lessons() = default;
  explicit Lessons(const std::vector<store::Lesson>& lessons);

  // Null where nothing is known of it.
  const store::Lesson* Find(Stage stage, const std::string& name) const;
  // Takes the choices of a new best plan, except where a plan of a greater gain has taught others.
  void Learn(const std::vector<NamedChoice>& choices, double gain, const std::string& program);

 private:
  std::map<std::pair<std::string, std::string>, store::Lesson> entries_;  // by stage and name
};

// The lessons of a plan that turned out to be the best of its program: its choices but for the
// order of passes, which is the program's own.
std::vector<store::Lesson> LessonsOf(const std::vector<NamedChoice>& choices, double gain,
                                     const std::string& program);

}  // namespace hone::tune

#endif  // HONE_TUNE_LESSONS_H_
