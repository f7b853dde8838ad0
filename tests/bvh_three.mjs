// Plays a .bvh with three.js and prints the positions of its joints: node bvh_three.mjs FOLDER FILE TIME...
// FOLDER has the package `three` in its node_modules.
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [folder, file, ...times] = process.argv.slice(2);
const load = async (name) => import(pathToFileURL(path.join(folder, 'node_modules', 'three', name)));
const THREE = await load('build/three.module.js');
const { BVHLoader } = await load('examples/jsm/loaders/BVHLoader.js');

const { skeleton, clip } = new BVHLoader().parse(fs.readFileSync(file, 'utf8'));
const bones = skeleton.bones.filter((bone) => bone.name !== 'ENDSITE');
const mixer = new THREE.AnimationMixer(bones[0]);
mixer.clipAction(clip).setLoop(THREE.LoopOnce).play().clampWhenFinished = true;
const frames = times.map((time) => {
  mixer.setTime(Number(time));
  bones[0].updateMatrixWorld(true);
  return bones.map((bone) => bone.getWorldPosition(new THREE.Vector3()).toArray());
});
console.log(JSON.stringify({ names: bones.map((bone) => bone.name), duration: clip.duration, frames }));
