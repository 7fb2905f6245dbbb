#include "tarn/surface/chains.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

namespace tarn {

namespace {

// In cells. Points stand about 0.4 apart: half or twice that costs, or rounds corners, by as much (docs/foster_metaxas.md).
constexpr double shortest_link = 0.25, longest_link = 0.6;
// Heuristic: surfaces with less air than this between them become one. The grid sees no air within a cell, and water that
// cannot be compressed would never close the gap by itself. Chains.bodies_join_and_part fails without.
constexpr double joining_gap = 0.4;
// Heuristic: water thinner than this is gone, as a sheet that is drawn out never breaks by itself.
constexpr double thinnest_sheet = 0.05;
// Closer to a wall than this, a point lies on it: just outside of the wall, so that it knows which cell it is in.
constexpr double wall_reach = 0.02, off_wall = 1e-3;
// What wets a wall does not leave it: in a step, it would go less far than this. Chains.water_goes_around_corners fails without.
constexpr double wet_reach = 0.75;
// Loops around less are gone.
constexpr double least_area = 0.05;

double across(Vec2 a, Vec2 b) { return a[0] * b[1] - a[1] * b[0]; }

struct Link {
    int chain, at;
    Vec2 from, to;
};

const Vec2& point(const Chain& c, int i)
{
    const int n = static_cast<int>(c.size());
    return c[static_cast<size_t>((i % n + n) % n)];
}

std::vector<Link> links_of(const Chains& chains)
{
    std::vector<Link> links;
    for (size_t c = 0; c < chains.size(); ++c)
        for (int i = 0; i < static_cast<int>(chains[c].size()); ++i)
            links.push_back({static_cast<int>(c), i, point(chains[c], i), point(chains[c], i + 1)});
    return links;
}

// Catmull-Rom through the link from i to i + 1. Where the chain turns by more than 60 degrees it has a corner, and runs straight.
Vec2 on_spline(const Chain& c, int i, double t)
{
    const Vec2 a = point(c, i - 1), b = point(c, i), d = point(c, i + 1), e = point(c, i + 2);
    const auto turns = [](Vec2 u, Vec2 v) { return dot(u, v) < 0.5 * length(u) * length(v); };
    if (turns(b - a, d - b) || turns(d - b, e - d)) return b + t * (d - b);
    return 0.5 * (2.0 * b + t * (d - a) + t * t * (2.0 * a - 5.0 * b + 4.0 * d - e) + t * t * t * (3.0 * b - a - 3.0 * d + e));
}

Cell<2> cell_at(Vec2 x) { return {static_cast<int>(std::floor(x[0] + 0.5)), static_cast<int>(std::floor(x[1] + 0.5))}; }

Contents contents(const Labels<2>& labels, Cell<2> c)
{
    for (int a = 0; a < 2; ++a) c[a] = std::clamp(c[a], -1, labels.grid().cells[a]);
    return labels(c);
}

// Things by the cell that they touch.
class Buckets {
public:
    explicit Buckets(const std::vector<Link>& links, double margin = 0)
    {
        for (size_t i = 0; i < links.size(); ++i) {
            const Link& l = links[i];
            const Cell<2> lo = cell_at({std::min(l.from[0], l.to[0]) - margin, std::min(l.from[1], l.to[1]) - margin});
            const Cell<2> hi = cell_at({std::max(l.from[0], l.to[0]) + margin, std::max(l.from[1], l.to[1]) + margin});
            for (int y = lo[1]; y <= hi[1]; ++y)
                for (int x = lo[0]; x <= hi[0]; ++x) of_[{y, x}].push_back(static_cast<int>(i));
        }
    }
    const std::map<std::pair<int, int>, std::vector<int>>& all() const { return of_; }
    const std::vector<int>& operator()(Cell<2> c) const
    {
        static const std::vector<int> none;
        const auto found = of_.find({c[1], c[0]});
        return found == of_.end() ? none : found->second;
    }

private:
    std::map<std::pair<int, int>, std::vector<int>> of_;
};

// How often the chains go around a place, by the links that a ray from it towards -x meets.
class Winding {
public:
    explicit Winding(const std::vector<Link>& links)
    {
        for (const Link& l : links) {
            const int lo = row(std::min(l.from[1], l.to[1])), hi = row(std::max(l.from[1], l.to[1]));
            for (int r = lo; r <= hi; ++r) rows_[r].push_back(l);
        }
    }
    int operator()(Vec2 x) const
    {
        const auto found = rows_.find(row(x[1]));
        if (found == rows_.end()) return 0;
        int n = 0;
        for (const Link& l : found->second) {
            if ((l.from[1] <= x[1]) == (l.to[1] <= x[1])) continue;
            const double at = l.from[0] + (x[1] - l.from[1]) / (l.to[1] - l.from[1]) * (l.to[0] - l.from[0]);
            // On the left of the place, a link that leads down has the water on this side.
            if (at < x[0]) n += l.to[1] < l.from[1] ? 1 : -1;
        }
        return n;
    }

private:
    static int row(double y) { return static_cast<int>(std::floor(y)); }
    std::map<int, std::vector<Link>> rows_;
};

// Points that change partners, by number: where each one's link leads.
struct Net {
    std::vector<Vec2> at;
    std::vector<int> next;

    explicit Net(const Chains& chains)
    {
        for (const Chain& c : chains) {
            const int first = static_cast<int>(at.size()), n = static_cast<int>(c.size());
            for (int i = 0; i < n; ++i) next.push_back(first + (i + 1) % n);
            at.insert(at.end(), c.begin(), c.end());
        }
    }
    // A point more on the link from i.
    int add(int i, Vec2 x)
    {
        at.push_back(x);
        next.push_back(next[static_cast<size_t>(i)]);
        return next[static_cast<size_t>(i)] = static_cast<int>(at.size()) - 1;
    }
    void change_partners(int i, int j) { std::swap(next[static_cast<size_t>(i)], next[static_cast<size_t>(j)]); }
    Chains loops() const
    {
        Chains all;
        std::vector<bool> seen(at.size());
        for (size_t first = 0; first < at.size(); ++first) {
            if (seen[first]) continue;
            Chain c;
            for (size_t i = first; !seen[i]; i = static_cast<size_t>(next[i])) {
                seen[i] = true;
                c.push_back(at[i]);
            }
            all.push_back(std::move(c));
        }
        return all;
    }
};

void drop_small(Chains& chains)
{
    std::erase_if(chains, [](const Chain& c) { return c.size() < 3 || std::fabs(area(c)) < least_area; });
}

// Whether a link lies along a wall: both of its ends do, at the same or around a corner.
bool at_wall(const Labels<2>& labels, Vec2 x)
{
    constexpr double reach = 2 * wall_reach;
    for (int a = 0; a < 2; ++a)
        for (const double d : {-reach, reach}) {
            Vec2 y = x;
            y[a] += d;
            if (is_wall(contents(labels, cell_at(y)))) return true;
        }
    return false;
}
bool along_wall(const Labels<2>& labels, Vec2 from, Vec2 to) { return at_wall(labels, from) && at_wall(labels, to); }

// Where a link along a wall turns around a corner of it that it cuts off.
std::optional<Vec2> corner_between(const Labels<2>& labels, Vec2 from, Vec2 to)
{
    if (!along_wall(labels, from, to) || at_wall(labels, 0.5 * (from + to))) return {};
    for (const Vec2 x : {Vec2{from[0], to[1]}, Vec2{to[0], from[1]}})
        if (!is_wall(contents(labels, cell_at(x))) && at_wall(labels, x)) return x;
    return {};
}

// A hole so small that links pass all of its cells has an empty one, that of its middle: full cells would never let it close.
void empty_hole(Field<2, int>& wet, const Chain& c)
{
    if (area(c) >= 0) return;
    Vec2 lo = c.front(), hi = lo, middle;
    for (const Vec2& x : c) {
        for (int a = 0; a < 2; ++a) lo[a] = std::min(lo[a], x[a]), hi[a] = std::max(hi[a], x[a]);
        middle += (1.0 / static_cast<double>(c.size())) * x;
    }
    for (int j = cell_at(lo)[1]; j <= cell_at(hi)[1]; ++j)
        for (int i = cell_at(lo)[0]; i <= cell_at(hi)[0]; ++i)
            if (wet.grid().contains({i, j}) && wet({i, j}) == 3) return;
    if (wet.grid().contains(cell_at(middle))) wet(cell_at(middle)) = 3;
}

double distance_to(Vec2 x, Vec2 from, Vec2 to)
{
    const Vec2 d = to - from;
    const double square = dot(d, d), t = square > 0 ? std::clamp(dot(x - from, d) / square, 0.0, 1.0) : 0.0;
    return length(x - from - t * d);
}

// Where two links cross, as parts of their lengths.
std::optional<std::array<double, 2>> crossing(const Link& a, const Link& b)
{
    const Vec2 u = a.to - a.from, v = b.to - b.from, w = b.from - a.from;
    const double d = across(u, v);
    if (d == 0) return {};
    const double s = across(w, v) / d, t = across(w, u) / d;
    if (s < 0 || s >= 1 || t < 0 || t >= 1) return {};
    return std::array{s, t};
}

}  // namespace

Chains read_chains(const Particles<2>& markers)
{
    const ParticleView<2> p = const_cast<Particles<2>&>(markers).view();
    Chains chains;
    bool open = false;
    for (int i = 0; i < markers.count(); ++i) {
        if (!open) chains.emplace_back();
        chains.back().push_back(p.at(i).as<double>());
        open = p.radius[i] < 0;
    }
    return chains;
}

void write_chains(Particles<2>& markers, const Chains& chains)
{
    size_t n = 0;
    for (const Chain& c : chains) n += c.size();
    markers.resize(static_cast<int>(n));
    const ParticleView<2> p = markers.view();
    int i = 0;
    for (const Chain& c : chains)
        for (size_t k = 0; k < c.size(); ++k, ++i) {
            p.put(i, c[k].as<float>());
            p.radius[i] = k + 1 < c.size() ? -1.0f : 1.0f;
        }
}

double area(const Chain& c)
{
    double sum = 0;
    for (int i = 0; i < static_cast<int>(c.size()); ++i) sum += 0.5 * across(point(c, i), point(c, i + 1));
    return sum;
}
double area(const Chains& chains)
{
    return std::accumulate(chains.begin(), chains.end(), 0.0, [](double sum, const Chain& c) { return sum + area(c); });
}

// Marching squares on a lattice of four samples along a cell, walls midway between two of them.
Chains chains_around(const std::function<double(Vec2)>& phi, const Labels<2>& labels)
{
    constexpr int fine = 4;
    const Cell<2> n{fine * labels.grid().cells[0], fine * labels.grid().cells[1]};
    const int width = n[0] + 2;
    const auto place = [](int i, int j) { return Vec2{(i + 0.5) / fine - 0.5, (j + 0.5) / fine - 0.5}; };
    std::vector<double> value(static_cast<size_t>(width) * static_cast<size_t>(n[1] + 2), HUGE_VAL);  // infinite in walls
    const auto at = [&](Cell<2> s) -> double& { return value[static_cast<size_t>((s[1] + 1) * width + s[0] + 1)]; };
    for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i)
            if (!is_beyond(labels({i / fine, j / fine}))) at({i, j}) = phi(place(i, j));
    std::map<std::array<int, 3>, Vec2> points;  // by the lower sample and the axis of the edge that they are on
    std::map<std::array<int, 3>, std::array<int, 3>> next;
    for (int j = -1; j < n[1]; ++j)
        for (int i = -1; i < n[0]; ++i) {
            const Cell<2> corner[4] = {{i, j}, {i + 1, j}, {i + 1, j + 1}, {i, j + 1}};
            double v[4], middle = 0;
            for (int c = 0; c < 4; ++c) middle += std::min(v[c] = at(corner[c]), 1.0);
            const auto edge = [&](int c) {
                const Cell<2> p = corner[c], q = corner[(c + 1) % 4], low{std::min(p[0], q[0]), std::min(p[1], q[1])};
                const int axis = p[0] == q[0] ? 1 : 0;
                const std::array<int, 3> key{low[1], low[0], axis};
                const double from = at(low), to = at(moved<2>(low, axis, 1));
                const double t = std::isinf(from) || std::isinf(to) ? 0.5 : from / (from - to);
                Vec2 x = place(low[0], low[1]);
                x[axis] += t / fine;
                points[key] = x;
                return key;
            };
            // From an edge that leaves the water, counter-clockwise, to the one that comes back to it.
            for (int c = 0; c < 4; ++c) {
                if (!(v[c] < 0 && v[(c + 1) % 4] >= 0)) continue;
                const bool two = v[(c + 2) % 4] < 0 && v[(c + 3) % 4] >= 0;
                int e = c;
                while (!(v[e] >= 0 && v[(e + 1) % 4] < 0)) e = (e + 1) % 4;
                if (two && middle >= 0) e = (c + 3) % 4;
                next[edge(c)] = edge(e);
            }
        }
    Chains chains;
    while (!next.empty()) {
        Chain c;
        for (auto link = next.begin(); link != next.end();) {
            c.push_back(points[link->first]);
            const std::array<int, 3> to = link->second;
            next.erase(link);
            link = next.find(to);
        }
        chains.push_back(std::move(c));
    }
    mend(chains, labels);
    return chains;
}

void carry(Chains& chains, const Chains& moved, const Labels<2>& labels)
{
    for (size_t c = 0; c < chains.size(); ++c)
        for (size_t i = 0; i < chains[c].size(); ++i) {
            const bool wets = at_wall(labels, chains[c][i]);
            Vec2& x = chains[c][i] = moved[c][i];
            if (!wets) continue;
            // The nearest place at a wall.
            const Cell<2> own = cell_at(x);
            double least = wet_reach;
            Vec2 there = x;
            for (int n = 0; n < 9; ++n) {
                const Cell<2> wall = own + Cell<2>{n % 3 - 1, n / 3 - 1};
                if (!is_wall(contents(labels, wall))) continue;
                Vec2 y = x;
                for (int a = 0; a < 2; ++a) y[a] = std::clamp(x[a], wall[a] - 0.5 - off_wall, wall[a] + 0.5 + off_wall);
                if (length(y - x) >= least || is_wall(contents(labels, cell_at(y)))) continue;
                least = length(y - x);
                there = y;
            }
            x = there;
        }
}

void keep_at_walls(Chains& chains, const Labels<2>& labels)
{
    const Cell<2> cells = labels.grid().cells;
    for (Chain& c : chains)
        for (Vec2& x : c) {
            for (int a = 0; a < 2; ++a) x[a] = std::clamp(x[a], -0.5 + off_wall, cells[a] - 0.5 - off_wall);
            Cell<2> own = cell_at(x);
            if (is_wall(labels(own))) {
                // Out by the nearest side.
                double least = 1;
                Vec2 out = x;
                for (int a = 0; a < 2; ++a)
                    for (const int side : {-1, 1}) {
                        const double to = own[a] + side * (0.5 + off_wall), way = std::fabs(to - x[a]);
                        if (way >= least || is_wall(contents(labels, moved<2>(own, a, side)))) continue;
                        least = way;
                        out = x;
                        out[a] = to;
                    }
                x = out;
                own = cell_at(x);
            }
            for (int a = 0; a < 2; ++a)
                for (const int side : {-1, 1})
                    if (side * (x[a] - own[a]) > 0.5 - wall_reach && is_wall(contents(labels, moved<2>(own, a, side))))
                        x[a] = own[a] + side * (0.5 - off_wall);
        }
}

void respace(Chains& chains, const Labels<2>& labels)
{
    for (Chain& c : chains) {
        // Two that are too close become one, on the spline between them; a corner's, or one at a wall, stays.
        for (int i = 0; i < static_cast<int>(c.size()) && c.size() > 3; ++i) {
            const int n = static_cast<int>(c.size()), j = (i + 1) % n;
            if (length(point(c, j) - point(c, i)) >= shortest_link) continue;
            const auto stays = [&](int k) {
                const Vec2 in = point(c, k) - point(c, k - 1), out = point(c, k + 1) - point(c, k);
                return dot(in, out) < 0.5 * length(in) * length(out);
            };
            const int corner = stays(i) + 2 * stays(j), wall = at_wall(labels, point(c, i)) + 2 * at_wall(labels, point(c, j));
            const int kept = corner == 1 || corner == 2 ? corner : wall == 1 || wall == 2 ? wall : corner;
            c[static_cast<size_t>(i)] = kept == 1 ? point(c, i) : kept >= 2 ? point(c, j) : on_spline(c, i, 0.5);
            c.erase(c.begin() + j);
            --i;
        }
        Chain more;
        for (int i = 0; i < static_cast<int>(c.size()); ++i) {
            more.push_back(c[static_cast<size_t>(i)]);
            if (const auto corner = corner_between(labels, point(c, i), point(c, i + 1)))
                if (length(*corner - point(c, i)) > shortest_link && length(*corner - point(c, i + 1)) > shortest_link) {
                    more.push_back(*corner);
                    continue;
                }
            const int parts = static_cast<int>(std::ceil(length(point(c, i + 1) - point(c, i)) / longest_link));
            for (int k = 1; k < parts; ++k) more.push_back(on_spline(c, i, double(k) / parts));
        }
        c = std::move(more);
    }
}

// Two points that face each other across little air or water change partners; neighbours along a chain do not.
void reconnect(Chains& chains, Reconnected what)
{
    const double most = what == Reconnected::air ? joining_gap : thinnest_sheet, side = what == Reconnected::air ? 1 : -1;
    const std::vector<Link> links = links_of(chains);
    const Buckets near(links, most);
    std::vector<std::tuple<double, int, int>> pairs;
    for (size_t i = 0; i < links.size(); ++i) {
        const Link& p = links[i];
        for (const int j : near(cell_at(p.from))) {
            const Link& q = links[static_cast<size_t>(j)];
            const int n = static_cast<int>(chains[static_cast<size_t>(p.chain)].size()), apart = std::abs(p.at - q.at);
            if (j <= static_cast<int>(i) || (p.chain == q.chain && std::min(apart, n - apart) < 4)) continue;
            const auto along = [&](const Link& l) {
                return l.to - point(chains[static_cast<size_t>(l.chain)], l.at - 1);
            };
            const Vec2 way = q.from - p.from, u = along(p), v = along(q);
            const double gap = length(way);
            if (gap > most || dot(u, v) > -0.5 * length(u) * length(v)) continue;
            if (side * across(u, way) > 0 || side * across(v, way) < 0) continue;
            pairs.emplace_back(gap, static_cast<int>(i), j);
        }
    }
    if (pairs.empty()) return;
    std::sort(pairs.begin(), pairs.end());
    Net net(chains);
    std::vector<bool> used(links.size());
    for (const auto& [gap, i, j] : pairs) {
        if (used[static_cast<size_t>(i)] || used[static_cast<size_t>(j)]) continue;
        used[static_cast<size_t>(i)] = used[static_cast<size_t>(j)] = true;
        net.change_partners(i, j);
    }
    chains = net.loops();
    drop_small(chains);
}

// Where links cross, they change partners, and the loops that this makes cross no more. Those that stay have the water once on
// their left and none on their right: what overlaps is within, and what has turned inside out is gone.
void resolve_crossings(Chains& chains)
{
    const std::vector<Link> links = links_of(chains);
    const Buckets near(links);
    std::map<std::pair<int, int>, std::array<double, 2>> found;
    for (const auto& [cell, those] : near.all())
        for (size_t k = 0; k < those.size(); ++k)
            for (size_t l = k + 1; l < those.size(); ++l) {
                const Link &a = links[static_cast<size_t>(those[k])], &b = links[static_cast<size_t>(those[l])];
                const int n = static_cast<int>(chains[static_cast<size_t>(a.chain)].size()), apart = std::abs(a.at - b.at);
                if (a.chain == b.chain && (apart <= 1 || apart == n - 1)) continue;
                if (const auto parts = crossing(a, b)) found[{those[k], those[l]}] = *parts;
            }
    if (found.empty()) return;
    // On each link from its end to its start, so that each new point follows the link's first.
    std::vector<std::tuple<int, double, int>> stops;  // link, part of it, crossing
    std::vector<std::array<int, 2>> made(found.size());
    for (int n = 0; const auto& [pair, parts] : found) {
        stops.emplace_back(pair.first, -parts[0], 2 * n);
        stops.emplace_back(pair.second, -parts[1], 2 * n + 1);
        ++n;
    }
    std::sort(stops.begin(), stops.end());
    Net net(chains);
    for (const auto& [i, part, side] : stops) {
        const Link& l = links[static_cast<size_t>(i)];
        made[static_cast<size_t>(side / 2)][static_cast<size_t>(side % 2)] = net.add(i, l.from - part * (l.to - l.from));
    }
    for (const auto& [a, b] : made) net.change_partners(a, b);
    Chains loops = net.loops();
    drop_small(loops);
    const Winding around(links);
    chains.clear();
    for (Chain& c : loops) {
        int longest = 0;
        for (int i = 1; i < static_cast<int>(c.size()); ++i)
            if (length(point(c, i + 1) - point(c, i)) > length(point(c, longest + 1) - point(c, longest))) longest = i;
        const Vec2 from = point(c, longest), d = point(c, longest + 1) - from, left{-d[1], d[0]};
        if (around(from + 0.5 * d + 1e-4 / length(d) * left) == 1) chains.push_back(std::move(c));
    }
}

void mend(Chains& chains, const Labels<2>& labels)
{
    keep_at_walls(chains, labels);
    respace(chains, labels);
    reconnect(chains, Reconnected::air);
    reconnect(chains, Reconnected::water);
    resolve_crossings(chains);
    drop_small(chains);
}

void move_out(Chains& chains, double by, const Labels<2>& labels)
{
    double free = 0;
    for (const Link& l : links_of(chains)) free += along_wall(labels, l.from, l.to) ? 0.0 : length(l.to - l.from);
    if (!(free > 1)) return;
    const double way = std::clamp(by / free, -shortest_link, shortest_link);
    Chains moved = chains;
    for (size_t c = 0; c < chains.size(); ++c)
        for (int i = 0; i < static_cast<int>(chains[c].size()); ++i) {
            if (at_wall(labels, point(chains[c], i))) continue;
            const Vec2 d = point(chains[c], i + 1) - point(chains[c], i - 1);
            if (length(d) > 0) moved[c][static_cast<size_t>(i)] += way / length(d) * Vec2{d[1], -d[0]};
        }
    chains = std::move(moved);
}

void label_cells(Labels<2>& labels, const Chains& chains)
{
    const std::vector<Link> links = links_of(chains);
    const Cell<2> n = labels.grid().cells;
    Field<2, int> wet(labels.grid());  // 1 where a link passes, 2 full, 3 empty
    for (const Link& l : links)
        for (const double t : {0.0, 0.25, 0.5, 0.75}) {
            const Cell<2> c = cell_at(l.from + t * (l.to - l.from));
            if (labels.grid().contains(c) && !is_wall(labels(c))) wet(c) = 1;
        }
    const Winding around(links);
    std::vector<Cell<2>> growing;
    for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i) {
            const Cell<2> first{i, j};
            if (wet(first) != 0 || is_wall(labels(first))) continue;
            const int kind = around(first.as<double>()) > 0 ? 2 : 3;
            wet(first) = kind;
            growing.assign(1, first);
            while (!growing.empty()) {
                const Cell<2> c = growing.back();
                growing.pop_back();
                for (int a = 0; a < 2; ++a)
                    for (const int side : {-1, 1}) {
                        const Cell<2> next = moved<2>(c, a, side);
                        if (!labels.grid().contains(next) || wet(next) != 0 || is_wall(labels(next))) continue;
                        wet(next) = kind;
                        growing.push_back(next);
                    }
            }
        }
    for (const Chain& c : chains) empty_hole(wet, c);
    for (int j = 0; j < n[1]; ++j)
        for (int i = 0; i < n[0]; ++i) wet({i, j}) = wet({i, j}) == 1 || wet({i, j}) == 2;
    label_wet_cells(labels, wet);
}

void find_phi(Field<2>& phi, const Chains& chains, const Labels<2>& labels, double reach, int finer)
{
    const auto fine = [&](Vec2 x) { return finer * (x + Vec2::all(0.5)) - Vec2::all(0.5); };
    const double h = phi.grid().h, far = reach * finer;
    std::vector<Link> all;
    phi.fill(outside);
    const auto nearest = phi.view();
    const Cell<2> n = phi.grid().cells;
    for (const Link& l : links_of(chains))
        for (int k = 0; k < finer; ++k) {
            const Chain& c = chains[static_cast<size_t>(l.chain)];
            const Vec2 from = on_spline(c, l.at, double(k) / finer), to = on_spline(c, l.at, double(k + 1) / finer);
            const Link part{0, 0, fine(from), fine(to)};
            all.push_back(part);
            if (along_wall(labels, l.from, l.to)) continue;
            Cell<2> lo, hi;
            for (int a = 0; a < 2; ++a) {
                lo[a] = std::max(0, static_cast<int>(std::floor(std::min(part.from[a], part.to[a]) - far)));
                hi[a] = std::min(n[a] - 1, static_cast<int>(std::ceil(std::max(part.from[a], part.to[a]) + far)));
            }
            for (int y = lo[1]; y <= hi[1]; ++y)
                for (int x = lo[0]; x <= hi[0]; ++x) {
                    const float d = static_cast<float>(h * distance_to({double(x), double(y)}, part.from, part.to));
                    nearest({x, y}) = std::min(nearest({x, y}), d);
                }
        }
    const Winding around(all);
    parallel_rows("chains to phi", n[1], [&](int y) {
        for (int x = 0; x < n[0]; ++x) {
            const float d = std::min(nearest({x, y}), static_cast<float>(far * h));
            nearest({x, y}) = around({double(x), double(y)}) > 0 ? -d : d;
        }
    });
}

}  // namespace tarn
