// `npm start` runs one server under npm: ending it, through npm or the terminal, ends all processes.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const directories: string[] = []
const started: ChildProcess[] = []

afterEach(() => {
  for (const npm of started.splice(0)) if (npm.exitCode === null && npm.signalCode === null) killGroup(npm)
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

// Windows has neither signals nor groups of processes.
describe.skipIf(process.platform === 'win32')('npm start', () => {
  test('ends when npm is ended', async () => {
    const npm = await start()
    process.kill(npm.pid!, 'SIGTERM')
    expect(await everyProcessEnds(npm)).toBe(true)
  })

  test.each(['SIGINT', 'SIGTERM'] as const)(
    'ends when a terminal or a supervisor sends %s to all of it',
    async signal => {
      const npm = await start()
      process.kill(-npm.pid!, signal)
      expect(await everyProcessEnds(npm)).toBe(true)
    },
  )
})

/** All processes write to the same pipe, so it closes with the last of them. */
const everyProcessEnds = (npm: ChildProcess) => once(npm, 'close').then(() => true)

/** Starts it as the leader of a new process group, and waits until it serves. */
async function start(): Promise<ChildProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-npm-start-'))
  directories.push(directory)
  const args = ['start', '--', `--data-dir=${directory}`, '--secure-port=0']
  const npm = spawn('npm', args, { cwd: root, detached: true, stdio: ['ignore', 'pipe', 'inherit'] })
  started.push(npm)
  for await (const line of createInterface({ input: npm.stdout })) {
    if (line.includes('is ready at')) {
      npm.stdout.resume()
      return npm
    }
  }
  throw new Error('npm start ended before the server was ready')
}

const killGroup = (leader: ChildProcess) => process.kill(-leader.pid!, 'SIGKILL')
