// EXR files. The only file that knows OpenEXR.

#include <ImfChannelList.h>
#include <ImfFrameBuffer.h>
#include <ImfInputFile.h>
#include <ImfOutputFile.h>
#include <ImfRgbaFile.h>
#include <ImfStringAttribute.h>

#include <filesystem>
#include <stdexcept>

#include "tarn/base/error.h"
#include "tarn/base/version.h"
#include "tarn/output/files.h"
#include "tarn/render/film.h"

namespace tarn {

void write_exr(const std::string& path, const Film& film, const std::vector<Vec3f>& radiance)
{
    const size_t n = film.pixels(), w = static_cast<size_t>(film.width);
    const float scale = 1 / static_cast<float>(film.samples);
    Imf::Header header(film.width, film.height);
    header.compression() = Imf::ZIP_COMPRESSION;
    header.insert("software", Imf::StringAttribute(std::string("Tarn ") + version()));

    struct Layer {
        const char* names[3];
        const std::vector<Vec3f>& values;
        float scale;
    };
    const Layer layers[] = {{{"R", "G", "B"}, radiance, 1},
                            {{"albedo.R", "albedo.G", "albedo.B"}, film.albedo, scale},
                            {{"normal.X", "normal.Y", "normal.Z"}, film.normal, scale},
                            {{"velocity.X", "velocity.Y", "velocity.Z"}, film.velocity, scale}};
    Imf::FrameBuffer frame;
    std::vector<std::vector<half>> planes;
    planes.reserve(12);
    for (const Layer& layer : layers)
        for (int c = 0; c < 3; ++c) {
            std::vector<half>& plane = planes.emplace_back(n);
            for (size_t i = 0; i < n; ++i)
                plane[i] = half(std::clamp(layer.scale * layer.values[i][c], -65000.0f, 65000.0f));
            header.channels().insert(layer.names[c], Imf::Channel(Imf::HALF));
            frame.insert(layer.names[c],
                         Imf::Slice(Imf::HALF, reinterpret_cast<char*>(plane.data()), sizeof(half), sizeof(half) * w));
        }
    header.channels().insert("Z", Imf::Channel(Imf::FLOAT));
    frame.insert("Z", Imf::Slice(Imf::FLOAT, reinterpret_cast<char*>(const_cast<float*>(film.depth.data())),
                                 sizeof(float), sizeof(float) * w));
    try {
        // One thread, as the picture's tiles have them all.
        Imf::OutputFile file(part_name(path).c_str(), header, 0);
        file.setFrameBuffer(frame);
        file.writePixels(film.height);
    } catch (const std::exception& error) {
        discard_part(path);
        throw RunError(path + ": cannot write: " + error.what());
    }
    publish_file(path);
}

Picture read_exr(const std::string& path)
{
    try {
        Imf::RgbaInputFile file(path.c_str());
        const Imath::Box2i box = file.dataWindow();
        const int w = box.max.x - box.min.x + 1, h = box.max.y - box.min.y + 1;
        std::vector<Imf::Rgba> rgba(static_cast<size_t>(w) * static_cast<size_t>(h));
        file.setFrameBuffer(rgba.data() - box.min.x - static_cast<ptrdiff_t>(box.min.y) * w, 1, static_cast<size_t>(w));
        file.readPixels(box.min.y, box.max.y);
        Picture picture{w, h, std::vector<Vec3f>(rgba.size())};
        for (size_t i = 0; i < rgba.size(); ++i)
            picture.pixels[i] = {std::max(0.0f, float(rgba[i].r)), std::max(0.0f, float(rgba[i].g)),
                                 std::max(0.0f, float(rgba[i].b))};
        return picture;
    } catch (const std::exception& error) {
        throw InputError(path + ": cannot be read as EXR: " + error.what());
    }
}

}  // namespace tarn
