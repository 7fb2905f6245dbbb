#pragma once
// What a viewer may see of runs: files that a run writes, by their names, and lists of them. Nothing else in the folders, no links, and
// nothing outside.

#include <map>
#include <string>

#include "tarn/serve/server.h"

namespace tarn {

using Runs = std::map<std::string, std::string>;  // name to folder

// The run in a folder, or those in the folders below it. Throws InputError where there are none.
Runs runs_in(const std::string& folder);

// Answers NAME/FILE; "runs.json" and NAME/frames.json, which list what is there at that moment; and NAME/slice/..., cuts through states.
Server::Answer run_files(Runs runs);

}  // namespace tarn
