// Opens a store in a process of its own, says what came of it, and stays.
import { openLmdbStore } from '../../dist/storage/lmdb/lmdb-store.js'

try {
  const store = await openLmdbStore(process.argv[2])
  process.on('disconnect', () => void store.close())
  process.send('open')
} catch ({ name, code, message }) {
  process.send({ name, code, message }, () => process.disconnect())
}
