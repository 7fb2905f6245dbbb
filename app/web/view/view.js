// A run as it is, finished or going on: its surface or pictures frame by frame, its numbers, its log. Lists are asked for again every second
// while it runs; of frames the newest few are kept, so that however many there are the page stays small.
'use strict';

const $ = id => document.getElementById(id);
const KINDS = [['surface', 'Surface'], ['state', 'Slice'], ['preview', 'Drawing'], ['render', 'Render']];
const KEPT = 12;
const PLOTS = [
    ['Volume drift', r => 100 * (r.volume / r.volume_expected - 1), v => v.toFixed(3) + ' %', '#39c2ff'],
    ['Kinetic energy', r => r.kinetic_energy, v => v.toPrecision(3), '#ffb03a'],
    ['Potential energy', r => r.potential_energy, v => v.toPrecision(3), '#b78bff'],
    ['Greatest speed', r => r.max_speed, v => v.toPrecision(3) + ' m/s', '#7bd66b'],
    ['Iterations of pressure', r => r.pressure_iterations, v => v.toFixed(0), '#ff7d9c'],
    ['Seconds a step', r => r.seconds, v => v.toPrecision(2) + ' s', '#d8d26a'],
];
const COLORS = ['#5ad1c0', '#e79bd8', '#9fc2ff', '#ffd27a'];  // of gauges, in turn
const view = {run: '', frames: {}, kind: '', frame: 0, playing: false, rows: [], status: {}, cache: new Map(), following: true, wanted: null};
const picture = new MeshPicture($('scene'));
// The run beside, at the same time of the scene.
const beside = {run: '', frames: {}, rows: [], gauges: [], scene: '', picture: null, shown: -1};

const urlOf = (run, file) => 'run/' + encodeURIComponent(run) + '/' + file;
async function ask(file, as, run = view.run) {
    const answer = await fetch(file === 'runs.json' ? 'run/' + file : urlOf(run, file));
    if (!answer.ok) throw new Error(`${file}: ${answer.status}`);
    return answer[as]();
}

function rowsOf(csv) {
    const [head, ...lines] = csv.trim().split('\n');
    const names = head.split(',');
    return lines.map(line => Object.fromEntries(line.split(',').map((value, i) => [names[i], Number(value)])));
}

// ---- What there is ----

async function look() {
    const run = view.run;
    try {
        const [status, frames, stats, log, scene] = await Promise.all([ask('run.json', 'json'), ask('frames.json', 'json'),
            ask('stats.csv', 'text'), ask('log.txt', 'text'), view.scene ? view.scene : ask('scene.toml', 'text')]);
        const gauges = frames.gauges ? rowsOf(await ask('gauges.csv', 'text')) : [];
        if (run !== view.run) return;
        Object.assign(view, {status, frames, rows: rowsOf(stats), scene, gauges});
        setSize(picture, scene);
        if (beside.run && beside.status.state === 'running') await lookBeside();
        makePlots();
        $('axis').disabled = $('place').disabled = picture.flat;
        $('log').textContent = log.split('\n').slice(-200).join('\n');
        showStatus();
        showKinds();
        const last = lastFrame();
        $('frame').max = last;
        if (view.following && last !== view.frame && !view.playing) await showFrame(last);
        else drawPlots();
    } catch (error) {
        $('state').textContent = error.message;
    }
    clearTimeout(look.timer);
    if (view.status.state === 'running') look.timer = setTimeout(look, 1000);
}

function setSize(of, scene) {
    const size = /\[domain\][^[]*?size = \[([^\]]*)\]/.exec(scene)[1].split(',').map(Number);
    of.flat = size.length === 2;
    of.size = [size[0], size[1], size[2] ?? 0];
    of.put('box', boxOf(of.size));
}

// Seconds of the scene for each frame.
function frameSeconds(scene) {
    const number = key => Number((new RegExp(`\\[time\\][^[]*?\\n${key} = ([\\d.]+)`).exec(scene) || [])[1]);
    return (number('speed') || 1) / (number('rate') || 30);
}

async function lookBeside() {
    const run = beside.run;
    const [status, frames, stats, scene] = await Promise.all([ask('run.json', 'json', run), ask('frames.json', 'json', run), ask('stats.csv', 'text', run),
        ask('scene.toml', 'text', run)]);
    const gauges = frames.gauges ? rowsOf(await ask('gauges.csv', 'text', run)) : [];
    if (run !== beside.run) return;
    Object.assign(beside, {status, frames, scene, gauges, rows: rowsOf(stats)});
    setSize(beside.picture, scene);
}

function showStatus() {
    const s = view.status;
    $('state').textContent = `${s.state}, frame ${s.frame} of ${s.frames}` + (s.state === 'running' && s.eta_seconds ? `, ${Math.round(s.eta_seconds)} s to go` : '');
}

function framesOf(kind) { return view.frames[kind] || []; }
function lastFrame() { return Math.max(0, ...framesOf(view.kind)); }

function showKinds() {
    const there = KINDS.filter(([kind]) => framesOf(kind).length);
    if (!there.some(([kind]) => kind === view.kind)) view.kind = there.length ? there[0][0] : '';
    $('none').hidden = there.length > 0;
    $('show').replaceChildren(...there.map(([kind, label]) => {
        const button = Object.assign(document.createElement('button'), {textContent: label});
        button.setAttribute('role', 'radio');
        button.setAttribute('aria-checked', kind === view.kind);
        button.addEventListener('click', () => { view.kind = kind; showKinds(); showFrame(view.frame); });
        return button;
    }));
}

// ---- Frames ----

const name = (kind, frame, ending) => `${kind}/frame_${String(frame).padStart(4, '0')}.${ending}`;

// A file of a frame, asked for once as long as it is kept.
async function kept(kind, frame, ending, run, read) {
    const key = `${run}/${kind}/${frame}`;
    if (!view.cache.has(key)) view.cache.set(key, ask(name(kind, frame, ending), 'arrayBuffer', run).then(read));
    const file = view.cache.get(key);
    while (view.cache.size > KEPT) view.cache.delete(view.cache.keys().next().value);
    return file;
}
async function surfaceOf(kind, frame, run = view.run) { return kept(kind, frame, 'ply', run, readPly); }

// Droplets and bubbles, from the states that a run keeps.
async function dropsOf(frame, run, states) {
    if (!(states || []).includes(frame)) return null;
    return kept('drops', frame, 'bin', run, bytes => new Float32Array(bytes)).catch(() => null);
}

async function sliceOf(frame, run = view.run) {
    const cut = `slice/${$('field').value}/${$('axis').value}/${$('place').value}/`;
    const buffer = await ask(cut + name('', frame, 'bin').slice(1), 'arrayBuffer', run), [width, height] = new Int32Array(buffer, 0, 2);
    return {width, height, values: new Float32Array(buffer, 8)};
}

// Phi in blues inside the water and greys outside, speed from dark to bright; a pixel for each cell, enlarged.
function drawSlice({width, height, values}, canvas = $('slice')) {
    const context = canvas.getContext('2d'), image = context.createImageData(canvas.width = width, canvas.height = height);
    const phi = $('field').value === 'phi';
    let most = 1e-9;
    for (const v of values) most = Math.max(most, Math.abs(v));
    for (let j = 0; j < height; ++j)
        for (let i = 0; i < width; ++i) {
            const s = values[j * width + i] / most, t = Math.abs(s);
            const color = phi ? (s < 0 ? [90 - 80 * t, 170 - 110 * t, 235 - 85 * t] : [235 - 130 * t, 238 - 128 * t, 240 - 120 * t])
                : [20 + 235 * Math.min(1, 1.6 * t * t), 25 + 215 * t, 60 + 150 * Math.sqrt(t)];
            image.data.set([...color, 255], 4 * ((height - 1 - j) * width + i));
        }
    context.putImageData(image, 0, 0);
    $('most').textContent = 'up to ' + most.toPrecision(3) + (phi ? ' m' : ' m/s');
}

// The newest frame that is wanted is shown; those between are left out where they come too fast.
async function showFrame(frame) {
    view.frame = frame;
    $('frame').value = frame;
    $('number').textContent = `${frame} / ${$('frame').max}`;
    drawPlots();
    if (view.busy) return void (view.wanted = frame);
    view.busy = true;
    try {
        const drawn = view.kind === 'preview' || view.kind === 'render';
        if (drawn) {
            $('picture').src = 'run/' + encodeURIComponent(view.run) + '/' + name(view.kind, frame, 'png');
            await $('picture').decode().catch(() => {});
        } else if (framesOf('surface').includes(frame)) {
            const solids = framesOf('solids').filter(n => n <= frame).pop();
            const [surface, solid, drops] = await Promise.all([surfaceOf('surface', frame), solids === undefined ? null : surfaceOf('solids', solids),
                dropsOf(frame, view.run, view.frames.state)]);
            picture.drops = drops;
            picture.put('surface', surface);
            picture.put('solids', solid);
            picture.draw();
        }
        if (view.kind === 'state' && framesOf('state').includes(frame)) drawSlice(await sliceOf(frame));
        $('slice').hidden = $('cut').hidden = view.kind !== 'state';
        $('picture').hidden = !drawn;
        if (beside.run) await showBeside(frame);
        view.shown = frame;
    } catch (error) {
        $('state').textContent = error.message;
    }
    view.busy = false;
    if (view.wanted !== null) {
        const next = view.wanted;
        view.wanted = null;
        await showFrame(next);
    }
}

// Of the run beside, the frame that is nearest in time, as far as it has come.
async function showBeside(frame) {
    const drawn = view.kind === 'preview' || view.kind === 'render', there = beside.frames[view.kind] || [];
    const wanted = Math.round(frame * frameSeconds(view.scene) / frameSeconds(beside.scene));
    const at = there.reduce((best, n) => Math.abs(n - wanted) < Math.abs(best - wanted) ? n : best, there[0]);
    $('none_beside').hidden = at !== undefined;
    $('slice_beside').hidden = view.kind !== 'state' || at === undefined;
    $('picture_beside').hidden = !drawn || at === undefined;
    if (at === undefined) return;
    if (drawn) {
        $('picture_beside').src = urlOf(beside.run, name(view.kind, at, 'png'));
        await $('picture_beside').decode().catch(() => {});
    } else if (view.kind === 'state') {
        drawSlice(await sliceOf(at, beside.run), $('slice_beside'));
    } else {
        const solids = (beside.frames.solids || []).filter(n => n <= at).pop();
        beside.picture.put('surface', await surfaceOf('surface', at, beside.run));
        beside.picture.drops = await dropsOf(at, beside.run, beside.frames.state);
        beside.picture.put('solids', solids === undefined ? null : await surfaceOf('solids', solids, beside.run));
        beside.picture.draw();
    }
    beside.shown = at;
}

async function openBeside(run) {
    beside.run = run;
    beside.shown = -1;
    $('stage_beside').hidden = !run;
    if (run) {
        if (!beside.picture) {
            beside.picture = new MeshPicture($('scene_beside'));
            beside.picture.beside = picture;
        }
        picture.beside = beside.picture;
        for (const kind of ['surface', 'solids']) beside.picture.put(kind, null);
  beside.picture.drops = null;
        Object.assign(beside.picture, {turn: picture.turn, shift: picture.shift, zoom: picture.zoom});
        await lookBeside();
    } else {
        picture.beside = null;
        Object.assign(beside, {rows: [], gauges: []});
    }
    makePlots();
    picture.draw();
    await showFrame(view.frame);
}

let before = 0;
function tick(now) {
    requestAnimationFrame(tick);
    if (!view.playing || view.busy) return;
    const rate = Number((/\[time\][^[]*?rate = ([\d.]+)/.exec(view.scene) || [0, 30])[1]) * Number($('speed').value);
    const frames = Math.floor((now - before) / 1000 * rate);
    if (frames < 1) return;
    before = now;
    const last = lastFrame();
    if (view.frame >= last && view.status.state === 'running') return;
    showFrame(view.frame >= last ? 0 : Math.min(view.frame + frames, last));
}
requestAnimationFrame(tick);

// ---- Plots ----

// What is plotted: numbers of every step, then what gauges read.
function allPlots() {
    const columns = view.gauges && view.gauges.length ? Object.keys(view.gauges[0]).filter(c => c !== 'step' && c !== 'time') : [];
    return [...PLOTS.map(([label, value, text, color]) => ({label, text, color, points: rows => rows.map(r => [r.time, value(r)]), of: 'rows'})),
        ...columns.map((column, i) => ({label: column, text: v => v.toPrecision(4), color: COLORS[i % COLORS.length],
            points: rows => column in (rows[0] || {}) ? rows.map(r => [r.time, r[column]]) : [], of: 'gauges'}))];
}

function makePlots() {
    const plots = allPlots();
    if (plots.length === $('plots').childElementCount && plots.every((plot, i) => $('plots').children[i].querySelector('span').textContent === plot.label)) return;
    $('plots').replaceChildren(...plots.map(({label}) => {
        const box = document.createElement('div');
        box.className = 'plot';
        box.innerHTML = '<div><span></span><b></b></div><canvas width="280" height="44"></canvas>';
        box.querySelector('span').textContent = label;
        return box;
    }));
}

// The run beside is drawn fainter on the same axes.
function drawPlots() {
    const plots = allPlots(), frame = view.rows.findLastIndex(row => row.frame <= view.frame), now = view.rows.length ? view.rows[Math.max(0, frame)].time : 0;
    [...$('plots').children].forEach((box, n) => {
        if (!plots[n]) return;
        const {points, text, color, of} = plots[n], canvas = box.querySelector('canvas'), context = canvas.getContext('2d');
        const lines = [points(view[of] || []), points(beside[of] || [])].map(line => line.map(([t, v]) => [t, Number.isFinite(v) ? v : 0]));
        const all = lines.flat(), end = Math.max(1e-30, ...all.map(p => p[0])), least = Math.min(...all.map(p => p[1])), most = Math.max(...all.map(p => p[1]));
        const told = line => { const p = line.findLast(([t]) => t <= now + 1e-9) || line[0]; return p ? text(p[1]) : ''; };
        box.querySelector('b').textContent = told(lines[0]) + (lines[1].length ? ' | ' + told(lines[1]) : '');
        context.clearRect(0, 0, canvas.width, canvas.height);
        lines.forEach((line, which) => {
            context.strokeStyle = color;
            context.globalAlpha = which ? 0.45 : 1;
            context.lineWidth = 1.4;
            context.beginPath();
            line.forEach(([t, v]) => context.lineTo(t / end * canvas.width, 41 - 38 * (v - least) / Math.max(most - least, 1e-30)));
            context.stroke();
        });
        context.globalAlpha = 1;
        if (!lines[0].length) return;
        context.strokeStyle = '#8b9cb3';
        context.beginPath();
        context.moveTo(now / end * canvas.width, 0);
        context.lineTo(now / end * canvas.width, 44);
        context.stroke();
    });
}

// ---- Hands ----

function setPlaying(playing) {
    view.playing = playing;
    $('play').setAttribute('aria-pressed', playing);
    $('play').innerHTML = playing ? '&#10074;&#10074;' : '&#9654;';
    before = performance.now();
}
$('play').addEventListener('click', () => setPlaying(!view.playing));
$('frame').addEventListener('input', () => {
    const frame = Number($('frame').value);
    view.following = frame === lastFrame();
    showFrame(frame);
});
addEventListener('keydown', event => {
    if (/^(SELECT|BUTTON)$/.test(event.target.tagName)) return;
    if (event.key === ' ') setPlaying(!view.playing);
    else if (event.target.tagName !== 'INPUT' && event.key === 'ArrowRight') showFrame(Math.min(view.frame + 1, lastFrame()));
    else if (event.target.tagName !== 'INPUT' && event.key === 'ArrowLeft') showFrame(Math.max(view.frame - 1, 0));
    else return;
    event.preventDefault();
});
for (const id of ['field', 'axis', 'place']) $(id).addEventListener('input', () => showFrame(view.frame));
addEventListener('resize', () => picture.turned());

function open(run) {
    Object.assign(view, {run, scene: null, frame: -1, following: true, kind: '', rows: []});
    picture.put('surface', null);
    picture.put('solids', null);
    picture.drops = null;
    location.hash = encodeURIComponent(run);
    look();
}
$('runs').addEventListener('change', () => open($('runs').value));
$('others').addEventListener('change', () => openBeside($('others').value).catch(error => { $('state').textContent = error.message; }));
makePlots();
ask('runs.json', 'json').then(runs => {
    $('runs').replaceChildren(...runs.map(run => Object.assign(document.createElement('option'), {value: run, textContent: run})));
    $('others').replaceChildren(...['', ...runs].map(run => Object.assign(document.createElement('option'), {value: run, textContent: run || 'nothing'})));
    $('others').parentElement.hidden = runs.length < 2;
    const asked = decodeURIComponent(location.hash.slice(1));
    $('runs').value = runs.includes(asked) ? asked : runs[0];
    open($('runs').value);
});
