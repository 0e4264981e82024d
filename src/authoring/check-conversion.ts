// `binnacle crd convert --check`: whether every version is reached from every other, and what round trips lose.

import { CONVERSION_ANNOTATION, readDeclaredConversion } from '../convert/declared-conversion.js'
import { specOf, versionsOf } from '../crd/definition.js'
import type { Kind } from '../kinds/kind.js'
import { StatusError } from '../meta/errors/status.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { equalValues, isObject, type Value } from '../meta/values/value.js'
import { generateObjects } from './conversion/generate-objects.js'
import { convertObject } from './convert-object.js'
import { type AcceptedDefinition, nameOfKind, schemasOf } from './definitions.js'
import { type Finding, findingAt } from './findings.js'

const AT = `metadata.annotations[${CONVERSION_ANNOTATION}]`

/** How many objects of each version are converted there and back. */
const OBJECTS = 50

export async function checkConversion(
  { document, definition }: AcceptedDefinition,
  kind: Kind,
): Promise<readonly Finding[]> {
  const object = nameOfKind(definition)
  const find = (rule: string, severity: Finding['severity'], message: string, hint?: string): Finding =>
    findingAt(document, AT, { rule, severity, message, hint, object })
  const text = metaOf(definition).annotations?.[CONVERSION_ANNOTATION]
  if (text === undefined) {
    const hint = `describe it in the annotation ${CONVERSION_ANNOTATION}`
    return versionsOf(definition).length < 2
      ? []
      : [find('no-conversion', 'warning', 'no conversion is described', hint)]
  }
  const read = readDeclaredConversion(text)
  if (!read.ok) return [find('wrong-conversion', 'error', read.error)]
  const versions = versionsOf(definition).map(({ name }) => name)
  const findings: Finding[] = []
  for (const from of versions) {
    for (const to of versions) {
      if (from === to || read.value.path(from, to)) continue
      findings.push(
        find('no-way', 'error', `there is no conversion from ${from} to ${to}`, `describe {from: ${from}, to: ${to}}`),
      )
    }
  }
  if (findings.length > 0) return findings
  for (const { pair, lost, failure } of await roundTrips(definition, kind)) {
    if (failure !== undefined) findings.push(find('conversion-fails', 'error', `from ${pair} and back: ${failure}`))
    if (lost.length === 0) continue
    const message = `from ${pair} and back, these fields are lost or changed: ${lost.join(', ')}`
    findings.push(find('lossy', 'warning', message, 'keep them in an annotation, or describe both directions'))
  }
  return findings
}

interface RoundTrip {
  readonly pair: string
  /** The fields that differ after a conversion there and back. */
  readonly lost: readonly string[]
  /** Why an object could not be converted. */
  readonly failure: string | undefined
}

async function roundTrips(definition: ApiObject, kind: Kind): Promise<readonly RoundTrip[]> {
  const { group, names } = specOf(definition)
  const found: RoundTrip[] = []
  for (const { version, root } of schemasOf(definition)) {
    const apiVersion = `${group}/${version.name}`
    const objects = generateObjects(root.schema, { apiVersion, kind: names.kind }, OBJECTS)
    for (const { version: other } of schemasOf(definition)) {
      if (other.name === version.name) continue
      const lost = new Set<string>()
      let failure: string | undefined
      for (const original of objects) {
        try {
          const there = await convertObject(kind, original, `${group}/${other.name}`)
          const back = await convertObject(kind, there, apiVersion)
          for (const field of differences(original, back, '')) lost.add(field)
        } catch (error) {
          if (!(error instanceof StatusError)) throw error
          failure ??= error.message
        }
      }
      found.push({ pair: `${version.name} to ${other.name}`, lost: [...lost].toSorted(), failure })
    }
  }
  return found
}

function differences(a: Value | undefined, b: Value | undefined, at: string): readonly string[] {
  if (isObject(a) && isObject(b)) {
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap(name =>
      differences(a[name], b[name], at === '' ? name : `${at}.${name}`),
    )
  }
  // An object without members is the same as none: what was in it has been moved.
  if ((isObject(a) && b === undefined && Object.keys(a).length === 0) || equalValues(a, b)) return []
  return [at]
}
