#include "tm/values.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tomos::tm {

Origins made_implicit(const Origins& origins) {
  if (std::ranges::all_of(origins, &Origin::implicit)) return origins;
  std::vector<Origin> made;
  made.reserve(origins.size());
  for (Origin origin : origins) {
    origin.implicit = true;
    if (made.empty() || made.back() != origin) made.push_back(origin);
  }
  return Origins(std::move(made));
}

const Value* Store::find(LocationId at) const {
  if (groups_.empty()) return nullptr;
  const auto group =
      std::ranges::lower_bound(groups_, locations_->activation(at), {}, &Group::activation);
  if (group == groups_.end() || group->activation != locations_->activation(at)) return nullptr;
  const auto known = std::ranges::lower_bound(*group->entries, at, {}, &Entry::at);
  return known == group->entries->end() || known->at != at ? nullptr : &known->value;
}

Value& Store::get(LocationId at) {
  const std::uint64_t activation = locations_->activation(at);
  auto group = std::ranges::lower_bound(groups_, activation, {}, &Group::activation);
  if (group == groups_.end() || group->activation != activation) {
    group = groups_.insert(group, {activation, std::make_shared<std::vector<Entry>>()});
  } else if (group->entries.use_count() > 1) {
    group->entries = std::make_shared<std::vector<Entry>>(*group->entries);
  }
  std::vector<Entry>& entries = *group->entries;
  auto known = std::ranges::lower_bound(entries, at, {}, &Entry::at);
  if (known == entries.end() || known->at != at) known = entries.insert(known, Entry{.at = at});
  return known->value;
}

void Store::forget(std::uint32_t activation, const Few<LocationId>& known) {
  const auto group = std::ranges::lower_bound(groups_, activation, {}, &Group::activation);
  if (group == groups_.end() || group->activation != activation) return;
  std::vector<Entry> rest;
  for (const Entry& entry : *group->entries) {
    if (locations_->root(entry.at) != entry.at || known.contains(entry.at)) rest.push_back(entry);
  }
  if (rest.empty()) {
    groups_.erase(group);
  } else if (rest.size() < group->entries->size()) {
    group->entries = std::make_shared<std::vector<Entry>>(std::move(rest));
  }
}

void Store::join(const Store& other) {
  std::vector<Group> both;
  both.reserve(std::max(groups_.size(), other.groups_.size()));
  auto mine = groups_.begin();
  for (const Group& one : other.groups_) {
    while (mine != groups_.end() && mine->activation < one.activation) {
      both.push_back(std::move(*mine++));
    }
    if (mine != groups_.end() && mine->activation == one.activation) {
      join(*mine, one);
      both.push_back(std::move(*mine++));
    } else {
      both.push_back(one);
    }
  }
  std::move(mine, groups_.end(), std::back_inserter(both));
  groups_ = std::move(both);
}

void Store::join(Group& mine, const Group& other) {
  if (mine.entries == other.entries || *mine.entries == *other.entries) return;
  auto both = std::make_shared<std::vector<Entry>>();
  both->reserve(std::max(mine.entries->size(), other.entries->size()));
  auto left = mine.entries->cbegin();
  const auto end = mine.entries->cend();
  for (const Entry& right : *other.entries) {
    while (left != end && left->at < right.at) both->push_back(*left++);
    both->push_back(right);
    if (left == end || left->at != right.at) continue;
    if (left->value != right.value) both->back().value.join(left->value);
    ++left;
  }
  both->insert(both->end(), left, end);
  mine.entries = std::move(both);
}

}  // namespace tomos::tm
