// Writes single entries and groups, also when the disk fails, and reports what became of each write: `done` with its revision, or
// `refused` if the store says that it was certainly not done. A report is one synchronous write, so that a trace has it in order.
import { openSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { openLmdbStore } from '../../../dist/storage/lmdb/lmdb-store.js'

const [directory, reportFile, seed, count] = process.argv.slice(2)
const reportFd = openSync(reportFile, 'w')
const report = (...words) => writeSync(reportFd, `${words.join(' ')}\n`)

const KEYS = 30
const HISTORY = 60
const MAX_GROUP = 8

const random = generator(Number(seed))
const below = limit => Math.floor(random() * limit)

const store = await openLmdbStore(directory)
report('opened')
for (let written = 0, i = 0; written < Number(count); i++) {
  const size = random() < 0.6 ? 1 : 1 + below(MAX_GROUP)
  await Promise.all(Array.from({ length: size }, (_, j) => write(`${seed}-${i}-${j}-${valueBytes()}`)))
  written += size
  if (random() < 0.08) await store.compact(Math.max(0, store.revisionNow() - HISTORY)).catch(() => {})
  if (random() < 0.02) await sleep(50)
}
if (random() < 0.5) await store.close()
process.exit(0)

async function write(id) {
  const key = `/things/${below(KEYS)}`
  try {
    const there = store.getNow(key)
    const isDelete = there !== undefined && random() < 0.3
    const result = isDelete
      ? await store.delete(key, there.revision)
      : there
        ? await store.update(key, valueOf(id), there.revision)
        : await store.create(key, valueOf(id))
    if (result.done) report('done', result.revision, key, isDelete ? '-' : id)
    else if (!isDelete) report('refused', id)
  } catch (error) {
    if (error.code !== 'outcome-unknown') report('refused', id)
    // The data file may be being opened again.
    await sleep(5)
  }
}

function valueBytes() {
  return random() < 0.05 ? 20_000 + below(20_000) : below(1500)
}

/** An id ends with the length of what follows it. */
function valueOf(id) {
  return Buffer.from(`${id} ${'x'.repeat(Number(id.split('-').at(-1)))}`)
}

/** Mulberry32. */
function generator(start) {
  let state = start >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
