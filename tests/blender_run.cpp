// The part of the Blender add-on that reads a run's folder, in the system's Python. `tarn validate blender` tests the
// rest.

#include "run_helpers.h"

namespace tarn::testing {
namespace {

class BlenderRun : public ProgramTest {
protected:
    void SetUp() override
    {
        ProgramTest::SetUp();
        if (python("import numpy, tomllib").code != 0)
            GTEST_SKIP() << "no numpy, or Python before 3.11: install python3-numpy";
    }
    Outcome python(const std::string& text) const
    {
        const std::string path = "import sys\nsys.path.insert(0, '" TARN_SOURCE_DIR
                                 "/app/blender/tarn_water')\n"
                                 "sys.dont_write_bytecode = True\n";
        return tarn(Launch{.words = {"-c", path + text}, .program = "/usr/bin/python3"});
    }
    // What the add-on tells somebody who opens the folder.
    std::string refusal(const std::string& path) const
    {
        const Outcome r =
            python("import run\ntry:\n    run.Run('" + path + "')\nexcept run.NoRun as e:\n    print(e)\n");
        EXPECT_EQ(r.code, 0) << r.err;
        return r.out;
    }
};

TEST_F(BlenderRun, reads_the_files_that_a_run_leaves)
{
    write("small.toml", small_scene("[[solid]]\nshape = \"sphere\"\ncenter = [0.7, 0.2, 0.25]\nradius = 0.1\n"
                                    "[camera]\nposition = [2, 1, 3]\n"));
    ASSERT_EQ(tarn({"run", "small.toml", "--frames", "2", "--out", "o"}).code, 0);
    const Outcome r = python(R"(
import numpy as np
import run
r = run.Run("o/surface")  # a folder inside the run serves as well
assert r.folder.name == "o" and r.title == "Small" and r.size == [1, 1, 0.5] and r.rate == 30, vars(r)
assert r.speed == 1
assert r.camera["position"] == [2, 1, 3] and r.camera["fov"] == 40
assert r.frames("surface") == [0, 1, 2] and r.frames("solids") == [0] and r.frames("volume") == []
assert r.shown("surface", 7) == 2 and r.shown("surface", 1) == 1 and r.shown("solids", 2) == 0
columns, triangles = run.read_ply(r.path("surface", 0))
points = run.vectors(columns, "x", "y", "z")
# The volume of a closed mesh, by the divergence theorem: 0.4 x 0.6 x 0.5, its edges bevelled by less than a cell of 1/24.
a, b, c = (points[triangles[:, i]].astype(float) for i in range(3))
volume = (a * np.cross(b, c)).sum() / 6
assert abs(volume - 0.12) < 0.01 * 0.12, volume
solids, faces = run.read_ply(r.path("solids", 0))
mine, triangles = run.of_owner(solids, faces, 0)
assert len(r.solids) == 1 and len(triangles) == len(faces) > 0 and len(mine["x"]) == len(solids["x"])
assert len(run.of_owner(solids, faces, 1)[1]) == 0
drops = run.read_ply(r.path("particles", 2))[0]
assert set(drops) == {"x", "y", "z", "vx", "vy", "vz", "radius", "age", "id", "kind", "stretch"}, set(drops)
)");
    EXPECT_EQ(r.code, 0) << r.err;
}

TEST_F(BlenderRun, the_add_on_is_made_into_a_zip)
{
    const Outcome r = tarn(Launch{.words = {"blender"}, .program = TARN_SOURCE_DIR "/tarn"});
    ASSERT_EQ(r.code, 0) << r.err;
    EXPECT_NE(r.err.find("out/tarn_water.zip: in Blender, "), std::string::npos) << r.err;
    const Outcome names = python("import zipfile\nprint(zipfile.ZipFile('" TARN_SOURCE_DIR "/out/tarn_water.zip').namelist())");
    for (const char* file : {"tarn_water/__init__.py", "tarn_water/load.py", "tarn_water/run.py", "tarn_water/note.py"})
        EXPECT_NE(names.out.find(file), std::string::npos) << names.out << names.err;
}

TEST_F(BlenderRun, says_why_a_folder_cannot_be_opened)
{
    EXPECT_NE(refusal("missing").find("no such folder"), std::string::npos);
    write("empty/notes.txt", "mine");
    EXPECT_NE(refusal("empty").find("holds no run of Tarn"), std::string::npos);
    write("broken/scene.toml", "tarn = ");
    EXPECT_NE(refusal("broken").find("is no scene that tarn run wrote"), std::string::npos);
    write("flat/scene.toml", "tarn = 1\n[domain]\nsize = [1, 1]\n[time]\nrate = 30\n");
    EXPECT_NE(refusal("flat").find("2D"), std::string::npos);
    write("usd/scene.toml", "tarn = 1\n[domain]\nsize = [1, 1, 1]\n[time]\nrate = 30\n");
    EXPECT_NE(refusal("usd").find("output.surface = \"ply\""), std::string::npos);
    write("usd/surface/frame_0000.usda", "#usda 1.0\n");
    EXPECT_NE(refusal("usd").find("tarn.usda"), std::string::npos);
}

}  // namespace
}  // namespace tarn::testing
