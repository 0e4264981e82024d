// `npm run package`: the executable without Node, and the archive for setup-envtest.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const [major, minor] = process.versions.node.split('.').map(Number)
/** Node can carry files in an executable from these versions on. */
const canPackage = major! > 21 || (major === 20 && minor! >= 12)

let directory = ''
let release = ''
let executable = ''

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'binnacle-executable-'))
  release = join(directory, 'release')
  if (!canPackage) return
  execFileSync(process.execPath, ['scripts/package.mjs', `--output=${release}`], { cwd: root, stdio: 'pipe' })
  executable = join(release, readdirSync(release).find(name => name.startsWith('binnacle-'))!)
}, 180_000)
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A machine without Node, on which the home directory is new. */
const env = () => ({ HOME: join(directory, 'home'), PATH: '/usr/bin:/bin', TMPDIR: directory })

const run = (args: readonly string[], program = executable): string =>
  execFileSync(program, args, { env: env(), cwd: directory, encoding: 'utf8' })

test.runIf(canPackage)('the executable serves from lmdb, and unpacks itself once', { timeout: 60_000 }, async () => {
  const { version } = createRequire(import.meta.url)('../../package.json') as { readonly version: string }
  expect(run(['--version'])).toBe(`binnacle ${version}\n`)
  const unpacked = join(directory, 'home', '.cache', 'binnacle', 'program')
  expect(readdirSync(unpacked)).toHaveLength(1)
  expect(statSync(unpacked).mode & 0o077).toBe(0)
  const dataDir = join(directory, 'data')
  const server = spawn(executable, ['serve', `--data-dir=${dataDir}`, '--secure-port=0'], { env: env(), stdio: 'pipe' })
  const ended = once(server, 'exit')
  let output = ''
  await new Promise<void>(resolve => {
    server.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString()
      if (output.includes('ready at')) resolve()
    })
    server.on('exit', () => resolve())
  })
  expect(output).toContain(`keeping objects in ${dataDir}/store`)
  expect(run(['status', `--data-dir=${dataDir}`])).toMatch(/^Ready at /)
  server.kill('SIGTERM')
  expect(await ended).toEqual([0, null])
  expect(readdirSync(unpacked)).toHaveLength(1)
})

test.runIf(canPackage)('the archive for setup-envtest can be unpacked anywhere, and its index has its digest', () => {
  const archive = readdirSync(release).find(name => name.endsWith('.tar.gz'))!
  const digest = execFileSync('sha512sum', [join(release, archive)], { encoding: 'utf8' }).split(' ')[0]!
  expect(readFileSync(join(release, 'envtest-index.yaml'), 'utf8')).toContain(`${archive}:\n      hash: ${digest}\n`)
  execFileSync('tar', ['-xzf', join(release, archive), '-C', directory])
  const assets = join(directory, 'controller-tools', 'envtest')
  expect(readdirSync(assets).toSorted()).toEqual(['binnacle', 'etcd', 'kube-apiserver', 'kubectl'])
  expect(run(['--version'], join(assets, 'kube-apiserver'))).toMatch(/^Kubernetes v1\./)
  expect(readFileSync(join(assets, 'etcd'), 'utf8')).not.toContain(root)
  expect(existsSync(join(assets, 'binnacle'))).toBe(true)
})
