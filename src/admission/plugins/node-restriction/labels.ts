// The labels of a node that its kubelet may set itself. By others, workloads are steered to trusted nodes.

const RESTRICTED = 'node-restriction.kubernetes.io'

/** Those of Kubernetes that kubelets set. */
const KUBELET_LABELS = new Set([
  'beta.kubernetes.io/arch',
  'beta.kubernetes.io/instance-type',
  'beta.kubernetes.io/os',
  'failure-domain.beta.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'kubernetes.io/arch',
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'node.kubernetes.io/instance-type',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
])
const KUBELET_DOMAINS = ['kubelet.kubernetes.io', 'node.kubernetes.io']

/** The labels that differ and that a kubelet may not change, sorted. */
export function forbiddenLabels(
  labels: Readonly<Record<string, string>>,
  before: Readonly<Record<string, string>>,
): string[] {
  const keys = new Set([...Object.keys(labels), ...Object.keys(before)])
  return [...keys].filter(key => labels[key] !== before[key] && isForbidden(key)).toSorted()
}

function isForbidden(label: string): boolean {
  const slash = label.indexOf('/')
  const domain = slash < 0 ? '' : label.slice(0, slash)
  if (isWithin(domain, RESTRICTED)) return true
  const isKubernetes = isWithin(domain, 'kubernetes.io') || isWithin(domain, 'k8s.io')
  return isKubernetes && !KUBELET_LABELS.has(label) && !KUBELET_DOMAINS.some(own => isWithin(domain, own))
}

const isWithin = (domain: string, parent: string): boolean => domain === parent || domain.endsWith(`.${parent}`)
