// The answer of the server to one document as findings, each at the field that it is about.

import { nearest } from '../../base/nearest.js'
import type { VersionedKind } from '../../kinds/registry.js'
import type { Status } from '../../meta/errors/status.js'
import type { Type } from '../../types/type.js'
import { type Document, kindIn, metaIn } from '../documents.js'
import { type Finding, findingAt, findingAtLine } from '../findings.js'
import type { Answer } from '../offline-api.js'
import { describeField } from './describe-field.js'

export function findingsOf(document: Document, of: VersionedKind, { status, warnings }: Answer): readonly Finding[] {
  const object = nameOf(document)
  const refused = status === undefined ? [] : refusals(document, of, status)
  const warned = warnings.map(text => strictFinding(document, of, text, 'warning'))
  return [...refused, ...warned].map(finding => Object.assign(finding, { object }))
}

function nameOf(document: Document): string {
  const { namespace, name } = metaIn(document)
  const named = namespace === '' ? name : `${namespace}/${name}`
  return named === '' ? kindIn(document) : `${kindIn(document)} ${named}`
}

function refusals(document: Document, of: VersionedKind, status: Status): readonly Finding[] {
  const { message = '', reason = 'Unknown', details } = status
  const causes = details?.causes ?? []
  if (reason === 'Invalid' && causes.length > 0) {
    return causes.map(({ field = '', message: why = '', reason: rule = reason }) => {
      const path = field === '<nil>' ? '' : field
      const hint = describeField(of.version.type, path, why)
      const text = path === '' ? why : `${path}: ${why}`
      return findingAt(document, path, { rule, severity: 'error', message: text, hint })
    })
  }
  const strict = /strict decoding error: ([\s\S]*)/.exec(message)?.[1]
  if (strict !== undefined) return strictParts(strict).map(text => strictFinding(document, of, text, 'error'))
  return [findingAt(document, fieldNamedIn(message), { rule: reason, severity: 'error', message })]
}

/** The parts of a strict decoding error: a list with commas, under a heading for duplicates of YAML. */
const strictParts = (text: string): readonly string[] =>
  text
    .replace(/yaml: unmarshal errors:\n/, '')
    .split(/, (?=unknown field "|duplicate field "|line \d+: )|\n\s*/)
    .map(part => part.trim().replace(/,$/, ''))
    .filter(Boolean)

function strictFinding(document: Document, of: VersionedKind, text: string, severity: Finding['severity']): Finding {
  const [, unknown] = /^unknown field "(.*)"$/s.exec(text) ?? []
  if (unknown !== undefined) {
    return findingAt(document, unknown, { rule: 'unknown-field', severity, message: text, hint: nearName(of, unknown) })
  }
  const [, line] = /^line (\d+): key .* already set in map$/s.exec(text) ?? []
  if (line !== undefined)
    return findingAtLine(document, Number(line), { rule: 'duplicate-field', severity, message: text })
  const [, duplicate] = /^duplicate field "(.*)"$/s.exec(text) ?? []
  if (duplicate !== undefined) {
    return findingAt(document, duplicate, { rule: 'duplicate-field', severity, message: text })
  }
  return findingAt(document, fieldNamedIn(text), { rule: 'warning', severity, message: text })
}

/** Messages often begin with the path of a field. */
const fieldNamedIn = (message: string): string =>
  /^((?:[\w-]+(?:\[[^\]]*\])*\.)*[\w-]+(?:\[[^\]]*\])*): /.exec(message)?.[1] ?? ''

function nearName({ version }: VersionedKind, field: string): string | undefined {
  const at = field.lastIndexOf('.')
  const parent = typeAt(version.type, at === -1 ? '' : field.slice(0, at))
  if (parent === undefined) return undefined
  const name = field.slice(at + 1)
  const near = nearest(name, parent.fields.keys())
  return near === undefined ? undefined : `did you mean ${JSON.stringify(near)}?`
}

/** The type of a field; undefined if the path leads nowhere. */
export function typeAt(root: Type, path: string): Type | undefined {
  let type: Type | undefined = root
  for (const [, name, index] of path.matchAll(/([^.[\]]+)|\[([^\]]*)\]/g)) {
    if (type === undefined) return undefined
    if (name !== undefined) type = type.fields.get(name)?.type ?? type.additional ?? type.element
    else if (index !== undefined) type = type.element ?? type.fields.get(index)?.type ?? type.additional
  }
  return type
}
