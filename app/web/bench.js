// Times the playground under Node.js as `tarn bench play` does natively:  node bench.js SCENE CELLS STEPS
// Prints milliseconds a step as JSON, and writes phi after the last step to the file that a fourth word names.
'use strict';
const fs = require('fs');
const path = require('path');
const zlib = require('zlib');

async function main(scene, cells, steps, file) {
    const folder = process.env.TARN_WEB || __dirname;
    const tarn = await require(path.join(folder, 'tarn.js'))({wasmBinary: zlib.gunzipSync(fs.readFileSync(path.join(folder, 'tarn.wasm.gz')))});
    const fail = () => { throw new Error(tarn.ccall('play_error', 'string')); };
    const text = fs.readFileSync(scene, 'utf8');
    if (!tarn.ccall('play_open', 'number', ['string', 'string', 'number'], [text, scene, Number(cells)])) fail();
    // The second half is timed: until then what runs often has been compiled for speed.
    let begun = process.hrtime.bigint(), taken = 0, before = 0;
    while (taken < Number(steps)) {
        if (taken <= Number(steps) / 2) {
            begun = process.hrtime.bigint();
            before = taken;
        }
        const n = tarn._play_advance(1 / 60, 1);
        if (n < 0) fail();
        taken += n;
    }
    const milliseconds = Number(process.hrtime.bigint() - begun) / 1e6 / (taken - before);
    if (file) {
        const at = tarn._play_field(0), count = tarn._play_count();
        fs.writeFileSync(file, Buffer.from(tarn.HEAPF32.slice(at / 4, at / 4 + count).buffer));
    }
    const at = tarn._play_measures() / 8;
    console.log(JSON.stringify({steps: taken, milliseconds, volume: tarn.HEAPF64[at + 6], potential: tarn.HEAPF64[at + 9]}));
}

main(...process.argv.slice(2)).catch(error => {
    console.error('bench.js: ' + error.message);
    process.exit(1);
});
