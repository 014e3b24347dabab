#include "tm/methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <pugixml.hpp>

namespace tomos::tm {

namespace {

std::string place_in(std::string_view text, const std::string& file, std::ptrdiff_t offset) {
  const std::string_view before = text.substr(
      0, std::min(static_cast<std::size_t>(std::max<std::ptrdiff_t>(offset, 0)), text.size()));
  const auto line = std::ranges::count(before, '\n') + 1;
  const std::size_t start = before.rfind('\n');
  const std::size_t column = before.size() - (start == std::string_view::npos ? 0 : start + 1) + 1;
  return fmt::format("{}:{}:{}", file, line, column);
}

constexpr const char* kMethodsRemedy =
    "docs/tm.md describes the file; `tomos tm --template FILE` writes one to start from.";

class MethodReader {
 public:
  MethodReader(std::string_view text, const std::string& file) : text_(text), file_(file) {}

  Result<Methods> read() {
    pugi::xml_document document;
    const auto parsed =
        document.load_buffer(text_.data(), text_.size(), pugi::parse_default, pugi::encoding_utf8);
    if (!parsed) return wrong(parsed.offset, fmt::format("is no XML: {}", parsed.description()));
    const pugi::xml_node root = document.document_element();
    if (std::string_view(root.name()) != "methods") {
      return wrong(root.offset_debug(), "the outermost element is not <methods>");
    }
    Methods methods;
    for (const pugi::xml_node child : root.children()) {
      if (std::string_view(child.name()) != "method") {
        return wrong(child.offset_debug(), "only <method> can stand in <methods>");
      }
      auto method = read_method(child);
      if (!method) return std::unexpected(method.error());
      methods.push_back(std::move(*method));
    }
    return methods;
  }

 private:
  std::unexpected<Error> wrong(std::ptrdiff_t offset, std::string what) const {
    return std::unexpected(Error{.where = place_in(text_, file_, offset),
                                 .what = std::move(what),
                                 .remedy = kMethodsRemedy});
  }

  Result<DescribedMethod> read_method(const pugi::xml_node& of) const {
    DescribedMethod made = {.name = of.attribute("name").value(),
                            .place = place_in(text_, file_, of.offset_debug()),
                            .effects = {}};
    if (made.name.empty()) return wrong(of.offset_debug(), "this <method> has no name");
    for (const pugi::xml_attribute attribute : of.attributes()) {
      if (std::string_view(attribute.name()) != "name") {
        return wrong(of.offset_debug(),
                     fmt::format("a <method> has no attribute \"{}\"", attribute.name()));
      }
    }
    for (const pugi::xml_node child : of.children()) {
      const std::string_view kind = child.name();
      if (kind != "read" && kind != "write") {
        return wrong(child.offset_debug(), "only <read> and <write> can stand in <method>");
      }
      auto effect = read_effect(child, kind == "write");
      if (!effect) return std::unexpected(effect.error());
      made.effects.push_back(std::move(*effect));
    }
    return made;
  }

  // <read>field</read>, <read global="name"/>, <write argument="2"/>
  Result<MethodEffect> read_effect(const pugi::xml_node& of, bool writes) const {
    MethodEffect effect = {.writes = writes, .field = of.text().get(), .global = {}, .argument = 0};
    int ways = effect.field.empty() ? 0 : 1;
    for (const pugi::xml_attribute attribute : of.attributes()) {
      const std::string_view name = attribute.name();
      const std::string_view value = attribute.value();
      ++ways;
      if (name == "global") {
        effect.global = value;
      } else if (name == "argument") {
        const auto [end, error] =
            std::from_chars(value.data(), value.data() + value.size(), effect.argument);
        if (error != std::errc() || end != value.data() + value.size() || effect.argument < 1) {
          return wrong(of.offset_debug(), fmt::format("\"{}\" is no number of an argument", value));
        }
      } else {
        return wrong(of.offset_debug(), fmt::format("there is no attribute \"{}\"", name));
      }
    }
    if (ways != 1) {
      return wrong(of.offset_debug(),
                   "needs one of: a field as its text, global=\"name\", argument=\"number\"");
    }
    return effect;
  }

  std::string_view text_;
  const std::string& file_;
};

std::string in_xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '<') {
      out += "&lt;";
    } else if (c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += "&quot;";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

Result<Methods> parse_methods(std::string_view text, const std::string& file) {
  return MethodReader(text, file).read();
}

std::string methods_template(const std::set<std::string>& signatures) {
  std::string out =
      "<!-- What these functions read and write, for `tomos tm --methods`: <read>field</read> and\n"
      "     <write>field</write> of the method's object, <read global=\"name\"/>, or\n"
      "     <write argument=\"1\"/> for what the first argument leads to. None: nothing. -->\n"
      "<methods>\n";
  for (const std::string& signature : signatures) {
    out += fmt::format("  <method name=\"{}\">\n  </method>\n", in_xml(signature));
  }
  return out + "</methods>\n";
}

}  // namespace tomos::tm
