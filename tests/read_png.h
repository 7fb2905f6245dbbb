#pragma once
// Pictures back from their files.

#include <gtest/gtest.h>
#include <png.h>

#include "tarn/render/preview.h"

namespace tarn {

inline Image read_png(const std::string& path)
{
    png_image read{};
    read.version = PNG_IMAGE_VERSION;
    if (!png_image_begin_read_from_file(&read, path.c_str())) {
        ADD_FAILURE() << path << ": " << read.message;
        return {};
    }
    read.format = PNG_FORMAT_RGB;
    Image image{static_cast<int>(read.width), static_cast<int>(read.height), {}};
    image.rgb.resize(PNG_IMAGE_SIZE(read));
    EXPECT_TRUE(png_image_finish_read(&read, nullptr, image.rgb.data(), 0, nullptr)) << path;
    return image;
}

}  // namespace tarn
