#include "tune/lessons.h"

namespace hone::tune {

Lessons::Lessons(const std::vector<store::Lesson>& lessons) {
  for (const store::Lesson& lesson : lessons) entries_[{lesson.stage, lesson.key}] = lesson;
}

const store::Lesson* Lessons::Find(Stage stage, const std::string& name) const {
  const auto found = entries_.find({std::string(StageName(stage)), name});
  return found == entries_.end() ? nullptr : &found->second;
}

void Lessons::Learn(const std::vector<NamedChoice>& choices, double gain,
                    const std::string& program) {
  for (const store::Lesson& lesson : LessonsOf(choices, gain, program)) {
    const auto [known, added] = entries_.try_emplace({lesson.stage, lesson.key}, lesson);
    if (!added && known->second.gain <= gain) known->second = lesson;
  }
}

std::vector<store::Lesson> LessonsOf(const std::vector<NamedChoice>& choices, double gain,
                                     const std::string& program) {
  std::vector<store::Lesson> lessons;
  for (const NamedChoice& choice : choices) {
    if (choice.stage == Stage::kOrder) continue;
    lessons.push_back(
        {std::string(StageName(choice.stage)), choice.name, choice.value, gain, program});
  }
  return lessons;
}

}  // namespace hone::tune
