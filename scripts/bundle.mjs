// Puts the modules of dist/ together into a few files in dist/bundle/. To find, open and compile hundreds of modules
// is most of what it takes to start; from these the server is ready in about half the time.
// Where the bundler does not run, as on a version of Node that it does not know, they lead to the modules instead.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const dist = fileURLToPath(new URL('../dist/', import.meta.url))
// As deep as the modules are, which find data and package.json by where they are themselves.
const folder = join(dist, 'bundle')

/** What is entered from outside: by the executable, and by those who import the package. */
const ENTRIES = { main: 'cli/main.js', index: 'server/index.js', cel: 'cel/index.js' }

rmSync(folder, { recursive: true, force: true })
try {
  await bundle()
} catch (error) {
  console.error(`Not bundled, so that the server starts more slowly: ${error.message}`)
  mkdirSync(folder, { recursive: true })
  for (const [name, path] of Object.entries(ENTRIES)) {
    writeFileSync(join(folder, `${name}.js`), `export * from '../${path}'\n`)
  }
}

async function bundle() {
  const { rolldown } = await import('rolldown')
  const input = Object.fromEntries(Object.entries(ENTRIES).map(([name, path]) => [name, join(dist, path)]))
  // Dependencies stay where they are: some bring binaries.
  const external = id => !id.startsWith('.') && !isAbsolute(id)
  const build = await rolldown({ input, platform: 'node', external })
  await build.write({ dir: folder, format: 'esm', chunkFileNames: '[name].js' })
  await build.close()
}
