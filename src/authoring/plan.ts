// `binnacle crd plan`: what a change of a definition means, and what it does to the objects that are stored.

import { setImmediate } from 'node:timers/promises'
import { encodeJson } from '../codec/json.js'
import { versionsOf } from '../crd/definition.js'
import { type ApiObject } from '../meta/object/api-object.js'
import { metaOf } from '../meta/object/object-meta.js'
import { stringAt } from '../meta/values/access.js'
import { copyValue, type ValueObject } from '../meta/values/value.js'
import { definitionInUse, nameOfKind } from './definitions.js'
import { apiVersionIn, type Document, isDefinition, kindIn, metaIn } from './documents.js'
import { type Finding, findingAt } from './findings.js'
import { createOfflineApi, type OfflineApi } from './offline-api.js'
import type { Impact } from './plan/change.js'
import { compareDefinitions } from './plan/compare-definitions.js'
import { findingsOf } from './validation/answer-findings.js'

export interface PlanInput {
  readonly documents: readonly Document[]
  /** The definition as it is, by its name; undefined if there is none. */
  oldOf(name: string): Promise<ValueObject | undefined>
  /** The objects that are stored, if a server can be asked. */
  objectsOf?(definition: ApiObject, version: string): Promise<readonly ValueObject[]>
}

export interface Planned {
  readonly findings: readonly Finding[]
  readonly definitions: number
  /** How many objects were looked at. */
  readonly objects: number
}

const RULES: Readonly<Record<Impact, string>> = {
  compatible: 'compatible',
  writers: 'breaks-writers',
  readers: 'breaks-readers',
  stored: 'breaks-stored',
}

/** Stored objects that are checked without a break. */
const TURN = 20

export async function planChanges({ documents, oldOf, objectsOf }: PlanInput): Promise<Planned> {
  const findings: Finding[] = []
  let objects = 0
  const definitions = documents.filter(isDefinition)
  for (const document of definitions) {
    const api = createOfflineApi()
    const of = api.find(apiVersionIn(document), kindIn(document))
    const written = await oldOf(metaIn(document).name)
    if (!of) continue
    if (written === undefined) {
      const answer = await api.create(of, document)
      findings.push(...findingsOf(document, of, answer))
      const message = 'the definition is new'
      if (answer.prepared) findings.push(findingAt(document, '', { rule: 'compatible', severity: 'note', message }))
      continue
    }
    const old = await definitionInUse(api, written)
    // A server that plans serves others between the steps.
    await setImmediate()
    const answer = await api.update(of, document, old)
    // Ratcheting is part of the answer: errors that were there before are tolerated.
    findings.push(...findingsOf(document, of, answer))
    const next = answer.prepared?.stored
    if (next === undefined) continue
    const object = nameOfKind(next)
    await setImmediate()
    for (const { impact, at, message, why } of await compareDefinitions(old, next)) {
      const severity = impact === 'compatible' ? 'note' : 'error'
      findings.push(findingAt(document, at, { rule: RULES[impact], severity, message, hint: why, object }))
    }
    if (objectsOf === undefined) continue
    api.keep(next)
    const version = versionsOf(next).find(({ served }) => served)?.name ?? ''
    const serving =
      versionsOf(old).find(each => each.served && each.name === version) ?? versionsOf(old).find(({ served }) => served)
    const live = await objectsOf(old, serving?.name ?? version)
    objects += live.length
    for (const [i, each] of live.entries()) {
      if (i % TURN === 0) await setImmediate()
      findings.push(...(await checkStored(api, document, each)))
    }
  }
  return { findings, definitions: definitions.length, objects }
}

/** What becomes of one stored object: fields that are dropped, and values that would be refused. */
async function checkStored(api: OfflineApi, document: Document, value: ValueObject): Promise<readonly Finding[]> {
  const apiVersion = stringAt(value, 'apiVersion')
  const kind = stringAt(value, 'kind')
  const of = api.find(apiVersion, kind)
  const { namespace = '', name = '' } = metaOf(value)
  const object = `${kind} ${namespace === '' ? name : `${namespace}/${name}`}`
  if (!of) {
    const message = `it is stored, and ${apiVersion} is not served any more`
    return [findingAt(document, 'spec.versions', { rule: 'stored-object', severity: 'error', message, object })]
  }
  const { strict } = of.version.strategy.decode(copyValue(value), [])
  const dropped = strict.map(text => /^unknown field "(.*)"$/s.exec(text)?.[1]).filter(field => field !== undefined)
  const findings = dropped.map(field =>
    findingAt(document, '', { rule: 'stored-object', severity: 'error', message: `${field} is dropped`, object }),
  )
  const { resourceVersion: _, uid: __, managedFields: ___, creationTimestamp: ____, ...meta } = metaOf(value)
  const body = {
    bytes: Buffer.from(encodeJson({ ...value, metadata: meta as ValueObject })),
    mediaType: 'application/json',
  }
  const { status } = await api.create(of, body)
  for (const { field = '', message = '' } of status?.details?.causes ?? []) {
    if (field === '<nil>') continue
    const hint = 'it stays as it is until that part of it changes'
    findings.push(
      findingAt(document, '', {
        rule: 'stored-object',
        severity: 'warning',
        message: `${field}: ${message}`,
        hint,
        object,
      }),
    )
  }
  return findings
}
