// Plays clips with three.js's AnimationMixer and prints matrices: node controller_three.mjs FOLDER < SCENE
// FOLDER has the package `three` in its node_modules. SCENE is JSON:
//   nodes: [{name, parent, translation, rotation, scale}], parents first
//   clips: {name: {duration, tracks: [[node, path, [time...], [value...]]]}}
//   steps: ["play", clip, {weight, speed, loop, at}], ["cross", from, to, seconds, warp, {speed, loop, at}], ["cross_to", ...],
//          ["weight", clip, number], ["advance", seconds, count], ["read"]
// Each "read" gives the world matrices of all nodes, column by column as three.js keeps them.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const file = path.join(process.argv[2], 'node_modules', 'three', 'build', 'three.module.js');
const THREE = await import(pathToFileURL(file));
const scene = JSON.parse(fs.readFileSync(0, 'utf8'));

const root = new THREE.Object3D();
const nodes = [];
for (const { name, parent, translation, rotation, scale } of scene.nodes) {
  const node = new THREE.Object3D();
  node.name = name;
  node.position.fromArray(translation);
  node.quaternion.fromArray(rotation);
  node.scale.fromArray(scale);
  (parent < 0 ? root : nodes[parent]).add(node);
  nodes.push(node);
}

const PATHS = {
  translation: ['position', THREE.VectorKeyframeTrack],
  rotation: ['quaternion', THREE.QuaternionKeyframeTrack],
  scale: ['scale', THREE.VectorKeyframeTrack],
};
const LOOPS = { wrap: THREE.LoopRepeat, pingpong: THREE.LoopPingPong, once: THREE.LoopOnce };
const mixer = new THREE.AnimationMixer(root);
const actions = {};
for (const [name, { duration, tracks }] of Object.entries(scene.clips)) {
  const made = tracks.map(([node, path, times, values]) => {
    const [property, Track] = PATHS[path];
    return new Track(`${node}.${property}`, times, values);
  });
  actions[name] = mixer.clipAction(new THREE.AnimationClip(name, duration, made));
}

function play(name, { weight = 1, speed = 1, loop = 'wrap', at = 0 } = {}) {
  const action = actions[name];
  action.reset();
  action.setLoop(LOOPS[loop], loop === 'once' ? 1 : Infinity);
  action.clampWhenFinished = true;
  action.setEffectiveWeight(weight).setEffectiveTimeScale(speed);
  action.time = at;
  return action.play();
}

const found = [];
for (const [what, ...rest] of scene.steps) {
  if (what === 'play') play(...rest);
  else if (what === 'cross' || what === 'cross_to') {
    const [from, to, seconds, warp, options] = rest;
    const action = play(to, options);
    if (what === 'cross') action.crossFadeFrom(actions[from], seconds, warp);
    else actions[from].crossFadeTo(action, seconds, warp);
  } else if (what === 'weight') actions[rest[0]].setEffectiveWeight(rest[1]);
  else if (what === 'advance') {
    for (let i = 0; i < rest[1]; i++) mixer.update(rest[0] / rest[1]);
  } else if (what === 'read') {
    mixer.update(0);
    root.updateMatrixWorld(true);
    const matrices = nodes.map((node) => node.matrixWorld.toArray());
    found.push(matrices);
  } else throw new Error(`unknown step ${what}`);
}
console.log(JSON.stringify({ revision: THREE.REVISION, found }));
