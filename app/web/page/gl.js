// Draws a frame with WebGL2: the water, ink, walls and droplets, or a field in colours. Values by cells arrive as textures of
// floats and are interpolated here, by cubic B-splines, so that a surface between cells is smooth.
'use strict';

const QUAD = `#version 300 es
in vec2 corner; out vec2 at;
void main() { at = 0.5 * corner + 0.5; gl_Position = vec4(corner, 0., 1.); }`;

const COMMON = `#version 300 es
precision highp float; precision highp sampler2D;
uniform sampler2D phi, shown, ink, solid;
uniform vec2 cells; uniform float h, pixel, time; uniform bool light, hasSolid, hasInk;
float tap(sampler2D t, ivec2 i, ivec2 n) { return texelFetch(t, clamp(i, ivec2(0), n - 1), 0).r; }
vec4 weights(float t) {
  float s = 1. - t;
  return vec4(s*s*s, 3.*t*t*t - 6.*t*t + 4., 3.*s*s*s - 6.*s*s + 4., t*t*t) / 6.;
}
vec4 slopes(float t) { float s = 1. - t; return vec4(-s*s, 3.*t*t - 4.*t, -3.*s*s + 4.*s, t*t) / 2.; }
// Cubic B-spline of values at cells' centres, and its gradient; x counts cells.
vec3 smoothed(sampler2D t, vec2 x, ivec2 n) {
  vec2 p = x - .5; ivec2 i = ivec2(floor(p)); vec2 f = p - vec2(i);
  vec4 a = weights(f.x), b = weights(f.y), da = slopes(f.x), db = slopes(f.y); vec3 sum = vec3(0.);
  for (int j = 0; j < 4; ++j) {
    vec4 row;
    for (int k = 0; k < 4; ++k) row[k] = tap(t, i + ivec2(k - 1, j - 1), n);
    float v = dot(a, row);
    sum += vec3(b[j] * v, b[j] * dot(da, row), db[j] * v);
  }
  return sum;
}
float linear(sampler2D t, vec2 p, ivec2 n) {
  ivec2 i = ivec2(floor(p)); vec2 f = p - vec2(i);
  return mix(mix(tap(t, i, n), tap(t, i + ivec2(1,0), n), f.x), mix(tap(t, i + ivec2(0,1), n), tap(t, i + ivec2(1,1), n), f.x), f.y);
}
vec3 phiAt(vec2 x) { return smoothed(phi, x, ivec2(cells)); }
float solidAt(vec2 x) { return hasSolid ? linear(solid, x, ivec2(cells) + 1) : 1e9; }
float noise(vec2 p) { return fract(sin(dot(floor(p), vec2(12.9898, 78.233))) * 43758.5453); }
vec3 backdrop(vec2 at) {
  vec2 g = abs(fract(at * vec2(cells.x / cells.y, 1.) * 12.) - .5);
  float lines = smoothstep(.47, .5, max(g.x, g.y));
  vec3 low = light ? vec3(.86, .91, .96) : vec3(.035, .052, .085), high = light ? vec3(.97, .985, 1.) : vec3(.075, .105, .16);
  return mix(low, high, at.y) + (light ? -.035 : .022) * lines;
}
vec3 wall(vec2 x, float d) {
  vec2 n = vec2(solidAt(x + vec2(.6, 0.)) - d, solidAt(x + vec2(0., .6)) - d) / (.6 * h);
  float depth = clamp(-d / (2.5 * h), 0., 1.), lit = .5 + .5 * dot(normalize(n + 1e-5), normalize(vec2(-.45, .9)));
  vec3 stone = mix(vec3(.40, .37, .34), vec3(.56, .53, .49), .5 + .5 * noise(x * 1.7));
  stone = light ? stone * 1.25 : stone * .8;
  return stone * mix(.62 + .75 * lit, .92, depth);
}
`;

const WATER = COMMON + `in vec2 at; out vec4 color; uniform bool inkOnly;
void main() {
  vec2 x = at * cells;
  vec3 there = phiAt(x); float d = there.x; vec2 n = there.yz / h;
  float edge = h * cells.x * pixel;
  float wet = smoothstep(edge, -edge, d), inside = clamp(-d / h, 0., 8.);
  float rim = exp(-inside * .55), skin = exp(-inside * inside * 1.6);
  vec3 back = backdrop(at + .012 * n * rim * wet);
  float v = linear(shown, x - .5, ivec2(cells));
  vec3 deep = light ? vec3(.05, .32, .62) : vec3(.012, .105, .30), top = light ? vec3(.22, .63, .88) : vec3(.06, .42, .78);
  vec3 water = mix(deep, top, .25 + .75 * at.y);
  water += (light ? .16 : .20) * rim * vec3(.25, .75, 1.);
  water += skin * max(0., dot(normalize(n + 1e-5), normalize(vec2(-.35, .95)))) * vec3(.42, .52, .55);
  float foam = smoothstep(.7, 2.6, v) * exp(-inside * .35);
  water = mix(water, vec3(.86, .95, 1.), .55 * foam);
  water = mix(back, water, light ? .90 : .93);
  if (inkOnly) water = mix(water, light ? vec3(.93) : vec3(.10, .13, .18), .82);
  if (hasInk) {
    vec3 dye = texture(ink, at).rgb; float most = max(dye.r, max(dye.g, dye.b));
    water = mix(water, 1. - dye / max(most, 1e-3), (inkOnly ? 1. : .88) * smoothstep(.02, .8, most));
  }
  vec3 c = mix(back, water, wet);
  float s = solidAt(x);
  c *= 1. - .38 * exp(-max(s, 0.) / (1.3 * h)) * float(hasSolid);
  c = mix(c, wall(x, s), smoothstep(edge, -edge, s));
  color = vec4(pow(c, vec3(1. / 1.06)), 1.);
}`;

const FIELD = COMMON + `in vec2 at; out vec4 color; uniform vec2 range; uniform vec3 palette[5]; uniform int colors; uniform bool stepped, dark;
vec3 coloured(float share) {
  float p = clamp(share, 0., 1.) * float(colors - 1); int i = int(min(p, float(colors - 2)));
  return mix(palette[i], palette[i + 1], p - float(i));
}
void main() {
  vec2 x = at * cells;
  float v = stepped ? tap(shown, ivec2(x), ivec2(cells)) : smoothed(shown, x, ivec2(cells)).x;
  vec3 c = coloured((v - range.x) / (range.y - range.x));
  if (stepped) { vec2 g = abs(fract(x) - .5); c *= 1. - .25 * smoothstep(.42, .5, max(g.x, g.y)); }
  float d = phiAt(x).x, edge = 1.3 * h * cells.x * pixel;
  c = mix(c, dark ? vec3(.08, .10, .14) : vec3(1.), .85 * smoothstep(edge, 0., abs(d)));
  float s = solidAt(x);
  if (!stepped) c = mix(c, wall(x, s), smoothstep(edge, -edge, s));
  color = vec4(c, 1.);
}`;

const DROP = `#version 300 es
in vec2 corner; in vec4 place; in vec2 flight; out vec2 p; flat out float kind;
uniform vec2 size; uniform float least;
void main() {
  float r = max(place.z, least), speed = length(flight), longer = 1. + min(.22 * speed, 1.2) * float(place.w < .5);
  vec2 along = speed > 1e-3 ? flight / speed : vec2(1., 0.);
  vec2 local = corner * vec2(longer, 1. / sqrt(longer)) * r * 1.25;
  vec2 x = place.xy + local.x * along + local.y * vec2(-along.y, along.x);
  p = corner * 1.25; kind = place.w; gl_Position = vec4(2. * x / size - 1., 0., 1.);
}`;
const DROP_COLOR = `#version 300 es
precision highp float; in vec2 p; flat in float kind; out vec4 color; uniform bool light;
void main() {
  float r = length(p), a = smoothstep(1.05, .85, r);
  float lit = smoothstep(.55, .0, length(p - vec2(-.3, .4)));
  if (kind < .5) color = vec4(mix(light ? vec3(.10,.45,.78) : vec3(.13,.50,.86), vec3(.9,.97,1.), .25 + .6 * lit), .95 * a);
  else { float ring = smoothstep(.45, .95, r); color = vec4(vec3(.82,.93,1.), a * (kind > 1.5 ? .85 : .25 + .6 * ring)); }
}`;

// A ball, turned as it is: light ones have stripes, those that float grain, heavy ones are iron.
const BALL = `#version 300 es
in vec2 corner; in vec4 place; in float weight; out vec2 p; flat out float kind, turn;
uniform vec2 size;
void main() {
  p = corner * 1.06; kind = weight; turn = place.w;
  gl_Position = vec4(2. * (place.xy + p * place.z * 1.03) / size - 1., 0., 1.);
}`;
const BALL_COLOR = `#version 300 es
precision highp float; in vec2 p; flat in float kind, turn; out vec4 color; uniform float soft;
void main() {
  float r = length(p), c = cos(turn), s = sin(turn); vec2 q = vec2(c * p.x + s * p.y, c * p.y - s * p.x);
  vec3 n = vec3(p, sqrt(max(0., 1. - r * r))); float lit = .35 + .75 * max(0., dot(n, normalize(vec3(-.45, .7, .6))));
  vec3 base;
  if (kind < 400.) {
    float sector = atan(q.y, q.x) / 6.2831853 * 6.; float i = mod(floor(sector), 6.);
    base = mod(i, 2.) < .5 ? vec3(.97, .96, .93) : i < 2. ? vec3(.93, .22, .25) : i < 4. ? vec3(.98, .72, .12) : vec3(.13, .55, .86);
    if (r < .17) base = vec3(.97, .96, .93);
  } else if (kind < 1000.) {
    float ring = .5 + .5 * sin(34. * length(q * vec2(1., .62) - vec2(.25, .1)));
    base = mix(vec3(.62, .41, .22), vec3(.80, .58, .34), ring);
  } else {
    base = vec3(.30, .32, .36) + .10 * step(.0, q.x * q.y);
  }
  vec3 shine = vec3(pow(max(0., dot(n, normalize(vec3(-.35, .6, .75)))), kind < 400. || kind >= 1000. ? 40. : 12.)) * (kind < 1000. && kind >= 400. ? .18 : .6);
  color = vec4(base * lit + shine, smoothstep(1. + soft, 1. - soft, r));
}`;

class GlPicture {
    constructor(canvas) {
        this.canvas = canvas;
        this.lost = false;
        canvas.addEventListener('webglcontextlost', event => { event.preventDefault(); this.lost = true; });
        canvas.addEventListener('webglcontextrestored', () => { this.lost = false; this.start(); });
        const gl = canvas.getContext('webgl2', {antialias: false, preserveDrawingBuffer: true});
        if (!gl) throw new Error('no WebGL2');
        this.gl = gl;
        this.start();
    }

    start() {
        const gl = this.gl;
        this.programs = {water: this.program(QUAD, WATER), field: this.program(QUAD, FIELD), drop: this.program(DROP, DROP_COLOR),
            ball: this.program(BALL, BALL_COLOR)};
        this.quad = gl.createBuffer();
        gl.bindBuffer(gl.ARRAY_BUFFER, this.quad);
        gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]), gl.STATIC_DRAW);
        this.dropBuffer = gl.createBuffer();
        this.textures = {};
        for (const name of ['phi', 'shown', 'ink', 'solid']) {
            this.textures[name] = gl.createTexture();
            gl.bindTexture(gl.TEXTURE_2D, this.textures[name]);
            const filter = name === 'ink' ? gl.LINEAR : gl.NEAREST;
            gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MIN_FILTER, filter);
            gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_MAG_FILTER, filter);
            gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_S, gl.CLAMP_TO_EDGE);
            gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_WRAP_T, gl.CLAMP_TO_EDGE);
        }
        this.solidShape = null;
        if (this.solids) this.uploadSolids(this.solids, this.solidCells);
    }

    program(vertex, fragment) {
        const gl = this.gl, program = gl.createProgram();
        for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
            const shader = gl.createShader(kind);
            gl.shaderSource(shader, source);
            gl.compileShader(shader);
            if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS) && !gl.isContextLost())
                throw new Error('shader: ' + gl.getShaderInfoLog(shader));
            gl.attachShader(program, shader);
        }
        gl.linkProgram(program);
        if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
            throw new Error('shaders: ' + gl.getProgramInfoLog(program));
        return program;
    }

    upload(name, values, width, height) {
        const gl = this.gl;
        gl.bindTexture(gl.TEXTURE_2D, this.textures[name]);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.R32F, width, height, 0, gl.RED, gl.FLOAT, values);
    }

    uploadSolids(values, cells) {
        this.solids = values;
        this.solidCells = cells;
        if (values.length) this.upload('solid', values, cells[0] + 1, cells[1] + 1);
    }

    uploadInk(ink, cells) {
        const gl = this.gl, count = cells[0] * cells[1], bytes = new Uint8Array(4 * count);
        for (let i = 0; i < count; ++i) for (let n = 0; n < 3; ++n) bytes[4 * i + n] = 255 * ink[n * count + i];
        gl.bindTexture(gl.TEXTURE_2D, this.textures.ink);
        gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA8, cells[0], cells[1], 0, gl.RGBA, gl.UNSIGNED_BYTE, bytes);
    }

    draw(frame, view, range, light) {
        if (this.lost) return;
        const gl = this.gl, [nx, ny] = frame.cells;
        this.upload('phi', frame.phi, nx, ny);
        this.upload('shown', frame.shown, nx, ny);
        if (frame.solids) this.uploadSolids(frame.solids, frame.cells);
        if (frame.ink.length) this.uploadInk(frame.ink, frame.cells);
        gl.viewport(0, 0, this.canvas.width, this.canvas.height);
        gl.disable(gl.BLEND);
        const program = view.field < 0 ? this.programs.water : this.programs.field;
        gl.useProgram(program);
        const place = name => gl.getUniformLocation(program, name);
        ['phi', 'shown', 'ink', 'solid'].forEach((name, i) => {
            gl.activeTexture(gl.TEXTURE0 + i);
            gl.bindTexture(gl.TEXTURE_2D, this.textures[name]);
            gl.uniform1i(place(name), i);
        });
        gl.activeTexture(gl.TEXTURE0);
        gl.uniform2f(place('cells'), nx, ny);
        gl.uniform1f(place('h'), frame.h);
        gl.uniform1f(place('pixel'), 0.75 / this.canvas.width);
        gl.uniform1i(place('light'), light);
        gl.uniform1i(place('hasSolid'), this.solids && this.solids.length > 0 && this.solidCells[0] === nx);
        gl.uniform1i(place('hasInk'), frame.ink.length > 0);
        gl.uniform1i(place('inkOnly'), !!view.ink);
        if (view.field >= 0) {
            const palette = paletteOf(view);
            gl.uniform2f(place('range'), range[0], range[1]);
            gl.uniform3fv(place('palette'), palette.flat());
            gl.uniform1i(place('colors'), palette.length);
            gl.uniform1i(place('stepped'), !!view.flags);
            gl.uniform1i(place('dark'), !!view.signed);
        }
        this.corners(program);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
        if (!view.flags) this.drawBalls(frame);
        this.drawDrops(frame, light);
    }

    corners(program) {
        const gl = this.gl, corner = gl.getAttribLocation(program, 'corner');
        gl.bindBuffer(gl.ARRAY_BUFFER, this.quad);
        gl.enableVertexAttribArray(corner);
        gl.vertexAttribPointer(corner, 2, gl.FLOAT, false, 0, 0);
        gl.vertexAttribDivisor(corner, 0);
    }

    drawBalls(frame) {
        const gl = this.gl, program = this.programs.ball;
        const draw = this.instances(program, frame, frame.balls, [['place', 4, 0], ['weight', 1, 16]], 20);
        if (!draw) return;
        gl.uniform1f(gl.getUniformLocation(program, 'soft'), 1.2 * frame.cells[0] * frame.h / (this.canvas.width * frame.balls[2]));
        draw();
    }

    // Many small pictures at once, of numbers that lie one after the other; what draws them, or nothing where there are none.
    instances(program, frame, values, attributes, stride) {
        const gl = this.gl, count = values.length * 4 / stride;
        if (!count) return null;
        gl.useProgram(program);
        gl.enable(gl.BLEND);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        this.corners(program);
        gl.bindBuffer(gl.ARRAY_BUFFER, this.dropBuffer);
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
        const used = attributes.map(([name, size, offset]) => {
            const at = gl.getAttribLocation(program, name);
            gl.enableVertexAttribArray(at);
            gl.vertexAttribPointer(at, size, gl.FLOAT, false, stride, offset);
            gl.vertexAttribDivisor(at, 1);
            return at;
        });
        gl.uniform2f(gl.getUniformLocation(program, 'size'), frame.cells[0] * frame.h, frame.cells[1] * frame.h);
        return () => {
            gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, count);
            for (const at of used) gl.disableVertexAttribArray(at);
        };
    }

    drawDrops(frame, light) {
        const gl = this.gl, program = this.programs.drop;
        const draw = this.instances(program, frame, frame.drops, [['place', 4, 0], ['flight', 2, 16]], 24);
        if (!draw) return;
        gl.uniform1f(gl.getUniformLocation(program, 'least'), 1.2 * frame.h * frame.cells[0] / this.canvas.width);
        gl.uniform1i(gl.getUniformLocation(program, 'light'), light);
        draw();
    }
}
