// Data folders that cannot be opened: it says what is wrong, and leaves them as they were.
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLmdbStore } from '../../src/storage/lmdb/lmdb-store.js'
import type { StorageError, StorageErrorCode } from '../../src/storage/storage-error.js'

const CHILD = fileURLToPath(new URL('lmdb-open-child.mjs', import.meta.url))
const NOBODY = 65_534

let base: string
let folder: string
let children: ChildProcess[]

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'binnacle-folder-'))
  folder = join(base, 'data')
  children = []
})

afterEach(async () => {
  for (const child of children) await kill(child)
  await rm(base, { recursive: true })
})

describe('a folder that is open', () => {
  test('in another process is refused with its process id', async () => {
    const holder = await openInChild(folder)
    expect(holder.answer).toBe('open')
    expect(await opening(folder)).toMatchObject(
      refusal('directory-locked', `${folder} is in use by process ${holder.child.pid};`),
    )
    const other = await openInChild(folder)
    expect(other.answer).toMatchObject({ name: 'StorageError', code: 'directory-locked' })
  })

  test('in this process is refused as well', async () => {
    const store = await openLmdbStore(folder)
    expect(await opening(folder)).toMatchObject(refusal('directory-locked', 'in use by this process'))
    await store.close()
  })

  test('is free when its process was killed', async () => {
    const holder = await openInChild(folder)
    await kill(holder.child)
    expect(await opening(folder)).toBe('it opened')
  })

  test('is free when it was closed, again and again', async () => {
    for (let i = 1; i <= 5; i++) {
      const store = await openLmdbStore(folder)
      expect(await store.create(`/things/${i}`, Buffer.from('x'))).toEqual({ done: true, revision: i })
      await store.close()
    }
  })

  test('is given to one of many that want it at once', async () => {
    const answers = (await Promise.all(Array.from({ length: 4 }, () => openInChild(folder)))).map(
      ({ answer }) => answer,
    )
    expect(answers.filter(answer => answer === 'open')).toHaveLength(1)
    for (const answer of answers) if (answer !== 'open') expect(answer).toMatchObject({ code: 'directory-locked' })
  })
})

describe('a folder that is not ours', () => {
  test('is refused when it holds other files', async () => {
    mkdirSync(folder)
    writeFileSync(join(folder, 'holiday.jpg'), 'beach')
    expect(await opening(folder)).toMatchObject(refusal('directory-format', 'it holds holiday.jpg but no FORMAT file'))
  })

  test('is refused when it is of a later format', async () => {
    await makeStore()
    writeFileSync(join(folder, 'FORMAT'), 'binnacle-storage 2\n')
    expect(await opening(folder)).toMatchObject(
      refusal('directory-format', 'has the format "binnacle-storage 2", and this version of Binnacle reads'),
    )
  })

  test('is refused when its FORMAT is of something else', async () => {
    mkdirSync(folder)
    writeFileSync(join(folder, 'FORMAT'), 'tarball')
    expect(await opening(folder)).toMatchObject(refusal('directory-format', 'a FORMAT file that is not ours'))
  })

  test('is refused when it is a file', async () => {
    writeFileSync(folder, 'text')
    expect(await opening(folder)).toMatchObject(refusal('directory-unreadable', 'it is not a directory'))
    expect(await opening(join(folder, 'below'))).toMatchObject(refusal('directory-unreadable', 'it is not a directory'))
  })
})

describe('a data file that is damaged', () => {
  beforeEach(makeStore)

  test.each([
    ['missing', () => rmSync(dataFile()), 'store.mdb is missing'],
    ['empty', () => truncateSync(dataFile(), 0), 'store.mdb is empty'],
    ['garbage', () => writeFileSync(dataFile(), Buffer.alloc(100_000, 'garbage')), 'is not an LMDB file'],
    ['shorter than its header', () => truncateSync(dataFile(), 4100), 'is not an LMDB file'],
    ['cut short', () => truncateSync(dataFile(), 8192 + 4096), 'store.mdb was cut short: it has 12288 bytes'],
    ['a folder', () => (rmSync(dataFile()), mkdirSync(dataFile())), 'store.mdb is not a file'],
  ])('being %s is refused', async (_, damage, message) => {
    damage()
    expect(await opening(folder)).toMatchObject(refusal('directory-unreadable', message))
  })
})

describe('a folder without permission', () => {
  test.skipIf(process.getuid?.() !== 0)('to read or to write is refused', async () => {
    await makeStore()
    chmodSync(base, 0o755)
    const refusedFor = async (path: string, mode: number) => {
      const usual = statSync(path).mode
      chmodSync(path, mode)
      const before = contentsOf(folder)
      const { answer } = await openInChild(folder, NOBODY)
      expect(answer).toMatchObject({ name: 'StorageError', code: 'directory-unreadable' })
      expect((answer as Error).message).toMatch(/^cannot open the data directory .*: EACCES: permission denied/)
      expect(contentsOf(folder)).toEqual(before)
      chmodSync(path, usual)
    }
    await refusedFor(folder, 0o700)
    await refusedFor(folder, 0o755)
    chmodSync(folder, 0o777)
    for (const name of ['lock', 'store.mdb', 'store.mdb-lock']) chmodSync(join(folder, name), 0o666)
    await refusedFor(join(folder, 'store.mdb'), 0o600)
    await refusedFor(join(folder, 'store.mdb'), 0o644)
    await refusedFor(join(folder, 'FORMAT'), 0o600)
    await refusedFor(join(folder, 'lock'), 0o600)
    expect((await openInChild(folder, NOBODY)).answer).toBe('open')
  })
})

describe('a new folder', () => {
  test('is made, with those above it', async () => {
    const store = await openLmdbStore(join(folder, 'a', 'b'))
    await store.close()
    expect(readFileSync(join(folder, 'a', 'b', 'FORMAT'), 'utf8')).toBe('binnacle-storage 1\n')
  })

  test('whose making was interrupted is made again', async () => {
    await makeStore()
    rmSync(join(folder, 'FORMAT'))
    const store = await openLmdbStore(folder)
    expect(await store.revision()).toBe(1)
    await store.close()
    mkdirSync(join(base, 'other'))
    writeFileSync(join(base, 'other', 'lock'), '')
    writeFileSync(join(base, 'other', 'store.mdb'), '')
    await (await openLmdbStore(join(base, 'other'))).close()
  })
})

const dataFile = (): string => join(folder, 'store.mdb')

async function makeStore(): Promise<void> {
  const store = await openLmdbStore(folder)
  await store.create('/things/a', Buffer.alloc(50_000))
  await store.close()
}

/** What came of opening a folder, and whether anything changed by it. */
async function opening(path: string) {
  const before = contentsOf(base)
  try {
    const store = await openLmdbStore(path)
    await store.close()
    return 'it opened'
  } catch (error) {
    const { name, code, message } = error as StorageError
    const namesFolder = message.includes(path)
    return { name, code, message, namesFolder, untouched: isDeepStrictEqual(contentsOf(base), before) }
  }
}

const refusal = (code: StorageErrorCode, message: string) => ({
  name: 'StorageError',
  code,
  message: expect.stringContaining(message) as string,
  namesFolder: true,
  untouched: true,
})

/** Every file with its content and when it was last changed. */
function contentsOf(where: string): unknown[] {
  return readdirSync(where, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map(name => {
      const path = join(where, name)
      const stats = statSync(path)
      // LMDB's own file changes in memory while another process has it open.
      const content = stats.isFile() && !name.endsWith('.mdb-lock') && readFileSync(path)
      const digest = content && createHash('sha256').update(content).digest('hex')
      return { name, mtimeMs: stats.mtimeMs, ctimeMs: stats.ctimeMs, digest }
    })
}

async function openInChild(path: string, uid?: number): Promise<{ child: ChildProcess; answer: unknown }> {
  const identity = uid === undefined ? {} : { uid, gid: uid }
  const child = spawn(process.execPath, [CHILD, path], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    ...identity,
  })
  children.push(child)
  const [answer] = await once(child, 'message')
  return { child, answer }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
