// How fast the playground steps in Chromium, on its one thread:  node speed.js TARN PLAYWRIGHT
// The page rests meanwhile; only steps are timed, after the first hundreds, when the browser has compiled for speed what runs often.
'use strict';
const {serve, open} = require('./browser.js');

const [program, playwright] = process.argv.slice(2);

async function main() {
    const {page, close} = await open(playwright);
    const {address, child} = await serve(program, ['play', '--no-browser']);
    child.removeAllListeners('exit');
    await page.goto(address);
    await page.waitForFunction(() => state.frame && state.frame.measures.step > 0);
    for (const [cells, warm, steps] of [[64, 2000, 1000], [192, 400, 300]]) {
        const seconds = await page.evaluate(async ([cells, warm, steps]) => {
            setPaused(true);
            const scene = await (await fetch('presets/turbulent_mixing_2d.toml')).text();
            const solver = new Worker('worker.js');
            const answer = type => new Promise((resolve, reject) => {
                solver.onmessage = event => {
                    if (event.data.type === type) resolve(event.data);
                    if (event.data.type === 'error') reject(new Error(event.data.text));
                };
            });
            await answer('ready');
            solver.postMessage({type: 'open', scene, file: 'scene', cells});
            await answer('frame');
            let sum = 0;
            for (let n = 0; n < warm + steps; ++n) {
                solver.postMessage({type: 'tick', seconds: 1 / 60, single: true, strokes: []});
                const {measures} = await answer('frame');
                if (n >= warm) sum += measures.seconds;
            }
            solver.terminate();
            return sum / steps;
        }, [cells, warm, steps]);
        console.log(`${cells} x ${3 * cells / 4}: ${(1000 * seconds).toFixed(2)} ms a step, ${(1 / seconds).toFixed(0)} steps/s`);
    }
    child.kill();
    await close();
}

main().catch(error => {
    console.error(error.stack);
    process.exit(1);
});
