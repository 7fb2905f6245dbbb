#include <algorithm>

#include "tarn/params/tables.h"
#include "tarn/scene/make_bodies.h"
#include "tarn/scene/validate.h"

namespace tarn {

std::vector<Joint> make_joints(const Params& params, const std::vector<RigidBody>& bodies)
{
    const auto number_of = [&](const std::string& name) {
        for (size_t n = 0; n < bodies.size(); ++n)
            if (bodies[n].name == name) return static_cast<int>(n);
        return -1;
    };
    std::vector<Joint> joints;
    for (const JointParams& p : params.joint) {
        Joint j;
        j.kind = *p.kind;
        j.first = number_of(p.body);
        j.second = p.to.empty() ? -1 : number_of(p.to);
        const Vec3 point = p.point.value_or(bodies[static_cast<size_t>(j.first)].position);
        j.at_first = point - bodies[static_cast<size_t>(j.first)].position;
        j.at_second = j.second < 0 ? point : point - bodies[static_cast<size_t>(j.second)].position;
        const Vec3 axis = p.along.value_or(j.kind == JointKind::hinge ? Vec3{0, 0, 1} : Vec3{1, 0, 0});
        j.axis = (1 / length(axis)) * axis;
        joints.push_back(j);
    }
    return joints;
}

std::optional<Problem> check_joints(const Params& params)
{
    std::string known;
    for (const SolidParams& s : params.solid)
        if (s.motion == SolidMotion::body && !s.subtract && !s.name.empty()) known += (known.empty() ? "" : ", ") + quoted(s.name);
    const auto is_body = [&](const std::string& name) {
        return std::any_of(params.solid.begin(), params.solid.end(),
                           [&](const SolidParams& s) { return s.motion == SolidMotion::body && !s.subtract && s.name == name; });
    };
    for (size_t i = 0; i < params.joint.size(); ++i) {
        const JointParams& j = params.joint[i];
        const std::string entry = "joint." + std::to_string(i) + ".";
        const auto unknown = [&](const char* key, const std::string& name) {
            return Problem{entry + key, "no body has the name " + quoted(name) + "; " +
                                            (known.empty() ? "give a [[solid]] with motion = \"body\" a name" : "there are " + known)};
        };
        if (!is_body(j.body)) return unknown("body", j.body);
        if (!j.to.empty() && !is_body(j.to)) return unknown("to", j.to);
        if (j.to == j.body) return Problem{entry + "to", "is the same body; name another, or remove it to join it to the domain"};
        if (*j.kind == JointKind::hinge && !j.point) return Problem{entry + "point", "missing; a hinge needs the point that it turns about"};
        if (*j.kind == JointKind::slider && !j.along)
            return Problem{entry + "along", "missing; a slider needs the direction that it leaves free"};
        if (*j.kind == JointKind::slider && j.point) return Problem{entry + "point", "does nothing in a slider; remove it"};
        if (*j.kind == JointKind::hinge && params.dimension() == 2 && j.along)
            return Problem{entry + "along", "a hinge in 2D turns about z; remove it"};
        if (j.along && !(length(*j.along) > 0)) return Problem{entry + "along", "must not be zero; give a direction such as [1, 0, 0]"};
    }
    return {};
}

}  // namespace tarn
