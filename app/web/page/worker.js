// The solver's thread: takes messages from play.js, calls Tarn, and answers with what is to be shown. Numbers that Tarn hands
// out are only valid until its next call, so they are copied and then given away.
'use strict';
importScripts('tarn.js');

let tarn = null;
let solidsSent = -1;
let view = -1;  // which field is shown besides phi and speed
let speed = 1;
let part = -1;  // of the newest step that is shown; -1: what there is now

const text = (name, types = [], values = []) => tarn.ccall(name, 'string', types, values);
const fail = () => { throw new Error(text('play_error')); };

function floats(at) {
    return tarn.HEAPF32.slice(at / 4, at / 4 + tarn._play_count());
}

function settings() {
    const all = JSON.parse(text('play_settings'));
    speed = all.find(row => row.key === 'time.speed').value;
    return all;
}

function scene() {
    return {
        cells: [tarn._play_cells(0), tarn._play_cells(1)],
        h: tarn._play_cell_size(),
        gravity: [tarn._play_gravity(0), tarn._play_gravity(1)],
    };
}

const measured = ['seconds', 'dt', 'iterations', 'steps', 'time', 'step', 'volume', 'expected', 'kinetic', 'potential', 'fastest',
    'divergence', 'drops'];

function sendFrame(message) {
    const phi = floats(tarn._play_field(0));
    const shown = floats(tarn._play_field(view < 0 ? 2 : view));
    const ink = floats(tarn._play_ink());
    const drops = floats(tarn._play_drops());
    const balls = floats(tarn._play_balls());
    const at = tarn._play_measures() / 8;
    const measures = {};
    measured.forEach((name, i) => { measures[name] = tarn.HEAPF64[at + i]; });
    const frame = {type: 'frame', phi, shown, ink, drops, balls, measures, view, part, stamp: message.stamp, wrong: message.wrong, ...scene()};
    const given = [phi.buffer, shown.buffer, ink.buffer, drops.buffer, balls.buffer];
    const changed = tarn._play_solids_changed();
    if (changed !== solidsSent || tarn._play_moving()) {
        frame.solids = floats(tarn._play_solids());
        given.push(frame.solids.buffer);
        solidsSent = changed;
    }
    postMessage(frame, given);
}

function stroke(s) {
    if (!tarn._play_stroke(s.brush, s.from[0], s.from[1], s.to[0], s.to[1], s.radius, s.velocity[0], s.velocity[1], s.color[0],
        s.color[1], s.color[2], s.density || 0)) fail();
}

const actions = {
    open(m) {
        if (!tarn.ccall('play_open', 'number', ['string', 'string', 'number'], [m.scene, m.file, m.cells || 0])) fail();
        solidsSent = part = -1;
        postMessage({type: 'opened', title: text('play_title'), settings: settings(), ...scene()});
        sendFrame(m);
    },
    tick(m) {
        let wrong = '';
        part = -1;
        try {
            for (const s of m.strokes) s.begin ? tarn._play_begin_stroke() : stroke(s);
        } catch (error) {
            postMessage({type: 'refused', text: error.message});
        }
        if (m.seconds > 0 && tarn._play_advance(m.seconds * speed, m.single ? 1 : 0) < 0) wrong = text('play_error');
        sendFrame({stamp: m.stamp, wrong});
    },
    // One step, shown from its first part on.
    parts(m) {
        const count = tarn._play_parts(m.seconds * speed);
        part = count > 1 ? 1 : -1;
        tarn._play_show_part(part);
        sendFrame({stamp: m.stamp, wrong: count < 0 ? text('play_error') : ''});
    },
    part(m) {
        part = m.part;
        tarn._play_show_part(part);
        sendFrame(m);
    },
    undo(m) { part = -1; tarn._play_undo(); sendFrame(m); },
    restart(m) { part = -1; if (!tarn._play_restart()) fail(); sendFrame(m); },
    set(m) {
        if (!tarn.ccall('play_set', 'number', ['string', 'string'], [m.key, String(m.value)])) fail();
        tarn._play_show_part(part = -1);
        postMessage({type: 'settings', settings: settings()});
    },
    gravity(m) { tarn._play_set_gravity(m.gravity[0], m.gravity[1]); },
    cells(m) { part = -1; if (!tarn._play_set_cells(m.cells)) fail(); sendFrame(m); },
    view(m) { view = m.view; sendFrame(m); },
    stop() { throw new WebAssembly.RuntimeError('asked to'); },  // as a fault in the program does; for tests
    save(m) { postMessage({type: 'saved', scene: text('play_save'), use: m.use}); },
};

onmessage = event => {
    try {
        actions[event.data.type](event.data);
    } catch (error) {
        // WebAssembly that stopped in the middle of something cannot go on.
        const dead = error instanceof WebAssembly.RuntimeError;
        postMessage({type: dead ? 'dead' : 'error', text: error.message, from: event.data.type});
    }
};

// The program is packed to a third; servers that tell what .gz means may have unpacked it already.
async function program() {
    const answer = await fetch('tarn.wasm.gz');
    if (!answer.ok) throw new Error('tarn.wasm.gz: ' + answer.status);
    const bytes = await answer.arrayBuffer(), [first, second] = new Uint8Array(bytes, 0, 2);
    if (first !== 0x1f || second !== 0x8b) return bytes;
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer();
}

program().then(wasmBinary => createTarn({wasmBinary})).then(module => {
    tarn = module;
    postMessage({type: 'ready', version: text('play_version')});
}, error => postMessage({type: 'error', text: 'WebAssembly did not start: ' + error.message, from: 'start'}));
