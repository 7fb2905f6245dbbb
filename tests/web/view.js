// The viewer as a person meets it, on a run that is still going on:  node view.js TARN SCENES PLAYWRIGHT [PICTURES]
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const {spawn, execFileSync} = require('child_process');
const {serve, open, run, start, check} = require('./browser.js');

const [program, scenes, playwright, pictures] = process.argv.slice(2);

async function main() {
    const {page, complaints, close} = await open(playwright);
    page.setDefaultTimeout(60000);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tarn_view_'));
    const words = (scene, name, frames, cells) => ['run', path.join(scenes, scene), '--out', path.join(folder, name), '--frames', String(frames), '--quiet', '--threads', '1',
        '--set', `domain.cells=${cells}`, '--set', 'output.preview_width=160'];
    execFileSync(program, words('dam_break_2d.toml', 'flat', 5, 32));
    execFileSync(program, words('solids_with_air_2d.toml', 'walls', 3, 32));
    execFileSync(program, words('wave_tank.toml', 'gauged', 3, 120));
    const going = spawn(program, words('dam_break.toml', 'deep', 400, 40), {stdio: 'ignore'});
    while (!fs.existsSync(path.join(folder, 'deep/surface/frame_0002.ply'))) await new Promise(resolve => setTimeout(resolve, 50));
    const {address, child} = await serve(program, ['view', folder, '--no-browser']);
    child.removeAllListeners('exit');
    const picture = async name => { if (pictures) await page.screenshot({path: path.join(pictures, name + '.png')}); };
    const shown = frame => page.waitForFunction(frame => view.shown === frame, frame);

    const tests = [
        ['it lists runs and shows the newest surface', async () => {
            const begun = Date.now();
            await page.goto(address + '#deep');
            await page.waitForFunction(() => view.shown > 0 && picture.meshes.surface.mesh.indices.length > 300);
            const seconds = (Date.now() - begun) / 1000;
            check((await page.$$eval('#runs option', all => all.map(o => o.value))).join() === 'deep,flat,gauged,walls', 'other runs are listed');
            return `after ${seconds.toFixed(2)} s`;
        }],
        ['frames come as the run makes them', async () => {
            const before = await page.evaluate(() => view.shown);
            await page.waitForFunction(before => view.shown > before + 3, before);
            check(/^running/.test(await page.textContent('#state')), await page.textContent('#state'));
            await picture('view_running');
        }],
        ['the timeline goes back, plots and cursor follow', async () => {
            await page.locator('#frame').fill('1');
            await shown(1);
            check(/J|\d/.test(await page.textContent('#plots .plot:nth-child(2) b')), 'no energy is told');
            const rows = await page.evaluate(() => view.rows.length);
            check(rows > 5, `${rows} rows`);
        }],
        ['it plays, and what was seen is forgotten', async () => {
            await page.click('#play');
            await page.waitForFunction(() => view.shown > 15);
            check(await page.evaluate(() => view.cache.size) <= 12, 'too many frames are kept');
            await page.click('#play');
        }],
        ['cuts show phi and speed', async () => {
            going.kill('SIGINT');
            await new Promise(resolve => going.on('exit', resolve));
            await page.waitForFunction(() => /^(interrupted|done)/.test($('state').textContent));
            await page.click('#show button:has-text("Slice")');
            await page.waitForFunction(() => !$('slice').hidden && $('slice').width > 10 && /m$/.test($('most').textContent));
            await page.selectOption('#field', 'speed');
            await page.waitForFunction(() => /m\/s$/.test($('most').textContent) && parseFloat($('most').textContent.slice(6)) > 0.1);
            await page.selectOption('#axis', 'y');
            // A cut across y spans x and z.
            await page.waitForFunction(() => Math.abs($('slice').height / $('slice').width - picture.size[2] / picture.size[0]) < 0.05);
            await picture('view_slice');
        }],
        ['pictures are shown', async () => {
            await page.click('#show button:has-text("Drawing")');
            await page.waitForFunction(() => !$('picture').hidden && $('picture').naturalWidth === 160);
        }],
        ['another run is shown, flat, with its walls', async () => {
            await page.selectOption('#runs', 'walls');
            await page.waitForFunction(() => view.run === 'walls' && view.shown === 3);
            await page.selectOption('#runs', 'flat');
            await page.waitForFunction(() => view.run === 'flat' && view.shown === 5 && picture.meshes.surface.mesh.lines);
            await picture('view_flat');
        }],
        ['two runs are shown side by side, at the same time and from the same side', async () => {
            await page.selectOption('#runs', 'deep');
            await page.waitForFunction(() => view.run === 'deep' && view.shown > 3);
            await page.click('#show button:has-text("Surface")');
            await page.selectOption('#others', 'deep');
            await page.waitForFunction(() => beside.shown === view.shown && beside.picture.meshes.surface?.mesh.indices.length > 300);
            await page.evaluate(() => { picture.turn = [1, 0.2]; picture.turned(); });
            check(await page.evaluate(() => beside.picture.turn[0] === 1), 'the camera of the run beside stays behind');
            check(/ \| /.test(await page.textContent('#plots .plot:nth-child(2) b')), 'its numbers are not told');
            await picture('view_beside');
            await page.selectOption('#others', 'walls');
            await page.locator('#frame').fill('3');
            await page.waitForFunction(() => view.shown === 3 && beside.shown >= 0);
            await page.selectOption('#others', '');
            await page.waitForFunction(() => $('stage_beside').hidden);
        }],
        ['gauges are plotted', async () => {
            await page.selectOption('#runs', 'gauged');
            await page.waitForFunction(() => view.run === 'gauged' && view.gauges.length > 3 && $('plots').childElementCount > 6);
            check(/\d/.test(await page.textContent('#plots .plot:last-child b')), 'the last gauge tells nothing');
            await picture('view_gauges');
            await page.selectOption('#runs', 'flat');
            await page.waitForFunction(() => view.run === 'flat' && $('plots').childElementCount === 6);
        }],
        ['nothing else of the folder is served', async () => {
            fs.symlinkSync('/etc/hostname', path.join(folder, 'flat/preview/frame_9999.png'));
            for (const file of ['run/flat/checkpoint/', 'run/flat/../flat/run.json', 'run/..%2f..%2fetc%2fpasswd', 'run/other/run.json', 'run/flat/preview/frame_9999.png',
                'run/flat/state/frame_0001.state', 'run/flat/slice/phi/w/1/frame_0001.bin', 'run/flat/slice/phi/x/1/frame_9999.bin']) {
                const status = await page.evaluate(file => fetch(file).then(answer => answer.status), file.replace('../', '%2e%2e%2f'));
                check(status === 404, `${file}: ${status}`);
            }
        }],
        // What was asked for in vain just now is told there, too.
        ['the console has no other errors', async () => { check(complaints.every(text => /404/.test(text)), complaints.join('; ')); }],
    ];
    await run(tests, async () => {
        child.kill();
        going.kill();
        await close();
        fs.rmSync(folder, {recursive: true, force: true});
    });
}

start(main);
