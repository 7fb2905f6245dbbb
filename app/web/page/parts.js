// A step part by part, for those who learn: what each part solves, and what it made of the water. The worker keeps what there was after
// each part (two_phase::StepPart), so that one can go back and forth.
'use strict';

const PARTS = [
    {name: 'Before', view: 'Water', equation: '∇·<b>u</b> = 0', text: 'The water as the step before left it. What flows in, flows out: the velocity is free of divergence.'},
    {name: 'Surface', view: 'Phi', equation: '∂φ/∂t + <b>u</b>·∇φ = 0', text: 'The surface goes with the flow. φ is the distance to it, negative in water: blue.'},
    {name: 'Droplets', view: 'Water', equation: 'm d<b>v</b>/dt = m <b>g</b> + drag', text: 'What the grid is too coarse for becomes droplets and bubbles; those that arrive become water and air again.'},
    {name: 'Advection', view: 'Speed', equation: '∂<b>u</b>/∂t + (<b>u</b>·∇)<b>u</b> = 0', text: 'The velocity carries itself along; by CIP with values and slopes, so that whirls last.'},
    {name: 'Forces', view: 'Divergence', equation: '<b>u</b>* = <b>u</b> + Δt (<b>g</b> + ν∇²<b>u</b> + σκ∇H/ρ)', text: 'Gravity, viscosity and surface tension. Now the flow would part in the red and pile up in the blue.'},
    {name: 'Projection', view: 'Divergence', equation: '∇·(∇p/ρ) = ∇·<b>u</b>*/Δt,&ensp;<b>u</b> = <b>u</b>* − Δt ∇p/ρ', text: 'The pressure that takes all of that away again, in the same colours as before. The step is done.'},
];

const parts = {on: false, range: null, high: 0};

function showParts() {
    $('parts').hidden = !parts.on;
    if (!parts.on || !state.frame) return;
    const at = state.frame.part, part = PARTS[at];
    [...$('part_list').children].forEach((item, n) => item.firstChild.setAttribute('aria-current', n === at ? 'step' : 'false'));
    $('part_equation').innerHTML = part ? part.equation : '';
    $('part_text').textContent = part ? part.text : 'Go on (.) to take a step, and see what each of its parts does.';
    if (parts.high !== $('parts').offsetHeight) fit(state.frame.cells);
}

function setParts(on) {
    if (on === parts.on || on && !state.frame) return;
    parts.on = on;
    parts.range = null;
    $('stages').setAttribute('aria-pressed', on);
    if (on) {
        setPaused(true);
        parts.before = state.view;
    } else {
        post({type: 'part', part: -1, stamp: performance.now()});
        if (parts.before) chooseView(parts.before);
    }
    showParts();
    if (state.frame) fit(state.frame.cells);
}

// The part that is wanted, or a new step.
function goToPart(n) {
    if (!state.opened || state.waiting || twin.waiting) return;
    if (!state.paused) setPaused(true);
    const fresh = n >= PARTS.length || !state.frame || state.frame.part < 0, to = fresh ? 1 : Math.max(0, n);
    if (to !== 5) parts.range = null;
    state.waiting = true;
    twin.waiting = twin.worker !== null;
    post(fresh ? {type: 'parts', seconds: 1 / 30, stamp: performance.now()} : {type: 'part', part: to, stamp: performance.now()});
    chooseView(VIEWS.find(view => view.name === PARTS[to].view));
}

function chooseView(view) {
    if (state.view !== view) $('views').children[VIEWS.indexOf(view)].click();
}

// What the forces left is seen in the same colours once it is gone.
function rangeInParts(range) {
    if (!parts.on || state.view.name !== 'Divergence') return range;
    if (state.frame.part === 4) parts.range = range;
    return state.frame.part === 5 && parts.range ? parts.range : range;
}

$('part_list').replaceChildren(...PARTS.map((part, n) => {
    const item = document.createElement('li'), button = document.createElement('button');
    button.textContent = part.name;
    button.addEventListener('click', () => goToPart(n));
    item.append(button);
    return item;
}));
$('part_next').addEventListener('click', () => goToPart(state.frame.part + 1));
$('part_back').addEventListener('click', () => goToPart(state.frame.part - 1));
