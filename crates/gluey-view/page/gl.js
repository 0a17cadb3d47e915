// Draws with WebGL2: particles as points that shade themselves, ribbons that face the eye, triangles.
//
// Points are far cheaper than anything with corners where a processor has to do a graphics card's work. They have a largest
// size, though, and may vanish as soon as their centre is out of sight: large particles are squares.

const HEAD = `#version 300 es
precision highp float;
`;
const CUT = `
uniform vec4 u_plane; // what is beyond it is cut away
bool beyond(vec3 place) { return dot(u_plane.xyz, place) > u_plane.w; }
`;

/** Half the size of a particle is at least this many pixels. */
const SMALLEST = 0.75;
const PARTICLE = `
in vec3 a_position;
in float a_radius;
in vec4 a_colour;
uniform mat4 u_view;
uniform vec3 u_origin;
uniform float u_scale;  // pixels per unit of length
uniform float u_reach;  // half the depth
out vec3 v_colour;
out float v_size;
out float v_depth;
const vec4 NOWHERE = vec4(2.0, 2.0, 2.0, 1.0);
vec4 centre() {
  vec3 place = a_position + u_origin;
  v_size = max(a_radius * u_scale, ${SMALLEST});
  v_colour = a_colour.rgb;
  v_depth = 0.5 * a_radius / u_reach;
  return beyond(place) ? NOWHERE : u_view * vec4(place, 1.0);
}`;

const POINT_VERTEX = `${HEAD}${CUT}${PARTICLE}
uniform float u_largest; // pixels across
void main() {
  gl_Position = centre();
  gl_PointSize = 2.0 * v_size + 1.0;
  if (gl_PointSize > u_largest) gl_Position = NOWHERE;
}`;

const SQUARE_VERTEX = `${HEAD}${CUT}${PARTICLE}
uniform vec2 u_size; // pixels of the picture
out vec2 v_place;
void main() {
  vec2 corner = 2.0 * vec2(gl_VertexID & 1, gl_VertexID >> 1) - 1.0;
  gl_Position = centre();
  gl_Position.xy += corner * (2.0 * v_size + 1.0) / u_size;
  v_place = 0.5 + 0.5 * vec2(corner.x, -corner.y);
}`;

/** Where in its square, from the upper left corner, a pixel of a particle is. */
const POINT_PLACE = '#define PLACE gl_PointCoord\n';
const SQUARE_PLACE = 'in vec2 v_place;\n#define PLACE v_place\n';

const DISC_FRAGMENT = `
in vec3 v_colour;
in float v_size;
uniform vec4 u_pale; // the ground, and how much of it is mixed in
out vec4 o_colour;
void main() {
  vec2 at = (2.0 * PLACE - 1.0) * (v_size + 0.5);
  float distance = length(at);
  float cover = clamp(v_size + 0.5 - distance, 0.0, 1.0);
  if (cover <= 0.0) discard;
  vec3 colour = mix(v_colour, u_pale.rgb, u_pale.a);
  float bright = (colour.r + colour.g + colour.b) / 3.0;
  vec3 rim = bright > 0.25 ? 0.55 * colour : mix(colour, vec3(1.0), 0.35);
  float inner = v_size - min(clamp(0.09 * v_size, 0.7, 3.0), 0.25 * v_size);
  float slope = (at.x + at.y) / v_size;
  vec3 light = mix(colour, vec3(slope < 0.0 ? 1.0 : 0.0), 0.09 * abs(slope));
  o_colour = vec4(mix(rim, light, clamp(inner + 0.5 - distance, 0.0, 1.0)), 1.0) * cover;
}`;

const SPHERE_FRAGMENT = `
in vec3 v_colour;
in float v_size;
in float v_depth;
out vec4 o_colour;
void main() {
  vec2 at = (2.0 * PLACE - 1.0) * (1.0 + 0.5 / v_size);
  float square = dot(at, at);
  if (square > 1.0) discard;
  float high = sqrt(1.0 - square);
  vec3 normal = vec3(at.x, -at.y, high);
  float light = 0.38 + 0.62 * max(dot(normal, vec3(-0.35, 0.55, 0.76)), 0.0);
  float shine = max(dot(normal, vec3(-0.19, 0.3, 0.935)), 0.0);
  shine *= shine; // to the power of 32, without the price of a power
  shine *= shine;
  shine *= shine;
  shine *= shine;
  shine *= shine;
  o_colour = vec4(v_colour * light * mix(0.72, 1.0, high) + 0.16 * shine, 1.0);
  gl_FragDepth = gl_FragCoord.z - high * v_depth;
}`;

const RIBBON_VERTEX = `${HEAD}
in vec3 a_position;
in vec3 a_along;
in float a_side;
in vec4 a_colour;
uniform mat4 u_view;
uniform vec3 u_back;
uniform float u_width; // what a_side is measured in
uniform float u_lift;  // towards the eye, in depth
out vec4 v_colour;
out float v_across;
out vec3 v_place;
void main() {
  vec3 across = cross(a_along, u_back);
  float length_of = length(across);
  v_place = a_position + (length_of > 0.0 ? across / length_of : vec3(0.0)) * a_side * u_width;
  gl_Position = u_view * vec4(v_place, 1.0);
  gl_Position.z -= u_lift;
  v_across = sign(a_side);
  v_colour = a_colour;
}`;

const RIBBON_FRAGMENT = `${HEAD}${CUT}
in vec4 v_colour;
in float v_across;
in vec3 v_place;
uniform float u_round; // 0 flat, 1 a tube
out vec4 o_colour;
void main() {
  if (beyond(v_place)) discard;
  float shade = 1.0 - u_round * 0.45 * v_across * v_across;
  o_colour = vec4(v_colour.rgb * shade, 1.0) * v_colour.a;
}`;

const WALL_VERTEX = `${HEAD}
in vec3 a_position;
in vec3 a_normal;
in vec4 a_colour;
uniform mat4 u_view;
out vec3 v_normal;
out vec4 v_colour;
out vec3 v_place;
void main() {
  v_place = a_position;
  gl_Position = u_view * vec4(a_position, 1.0);
  v_normal = a_normal;
  v_colour = a_colour;
}`;

const WALL_FRAGMENT = `${HEAD}${CUT}
in vec3 v_normal;
in vec4 v_colour;
in vec3 v_place;
uniform vec3 u_light; // 0 where surfaces are flat
out vec4 o_colour;
void main() {
  if (beyond(v_place)) discard;
  float light = dot(u_light, u_light) > 0.0 ? 0.62 + 0.38 * abs(dot(normalize(v_normal), u_light)) : 1.0;
  o_colour = vec4(v_colour.rgb * light, 1.0) * v_colour.a;
}`;

const NOTHING_CUT = [0, 0, 0, 1];
/** Particles that are more pixels across are squares: few of these fit into a picture. */
const LARGE = 256;

export class Painter {
  /** Throws where the browser has no WebGL2. */
  constructor(canvas, dimension) {
    this.canvas = canvas;
    this.flat = dimension === 2;
    const gl = canvas.getContext('webgl2', { antialias: false, alpha: false, powerPreference: 'high-performance' });
    if (!gl) throw new Error('This browser offers no WebGL2, which the picture needs. Plots and figures work without.');
    this.gl = gl;
    this.prepare();
    canvas.addEventListener('webglcontextlost', (event) => event.preventDefault());
    canvas.addEventListener('webglcontextrestored', () => this.prepare());
  }

  prepare() {
    const { gl } = this;
    const shading = this.flat ? DISC_FRAGMENT : SPHERE_FRAGMENT;
    this.particles = this.program(POINT_VERTEX, `${HEAD}${POINT_PLACE}${shading}`);
    this.squares = this.program(SQUARE_VERTEX, `${HEAD}${SQUARE_PLACE}${shading}`);
    this.largest = Math.min(LARGE, gl.getParameter(gl.ALIASED_POINT_SIZE_RANGE)[1]);
    this.ribbons = this.program(RIBBON_VERTEX, RIBBON_FRAGMENT);
    this.walls = this.program(WALL_VERTEX, WALL_FRAGMENT);
    this.buffers = new Map();
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    this.uploaded = {};
  }

  program(...sources) {
    const { gl } = this;
    const program = gl.createProgram();
    sources.forEach((source, k) => {
      const shader = gl.createShader(k === 0 ? gl.VERTEX_SHADER : gl.FRAGMENT_SHADER);
      gl.shaderSource(shader, source);
      gl.compileShader(shader);
      gl.attachShader(program, shader);
    });
    ['a_position', 'a_radius', 'a_colour', 'a_along', 'a_side', 'a_normal'].forEach((name, k) => {
      gl.bindAttribLocation(program, k, name);
    });
    gl.linkProgram(program);
    if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
      throw new Error(`The picture cannot be drawn: ${gl.getProgramInfoLog(program)}`);
    }
    const uniform = {};
    for (let k = 0; k < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); k += 1) {
      const { name } = gl.getActiveUniform(program, k);
      uniform[name] = gl.getUniformLocation(program, name);
    }
    return { program, uniform };
  }

  /** A buffer of this name with this content; uploaded only where the content is another one. */
  buffer(name, content, target = this.gl.ARRAY_BUFFER) {
    const { gl } = this;
    if (!this.buffers.has(name)) this.buffers.set(name, gl.createBuffer());
    gl.bindBuffer(target, this.buffers.get(name));
    if (this.uploaded[name] !== content) {
      gl.bufferData(target, content, gl.DYNAMIC_DRAW);
      this.uploaded[name] = content;
    }
  }

  /** What the buffer bound last holds, and nothing of earlier ones. */
  attributes(list) {
    const { gl } = this;
    for (let k = 0; k < 6; k += 1) gl.disableVertexAttribArray(k);
    for (const one of list) this.attribute(...one);
  }

  attribute(place, size, type, stride, offset) {
    const { gl } = this;
    gl.enableVertexAttribArray(place);
    gl.vertexAttribPointer(place, size, type, type === gl.UNSIGNED_BYTE, stride, offset);
  }

  /** Draws a view: see app.js for what it holds. */
  draw(view) {
    const { gl } = this;
    const { camera, ratio, ground } = view;
    gl.viewport(0, 0, this.canvas.width, this.canvas.height);
    gl.clearColor(ground[0], ground[1], ground[2], 1);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    if (!view.frame) return;
    const matrix = camera.matrix();
    const back = camera.frame()[2];
    const shared = ({ program, uniform }) => {
      gl.useProgram(program);
      gl.uniformMatrix4fv(uniform.u_view, false, matrix);
      gl.uniform4fv(uniform.u_plane, view.plane ?? NOTHING_CUT);
      return uniform;
    };
    const ribbons = (name, geometry, { width, round, lift }) => {
      if (!geometry.vertices.byteLength) return;
      const uniform = shared(this.ribbons);
      gl.uniform3fv(uniform.u_back, back);
      gl.uniform1f(uniform.u_width, width);
      gl.uniform1f(uniform.u_round, round);
      gl.uniform1f(uniform.u_lift, lift);
      this.buffer(name, geometry.vertices);
      this.attributes([
        [0, 3, gl.FLOAT, 32, 0], [3, 3, gl.FLOAT, 32, 12], [4, 1, gl.FLOAT, 32, 24], [2, 4, gl.UNSIGNED_BYTE, 32, 28],
      ]);
      if (geometry.indices) {
        this.buffer(`${name}-indices`, geometry.indices, gl.ELEMENT_ARRAY_BUFFER);
        gl.drawElements(gl.TRIANGLES, geometry.indices.length, gl.UNSIGNED_INT, 0);
      } else gl.drawArrays(gl.LINES, 0, geometry.vertices.byteLength / 32);
    };
    const surfaces = (name, corners) => {
      if (!corners?.byteLength) return;
      const uniform = shared(this.walls);
      const light = camera.frame().reduce((sum, axis, k) => sum.map((x, m) => x + [-0.3, 0.5, 0.81][k] * axis[m]), [0, 0, 0]);
      gl.uniform3fv(uniform.u_light, this.flat ? [0, 0, 0] : light);
      this.buffer(name, corners);
      this.attributes([[0, 3, gl.FLOAT, 28, 0], [5, 3, gl.FLOAT, 28, 12], [2, 4, gl.UNSIGNED_BYTE, 28, 24]]);
      gl.drawArrays(gl.TRIANGLES, 0, corners.byteLength / 28);
    };
    const edges = () => view.walls
      && ribbons('edges', view.walls.edges, { width: (this.flat ? 0.9 : 0.6) / camera.pixels, round: 0, lift: this.flat ? 0 : 1e-4 });
    const tubes = () => view.tubes && ribbons('tubes', view.tubes, { width: 1, round: this.flat ? 0 : 1, lift: 0 });

    if (this.flat) {
      gl.disable(gl.DEPTH_TEST);
      surfaces('solid', view.walls?.solid);
      edges();
      this.points(view, shared, ratio);
      tubes();
      return;
    }
    gl.enable(gl.DEPTH_TEST);
    gl.depthMask(true);
    this.points(view, shared, ratio);
    tubes();
    surfaces('solid', view.walls?.solid);
    gl.depthMask(false);
    surfaces('glass', view.walls?.glass);
    edges();
    gl.depthMask(true);
  }

  points(view, shared, ratio) {
    const { gl } = this;
    const { frame, camera, scale, pale, ground } = view;
    const pixels = camera.pixels * ratio * scale;
    const prepared = (program) => {
      const uniform = shared(program);
      gl.uniform3fv(uniform.u_origin, frame.origin);
      gl.uniform1f(uniform.u_scale, pixels);
      gl.uniform1f(uniform.u_reach, camera.reach / scale);
      if (uniform.u_pale) gl.uniform4f(uniform.u_pale, ...ground, pale);
      return uniform;
    };
    const isLarge = (k) => 2 * frame.radius[k] * pixels + 1 > this.largest;
    const { chosen } = view;
    if (view.showsParticles || (chosen >= 0 && !isLarge(chosen))) {
      const uniform = prepared(this.particles);
      gl.uniform1f(uniform.u_largest, this.largest);
      this.columns(frame, { positions: frame.position, radii: frame.radius, colours: view.colours });
      if (view.showsParticles) gl.drawArrays(gl.POINTS, 0, frame.count);
      if (chosen >= 0 && !isLarge(chosen)) this.mark(uniform, () => gl.drawArrays(gl.POINTS, chosen, 1));
    }
    const large = view.showsParticles ? seen(frame, camera, isLarge) : [];
    if (large.length) {
      const uniform = prepared(this.squares);
      gl.uniform2f(uniform.u_size, this.canvas.width, this.canvas.height);
      this.instances(frame, view.colours, large);
    }
    if (chosen >= 0 && isLarge(chosen)) {
      const uniform = prepared(this.squares);
      gl.uniform2f(uniform.u_size, this.canvas.width, this.canvas.height);
      this.mark(uniform, () => this.instances(frame, null, [chosen]));
    }
  }

  /** Particles column by column; without colours all have that of `mark`. */
  columns(frame, { positions, radii, colours }, suffix = '') {
    const { gl } = this;
    this.buffer(`positions${suffix}`, positions);
    this.attributes([[0, frame.dimension, gl.FLOAT, 0, 0]]);
    this.buffer(`radii${suffix}`, radii);
    this.attribute(1, 1, gl.FLOAT, 0, 0);
    if (!colours) return;
    this.buffer(`colours${suffix}`, colours);
    this.attribute(2, 4, gl.UNSIGNED_BYTE, 0, 0);
  }

  /** Some particles as squares. */
  instances(frame, colours, list) {
    const { gl } = this;
    const d = frame.dimension;
    this.columns(frame, {
      positions: new Float32Array(list.flatMap((k) => [...frame.position.subarray(d * k, d * (k + 1))])),
      radii: new Float32Array(list.map((k) => frame.radius[k])),
      colours: colours && new Uint8Array(list.flatMap((k) => [...colours.subarray(4 * k, 4 * (k + 1))])),
    }, ' of squares');
    for (let k = 0; k < 3; k += 1) gl.vertexAttribDivisor(k, 1);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, list.length);
    for (let k = 0; k < 3; k += 1) gl.vertexAttribDivisor(k, 0);
  }

  /** The chosen particle, in a colour of its own. */
  mark(uniform, draw) {
    const { gl } = this;
    gl.disableVertexAttribArray(2);
    gl.vertexAttrib4f(2, 0.95, 0.1, 0.45, 1);
    if (uniform.u_pale) gl.uniform4f(uniform.u_pale, 0, 0, 0, 0);
    gl.depthFunc(gl.LEQUAL);
    draw();
    gl.depthFunc(gl.LESS);
  }
}

/** The particles of some kind that reach into the picture. */
function seen(frame, camera, isWanted) {
  const [right, up] = camera.frame();
  const found = [];
  const d = frame.dimension;
  for (let k = 0; k < frame.count; k += 1) {
    if (!isWanted(k)) continue;
    let [x, y] = [0, 0];
    for (let axis = 0; axis < 3; axis += 1) {
      const from = frame.origin[axis] + (axis < d ? frame.position[d * k + axis] : 0) - camera.target[axis];
      x += right[axis] * from;
      y += up[axis] * from;
    }
    const reach = frame.radius[k] * camera.pixels + 1;
    if (Math.abs(x) * camera.pixels - reach < 0.5 * camera.size[0] && Math.abs(y) * camera.pixels - reach < 0.5 * camera.size[1]) found.push(k);
  }
  return found;
}

/** Ribbons of 4 corners each, or thin lines where there are very many. */
export class Ribbons {
  constructor(count, thin = false) {
    this.bytes = new ArrayBuffer(32 * (thin ? 2 : 4) * count);
    this.floats = new Float32Array(this.bytes);
    this.colours = new Uint8Array(this.bytes);
    this.thin = thin;
    this.length = 0;
  }

  /** From a to b, with a half width and a colour of four bytes. */
  add(a, b, side, colour) {
    const along = [b[0] - a[0], b[1] - a[1], b[2] - a[2]];
    const corners = this.thin ? [[a, 0], [b, 0]] : [[a, -side], [a, side], [b, side], [b, -side]];
    for (const [place, width] of corners) {
      const at = 8 * this.length;
      this.floats.set(place, at);
      this.floats.set(along, at + 3);
      this.floats[at + 6] = width;
      this.colours.set(colour, 32 * this.length + 28);
      this.length += 1;
    }
  }

  geometry() {
    const vertices = new Uint8Array(this.bytes, 0, 32 * this.length);
    if (this.thin) return { vertices };
    const indices = new Uint32Array((6 * this.length) / 4);
    for (let k = 0; k < this.length / 4; k += 1) {
      indices.set([4 * k, 4 * k + 1, 4 * k + 2, 4 * k, 4 * k + 2, 4 * k + 3], 6 * k);
    }
    return { vertices, indices };
  }
}
