// Two containers on one data directory: in each of them the program has the same process id. A second server is refused, and a
// snapshot is saved.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'

const executable = fileURLToPath(new URL('../../bin/binnacle', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'binnacle-containers-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))

/** A process that is the first one of its own list of processes, as in a container. */
const IN_CONTAINER = ['--pid', '--fork', '--kill-child']
const hasContainers = spawnSync('unshare', [...IN_CONTAINER, 'true']).status === 0
if (!hasContainers)
  console.warn('not tested: two containers on one data directory, because `unshare --pid` does not work here')

const DATA_DIR = `--data-dir=${join(directory, 'data')}`
const SERVE = ['serve', DATA_DIR, '--secure-port=0']

function startInContainer(args: readonly string[]) {
  const command = [...IN_CONTAINER, process.execPath, executable, ...args]
  const child = spawn('unshare', command, { stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  const exit = once(child, 'close').then(([code]) => ({ code: code as number | null, output }))
  const ready = new Promise<void>(resolve => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
      if (output.includes('ready at')) resolve()
    })
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
  return { exit, ready, end: () => void child.kill('SIGKILL') }
}

test.skipIf(!hasContainers)('of two containers on one data directory, one serves it', async () => {
  const first = startInContainer(SERVE)
  try {
    await Promise.race([first.ready, first.exit.then(({ output }) => Promise.reject(new Error(output)))])
    const { code, output } = await startInContainer(SERVE).exit
    expect(code).not.toBe(0)
    expect(output).toContain(join(directory, 'data'))
    expect(output).toMatch(/in use|another|locked/)
    const saved = await startInContainer(['snapshot', 'save', join(directory, 'backup.mdb'), DATA_DIR]).exit
    expect(saved).toEqual({
      code: 0,
      output: expect.stringMatching(/^Saved \d+ objects at revision \d+ to .*backup\.mdb\.\n$/),
    })
  } finally {
    first.end()
    await first.exit
  }
})
