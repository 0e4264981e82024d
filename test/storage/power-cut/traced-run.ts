// Runs a program that writes to a data directory under strace, with the contents of all writes, and carries them out again on
// simulated files, call by call.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { SimulatedFile } from './simulated-file.js'

const CALLS = ['openat', 'write', 'pwrite64', 'lseek', 'writev', 'pwritev', 'ftruncate', 'fdatasync', 'fsync']

/** The lines of the trace. */
export async function traceRun(args: readonly string[], output: string, inject: readonly string[]): Promise<string[]> {
  const flags = ['-f', '--seccomp-bpf', '-y', '-xx', '-s', '1000000', '-o', output, '-e', `trace=${CALLS.join(',')}`]
  const faults = inject.flatMap(fault => ['-e', `inject=${fault}`])
  const env = { ...process.env, UV_THREADPOOL_SIZE: '1' }
  const child = spawn('strace', [...flags, ...faults, process.execPath, ...args], { stdio: 'ignore', env })
  await once(child, 'close')
  return readFileSync(output, 'latin1').split('\n')
}

/** Carries out the calls on the files of these names, and passes on each report. Ends before a call when `step` says so. */
export function replay(
  lines: readonly string[],
  files: Readonly<Record<string, SimulatedFile>>,
  report: (line: string) => void,
  step: () => boolean,
): void {
  /** By process, what happens when its running call ends. */
  const running = new Map<string, (isDone: boolean) => void>()
  /** Descriptors of which every write is on disk when it ends. */
  const synced = new Set<string>()
  /** By descriptor, where the next write goes that does not say where. */
  const positions = new Map<string, number>()
  for (const line of lines) {
    const [, pid, rest] = /^(\d+)\s+(.*)$/.exec(line) ?? []
    if (pid === undefined || rest === undefined) continue
    const isDone = !/\)\s+= (-1|\?)/.test(rest.slice(-200))
    if (rest.startsWith('<... ')) {
      if (running.has(pid) && step()) return
      running.get(pid)?.(isDone)
      running.delete(pid)
      continue
    }
    const [, call, descriptor, path] = /^(\w+)\((\d+)<([^>]*)>/.exec(rest) ?? []
    if (rest.startsWith('openat(')) {
      const [, opened] = /= (\d+)</.exec(rest.slice(-400)) ?? []
      if (opened !== undefined) synced[rest.includes('O_DSYNC') ? 'add' : 'delete'](opened)
      continue
    }
    if (call === undefined || descriptor === undefined || path === undefined) continue
    const name = basename(decode(path).toString())
    const file = files[name]
    if (name === 'report' && call === 'write') {
      for (const each of dataIn(rest).toString().trim().split('\n')) report(each)
      continue
    }
    if (!file) continue
    if (call === 'lseek') {
      positions.set(descriptor, Number(/>, (\d+)/.exec(rest)![1]))
      continue
    }
    const end = carryOut(file, call, rest, { isSynced: synced.has(descriptor), position: positions.get(descriptor) })
    if (rest.endsWith('<unfinished ...>')) running.set(pid, end)
    else {
      if (step()) return
      end(isDone)
    }
  }
}

interface Destination {
  readonly isSynced: boolean
  readonly position: number | undefined
}

/** Begins a call; returns what to do when it ends. */
function carryOut(file: SimulatedFile, call: string, text: string, to: Destination): (isDone: boolean) => void {
  if (call === 'fdatasync' || call === 'fsync') return file.sync()
  if (call === 'ftruncate') {
    const size = Number(/>, (\d+)/.exec(text)![1])
    return isDone => isDone && file.truncate(size)
  }
  const bytes = dataIn(text)
  const tail = text.slice(text.lastIndexOf('"'))
  const [, position = to.position] = (call === 'pwrite64' ? /^", \d+, (\d+)/ : /\], \d+, (\d+)/).exec(tail) ?? []
  if (position === undefined) throw new Error(`a write to no place: ${text.slice(0, 200)}`)
  return isDone => isDone && file.write(bytes, Number(position), to.isSynced)
}

const dataIn = (text: string): Buffer =>
  Buffer.concat(Array.from(text.matchAll(/"((?:\\x[0-9a-f]{2})*)"/g), ([, data]) => decode(data!)))

/** Everything that strace prints of strings is hexadecimal. */
const decode = (text: string): Buffer =>
  text.startsWith('\\x') ? Buffer.from(text.replaceAll('\\x', ''), 'hex') : Buffer.from(text)
