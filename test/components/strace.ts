// Runs a program under strace, which counts system calls and makes chosen ones fail, as a failing disk does.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Traced {
  readonly code: number | null
  readonly stdout: string
  /** The lines of the trace. */
  readonly calls: readonly string[]
}

/** Whether tests that need strace must be skipped; with CI=true it is a failure. */
export function straceMissing(): boolean {
  if (spawnSync('strace', ['-f', 'true'], { stdio: 'ignore' }).status === 0) return false
  const message = 'strace is not installed (Debian: apt-get install strace), or may not trace here'
  if (process.env.CI === 'true') throw new Error(message)
  console.warn(`\n*** SKIPPED: ${message}; tests of disk failures did not run ***\n`)
  return true
}

export interface Trace {
  readonly calls: readonly string[]
  /** Only calls that concern these files are traced, and can fail. */
  readonly files?: readonly string[]
  /** strace's expressions for the calls that are to fail. */
  readonly inject?: readonly string[] | undefined
}

/** Traces system calls of Node.js. File descriptors are followed by the names of their files. */
export async function traceNode(args: readonly string[], { calls, files = [], inject = [] }: Trace): Promise<Traced> {
  const directory = mkdtempSync(join(tmpdir(), 'binnacle-strace-'))
  const output = join(directory, 'trace')
  try {
    const flags = [
      '-f',
      '-y',
      '-o',
      output,
      '-e',
      `trace=${calls.join(',')}`,
      ...files.flatMap(file => ['-P', file]),
      ...inject.flatMap(fault => ['-e', `inject=${fault}`]),
    ]
    // strace counts calls by thread: with one thread for the disk, the count is that of the process.
    const env = { ...process.env, UV_THREADPOOL_SIZE: '1' }
    const child = spawn('strace', [...flags, process.execPath, ...args], { stdio: ['ignore', 'pipe', 'ignore'], env })
    let stdout = ''
    child.stdout.setEncoding('utf8').on('data', text => (stdout += text))
    const [code] = (await once(child, 'close')) as [number | null]
    return { code, stdout, calls: readFileSync(output, 'utf8').split('\n') }
  } finally {
    rmSync(directory, { recursive: true, force: true })
  }
}
