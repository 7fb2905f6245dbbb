// The playground as a person meets it:  node play.js TARN WEB PLAYWRIGHT [PICTURES]
// TARN is the program, WEB the folder of the built page, PLAYWRIGHT that of playwright-core; pictures are left where a folder is
// named.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const {execFileSync} = require('child_process');
const {skip, serve, open, run, start, check} = require('./browser.js');

const [program, web, playwright, pictures] = process.argv.slice(2);

async function main() {
    if (!fs.existsSync(path.join(web, 'tarn.wasm.gz'))) skip('the playground is not built');
    const {page, complaints, close} = await open(playwright);
    const {address, child} = await serve(program, ['play', '--no-browser']);
    child.removeAllListeners('exit');
    page.setDefaultTimeout(30000);
    // A machine without a GPU draws slowly, and the water waits for its picture: after the first page it is drawn with a quarter of the
    // dots along each side.
    await page.setViewportSize({width: 900, height: 600});
    const coarsely = () => page.evaluate(() => { state.sharpness = 0.25; fit(state.frame.cells); });
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tarn_play_'));

    const measures = () => page.evaluate(() => state.frame.measures);
    // Waits for so many frames of the solver; one that rests sends none, and is waited for in vain.
    const frames = n => page.evaluate(n => new Promise((resolve, reject) => {
        const end = performance.now() + 60000;
        let last = state.frame, left = n;
        const look = () => {
            if (state.frame !== last) { last = state.frame; --left; }
            if (left <= 0) resolve();
            else if (performance.now() > end) reject(new Error('no frames come'));
            else requestAnimationFrame(look);
        };
        look();
    }), n);
    // Waits until the water is so much further.
    const seconds = more => page.evaluate(() => state.frame.measures.time).then(now =>
        page.waitForFunction(end => state.frame.measures.time >= end, now + more, {timeout: 90000}));
    // Waits until strokes have been sent and answered.
    const settled = async () => {
        await page.waitForFunction(() => state.strokes.length === 0 && !(state.paused && state.waiting));
        if (!await page.evaluate(() => state.paused)) await frames(2);
    };
    const start = async (name, cells = 64) => {
        await page.evaluate(({name, cells}) => { state.auto = false; state.cells = cells; setPaused(false); return openPreset(name); }, {name, cells});
        await page.waitForFunction(() => state.opened && state.frame.measures.step > 0 && state.frame.measures.time < 30);
        await page.waitForFunction(cells => Math.max(...state.frame.cells) === cells, cells);
    };
    const tool = name => page.click(`#tools button:has-text("${name}") >> nth=0`);
    // Places are shares of the tank, from its lower left corner.
    const at = async (x, y) => {
        const box = await page.locator('#water').boundingBox();
        return [box.x + x * box.width, box.y + (1 - y) * box.height];
    };
    const drag = async (places, rounds = 6) => {
        await page.mouse.move(...await at(...places[0]));
        await page.mouse.down();
        for (let i = 1; i < places.length; ++i)
            for (let n = 1; n <= rounds; ++n) {
                await page.mouse.move(...await at(...[0, 1].map(a => places[i - 1][a] + n / rounds * (places[i][a] - places[i - 1][a]))));
                await page.waitForFunction(() => state.strokes.length === 0);
                await page.evaluate(() => new Promise(requestAnimationFrame));
            }
        await page.mouse.up();
        await settled();
    };
    const picture = async name => { if (pictures) await page.screenshot({path: path.join(pictures, name + '.png')}); };
    // The share of cells that are wet in a box of shares.
    const wet = (x0, y0, x1, y1) => page.evaluate(([x0, y0, x1, y1]) => {
        const {phi, cells: [nx, ny]} = state.frame;
        let sum = 0, count = 0;
        for (let j = Math.floor(y0 * ny); j < y1 * ny; ++j) for (let i = Math.floor(x0 * nx); i < x1 * nx; ++i) { ++count; sum += phi[j * nx + i] < 0; }
        return sum / count;
    }, [x0, y0, x1, y1]);

    const tests = [
        ['the page is small', async () => {
            let bytes = 0;
            for (const file of fs.readdirSync(web, {recursive: true})) bytes += fs.statSync(path.join(web, file)).isFile() ? fs.statSync(path.join(web, file)).size : 0;
            check(bytes < 1.5e6, `${bytes} bytes`);
            return `${(bytes / 1e6).toFixed(2)} MB`;
        }],
        ['it opens and the water moves', async () => {
            const foreign = [];
            page.on('request', request => { if (!/^(data|blob):/.test(request.url()) && !request.url().startsWith(address)) foreign.push(request.url()); });
            const begun = Date.now();
            await page.goto(address);
            await page.waitForFunction(() => state.frame && state.frame.measures.step > 0, null, {timeout: 30000});
            const seconds = (Date.now() - begun) / 1000;
            check(foreign.length === 0, 'it loads ' + foreign[0]);
            check(await page.evaluate(() => picture.constructor.name) === 'GlPicture', 'there is no WebGL2');
            await frames(5);
            await picture('dam_break');
            if (!pictures) await coarsely();
            return `after ${seconds.toFixed(2)} s`;
        }],
        ['pouring adds water, undo takes it back', async () => {
            await start('empty');
            const before = (await measures()).expected;
            await tool('Pour');
            await drag([[0.3, 0.7], [0.6, 0.7]]);
            const after = (await measures()).expected;
            check(after > before + 0.005, `${before} m², then ${after} m²`);
            await page.evaluate(() => setPaused(true));
            await page.keyboard.press('Control+z');
            await page.waitForFunction(v => Math.abs(state.frame.measures.expected - v) < 1e-6, before);
            await page.evaluate(() => setPaused(false));
            return `${(after - before).toFixed(4)} m²`;
        }],
        ['removing takes water away, air makes bubbles', async () => {
            await start('cip_against_linear_2d');
            const before = (await measures()).expected;
            await tool('Remove');
            await drag([[0.2, 0.2], [0.5, 0.2]]);
            const between = (await measures()).expected;
            check(between < before - 0.003, `${before} m², then ${between} m²`);
            await tool('Air');
            await drag([[0.7, 0.15], [0.8, 0.15]]);
            const after = (await measures()).expected;
            check(after < between, `${between} m², then ${after} m²`);
        }],
        ['a wall that is drawn holds water, and leaks when it is erased', async () => {
            await start('empty');
            await page.evaluate(() => setPaused(true));
            await tool('Wall');
            await drag([[0.3, 0.85], [0.35, 0.45], [0.65, 0.45], [0.7, 0.85]]);
            await page.evaluate(() => setPaused(false));
            await tool('Pour');
            await drag([[0.42, 0.62], [0.58, 0.62]]);
            // It sloshes, and how much there is depends on how long the drag took.
            let held = 0;
            for (let n = 0; n < 8 && held <= 0.9; ++n) {
                await seconds(0.4);
                held = await wet(0.4, 0.5, 0.6, 0.54);
            }
            check(held > 0.9, `only ${held} of the cup's bottom is wet`);
            await picture('wall');
            await tool('Erase wall');
            await drag([[0.5, 0.5], [0.5, 0.38]]);
            // How long it takes to run out depends on how much there is.
            let left = 1;
            for (let n = 0; n < 8 && left >= 0.6; ++n) {
                await seconds(0.4);
                left = await wet(0.44, 0.5, 0.56, 0.54);
            }
            check(left < 0.6, `still ${left} of the cup's bottom is wet`);
        }],
        ['stirring moves the water, within two frames', async () => {
            await start('empty');
            await page.evaluate(() => setCells(64));
            await tool('Stir');
            await frames(10);
            const late = await page.evaluate(async () => {
                const box = canvas.getBoundingClientRect(), place = (x, y) => ({clientX: box.left + x * box.width, clientY: box.top + (1 - y) * box.height, pointerId: 1, bubbles: true});
                const before = state.frame.measures.fastest;
                canvas.setPointerCapture = () => {};
                canvas.dispatchEvent(new PointerEvent('pointerdown', place(0.3, 0.05)));
                canvas.dispatchEvent(new PointerEvent('pointermove', place(0.4, 0.05)));
                let count = 0, last = state.frame;
                while (count < 10) {
                    await new Promise(requestAnimationFrame);
                    if (state.frame === last) continue;
                    last = state.frame;
                    ++count;
                    if (last.measures.fastest > before + 0.2) break;
                }
                canvas.dispatchEvent(new PointerEvent('pointerup', place(0.4, 0.05)));
                return count;
            });
            check(late <= 2, `${late} frames`);
            return `${late} frame${late > 1 ? 's' : ''}`;
        }],
        ['ink goes with the flow', async () => {
            await start('dam_break');
            await page.evaluate(() => setPaused(true));
            await page.click('#reset');
            await page.waitForFunction(() => state.frame.measures.step === 0);
            await tool('Ink');
            await drag([[0.05, 0.2], [0.28, 0.2]]);
            await page.evaluate(() => $('inks').children[1].click());
            await drag([[0.05, 0.4], [0.28, 0.4]]);
            await page.evaluate(() => setPaused(false));
            await seconds(0.6);
            const far = await page.evaluate(() => {
                const {ink, cells: [nx, ny]} = state.frame;
                let far = 0;
                for (let i = 0; i < nx * ny; ++i) if (ink[nx * ny + i] > 0.3) far = Math.max(far, i % nx / nx);
                return far;
            });
            check(far > 0.5, `it is at ${far} of the tank`);
            await picture('ink');
        }],
        ['a ball is thrown, floats, and is taken away', async () => {
            await start('cip_against_linear_2d');
            await page.click('#balls button:has-text("Beach ball")');
            const place = await at(0.3, 0.75), to = await at(0.45, 0.8);
            await page.mouse.move(...place);
            await page.mouse.down();
            check(await page.evaluate(() => state.frame.balls.length) === 0, 'it is there before it is thrown');
            for (let n = 1; n <= 4; ++n) await page.mouse.move(...[0, 1].map(a => place[a] + n / 4 * (to[a] - place[a])));
            await page.mouse.up();
            await page.waitForFunction(() => state.frame.balls.length === 5);
            const thrown = await page.evaluate(() => state.frame.balls[0] / (state.frame.cells[0] * state.frame.h));
            await frames(6);
            const flown = await page.evaluate(() => state.frame.balls[0] / (state.frame.cells[0] * state.frame.h));
            check(flown > thrown, `from ${thrown} to ${flown} of the tank`);
            await picture('ball');
            await seconds(0.9);
            const [deep] = await page.evaluate(() => {
                const {balls: [x, y, r], cells: [nx], h, phi} = state.frame;
                return [phi[Math.floor((y - r) / h) * nx + Math.floor(x / h)]];
            });
            check(deep < 0.02, `under the ball it is ${deep} m to the water`);
            await page.click('#tools button:has-text("Remove")');
            const ball = await page.evaluate(() => [0, 1].map(a => state.frame.balls[a] / (state.frame.cells[a] * state.frame.h)));
            await page.evaluate(() => setPaused(true));
            await drag([ball, ball], 1);
            await page.waitForFunction(() => state.frame.balls.length === 0);
            await page.evaluate(() => setPaused(false));
        }],
        ['the keyboard moves the brush and holds it down', async () => {
            await start('empty');
            const before = (await measures()).expected;
            await tool('Pour');
            await page.locator('#water').focus();
            for (let n = 0; n < 5; ++n) await page.keyboard.press('Shift+ArrowUp');
            await page.keyboard.down('Enter');
            await frames(4);
            await page.keyboard.up('Enter');
            await settled();
            const after = (await measures()).expected;
            check(after > before + 0.002, `${before} m², then ${after} m²`);
        }],
        ['a step is shown stage by stage, with its equations', async () => {
            await start('dam_break');
            await seconds(0.3);
            await page.click('#stages');
            await page.waitForFunction(() => state.paused && !state.waiting);
            const step = (await measures()).step, most = [];
            await page.locator('#water').focus();
            for (let n = 1; n <= 5; ++n) {
                await page.keyboard.press('.');
                await page.waitForFunction(n => state.frame.part === n && !state.waiting && state.frame.view === state.view.field, n);
                check((await page.textContent('#part_equation')).length > 8, `stage ${n} has no equation`);
                check(await page.getAttribute(`#part_list li:nth-child(${n + 1}) button`, 'aria-current') === 'step', `stage ${n} is not marked`);
                most.push(await page.evaluate(() => state.frame.shown.reduce((most, v) => Math.max(most, Math.abs(v)), 0)));
                if (n >= 4) await picture('stage_' + n);
            }
            check((await measures()).step === step + 1, 'it was not one step');
            check(most[4] < 0.1 * most[3], `divergence ${most[3]} after the forces, ${most[4]} after the projection`);
            await page.keyboard.press(',');
            await page.waitForFunction(() => state.frame.part === 4 && !state.waiting);
            await page.keyboard.press('Space');
            await page.waitForFunction(step => $('parts').hidden && state.frame.part === -1 && state.frame.measures.step > step + 1, step);
        }],
        ['arrow keys turn gravity', async () => {
            await start('empty');
            await page.locator('#water').focus();
            await page.keyboard.press('ArrowRight');
            await seconds(1.2);
            const gravity = await page.evaluate(() => state.frame.gravity), right = await wet(0.9, 0, 1, 1), left = await wet(0, 0, 0.1, 1);
            check(right > 0.3 && left < 0.1, `gravity is ${gravity}; ${right} of the right is wet, ${left} of the left`);
            await page.keyboard.press('ArrowDown');
        }],
        ['sliders come from the table and reach the scene', async () => {
            const rows = await page.evaluate(() => [...$('settings').children].map(box => box.dataset.key));
            for (const key of ['air.density', 'fluid.viscosity', 'fluid.surface_tension', 'time.cfl', 'surface.volume_correction', 'surface.spray', 'method.advection'])
                check(rows.includes(key), key + ' has none');
            await page.locator('[data-key="fluid.viscosity"] input').fill('600');
            await page.locator('[data-key="method.advection"] select').selectOption('linear');
            await frames(5);
            const saved = await page.evaluate(() => new Promise(resolve => { savedUses.file = resolve; worker.postMessage({type: 'save', use: 'file'}); }));
            check(/advection = "(linear|semi-lagrangian)"/.test(saved), 'the scene has no linear advection');
            const viscosity = Number(/\[fluid\][^[]*viscosity = ([^\n]*)/.exec(saved)[1]);
            check(viscosity > 1e-4, 'the scene has a viscosity of ' + viscosity);
        }],
        ['pause, single step and restart', async () => {
            await start('dam_break');
            await page.locator('#water').focus();
            await page.keyboard.press('Space');
            await page.waitForTimeout(300);
            const paused = (await measures()).step;
            await page.waitForTimeout(300);
            check((await measures()).step === paused, 'it goes on');
            await page.keyboard.press('.');
            await page.waitForFunction(n => state.frame.measures.step === n + 1, paused);
            await page.click('#reset');
            await page.waitForFunction(() => state.frame.measures.step === 0);
            await page.keyboard.press('Space');
        }],
        ['every view is drawn', async () => {
            await start('turbulent_mixing_2d', 96);
            await seconds(0.4);
            for (const view of ['Ink', 'Phi', 'Pressure', 'Speed', 'Vorticity', 'Divergence', 'Cells', 'Water']) {
                await page.click(`#views button:has-text("${view}")`);
                await page.mouse.move(...await at(0.5, 0.3));
                await frames(3);
                const colors = await page.evaluate(() => {
                    const small = Object.assign(document.createElement('canvas'), {width: 64, height: 48}), context = small.getContext('2d');
                    context.drawImage(canvas, 0, 0, 64, 48);
                    return new Set(new Uint32Array(context.getImageData(0, 0, 64, 48).data.buffer)).size;
                });
                check(colors > (view === 'Cells' ? 8 : 50), `${view} has ${colors} colours`);
                if (view === 'Vorticity' || view === 'Water') await picture(view.toLowerCase());
                if (view === 'Pressure') check((await page.textContent('#probe')).includes('Pa'), 'the probe tells no pressure');
            }
        }],
        ['CIP and linear interpolation run side by side, from the same start', async () => {
            await start('cip_against_linear_2d');
            await page.click('#split');
            await page.waitForFunction(() => twin.frame && twin.frame.measures.step > 0 && state.frame.measures.time > 1.5, null, {timeout: 120000});
            await picture('split');
            const [own, other] = await page.evaluate(() => [state.frame.measures, twin.frame.measures]);
            check(Math.abs(own.time - other.time) < 0.1, `at ${own.time} s and ${other.time} s`);
            check(other.kinetic + other.potential < own.kinetic + own.potential, 'the linear one has lost no more energy');
            check(await page.isVisible('#twin'), 'it is not shown');
            await tool('Pour');
            await drag([[0.4, 0.8], [0.5, 0.8]]);
            const [poured, beside] = await page.evaluate(() => [state.frame.measures.expected, twin.frame.measures.expected]);
            check(Math.abs(poured - beside) < 0.02 * poured, `${poured} m² and ${beside} m²`);
            await page.click('#split');
            check(!await page.isVisible('#twin'), 'it is still shown');
            await frames(2);
        }],
        ['a scene is saved, run by tarn, and opened again', async () => {
            await start('dam_break');
            await tool('Wall');
            await drag([[0.75, 0.05], [0.75, 0.3]]);
            await frames(20);
            await page.evaluate(() => setPaused(true));
            await settled();
            const volume = (await measures()).volume;
            const scene = await page.evaluate(() => new Promise(resolve => { savedUses.file = resolve; worker.postMessage({type: 'save', use: 'file'}); }));
            const file = path.join(folder, 'saved.toml');
            fs.writeFileSync(file, scene);
            execFileSync(program, ['run', file, '--out', path.join(folder, 'run'), '--frames', '2', '--quiet', '--set', 'output.preview=false', '--set', 'output.surface=none', '--threads', '1']);
            const rows = fs.readFileSync(path.join(folder, 'run/stats.csv'), 'utf8').trim().split('\n').map(line => line.split(','));
            const starts = Number(rows[1][rows[0].indexOf('volume')]);
            check(Math.abs(starts / volume - 1) < 0.02, `${volume} m² in the page, ${starts} m² in the run`);
            await page.evaluate(() => setPaused(false));
            await page.setInputFiles('#file', file);
            await page.waitForFunction(() => state.opened && state.frame.measures.step > 0 && state.frame.measures.time < 0.2);
            const again = (await measures()).volume;
            check(Math.abs(again / volume - 1) < 0.02, `${volume} m² saved, ${again} m² opened`);
            return `volume ${(100 * (starts / volume - 1)).toFixed(2)} % off`;
        }],
        ['a bad scene is told, and the page goes on', async () => {
            const file = path.join(folder, 'bad.toml');
            fs.writeFileSync(file, 'tarn = 1\n[domain]\nsize = [1, 1]\ncels = 3\n');
            await page.setInputFiles('#file', file);
            await page.waitForFunction(() => !$('message').hidden && /cels/.test($('message').textContent));
            await page.waitForFunction(() => state.opened && state.frame.measures.step > 0);
        }],
        ['a link holds what is there', async () => {
            await start('leaky_dam');
            await page.click('#link');
            await page.waitForFunction(() => location.hash.startsWith('#scene='));
            const hash = await page.evaluate(() => location.hash), volume = (await measures()).volume;
            await page.goto('about:blank');
            await page.goto(address + hash);
            await page.waitForFunction(() => state.frame && state.frame.measures.step > 0);
            if (!pictures) await coarsely();
            const again = (await measures()).volume;
            check(Math.abs(again / volume - 1) < 0.05, `${volume} m², then ${again} m²`);
            return `${hash.length} letters`;
        }],
        ['a torn link is told', async () => {
            await page.goto('about:blank');
            await page.goto(address + '#scene=abc');
            await page.waitForFunction(() => state.frame && state.frame.measures.step > 0 && /torn/.test($('message').textContent));
            if (!pictures) await coarsely();
        }],
        ['it survives another size and a lost context', async () => {
            await page.setViewportSize({width: 620, height: 900});
            await frames(3);
            await page.setViewportSize({width: 900, height: 600});
            const drawn = await page.evaluate(async () => {
                const extension = picture.gl.getExtension('WEBGL_lose_context');
                extension.loseContext();
                await new Promise(resolve => setTimeout(resolve, 300));
                extension.restoreContext();
                await new Promise(resolve => setTimeout(resolve, 600));
                return !picture.lost && !picture.gl.isContextLost();
            });
            check(drawn, 'the context stays lost');
            await frames(3);
        }],
        ['numbers that are not finite restart the water with a message', async () => {
            await start('dam_break');
            await page.evaluate(() => state.strokes.push({brush: 5, from: [0.1, 0.1], to: [0.2, 0.1], radius: 0.05, velocity: [NaN, 0], color: [0, 0, 0]}));
            await page.waitForFunction(() => /restarted/.test($('message').textContent));
            await page.waitForFunction(() => state.frame.measures.step > 0 && Number.isFinite(state.frame.measures.kinetic));
        }],
        ['a solver that stops is started anew', async () => {
            await start('dam_break');
            await page.evaluate(() => { state.broken = worker; worker.postMessage({type: 'stop'}); });
            await page.waitForFunction(() => worker !== state.broken && /starts anew/.test($('message').textContent));
            await page.waitForFunction(() => state.opened && state.frame.measures.step > 3);
        }],
        ['on a narrow screen the panel waits until it is asked for', async () => {
            await page.setViewportSize({width: 420, height: 800});
            await page.goto('about:blank');
            await page.goto(address + '#buoyancy_2d');
            await page.waitForFunction(() => state.opened && state.frame && state.frame.balls.length === 10 && state.frame.measures.time > 0.6);
            await coarsely();
            check(!await page.isVisible('#panel'), 'the panel is shown');
            await picture('narrow');
            await page.click('#panels');
            check(await page.isVisible('#panel'), 'the panel is not shown');
            await page.setViewportSize({width: 900, height: 600});
            await page.goto('about:blank');
            await page.goto(address);
            await page.waitForFunction(() => state.opened && state.frame && state.frame.measures.step > 0);
            await coarsely();
        }],
        ['other grids take over the water', async () => {
            await start('dam_break');
            await frames(20);
            const volume = (await measures()).volume;
            await page.selectOption('#cells', '96');
            await page.waitForFunction(() => state.frame.cells[0] === 96);
            const again = (await measures()).volume;
            check(Math.abs(again / volume - 1) < 0.05, `${volume} m², then ${again} m²`);
        }],
        ['a grid that is too slow becomes coarser', async () => {
            await start('empty', 96);
            await page.evaluate(() => { state.auto = true; for (let n = 0; n < 60; ++n) adapt({seconds: 0.05}); });
            await page.waitForFunction(() => state.frame.cells[0] === 64);
        }],
        // As a hidden page is: a browser without a window never hides one by itself.
        ['a page whose pictures nobody wants rests', async () => {
            await page.evaluate(() => { state.idle = requestAnimationFrame; window.requestAnimationFrame = () => 0; });
            await page.waitForTimeout(400);
            const before = (await measures()).step;
            await page.waitForTimeout(400);
            check((await measures()).step === before, 'it goes on without pictures');
            await page.evaluate(() => { window.requestAnimationFrame = state.idle; requestAnimationFrame(tick); });
            await frames(2);
        }],
        ['WebAssembly gives what the native program gives', async () => {
            const told = execFileSync(program, ['bench', 'play', '--compare'], {encoding: 'utf8'});
            const apart = [...told.matchAll(/at most ([-+.e\d]+) m apart; of mixing, volume ([-+.e\d]+)/g)];
            check(apart.length === 2, told);
            for (const [, phi, volume] of apart) check(Number(phi) < 1e-3 && Number(volume) < 1e-3, `phi ${phi} m apart, volume ${volume}`);
            return apart.map(([, phi]) => phi + ' m').join(', ');
        }],
        ['without WebGL a plain canvas is drawn, embedded', async () => {
            await page.goto('about:blank');
            await page.goto(address + '?flat&embed');
            await page.waitForFunction(() => state.frame && state.frame.measures.step > 3);
            check(await page.evaluate(() => picture.constructor.name) === 'FlatPicture', 'WebGL is there');
            check(!await page.isVisible('#panel'), 'the panel is shown');
        }],
        ['the console has no errors', async () => { check(complaints.length === 0, complaints.join('; ')); }],
    ];
    await run(tests, async () => {
        child.kill();
        await close();
        fs.rmSync(folder, {recursive: true, force: true});
    });
}

start(main);
