// How a worker goes from state to state of a program, and what it remembers of each.
#ifndef HONE_COMPILER_WALK_H_
#define HONE_COMPILER_WALK_H_

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "compiler/fingerprint.h"
#include "compiler/passes/pass_table.h"
#include "compiler/states.h"

namespace hone::compiler {

struct States::Program {
  struct Outcome {
    Fingerprint state;
    std::string failure;
  };

  ProgramInfo info;
  std::unique_ptr<xla::HloModule> module;  // as loaded; never changed
  std::unordered_map<TransitionKey, Outcome, TransitionHash> transitions;
  std::unordered_map<Fingerprint, Metrics> metrics;
  // What XLA's verifier said of states that episodes met: nothing, mostly.
  std::unordered_map<Fingerprint, std::string> complaints;
  // What has killed or hung a worker. Heeded in fresh walks too.
  std::unordered_map<TransitionKey, std::string, TransitionHash> lethal;
  // How often a walk started from or came through a state: what is asked for twice is worth a copy.
  std::unordered_map<Fingerprint, uint32_t> touches;
  std::unordered_map<Fingerprint, std::list<Held>::iterator> held;
  double clone_seconds = 0;  // of the last copy of the module
};

struct States::Held {
  Program* program;
  Fingerprint state;
  // More than one where walks that changed nothing came back: the next walk takes one of them.
  std::vector<std::unique_ptr<xla::HloModule>> modules;
  size_t bytes;  // of each
};

// A position among the states of one program. It moves by memory where it can and has a module only
// where it must. Where XLA's verifier is asked (always, where decisions are made; in episodes once
// a state; else as the options say), a pass that leaves what it rejects has failed.
class States::Walk {
 public:
  Walk(States& states, Program& program, std::vector<Link> links, const ApplyOptions& options)
      : states_(states), program_(program), links_(std::move(links)), options_(options) {}

  Fingerprint state() const {
    return links_.empty() ? program_.info.fingerprint : links_.back().state;
  }

  // Whether the state is known without building it.
  bool known() const { return links_.empty() || links_.back().state != kUnknown; }

  Step Take(PassId pass, uint32_t index, const DecisionsPtr& decisions = nullptr);
  // Makes module_ the module of the current position.
  Status Build();
  // Ends the walk; what it built is kept for the next.
  void Finish();
  // The module is no longer that of the state.
  void Spoil() { Drop(); }

  std::unique_ptr<xla::HloModule> TakeModule() { return std::move(module_); }
  xla::HloModule& module() { return *module_; }

 private:
  // Of links that were named by their pass alone.
  static constexpr Fingerprint kUnknown = {};

  void Remember(const Fingerprint& before, const Step& step);
  // True from the second time on.
  bool Touch(const Fingerprint& state) { return ++program_.touches[state] > 1; }
  bool TakeFromMemory(Step& step);
  // Whether the last module of a state is to stay when a walk starts from it.
  bool Stays(const Fingerprint& state);
  // Of module_, on the way to state().
  const Fingerprint& StateOfModule() const {
    return built_ == 0 ? program_.info.fingerprint : links_[built_ - 1].state;
  }
  // Takes or copies the nearest held module on the way here, or copies the program. Behind a link
  // whose state is not known nothing is.
  void Start();
  void Drop();

  // Runs one pass on module_. A failure drops the module: it may be half-changed.
  std::string RunOnModule(PassId pass, const DecisionsPtr& decisions, bool& changed);
  std::string RunWithDecisions(const PassEntry& entry, const Decisions& decisions);
  std::string RunPlainly(const PassEntry& entry);
  // Runs one pass here and moves on. Returns the failure; then the position has not moved.
  std::string Run(PassId pass, OpcodeCounts& opcodes);
  // Why module_ is not well formed; "" where it is.
  std::string Complaint();
  // The same, of the state that module_ is: looked at once.
  std::string ComplaintOf(const Fingerprint& state);
  ModuleDigest Digest();
  // Of the state here, as far as asked for. An episode has them of what it changed alone: the rest
  // is known to whoever leads it.
  Metrics MetricsHere();

  States& states_;
  Program& program_;
  std::vector<Link> links_;
  const ApplyOptions options_;
  std::unique_ptr<xla::HloModule> module_;
  DecisionsPtr decisions_;       // about the pass at hand
  size_t built_ = 0;             // how many of links_ module_ embodies
  std::optional<Metrics> here_;  // what the last digest counted, until it is asked for
};

}  // namespace hone::compiler

#endif  // HONE_COMPILER_WALK_H_
