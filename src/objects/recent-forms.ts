// The JSON of values that were written or seen lately. etcd sends every write back as an event, with the value before it:
// without this, an object would be decoded three times for each write.

export interface RecentForms {
  /** The JSON of what is stored under the key, if it is known. */
  find(key: string, stored: Buffer): Buffer | undefined
  add(key: string, stored: Buffer, json: Buffer): void
}

interface Form {
  readonly stored: Buffer
  readonly json: Buffer
}

const MAX_BYTES = 8 * 1024 * 1024

export function createRecentForms(maxBytes = MAX_BYTES): RecentForms {
  /** The latest two forms of each key: an event has a value and the one before it. The key written longest ago is first. */
  const byKey = new Map<string, readonly Form[]>()
  let bytes = 0

  function drop(key: string): readonly Form[] {
    const forms = byKey.get(key) ?? []
    byKey.delete(key)
    bytes -= sizeOf(forms)
    return forms
  }

  return {
    find: (key, stored) => byKey.get(key)?.find(form => form.stored.equals(stored))?.json,
    add(key, stored, json) {
      const before = drop(key).filter(form => !form.stored.equals(stored))
      const forms = [...before.slice(-1), { stored, json }]
      byKey.set(key, forms)
      bytes += sizeOf(forms)
      for (const oldest of byKey.keys()) {
        if (bytes <= maxBytes) break
        drop(oldest)
      }
    },
  }
}

const sizeOf = (forms: readonly Form[]): number =>
  forms.reduce((sum, { stored, json }) => sum + stored.length + json.length, 0)
