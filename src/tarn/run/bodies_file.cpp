#include "tarn/run/bodies_file.h"

#include <filesystem>
#include <sstream>

#include <nlohmann/json.hpp>

#include "tarn/base/error.h"
#include "tarn/output/files.h"

namespace tarn {
namespace {

nlohmann::ordered_json list_of(Vec3 v) { return {v[0], v[1], v[2]}; }

Vec3 vector_of(const nlohmann::json& list) { return {list.at(0), list.at(1), list.at(2)}; }

}  // namespace

BodiesFile::BodiesFile(const std::string& path, long step, bool any) : any_(any)
{
    if (!any) return;
    std::string kept;
    if (step >= 0 && std::filesystem::exists(path)) {
        std::istringstream lines(read_file(path));
        for (std::string line; std::getline(lines, line);) {
            const auto parsed = nlohmann::json::parse(line, nullptr, false);
            if (parsed.is_object() && parsed.value("step", step + 1) <= step) kept += line + '\n';
        }
    }
    write_file(path, kept);
    file_ = LineFile(path);
}

void BodiesFile::add(long step, double time, const std::vector<RigidBody>& bodies)
{
    if (!any_) return;
    nlohmann::ordered_json list = nlohmann::ordered_json::array();
    for (const RigidBody& b : bodies)
        list.push_back({{"name", b.name},
                        {"position", list_of(b.position)},
                        {"rotation", {b.rotation.w, b.rotation.v[0], b.rotation.v[1], b.rotation.v[2]}},
                        {"velocity", list_of(b.velocity)},
                        {"spin", list_of(b.spin)},
                        {"force", list_of(b.force)},
                        {"torque", list_of(b.torque)}});
    file_.add(nlohmann::ordered_json{{"step", step}, {"time", time}, {"bodies", list}}.dump());
}

void load_poses(const std::string& path, const std::function<void(double, std::vector<RigidPose>)>& f)
{
    std::istringstream lines(read_file(path));
    try {
        for (std::string line; std::getline(lines, line);) {
            const auto parsed = nlohmann::json::parse(line);
            std::vector<RigidPose> poses;
            for (const auto& b : parsed.at("bodies")) {
                const auto& q = b.at("rotation");
                poses.push_back({vector_of(b.at("position")), {q.at(0), {q.at(1), q.at(2), q.at(3)}}});
            }
            f(parsed.at("time"), std::move(poses));
        }
    } catch (const nlohmann::json::exception& e) {
        throw RunError(path + ": cannot be read: " + e.what());
    }
}

void load_tracks(const std::string& path, const Scene& scene)
{
    if (scene.bodies.empty()) return;
    load_poses(path, [&](double time, std::vector<RigidPose> poses) {
        if (poses.size() != scene.bodies.size()) throw RunError(path + ": holds other bodies than the scene; run it again");
        scene.solids.tracks().record(time, std::move(poses));
    });
}

}  // namespace tarn
