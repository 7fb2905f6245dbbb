#include "tarn/params/presets.h"

#include <cstdlib>
#include <sstream>
#include <utility>

#include "tarn/base/error.h"
#include "tarn/params/tables.h"

namespace tarn {

namespace {

// A line for each choice: the key with its value as in a scene file, and where the paper says so.
constexpr const char* foster_1996_choices = R"(
method.solver = "foster-metaxas"  # [FM96] §3, with its markers, its relaxation and its step
)";

constexpr const char* enright_2002_choices = R"(
method.advection = "semi-lagrangian"  # §3.3.2
method.extrapolation = "constant"     # §3.3.1, (6)
method.leapfrog = false               # §3.4: first order in time
method.wall_separation = false        # §3.4: the pressure holds water to walls
method.enclosed_air = false           # §3.4: air has one pressure
surface.band = 5                      # §3.3.1: five cells
surface.advection = "forward-euler"   # §3.2.2, for the particles, too; differences as in figure 2
surface.max_step = 0.5                # §3.4: the surface's own steps, which forward Euler is stable in
surface.distance = "enright-2002"     # §3.2.4, (4) and (5)
surface.particles_per_cell = 64       # §3.2.1
surface.seeding = "even"              # §3.2.1: three cells on each side
surface.reseed_frames = 20            # §3.2.5
surface.close_gaps = false            # §3.1: both sides alike
surface.spray = false                 # §4.2 leaves it to later
surface.volume_correction = false     # §3.2.6
pressure.solver = "mic0"              # as Foster and Fedkiw 2001, whom §3.4 follows
time.cfl = 5                          # §3.4
)";

constexpr const char* losasso_2004_choices = R"(
method.grid = "octree"                 # §3
method.advection = "semi-lagrangian"   # §4
method.extrapolation = "constant"      # §6: as [EMF02]
method.leapfrog = false                # §4: first order in time
method.enclosed_air = false            # §6: air has one pressure
octree.pressure = "losasso-2004"       # §4.2
octree.advection = "semi-lagrangian"   # §4
surface.advection = "semi-lagrangian"  # §6; particles by Runge and Kutta
surface.particles_per_cell = 64        # §6: as [EMF02]
surface.seeding = "even"               # §6: as [EMF02]
surface.close_gaps = false             # §6: as [EMF02]
surface.spray = false                  # §6 has none
surface.volume_correction = false      # §6 has none
)";

constexpr const char* song_2005_choices = R"(
method.phases = "water-air"        # §3
method.advection = "cip"           # §4.1
method.interface = "smeared"       # §5.1, (15)
method.leapfrog = false            # §3: first order in time
method.phase_velocities = false    # §3: one velocity
method.cip_far_air = true          # §4.1
surface.advection = "cip"          # §4.1
method.surface = "level-set"       # §3
surface.distance = "song-2005"     # §6.1, (18) and (19)
surface.volume_correction = false  # §6.2 has it where water must be kept exactly
fragments.unreferenced = "all"     # §5.1
fragments.after_projection = true  # §3: the third step
pressure.solver = "mic0"           # §4.3
time.step = "fixed"                # §7: steps of a frame, 1/30 s
)";

constexpr const char* irving_2006_choices = R"(
method.grid = "tall"                   # §3
method.advection = "semi-lagrangian"   # §4
method.extrapolation = "constant"      # §4: as [EMF02]
method.leapfrog = false                # §4: first order in time
method.wall_separation = false         # §4: as [EMF02]
method.enclosed_air = false            # §4: as [EMF02]
tall.gaps = "single"                   # §3
surface.advection = "semi-lagrangian"  # §4
surface.particles_per_cell = 64        # §4: as [EMF02]
surface.seeding = "even"               # §4: as [EMF02]
surface.close_gaps = false             # §4: as [EMF02]
surface.volume_correction = false      # §4 has none
)";

std::vector<PresetChoice> read_choices()
{
    std::vector<PresetChoice> choices;
    for (const auto& [preset, text] : {std::pair{Preset::foster_1996, foster_1996_choices}, std::pair{Preset::enright_2002, enright_2002_choices},
                                       std::pair{Preset::losasso_2004, losasso_2004_choices}, std::pair{Preset::song_2005, song_2005_choices},
                                       std::pair{Preset::irving_2006, irving_2006_choices}}) {
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            const size_t dot = line.find('.'), equals = line.find(" = "), end = line.find("  # ");
            if (dot == std::string::npos) continue;
            std::string value = line.substr(equals + 3, end - equals - 3);
            value.erase(value.find_last_not_of(' ') + 1);
            choices.push_back({preset, line.substr(0, dot), line.substr(dot + 1, equals - dot - 1), value, line.substr(end + 4)});
        }
    }
    return choices;
}

const ParamRow& row_of(const PresetChoice& choice, const Section*& section)
{
    for (const Section& s : sections())
        for (const ParamRow& row : s.rows)
            if (s.name == choice.section && row.name == choice.key) {
                section = &s;
                return row;
            }
    throw InputError(choice.section + "." + choice.key + ": no such parameter");
}

}  // namespace

const std::vector<PresetChoice>& preset_choices()
{
    static const std::vector<PresetChoice> choices = read_choices();
    return choices;
}

bool chosen_by_preset(Preset preset, const std::string& section, const std::string& key)
{
    for (const PresetChoice& c : preset_choices())
        if (c.preset == preset && section == c.section && key == c.key) return true;
    return false;
}

void set_choice(Params& params, const PresetChoice& choice)
{
    const Section* section = nullptr;
    const ParamRow& row = row_of(choice, section);
    const std::string& text = choice.value;
    void* const object = section->object(params, 0);
    if (row.kind == ParamKind::boolean) return row.set(object, text == "true");
    if (row.kind == ParamKind::integer) return row.set(object, std::atoi(text.c_str()));
    if (row.kind == ParamKind::number) return row.set(object, std::atof(text.c_str()));
    for (const Word& word : row.words)
        if (text == quoted(word.text)) return row.set(object, word.value);
    throw InputError(choice.section + "." + choice.key + ": no such word, " + text);
}

}  // namespace tarn
