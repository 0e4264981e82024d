// Opens a store, reads a little of it, and tells how long the opening took and how much memory is not the mapped file.
import { readFileSync } from 'node:fs'
import { openLmdbStore } from '../dist/storage/lmdb/lmdb-store.js'

const begin = process.hrtime.bigint()
const store = await openLmdbStore(process.argv[2])
const first = await store.range('/benchmarks/default/', { limit: 500 })
const seconds = Number(process.hrtime.bigint() - begin) / 1e9
for (let i = 0; i < 10_000; i++) await store.get(first.entries[i % 500].key)
await store.range('/benchmarks/default/', { limit: 10_000, startAfter: first.entries.at(-1).key })
const anonymousMb = Number(/RssAnon:\s+(\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024
console.log(JSON.stringify({ seconds, anonymousMb }))
await store.close()
