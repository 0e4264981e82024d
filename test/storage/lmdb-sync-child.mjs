// Writes one entry after the other, or so many at once, and prints the outcome of each at once, and what is stored in the end.
import { writeSync } from 'node:fs'
import { openLmdbStore } from '../../dist/storage/lmdb/lmdb-store.js'

const [directory, count, together = '1'] = process.argv.slice(2)
const store = await openLmdbStore(directory)
const seen = []
/** Synchronously, because the process may crash next. */
const print = value => writeSync(1, `${JSON.stringify(value)}\n`)
store.watch('/things/', 0, { event: ({ key }) => void seen.push(key), end() {} })
async function write(i) {
  const key = `/things/${String(i).padStart(3, '0')}`
  const code = await store.create(key, Buffer.alloc(100)).then(
    () => 'done',
    error => error.code,
  )
  print({ key, code })
}
/** Reads are refused for a moment while the data file is opened again. */
async function stored() {
  for (;;) {
    try {
      return (await store.range('/things/')).entries
    } catch (error) {
      if (error.code !== 'unavailable') throw error
      await new Promise(resolve => setImmediate(resolve))
    }
  }
}
for (let i = 0; i < Number(count); i += Number(together)) {
  await Promise.all(Array.from({ length: Number(together) }, (_, j) => write(i + j)))
}
const entries = await stored()
const health = await store.check().then(
  () => 'ok',
  error => error.code,
)
print({ seen, health, stored: entries.map(({ key }) => key) })
await store.close()
