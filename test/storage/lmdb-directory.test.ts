// Data directories that cannot be opened: the error names the problem, and the directory is unchanged.
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openLmdbStore } from '../../src/storage/lmdb/lmdb-store.js'
import type { StorageError, StorageErrorCode } from '../../src/storage/storage-error.js'

const CHILD = fileURLToPath(new URL('lmdb-open-child.mjs', import.meta.url))
const UNPRIVILEGED_UID = 65_534

let base: string
let directory: string
let children: ChildProcess[]

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'binnacle-directory-'))
  directory = join(base, 'data')
  children = []
})

afterEach(async () => {
  for (const child of children) await kill(child)
  await rm(base, { recursive: true })
})

test.each(['755', '750', '777'])('a directory with the rights %s is closed to other users', async mode => {
  await (await openLmdbStore(directory)).close()
  chmodSync(directory, Number.parseInt(mode, 8))
  await (await openLmdbStore(directory)).close()
  expect(statSync(directory).mode & 0o777).toBe(0o700)
})

test('a directory with other content keeps its rights', async () => {
  mkdirSync(directory)
  writeFileSync(join(directory, 'other'), 'x')
  chmodSync(directory, 0o755)
  expect(await opening(directory)).toMatchObject({ code: 'directory-format' })
  expect(statSync(directory).mode & 0o777).toBe(0o755)
})

describe('an open directory', () => {
  test('of another process is refused with its process id', async () => {
    const holder = await openInChild(directory)
    expect(holder.answer).toBe('open')
    expect(await opening(directory)).toMatchObject(
      refusal('directory-locked', `${directory} is in use by process ${holder.child.pid};`),
    )
    const other = await openInChild(directory)
    expect(other.answer).toMatchObject({ name: 'StorageError', code: 'directory-locked' })
  })

  test('of this process is refused as well', async () => {
    const store = await openLmdbStore(directory)
    expect(await opening(directory)).toMatchObject(refusal('directory-locked', 'in use by this process'))
    await store.close()
  })

  test('is free when its process was killed', async () => {
    const holder = await openInChild(directory)
    await kill(holder.child)
    expect(await opening(directory)).toBe('it opened')
  })

  test('is free after each close', async () => {
    for (let i = 1; i <= 5; i++) {
      const store = await openLmdbStore(directory)
      expect(await store.create(`/things/${i}`, Buffer.from('x'))).toEqual({ done: true, revision: i })
      await store.close()
    }
  })

  test('is opened by only one of many concurrent attempts', async () => {
    const answers = (await Promise.all(Array.from({ length: 4 }, () => openInChild(directory)))).map(
      ({ answer }) => answer,
    )
    expect(answers.filter(answer => answer === 'open')).toHaveLength(1)
    for (const answer of answers) if (answer !== 'open') expect(answer).toMatchObject({ code: 'directory-locked' })
  })
})

describe('a directory with other content', () => {
  test('is refused when it holds other files', async () => {
    mkdirSync(directory)
    writeFileSync(join(directory, 'holiday.jpg'), 'beach')
    expect(await opening(directory)).toMatchObject(
      refusal('directory-format', 'it holds holiday.jpg but no FORMAT file'),
    )
  })

  test('is refused when it is of a later format', async () => {
    await makeStore()
    writeFileSync(join(directory, 'FORMAT'), 'binnacle-storage 3\n')
    expect(await opening(directory)).toMatchObject(
      refusal('directory-format', 'has the format "binnacle-storage 3", and this version of Binnacle reads'),
    )
  })

  test('is opened when it is of the format before, and then refused by the versions before', async () => {
    await makeStore()
    writeFileSync(join(directory, 'FORMAT'), 'binnacle-storage 1\n')
    await (await openLmdbStore(directory)).close()
    expect(readFileSync(join(directory, 'FORMAT'), 'utf8')).toBe('binnacle-storage 2\n')
  })

  test('is refused when it has a journal of an earlier form', async () => {
    await makeStore()
    writeFileSync(join(directory, 'FORMAT'), 'binnacle-storage 1\n')
    writeFileSync(join(directory, 'journal'), 'writes')
    expect(await opening(directory)).toMatchObject(
      refusal(
        'directory-format',
        'has a journal of an earlier version of Binnacle; start and stop it with that version',
      ),
    )
  })

  test('is refused when its FORMAT file is of another program', async () => {
    mkdirSync(directory)
    writeFileSync(join(directory, 'FORMAT'), 'tarball')
    expect(await opening(directory)).toMatchObject(refusal('directory-format', 'a FORMAT file that is not ours'))
  })

  test('is refused when it is a file', async () => {
    writeFileSync(directory, 'text')
    expect(await opening(directory)).toMatchObject(refusal('directory-unreadable', 'it is not a directory'))
    expect(await opening(join(directory, 'below'))).toMatchObject(
      refusal('directory-unreadable', 'it is not a directory'),
    )
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
    ['a directory', () => (rmSync(dataFile()), mkdirSync(dataFile())), 'store.mdb is not a file'],
  ])('being %s is refused', async (_, damage, message) => {
    damage()
    expect(await opening(directory)).toMatchObject(refusal('directory-unreadable', message))
  })
})

describe('a directory without permission', () => {
  test.skipIf(process.getuid?.() !== 0)('to read or to write is refused', async () => {
    await makeStore()
    chmodSync(base, 0o755)
    const refusedFor = async (path: string, mode: number) => {
      const usual = statSync(path).mode
      chmodSync(path, mode)
      const before = contentsOf(directory)
      const { answer } = await openInChild(directory, UNPRIVILEGED_UID)
      expect(answer).toMatchObject({ name: 'StorageError', code: 'directory-unreadable' })
      expect((answer as Error).message).toMatch(/^cannot open the data directory .*: EACCES: permission denied/)
      expect(contentsOf(directory)).toEqual(before)
      chmodSync(path, usual)
    }
    await refusedFor(directory, 0o700)
    await refusedFor(directory, 0o755)
    chmodSync(directory, 0o777)
    for (const name of ['journal', 'lock', 'store.mdb', 'store.mdb-lock']) chmodSync(join(directory, name), 0o666)
    await refusedFor(join(directory, 'store.mdb'), 0o600)
    await refusedFor(join(directory, 'store.mdb'), 0o644)
    await refusedFor(join(directory, 'FORMAT'), 0o600)
    await refusedFor(join(directory, 'lock'), 0o600)
    await refusedFor(join(directory, 'journal'), 0o600)
    const { answer: refused } = await openInChild(directory, UNPRIVILEGED_UID)
    expect((refused as Error).message).toContain('other users may read it, and that cannot be changed: EPERM')
    chownSync(directory, UNPRIVILEGED_UID, UNPRIVILEGED_UID)
    expect((await openInChild(directory, UNPRIVILEGED_UID)).answer).toBe('open')
  })
})

describe('a new directory', () => {
  test('is created, with its parents', async () => {
    const store = await openLmdbStore(join(directory, 'a', 'b'))
    await store.close()
    expect(readFileSync(join(directory, 'a', 'b', 'FORMAT'), 'utf8')).toBe('binnacle-storage 2\n')
  })

  test('whose creation was interrupted is created again', async () => {
    await makeStore()
    rmSync(join(directory, 'FORMAT'))
    const store = await openLmdbStore(directory)
    expect(await store.revision()).toBe(1)
    await store.close()
    mkdirSync(join(base, 'other'))
    writeFileSync(join(base, 'other', 'lock'), '')
    writeFileSync(join(base, 'other', 'store.mdb'), '')
    await (await openLmdbStore(join(base, 'other'))).close()
  })
})

const dataFile = (): string => join(directory, 'store.mdb')

async function makeStore(): Promise<void> {
  const store = await openLmdbStore(directory)
  await store.create('/things/a', Buffer.alloc(50_000))
  await store.close()
}

/** The result of opening a directory, and whether that changed anything. */
async function opening(path: string) {
  const before = contentsOf(base)
  try {
    const store = await openLmdbStore(path)
    await store.close()
    return 'it opened'
  } catch (error) {
    const { name, code, message } = error as StorageError
    const namesDirectory = message.includes(path)
    return { name, code, message, namesDirectory, untouched: isDeepStrictEqual(contentsOf(base), before) }
  }
}

const refusal = (code: StorageErrorCode, message: string) => ({
  name: 'StorageError',
  code,
  message: expect.stringContaining(message) as string,
  namesDirectory: true,
  untouched: true,
})

/** Every file with its content and modification time. */
function contentsOf(where: string): unknown[] {
  return readdirSync(where, { recursive: true, encoding: 'utf8' })
    .toSorted()
    .map(name => {
      const path = join(where, name)
      const stats = statSync(path)
      // LMDB's reader file changes through a memory map while another process has it open.
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
