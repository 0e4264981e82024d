// Writes to a store until it is killed, and reports `ack` for each acknowledged write and `event` for each event.
// Reports are synchronous writes to a file, so a killed process has made each of them completely or not at all.
import { openSync, writeSync } from 'node:fs'
import { openLmdbStore } from '../../dist/storage/lmdb/lmdb-store.js'

const [directory, reportFile, round] = process.argv.slice(2)
const reportFd = openSync(reportFile, 'w')
const report = (...words) => writeSync(reportFd, `${words.join(' ')}\n`)

const WRITERS = 32
const KEYS = 150
const HISTORY = 400

const random = generator(Number(round))
const store = await openLmdbStore(directory)
const start = await store.revision()
report('open', start)
store.watch('/', start, {
  event: ({ revision, key, value }) => void report('event', revision, key, value ? idOf(value) : '-'),
  end: error => report('end', error.code),
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
    if (result.done) report('ack', result.revision, key, remove ? '-' : id)
  }
}

async function compact() {
  for (;;) {
    await new Promise(resolve => setTimeout(resolve, 20))
    await store.compact(Math.max(0, (await store.revision()) - HISTORY))
  }
}

/** An id ends with the length of the padding after it. */
function valueOf(id) {
  return Buffer.from(`${id} ${'x'.repeat(Number(id.split('-').at(-1)))}`)
}

function idOf(value) {
  return value.toString('latin1', 0, value.indexOf(' '))
}

/** mulberry32: reproducible random numbers. */
function generator(seed) {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), state | 1)
    bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61)
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32
  }
}
