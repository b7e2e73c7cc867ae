// The part of codec.h that is about compiling under a plan.
#include <algorithm>
#include <string>

#include "wire/codec.h"
#include "wire/codec_data.h"

namespace hone::wire {
namespace {

unsigned Size(size_t size) { return static_cast<unsigned>(size); }

template <class List>
void TextsToWire(const std::vector<std::string>& texts, List out) {
  for (unsigned i = 0; i < out.size(); ++i) out.set(i, texts[i]);
}

template <class List>
std::vector<std::string> TextsFromWire(List in) {
  std::vector<std::string> texts;
  for (auto text : in) texts.push_back(text.cStr());
  return texts;
}

}  // namespace

void ToWire(const hone::CompilePlan& plan, CompilePlan::Builder out) {
  auto keys = out.initKeys(Size(plan.choices.size()));
  auto values = out.initValues(Size(plan.choices.size()));
  for (unsigned i = 0; i < keys.size(); ++i) {
    keys.set(i, plan.choices[i].key);
    values.set(i, plan.choices[i].value);
  }
  auto flags = out.initFlags(Size(plan.flags.size()));
  for (unsigned i = 0; i < flags.size(); ++i) {
    flags[i].setName(plan.flags[i].first);
    flags[i].initValues(1).set(0, plan.flags[i].second);
  }
}

hone::CompilePlan FromWire(CompilePlan::Reader in) {
  hone::CompilePlan plan;
  const auto keys = in.getKeys();
  const auto values = in.getValues();
  for (unsigned i = 0; i < std::min(keys.size(), values.size()); ++i) {
    plan.choices.push_back({keys[i], values[i].cStr()});
  }
  for (auto flag : in.getFlags()) {
    if (flag.getValues().size() == 1) {
      plan.flags.emplace_back(flag.getName().cStr(), flag.getValues()[0].cStr());
    }
  }
  return plan;
}

void ToWire(const hone::CompileOptions& options, CompileOptions::Builder out) {
  out.setSites(options.sites);
  out.setText(options.text);
  out.setFusionHops(static_cast<uint32_t>(options.fusion_hops));
  out.setFastMath(options.fast_math);
  out.setFreeEntry(options.free_entry);
  out.setCode(options.code);
  out.setAssembly(options.assembly);
}

hone::CompileOptions FromWire(CompileOptions::Reader in) {
  constexpr uint32_t kMostHops = 64;
  return {in.getSites(),
          in.getText(),
          static_cast<int>(std::min(in.getFusionHops(), kMostHops)),
          in.getFastMath(),
          in.getFreeEntry(),
          in.getCode(),
          in.getAssembly()};
}

void ToWire(const hone::Compiled& compiled, Compiled::Builder out) {
  ToWire(compiled.fingerprint, out.initFingerprint());
  out.setInstructions(compiled.instructions);
  auto sites = out.initSites(Size(compiled.sites.size()));
  for (unsigned i = 0; i < sites.size(); ++i) {
    const hone::CompileSite& site = compiled.sites[i];
    sites[i].setKey(site.key);
    sites[i].setKind(static_cast<uint8_t>(site.kind));
    sites[i].setPlaces(site.places);
    sites[i].setInstruction(site.instruction);
    sites[i].setOpcode(site.opcode);
    sites[i].setUser(site.user);
    sites[i].setBytes(site.bytes);
    TextsToWire(site.choices, sites[i].initChoices(Size(site.choices.size())));
    sites[i].setStock(site.stock);
    auto seconds = sites[i].initSeconds(Size(site.seconds.size()));
    for (unsigned j = 0; j < seconds.size(); ++j) seconds.set(j, site.seconds[j]);
  }
  auto flags = out.initFlagChoices(Size(compiled.flag_choices.size()));
  for (unsigned i = 0; i < flags.size(); ++i) {
    const hone::FlagChoices& flag = compiled.flag_choices[i];
    flags[i].setName(flag.name);
    flags[i].setFirst(flag.first);
    TextsToWire(flag.values, flags[i].initValues(Size(flag.values.size())));
  }
  out.setText(AsData(compiled.text));
  out.setAssembly(AsData(compiled.assembly));
  out.setSeconds(compiled.seconds);
  out.setApplied(compiled.applied);
}

hone::Compiled FromWire(Compiled::Reader in) {
  hone::Compiled compiled;
  compiled.fingerprint = FromWire(in.getFingerprint());
  compiled.instructions = in.getInstructions();
  for (auto site : in.getSites()) {
    const auto kind = std::min<uint8_t>(site.getKind(), std::size(kCompileSiteKindNames) - 1);
    std::vector<double> seconds;
    for (double one : site.getSeconds()) seconds.push_back(one);
    compiled.sites.push_back({site.getKey(), static_cast<CompileSiteKind>(kind), site.getPlaces(),
                              site.getInstruction().cStr(), site.getOpcode().cStr(),
                              site.getUser().cStr(), site.getBytes(),
                              TextsFromWire(site.getChoices()), site.getStock(),
                              std::move(seconds)});
  }
  for (auto flag : in.getFlagChoices()) {
    compiled.flag_choices.push_back(
        {flag.getName().cStr(), TextsFromWire(flag.getValues()), flag.getFirst()});
  }
  compiled.text = AsString(in.getText());
  compiled.assembly = AsString(in.getAssembly());
  compiled.seconds = in.getSeconds();
  compiled.applied = in.getApplied();
  return compiled;
}

std::vector<hone::ProgramTask> TasksFromWire(Worker::ExtractResults::Reader in) {
  std::vector<hone::ProgramTask> tasks;
  const auto modules = in.getModules();
  const auto what = in.getWhat();
  const auto places = in.getPlaces();
  const auto runs = in.getRuns();
  for (unsigned i = 0; i < modules.size(); ++i) {
    if (i >= what.size() || i >= places.size() || i >= runs.size()) break;
    tasks.push_back({modules[i].cStr(), what[i].cStr(), places[i], runs[i]});
  }
  return tasks;
}

}  // namespace hone::wire
