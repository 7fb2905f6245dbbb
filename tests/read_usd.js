// Reads a USD file with OpenUSD, which the package three-usdz-loader holds as WebAssembly, and prints as JSON what it found:
//   node read_usd.js PACKAGE FOLDER FILE TIME...
//   {"stage": {metadata}, "prims": {path: {attribute: {time: values}}}, "drawn": {TIME: {path: {points, indices, velocities}}}}
// "prims" is the composed stage, its value clips resolved; "drawn" is what a renderer is handed at those times.
const fs = require('fs');
const path = require('path');
const threads = require('worker_threads');

// The package expects a browser. It asks for a page's address, and loads its files by URL unless it is handed them.
globalThis.location = { pathname: '/' };
delete globalThis.fetch;
globalThis.XMLHttpRequest = class { open() {} send() {} };

if (threads.isMainThread) {
    // Its threads expect a browser too.
    threads.Worker = class extends threads.Worker {
        constructor(file) { super(file, { execArgv: ['--require', __filename] }); }
    };
    const [home, folder, file, ...times] = process.argv.slice(2);
    main(home, folder, file, times.map(Number)).then(
        (found) => fs.writeSync(1, JSON.stringify(found)) && process.exit(0),
        (error) => { console.error(error); process.exit(1); });
}

async function main(home, folder, file, times) {
    const external = path.resolve(home, 'external');
    const complaints = [];
    const usd = await require(path.join(external, 'emHdBindings.js'))({
        getPreloadedPackage: () => new Uint8Array(fs.readFileSync(path.join(external, 'emHdBindings.data'))).buffer,
        wasmBinary: fs.readFileSync(path.join(external, 'emHdBindings.wasm')),
        locateFile: (name) => path.join(external, name),
        printErr: (text) => complaints.push(text),
    });
    copy(usd.FS, folder, '/run');

    const drawn = {};
    let now = {};
    const prim = (id) => new Proxy({}, {
        get: (_, call) => (...args) => {
            const mine = (now[id] ??= {});
            if (call === 'updatePoints') mine.points = Array.from(args[0]);
            if (call === 'updateIndices') mine.indices = Array.from(args[0]);
            if (call === 'updatePrimvar' && args[0] === 'velocities') mine.velocities = Array.from(args[1]);
        },
    });
    const driver = new usd.HdWebSyncDriver(
        { createRPrim: (_, id) => prim(id), createSPrim: (_, id) => prim(id), createBPrim: (_, id) => prim(id), CommitResources() {} },
        '/run/' + file);
    for (const time of times) {
        driver.SetTime(time);
        driver.Draw();
        drawn[time] = JSON.parse(JSON.stringify(now));
    }
    // It lacks a plugin for volumes and says so whatever it opens.
    const serious = complaints.filter((text) => !text.includes('UsdVol'));
    return { ...parse(driver.GetStage().ExportToString()), drawn, complaints: serious };
}

function copy(memory, from, to) {
    memory.mkdir(to);
    for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
        const source = path.join(from, entry.name), target = to + '/' + entry.name;
        if (entry.isDirectory()) copy(memory, source, target);
        else if (entry.name.endsWith('.usda')) memory.writeFile(target, fs.readFileSync(source));
    }
}

// The text of a flattened stage, as OpenUSD prints it.
function parse(text) {
    const stage = {}, prims = {}, at = [];
    let samples = null;
    for (const line of text.split('\n')) {
        const words = line.trim();
        let match;
        if ((match = words.match(/^(defaultPrim|upAxis|\w+TimeCode|\w+PerSecond|metersPerUnit) = (.*)$/)) && at.length === 0)
            stage[match[1]] = JSON.parse(match[2]);
        else if ((match = words.match(/^def (\w+) "(\w+)"/))) {
            at.push(match[2]);
            prims['/' + at.join('/')] = { type: match[1] };
        } else if ((match = words.match(/(\w+)\.timeSamples = \{$/)))
            prims['/' + at.join('/')][match[1]] = samples = {};
        else if (words === '}') samples ? (samples = null) : at.pop();
        else if (samples && (match = words.match(/^([-\d.]+): (.*),$/)))
            samples[match[1]] = match[2] === 'None' ? null : JSON.parse(match[2].replaceAll('(', '[').replaceAll(')', ']'));
    }
    return { stage, prims };
}
