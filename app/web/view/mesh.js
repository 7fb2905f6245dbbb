// Surfaces: a binary PLY as Tarn writes it, and its picture by WebGL2, with a camera that goes around.
'use strict';

function readPly(buffer) {
    const text = new TextDecoder('latin1').decode(buffer.slice(0, 2000)), end = text.indexOf('end_header\n');
    if (!text.startsWith('ply\nformat binary_little_endian') || end < 0) throw new Error('not a PLY file of Tarn');
    const count = kind => Number((new RegExp(`element ${kind} (\\d+)`).exec(text) || [0, 0])[1]);
    const points = count('vertex'), faces = count('face'), edges = count('edge'), stride = text.includes('property int solid') ? 40 : 36;
    let at = end + 11;
    const vertices = new Float32Array(9 * points);
    const view = new DataView(buffer);
    for (let i = 0; i < points; ++i) for (let n = 0; n < 9; ++n) vertices[9 * i + n] = view.getFloat32(at + stride * i + 4 * n, true);
    at += stride * points;
    const indices = new Uint32Array(faces ? 3 * faces : 2 * edges);
    for (let i = 0; i < faces; ++i) for (let n = 0; n < 3; ++n) indices[3 * i + n] = view.getUint32(at + 13 * i + 1 + 4 * n, true);
    for (let i = 0; i < 2 * edges; ++i) indices[i] = view.getUint32(at + 4 * i, true);
    return {vertices, indices, lines: faces === 0};
}

// The edges of the domain.
function boxOf(size) {
    const vertices = new Float32Array(72), indices = [];
    for (let i = 0; i < 8; ++i) {
        for (let a = 0; a < 3; ++a) vertices[9 * i + a] = i >> a & 1 ? size[a] : 0;
        for (let a = 0; a < 3; ++a) if (!(i >> a & 1)) indices.push(i, i | 1 << a);
    }
    return {vertices, indices: new Uint32Array(indices), lines: true};
}

const MESH_VERTEX = `#version 300 es
in vec3 place, normal, velocity; uniform mat4 camera; out vec3 n, v, x;
void main() { n = normal; v = velocity; x = place; gl_Position = camera * vec4(place, 1.); }`;
const MESH_COLOR = `#version 300 es
precision highp float; in vec3 n, v, x; out vec4 color; uniform vec3 eye, base; uniform bool water, lines;
void main() {
  if (lines) { color = vec4(base, 1.); return; }
  vec3 m = normalize(n), to = normalize(eye - x); if (dot(m, to) < 0.) m = -m;
  vec3 sun = normalize(vec3(-.4, .9, .5)); float lit = .35 + .65 * max(0., dot(m, sun));
  float rim = pow(1. - max(0., dot(m, to)), 3.), shine = pow(max(0., dot(reflect(-sun, m), to)), 60.);
  vec3 c = base * lit;
  if (water) c = mix(c, vec3(.85, .94, 1.), .5 * smoothstep(1., 4., length(v)) + .45 * rim) + .6 * shine;
  color = vec4(c, 1.);
}`;

// Droplets and bubbles, as round as they are.
const DROP_VERTEX = `#version 300 es
in vec3 place; in vec2 drop; uniform mat4 camera; uniform float dots; out float kind;
void main() { kind = drop.y; gl_Position = camera * vec4(place, 1.); gl_PointSize = max(1.5, 2. * dots * drop.x / gl_Position.w); }`;
const DROP_COLOR = `#version 300 es
precision highp float; in float kind; out vec4 color;
void main() {
  vec2 p = 2. * gl_PointCoord - 1.; if (dot(p, p) > 1.) discard;
  float lit = .45 + .55 * max(0., dot(vec3(p.x, -p.y, sqrt(1. - dot(p, p))), normalize(vec3(-.4, .8, .6))));
  color = vec4((kind < .5 ? vec3(.35, .68, .98) : kind < 1.5 ? vec3(.70, .86, .97) : vec3(.96, .98, 1.)) * lit, 1.);
}`;

class MeshPicture {
    constructor(canvas) {
        this.canvas = canvas;
        this.gl = canvas.getContext('webgl2', {antialias: true, preserveDrawingBuffer: true});
        if (!this.gl) throw new Error('no WebGL2');
        this.turn = [0.6, 0.35];
        this.zoom = 1;
        this.shift = [0, 0];
        this.size = [1, 1, 1];
        this.meshes = {};
        this.drops = null;  // five numbers each: place, radius, kind
        this.beside = null;  // a picture that is looked at from the same side
        this.start();
        canvas.addEventListener('webglcontextlost', event => event.preventDefault());
        canvas.addEventListener('webglcontextrestored', () => { this.start(); for (const name in this.meshes) this.put(name, this.meshes[name].mesh, true); this.draw(); });
        this.listen();
    }

    start() {
        this.program = this.made(MESH_VERTEX, MESH_COLOR);
        this.dropProgram = this.made(DROP_VERTEX, DROP_COLOR);
        this.dropBuffer = this.gl.createBuffer();
    }

    made(vertex, color) {
        const gl = this.gl, program = gl.createProgram();
        for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, color]]) {
            const shader = gl.createShader(kind);
            gl.shaderSource(shader, source);
            gl.compileShader(shader);
            gl.attachShader(program, shader);
        }
        gl.linkProgram(program);
        if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) throw new Error(gl.getProgramInfoLog(program));
        return program;
    }

    listen() {
        let last = null;
        this.canvas.addEventListener('pointerdown', event => { last = [event.clientX, event.clientY]; this.canvas.setPointerCapture(event.pointerId); });
        this.canvas.addEventListener('pointerup', () => { last = null; });
        this.canvas.addEventListener('pointermove', event => {
            if (!last) return;
            const by = [event.clientX - last[0], event.clientY - last[1]];
            last = [event.clientX, event.clientY];
            if (event.shiftKey) this.shift = [this.shift[0] - by[0] / 400, this.shift[1] + by[1] / 400];
            else this.turn = [this.turn[0] - by[0] / 150, Math.max(-1.5, Math.min(1.5, this.turn[1] + by[1] / 150))];
            this.turned();
        });
        this.canvas.addEventListener('wheel', event => {
            this.zoom *= Math.exp(event.deltaY / 900);
            this.turned();
            event.preventDefault();
        }, {passive: false});
    }

    turned() {
        this.draw();
        if (!this.beside) return;
        Object.assign(this.beside, {turn: this.turn, shift: this.shift, zoom: this.zoom});
        this.beside.draw();
    }

    // Memory on the graphics card is that of one mesh of a name: the one before is given back.
    put(name, mesh, again) {
        const gl = this.gl, old = this.meshes[name];
        if (old && !again) { gl.deleteBuffer(old.vertices); gl.deleteBuffer(old.indices); delete this.meshes[name]; }
        if (!mesh) return;
        const kept = this.meshes[name] = {mesh, vertices: gl.createBuffer(), indices: gl.createBuffer()};
        gl.bindBuffer(gl.ARRAY_BUFFER, kept.vertices);
        gl.bufferData(gl.ARRAY_BUFFER, mesh.vertices, gl.STATIC_DRAW);
        gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, kept.indices);
        gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, mesh.indices, gl.STATIC_DRAW);
    }

    camera() {
        const [a, b] = this.flat ? [0, 0] : this.turn, size = this.size, reach = 0.52 * Math.hypot(...size) * this.zoom, far = 3 * reach;
        const to = [Math.sin(a) * Math.cos(b), Math.sin(b), Math.cos(a) * Math.cos(b)], right = [Math.cos(a), 0, -Math.sin(a)];
        const up = [to[1] * right[2] - to[2] * right[1], to[2] * right[0] - to[0] * right[2], to[0] * right[1] - to[1] * right[0]];
        const target = size.map((s, i) => s / 2 + reach * (this.shift[0] * right[i] + this.shift[1] * up[i]));
        const eye = target.map((t, i) => t + far * to[i]), aspect = this.canvas.width / this.canvas.height;
        const near = 0.02 * far, last = 4 * far, f = far / reach, dot = (p, q) => p[0] * q[0] + p[1] * q[1] + p[2] * q[2];
        const rows = [[...right, -dot(right, eye)], [...up, -dot(up, eye)], [...to, -dot(to, eye)]];
        const matrix = new Float32Array(16);
        for (let c = 0; c < 4; ++c) {
            matrix[4 * c] = (aspect > 1 ? f / aspect : f) * rows[0][c];
            matrix[4 * c + 1] = (aspect > 1 ? f : f * aspect) * rows[1][c];
            matrix[4 * c + 2] = (last + near) / (near - last) * rows[2][c] + (c === 3 ? 2 * last * near / (near - last) : 0);
            matrix[4 * c + 3] = -rows[2][c];
        }
        return {matrix, eye, steep: aspect > 1 ? f : f * aspect};
    }

    draw() {
        const gl = this.gl, dots = Math.min(devicePixelRatio || 1, 2), box = this.canvas.getBoundingClientRect();
        this.canvas.width = Math.max(1, Math.round(box.width * dots));
        this.canvas.height = Math.max(1, Math.round(box.height * dots));
        gl.viewport(0, 0, this.canvas.width, this.canvas.height);
        const light = matchMedia('(prefers-color-scheme: light)').matches;
        gl.clearColor(...(light ? [.93, .95, .97] : [.045, .065, .10]), 1);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        gl.enable(gl.DEPTH_TEST);
        gl.useProgram(this.program);
        const {matrix, eye, steep} = this.camera(), place = name => gl.getUniformLocation(this.program, name);
        gl.uniformMatrix4fv(place('camera'), false, matrix);
        gl.uniform3fv(place('eye'), eye);
        for (const [name, kept] of Object.entries(this.meshes)) {
            gl.uniform1i(place('water'), name === 'surface');
            gl.uniform1i(place('lines'), kept.mesh.lines);
            gl.uniform3fv(place('base'), name === 'surface' ? (kept.mesh.lines ? [.25, .65, 1] : [.10, .42, .80]) : name === 'box' ? [.35, .42, .52] : [.62, .58, .53]);
            gl.bindBuffer(gl.ARRAY_BUFFER, kept.vertices);
            ['place', 'normal', 'velocity'].forEach((attribute, i) => {
                const at = gl.getAttribLocation(this.program, attribute);
                if (at < 0) return;
                gl.enableVertexAttribArray(at);
                gl.vertexAttribPointer(at, 3, gl.FLOAT, false, 36, 12 * i);
            });
            gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, kept.indices);
            gl.drawElements(kept.mesh.lines ? gl.LINES : gl.TRIANGLES, kept.mesh.indices.length, gl.UNSIGNED_INT, 0);
        }
        this.drawDrops(matrix, 0.5 * steep * this.canvas.height);
    }

    drawDrops(matrix, dots) {
        const gl = this.gl, program = this.dropProgram;
        if (!this.drops || !this.drops.length) return;
        gl.useProgram(program);
        gl.uniformMatrix4fv(gl.getUniformLocation(program, 'camera'), false, matrix);
        gl.uniform1f(gl.getUniformLocation(program, 'dots'), dots);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.dropBuffer);
        gl.bufferData(gl.ARRAY_BUFFER, this.drops, gl.DYNAMIC_DRAW);
        for (const [name, size, offset] of [['place', 3, 0], ['drop', 2, 12]]) {
            const at = gl.getAttribLocation(program, name);
            gl.enableVertexAttribArray(at);
            gl.vertexAttribPointer(at, size, gl.FLOAT, false, 20, offset);
        }
        gl.drawArrays(gl.POINTS, 0, this.drops.length / 5);
    }
}
