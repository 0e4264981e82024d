// Two containers on one data directory: in each of them the server has the same process id, and the second one is refused.
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

function startInContainer() {
  const serve = [process.execPath, executable, 'serve', `--data-dir=${join(directory, 'data')}`, '--secure-port=0']
  const child = spawn('unshare', [...IN_CONTAINER, ...serve], { stdio: ['ignore', 'pipe', 'pipe'] })
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

test.skipIf(!hasContainers)('the second of two containers on one data directory is refused', async () => {
  const first = startInContainer()
  try {
    await Promise.race([first.ready, first.exit.then(({ output }) => Promise.reject(new Error(output)))])
    const { code, output } = await startInContainer().exit
    expect(code).not.toBe(0)
    expect(output).toContain(join(directory, 'data'))
    expect(output).toMatch(/in use|another|locked/)
  } finally {
    first.end()
    await first.exit
  }
})
