// Small plots of what the newest frames measured.
'use strict';

class Plots {
    constructor(parent) {
        this.rows = [
            ['Volume drift', m => m.expected > 0 ? 100 * (m.volume / m.expected - 1) : 0, v => v.toFixed(3) + ' %', '#39c2ff'],
            ['Kinetic energy', m => m.kinetic, v => v.toPrecision(3) + ' J/m', '#ffb03a'],
            ['Potential energy', m => m.potential, v => v.toPrecision(3) + ' J/m', '#b78bff'],
            ['Iterations of pressure', m => m.iterations, v => v.toFixed(0), '#7bd66b'],
            ['Frames per second', m => m.fps, v => v.toFixed(0), '#ff7d9c'],
        ].map(([label, value, text, color]) => {
            const box = document.createElement('div');
            box.className = 'plot';
            box.innerHTML = '<div><span></span><b></b></div><canvas width="240" height="30"></canvas>';
            box.querySelector('span').textContent = label;
            parent.append(box);
            return {value, text, color, values: [], number: box.querySelector('b'), canvas: box.querySelector('canvas')};
        });
        this.frames = 0;
    }

    clear() { for (const row of this.rows) row.values = []; }

    add(measures) {
        for (const row of this.rows) {
            row.values.push(row.value(measures));
            if (row.values.length > 240) row.values.shift();
        }
        // Numbers that change sixty times a second cannot be read.
        if (this.frames++ % 6 === 0) this.draw();
    }

    draw() {
        for (const row of this.rows) {
            const last = row.values[row.values.length - 1];
            row.number.textContent = Number.isFinite(last) ? row.text(last) : '';
            const context = row.canvas.getContext('2d'), {width, height} = row.canvas;
            const least = Math.min(...row.values), most = Math.max(...row.values), span = Math.max(most - least, 1e-12);
            context.clearRect(0, 0, width, height);
            context.strokeStyle = row.color;
            context.lineWidth = 1.5;
            context.beginPath();
            row.values.forEach((v, i) => context.lineTo(i * width / 239, height - 3 - (height - 6) * (v - least) / span));
            context.stroke();
        }
    }
}
