// PodSecurity: pods must satisfy the level of the Pod Security Standards that the labels of their namespace enforce.
// Pods and pod templates that violate the `warn` level, and namespaces whose pods violate a new level, give warnings.

import { type FieldError, printFieldError } from '../../../meta/errors/field-errors.js'
import { invalid } from '../../../meta/errors/status.js'
import { printGroupResource } from '../../../meta/group-version.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import type { Labels } from '../../../meta/selectors/label-selectors.js'
import type { Lister } from '../../../objects/lister.js'
import { type Attributes, forbiddenBy } from '../../attributes.js'
import type { AdmissionPlugin } from '../../chain.js'
import {
  changesSecurity,
  evaluatePod,
  evaluateTemplate,
  existingViolations,
  podLike,
  TEMPLATE_RESOURCES,
  templateOf,
  tightenedLevel,
} from './evaluate.js'
import { policyOf } from './policy.js'

const NAMESPACE = { group: '', kind: 'Namespace' }
const POD = { group: '', kind: 'Pod' }

/** Subresources of pods that do not change what a pod runs. */
const EXEMPT_SUBRESOURCES = new Set(['binding', 'eviction', 'status'])

export function podSecurity(objects: Lister): AdmissionPlugin {
  const labelsOfNamespace = async (namespace: string): Promise<Labels> => {
    const found = await objects.find(NAMESPACE, '', namespace)
    return found ? labelsOf(found) : {}
  }

  async function checkPod(attributes: Attributes, pod: ApiObject): Promise<void> {
    const { subresource, oldObject, namespace, request } = attributes
    if (EXEMPT_SUBRESOURCES.has(subresource) || (oldObject && !changesSecurity(pod, oldObject))) return
    const { refusal, warnings } = evaluatePod(await labelsOfNamespace(namespace), podLike(pod))
    if (refusal !== undefined) throw forbiddenBy(attributes, refusal)
    for (const warning of warnings) request.warn(warning)
  }

  async function checkTemplate({ resource, namespace, request }: Attributes, object: ApiObject): Promise<void> {
    const template = templateOf(printGroupResource(resource), object)
    if (!template) return
    for (const warning of evaluateTemplate(await labelsOfNamespace(namespace), template)) request.warn(warning)
  }

  async function checkNamespace({ name, oldObject, request }: Attributes, object: ApiObject): Promise<void> {
    const labels = labelsOf(object)
    const { errors } = policyOf(labels)
    // Labels that were invalid before may stay.
    if (errors.length > 0 && printAll(errors) !== printAll(oldObject ? policyOf(labelsOf(oldObject)).errors : [])) {
      throw invalid(NAMESPACE, name, errors)
    }
    const level = oldObject && tightenedLevel(labels, labelsOf(oldObject))
    if (!level) return
    for (const warning of existingViolations(name, await objects.all(POD, name), level)) request.warn(warning)
  }

  return {
    name: 'PodSecurity',
    operations: new Set(['CREATE', 'UPDATE']),
    resources: ['namespaces', 'pods/*', ...TEMPLATE_RESOURCES],
    validate(attributes) {
      const { object, resource } = attributes
      if (!object) return undefined
      if (resource.group === '' && resource.resource === 'namespaces') return checkNamespace(attributes, object)
      if (resource.group === '' && resource.resource === 'pods') return checkPod(attributes, object)
      return checkTemplate(attributes, object)
    },
  }
}

const labelsOf = (object: ApiObject): Labels => metaOf(object).labels ?? {}

const printAll = (errors: readonly FieldError[]): string => errors.map(printFieldError).join('\n')
