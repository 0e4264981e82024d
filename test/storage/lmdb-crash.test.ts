// A process that writes is killed again and again: nothing that it was told may be lost, and nothing be half there.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkIntegrity } from '../../src/storage/lmdb/integrity.js'
import { openLmdbStore } from '../../src/storage/lmdb/lmdb-store.js'
import type { Revision, Store } from '../../src/storage/store.js'

const CHILD = fileURLToPath(new URL('lmdb-crash-child.mjs', import.meta.url))
const ROUNDS = 8

let base: string

beforeAll(async () => {
  base = await mkdtemp(join(tmpdir(), 'binnacle-crash-'))
})

afterAll(() => rm(base, { recursive: true }))

/** A write as the child or a watch told of it. */
interface Told {
  readonly revision: Revision
  readonly key: string
  /** The beginning of the value; `-` for a delete. */
  readonly id: string
}

test('a killed process loses nothing that it was told', async () => {
  const folder = join(base, 'data')
  const model = new Map<string, Told>()
  let last = 0
  let acknowledged = 0
  for (let round = 1; round <= ROUNDS; round++) {
    const { opened, acks, events } = await writeAndKill(folder, round)
    acknowledged += acks.length
    expect(opened, 'the child began where the last check ended').toBe(last)
    expect(await checkIntegrity(folder)).toEqual([])

    const store = await openLmdbStore(folder)
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

/** Lets a child write for a moment that the round decides, and kills it. */
async function writeAndKill(folder: string, round: number) {
  const reportFile = join(base, `report-${round}`)
  const child = spawn(process.execPath, [CHILD, folder, reportFile, `${round}`], { stdio: 'inherit' })
  const exited = once(child, 'exit')
  // The moment counts from the first acknowledged write, however long the child takes to start.
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
  // A line without its end was being written.
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map(line => line.split(' '))
  const told = (verb: string): Told[] =>
    lines
      .filter(([word]) => word === verb)
      .map(([, revision, key, id]) => ({ revision: Number(revision), key: key!, id: id! }))
  const opened = lines.find(([word]) => word === 'open')
  return { opened: Number(opened?.[1]), acks: told('ack'), events: told('event') }
}

async function until(ready: () => boolean): Promise<void> {
  while (!ready()) await new Promise(resolve => setTimeout(resolve, 5))
}

/** What a watch from a revision delivers, up to now. */
function eventsAfter(store: Store, after: Revision): Promise<Told[]> {
  return new Promise((resolve, reject) => {
    const events: Told[] = []
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

async function expectSame(store: Store, model: ReadonlyMap<string, Told>): Promise<void> {
  const { entries } = await store.range('/')
  const there = entries.map(({ key, revision, value }) => ({ key, revision, id: idOf(value) }))
  expect(there).toEqual([...model.values()].toSorted((a, b) => (a.key < b.key ? -1 : 1)))
  for (const { value } of entries) expect(value.length).toBe(lengthOf(idOf(value)))
}

const idOf = (value: Buffer): string => value.toString('latin1', 0, value.indexOf(' '))

const lengthOf = (id: string): number => id.length + 1 + Number(id.split('-').at(-1))
