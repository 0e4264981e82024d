// PodSecurity: pods must satisfy the level of the Pod Security Standards that the labels of their namespace enforce.
// Pods and pod templates that violate the `warn` level, and namespaces whose pods violate a new level, give warnings.

import type { MetricsRegistry } from '../../../base/metrics.js'
import { type FieldError, printFieldError } from '../../../meta/errors/field-errors.js'
import { invalid } from '../../../meta/errors/status.js'
import { quote } from '../../../meta/go/go-text.js'
import { printGroupResource } from '../../../meta/group-version.js'
import { type ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import type { Labels } from '../../../meta/selectors/label-selectors.js'
import { objectAt, stringAt } from '../../../meta/values/access.js'
import type { Lister } from '../../../objects/lister.js'
import { type Attributes, forbiddenBy } from '../../attributes.js'
import type { AdmissionPlugin } from '../../chain.js'
import type { PodLike } from './check.js'
import type { PodSecurityConfiguration } from './configuration.js'
import {
  changesSecurity,
  type Evaluated,
  evaluatePod,
  evaluateTemplate,
  existingViolations,
  podLike,
  TEMPLATE_RESOURCES,
  templateOf,
  tightenedLevel,
} from './evaluate.js'
import { createPodSecurityMetrics } from './metrics.js'
import { hasMode, isEquivalent, isPrivileged, MODES, type Policy, policyOf, printLevelVersion } from './policy.js'

const NAMESPACE = { group: '', kind: 'Namespace' }
const POD = { group: '', kind: 'Pod' }

/** Subresources of pods that do not change what a pod runs. */
const EXEMPT_SUBRESOURCES = new Set(['binding', 'eviction', 'status'])

export interface PodSecurityEnv {
  readonly objects: Lister
  readonly metrics: MetricsRegistry
}

/** For the audit log. */
const annotate = ({ request }: Attributes, name: string, value: string): void =>
  request.annotate(`pod-security.kubernetes.io/${name}`, value)

export function podSecurity(
  { objects, metrics: registry }: PodSecurityEnv,
  { defaults, exemptions }: PodSecurityConfiguration,
): AdmissionPlugin {
  const metrics = createPodSecurityMetrics(registry)

  const policyOfNamespace = async (namespace: string): Promise<ReturnType<typeof policyOf>> => {
    const found = await objects.find(NAMESPACE, '', namespace)
    return policyOf(found ? labelsOf(found) : {}, defaults)
  }

  const noting =
    (attributes: Attributes): Evaluated =>
    (isAllowed, level, mode, violation) => {
      metrics.evaluated(isAllowed, level, mode, attributes)
      if (mode === 'enforce') annotate(attributes, 'enforce-policy', printLevelVersion(level))
      if (violation !== undefined) annotate(attributes, 'audit-violations', violation)
    }

  const isExempt = (attributes: Attributes): boolean => {
    const { namespace, request } = attributes
    const isOfNamespace = exemptions.namespaces.has(namespace)
    if (!isOfNamespace && !exemptions.usernames.has(request.user.name)) return false
    metrics.exempted(attributes)
    annotate(attributes, 'exempt', isOfNamespace ? 'namespace' : 'user')
    return true
  }

  /** By its runtime class. */
  const isExemptPod = (attributes: Attributes, { spec }: PodLike): boolean => {
    if (!exemptions.runtimeClasses.has(stringAt(spec, 'runtimeClassName'))) return false
    metrics.exempted(attributes)
    annotate(attributes, 'exempt', 'runtimeClass')
    return true
  }

  async function checkPod(attributes: Attributes, pod: ApiObject): Promise<void> {
    const { subresource, oldObject, namespace, request } = attributes
    if (EXEMPT_SUBRESOURCES.has(subresource) || isExempt(attributes)) return
    const { policy, errors } = await policyOfNamespace(namespace)
    const evaluated = noting(attributes)
    if (errors.length === 0 && isPrivileged(policy)) return evaluated(true, policy.enforce, 'enforce')
    if (oldObject && !changesSecurity(pod, oldObject)) return undefined
    if (isExemptPod(attributes, podLike(pod))) return undefined
    if (errors.length > 0) metrics.failed(attributes)
    const { refusal, warnings } = evaluatePod(policy, podLike(pod), evaluated)
    if (refusal !== undefined) throw forbiddenBy(attributes, refusal)
    for (const warning of warnings) request.warn(warning)
  }

  async function checkTemplate(attributes: Attributes, object: ApiObject): Promise<void> {
    const { resource, subresource, namespace, request } = attributes
    const template = subresource === '' ? templateOf(printGroupResource(resource), object) : undefined
    if (!template || isExempt(attributes)) return
    const { policy, errors } = await policyOfNamespace(namespace)
    if (isExemptPod(attributes, template)) return
    if (errors.length > 0) metrics.failed(attributes)
    const evaluated = noting(attributes)
    for (const warning of evaluateTemplate(policy, template, evaluated)) request.warn(warning)
  }

  async function checkNamespace(
    { name, subresource, oldObject, request }: Attributes,
    object: ApiObject,
  ): Promise<void> {
    if (subresource !== '') return
    const labels = labelsOf(object)
    const { policy, errors } = policyOf(labels, defaults)
    const before = oldObject && policyOf(labelsOf(oldObject), defaults)
    // Labels that were invalid before may stay.
    if (errors.length > 0 && printAll(errors) !== printAll(before?.errors ?? [])) {
      throw invalid(NAMESPACE, name, errors)
    }
    const level = before && tightenedLevel(policy, before.policy)
    if (before && !level) return
    if (exemptions.namespaces.has(name)) {
      if (!isPrivileged(policy) && !isEquivalent(policy, defaults)) request.warn(ignoredPolicy(name, policy, labels))
      return
    }
    if (!level) return
    const pods = (await objects.all(POD, name)).filter(
      pod => !exemptions.runtimeClasses.has(stringAt(objectAt(pod, 'spec'), 'runtimeClassName')),
    )
    for (const warning of existingViolations(name, pods, level)) request.warn(warning)
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

/** The warning about labels of a namespace that is exempt. */
function ignoredPolicy(namespace: string, policy: Policy, labels: Labels): string {
  const modes = MODES.filter(mode => policy[mode].level !== 'privileged' && hasMode(labels, mode))
  const printed = modes.map(mode => `${mode}=${printLevelVersion(policy[mode])}`).join(', ')
  return `namespace ${quote(namespace)} is exempt from Pod Security, and the policy (${printed}) will be ignored`
}
