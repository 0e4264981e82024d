// The machine stops, or the process is killed, at any call by which a store writes: what was acknowledged is found, what was
// refused is not, and revisions go on. A process writes under strace; its calls are carried out on simulated files up to a
// random one; a store opens what is left; and then the next process goes on with it. POWER_CUT_ROUNDS=50 runs longer, and
// tries more ends of each run.
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, test } from 'vitest'
import { checkIntegrity } from '../../../src/storage/lmdb/integrity.js'
import { openLmdbStore } from '../../../src/storage/lmdb/lmdb-store.js'
import type { Store } from '../../../src/storage/store.js'
import { straceMissing } from '../../components/strace.js'
import { createRandom, type Random, SEED } from '../history/random.js'
import { createSimulatedFile, type FileState, whole } from './simulated-file.js'
import { replay, traceRun } from './traced-run.js'

const CHILD = fileURLToPath(new URL('writing-child.mjs', import.meta.url))
const ROUNDS = Number(process.env.POWER_CUT_ROUNDS ?? 1)
/** How many ends of each run are tried. */
const ENDS = ROUNDS > 1 ? 30 : 3
const WRITES = 80
const FILES = ['store.mdb', 'journal'] as const

const base = mkdtempSync(join(tmpdir(), 'binnacle-power-cut-'))
afterAll(() => rmSync(base, { recursive: true, force: true }))

/** What was reported of a write that was acknowledged: its key, and its value or `-`. */
type Done = ReadonlyMap<number, string>

interface Reports {
  readonly done: Map<number, string>
  readonly refused: Set<string>
}

const noReports = (): Reports => ({ done: new Map(), refused: new Set() })

/** The files as a process leaves them, or a machine that stops. */
type State = Readonly<Record<(typeof FILES)[number], FileState>>

const onFiles = <T>(make: (name: (typeof FILES)[number]) => T) =>
  Object.fromEntries(FILES.map(name => [name, make(name)])) as Record<(typeof FILES)[number], T>

function put(directory: string, state: State): void {
  for (const name of FILES) writeFileSync(join(directory, name), state[name].seen)
}

/** Carries out a run up to a call, from the files that it has found. */
function filesAfter(lines: readonly string[], calls: number, before: State, reports: Reports, random: Random) {
  const files = onFiles(name => createSimulatedFile(before[name], random))
  let count = 0
  replay(
    lines,
    files,
    line => note(line, reports),
    () => ++count > calls,
  )
  return { files, count }
}

function note(line: string, { done, refused }: Reports): void {
  const [what, ...rest] = line.split(' ')
  if (what === 'done') done.set(Number(rest[0]), rest.slice(1).join(' '))
  if (what === 'refused') refused.add(rest[0]!)
}

async function eventsOf(store: Store): Promise<Done> {
  const { compacted } = await new Promise<{ compacted: number }>(resolve => {
    const watch = store.watch('/', 0, {
      event() {},
      progress: () => (watch.close(), resolve({ compacted: 0 })),
      end: error => resolve({ compacted: error.revision ?? 0 }),
    })
    watch.requestProgress()
  })
  const events = new Map<number, string>()
  await new Promise<void>((resolve, reject) => {
    const watch = store.watch('/', compacted, {
      event: ({ key, revision, value }) => void events.set(revision, `${key} ${value ? idOf(value) : '-'}`),
      progress: () => (watch.close(), resolve()),
      end: reject,
    })
    watch.requestProgress()
  })
  return events
}

const idOf = (value: Buffer): string => value.toString('latin1', 0, value.indexOf(' '))

/** Opens what is left, and compares it with what was reported. */
async function check(directory: string, { done, refused }: Reports): Promise<void> {
  const store = await openLmdbStore(directory)
  try {
    const [revision, events] = [await store.revision(), await eventsOf(store)]
    const first = Math.min(...events.keys(), revision + 1)
    const lost = [...done].filter(([at, what]) => at >= first && events.get(at) !== what)
    expect(lost).toEqual([])
    expect(revision).toBeGreaterThanOrEqual(Math.max(0, ...done.keys()))
    expect([...events.values()].filter(what => refused.has(what.split(' ')[1]!))).toEqual([])
    const { entries } = await store.range('/things/')
    for (const { value } of entries)
      expect(value.length - idOf(value).length - 1).toBe(Number(idOf(value).split('-')[3]))
    const after = await store.create(`/after/${revision}`, Buffer.from('after 0-0-0-0'))
    expect(after).toMatchObject({ done: true })
  } finally {
    await store.close()
  }
  expect(await checkIntegrity(directory)).toEqual([])
}

const FAULTS: Readonly<Record<string, (random: Random) => readonly string[]>> = {
  works: () => [],
  'fails to sync and to cut files now and then': random => [
    `fdatasync:error=EIO:when=${3 + random.number(20)}+${2 + random.number(9)}`,
    `ftruncate:error=EIO:when=${3 + random.number(9)}+${1 + random.number(3)}`,
  ],
}

describe.skipIf(straceMissing())('a disk that', () => {
  test.each(Object.entries(FAULTS))('%s', { timeout: 60_000 * (1 + ROUNDS) }, async (name, faults) => {
    for (let round = 0; round < ROUNDS; round++) {
      const seed = SEED + round
      const random = createRandom(seed)
      const folder = join(base, `${name.replaceAll(' ', '-')}-${round}`)
      const [data, trial] = [join(folder, 'data'), join(folder, 'trial')]
      mkdirSync(folder)
      const store = await openLmdbStore(data)
      await store.create('/first', Buffer.from('first 0-0-0-0'))
      await store.close()
      let state: State = onFiles(file => whole(readFileSync(join(data, file))))
      const reports = noReports()
      for (let process = 0; process < 2; process++) {
        put(data, state)
        const args = [CHILD, data, join(folder, 'report'), `${seed * 10 + process}`, `${WRITES}`]
        const lines = await traceRun(args, join(folder, 'trace'), faults(random))
        const { files, count } = filesAfter(lines, Number.POSITIVE_INFINITY, state, noReports(), random)
        // The calls that are traced are all that change the files.
        for (const file of FILES) expect(files[file].killed().seen.equals(readFileSync(join(data, file)))).toBe(true)
        let next: State | undefined
        for (let end = 0; end < ENDS; end++) {
          const found: Reports = { done: new Map(reports.done), refused: new Set(reports.refused) }
          const choice = random.fork()
          const ended = filesAfter(lines, choice.number(count + 1), state, found, choice)
          const isPowerCut = choice.chance(0.7)
          const left = onFiles(file => (isPowerCut ? ended.files[file].stopped(choice) : ended.files[file].killed()))
          rmSync(trial, { recursive: true, force: true })
          mkdirSync(trial)
          copyFileSync(join(data, 'FORMAT'), join(trial, 'FORMAT'))
          put(trial, left)
          try {
            await check(trial, found)
          } catch (error) {
            const message = error instanceof Error ? error.message : String(error)
            throw new Error(`HISTORY_SEED=${seed} process ${process} end ${end}: ${message}`, { cause: error })
          }
          if (end < ENDS - 1) continue
          next = left
          reports.done.clear()
          for (const [revision, what] of found.done) reports.done.set(revision, what)
          for (const id of found.refused) reports.refused.add(id)
        }
        state = next!
      }
      rmSync(folder, { recursive: true })
    }
  })
})
