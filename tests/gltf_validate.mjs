// Validates .glb files as Khronos does and prints what it finds: node gltf_validate.mjs FOLDER FILE...
// FOLDER has the package `gltf-validator` in its node_modules.
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const [folder, ...files] = process.argv.slice(2);
const require = createRequire(path.resolve(folder, 'node_modules', 'index.js'));
const validator = require('gltf-validator');

const found = {};
for (const file of files) {
  const report = await validator.validateBytes(new Uint8Array(fs.readFileSync(file)), { maxIssues: 100 });
  found[file] = report.issues.messages
    .filter((one) => one.severity < 2)
    .map((one) => `${['error', 'warning'][one.severity]} ${one.code} ${one.pointer}: ${one.message}`);
}
console.log(JSON.stringify(found));
