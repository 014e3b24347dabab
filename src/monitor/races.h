// `races`: variables with potential data races, by one or several of the detectors of section 5.4
// side by side (race_detectors.h), all on the same accesses.
//
// Each detector gives each variable at most one race: the access that makes it racy in the
// detector's eyes, with the best partner known. Races between the same places are one finding,
// which says which of the detectors agree.
//
// With escape analysis on, no detector sees accesses to a variable before it escapes.
// Happens-before is used by multilockset only: the three older ones do without, as they were
// published.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "event/monitor.h"
#include "monitor/analyses.h"
#include "monitor/context.h"
#include "monitor/multilockset.h"
#include "monitor/race_detectors.h"

namespace tomos {

std::string_view to_string(RaceDetector detector);  // "eraser"

class Races final : public Monitor {
 public:
  explicit Races(const AnalysisOptions& options) : options_(options), context_(options) {}

  std::string_view name() const override { return "races"; }
  void on_events(std::span<const Event> events) override;
  void finish() override {}
  std::unique_ptr<Monitor> clone() const override { return std::make_unique<Races>(*this); }
  std::vector<Finding> findings(const Names& names) const override;
  std::uint64_t left_out() const override { return left_out_; }

 private:
  // One variable's, for each of the older detectors.
  struct States {
    EraserState eraser;
    ObjectState object;
    AtomizerState atomizer;
    std::uint8_t racy = 0;  // in the eyes of these detectors
  };
  struct Found {
    Race race;                   // the first
    SharedId last = 0;           // variable
    std::uint8_t detectors = 0;  // that found it
    std::uint64_t count = 0;     // of variables
  };

  static std::uint8_t bit(RaceDetector detector) {
    return static_cast<std::uint8_t>(1U << static_cast<unsigned>(detector));
  }
  RaceNews update(RaceDetector detector, SharedId variable, const RaceAccess& access);
  void add(RaceDetector detector, const Race& race);
  Finding finding_of(const Found& found, const Names& names) const;
  std::string who(const Found& found) const;

  AnalysisOptions options_;
  Context context_;
  RaceAccesses accesses_;
  Multilockset multilockset_;
  std::vector<States> states_;  // by SharedId
  RaceWitnesses witnesses_;
  std::vector<Found> found_;
  std::unordered_map<std::uint64_t, std::size_t> by_key_;
  std::uint64_t left_out_ = 0;
};

}  // namespace tomos
