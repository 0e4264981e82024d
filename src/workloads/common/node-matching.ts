// Whether a pod may be on a node: taints and tolerations, the node's labels.
import type { Labels } from '../../meta/selectors/label-selectors.js'
import type { Node, NodeRequirement, NodeSelectorTerm, PodSpec, Taint, Toleration } from '../api/objects.js'

export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect && toleration.effect !== taint.effect) return false
  if (toleration.key && toleration.key !== taint.key) return false
  const value = taint.value ?? ''
  switch (toleration.operator ?? 'Equal') {
    case 'Exists':
      return true
    case 'Lt':
      return Number(value) < Number(toleration.value)
    case 'Gt':
      return Number(value) > Number(toleration.value)
    default:
      return (toleration.value ?? '') === value
  }
}

/** The first taint with one of the effects that the pod does not tolerate. */
export const untolerated = (
  taints: readonly Taint[] | undefined,
  tolerations: readonly Toleration[] | undefined,
  effects: readonly string[],
): Taint | undefined =>
  taints?.find(taint => effects.includes(taint.effect) && !tolerations?.some(each => tolerates(each, taint)))

/** The nodeSelector and the required node affinity. */
export function matchesNode({ nodeSelector, affinity }: PodSpec, node: Node): boolean {
  const labels = node.metadata.labels ?? {}
  if (!Object.entries(nodeSelector ?? {}).every(([name, value]) => labels[name] === value)) return false
  const required = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution
  return !required || matchesTerms(required.nodeSelectorTerms, node)
}

/** One term must match. A term without requirements matches no node. */
export const matchesTerms = (terms: readonly NodeSelectorTerm[], node: Node): boolean =>
  terms.some(term => matchesTerm(term, node))

export function matchesTerm({ matchExpressions = [], matchFields = [] }: NodeSelectorTerm, node: Node): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false
  const fields: Labels = { 'metadata.name': node.metadata.name }
  return (
    matchExpressions.every(each => matchesRequirement(each, node.metadata.labels ?? {})) &&
    matchFields.every(each => matchesRequirement(each, fields))
  )
}

function matchesRequirement({ key, operator, values = [] }: NodeRequirement, labels: Labels): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value)
    case 'NotIn':
      return value === undefined || !values.includes(value)
    case 'Exists':
      return value !== undefined
    case 'DoesNotExist':
      return value === undefined
    case 'Gt':
      return value !== undefined && Number(value) > Number(values[0])
    case 'Lt':
      return value !== undefined && Number(value) < Number(values[0])
    default:
      return false
  }
}
