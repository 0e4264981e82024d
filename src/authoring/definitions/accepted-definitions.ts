// Definitions that the server would accept, with what it would answer to the others.

import { specOf } from '../../crd/definition.js'
import type { ApiObject } from '../../meta/object/api-object.js'
import { apiVersionIn, type Document, isDefinition, kindIn } from '../documents.js'
import { type Finding, findingAt } from '../findings.js'
import { createOfflineApi, type OfflineApi } from '../offline-api.js'
import { findingsOf } from '../validation/answer-findings.js'

export interface AcceptedDefinition {
  readonly document: Document
  /** In v1, with defaults and the status that the server would give it. */
  readonly definition: ApiObject
}

export interface AcceptedDefinitions {
  readonly accepted: readonly AcceptedDefinition[]
  /** Why the others are refused. */
  readonly findings: readonly Finding[]
  /** It serves the kinds of the accepted definitions. */
  readonly api: OfflineApi
}

/** Documents of other kinds are not looked at. */
export async function acceptDefinitions(
  documents: readonly Document[],
  api: OfflineApi = createOfflineApi(),
): Promise<AcceptedDefinitions> {
  const accepted: AcceptedDefinition[] = []
  const findings: Finding[] = []
  for (const document of documents.filter(isDefinition)) {
    const of = api.find(apiVersionIn(document), kindIn(document))
    if (!of) {
      const message = `${apiVersionIn(document)} is not served: definitions are written in apiextensions.k8s.io/v1`
      findings.push(findingAt(document, 'apiVersion', { rule: 'unknown-kind', severity: 'error', message }))
      continue
    }
    const answer = await api.create(of, document)
    findings.push(...findingsOf(document, of, answer))
    if (!answer.prepared) continue
    const { definition = answer.prepared.stored } = api.keep(answer.prepared.stored)
    accepted.push({ document, definition })
  }
  return { accepted, findings, api }
}

/** `Widget.example.com`, as messages name it. */
export function nameOfKind(definition: ApiObject): string {
  const { group, names } = specOf(definition)
  return `${names.kind}.${group}`
}
