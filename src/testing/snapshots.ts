// Snapshots of the objects of a test server, in memory and in files: a line of JSON for each entry, compressed.
import { readFile, writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { UsageError } from '../base/usage-error.js'
import { createMemoryStore, type MemorySnapshot } from '../storage/memory-store.js'

export type Snapshot = MemorySnapshot

const HEAD = 'binnacle-snapshot-1'
/** A small file can become a very large text. */
const MAX_SIZE = 512 * 1024 * 1024
/** Sorts after every key. */
const END = '\u{10ffff}'

export async function writeSnapshot(file: string, { revision, entries }: Snapshot): Promise<void> {
  const lines = [JSON.stringify([HEAD, revision])]
  for (const key of entries.keys('', END)) {
    const { value, revision: at } = entries.get(key)!
    lines.push(JSON.stringify([key, at, value.toString('base64')]))
  }
  await writeFile(file, await promisify(gzip)(lines.join('\n')), { mode: 0o600 })
}

export async function readSnapshot(file: string): Promise<Snapshot> {
  const [head, ...lines] = await readLines(file)
  const [format, revision] = Array.isArray(head) ? (head as unknown[]) : []
  if (format !== HEAD || !isRevision(revision)) throw notSnapshot(file)
  const { entries } = createMemoryStore().snapshot()
  for (const line of lines) {
    const [key, at, value] = Array.isArray(line) ? (line as unknown[]) : []
    if (typeof key !== 'string' || !isRevision(at) || at > revision || typeof value !== 'string') {
      throw notSnapshot(file)
    }
    entries.set(key, { key, revision: at, value: Buffer.from(value, 'base64') })
  }
  return { revision, entries }
}

const isRevision = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

async function readLines(file: string): Promise<unknown[]> {
  const bytes = await readFile(file)
  try {
    const text = (await promisify(gunzip)(bytes, { maxOutputLength: MAX_SIZE })).toString()
    return text.split('\n').map(line => JSON.parse(line) as unknown)
  } catch {
    throw notSnapshot(file)
  }
}

const notSnapshot = (file: string): UsageError =>
  new UsageError(`${file} is not a snapshot: write one with server.saveSnapshot(file)`)
