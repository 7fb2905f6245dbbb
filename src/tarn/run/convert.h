#pragma once
// Between here and a machine that only simulates: the scene goes there packed, its states come back.

#include <string>

#include "tarn/scene/read.h"
#include "tarn/scene/scene.h"

namespace tarn {

// `tarn pack SCENE [FILE]`: writes the packed scene; to <scene>.pack where no file is named. Another packed scene is
// replaced only by force, and anything else never. Throws InputError.
int pack(const Scene& scene, const std::string& file, bool force);

// `tarn convert DIR`: what [output] asks for, made from the states that tarn-state left; or of a run, its surfaces,
// solids and spray in another format. The overrides change [output]. Frames that are there already are left alone.
int convert(const std::string& dir, const Overrides& overrides);

}  // namespace tarn
