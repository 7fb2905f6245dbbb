#pragma once
// A scene in one file that needs no library to read: every parameter to the bit, and the samples of meshes and terrain.

#include <string>
#include <string_view>

#include "tarn/scene/scene.h"

namespace tarn {

// How a packed scene begins.
inline constexpr std::string_view pack_magic = "TARNPACK";

std::string pack_scene(const Scene& scene);

// Throws InputError naming `file` where the bytes are not a packed scene, or one that is torn or of another version.
Scene unpack_scene(std::string_view bytes, const std::string& file);

}  // namespace tarn
