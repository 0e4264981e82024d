// Writes to a store until it is killed, and reports what it was told: `ack` for each answer, `event` for each event.
// Reports go to a file by synchronous writes, which a killed process has made or has not made.
import { openSync, writeSync } from 'node:fs'
import { openLmdbStore } from '../../dist/storage/lmdb/lmdb-store.js'

const [folder, reportFile, round] = process.argv.slice(2)
const report = openSync(reportFile, 'w')
const say = (...words) => writeSync(report, `${words.join(' ')}\n`)

const WRITERS = 32
const KEYS = 150
const HISTORY = 400

const random = generator(Number(round))
const store = await openLmdbStore(folder)
const start = await store.revision()
say('open', start)
store.watch('/', start, {
  event: ({ revision, key, value }) => void say('event', revision, key, value ? idOf(value) : '-'),
  end: error => say('end', error.code),
})
await Promise.all([...Array.from({ length: WRITERS }, write), compact()])

async function write(_, writer) {
  for (let count = 0; ; count++) {
    const key = `/things/${Math.floor(random() * KEYS)}`
    const there = await store.get(key)
    const id = `${round}-${writer}-${count}-${random() < 0.02 ? 100_000 : Math.floor(random() * 3000)}`
    const remove = there && random() < 0.3
    const result = remove
      ? await store.delete(key, there.revision)
      : there
        ? await store.update(key, valueOf(id), there.revision)
        : await store.create(key, valueOf(id))
    if (result.done) say('ack', result.revision, key, remove ? '-' : id)
  }
}

async function compact() {
  for (;;) {
    await new Promise(resolve => setTimeout(resolve, 20))
    await store.compact(Math.max(0, (await store.revision()) - HISTORY))
  }
}

/** An id ends with the length of the filling that follows it. */
function valueOf(id) {
  return Buffer.from(`${id} ${'x'.repeat(Number(id.split('-').at(-1)))}`)
}

function idOf(value) {
  return value.toString('latin1', 0, value.indexOf(' '))
}

/** mulberry32: random numbers that a seed repeats. */
function generator(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
