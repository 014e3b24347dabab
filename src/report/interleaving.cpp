#include "report/interleaving.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string_view>

#include "report/layout.h"

namespace tomos {

namespace {

constexpr std::size_t kNarrowest = 24;  // a column with less says too little
constexpr std::string_view kBetween = "  ";

struct Row {
  std::size_t thread = 0;  // index into the threads
  std::string marks;       // which edges start and end here
  std::string what;        // "read balance [acnt]"
  std::string where;
};

struct Drawing {
  std::vector<std::string> threads;
  std::vector<Row> rows;
};

// A transaction that is nothing but its only access needs no begin line of its own.
bool is_single_access(const Finding& finding, std::size_t transaction) {
  if (!finding.transactions[transaction].label.empty()) return false;
  const Location& begin = finding.transactions[transaction].location;
  return begin == Location() || std::ranges::all_of(finding.events, [&](const auto& event) {
           return event.transaction != transaction || event.location == begin;
         });
}

// Without the column: there is little room, and what stands around has it.
std::string known(const Location& location) {
  if (location == Location()) return "";
  return to_string({.file = location.file, .line = location.line});
}

std::size_t thread_index(std::vector<std::string>& threads, const std::string& thread) {
  const auto index = static_cast<std::size_t>(std::ranges::find(threads, thread) - threads.begin());
  if (index == threads.size()) threads.push_back(thread);
  return index;
}

// "#2" for the second of several transactions with one thread and label.
std::string ordinal(const Finding& finding, std::size_t transaction) {
  const auto& self = finding.transactions[transaction];
  std::size_t alike = 0;
  std::size_t number = 0;
  for (std::size_t i = 0; i < finding.transactions.size(); ++i) {
    const auto& other = finding.transactions[i];
    if (other.thread != self.thread || other.label != self.label) continue;
    if (self.label.empty() && other.location != self.location) continue;
    ++alike;
    if (i == transaction) number = alike;
  }
  return alike > 1 ? fmt::format(" #{}", number) : "";
}

std::string marks(const Finding& finding, std::size_t event) {
  std::string text;
  for (std::size_t i = 0; i < finding.edges.size(); ++i) {
    const bool from = finding.edges[i].from == event;
    const bool to = finding.edges[i].to == event;
    if (!from && !to) continue;
    if (!text.empty()) text += ' ';
    text += fmt::format("{}{}{}", to ? ">" : "", i + 1, from ? ">" : "");
  }
  return text;
}

Drawing arrange(const Finding& finding) {
  Drawing drawing;
  if (!finding.transactions.empty()) drawing.threads.push_back(finding.transactions[0].thread);
  std::vector<bool> begun(finding.transactions.size(), false);
  for (std::size_t i = 0; i < finding.events.size(); ++i) {
    const Finding::Event& event = finding.events[i];
    const std::size_t thread = thread_index(drawing.threads, event.thread);
    if (event.transaction < begun.size() && !begun[event.transaction]) {
      begun[event.transaction] = true;
      const auto& transaction = finding.transactions[event.transaction];
      // Without a name and at the same place it would say nothing; what stands outside of any
      // transaction looks like that, too.
      if (!transaction.label.empty() ||
          (transaction.location != Location() && transaction.location != event.location)) {
        drawing.rows.push_back(
            {.thread = thread,
             .marks = "",
             .what = fmt::format("begin{}{}{}", transaction.label.empty() ? "" : " ",
                                 transaction.label, ordinal(finding, event.transaction)),
             .where = known(transaction.location)});
      }
    }
    std::string what = event.op;
    if (!event.variable.empty()) what += ' ' + event.variable;
    if (!event.locks.empty()) what += fmt::format(" [{}]", fmt::join(event.locks, ", "));
    drawing.rows.push_back({.thread = thread,
                            .marks = marks(finding, i),
                            .what = std::move(what),
                            .where = known(event.location)});
  }
  return drawing;
}

std::size_t natural_width(const Row& row) {
  return width(row.what) + (row.where.empty() ? 0 : kBetween.size() + width(row.where));
}

// What on the left, where on the right; if there is not room for both, what gives way up to half of
// the cell.
std::string cell(const Row& row, std::size_t columns) {
  if (row.where.empty()) return pad(fit(row.what, columns, Cut::kTail), columns);
  const std::size_t room = columns - kBetween.size();
  const std::size_t what =
      std::min(width(row.what), std::max(room / 2, room - std::min(room, width(row.where))));
  const std::string where = fit(row.where, room - what, Cut::kHead);
  return pad(fit(row.what, what, Cut::kTail), columns - width(where)) + where;
}

// The widest limit for which the columns, each cut to it, fit into `room` together.
std::size_t column_limit(const std::vector<std::size_t>& natural, std::size_t room) {
  std::vector<std::size_t> sorted = natural;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    const std::size_t share = room / (sorted.size() - i);
    if (sorted[i] > share) return share;
    room -= sorted[i];
  }
  return sorted.empty() ? room : sorted.back();
}

void append_line(std::string& out, std::string_view line) {
  const std::size_t end = line.find_last_not_of(' ');
  out += line.substr(0, end == std::string_view::npos ? 0 : end + 1);
  out += '\n';
}

std::string draw_list(const Drawing& drawing, std::size_t gutter, std::size_t columns) {
  std::size_t name = 0;
  for (const std::string& thread : drawing.threads) name = std::max(name, width(thread));
  name = std::min(name, columns / 4);
  const std::size_t before = gutter + name + kBetween.size();
  std::size_t wide = kNarrowest;
  for (const Row& row : drawing.rows) wide = std::max(wide, natural_width(row));
  wide = std::min(wide, columns > before + kNarrowest ? columns - before : kNarrowest);

  std::string out;
  for (const Row& row : drawing.rows) {
    append_line(out, fmt::format("{}{}{}{}", pad(row.marks, gutter),
                                 pad(fit(drawing.threads[row.thread], name, Cut::kTail), name),
                                 kBetween, cell(row, wide)));
  }
  return out;
}

std::string draw_table(const Drawing& drawing, const std::vector<std::size_t>& widths,
                       std::size_t gutter) {
  std::string out;
  std::string names(gutter, ' ');
  std::string rule(gutter, ' ');
  for (std::size_t i = 0; i < widths.size(); ++i) {
    names += pad(fit(drawing.threads[i], widths[i], Cut::kTail), widths[i] + kBetween.size());
    rule += std::string(widths[i], '-') + std::string(kBetween);
  }
  append_line(out, names);
  append_line(out, rule);
  for (const Row& row : drawing.rows) {
    const std::size_t before =
        std::accumulate(widths.begin(), widths.begin() + static_cast<std::ptrdiff_t>(row.thread),
                        row.thread * kBetween.size());
    append_line(out,
                pad(row.marks, gutter) + std::string(before, ' ') + cell(row, widths[row.thread]));
  }
  return out;
}

}  // namespace

std::vector<std::string> transaction_names(const Finding& finding) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < finding.transactions.size(); ++i) {
    const auto& transaction = finding.transactions[i];
    std::string name = transaction.label;
    if (name.empty()) {
      name = is_single_access(finding, i) ? "access" : "block";
      if (transaction.location != Location()) name += " at " + to_string(transaction.location);
    }
    names.push_back(fmt::format("{}'s {}{}", transaction.thread, name, ordinal(finding, i)));
  }
  return names;
}

std::string draw_interleaving(const Finding& finding, std::size_t columns) {
  const Drawing drawing = arrange(finding);
  if (drawing.rows.empty()) return "";
  std::size_t gutter = 0;
  for (const Row& row : drawing.rows) gutter = std::max(gutter, width(row.marks));
  if (gutter > 0) gutter += kBetween.size();

  std::vector<std::size_t> widths;
  widths.reserve(drawing.threads.size());
  for (const std::string& thread : drawing.threads) widths.push_back(width(thread));
  for (const Row& row : drawing.rows) {
    widths[row.thread] = std::max(widths[row.thread], natural_width(row));
  }
  const std::size_t taken = gutter + (widths.size() - 1) * kBetween.size();
  const std::size_t limit = column_limit(widths, columns > taken ? columns - taken : 0);
  const bool cut =
      std::ranges::any_of(widths, [&](std::size_t natural) { return natural > limit; });
  if (cut && limit < kNarrowest) return draw_list(drawing, gutter, columns);
  for (std::size_t& column : widths) column = std::min(column, limit);
  return draw_table(drawing, widths, gutter);
}

}  // namespace tomos
