// `POST /console/api/plan`: what a change of a definition would break, before it is saved. `binnacle crd plan` finds the same.

import type { Document } from '../../authoring/documents.js'
import { planChanges } from '../../authoring/plan.js'
import { encodeJson } from '../../codec/json.js'
import { specOf } from '../../crd/definition.js'
import type { Registry } from '../../kinds/registry.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { objectAt, objectsAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { type Endpoint, withoutAbsent } from './endpoint.js'
import { definitionIn } from './input.js'

const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
/** Stored objects are looked at one by one. */
const MAX_OBJECTS = 1_000
const MAX_FINDINGS = 1_000
const PAGE = 250

export const createPlan =
  (registry: Registry): Endpoint =>
  async ({ body, api }) => {
    const value = definitionIn(body, registry)
    const { name = '' } = metaOf(value)
    const old = await api.get(`${DEFINITIONS}/${encodeURIComponent(name)}`)
    let isTruncated = false

    async function firstObjects(path: string): Promise<readonly ValueObject[]> {
      const items: ValueObject[] = []
      for (let next = ''; items.length < MAX_OBJECTS; ) {
        const token = next === '' ? '' : `&continue=${encodeURIComponent(next)}`
        const page = (await api.get(`${path}?limit=${PAGE}${token}`)) ?? {}
        items.push(...objectsAt(page, 'items'))
        next = stringAt(objectAt(page, 'metadata'), 'continue')
        if (next === '') return items
      }
      isTruncated = true
      return items
    }

    const { findings, objects } = await planChanges({
      documents: [documentOf(value)],
      oldOf: async () => old,
      objectsOf: (definition, version) =>
        firstObjects(`/apis/${specOf(definition).group}/${version}/${specOf(definition).names.plural}`),
    })
    return {
      exists: old !== undefined,
      objects,
      truncated: isTruncated || findings.length > MAX_FINDINGS,
      findings: findings
        .slice(0, MAX_FINDINGS)
        .map(({ rule, severity, message, hint, field, object }) =>
          withoutAbsent({ rule, severity, message, hint, object, field: field === '' ? undefined : field }),
        ),
    }
  }

const documentOf = (value: ValueObject): Document => ({
  file: 'definition',
  isNamed: true,
  firstLine: 0,
  bytes: Buffer.from(encodeJson(value)),
  mediaType: 'application/json',
  value,
})
