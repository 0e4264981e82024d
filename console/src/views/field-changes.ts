// What differs between two objects, field by field.

export interface FieldChange {
  readonly field: string
  readonly before: unknown
  readonly after: unknown
}

/** Fields that every write changes, which say nothing. */
const HIDDEN = new Set(['metadata.managedFields', 'metadata.resourceVersion', 'metadata.generation'])
const MAX_CHANGES = 200

/** `before` and `after` are values of JSON; undefined is one that is not there. */
export function changesBetween(before: unknown, after: unknown): readonly FieldChange[] {
  const found: FieldChange[] = []
  const visit = (a: unknown, b: unknown, at: string): void => {
    if (HIDDEN.has(at) || found.length >= MAX_CHANGES || a === b) return
    if (isRecord(a) && isRecord(b)) {
      for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) visit(a[key], b[key], join(at, key))
    } else if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
      for (const [i, item] of a.entries()) visit(item, b[i], `${at}[${i}]`)
    } else if (JSON.stringify(a) !== JSON.stringify(b)) found.push({ field: at, before: a, after: b })
  }
  visit(before, after, '')
  return found
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A key with a dot stands in brackets, so that the path has one reading. */
const join = (at: string, key: string): string =>
  /[.[\]/]/.test(key) ? `${at}[${JSON.stringify(key)}]` : at === '' ? key : `${at}.${key}`
