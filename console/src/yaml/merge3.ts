// A three-way merge of values: what one side changed is taken; what both changed differently is a conflict to decide.
import { equalValues, isObject, type Value } from '../../../src/meta/values/value.js'
import { type Path, withValue } from './yaml-document.js'

export interface MergeConflict {
  readonly path: Path
  readonly base: Value | undefined
  readonly mine: Value | undefined
  readonly theirs: Value | undefined
}

export interface Merged {
  /** With `theirs` where there is a conflict. */
  readonly value: Value
  readonly conflicts: readonly MergeConflict[]
  /** Fields that only the other side changed. */
  readonly taken: readonly Path[]
}

/** Fields that every write changes. */
const IGNORED = new Set(['resourceVersion', 'managedFields', 'generation'])

export function merge3(base: Value, mine: Value, theirs: Value): Merged {
  const conflicts: MergeConflict[] = []
  const taken: Path[] = []
  const merge = (b: Value | undefined, m: Value | undefined, t: Value | undefined, path: Path): Value | undefined => {
    if (equalValues(m, t)) return t
    if (path.length === 2 && path[0] === 'metadata' && IGNORED.has(String(path[1]))) return t
    if (equalValues(b, t)) return m
    const before = isObject(b) ? b : undefined
    if (isObject(m) && isObject(t) && (before !== undefined || !equalValues(b, m))) {
      const result = new Map<string, Value>()
      for (const name of new Set([...Object.keys(t), ...Object.keys(m)])) {
        const merged = merge(own(before ?? {}, name), own(m, name), own(t, name), [...path, name])
        if (merged !== undefined) result.set(name, merged)
      }
      return Object.fromEntries(result)
    }
    if (equalValues(b, m)) {
      taken.push(path)
      return t
    }
    conflicts.push({ path, base: b, mine: m, theirs: t })
    return t
  }
  return { value: merge(base, mine, theirs, []) ?? null, conflicts, taken }
}

/** The merged value with the conflicts of these indices decided for `mine`. */
export function decide({ value, conflicts }: Merged, mine: ReadonlySet<number>): Value {
  return conflicts.reduce(
    (result, conflict, index) => (mine.has(index) ? withValue(result, conflict.path, conflict.mine) : result),
    value,
  )
}

const own = (object: Record<string, Value>, name: string): Value | undefined =>
  Object.hasOwn(object, name) ? object[name] : undefined
