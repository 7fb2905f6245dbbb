#pragma once
// A quick picture of the water, for every frame of a run: rays marched through phi in 3D, a drawing in 2D.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tarn/output/particles.h"
#include "tarn/scene/scene.h"
#include "tarn/step/water.h"

namespace tarn {

struct Image {
    int width = 0, height = 0;  // even, as video codecs want them
    std::vector<uint8_t> rgb;   // sRGB, top row first
    std::vector<float> depth = {};  // m, how far a ray goes straight before it meets anything; in 3D alone
};

template <int D>
Image preview(const Water<D>& water, const Scene& scene, int width);
template <>
Image preview(const Water<2>& water, const Scene& scene, int width);
template <>
Image preview(const Water<3>& water, const Scene& scene, int width);

// Draws one tank again and again in 3D, with kernels, in room that it keeps.
class Painter {
public:
    // The scene must outlive it.
    Painter(const Scene& scene, const Grid<3>& grid, int width);
    ~Painter();

    int width() const;
    int height() const;
    // What image() makes an Image of, where the kernels are: there when these are done, and until the next picture.
    // `smoke` is its density, where there is any; phi is nowhere less than zero then.
    const Memory<uint8_t>& draw(const Field<3>& phi, const Solids<3>& solids, double time, const Field<3>* smoke = nullptr);
    Image image(const uint8_t* drawn) const;

private:
    struct Workspace;
    std::unique_ptr<Workspace> room_;
};

// A drop in a picture, at a place counted in pixels from its upper left corner: as its kind and stretch ask, drawn out
// along a direction. On paper, as in 2D, water is blue; otherwise drops shine.
void paint_drop(Image& image, float x, float y, float radius, const Drop& drop, Vec<2, float> along, bool on_paper);
// Drops in a picture of a 3D scene, but for those behind water or solids: what is seen through water is bent. Bubbles and
// foam show through.
void paint_drops(Image& image, const std::vector<Drop>& drops, const Scene& scene, double time);

void write_png(const std::string& path, const Image& image);

// Joins the pictures frame_*.png of a folder into a movie with ffmpeg. Throws RunError that says what to do if that
// fails.
void make_movie(const std::string& pictures, const std::string& movie, double rate);
// The movies of a run: of its drawings, and of its renders.
void make_preview_movie(const std::string& dir, double rate);
void make_render_movie(const std::string& dir, double rate);

}  // namespace tarn
