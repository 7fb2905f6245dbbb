#include "tarn/render/meshes.h"

#include <embree3/rtcore.h>

#include <deque>
#include <string>

#include "tarn/base/error.h"

namespace tarn {

namespace {

// One for the program.
RTCDevice device_of_embree()
{
    static const struct Device {
        RTCDevice device = rtcNewDevice(nullptr);
        ~Device() { rtcReleaseDevice(device); }
    } one;
    if (!one.device) throw RunError("Embree cannot be started");
    return one.device;
}

RTCRay ray_of(const Ray& r, float t_max)
{
    RTCRay q;
    q.org_x = r.o[0], q.org_y = r.o[1], q.org_z = r.o[2];
    q.dir_x = r.d[0], q.dir_y = r.d[1], q.dir_z = r.d[2];
    q.tnear = 0;
    q.tfar = t_max;
    q.time = r.time;
    q.mask = ~0u;
    q.id = 0;
    q.flags = 0;
    return q;
}

}  // namespace

struct Meshes::Workspace {
    RTCScene scene = rtcNewScene(device_of_embree());
    // By Embree's number of a geometry.
    struct Part {
        int material = -1;
        std::vector<Sphere> spheres;  // empty for triangles
        const Workspace* instance = nullptr;
        Pose pose;
    };
    std::deque<Part> parts;

    ~Workspace() { rtcReleaseScene(scene); }

    unsigned attach(RTCGeometry geometry)
    {
        rtcCommitGeometry(geometry);
        const unsigned id = rtcAttachGeometry(scene, geometry);
        rtcReleaseGeometry(geometry);
        TARN_CHECK_EQ(static_cast<size_t>(id), parts.size());
        parts.emplace_back();
        return id;
    }
};

Meshes::Meshes() : room_(std::make_unique<Workspace>()) {}
Meshes::~Meshes() = default;
Meshes::Meshes(Meshes&&) noexcept = default;
Meshes& Meshes::operator=(Meshes&&) noexcept = default;

void Meshes::add_triangles(const std::vector<Vec3f>& points, const std::vector<std::array<int, 3>>& triangles,
                           int material)
{
    if (triangles.empty()) return;
    RTCGeometry geometry = rtcNewGeometry(device_of_embree(), RTC_GEOMETRY_TYPE_TRIANGLE);
    auto* p = static_cast<float*>(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3,
                                                          3 * sizeof(float), points.size()));
    for (const Vec3f& x : points)
        for (int a = 0; a < 3; ++a) *p++ = x[a];
    auto* t = static_cast<unsigned*>(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3,
                                                             3 * sizeof(unsigned), triangles.size()));
    for (const auto& corners : triangles)
        for (const int c : corners) *t++ = static_cast<unsigned>(c);
    room_->parts[room_->attach(geometry)].material = material;
}

void Meshes::add_spheres(const std::vector<Sphere>& spheres, int material)
{
    if (spheres.empty()) return;
    RTCGeometry geometry = rtcNewGeometry(device_of_embree(), RTC_GEOMETRY_TYPE_SPHERE_POINT);
    rtcSetGeometryTimeStepCount(geometry, 2);
    for (unsigned time = 0; time < 2; ++time) {
        auto* p = static_cast<float*>(rtcSetNewGeometryBuffer(geometry, RTC_BUFFER_TYPE_VERTEX, time, RTC_FORMAT_FLOAT4,
                                                              4 * sizeof(float), spheres.size()));
        for (const Sphere& s : spheres) {
            const Vec3f x = s.centre + static_cast<float>(time) * s.shift;
            for (int a = 0; a < 3; ++a) *p++ = x[a];
            *p++ = s.radius;
        }
    }
    Workspace::Part& part = room_->parts[room_->attach(geometry)];
    part.material = material;
    part.spheres = spheres;
}

void Meshes::add_instances(const Meshes& of, const std::vector<Pose>& poses)
{
    for (const Pose& pose : poses) {
        RTCGeometry geometry = rtcNewGeometry(device_of_embree(), RTC_GEOMETRY_TYPE_INSTANCE);
        rtcSetGeometryInstancedScene(geometry, of.room_->scene);
        float rows[12];
        for (int a = 0; a < 3; ++a) {
            for (int b = 0; b < 3; ++b) rows[4 * a + b] = static_cast<float>(pose.rows[a][b]);
            rows[4 * a + 3] = static_cast<float>(pose.translation[a]);
        }
        rtcSetGeometryTransform(geometry, 0, RTC_FORMAT_FLOAT3X4_ROW_MAJOR, rows);
        Workspace::Part& part = room_->parts[room_->attach(geometry)];
        part.instance = of.room_.get();
        part.pose = pose;
    }
}

void Meshes::make_ready() { rtcCommitScene(room_->scene); }

bool Meshes::empty() const { return room_->parts.empty(); }

bool Meshes::hit(MeshHit& found, const Ray& ray, float t_max) const
{
    RTCRayHit q;
    q.ray = ray_of(ray, t_max);
    q.hit.geomID = RTC_INVALID_GEOMETRY_ID;
    q.hit.instID[0] = RTC_INVALID_GEOMETRY_ID;
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcIntersect1(room_->scene, &context, &q);
    if (q.hit.geomID == RTC_INVALID_GEOMETRY_ID) return false;

    found.t = q.ray.tfar;
    const Workspace* workspace = room_.get();
    Pose pose;
    if (q.hit.instID[0] != RTC_INVALID_GEOMETRY_ID) {
        const Workspace::Part& instance = workspace->parts[q.hit.instID[0]];
        workspace = instance.instance;
        pose = instance.pose;
    }
    const Workspace::Part& part = workspace->parts[q.hit.geomID];
    found.material = part.material;
    found.sphere = !part.spheres.empty();
    if (found.sphere) {
        const Sphere& s = part.spheres[q.hit.primID];
        found.centre = pose.apply((s.centre + ray.time * s.shift).as<double>()).as<float>();
        found.radius = s.radius;
        found.velocity = s.velocity;
        found.normal = normalized(ray.at(found.t) - found.centre);
    } else {
        const Vec3 n{q.hit.Ng_x, q.hit.Ng_y, q.hit.Ng_z};
        found.normal = normalized((pose.apply(n) - pose.translation).as<float>());
    }
    return true;
}

bool Meshes::blocks(const Ray& ray, float t_max) const
{
    RTCRay q = ray_of(ray, t_max);
    RTCIntersectContext context;
    rtcInitIntersectContext(&context);
    rtcOccluded1(room_->scene, &context, &q);
    return q.tfar < 0;
}

}  // namespace tarn
