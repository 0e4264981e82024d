// Kills a writing process repeatedly: no acknowledged write may be lost, and no write may be incomplete.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkIntegrity } from '../../src/storage/lmdb/integrity.js'
import { openLmdbStore } from '../../src/storage/lmdb/lmdb-store.js'
import type { Revision, Store } from '../../src/storage/store.js'

const CHILD = fileURLToPath(new URL('lmdb-crash-child.mjs', import.meta.url))
const READER = fileURLToPath(new URL('lmdb-reader-child.mjs', import.meta.url))
const ROUNDS = 8

let base: string

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'binnacle-crash-'))
})

afterAll(() => rm(base, { recursive: true }))

/** A write as reported by the child or a watch. */
interface ReportedWrite {
  readonly revision: Revision
  readonly key: string
  /** The beginning of the value; `-` for a delete. */
  readonly id: string
}

test('a killed process loses no acknowledged write', async () => {
  const directory = join(base, 'data')
  const model = new Map<string, ReportedWrite>()
  let last = 0
  let acknowledged = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const { opened, acks, events } = await writeAndKill(directory, round)
    acknowledged += acks.length
    expect(opened, 'the child began where the last check ended').toBe(last)
    expect(await checkIntegrity(directory)).toEqual([])

    const store = await openLmdbStore(directory)
    try {
      const resumed = await eventsAfter(store, events.at(-1)?.revision ?? last)
      const all = [...events, ...resumed]
      expect(
        all.map(event => event.revision),
        'no event is missing and none comes twice',
      ).toEqual(all.map((_, i) => last + 1 + i))
      for (const ack of acks) expect(all[ack.revision - last - 1]).toEqual(ack)
      expect(new Set(acks.map(ack => ack.revision)).size, 'no revision was given twice').toBe(acks.length)

      for (const event of all) {
        if (event.id === '-') model.delete(event.key)
        else model.set(event.key, event)
      }
      last = await store.revision()
      expect(last).toBe(all.at(-1)?.revision)
      await expectSame(store, model)
    } finally {
      await store.close()
    }
  }
  expect(acknowledged).toBeGreaterThan(ROUNDS * 20)
})

test('a reader that was killed does not keep the data file from using its space again', async () => {
  const directory = join(base, 'read')
  const store = await openLmdbStore(directory)
  const file = join(directory, 'store.mdb')
  async function replaceAll(times: number): Promise<void> {
    for (let round = 0; round < times; round++) {
      for (let i = 0; i < 20; i++) {
        const key = `/things/${i}`
        const { revision = 0 } = (await store.get(key)) ?? {}
        const value = Buffer.alloc(20_000)
        await (revision === 0 ? store.create(key, value) : store.update(key, value, revision))
      }
      await store.compact(await store.revision())
    }
  }
  await replaceAll(5)
  const reader = spawn(process.execPath, [READER, file], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  const exited = once(reader, 'exit')
  await once(reader, 'message')
  reader.kill('SIGKILL')
  await exited
  const before = blocksOf(file)
  await replaceAll(20)
  expect(blocksOf(file)).toBeLessThan(2 * before)
  await store.close()
})

/** What the file takes on the disk. It has a hole at its end. */
const blocksOf = (file: string): number => statSync(file).blocks

/** Lets a child write for a time that depends on the round, and kills it. */
async function writeAndKill(directory: string, round: number) {
  const reportFile = join(base, `report-${round}`)
  const child = spawn(process.execPath, [CHILD, directory, reportFile, `${round}`], { stdio: 'inherit' })
  const exited = once(child, 'exit')
  // The time counts from the first acknowledged write, not from the start of the child.
  await until(() => child.exitCode !== null || reportOf(reportFile).acks.length > 0)
  await new Promise(resolve => setTimeout(resolve, (round * 137) % 400))
  child.kill('SIGKILL')
  expect(await exited).toEqual([null, 'SIGKILL'])
  return reportOf(reportFile)
}

function reportOf(file: string) {
  let text = ''
  try {
    text = readFileSync(file, 'utf8')
  } catch {} // not there yet
  // An incomplete line was being written.
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map(line => line.split(' '))
  const reportsOf = (verb: string): ReportedWrite[] =>
    lines
      .filter(([word]) => word === verb)
      .map(([, revision, key, id]) => ({ revision: Number(revision), key: key!, id: id! }))
  const opened = lines.find(([word]) => word === 'open')
  return { opened: Number(opened?.[1]), acks: reportsOf('ack'), events: reportsOf('event') }
}

async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await new Promise(resolve => setTimeout(resolve, 5))
}

/** The events of a watch from a revision, up to now. */
function eventsAfter(store: Store, after: Revision): Promise<ReportedWrite[]> {
  return new Promise((resolve, reject) => {
    const events: ReportedWrite[] = []
    const watch = store.watch('/', after, {
      event: ({ revision, key, value }) => void events.push({ revision, key, id: value ? idOf(value) : '-' }),
      progress() {
        watch.close()
        resolve(events)
      },
      end: reject,
    })
    watch.requestProgress()
  })
}

async function expectSame(store: Store, model: ReadonlyMap<string, ReportedWrite>): Promise<void> {
  const { entries } = await store.range('/')
  const there = entries.map(({ key, revision, value }) => ({ key, revision, id: idOf(value) }))
  expect(there).toEqual([...model.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1)))
  for (const { value } of entries) expect(value.length).toBe(lengthOf(idOf(value)))
}

const idOf = (value: Buffer): string => value.toString('latin1', 0, value.indexOf(' '))

const lengthOf = (id: string): number => id.length + 1 + Number(id.split('-').at(-1))
