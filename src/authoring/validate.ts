// What the server would answer to each document, as findings.

import { groupVersionKind } from '../meta/group-version.js'
import type { ApiObject } from '../meta/object/api-object.js'
import { definitionInUse } from './definitions.js'
import { apiVersionIn, type Document, isDefinition, kindIn, metaIn } from './documents.js'
import { type Finding, findingAt } from './findings.js'
import { type Answer, createOfflineApi, type OfflineApi, type WriteAs } from './offline-api.js'
import { findingsOf } from './validation/answer-findings.js'

export interface ValidateInput {
  readonly documents: readonly Document[]
  /** Definitions and policies that count, and are not looked at themselves. */
  readonly known?: readonly Document[] | undefined
  /** Objects as they were: documents of the same kind and name are updates of them. */
  readonly old?: readonly Document[] | undefined
  readonly options?: ValidateOptions | undefined
}

export interface ValidateOptions extends WriteAs {
  /** Documents of kinds without a definition are left out instead of being errors. */
  readonly ignoreUnknownKinds?: boolean | undefined
}

export interface Validated {
  readonly findings: readonly Finding[]
  /** By document: what the server would answer; those of unknown kinds have none. */
  readonly answers: ReadonlyMap<Document, Answer>
  readonly api: OfflineApi
}

export async function validateDocuments(input: ValidateInput): Promise<Validated> {
  const { documents, known = [], old = [], options = {} } = input
  const api = createOfflineApi()
  const findings: Finding[] = []
  const answers = new Map<Document, Answer>()
  const before = new Map(old.filter(each => !isDefinition(each)).map(each => [addressOf(each, options), each]))
  for (const document of inOrder(known)) await accept(api, document)
  const oldDefinitions = new Map(old.filter(isDefinition).map(each => [metaIn(each).name, each]))

  for (const document of inOrder(documents)) {
    const of = api.find(apiVersionIn(document), kindIn(document))
    if (!of) {
      if (!options.ignoreUnknownKinds) findings.push(unknownKind(api, document))
      continue
    }
    const replaced = isDefinition(document)
      ? oldDefinitions.get(metaIn(document).name)
      : before.get(addressOf(document, options))
    const answer =
      replaced === undefined
        ? await api.create(of, document, options)
        : await api.update(of, document, await oldObject(api, replaced, apiVersionIn(document)), options)
    answers.set(document, answer)
    findings.push(...findingsOf(document, of, answer))
    if (answer.prepared) findings.push(...namesRefused(document, api, answer.prepared.stored))
  }
  return { findings, answers, api }
}

/** Keeps what counts of an object, if the server would accept it. */
export async function accept(api: OfflineApi, document: Document): Promise<void> {
  const of = api.find(apiVersionIn(document), kindIn(document))
  const answer = of && (await api.create(of, document))
  if (answer?.prepared) api.keep(answer.prepared.stored)
}

async function oldObject(api: OfflineApi, document: Document, apiVersion: string): Promise<ApiObject> {
  const of = api.find(apiVersionIn(document), kindIn(document))
  if (!of) throw new Error(`the kind of ${document.file} is known`)
  const stored = isDefinition(document) ? await definitionInUse(api, document.value) : api.asStored(of, document.value)
  return of.kind.convert(stored, apiVersion)
}

/** What others depend on comes first: definitions, then namespaces and policies, then the rest. */
const inOrder = (documents: readonly Document[]): readonly Document[] =>
  documents.toSorted((a, b) => rankOf(a) - rankOf(b))

function rankOf(document: Document): number {
  if (isDefinition(document)) return 0
  const kind = kindIn(document)
  if (kind === 'Namespace' || kind === 'LimitRange') return 1
  return apiVersionIn(document).startsWith('admissionregistration.k8s.io/') ? 2 : 3
}

function addressOf(document: Document, { namespace: byDefault = 'default' }: WriteAs): string {
  const { group, kind } = groupVersionKind(apiVersionIn(document), kindIn(document))
  const { namespace, name } = metaIn(document)
  return [group, kind, namespace || byDefault, name].join('/')
}

function unknownKind(api: OfflineApi, document: Document): Finding {
  const apiVersion = apiVersionIn(document)
  const kind = kindIn(document)
  const { group } = groupVersionKind(apiVersion, kind)
  const known = api.registry.findKind(group, kind)
  const versions = known?.versions.filter(({ served }) => served).map(({ name }) => name) ?? []
  return findingAt(document, versions.length > 0 ? 'apiVersion' : 'kind', {
    rule: 'unknown-kind',
    severity: 'error',
    message: `no matches for kind "${kind}" in version "${apiVersion}"`,
    hint:
      versions.length > 0
        ? `${kind} is served in ${versions.map(version => (group === '' ? version : `${group}/${version}`)).join(', ')}`
        : 'give its definition with --crds, or leave such documents out with --ignore-unknown-kinds',
  })
}

/** A definition is accepted by the server though its names are taken, and then defines nothing. */
function namesRefused(document: Document, api: OfflineApi, stored: ApiObject): readonly Finding[] {
  const { definition, kind } = api.keep(stored)
  if (definition === undefined || kind !== undefined) return []
  const conditions = (definition['status'] as unknown as { conditions?: { type: string; message: string }[] })
    .conditions
  const message = conditions?.find(({ type }) => type === 'NamesAccepted')?.message ?? 'its names are not accepted'
  return [findingAt(document, 'spec.names', { rule: 'names-not-accepted', severity: 'error', message })]
}
