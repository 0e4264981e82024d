// `binnacle up`: starts a server that goes on when the command has ended.
import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { createFolder } from '../../base/files/create-folder.js'
import { UsageError } from '../../base/usage-error.js'
import type { Command } from '../command.js'
import { ownProgram } from '../own-program.js'
import { readServeOptions } from '../serve/serve-options.js'
import { findBackgroundServer, logFileIn, recordBackgroundServer } from './background-server.js'

const HELP = `Usage: binnacle up [flags of binnacle serve]

Starts a server in the background, waits until it is ready, and adds it to your kubeconfig as the current context, so
that kubectl uses it. binnacle status says how it is, binnacle down stops it. Its log is <data-dir>/server.log.

Examples:
  binnacle up
  binnacle up --storage=memory --secure-port=0
  binnacle up --data-dir=./cluster --merge-kubeconfig=false
`

export const UP: Command = { run: up, help: () => HELP }

const POLL_MS = 20
const START_MS = 60_000

async function up(args: readonly string[]): Promise<void> {
  const { dataDir } = readServeOptions(args)
  const running = findBackgroundServer(dataDir)
  if (running) return console.log(`Binnacle is already running at ${running.url} (process ${running.pid}).`)
  createFolder(dataDir, 0o700)
  const { pid, url } = await start(dataDir, ['--merge-kubeconfig', ...args])
  recordBackgroundServer(dataDir, pid, url)
  console.log(`Binnacle is ready at ${url} (process ${pid}).\nStop it: binnacle down${hint(args)}`)
}

/** The same folder must be named when it is stopped. */
function hint(args: readonly string[]): string {
  const at = args.findIndex(arg => /^--data[-_]dir(=|$)/.test(arg))
  if (at === -1) return ''
  return args[at]!.includes('=') ? ` ${args[at]}` : ` --data-dir=${args[at + 1]}`
}

async function start(
  dataDir: string,
  args: readonly string[],
): Promise<{ readonly pid: number; readonly url: string }> {
  const [program, ...first] = await ownProgram()
  const file = logFileIn(dataDir)
  const log = openSync(file, 'a', 0o600)
  const before = statSync(file).size
  const child = spawn(program, [...first, 'serve', ...args], { detached: true, stdio: ['ignore', log, log] })
  closeSync(log)
  let failure: string | undefined
  child.on('error', error => {
    failure = error.message
  })
  child.on('exit', code => {
    failure ??= `it ended with code ${code}`
  })
  for (const deadline = Date.now() + START_MS; Date.now() < deadline; await delay(POLL_MS)) {
    const written = readFileSync(file).subarray(before).toString()
    const url = /ready at (\S+),/.exec(written)?.[1]
    if (url !== undefined) {
      child.unref()
      return { pid: child.pid!, url }
    }
    if (failure !== undefined) throw new UsageError(`the server did not start: ${lastLine(written) || failure}`)
  }
  child.kill()
  throw new UsageError(`the server was not ready within ${START_MS / 1000} seconds; ${file} has its log`)
}

const lastLine = (text: string): string =>
  text
    .trimEnd()
    .split('\n')
    .at(-1)!
    .replace(/^binnacle: /, '')
