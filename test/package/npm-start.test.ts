// `npm start` is one server and what npm needs to run it: whoever ends it, by npm or by the terminal, ends all of it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { afterEach, describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folders: string[] = []
const started: ChildProcess[] = []

afterEach(() => {
  for (const npm of started.splice(0)) if (npm.exitCode === null && npm.signalCode === null) killGroup(npm)
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true })
})

// Windows has neither signals nor groups of processes.
describe.skipIf(process.platform === 'win32')('npm start', () => {
  test('ends when npm is told to', async () => {
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

/** All of them write to the pipe that we read, so it closes with the last of them. */
const everyProcessEnds = (npm: ChildProcess) => once(npm, 'close').then(() => true)

/** Starts it as the leader of a group of its own, and waits until it serves. */
async function start(): Promise<ChildProcess> {
  const folder = mkdtempSync(join(tmpdir(), 'binnacle-npm-start-'))
  folders.push(folder)
  const args = ['start', '--', `--data-dir=${folder}`, '--secure-port=0']
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
