// No space left, by a limit on file sizes and on a small file system: writes fail with a clear error, reads work, and
// writes work again once there is space.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync, writeFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkIntegrity } from '../../src/storage/lmdb/integrity.js'

const CHILD = fileURLToPath(new URL('lmdb-full-disk-child.mjs', import.meta.url))
const MIB = 1024 * 1024

let base: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'binnacle-full-'))
})

afterEach(() => rm(base, { recursive: true }))

test.skipIf(!has('prlimit'))('a file that reached its size limit', async () => {
  const directory = join(base, 'data')
  await fillsUpAndRecovers('prlimit', [`--fsize=${2 * MIB}:`, process.execPath, CHILD, directory], ({ pid }) =>
    execFileSync('prlimit', ['--pid', `${pid}`, '--fsize=unlimited:']),
  )
  expect(await checkIntegrity(directory)).toEqual([])
})

test.skipIf(!has('prlimit'))('compacting history frees space', async () => {
  const directory = join(base, 'data')
  const child = start('prlimit', [`--fsize=${4 * MIB}`, process.execPath, CHILD, directory])
  const exited = once(child, 'exit')
  try {
    expect(await answerOf(child)).toBe('ready')
    child.send('churn')
    expect(await answerOf(child)).toEqual(Array.from({ length: 4 }, () => ({ filled: 'no-space', writesAgain: true })))
  } finally {
    child.kill('SIGKILL')
    await exited
  }
  expect(await checkIntegrity(directory)).toEqual([])
})

test.skipIf(!has('prlimit'))('a full disk can be emptied', async () => {
  const directory = join(base, 'data')
  const child = start('prlimit', [`--fsize=${4 * MIB}`, process.execPath, CHILD, directory])
  const exited = once(child, 'exit')
  const send = (action: string) => {
    child.send(action)
    return answerOf(child)
  }
  try {
    expect(await answerOf(child)).toBe('ready')
    const { count } = (await send('fill')) as Filled
    expect(count).toBeGreaterThan(50)
    expect(await send('empty')).toEqual({ failures: [], writesAgain: true })
  } finally {
    child.kill('SIGKILL')
    await exited
  }
  expect(await checkIntegrity(directory)).toEqual([])
})

test.skipIf(!canMount())('a full file system', async () => {
  const mounted = join(base, 'small')
  await mkdir(mounted)
  execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', mounted])
  try {
    const ballast = join(mounted, 'ballast')
    writeFileSync(ballast, Buffer.alloc(2 * MIB))
    await fillsUpAndRecovers(process.execPath, [CHILD, join(mounted, 'data')], () => rmSync(ballast))
    expect(await checkIntegrity(join(mounted, 'data'))).toEqual([])
  } finally {
    execFileSync('umount', [mounted])
  }
})

async function fillsUpAndRecovers(
  command: string,
  args: readonly string[],
  reserveMore: (child: ChildProcess) => void,
): Promise<void> {
  const child = start(command, args)
  const exited = once(child, 'exit')
  const send = (action: string) => {
    child.send(action)
    return answerOf(child)
  }
  try {
    expect(await answerOf(child)).toBe('ready')
    const { count, failures } = (await send('fill')) as Filled
    expect(count).toBeGreaterThan(20)
    for (const { code, message } of failures) {
      expect(code).toBe('no-space')
      expect(message).toMatch(/no space left to write to .*store\.mdb: nothing was written; free some space/)
    }
    expect(await send('write')).toMatchObject({ code: 'no-space' })
    expect(await send('read')).toEqual({ count, ahead: 0 })

    reserveMore(child)
    expect(await send('write')).toBe('done')
    expect(await send('write')).toBe('done')
    expect(await send('read')).toEqual({ count: count + 2, ahead: 0 })
    expect(await send('close')).toBe('closed')
    expect(await exited).toEqual([0, null])
  } finally {
    child.kill('SIGKILL')
    await exited
  }
}

interface Filled {
  readonly count: number
  readonly failures: readonly { readonly code: string; readonly message: string }[]
}

const start = (command: string, args: readonly string[]): ChildProcess =>
  spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })

async function answerOf(child: ChildProcess): Promise<unknown> {
  const exit = once(child, 'exit').then(([code, signal]) =>
    Promise.reject(new Error(`it ended with ${code ?? signal}`)),
  )
  const [message] = await Promise.race([once(child, 'message'), exit])
  return message
}

function has(command: string): boolean {
  try {
    execFileSync(command, ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function canMount(): boolean {
  if (process.getuid?.() !== 0) return false
  try {
    execFileSync('unshare', ['--mount', 'mount', '-t', 'tmpfs', 'tmpfs', '/mnt'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
