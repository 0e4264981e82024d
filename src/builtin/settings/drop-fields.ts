// Drops fields by their paths, see gated-fields.ts for how they are written.
import { getOwn, isObject, type Value, type ValueObject } from '../../meta/values/value.js'

/** Drops, in place, the fields at the paths, unless the old object has a value at one of them. */
export type DropFields = (object: ValueObject, old: ValueObject | undefined) => void

export function dropFieldsAt(paths: readonly string[]): DropFields {
  const parsed = paths.flatMap(inEveryContainer).map(parsePath)
  return (object, old) => {
    if (old === undefined || !parsed.some(path => isSetAt(old, path, 0)))
      for (const path of parsed) dropAt(object, path, 0)
  }
}

const CONTAINERS = ['containers', 'initContainers', 'ephemeralContainers']

const inEveryContainer = (path: string): string[] =>
  path.includes('*') ? CONTAINERS.map(list => path.replace('*', list)) : [path]

interface Step {
  readonly name: string
  /** Whether the step leads to each item of a list or member of a map. */
  readonly isEach: boolean
  readonly isDroppedEmpty: boolean
}

const parsePath = (path: string): Step[] =>
  path.split('.').map(part => ({
    name: part.replace(/[[\]{}?]/g, ''),
    isEach: /[[{]/.test(part),
    isDroppedEmpty: part.endsWith('?'),
  }))

function membersAt(object: ValueObject, { name, isEach }: Step): readonly Value[] {
  const value = getOwn(object, name)
  if (value === undefined) return []
  if (!isEach) return [value]
  return Array.isArray(value) ? value : isObject(value) ? Object.values(value) : []
}

function dropAt(object: ValueObject, path: readonly Step[], at: number): void {
  const step = path[at]!
  if (at === path.length - 1) {
    delete object[step.name]
    return
  }
  for (const member of membersAt(object, step)) {
    if (!isObject(member)) continue
    const before = Object.keys(member).length
    dropAt(member, path, at + 1)
    if (step.isDroppedEmpty && before > 0 && Object.keys(member).length === 0) delete object[step.name]
  }
}

function isSetAt(object: ValueObject, path: readonly Step[], at: number): boolean {
  if (at === path.length - 1) return (getOwn(object, path[at]!.name) ?? null) !== null
  return membersAt(object, path[at]!).some(member => isObject(member) && isSetAt(member, path, at + 1))
}
