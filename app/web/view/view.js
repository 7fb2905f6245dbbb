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
const view = {run: '', frames: {}, kind: '', frame: 0, playing: false, rows: [], status: {}, cache: new Map(), following: true, wanted: null};
const picture = new MeshPicture($('scene'));

async function ask(file, as) {
    const answer = await fetch('run/' + (file === 'runs.json' ? file : encodeURIComponent(view.run) + '/' + file));
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
        if (run !== view.run) return;
        Object.assign(view, {status, frames, rows: rowsOf(stats), scene});
        const size = /\[domain\][^[]*?size = \[([^\]]*)\]/.exec(scene)[1].split(',').map(Number);
        picture.flat = size.length === 2;
        picture.size = [size[0], size[1], size[2] ?? 0];
        picture.put('box', boxOf(picture.size));
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

async function surfaceOf(kind, frame) {
    const key = `${view.run}/${kind}/${frame}`;
    if (!view.cache.has(key)) view.cache.set(key, ask(name(kind, frame, 'ply'), 'arrayBuffer').then(readPly));
    while (view.cache.size > KEPT) view.cache.delete(view.cache.keys().next().value);
    return view.cache.get(key);
}

async function sliceOf(frame) {
    const cut = `slice/${$('field').value}/${$('axis').value}/${$('place').value}/`;
    const buffer = await ask(cut + name('', frame, 'bin').slice(1), 'arrayBuffer'), [width, height] = new Int32Array(buffer, 0, 2);
    return {width, height, values: new Float32Array(buffer, 8)};
}

// Phi in blues inside the water and greys outside, speed from dark to bright; a pixel for each cell, enlarged.
function drawSlice({width, height, values}) {
    const canvas = $('slice'), context = canvas.getContext('2d'), image = context.createImageData(canvas.width = width, canvas.height = height);
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
            const [surface, solid] = await Promise.all([surfaceOf('surface', frame), solids === undefined ? null : surfaceOf('solids', solids)]);
            picture.put('surface', surface);
            picture.put('solids', solid);
            picture.draw();
        }
        if (view.kind === 'state' && framesOf('state').includes(frame)) drawSlice(await sliceOf(frame));
        $('slice').hidden = $('cut').hidden = view.kind !== 'state';
        $('picture').hidden = !drawn;
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

function makePlots() {
    $('plots').replaceChildren(...PLOTS.map(([label]) => {
        const box = document.createElement('div');
        box.className = 'plot';
        box.innerHTML = '<div><span></span><b></b></div><canvas width="280" height="44"></canvas>';
        box.querySelector('span').textContent = label;
        return box;
    }));
}

function drawPlots() {
    const rows = view.rows, end = rows.length ? rows[rows.length - 1].time : 1;
    let here = rows.findLastIndex(row => row.frame <= view.frame);
    if (here < 0) here = 0;
    [...$('plots').children].forEach((box, n) => {
        const [, value, text, color] = PLOTS[n], canvas = box.querySelector('canvas'), context = canvas.getContext('2d');
        const values = rows.map(value).map(v => Number.isFinite(v) ? v : 0), least = Math.min(...values), most = Math.max(...values);
        box.querySelector('b').textContent = rows.length ? text(values[here]) : '';
        context.clearRect(0, 0, canvas.width, canvas.height);
        context.strokeStyle = color;
        context.lineWidth = 1.4;
        context.beginPath();
        values.forEach((v, i) => context.lineTo(rows[i].time / end * canvas.width, 41 - 38 * (v - least) / Math.max(most - least, 1e-30)));
        context.stroke();
        if (!rows.length) return;
        context.strokeStyle = '#8b9cb3';
        context.beginPath();
        context.moveTo(rows[here].time / end * canvas.width, 0);
        context.lineTo(rows[here].time / end * canvas.width, 44);
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
addEventListener('resize', () => picture.draw());

function open(run) {
    Object.assign(view, {run, scene: null, frame: -1, following: true, kind: '', rows: []});
    picture.put('surface', null);
    picture.put('solids', null);
    location.hash = encodeURIComponent(run);
    look();
}
$('runs').addEventListener('change', () => open($('runs').value));
makePlots();
ask('runs.json', 'json').then(runs => {
    $('runs').replaceChildren(...runs.map(run => Object.assign(document.createElement('option'), {value: run, textContent: run})));
    const asked = decodeURIComponent(location.hash.slice(1));
    $('runs').value = runs.includes(asked) ? asked : runs[0];
    open($('runs').value);
});
