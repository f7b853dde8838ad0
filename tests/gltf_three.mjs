// Poses a .glb with three.js and prints the vertices: node gltf_three.mjs FOLDER FILE CLIP TIME
// FOLDER has the package `three` in its node_modules. Textures are not decoded (there is no page).
import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

globalThis.self = globalThis;
globalThis.ProgressEvent ??= class {};
console.error = () => {};
const [folder, file, clip, time] = process.argv.slice(2);
const load = async (name) => import(pathToFileURL(path.join(folder, 'node_modules', 'three', name)));
const THREE = await load('build/three.module.js');
const { GLTFLoader } = await load('examples/jsm/loaders/GLTFLoader.js');

const data = fs.readFileSync(file);
const bytes = data.buffer.slice(data.byteOffset, data.byteOffset + data.byteLength);
const gltf = await new GLTFLoader().parseAsync(bytes, '');
const mixer = new THREE.AnimationMixer(gltf.scene);
const animation = gltf.animations.find((one) => one.name === clip);
mixer.clipAction(animation).play();
mixer.setTime(Number(time));
gltf.scene.updateMatrixWorld(true);
const vertices = [];
gltf.scene.traverse((object) => {
  if (!object.isMesh) return;
  for (let i = 0; i < object.geometry.attributes.position.count; i++) {
    const vertex = object.getVertexPosition(i, new THREE.Vector3());
    vertices.push(vertex.applyMatrix4(object.matrixWorld).toArray());
  }
});
const clips = gltf.animations.map((one) => [one.name, one.duration]);
console.log(JSON.stringify({ clips, vertices }));
