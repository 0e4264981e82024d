// Begins to read a data file, as a snapshot does, and never ends.
import { openTables, readState } from '../../dist/storage/lmdb/layout.js'

const tables = openTables(process.argv[2], { readOnly: true })
readState(tables, { transaction: tables.root.useReadTransaction() })
process.on('disconnect', () => process.exit())
process.send('reading')
