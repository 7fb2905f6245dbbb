#pragma once
// The parameters described for people and for editors, all from the tables.

#include <string>

namespace tarn {

// For a terminal: what `tarn params` prints.
std::string params_text();

// For docs/parameters.md.
std::string params_markdown();

// A JSON Schema (2020-12) of the scene file, for editors that check while one types.
std::string params_schema();

}  // namespace tarn
