// `binnacle snapshot save|restore`: the backup of the objects of a server, also while it runs.
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { UsageError } from '../../base/usage-error.js'
import { dataDirFlags } from '../background/data-dir.js'
import type { Command } from '../command.js'
import { parseArguments, printFlags } from '../flags/flags.js'
import { ownProgram } from '../own-program.js'

const HELP = `Usage: binnacle snapshot save <file> [flags]
       binnacle snapshot restore <file> [flags]

save writes all objects of a data folder to a file, as of one moment. The server may be running. The file has Secrets and
the key of service account tokens in it, and only its owner may read it.

restore creates the objects of a new data folder from the file. Objects keep their uids and resourceVersions; clients that
watch begin again. A folder that has objects already is refused.

Objects in etcd are saved with etcdctl snapshot save.

Flags:
${printFlags(dataDirFlags)}

Examples:
  binnacle snapshot save backup.mdb
  binnacle snapshot restore backup.mdb --data-dir=/var/lib/binnacle
`

export const SNAPSHOT: Command = { run: snapshot, help: () => HELP, words: ['save', 'restore'] }

async function snapshot(args: readonly string[]): Promise<void> {
  const { values, words } = parseArguments(args, dataDirFlags)
  const [action = '', file, ...more] = words
  if (action !== 'save' && action !== 'restore') {
    throw new UsageError('binnacle snapshot is followed by save or restore; --help shows more')
  }
  if (file === undefined || more.length > 0) throw new UsageError(`binnacle snapshot ${action} needs one file`)
  const directory = join(values['data-dir'], 'store')
  const { isHeldByOurId, restoreSnapshot, saveSnapshot } = await import('../../storage/snapshot.js')
  const isSave = action === 'save'
  if (isSave && isHeldByOurId(directory)) return runAsChild(['snapshot', ...args])
  const { revision, entries } = await (isSave ? saveSnapshot(directory, file) : restoreSnapshot(file, directory))
  const [verb, where] = isSave ? ['Saved', `to ${file}`] : ['Restored', `to ${directory}`]
  console.log(`${verb} ${entries} objects at revision ${revision} ${where}.`)
}

/** A child has another process id. */
async function runAsChild(args: readonly string[]): Promise<void> {
  const [program, ...first] = await ownProgram()
  const { status } = spawnSync(program, [...first, ...args], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}
