// Draws a frame without WebGL: a pixel for every cell, enlarged.
'use strict';

class FlatPicture {
    constructor(canvas) {
        this.canvas = canvas;
        this.context = canvas.getContext('2d');
        if (!this.context) throw new Error('this browser cannot draw on a canvas');
        this.small = document.createElement('canvas');
    }

    colorOf(frame, view, range, light, i, count) {
        if (view.field >= 0) return colorAt(paletteOf(view), (frame.shown[i] - range[0]) / (range[1] - range[0]));
        const wet = Math.min(Math.max(.5 - frame.phi[i] / frame.h, 0), 1), height = i / count;
        const air = light ? [.93, .96, .99] : [.06, .08, .13];
        let water = light ? [.1, .45 + .15 * height, .8] : [.03, .18 + .2 * height, .45 + .3 * height];
        if (view.ink) water = light ? [.93, .93, .93] : [.1, .13, .18];
        const foam = Math.min(Math.max((frame.shown[i] - 1) / 3, 0), .5);
        water = water.map(c => c + foam * (1 - c));
        if (frame.ink.length) {
            const dye = [0, 1, 2].map(n => frame.ink[n * count + i]), most = Math.max(...dye);
            if (most > .02) water = water.map((c, n) => c + Math.min(most, 1) * (1 - dye[n] / most - c));
        }
        return air.map((c, n) => c + wet * (water[n] - c));
    }

    draw(frame, view, range, light) {
        const [nx, ny] = frame.cells, count = nx * ny;
        if (frame.solids) { this.solids = frame.solids; this.solidCells = frame.cells; }
        const solid = this.solids && this.solids.length && this.solidCells[0] === nx ? this.solids : null;
        this.small.width = nx;
        this.small.height = ny;
        const context = this.small.getContext('2d'), image = context.createImageData(nx, ny);
        for (let j = 0; j < ny; ++j)
            for (let i = 0; i < nx; ++i) {
                const cell = j * nx + i, node = j * (nx + 1) + i;
                let color = this.colorOf(frame, view, range, light, cell, count);
                if (solid && solid[node] + solid[node + 1] + solid[node + nx + 1] + solid[node + nx + 2] < 0) color = [.5, .47, .43];
                image.data.set([255 * color[0], 255 * color[1], 255 * color[2], 255], 4 * ((ny - 1 - j) * nx + i));
            }
        context.putImageData(image, 0, 0);
        const scale = this.canvas.width / (nx * frame.h);
        this.context.imageSmoothingEnabled = !view.flags;
        this.context.drawImage(this.small, 0, 0, this.canvas.width, this.canvas.height);
        if (!view.flags) this.drawBalls(frame, scale);
        for (let i = 0; i < frame.drops.length; i += 6) {
            this.context.fillStyle = frame.drops[i + 3] < .5 ? '#3d9be9' : '#dcecf8aa';
            this.context.beginPath();
            this.context.arc(scale * frame.drops[i], this.canvas.height - scale * frame.drops[i + 1],
                Math.max(1, scale * frame.drops[i + 2]), 0, 7);
            this.context.fill();
        }
    }

    // Halves of two colours show how a ball turns.
    drawBalls(frame, scale) {
        const [context, high] = [this.context, this.canvas.height];
        for (let i = 0; i < frame.balls.length; i += 5) {
            const [x, y, r, turn, weight] = frame.balls.slice(i, i + 5);
            const colors = weight < 400 ? ['#ee3b42', '#f7f5ee'] : weight < 1000 ? ['#9e6938', '#cc9457'] : ['#4d525c', '#666c78'];
            colors.forEach((color, half) => {
                context.fillStyle = color;
                context.beginPath();
                context.arc(scale * x, high - scale * y, scale * r, half * Math.PI - turn, (half + 1) * Math.PI - turn);
                context.fill();
            });
        }
    }
}
