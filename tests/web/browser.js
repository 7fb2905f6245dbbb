// What the tests of pages share: the program that serves them, and Debian's Chromium, driven by playwright-core.
'use strict';
const fs = require('fs');
const os = require('os');
const path = require('path');
const {spawn} = require('child_process');

const SKIPPED = 77;

function skip(why) {
    console.log('skipped: ' + why);
    process.exit(SKIPPED);
}

// The first line that the program prints is the address.
function serve(program, words) {
    return new Promise((resolve, reject) => {
        const child = spawn(program, words, {stdio: ['ignore', 'pipe', 'inherit']});
        let text = '';
        child.stdout.on('data', data => {
            text += data;
            if (text.includes('\n')) resolve({address: text.split('\n')[0], child});
        });
        child.on('exit', code => reject(new Error('the server left with ' + code)));
    });
}

async function open(playwright) {
    if (!fs.existsSync(playwright)) skip('playwright-core is not there');
    if (!fs.existsSync('/usr/bin/chromium')) skip('Chromium is not there');
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'tarn_chromium_'));
    const context = await require(path.resolve(playwright)).chromium.launchPersistentContext(profile, {
        executablePath: '/usr/bin/chromium', viewport: {width: 1280, height: 800}, colorScheme: 'dark', acceptDownloads: true,
        args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
            '--disable-component-update', '--disable-sync', '--use-angle=swiftshader', '--enable-unsafe-swiftshader'],
    });
    const page = context.pages()[0];
    const complaints = [];
    // What the software renderer says of its own speed is no error.
    page.on('console', m => { if (m.type() === 'error') complaints.push(m.text()); });
    page.on('pageerror', error => complaints.push(error.message));
    const close = async () => {
        await context.close();
        fs.rmSync(profile, {recursive: true, force: true});
    };
    return {page, complaints, close};
}

// Runs every test in order; one that fails does not stop the others. Then `end`, whatever happened, and leaves with 1 if any did.
async function run(tests, end) {
    let failed = 0;
    try {
        failed = await runAll(tests);
    } catch (error) {
        failed = 1;
        console.log('not ok - ' + error.stack);
    } finally {
        await end();
    }
    process.exit(failed ? 1 : 0);
}

async function runAll(tests) {
    let failed = 0;
    for (const [name, test] of tests) {
        const begun = Date.now(), time = () => ` [${((Date.now() - begun) / 1000).toFixed(1)} s]`;
        try {
            const told = await test();
            console.log('ok - ' + name + (told ? ': ' + told : '') + time());
        } catch (error) {
            ++failed;
            console.log('not ok - ' + name + ': ' + error.message + time());
        }
    }
    console.log(`${tests.length - failed} passed, ${failed} failed`);
    return failed;
}

function start(main) {
    main().catch(error => {
        console.log('not ok - ' + error.stack);
        process.exit(1);
    });
}

function check(holds, text) {
    if (!holds) throw new Error(text);
}

module.exports = {skip, serve, open, run, start, check};
