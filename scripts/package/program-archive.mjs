// The files of the program and of the packages that it needs at run time, as one archive: what the single executable carries.
// packaging/executable/start.cjs reads it.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { gzipSync } from 'node:zlib'
import { root } from '../programs.mjs'
import { runtimePackages } from './runtime-packages.mjs'

/** Documentation, types, sources and maps are not needed to run. */
const NEEDLESS = /\.(map|md|d\.ts|d\.cts|d\.mts|ts|cc|c|h|cpp|gyp|yml|txt)$|\/(test|tests|docs|benchmarks?|\.github)\//i

/** Runs in the unpacked folder: the executable itself can only `require` what Node has built in. */
const START = "module.exports = async () => require('./bin/binnacle')\n"

export function programArchive() {
  const files = [...programFiles()].map(path => [path, readFileSync(join(root, path))])
  files.push(['start.cjs', Buffer.from(START)])
  const list = Buffer.from(JSON.stringify(files.map(([path, bytes]) => [path.replaceAll('\\', '/'), bytes.length])))
  const length = Buffer.alloc(4)
  length.writeUInt32BE(list.length)
  const archive = Buffer.concat([length, list, ...files.map(([, bytes]) => bytes)])
  return { digest: createHash('sha256').update(archive).digest('hex'), compressed: gzipSync(archive, { level: 9 }) }
}

function* programFiles() {
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  yield 'package.json'
  for (const entry of files) if (entry !== 'dist/declarations' && entry !== 'CHANGELOG.md') yield* filesBelow(entry)
  for (const folder of runtimePackages()) yield* filesBelow(folder)
}

function filesBelow(entry) {
  return readdirSync(join(root, entry), { recursive: true, withFileTypes: true })
    .filter(file => file.isFile())
    .map(file => relative(root, join(file.parentPath ?? file.path, file.name)))
    .filter(path => !isNeedless(path))
}

/** lmdb brings one library for each Node and each C library; Node takes the one that fits. */
function isNeedless(path) {
  const abi = /node\.abi(\d+)\./.exec(path)?.[1]
  return NEEDLESS.test(path.replaceAll('\\', '/')) || (abi !== undefined && abi !== process.versions.modules)
}
