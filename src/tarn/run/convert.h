#pragma once
// Between here and a machine that only simulates: the scene goes there packed, its states come back.

#include <string>

#include "tarn/run/progress.h"
#include "tarn/scene/read.h"
#include "tarn/scene/scene.h"

namespace tarn {

// `tarn pack SCENE [FILE]`: writes the packed scene; to <scene>.pack where no file is named. Another packed scene is
// replaced only by force, and anything else never. Throws InputError.
int pack(const Scene& scene, const std::string& file, bool force);

// `tarn convert DIR`: what [output] asks for, made from the states that tarn-state or a run has kept. The overrides
// change [output]. Files that are there already are left alone.
int convert(const std::string& dir, const Overrides& overrides);

// Whether a run has left every file that the scene asks for, and makes those that are missing from its states. Throws
// InputError where there are none.
bool all_files_there(const std::string& dir, const Scene& scene, int frames);
int make_missing(const std::string& dir, const Scene& scene, Progress& progress);

}  // namespace tarn
