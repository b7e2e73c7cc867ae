// How a program state is named, reached and stepped from.
#ifndef HONE_CORE_STATE_H_
#define HONE_CORE_STATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "core/fingerprint.h"
#include "core/metrics.h"
#include "core/pass.h"
#include "core/rewrite.h"

namespace hone {

// A loaded program, as its pool numbers it.
using ProgramId = uint32_t;

// A pass on a state: what a memory of transitions is keyed by.
struct TransitionKey {
  Fingerprint state;
  PassId pass = 0;
  uint64_t decisions = 0;  // Decisions::Hash; 0 is the pass as it is
  friend bool operator==(const TransitionKey& a, const TransitionKey& b) {
    return a.state == b.state && a.pass == b.pass && a.decisions == b.decisions;
  }
};
struct TransitionHash {
  size_t operator()(const TransitionKey& key) const {
    return std::hash<Fingerprint>()(key.state) + key.pass * 0x9e3779b97f4a7c15ull +
           key.decisions;
  }
};

// A pass that changed something, and the state that came of it.
struct Link {
  PassId pass = 0;
  Fingerprint state;                 // all zero where it is not known
  DecisionsPtr decisions = nullptr;  // about its rewrites

  friend bool operator==(const Link& a, const Link& b) {
    return a.pass == b.pass && a.state == b.state && HashOf(a.decisions) == HashOf(b.decisions);
  }
};

// A state by its way from a program. A worker that lost the state rebuilds it from this.
struct StateName {
  ProgramId program = 0;
  std::vector<Link> links;

  friend bool operator==(const StateName& a, const StateName& b) {
    return a.program == b.program && a.links == b.links;
  }
};

// How many instructions of each opcode a state has: ascending, none of them zero. Opcodes are
// indices into Pool::opcodes().
struct OpcodeCount {
  uint16_t opcode = 0;
  uint32_t count = 0;
};
using OpcodeCounts = std::vector<OpcodeCount>;

// The effect of one pass on one state.
struct Step {
  PassId pass = 0;
  bool changed = false;
  Fingerprint state;    // after the step; the state before it where the pass failed
  Metrics metrics;      // of `state`
  OpcodeCounts opcodes;  // of `state`, where asked for and the step changed something
  bool looked = false;  // known already: the pass did not run
  std::string failure;  // why it failed; empty where it did not
};

struct ApplyOptions {
  bool cost = false;         // fill flops, transcendentals, bytes_accessed
  bool peak_memory = false;  // fill peak_memory
  bool fresh = false;        // from a copy of the program, step by step, nothing remembered
  bool verify = false;       // run the HLO verifier after every change
  bool opcodes = false;      // fill Step::opcodes of what changed
  // A step of an episode: the pass runs even where its outcome is known, nothing is remembered, and
  // the module of the state that it starts from is taken, for nobody else goes on from there
  // (unless the state is held: Pool::Hold).
  bool episode = false;
  bool estimate = false;  // fill estimated_seconds
  bool kernels = false;   // fill kernels
};

// A transition that has killed or hung a worker.
struct KnownFailure {
  Fingerprint state;
  PassId pass = 0;
  std::string failure;
  uint64_t decisions = 0;  // as in TransitionKey
};

struct Applied {
  // The state really started from. Other than the asked-for name where a hidden instruction order
  // led the compiler elsewhere this time.
  Fingerprint start;
  std::vector<Step> steps;
};

}  // namespace hone

#endif  // HONE_CORE_STATE_H_
