// Fields that an applier changes and other managers own.

import { applyConflict, type StatusError } from '../../meta/errors/status.js'
import { compareTexts, quote } from '../../meta/go/go-text.js'
import { type FieldPath, printPath } from '../paths/field-path.js'
import { difference, type FieldSet, pathsOf } from '../paths/field-set.js'
import { idOf, type ManagerName } from './managed-fields.js'

/** Becomes a Status unless the conflicts are resolved. */
export class Conflicts extends Error {
  constructor(readonly conflicts: readonly Conflict[]) {
    super('conflicts')
  }
}

export interface Conflict {
  readonly manager: ManagerName
  readonly fields: FieldSet
}

export function conflictStatus(conflicts: readonly Conflict[]): StatusError {
  const sorted = conflicts.toSorted((a, b) => compareTexts(idOf(a.manager), idOf(b.manager)))
  const found = sorted.map(({ manager, fields }) => ({ manager: printManager(manager), paths: [...pathsOf(fields)] }))
  const causes = found.flatMap(({ manager, paths }) =>
    paths.map(path => ({
      reason: 'FieldManagerConflict',
      message: `conflict with ${manager}`,
      field: printPath(path),
    })),
  )
  return applyConflict(conflictMessage(found, causes.length), causes)
}

function conflictMessage(found: readonly { manager: string; paths: FieldPath[] }[], count: number): string {
  if (count === 1) {
    const { manager, paths } = found[0]!
    return `Apply failed with 1 conflict: conflict with ${manager}: ${printPath(paths[0]!)}`
  }
  const lines = found.flatMap(({ manager, paths }) => [
    `conflicts with ${manager}:`,
    ...paths.map(path => `- ${printPath(path)}`),
  ])
  return `Apply failed with ${count} conflicts: ${lines.join('\n')}`
}

function printManager({ manager, operation, apiVersion, subresource }: ManagerName): string {
  const through = subresource === '' ? '' : ` with subresource ${quote(subresource)}`
  return `${quote(manager)}${through}${operation === 'Update' ? ` using ${apiVersion}` : ''}`
}

/** The conflicts without those over fields that may be changed in any case. */
export function conflictsBeyond(conflicts: readonly Conflict[], allowed: FieldSet): Conflict[] {
  return conflicts.flatMap(({ manager, fields }) => {
    const rest = difference(fields, allowed)
    return rest.size === 0 ? [] : [{ manager, fields: rest }]
  })
}
