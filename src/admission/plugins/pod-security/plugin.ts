// The admission plugin for pod security: finds the namespace, and asks what its labels mean.

import { groupKindOf, resourceOf } from '../../../kinds/kind-names.js'
import { type FieldError, printFieldError } from '../../../meta/errors/field-errors.js'
import { forbidden, invalid } from '../../../meta/errors/status.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import type { Labels } from '../../../meta/selectors/label-selectors.js'
import type { Lister } from '../../../objects/lister.js'
import { type AdmissionRequest } from '../../attributes.js'
import type { AdmissionPlugin } from '../../chain.js'
import {
  existingViolations,
  hasTemplates,
  judgePod,
  judgeTemplate,
  mattersForSecurity,
  podLike,
  templateOf,
  tightened,
  type Verdict,
} from './evaluate.js'
import { policyOf } from './policy.js'

/** The parts of a pod that leave what it runs alone. */
const HARMLESS_PARTS = new Set(['binding', 'eviction', 'status'])

export function podSecurity(objects: Lister): AdmissionPlugin {
  const labelsIn = async (namespace: string): Promise<Labels> => {
    const found = await objects.find({ group: '', kind: 'Namespace' }, '', namespace)
    return found ? labelsOf(found) : {}
  }

  async function verdictOn(request: AdmissionRequest, object: ApiObject): Promise<Verdict | undefined> {
    const { target, old } = request
    const resource = `${target.kind.group}/${target.kind.names.plural}`
    if (resource === '/pods') {
      if (HARMLESS_PARTS.has(target.subresource) || (old && !mattersForSecurity(object, old))) return undefined
      return judgePod(await labelsIn(target.namespace), podLike(object))
    }
    if (target.subresource !== '' || !hasTemplates(resource)) return undefined
    const template = templateOf(resource, object)
    return template && judgeTemplate(await labelsIn(target.namespace), template)
  }

  async function checkNamespace({ target, old }: AdmissionRequest, object: ApiObject): Promise<readonly string[]> {
    const name = metaOf(object).name ?? ''
    const labels = labelsOf(object)
    const { errors } = policyOf(labels)
    // What was wrong before may stay.
    if (errors.length > 0 && printAll(errors) !== printAll(old ? policyOf(labelsOf(old)).errors : [])) {
      throw invalid(groupKindOf(target.kind), name, errors)
    }
    const level = old && tightened(labels, labelsOf(old))
    return level ? existingViolations(name, await objects.all({ group: '', kind: 'Pod' }, name), level) : []
  }

  return {
    name: 'PodSecurity',
    async validate(request, warnings) {
      const { target, object } = request
      if (!object) return
      if (target.kind.group === '' && target.kind.names.kind === 'Namespace') {
        if (target.subresource === '') warnings.push(...(await checkNamespace(request, object)))
        return
      }
      const verdict = await verdictOn(request, object)
      if (verdict?.refusal !== undefined) {
        throw forbidden(resourceOf(target.kind), target.name || (metaOf(object).name ?? ''), verdict.refusal)
      }
      warnings.push(...(verdict?.warnings ?? []))
    },
  }
}

const labelsOf = (object: ApiObject): Labels => metaOf(object).labels ?? {}

const printAll = (errors: readonly FieldError[]): string => errors.map(printFieldError).join('\n')
