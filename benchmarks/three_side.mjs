// Times three.js on one character: node three_side.mjs FOLDER < SCENE
// FOLDER has the package `three` in its node_modules. SCENE is JSON:
//   nodes: [{parent, translation, rotation, scale, matrix}], parents first; matrix instead of the three where given
//   tracks: [[node, path, [time...], [value...], whether they are steps]]; duration, frames, and check: the frames whose matrices are wanted
//   slots: [[node, inverse bind matrix, column by column]]
// A frame is AnimationMixer.setTime, updateMatrixWorld of the scene and Skeleton.update, which is what a
// renderer asks for. Prints the median seconds of a frame over rounds of the whole clip, after warming up,
// and the bone matrices of the wanted frames.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const file = path.join(process.argv[2], 'node_modules', 'three', 'build', 'three.module.js');
const THREE = await import(pathToFileURL(file));
const scene = JSON.parse(fs.readFileSync(0, 'utf8'));

const root = new THREE.Object3D();
const nodes = [];
for (const { parent, translation, rotation, scale, matrix } of scene.nodes) {
  const node = new THREE.Bone();
  node.name = `j${nodes.length}`;
  if (matrix) {
    node.matrix.fromArray(matrix);
    node.matrixAutoUpdate = false;
  } else {
    node.position.fromArray(translation);
    node.quaternion.fromArray(rotation);
    node.scale.fromArray(scale);
  }
  (parent < 0 ? root : nodes[parent]).add(node);
  nodes.push(node);
}

const PATHS = {
  translation: ['position', THREE.VectorKeyframeTrack],
  rotation: ['quaternion', THREE.QuaternionKeyframeTrack],
  scale: ['scale', THREE.VectorKeyframeTrack],
};
const tracks = scene.tracks.map(([node, what, times, values, step]) => {
  const [property, Track] = PATHS[what];
  return new Track(`j${node}.${property}`, times, values, step ? THREE.InterpolateDiscrete : undefined);
});
const mixer = new THREE.AnimationMixer(root);
mixer.clipAction(new THREE.AnimationClip('clip', scene.duration, tracks)).play();
const skeleton = new THREE.Skeleton(
  scene.slots.map(([node]) => nodes[node]),
  scene.slots.map(([, inverse]) => new THREE.Matrix4().fromArray(inverse)),
);

function show(frame) {
  mixer.setTime(frame / scene.rate);
  root.updateMatrixWorld();
  skeleton.update();
}

function film() {
  const start = performance.now();
  for (let frame = 0; frame < scene.frames; frame++) show(frame);
  return (performance.now() - start) / 1e3 / scene.frames;
}

const found = scene.check.map((frame) => {
  show(frame);
  return Array.from(skeleton.boneMatrices.slice(0, 16 * scene.slots.length));
});
const until = performance.now() + 1e3 * scene.budget;
const rounds = [];
while (rounds.length < 7 || performance.now() < until) rounds.push(film());
rounds.splice(0, Math.floor(rounds.length / 2)); // what the compiler in node took
rounds.sort((a, b) => a - b);
console.log(JSON.stringify({ revision: THREE.REVISION, seconds: rounds[rounds.length >> 1], found }));
