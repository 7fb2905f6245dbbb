// What can be shown, and the colours of it. `field` is the number that worker.js asks Tarn for (play/playground.h, Shown); -1: the
// water itself. A range of 0 follows the values.
'use strict';
const $ = id => document.getElementById(id);
const VIEWS = [
    {name: 'Water', field: -1},
    {name: 'Ink', field: -1, ink: true},
    {name: 'Phi', field: 0, unit: 'm', signed: true},
    {name: 'Pressure', field: 1, unit: 'Pa'},
    {name: 'Speed', field: 2, unit: 'm/s'},
    {name: 'Vorticity', field: 3, unit: '1/s', signed: true},
    {name: 'Divergence', field: 4, unit: '1/s', signed: true},
    {name: 'Cells', field: 5, unit: 'air, water, solid, cut', flags: true},
];
const SEQUENCE = [[.06, .05, .18], [.17, .27, .55], [.11, .56, .58], [.62, .80, .33], [.99, .95, .62]];
const OPPOSITES = [[.09, .32, .78], [.45, .70, .93], [.95, .95, .93], [.95, .60, .42], [.74, .12, .16]];
const FLAGS = [[.16, .20, .27], [.16, .47, .83], [.55, .50, .45], [.86, .68, .28]];

function paletteOf(view) { return view.flags ? FLAGS : view.signed ? OPPOSITES : SEQUENCE; }

function colorAt(palette, share) {
    const at = Math.min(Math.max(share, 0), 1) * (palette.length - 1), i = Math.min(Math.floor(at), palette.length - 2), t = at - i;
    return palette[i].map((c, n) => c + t * (palette[i + 1][n] - c));
}

// The least and the greatest value that colours span: of most cells, so that one of them does not wash out the rest.
function rangeOf(values, view) {
    if (view.flags) return [0, 3];
    const some = [];
    for (let i = 0; i < values.length; i += 7) if (Number.isFinite(values[i])) some.push(values[i]);
    some.sort((a, b) => a - b);
    const least = some[Math.floor(.01 * some.length)] ?? 0, most = some[Math.floor(.99 * some.length)] ?? 1;
    if (view.signed) {
        const far = Math.max(Math.abs(least), Math.abs(most), 1e-9);
        return [-far, far];
    }
    return [Math.min(least, 0), Math.max(most, least + 1e-9)];
}
