// Manual pages, written from CLI11's record of the commands and options.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace tomos {

// Names that have a page: "tomos" and every command.
std::vector<std::string> page_names(const CLI::App& app);

// The page tomos(1) or tomos-COMMAND(1), as roff source for man.
std::string manual_page(const CLI::App& app, const std::string& name);

}  // namespace tomos
