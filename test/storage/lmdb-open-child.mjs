// Opens a store in a separate process, reports the result, and keeps running.
import { openLmdbStore } from '../../dist/storage/lmdb/lmdb-store.js'

try {
  const store = await openLmdbStore(process.argv[2])
  process.on('disconnect', () => void store.close())
  process.send('open')
} catch ({ name, code, message }) {
  process.send({ name, code, message }, () => process.disconnect())
}
