// The package as users install it: packed from a fresh clone by `npm pack`, installed in a new directory.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire, SourceMap, type SourceMapPayload } from 'node:module'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const TSC = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
const TYPE_ROOTS = join(root, 'node_modules', '@types')
const TSC_OPTIONS = ['--strict', '--noEmit', '--target', 'es2023', '--types', 'node', '--typeRoots', TYPE_ROOTS]
const NPM_OPTIONS = ['--prefer-offline', '--no-audit', '--no-fund', '--loglevel=error']
const MINUTES = 60_000

let directory = ''
let user = ''
let files: readonly string[] = []

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-package-'))
  const clone = freshClone(join(directory, 'clone'))
  npm(['pack', '--silent', '--pack-destination', directory], clone)
  const tarball = readdirSync(directory).find(name => name.endsWith('.tgz'))!
  user = join(directory, 'user')
  mkdirSync(user)
  writeFileSync(join(user, 'package.json'), '{"name": "user", "private": true}')
  npm(['install', ...NPM_OPTIONS, join(directory, tarball)], user)
  const installed = join(user, 'node_modules', 'binnacle')
  files = readdirSync(installed, { recursive: true, encoding: 'utf8' })
    .filter(path => statSync(join(installed, path)).isFile())
    .map(path => path.replaceAll('\\', '/'))
}, 5 * MINUTES)

afterAll(() => rmSync(directory, { recursive: true, force: true }))

describe('content', () => {
  test('the code once, with types, and none of the tests', () => {
    const directories = new Set(files.map(file => dirname(file).split('/').slice(0, 2).join('/')))
    expect([...directories].toSorted()).toEqual([
      '.',
      'bin',
      'data',
      'data/descriptions',
      'dist/bundle',
      'dist/declarations',
      'dist/man',
      'dist/page',
    ])
    expect(files.filter(file => /\.(test|suite)\./.test(file))).toEqual([])
    const code = files.filter(file => /\.[cm]?[jt]s$/.test(file) && !file.endsWith('.d.ts'))
    expect(code.filter(file => !/^dist\/(bundle\/[\w-]+\.cjs|page\/assets\/[\w-]+\.js)$/.test(file))).toEqual([
      'bin/compile-cache.cjs',
    ])
    expect(code).toContain('dist/bundle/index.cjs')
    expect(files).toContain('dist/page/index.html')
  })

  test('source maps with sources, which lead to the original line', () => {
    const read = (file: string) => readFileSync(join(user, 'node_modules', 'binnacle', file), 'utf8')
    const mapped = files.filter(file => file.endsWith('.cjs') && read(file).includes('//# sourceMappingURL='))
    expect(mapped).toContain('dist/bundle/index.cjs')
    for (const file of mapped) {
      const map = JSON.parse(read(`${file}.map`)) as SourceMapPayload
      expect(read(file)).toContain(`//# sourceMappingURL=${basename(file)}.map`)
      expect(map.sources).not.toEqual([])
      expect(map.sources.filter((_, index) => !map.sourcesContent[index])).toEqual([])
    }
    const lines = read('dist/bundle/index.cjs').split('\n')
    const line = lines.findIndex(text => text.includes('function startBinnacle('))
    const map = JSON.parse(read('dist/bundle/index.cjs.map')) as SourceMapPayload
    const origin = new SourceMap(map).findEntry(line, lines[line]!.indexOf('function')) as {
      originalSource: string
      originalLine: number
    }
    expect(origin.originalSource).toMatch(/src\/server\/index\.ts$/)
    const written = map.sourcesContent[map.sources.indexOf(origin.originalSource)]!.split('\n')
    expect(written[origin.originalLine]).toContain('function startBinnacle(')
  })
})

describe('use', () => {
  const USE = `
    const server = await startBinnacle()
    const answer = await new Promise((resolve, reject) =>
      https.get(server.url + '/version', { ca: server.ca }, response => resolve(response.statusCode)).on('error', reject))
    await server.stop()
    console.log(answer, typeof compile)`

  test('by import', () => {
    const head = `import https from 'node:https'
      import { startBinnacle } from 'binnacle'
      import { compile } from 'binnacle/cel'`
    expect(runScript('use.mjs', head + USE)).toBe('200 function\n')
  })

  test('by require, from CommonJS, on a Node that cannot require modules', () => {
    const head = `const https = require('node:https')
      const { startBinnacle } = require('binnacle')
      const { compile } = require('binnacle/cel')`
    const flag = '--no-experimental-require-module'
    const known = process.allowedNodeEnvironmentFlags.has('--experimental-require-module')
    const script = `${head}\n;(async () => {${USE}})()`
    expect(runScript('use.cjs', script, known ? [flag] : [])).toBe('200 function\n')
  })

  test('by import and require together: one copy is loaded', () => {
    const script = `import { createRequire } from 'node:module'
      import { CelError } from 'binnacle/cel'
      console.log(createRequire(import.meta.url)('binnacle/cel').CelError === CelError)`
    expect(runScript('both.mjs', script)).toBe('true\n')
  })

  test('by npx', () => {
    const { version } = createRequire(import.meta.url)('../../package.json') as { version: string }
    expect(npm(['exec', '--offline', '--', 'binnacle', '--version'], user)).toContain(`binnacle ${version}`)
  })

  test.each([
    ['nodenext', 'mts'],
    ['nodenext', 'cts'],
    ['node16', 'mts'],
    ['node16', 'cts'],
  ])('by TypeScript, with --module %s, in a .%s', (module, extension) => {
    const name = `types-${module}.${extension}`
    const script = `import { type Binnacle, type BinnacleOptions, startBinnacle } from 'binnacle'
      import { CelError, types } from 'binnacle/cel'
      const options: BinnacleOptions = { storage: 'memory' }
      export const started: Promise<Binnacle> = startBinnacle(options)
      export const url: Promise<string> = started.then(server => server.url)
      export const messageOf = (error: unknown) => (error instanceof CelError ? error.message : types)
      // @ts-expect-error The option is known, and takes no number.
      startBinnacle({ storage: 1 })`
    writeFileSync(join(user, name), script)
    // Without --skipLibCheck, so that the declarations themselves are checked too.
    expect(complaints([TSC, ...TSC_OPTIONS, '--module', module, name])).toBe('')
  })

  test('by TypeScript, with the types of built-in and custom kinds', () => {
    cpSync(join(root, 'test', 'package', 'types'), user, { recursive: true })
    const types = npm(['exec', '--offline', '--', 'binnacle', 'crd', 'types', 'widget-crd.yaml'], user)
    writeFileSync(join(user, 'crds.mts'), types)
    expect(complaints([TSC, ...TSC_OPTIONS, '--module', 'nodenext', 'client.mts'])).toBe('')
  })

  test('in Jest, which has no ES modules by default', { timeout: 5 * MINUTES }, context => {
    try {
      npm(['install', ...NPM_OPTIONS, '--no-save', 'jest@30'], user)
    } catch {
      console.error('MISSING: jest@30 could not be installed. Whether the package works in it is not tested.')
      return context.skip()
    }
    const script = `const { startBinnacle } = require('binnacle')
      test('starts', async () => {
        const server = await startBinnacle({ storage: { folder: __dirname + '/store' } })
        expect(server.url).toMatch(/^https:/)
        await server.stop()
      })`
    writeFileSync(join(user, 'binnacle.test.js'), script)
    const jest = join(user, 'node_modules', 'jest', 'bin', 'jest.js')
    expect(complaints([jest, '--ci', '--silent'])).toBe('')
  })
})

function runScript(name: string, script: string, flags: readonly string[] = []): string {
  writeFileSync(join(user, name), script)
  return execFileSync(process.execPath, [...flags, name], { cwd: user, encoding: 'utf8' })
}

/** The error output of a failed program. */
function complaints(args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: user, encoding: 'utf8' })
  return status === 0 ? '' : `exit code ${status}\n${stdout}${stderr}`
}

/** A `git clone` with uncommitted changes; the dependencies are linked. */
function freshClone(to: string): string {
  const left = new Set(['.git', 'node_modules', 'dist', 'test', 'bench', 'coverage'].map(name => join(root, name)))
  cpSync(root, to, { recursive: true, preserveTimestamps: true, filter: path => !left.has(path) })
  symlinkSync(join(root, 'node_modules'), join(to, 'node_modules'), 'junction')
  // However old the dependencies are, an install in the clone would delete them through the link.
  utimesSync(join(to, 'package-lock.json'), 0, 0)
  return to
}

const npm = (args: readonly string[], cwd: string): string =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', shell: process.platform === 'win32' })
