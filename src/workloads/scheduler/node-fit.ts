// The reasons why a pod does not fit on a node, in kube-scheduler's words and order.
import { matchesLabels, selectorOf } from '../../meta/selectors/label-selectors.js'
import type { Container, Node, Pod, PodAffinityTerm, PodSpec, TopologySpread } from '../api/objects.js'
import { isFinished } from '../common/conditions.js'
import { matchesNode, tolerates, untolerated } from '../common/node-matching.js'
import { type Amounts, amountsOf, requestsOf } from '../common/resources.js'
import type { WorkloadEnv } from '../common/workload-env.js'

const UNSCHEDULABLE = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' }

export interface Fit {
  readonly node: Node
  /** Empty if it fits. */
  readonly reasons: readonly string[]
}

/** Looks at all nodes. Topology is counted over all of them once. */
export function fitsOf(w: WorkloadEnv, pod: Pod): Fit[] {
  const nodes = [...w.nodes.all()]
  const requested = requestsOf(pod.spec)
  const topology = topologyRules(w, pod, nodes)
  return nodes.map(node => ({ node, reasons: reasonsAgainst(w, pod, node, requested, topology) }))
}

function reasonsAgainst(
  w: WorkloadEnv,
  pod: Pod,
  node: Node,
  requested: Amounts,
  topology: (node: Node) => string | undefined,
): string[] {
  const { spec } = pod
  if (node.spec.unschedulable && !spec.tolerations?.some(each => tolerates(each, UNSCHEDULABLE))) {
    return ['node(s) were unschedulable']
  }
  if (untolerated(node.spec.taints, spec.tolerations, ['NoSchedule', 'NoExecute'])) {
    return ['node(s) had untolerated taint(s)']
  }
  if (!matchesNode(spec, node)) return ["node(s) didn't match Pod's node affinity/selector"]
  const there = w.pods.onNode(node.metadata.name).filter(each => !isFinished(each))
  if (!portsAreFree(spec, there)) return ["node(s) didn't have free ports for the requested pod ports"]
  const missing = missingResources(node, there, requested)
  if (missing.length > 0) return missing
  const against = topology(node)
  return against === undefined ? [] : [against]
}

function missingResources(node: Node, there: readonly Pod[], requested: Amounts): string[] {
  const offered = amountsOf(node.status?.allocatable ?? node.status?.capacity)
  const reasons: string[] = []
  if (there.length + 1 > (offered.get('pods') ?? 0)) reasons.push('Too many pods')
  if (requested.size === 0) return reasons
  const used = new Map<string, number>()
  for (const pod of there) {
    for (const [name, amount] of requestsOf(pod.spec)) used.set(name, (used.get(name) ?? 0) + amount)
  }
  for (const [name, amount] of requested) {
    if (amount > 0 && amount > (offered.get(name) ?? 0) - (used.get(name) ?? 0)) reasons.push(`Insufficient ${name}`)
  }
  return reasons
}

const hostPorts = ({ containers, initContainers = [] }: PodSpec): string[] =>
  [...containers, ...initContainers.filter(({ restartPolicy }) => restartPolicy === 'Always')].flatMap(
    ({ ports = [] }: Container) =>
      ports.filter(({ hostPort }) => hostPort).map(({ hostPort, protocol = 'TCP' }) => `${protocol}/${hostPort}`),
  )

function portsAreFree(spec: PodSpec, there: readonly Pod[]): boolean {
  const wanted = hostPorts(spec)
  if (wanted.length === 0) return true
  const taken = new Set(there.flatMap(pod => hostPorts(pod.spec)))
  return !wanted.some(port => taken.has(port))
}

// ---- where other pods are

/** The rules of spreading and of affinity to pods; the result says what is against a node. */
function topologyRules(w: WorkloadEnv, pod: Pod, nodes: readonly Node[]): (node: Node) => string | undefined {
  const { affinity, topologySpreadConstraints = [] } = pod.spec
  const spread = topologySpreadConstraints
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === 'DoNotSchedule')
    .map(each => spreadRule(w, pod, nodes, each))
  const wanted = (affinity?.podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term => ({
    term,
    domains: domainsWith(w, pod, nodes, term),
  }))
  const unwanted = (affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []).map(term => ({
    term,
    domains: domainsWith(w, pod, nodes, term),
  }))
  const refused = refusedDomains(w, pod)
  return node => {
    const labels = node.metadata.labels ?? {}
    for (const rule of spread) {
      const against = rule(node)
      if (against !== undefined) return against
    }
    const isWanted = ({ term, domains }: (typeof wanted)[number]): boolean => {
      const domain = labels[term.topologyKey]
      if (domain === undefined) return false
      // The first pod of a group that wants to be together may be anywhere.
      return domains.has(domain) || (domains.size === 0 && matchesTerm(pod, pod, term))
    }
    if (!wanted.every(isWanted)) return "node(s) didn't match pod affinity rules"
    if (unwanted.some(({ term, domains }) => domains.has(labels[term.topologyKey] ?? ''))) {
      return "node(s) didn't match pod anti-affinity rules"
    }
    return refused.some(([key, domain]) => labels[key] === domain)
      ? "node(s) didn't satisfy existing pods anti-affinity rules"
      : undefined
  }
}

function matchesTerm(owner: Pod, other: Pod, { labelSelector, namespaces = [] }: PodAffinityTerm): boolean {
  const { namespace = '' } = other.metadata
  const isInScope = namespaces.length === 0 ? namespace === owner.metadata.namespace : namespaces.includes(namespace)
  const selector = selectorOf(labelSelector)
  return isInScope && selector.ok && matchesLabels(selector.value, other.metadata.labels ?? {})
}

/** The values of the topology key of nodes that have a pod that matches. */
function domainsWith(w: WorkloadEnv, pod: Pod, nodes: readonly Node[], term: PodAffinityTerm): ReadonlySet<string> {
  const domains = new Set<string>()
  for (const { metadata } of nodes) {
    const domain = metadata.labels?.[term.topologyKey]
    if (domain === undefined || domains.has(domain)) continue
    const isThere = w.pods.onNode(metadata.name).some(each => !isFinished(each) && matchesTerm(pod, each, term))
    if (isThere) domains.add(domain)
  }
  return domains
}

/** Where pods are that do not want this one near them. */
function refusedDomains(w: WorkloadEnv, pod: Pod): [key: string, domain: string][] {
  const refused: [string, string][] = []
  for (const other of w.pods.all()) {
    const terms = other.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution
    if (!terms || !other.spec.nodeName || isFinished(other)) continue
    const labels = w.nodes.get('', other.spec.nodeName)?.metadata.labels ?? {}
    for (const term of terms) {
      const domain = labels[term.topologyKey]
      if (domain !== undefined && matchesTerm(other, pod, term)) refused.push([term.topologyKey, domain])
    }
  }
  return refused
}

function spreadRule(
  w: WorkloadEnv,
  pod: Pod,
  nodes: readonly Node[],
  { topologyKey, maxSkew, labelSelector }: TopologySpread,
): (node: Node) => string | undefined {
  const selector = selectorOf(labelSelector)
  const counts = new Map<string, number>()
  for (const node of nodes) {
    const domain = node.metadata.labels?.[topologyKey]
    if (domain === undefined || !matchesNode(pod.spec, node)) continue
    const count = w.pods
      .onNode(node.metadata.name)
      .filter(each => !isFinished(each) && each.metadata.namespace === pod.metadata.namespace)
      .filter(each => selector.ok && matchesLabels(selector.value, each.metadata.labels ?? {})).length
    counts.set(domain, (counts.get(domain) ?? 0) + count)
  }
  const least = Math.min(...counts.values())
  const own = selector.ok && matchesLabels(selector.value, pod.metadata.labels ?? {}) ? 1 : 0
  return node => {
    const domain = node.metadata.labels?.[topologyKey]
    if (domain === undefined) {
      return "node(s) didn't match pod topology spread constraints (missing required label)"
    }
    return (counts.get(domain) ?? 0) + own - least > maxSkew
      ? "node(s) didn't match pod topology spread constraints"
      : undefined
  }
}
