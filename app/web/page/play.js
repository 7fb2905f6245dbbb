// The page: tools, settings and files around the worker that moves the water. One tick is sent for each picture that the browser
// wants, with the strokes since the one before; the worker answers with a frame. So a hidden page rests by itself.
'use strict';

const TOOLS = [
    {brush: 0, name: 'Pour', icon: 'M12 3c4 5 6 8 6 11a6 6 0 0 1-12 0c0-3 2-6 6-11z'},
    {brush: 1, name: 'Remove', icon: 'M5 8h14M9 8V5h6v3M7 8l1 12h8l1-12'},
    {brush: 2, name: 'Air', icon: 'M9 15a5 5 0 1 1 .1 0zM17 19a2.5 2.5 0 1 1 .1 0zM17 9a1.8 1.8 0 1 1 .1 0z'},
    {brush: 3, name: 'Wall', icon: 'M3 6h18v12H3zM3 12h18M9 6v6M15 12v6'},
    {brush: 4, name: 'Erase wall', icon: 'M4 16l8-9 7 6-5 6H7zM9 11l7 6M3 20h18'},
    {brush: 5, name: 'Stir', icon: 'M4 12c0-9 15-9 15 0 0 6-10 6-10 0 0-3 5-3 5 0'},
    {brush: 6, name: 'Ink', icon: 'M4 20c3-1 3-4 6-4 3 0 4 2 3 4-2 2-6 2-9 0zM11 15l8-11 2 2-9 10'},
    {brush: 7, name: 'Ball', icon: 'M12 3a9 9 0 1 0 .1 0zM4 9c5 3 11 3 16 0M12 3c-4 6-4 12 0 18M12 3c4 6 4 12 0 18'},
];
const BALLS = [['Beach ball', 120], ['Wood', 600], ['Iron', 4000]];  // kg/m³
const INKS = ['#ff3d6e', '#ffb300', '#18e08a', '#c04bff', '#ffffff', '#1b1f2a'];
const PRESETS = [
    ['dam_break', 'Dam break'], ['turbulent_mixing_2d', 'Turbulent mixing'], ['drowned_cup', 'Drowned cup'],
    ['bubbles', 'Rising bubbles'], ['rayleigh_taylor', 'Rayleigh-Taylor'], ['leaky_dam', 'Leaky dam'],
    ['pressed_cup_2d', 'A cup pressed down'], ['gravity_turned_2d', 'Gravity turned'], ['rising_disc_2d', 'A light disc rises'],
    ['buoyancy_2d', 'Buoyancy that changes'], ['solids_with_air_2d', 'Among solids'], ['cip_against_linear_2d', 'A swinging tank'], ['empty', 'Empty tank'],
];
const GRIDS = [64, 96, 128, 160, 192, 256];
const light = () => matchMedia('(prefers-color-scheme: light)').matches;

const state = {
    tool: TOOLS[0], view: VIEWS[0], ink: INKS[0], ball: BALLS[0], paused: false, single: false, auto: true, cells: 128,
    gravity: [0, -9.81], frame: null, waiting: false, strokes: [], down: null, opened: false, sharpness: 1,
};
let worker = null;
// The same water by linear interpolation, beside: a second solver that is told all that the first one is.
const twin = {worker: null, picture: null, frame: null, waiting: false};
const SCHEMES = ['method.advection', 'surface.advection'];
function post(message) {
    worker.postMessage(message);
    if (twin.worker && message.type !== 'save' && !SCHEMES.includes(message.key)) twin.worker.postMessage(message);
}
const canvas = $('water');
let picture = null;
try {
    if (new URLSearchParams(location.search).has('flat')) throw new Error('plain canvas asked for');
    picture = new GlPicture(canvas);
} catch (error) {
    picture = new FlatPicture(canvas);
}
const plots = new Plots($('plots'));

function say(text, calm) {
    $('message').textContent = text;
    $('message').className = calm ? 'calm' : '';
    $('message').hidden = !text;
    clearTimeout(say.timer);
    if (text) say.timer = setTimeout(() => { $('message').hidden = true; }, calm ? 3500 : 9000);
}

// ---- Scenes, files and links ----

function openScene(text, file, cells) {
    state.opened = false;
    Object.assign(state, {text, file});
    twin.waiting = twin.worker !== null;
    post({type: 'open', scene: text, file, cells: cells ?? state.cells, stamp: performance.now()});
}

async function openPreset(name) {
    const answer = await fetch('presets/' + name + '.toml');
    if (!answer.ok) return say('presets/' + name + '.toml: ' + answer.status);
    $('preset').value = name;
    history.replaceState(null, '', location.pathname + location.search + '#' + name);
    openScene(await answer.text(), name + '.toml');
}

async function bytesThrough(stream, bytes) {
    return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}
async function pack(text) {
    const bytes = await bytesThrough(new CompressionStream('deflate-raw'), new TextEncoder().encode(text));
    let letters = '';
    for (const b of bytes) letters += String.fromCharCode(b);
    return btoa(letters).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}
async function unpack(word) {
    const letters = atob(word.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(letters, c => c.charCodeAt(0));
    return new TextDecoder().decode(await bytesThrough(new DecompressionStream('deflate-raw'), bytes));
}

// #name of a preset, or #scene=... that holds a whole scene file.
async function openAddress() {
    const hash = decodeURIComponent(location.hash.slice(1));
    if (hash.startsWith('scene=')) {
        try {
            return openScene(await unpack(hash.slice(6)), 'link', 0);
        } catch (error) {
            say('This link is torn: ' + error.message);
        }
    }
    return openPreset(PRESETS.some(([name]) => name === hash) ? hash : PRESETS[0][0]);
}

function download(name, blob) {
    const a = document.createElement('a');
    a.href = URL.createObjectURL(blob);
    a.download = name;
    a.click();
    setTimeout(() => URL.revokeObjectURL(a.href), 10000);
}

const savedUses = {
    file: scene => download('playground.toml', new Blob([scene], {type: 'text/plain'})),
    async link(scene) {
        const address = location.origin + location.pathname + location.search + '#scene=' + await pack(scene);
        history.replaceState(null, '', address);
        try {
            await navigator.clipboard.writeText(address);
            say('The link is copied (' + address.length + ' letters).', true);
        } catch {
            say('The address bar has the link.', true);
        }
    },
};

// ---- Answers of the worker ----

const answers = {
    ready(m) {
        $('status').title = 'Tarn ' + m.version;
        openAddress();
    },
    opened(m) {
        state.opened = true;
        if (state.frame) state.frame.measures.step = 0;  // it is the scene's before
        state.cells = Math.max(...m.cells);
        state.gravity = m.gravity;
        state.slow = state.quick = state.dull = 0;
        showSettings(m.settings);
        showCells();
        plots.clear();
        state.waiting = false;
        fit(m.cells);
    },
    settings(m) { showSettings(m.settings); },
    frame(m) {
        state.waiting = false;
        const before = state.frame;
        state.frame = m;
        state.gravity = state.turning ? state.gravity : m.gravity;
        if (!before || before.cells[0] !== m.cells[0] || before.cells[1] !== m.cells[1]) fit(m.cells);
        showParts();
        if (m.wrong) say('The water could not go on and was restarted: ' + m.wrong);
        show();
        if (m.measures.steps > 0 && !state.paused) adapt(m.measures);
    },
    refused(m) { say(m.text, true); },
    dead(m) {
        Object.assign(state, {opened: false, waiting: false, strokes: []});
        if (twin.worker) split();
        startWorker();
        say('The solver stopped and starts anew: ' + m.text);
        if (m.from === 'open') history.replaceState(null, '', location.pathname + location.search + '#' + PRESETS[0][0]);
    },
    saved(m) { savedUses[m.use](m.scene); },
    error(m) {
        state.waiting = false;
        say(m.text);
        if (m.from === 'open' && !state.opened) openPreset(PRESETS[0][0]);
    },
};
function startWorker() {
    if (worker) worker.terminate();
    worker = new Worker('worker.js');
    worker.onmessage = event => answers[event.data.type](event.data);
    worker.onerror = event => say('The solver stopped: ' + event.message);
}
startWorker();

// The grid follows the time that frames take, where it may; and the picture, where drawing takes longer than the water.
function adapt(measures) {
    if (!state.auto) return;
    state.dull = rate < 28 && measures.seconds < 0.6 / rate ? state.dull + 1 : 0;
    if (state.dull > 40 && state.sharpness > 0.5) {
        state.sharpness *= 0.7;
        state.dull = 0;
        fit(state.frame.cells);
    }
    const busy = measures.seconds, at = GRIDS.indexOf(state.cells);
    state.slow = busy > 0.030 ? state.slow + 1 : Math.max(0, state.slow - 1);
    state.quick = busy < 0.006 ? state.quick + 1 : Math.max(0, state.quick - 2);
    let next = state.cells;
    if (state.slow > 45 && at > 0) next = GRIDS[at - 1];
    if (state.quick > 240 && at >= 0 && at < GRIDS.indexOf(192) && !state.lowered) next = GRIDS[at + 1];
    if (next === state.cells) return;
    state.lowered = state.lowered || next < state.cells;
    setCells(next);
}

function setCells(cells) {
    state.cells = cells;
    state.slow = state.quick = 0;
    post({type: 'cells', cells, stamp: performance.now()});
    showCells();
}

// ---- Pictures ----

function fit(cells) {
    const stage = $('stage').getBoundingClientRect(), ratio = cells[0] / cells[1];
    parts.high = $('parts').offsetHeight;
    const under = parts.on ? parts.high + 10 : 0;
    const room = twin.worker ? (stage.width - 42) / 2 : stage.width - 28, high = stage.height - (twin.worker ? 54 : 28) - under;
    $('tanks').style.marginBottom = under + 'px';
    const width = Math.max(64, Math.min(room, high * ratio)), dots = Math.min(devicePixelRatio || 1, 2) * state.sharpness;
    for (const tank of twin.worker ? [canvas, $('twin')] : [canvas]) {
        tank.style.width = width + 'px';
        tank.style.height = width / ratio + 'px';
        tank.width = Math.round(width * dots);
        tank.height = Math.round(width * dots / ratio);
    }
    show();
    showTwin();
}

function show() {
    const frame = state.frame;
    if (!frame) return;
    const fresh = frame.view === state.view.field;
    const range = state.view.field >= 0 && fresh ? rangeInParts(rangeOf(frame.shown, state.view)) : [0, 1];
    if (fresh) picture.draw(frame, state.view, range, light());
    showLegend(range);
    showProbe();
    drawGravity();
}

function showTwin() {
    const frame = twin.frame;
    if (!twin.worker || !frame || frame.view !== state.view.field) return;
    twin.picture.draw(frame, state.view, state.view.field >= 0 ? rangeOf(frame.shown, state.view) : [0, 1], light());
}

const twinAnswers = {
    ready: () => openScene(state.text, state.file),
    opened() {
        for (const key of SCHEMES) twin.worker.postMessage({type: 'set', key, value: 'linear'});
    },
    frame(m) {
        twin.waiting = false;
        twin.frame = m;
        showTwin();
    },
    settings() {},
    refused() {},
    dead: m => answers.dead(m),
    error(m) {
        twin.waiting = false;
        say('By linear interpolation: ' + m.text);
    },
};

function split() {
    const on = !twin.worker;
    if (on) {
        twin.picture = twin.picture || new picture.constructor($('twin'));
        twin.worker = new Worker('worker.js');
        twin.worker.onmessage = event => twinAnswers[event.data.type](event.data);
        twin.waiting = true;
    } else {
        twin.worker.terminate();
        Object.assign(twin, {worker: null, frame: null, waiting: false});
    }
    $('twin_tank').hidden = $('own').hidden = !on;
    $('split').setAttribute('aria-pressed', on);
    if (state.frame) fit(state.frame.cells);
}

let shownAt = performance.now(), rate = 60;
function tick(now) {
    requestAnimationFrame(tick);
    if (!state.opened || state.waiting || twin.waiting) return;
    const passed = Math.min((now - shownAt) / 1000, 1 / 30);
    rate += 0.05 * (1000 / Math.max(now - shownAt, 1) - rate);
    shownAt = now;
    if (state.frame && !state.paused) {
        plots.add({...state.frame.measures, fps: rate});
        const m = state.frame.measures;
        $('status').textContent = `${state.frame.cells[0]} x ${state.frame.cells[1]}  ${rate.toFixed(0)} fps  ` +
            `${(1000 * m.seconds / Math.max(m.steps, 1)).toFixed(1)} ms a step  t = ${m.time.toFixed(2)} s  ${m.drops} drops`;
    }
    holdBrush(passed);
    const strokes = state.strokes.splice(0);
    const moves = !state.paused || state.single;
    if (!moves && !strokes.length) return;
    state.waiting = true;
    twin.waiting = twin.worker !== null;
    post({type: 'tick', seconds: moves ? (state.single ? 1 / 60 : Math.max(passed, 1 / 240)) : 0, single: state.single,
        strokes, stamp: now});
    state.single = false;
}
requestAnimationFrame(tick);

// ---- Brushes ----

function placeOf(event) {
    const box = canvas.getBoundingClientRect(), frame = state.frame;
    return [(event.clientX - box.left) / box.width * frame.cells[0] * frame.h,
        (1 - (event.clientY - box.top) / box.height) * frame.cells[1] * frame.h];
}

function radius() { return Number($('size').value) * state.frame.cells[0] * state.frame.h; }

function inkColor() { return [1, 3, 5].map(i => parseInt(state.ink.slice(i, i + 2), 16) / 255); }

// While the hand is down there is a stroke in every tick, from where it was to where it is.
function holdBrush(seconds) {
    const down = state.down;
    if (!down || !state.frame) return;
    if (state.tool.brush === 7) return;  // a ball is thrown when the hand opens
    const brush = state.tool.brush, moved = Math.hypot(down.now[0] - down.last[0], down.now[1] - down.last[1]) > 0;
    const wall = brush === 3 || brush === 4;
    if ((wall || brush === 5) && !moved && down.begun) return;
    const hand = [0, 1].map(a => (down.now[a] - down.last[a]) / Math.max(seconds, 1 / 120));
    let velocity = hand, r = radius(), from = down.last, to = down.now;
    if (brush === 0) velocity = [0, 1].map(a => Math.max(-3, Math.min(3, 0.5 * hand[a])) + 0.08 * state.gravity[a]);
    if (brush === 2) {
        // Bubbles of many sizes around the hand.
        const turn = 7 * Math.random(), far = 0.7 * r * Math.random();
        from = to = [down.now[0] + far * Math.cos(turn), down.now[1] + far * Math.sin(turn)];
        r *= 0.2 + 0.35 * Math.random();
    }
    if (wall) r *= 0.5;
    if (!down.begun) state.strokes.push({begin: true});
    down.begun = true;
    state.strokes.push({brush, from, to, radius: r, velocity, color: inkColor()});
    down.last = down.now;
}

// Where the brush is, as wide as it is.
function showRing() {
    const frame = state.frame, place = state.pointer;
    $('ring').hidden = !place || !frame;
    if (!place || !frame) return;
    const box = canvas.getBoundingClientRect(), stage = $('stage').getBoundingClientRect(), dots = box.width / (frame.cells[0] * frame.h);
    const wall = state.tool.brush === 3 || state.tool.brush === 4, wide = 2 * dots * (wall ? Math.max(0.5 * radius(), 1.05 * frame.h) : radius());
    Object.assign($('ring').style, {width: wide + 'px', height: wide + 'px', left: box.left - stage.left + dots * place.at[0] + 'px',
        top: box.bottom - stage.top - dots * place.at[1] + 'px'});
    $('ring').className = state.down && state.tool.brush === 7 ? 'held' : '';
}

function press(at) {
    state.down = {last: at, now: at, begun: false, way: [[performance.now(), at]]};
    showRing();
}
function moveTo(at) {
    if (state.down) {
        state.down.now = at;
        state.down.way = [...state.down.way, [performance.now(), at]].slice(-12);
    }
    showRing();
    if (state.paused) showProbe();
}
function lift() {
    const down = state.down;
    if (down && state.tool.brush === 7) throwBall(down);
    else if (down && !down.begun) holdBrush(1 / 60);
    state.down = null;
    showRing();
}

// With the velocity that the hand had over its last tenth of a second.
function throwBall(down) {
    const now = performance.now(), [t, from] = down.way.find(([then]) => now - then < 100) || [now, down.now];
    const velocity = [0, 1].map(a => (down.now[a] - from[a]) / Math.max((now - t) / 1000, 1 / 60)), fastest = Math.hypot(...velocity);
    state.strokes.push({begin: true}, {brush: 7, from: down.now, to: down.now, radius: radius(), density: state.ball[1],
        velocity: velocity.map(v => v * Math.min(1, 5 / Math.max(fastest, 1e-9))), color: inkColor()});
}

canvas.addEventListener('pointerdown', event => {
    if (!state.frame || event.button > 0) return;
    canvas.setPointerCapture(event.pointerId);
    state.pointer = {at: placeOf(event), x: event.clientX, y: event.clientY};
    press(state.pointer.at);
    canvas.focus({preventScroll: true});
    event.preventDefault();
});
canvas.addEventListener('pointermove', event => {
    if (!state.frame) return;
    state.pointer = {at: placeOf(event), x: event.clientX, y: event.clientY};
    moveTo(state.pointer.at);
});
canvas.addEventListener('pointerup', lift);
canvas.addEventListener('pointercancel', lift);
canvas.addEventListener('pointerleave', () => { state.pointer = null; $('probe').hidden = $('ring').hidden = true; });

// By keyboard: shift and arrows move the brush, Enter holds it down.
function brushByKey(event) {
    const frame = state.frame, turns = {ArrowDown: [0, -1], ArrowUp: [0, 1], ArrowLeft: [-1, 0], ArrowRight: [1, 0]}, turn = turns[event.key];
    if (!frame || !(event.shiftKey && turn || event.key === 'Enter' && event.target === canvas)) return false;
    const size = [0, 1].map(a => frame.cells[a] * frame.h), at = state.pointer ? state.pointer.at : size.map(s => s / 2);
    const to = turn ? at.map((x, a) => Math.max(0, Math.min(size[a], x + 0.02 * size[0] * turn[a]))) : at, box = canvas.getBoundingClientRect();
    state.pointer = {at: to, x: box.left + to[0] / size[0] * box.width, y: box.bottom - to[1] / size[1] * box.height};
    if (event.key === 'Enter' && !state.down) press(to);
    moveTo(to);
    return true;
}
addEventListener('keyup', event => { if (event.key === 'Enter' && state.down) lift(); });

// What the field says under the pointer.
function showProbe() {
    const frame = state.frame, pointer = state.pointer;
    if (!pointer || state.view.field < 0 || frame.view !== state.view.field) return void ($('probe').hidden = true);
    const i = Math.floor(pointer.at[0] / frame.h), j = Math.floor(pointer.at[1] / frame.h);
    if (i < 0 || j < 0 || i >= frame.cells[0] || j >= frame.cells[1]) return void ($('probe').hidden = true);
    const value = frame.shown[j * frame.cells[0] + i], stage = $('stage').getBoundingClientRect();
    const text = state.view.flags ? state.view.unit.split(', ')[value] : value.toPrecision(4) + ' ' + state.view.unit;
    $('probe').textContent = `${state.view.name}  ${text}\ncell ${i}, ${j}   phi ${frame.phi[j * frame.cells[0] + i].toFixed(4)} m`;
    $('probe').style.left = pointer.x - stage.left + 16 + 'px';
    $('probe').style.top = pointer.y - stage.top + 14 + 'px';
    $('probe').hidden = false;
}

function showLegend(range) {
    const view = state.view;
    $('legend').hidden = view.field < 0;
    if (view.field < 0) return;
    const css = paletteOf(view).map(c => `rgb(${c.map(x => Math.round(255 * x))})`).join(',');
    const ends = view.flags ? ['', view.unit] : [range[0].toPrecision(3), range[1].toPrecision(3) + ' ' + view.unit];
    $('legend').innerHTML = `<span>${view.name}</span><span>${ends[0]}</span><i style="background:linear-gradient(90deg,${css})"></i><span>${ends[1]}</span>`;
}

// ---- Gravity ----

function setGravity(gravity) {
    state.gravity = gravity;
    post({type: 'gravity', gravity});
    $('gravity').setAttribute('aria-valuenow', Math.hypot(...gravity).toFixed(2));
    drawGravity();
}

function drawGravity() {
    const dial = $('gravity'), context = dial.getContext('2d'), [x, y] = state.gravity, full = 20;
    const line = light() ? '#2b3b4f' : '#c9d8ea';
    context.clearRect(0, 0, 112, 112);
    context.beginPath();
    context.arc(56, 56, 50, 0, 7);
    context.fillStyle = light() ? '#ffffffb0' : '#0b1220a0';
    context.fill();
    context.strokeStyle = line + '55';
    context.lineWidth = 2;
    context.stroke();
    const tip = [56 + 46 * x / full, 56 - 46 * y / full], turn = Math.atan2(tip[1] - 56, tip[0] - 56);
    context.strokeStyle = context.fillStyle = Math.hypot(x, y) > 0.05 ? '#3aa0ff' : line;
    context.lineWidth = 4;
    context.lineCap = 'round';
    context.beginPath();
    context.moveTo(56, 56);
    context.lineTo(...tip);
    context.stroke();
    context.beginPath();
    for (const [far, side] of [[12, 0], [-4, 2.4], [-4, -2.4]])
        context.lineTo(tip[0] + far * Math.cos(turn) - 4 * side * Math.sin(turn), tip[1] + far * Math.sin(turn) + 4 * side * Math.cos(turn));
    context.fill();
}

function dialTo(event) {
    const box = $('gravity').getBoundingClientRect();
    let g = [(event.clientX - box.left) / box.width - 0.5, 0.5 - (event.clientY - box.top) / box.height].map(v => v * 20 * 112 / 46);
    const size = Math.hypot(...g);
    if (size > 20) g = g.map(v => v * 20 / size);
    setGravity(size < 0.8 ? [0, 0] : g);
}
$('gravity').addEventListener('pointerdown', event => { $('gravity').setPointerCapture(event.pointerId); state.turning = true; dialTo(event); });
$('gravity').addEventListener('pointermove', event => { if (state.turning) dialTo(event); });
$('gravity').addEventListener('pointerup', () => { state.turning = false; });
$('gravity').addEventListener('dblclick', () => setGravity([0, -9.81]));
// A device that is tilted turns gravity, as long as it is on and has something to tell.
addEventListener('deviceorientation', event => {
    if (event.gamma === null || !matchMedia('(pointer: coarse)').matches) return;
    const rad = Math.PI / 180, across = Math.sin(event.gamma * rad), along = Math.sin(event.beta * rad);
    if (Math.hypot(across, along) > 0.1) setGravity([9.81 * across, -9.81 * along]);
});

// ---- Panel ----

function choices(parent, items, make, chosen, pick) {
    parent.replaceChildren(...items.map((item, i) => {
        const button = document.createElement('button');
        button.setAttribute('role', 'radio');
        button.setAttribute('aria-checked', item === chosen());
        make(button, item, i);
        button.addEventListener('click', () => {
            pick(item);
            [...parent.children].forEach((other, n) => other.setAttribute('aria-checked', items[n] === item));
        });
        return button;
    }));
}

choices($('tools'), TOOLS, (button, tool, i) => {
    button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${tool.icon}"/></svg><span>${tool.name}</span>`;
    button.title = `${tool.name} (${i + 1})`;
}, () => state.tool, tool => { state.tool = tool; });
choices($('views'), VIEWS, (button, view) => { button.textContent = view.name; }, () => state.view, view => {
    state.view = view;
    post({type: 'view', view: view.field, stamp: performance.now()});
});
choices($('inks'), INKS, (button, color) => {
    button.className = 'dot';
    button.style.background = color;
    button.title = button.ariaLabel = 'Ink ' + color;
}, () => state.ink, color => { state.ink = color; $('tools').children[6].click(); });

choices($('balls'), BALLS, (button, [name, density]) => {
    button.textContent = name;
    button.title = `A ball of ${density} kg/m³: hold it, and throw`;
}, () => state.ball, ball => { state.ball = ball; $('tools').children[7].click(); });

function showCells() {
    $('cells').replaceChildren(...['auto', ...GRIDS].map(n => {
        const option = document.createElement('option');
        option.value = n;
        option.textContent = n === 'auto' ? `as quick as it can (${state.cells})` : n;
        option.selected = state.auto ? n === 'auto' : n === state.cells;
        return option;
    }));
}
$('cells').addEventListener('change', () => {
    state.auto = $('cells').value === 'auto';
    state.lowered = false;
    if (state.auto) showCells();
    else setCells(Number($('cells').value));
});

// A slider for every number of the table, a box for every truth, a list for every choice.
function showSettings(rows) {
    const parent = $('settings');
    if (parent.contains(document.activeElement) && parent.children.length === rows.length) return refreshSettings(rows);
    parent.replaceChildren(...rows.map(row => {
        const box = document.createElement('div');
        box.className = 'setting';
        box.innerHTML = '<label class="row"><span></span></label>';
        const label = box.firstChild;
        label.title = `${row.key}: ${row.meaning}`;
        label.querySelector('span').textContent = row.label;
        const send = value => post({type: 'set', key: row.key, value});
        if (row.kind === 'boolean') {
            const input = Object.assign(document.createElement('input'), {type: 'checkbox', checked: row.value});
            input.addEventListener('change', () => send(input.checked));
            label.append(input);
        } else if (row.kind === 'choice') {
            const select = document.createElement('select');
            for (const word of row.words) select.append(Object.assign(document.createElement('option'), {value: word, textContent: word, selected: word === row.value}));
            select.addEventListener('change', () => send(select.value));
            label.append(select);
        } else {
            const input = Object.assign(document.createElement('input'), {type: 'range', min: 0, max: 1000, step: 1});
            input.value = shareOf(row, row.value);
            const output = document.createElement('output');
            output.textContent = numberText(row.value, row.unit);
            input.addEventListener('input', () => { output.textContent = numberText(valueAt(row, Number(input.value)), row.unit); });
            input.addEventListener('change', () => send(valueAt(row, Number(input.value))));
            label.append(input, output);
        }
        box.dataset.key = row.key;
        return box;
    }));
}
function refreshSettings(rows) {
    for (const row of rows) {
        const output = document.querySelector(`[data-key="${row.key}"] output`);
        if (output) output.textContent = numberText(row.value, row.unit);
    }
}
// Of a slider that is logarithmic the lower end stands for nothing at all, where the table allows that.
function shareOf(row, value) {
    if (!row.logarithmic) return 1000 * (value - row.lo) / (row.hi - row.lo);
    return value <= row.lo ? 0 : 1000 * Math.log(value / row.lo) / Math.log(row.hi / row.lo);
}
function valueAt(row, share) {
    if (!row.logarithmic) return row.lo + share / 1000 * (row.hi - row.lo);
    if (share === 0 && ['fluid.viscosity', 'fluid.surface_tension'].includes(row.key)) return 0;
    return Number((row.lo * Math.pow(row.hi / row.lo, share / 1000)).toPrecision(3));
}
function numberText(value, unit) { return Number(value.toPrecision(3)) + (unit.length && unit.length < 6 ? ' ' + unit : ''); }

// ---- Buttons and keys ----

function setPaused(paused) {
    state.paused = paused;
    if (!paused) setParts(false);
    $('pause').setAttribute('aria-pressed', paused);
    $('pause').innerHTML = paused ? '&#9654;' : '&#10074;&#10074;';
}
const act = {
    pause: () => setPaused(!state.paused),
    step: () => {
        if (parts.on) return goToPart(state.frame.part + 1);
        setPaused(true);
        state.single = true;
    },
    reset: () => { post({type: 'restart', stamp: performance.now()}); plots.clear(); },
    undo: () => post({type: 'undo', stamp: performance.now()}),
    open: () => $('file').click(),
    save: () => post({type: 'save', use: 'file'}),
    link: () => post({type: 'save', use: 'link'}),
    png: () => { show(); canvas.toBlob(blob => download('tarn.png', blob)); },
    webm: () => record(),
    split,
    stages: () => setParts(!parts.on),
    panels: () => {
        const wide = document.body.classList.toggle('wide');
        $('panels').setAttribute('aria-pressed', !wide);
        if (state.frame) fit(state.frame.cells);
    },
};
for (const name of Object.keys(act)) $(name).addEventListener('click', act[name]);

function record() {
    if (record.recorder) return record.recorder.stop();
    if (!window.MediaRecorder || !canvas.captureStream) return say('This browser cannot record movies.');
    const recorder = record.recorder = new MediaRecorder(canvas.captureStream(60), {videoBitsPerSecond: 8e6}), parts = [];
    recorder.ondataavailable = event => parts.push(event.data);
    recorder.onstop = () => {
        record.recorder = null;
        $('webm').setAttribute('aria-pressed', false);
        download('tarn.webm', new Blob(parts, {type: 'video/webm'}));
    };
    recorder.start();
    $('webm').setAttribute('aria-pressed', true);
}

$('file').addEventListener('change', async () => {
    const file = $('file').files[0];
    if (file) openScene(await file.text(), file.name, 0);
    $('file').value = '';
});
$('preset').replaceChildren(...PRESETS.map(([value, textContent]) => Object.assign(document.createElement('option'), {value, textContent})));
$('preset').addEventListener('change', () => openPreset($('preset').value));

addEventListener('keydown', event => {
    if (/^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
    const turns = {ArrowDown: [0, -9.81], ArrowUp: [0, 9.81], ArrowLeft: [-9.81, 0], ArrowRight: [9.81, 0], 0: [0, 0]};
    const keys = {' ': act.pause, s: act.split, e: act.stages, ',': () => { if (parts.on) goToPart(state.frame.part - 1); }, '.': act.step, r: act.reset, h: act.panels, v: () => {
        $('views').children[(VIEWS.indexOf(state.view) + (event.shiftKey ? VIEWS.length - 1 : 1)) % VIEWS.length].click();
    }};
    if ((event.ctrlKey || event.metaKey) && event.key === 'z') act.undo();
    else if (event.ctrlKey || event.metaKey || event.altKey) return;
    else if (brushByKey(event)) void 0;
    else if (turns[event.key]) setGravity(turns[event.key]);
    else if (TOOLS[Number(event.key) - 1]) $('tools').children[Number(event.key) - 1].click();
    else if (keys[event.key.toLowerCase()]) keys[event.key.toLowerCase()]();
    else return;
    event.preventDefault();
});
addEventListener('resize', () => state.frame && fit(state.frame.cells));
addEventListener('hashchange', openAddress);
addEventListener('dragover', event => event.preventDefault());
addEventListener('drop', async event => {
    event.preventDefault();
    const file = event.dataTransfer.files[0];
    if (file) openScene(await file.text(), file.name, 0);
});
if (matchMedia('(max-width: 760px)').matches) act.panels();
if (new URLSearchParams(location.search).has('embed')) document.body.classList.add('embed');
