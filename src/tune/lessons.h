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
  // From a new best plan only: its choices, where no plan of a greater gain has taught otherwise.
  void Learn(const std::vector<NamedChoice>& choices, double gain, const std::string& program);

 private:
  std::map<std::pair<std::string, std::string>, store::Lesson> entries_;  // by stage and name
};

// What a plan teaches that turned out to be the best of its program. Not its order of passes: that
// belongs to the program.
std::vector<store::Lesson> LessonsOf(const std::vector<NamedChoice>& choices, double gain,
                                     const std::string& program);

}  // namespace hone::tune

#endif  // HONE_TUNE_LESSONS_H_
