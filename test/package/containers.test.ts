// The container image without a container engine: what the Dockerfile puts into the image is put into a directory, and its
// command and health check run there, as its user, by chroot on a read-only file system.
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runtimePackages } from '../../scripts/package/runtime-packages.mjs'
import { runBinnacle } from '../components/binnacle.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const packaging = join(root, 'packaging')
const dockerfile = readFileSync(join(packaging, 'Dockerfile'), 'utf8').replaceAll('\\\n', ' ')
const words = (instruction: string): string[] =>
  JSON.parse(new RegExp(`^${instruction}.*?(\\[.*\\])`, 'm').exec(dockerfile)![1]!) as string[]
const user = /^USER (\S+)/m.exec(dockerfile)![1]!

/** Mounts need rights that not every place of tests gives. */
const canMount = process.platform === 'linux' && spawnSync('unshare', ['--mount', 'true']).status === 0
if (!canMount) console.error('SKIPPED: the container image needs the right to mount')

let image = ''

beforeAll(() => {
  image = mkdtempSync(join(tmpdir(), 'binnacle-image-'))
  if (!canMount) return
  chmodSync(image, 0o755)
  const put = (from: string, to: string): void => {
    mkdirSync(dirname(join(image, to)), { recursive: true })
    cpSync(from, join(image, to), { recursive: true, dereference: true })
  }
  put(process.execPath, '/nodejs/bin/node')
  put('/usr/bin/flock', '/usr/bin/flock')
  for (const program of [process.execPath, '/usr/bin/flock']) {
    const libraries = execFileSync('ldd', [program], { encoding: 'utf8' }).matchAll(/(\/\S+) \(0x/g)
    for (const [, path] of libraries) put(path!, path!)
  }
  const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { readonly files: string[] }
  for (const path of ['package.json', ...files]) put(join(root, path), `/app/node_modules/binnacle/${path}`)
  for (const path of runtimePackages()) put(join(root, path), `/app/${path}`)
  for (const path of ['dev', 'proc', 'tmp', 'data']) mkdirSync(join(image, path))
  const [uid, gid] = user.split(':').map(Number)
  chownSync(join(image, 'data'), uid!, gid!)
}, 120_000)
afterAll(() => rmSync(image, { recursive: true, force: true }))

const childrenOf = (pid: number): number[] =>
  (readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').match(/\d+/g) ?? []).map(Number)

/** The command line that runs a command in the image. */
function inImage(command: readonly string[]): [string, string[]] {
  const script = `mount --bind "$0" "$0" && mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" &&
mount --bind "$0/data" "$0/data" && mount -o remount,ro,bind "$0" && exec chroot --userspec=${user} "$0" "$@"`
  return ['unshare', ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-c', script, image, ...command]]
}

test('the manifest is valid, also under the restricted policy', async () => {
  expect(await runBinnacle('validate', join(packaging, 'kubernetes.yaml'))).toMatchObject({
    code: 0,
    stdout: 'no findings in 3 objects of 1 file\n',
  })
})

test.runIf(canMount)(
  'the image serves as its user on a read-only file system, and its health check passes',
  async () => {
    const env = { PATH: '/usr/bin:/usr/sbin:/bin:/sbin' }
    const command = [...words('ENTRYPOINT'), ...words('CMD').map(word => word.replace('0.0.0.0', '127.0.0.1'))]
    const [program, args] = inImage([...command, '--secure-port=0'])
    const server = spawn(program, args, { env, stdio: 'pipe' })
    try {
      let output = ''
      await new Promise<void>(resolve => {
        for (const stream of [server.stdout, server.stderr]) {
          stream.on('data', (chunk: Buffer) => {
            output += chunk.toString()
            if (output.includes('ready at')) resolve()
          })
        }
        server.on('exit', () => resolve())
      })
      expect(output).toContain('keeping objects in /data/store')
      const [check, checkArgs] = inImage(words('HEALTHCHECK'))
      expect(execFileSync(check, checkArgs, { env, encoding: 'utf8' })).toMatch(/^Ready at /)
      const [id, idArgs] = inImage(['/nodejs/bin/node', '-p', 'process.getuid()'])
      expect(execFileSync(id, idArgs, { env, encoding: 'utf8' })).toBe(`${user.split(':')[0]}\n`)
      const [write, writeArgs] = inImage(['/nodejs/bin/node', '-e', 'fs.writeFileSync("/app/x", "")'])
      expect(spawnSync(write, writeArgs, { env, encoding: 'utf8' }).stderr).toMatch(/EROFS|EACCES/)
    } finally {
      // The server itself: with its new user it no longer ends with the process that started it.
      if (server.exitCode === null) {
        const exited = once(server, 'exit')
        for (const child of childrenOf(server.pid!)) process.kill(child, 'SIGKILL')
        await exited
      }
    }
  },
)
