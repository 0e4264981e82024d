// Builds dist/:
// - dist/bundle: the program and the library in a few files. Opening and compiling hundreds of modules takes most of the
//   time of a start; with the bundle the server is ready in about half the time. The files are CommonJS, which `import` and
//   `require` both load, so that there is one copy of the code and one state.
// - dist/declarations: the types of the library for TypeScript, and those of the built-in kinds (kind-types.mjs).
// - dist/page: the web console (build-console.mjs).
// - dist/<room>: the modules one by one, for benchmarks, for tests, and while developing.
// - dist/man: the manual page.
// The package has all but the modules. With `--whole`, which `prepack` uses, it is an error if the bundler does not run.
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, isAbsolute, join } from 'node:path'
import { buildConsole, pageFolder } from './build-console.mjs'
import { writeKindTypes } from './kind-types.mjs'
import { node, programOf, root } from './programs.mjs'

/** The entry points: of the executable, and of the package. */
const ENTRIES = {
  main: 'src/cli/main.ts',
  index: 'src/server/index.ts',
  cel: 'src/cel/index.ts',
  testing: 'src/testing/index.ts',
  'envtest-etcd': 'src/cli/envtest/etcd.ts',
}

/**
 * What a start of a server loads is a few files, since opening and compiling each file takes a while. Each begins where one
 * before it ends: a file has the modules that are named and all that they import. So what smaller programs use by themselves
 * is apart, and none is so large that V8 needs much memory to compile it.
 */
const CHUNKS = [
  { name: 'command-line', from: ['src/cli/main.ts'] },
  { name: 'expressions', from: ['src/cel/index.ts'] },
  { name: 'kinds', from: ['src/builtin/builtin-kinds.ts'] },
  { name: 'server', from: ['src/cli/serve/serve.ts', 'src/server/server.ts'] },
]

const dist = join(root, 'dist')
const typesFolder = join(dist, 'declarations')
// As deep as the modules, which find data and package.json relative to themselves.
const bundleFolder = join(dist, 'bundle')

const began = Date.now()
const code = await node([programOf('typescript', 'tsc'), '-p', 'tsconfig.build.json'])
if (code !== 0) process.exit(code)
const described = declarationsBehind(['server/index.d.ts', 'cel/index.d.ts', 'testing/index.d.ts'])
const kinds = await writeKindTypes(dist, join(typesFolder, 'kinds'))
for (const path of kinds) described.add(path)
drop(typesFolder, path => !described.has(path))
// The built-in kinds are declared where the client of tests is.
appendFileSync(join(typesFolder, 'testing', 'index.d.ts'), "import '../kinds/index.js'\n")
// The declarations describe CommonJS, though the modules that they were made from are not.
writeFileSync(join(typesFolder, 'package.json'), '{"type": "commonjs"}\n')

try {
  await bundle()
} catch (error) {
  if (process.argv.includes('--whole')) throw error
  console.error(`Not bundled, so that the server starts more slowly: ${error.message}`)
}
try {
  await buildConsole()
} catch (error) {
  if (process.argv.includes('--whole')) throw error
  console.error(`The console is not built: ${error.message}`)
}
await writeManual()
// Removes what an earlier build left of modules that were moved or deleted.
drop(dist, path => !path.startsWith(pageFolder) && statSync(path).mtimeMs < began)
writeFileSync(join(dist, '.built'), '')

async function bundle() {
  const { rolldown } = await import('rolldown')
  const input = Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(root, path)]))
  // Dependencies stay where they are: some bring binaries.
  const external = id => !id.startsWith('.') && !isAbsolute(id)
  const resolve = { extensionAlias: { '.js': ['.ts'] } }
  const build = await rolldown({ input, platform: 'node', external, resolve, tsconfig: false })
  const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' }
  // Code that the compile cache brings (bin/compile-cache.cjs) cannot call `import()`, only `require`.
  const codeSplitting = { groups: [{ debugName: 'chunks', name: chunkOf() }] }
  const output = {
    dir: bundleFolder,
    format: 'cjs',
    sourcemap: true,
    dynamicImportInCjs: false,
    codeSplitting,
    ...names,
  }
  const { output: written } = await build.write(output)
  await build.close()
  for (const { type, fileName } of written) if (type === 'chunk') writeInAscii(join(bundleFolder, fileName))
}

/** Names the chunk of a module: the first that has it, directly or through imports. The others are left to the bundler. */
function chunkOf() {
  const chunks = new Map()
  const add = (id, name, graph) => {
    if (chunks.has(id)) return
    chunks.set(id, name)
    for (const imported of graph.getModuleInfo(id)?.importedIds ?? []) add(imported, name, graph)
  }
  return (id, graph) => {
    if (chunks.size === 0) {
      for (const { name, from } of CHUNKS) for (const path of from) add(join(root, path), name, graph)
    }
    return chunks.get(id) ?? null
  }
}

/** V8 keeps a text with one other character in twice the memory, and reads it more slowly. Lines stay where they are. */
function writeInAscii(path) {
  const escaped = unit => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  writeFileSync(path, readFileSync(path, 'utf8').replace(/[^\0-\x7f]/g, escaped))
}

async function writeManual() {
  mkdirSync(join(dist, 'man'), { recursive: true })
  const page = openSync(join(dist, 'man', 'binnacle.1'), 'w')
  const status = await node(['bin/binnacle', 'man'], { stdio: ['ignore', page, 'inherit'] })
  closeSync(page)
  if (status !== 0) process.exit(status)
}

/** The declaration files that these entries refer to. The others describe modules that cannot be imported. */
function declarationsBehind(entries) {
  const found = new Set()
  const visit = path => {
    if (found.has(path)) return
    found.add(path)
    const relative = /(?:from|import)[\s(]*["'](\..*?)\.js["']/g
    for (const [, to] of readFileSync(path, 'utf8').matchAll(relative)) visit(join(dirname(path), `${to}.d.ts`))
  }
  for (const entry of entries) visit(join(typesFolder, entry))
  return found
}

/** Removes files, and the folders that are empty then. */
function drop(folder, isUnwanted) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) drop(path, isUnwanted)
    else if (isUnwanted(path)) rmSync(path)
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder)
}
