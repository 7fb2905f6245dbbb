#include "tarn/params/presets.h"

#include <cstdlib>

#include "tarn/base/error.h"
#include "tarn/params/tables.h"

namespace tarn {

namespace {

using enum Preset;

constexpr PresetChoice choices[] = {
    {foster_1996, "method", "solver", "\"foster-metaxas\"", "[FM96] §3, with its markers, its relaxation and its step"},

    {enright_2002, "method", "advection", "\"semi-lagrangian\"", "§3.3.2"},
    {enright_2002, "method", "extrapolation", "\"constant\"", "§3.3.1, (6)"},
    {enright_2002, "method", "leapfrog", "false", "§3.4: first order in time"},
    {enright_2002, "method", "wall_separation", "false", "§3.4: the pressure holds water to walls"},
    {enright_2002, "method", "enclosed_air", "false", "§3.4: air has one pressure"},
    {enright_2002, "surface", "band", "5", "§3.3.1: five cells"},
    {enright_2002, "surface", "advection", "\"forward-euler\"", "§3.2.2, for the particles, too; differences as in figure 2"},
    {enright_2002, "surface", "max_step", "0.5", "§3.4: the surface's own steps, which forward Euler is stable in"},
    {enright_2002, "surface", "distance", "\"enright-2002\"", "§3.2.4, (4) and (5)"},
    {enright_2002, "surface", "particles_per_cell", "64", "§3.2.1"},
    {enright_2002, "surface", "seeding", "\"even\"", "§3.2.1: three cells on each side"},
    {enright_2002, "surface", "reseed_frames", "20", "§3.2.5"},
    {enright_2002, "surface", "close_gaps", "false", "§3.1: both sides alike"},
    {enright_2002, "surface", "spray", "false", "§4.2 leaves it to later"},
    {enright_2002, "surface", "volume_correction", "false", "§3.2.6"},
    {enright_2002, "pressure", "solver", "\"mic0\"", "as Foster and Fedkiw 2001, whom §3.4 follows"},
    {enright_2002, "time", "cfl", "5", "§3.4"},

    {losasso_2004, "method", "grid", "\"octree\"", "§3"},
    {losasso_2004, "method", "advection", "\"semi-lagrangian\"", "§4"},
    {losasso_2004, "method", "extrapolation", "\"constant\"", "§5: as [EMF02]"},
    {losasso_2004, "method", "leapfrog", "false", "§3: first order in time"},
    {losasso_2004, "method", "enclosed_air", "false", "§5: air has one pressure"},
    {losasso_2004, "octree", "pressure", "\"losasso-2004\"", "§3.2"},
    {losasso_2004, "octree", "advection", "\"semi-lagrangian\"", "§4"},
    {losasso_2004, "surface", "advection", "\"semi-lagrangian\"", "§5"},
    {losasso_2004, "surface", "particles_per_cell", "64", "§5: as [EMF02]"},
    {losasso_2004, "surface", "seeding", "\"even\"", "§5: as [EMF02]"},
    {losasso_2004, "surface", "close_gaps", "false", "§5: as [EMF02]"},
    {losasso_2004, "surface", "spray", "false", "§5 has none"},
    {losasso_2004, "surface", "volume_correction", "false", "§5 has none"},

    {song_2005, "method", "phases", "\"water-air\"", "§3"},
    {song_2005, "method", "advection", "\"cip\"", "§4.1"},
    {song_2005, "method", "interface", "\"smeared\"", "§5.1, (15)"},
    {song_2005, "method", "leapfrog", "false", "§3: first order in time"},
    {song_2005, "method", "phase_velocities", "false", "§3: one velocity"},
    {song_2005, "method", "cip_far_air", "true", "§4.1"},
    {song_2005, "surface", "advection", "\"cip\"", "§4.1"},
    {song_2005, "method", "surface", "\"level-set\"", "§3"},
    {song_2005, "surface", "distance", "\"song-2005\"", "§6.1, (18) and (19)"},
    {song_2005, "surface", "volume_correction", "false", "§6.2 has it where water must be kept exactly"},
    {song_2005, "fragments", "unreferenced", "\"all\"", "§5.1"},
    {song_2005, "fragments", "after_projection", "true", "§3: the third step"},
    {song_2005, "pressure", "solver", "\"mic0\"", "§4.3"},
    {song_2005, "time", "step", "\"fixed\"", "§7: steps of a frame, 1/30 s"},

    {irving_2006, "method", "grid", "\"tall\"", "§3"},
    {irving_2006, "method", "advection", "\"semi-lagrangian\"", "§5"},
    {irving_2006, "method", "extrapolation", "\"constant\"", "§5: as [EMF02]"},
    {irving_2006, "method", "leapfrog", "false", "first order in time"},
    {irving_2006, "method", "wall_separation", "false", "the pressure holds water to walls"},
    {irving_2006, "method", "enclosed_air", "false", "air has one pressure"},
    {irving_2006, "tall", "gaps", "\"single\"", "§3"},
    {irving_2006, "surface", "advection", "\"semi-lagrangian\"", "as [LGF04]"},
    {irving_2006, "surface", "particles_per_cell", "64", "as [EMF02]"},
    {irving_2006, "surface", "seeding", "\"even\"", "as [EMF02]"},
    {irving_2006, "surface", "close_gaps", "false", "as [EMF02]"},
    {irving_2006, "surface", "volume_correction", "false", "the paper has none"},
};

const ParamRow& row_of(const PresetChoice& choice, const Section*& section)
{
    for (const Section& s : sections())
        for (const ParamRow& row : s.rows)
            if (std::string_view(s.name) == choice.section && std::string_view(row.name) == choice.key) {
                section = &s;
                return row;
            }
    throw InputError(std::string(choice.section) + "." + choice.key + ": no such parameter");
}

}  // namespace

std::span<const PresetChoice> preset_choices() { return choices; }

bool chosen_by_preset(Preset preset, const std::string& section, const std::string& key)
{
    for (const PresetChoice& c : choices)
        if (c.preset == preset && section == c.section && key == c.key) return true;
    return false;
}

void set_choice(Params& params, const PresetChoice& choice)
{
    const Section* section = nullptr;
    const ParamRow& row = row_of(choice, section);
    const std::string text = choice.value;
    void* const object = section->object(params, 0);
    if (row.kind == ParamKind::boolean) return row.set(object, text == "true");
    if (row.kind == ParamKind::integer) return row.set(object, std::atoi(choice.value));
    if (row.kind == ParamKind::number) return row.set(object, std::atof(choice.value));
    for (const Word& word : row.words)
        if (text == quoted(word.text)) return row.set(object, word.value);
    throw InputError(std::string(choice.section) + "." + choice.key + ": no such word, " + text);
}

}  // namespace tarn
