// Bounds the memory that the schemas of definitions take: of ten thousand definitions few are used. Those that came last stay
// as they are, up to a number of bytes; the ones before them are compressed, on Node's threads, one after the other.

import type { StoredSchema } from './stored-definition.js'

export interface SchemaMemory {
  /** The schemas of the definition of that name, in place of those before. */
  keep(name: string, schemas: readonly StoredSchema[]): void
  forget(name: string): void
}

const MAX_PLAIN_BYTES = 64 * 1024 * 1024

export function createSchemaMemory(maxPlainBytes = MAX_PLAIN_BYTES): SchemaMemory {
  /** Those that are not compressed, the oldest first. */
  const plain = new Map<string, readonly StoredSchema[]>()
  let bytes = 0
  let isCompressing = false

  function forget(name: string): void {
    for (const { size } of plain.get(name) ?? []) bytes -= size
    plain.delete(name)
  }

  async function compressOldest(): Promise<void> {
    isCompressing = true
    for (const [name, schemas] of plain) {
      if (bytes <= maxPlainBytes) break
      forget(name)
      // What cannot be compressed stays as it is.
      for (const schema of schemas) await schema.compress().catch(() => {})
    }
    isCompressing = false
  }

  return {
    keep(name, schemas) {
      forget(name)
      plain.set(name, schemas)
      for (const { size } of schemas) bytes += size
      if (bytes > maxPlainBytes && !isCompressing) void compressOldest()
    },
    forget,
  }
}
