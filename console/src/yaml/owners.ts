// Who owns which field: managedFields as owners of the lines of a YAML text.

import { isObject, type Value } from '../../../src/meta/values/value.js'
import type { FieldsV1, ManagedFieldsEntry } from '../api/resource.js'
import { resolveFieldPart } from './field-path.js'
import { lastLineOf, lineOf, nodeAt, type Path, type PathPart, type YamlDocument } from './yaml-document.js'

export interface Manager {
  readonly name: string
  readonly operation: string
  readonly subresource: string
  readonly time: string | undefined
  /** Chooses its colour: managers in order of their names. */
  readonly index: number
}

export interface OwnedField {
  readonly path: Path
  readonly managers: readonly Manager[]
  /** The value is owned as a whole, with all that is in it: an atomic list for instance. */
  readonly isWhole: boolean
}

export function readManagers(entries: readonly ManagedFieldsEntry[]): readonly Manager[] {
  const names = [...new Set(entries.map(({ manager = '' }) => manager))].toSorted()
  return entries.map(({ manager = '', operation = '', subresource = '', time }) => ({
    name: manager,
    operation,
    subresource,
    time,
    index: names.indexOf(manager),
  }))
}

/** The fields of the value that managers own: leaves, and lists and maps that are owned as a whole. */
export function ownedFields(entries: readonly ManagedFieldsEntry[], value: Value | undefined): readonly OwnedField[] {
  const managers = readManagers(entries)
  const found = new Map<string, { path: Path; managers: Manager[]; isWhole: boolean }>()
  for (const [index, { fieldsV1 = {} }] of entries.entries()) {
    collect(fieldsV1, value, [], (path, isWhole) => {
      const key = JSON.stringify(path)
      const field = found.get(key) ?? { path, managers: [], isWhole }
      found.set(key, field)
      field.managers.push(managers[index]!)
    })
  }
  return [...found.values()]
}

function collect(
  fields: FieldsV1,
  value: Value | undefined,
  path: readonly PathPart[],
  add: (path: Path, isWhole: boolean) => void,
): void {
  for (const [part, children] of Object.entries(fields)) {
    // `.` says that the map or list itself is owned; its line is the one of its key.
    if (part === '.') {
      if (path.length > 0) add(path, false)
      continue
    }
    const key = resolveFieldPart(part, value)
    if (key === undefined) continue
    const child = typeof key === 'number' ? (value as Value[])[key] : isObject(value) ? value[key] : undefined
    if (Object.keys(children).length === 0) add([...path, key], true)
    else collect(children, child, [...path, key], add)
  }
}

/** The managers of each line, from 0. */
export function ownersByLine(
  document: YamlDocument,
  fields: readonly OwnedField[],
): ReadonlyMap<number, readonly Manager[]> {
  const lines = new Map<number, readonly Manager[]>()
  for (const { path, managers, isWhole } of fields) {
    const node = nodeAt(document, path)
    const first = lineOf(document, path)
    const last = isWhole && node !== undefined ? lastLineOf(node) : first
    for (let line = first; line <= last; line++) lines.set(line, managers)
  }
  return lines
}
