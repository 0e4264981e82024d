// Twenty rules as CustomResourceDefinitions of well-known projects have them, each with the schema of what it stands on
// and an object that keeps it.

const string = { type: 'string' }
const integer = { type: 'integer', format: 'int64' }
const listOf = items => ({ type: 'array', items })
const mapOf = additionalProperties => ({ type: 'object', additionalProperties })
const object = properties => ({ type: 'object', properties })

const backend = object({ group: string, kind: string, name: string, port: integer })
const listeners = listOf(
  object({ name: string, port: integer, protocol: string, hostname: string, tls: object({ mode: string }) }),
)
const twoListeners = [
  { name: 'web', port: 80, protocol: 'HTTP', hostname: 'a.example.com' },
  { name: 'web-tls', port: 443, protocol: 'HTTPS', hostname: 'a.example.com', tls: { mode: 'Terminate' } },
  { name: 'dns', port: 53, protocol: 'UDP' },
]
const requirements = listOf(object({ key: string, operator: string, values: listOf(string) }))
const threeRequirements = [
  { key: 'karpenter.k8s.aws/instance-category', operator: 'In', values: ['c', 'm', 'r'] },
  { key: 'karpenter.k8s.aws/instance-cpu', operator: 'Gt', values: ['3'] },
  { key: 'kubernetes.io/arch', operator: 'Exists' },
]
const path = object({ type: string, value: string })

export const RULES = [
  {
    name: 'CronTab: replicas between two bounds',
    rule: 'self.minReplicas <= self.replicas && self.replicas <= self.maxReplicas',
    schema: object({ minReplicas: integer, replicas: integer, maxReplicas: integer }),
    self: { minReplicas: 1, replicas: 3, maxReplicas: 10 },
  },
  {
    name: 'any project: immutable',
    rule: 'self == oldSelf',
    schema: string,
    self: 'eu-central-1',
    oldSelf: 'eu-central-1',
  },
  {
    name: 'any project: immutable once set',
    rule: '!has(oldSelf.className) || has(self.className) && self.className == oldSelf.className',
    schema: object({ className: string }),
    self: { className: 'fast' },
    oldSelf: { className: 'fast' },
  },
  {
    name: 'Gateway API: a Service has a port',
    rule: "(size(self.group) == 0 && self.kind == 'Service') ? has(self.port) : true",
    schema: backend,
    self: { group: '', kind: 'Service', name: 'web', port: 8080 },
  },
  {
    name: 'Gateway API: names of listeners are unique',
    rule: 'self.all(l1, self.exists_one(l2, l1.name == l2.name))',
    schema: listeners,
    self: twoListeners,
  },
  {
    name: 'Gateway API: port, protocol and hostname are unique',
    rule:
      'self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol && (has(l1.hostname) && ' +
      'has(l2.hostname) ? l1.hostname == l2.hostname : !has(l1.hostname) && !has(l2.hostname))))',
    schema: listeners,
    self: twoListeners,
  },
  {
    name: 'Gateway API: no tls for plain protocols',
    rule: "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)",
    schema: listeners,
    self: twoListeners,
  },
  {
    name: 'Gateway API: mode of tls',
    rule: "self.all(l, (l.protocol == 'HTTPS' && has(l.tls)) ? (l.tls.mode == '' || l.tls.mode == 'Terminate') : true)",
    schema: listeners,
    self: twoListeners,
  },
  {
    name: 'Gateway API: paths have no empty segment',
    rule: "(self.type in ['Exact', 'PathPrefix']) ? !self.value.contains('//') : true",
    schema: path,
    self: { type: 'PathPrefix', value: '/api/v1/things' },
  },
  {
    name: 'Gateway API: paths have no dot segment',
    rule: "(self.type in ['Exact', 'PathPrefix']) ? !self.value.endsWith('/..') && !self.value.contains('/./') : true",
    schema: path,
    self: { type: 'PathPrefix', value: '/api/v1/things' },
  },
  {
    name: 'Gateway API: characters of a path',
    rule: "self.value.matches('^(?:[-A-Za-z0-9/._~!$&()*+,;=:@]|[%][0-9a-fA-F]{2})+$')",
    schema: path,
    self: { type: 'PathPrefix', value: '/api/v1/things' },
  },
  {
    name: 'Gateway API: a filter is of its type',
    rule:
      "!(has(self.requestHeaderModifier) && self.type != 'RequestHeaderModifier') && " +
      "!(!has(self.requestHeaderModifier) && self.type == 'RequestHeaderModifier')",
    schema: object({ type: string, requestHeaderModifier: object({ set: listOf(string) }) }),
    self: { type: 'RequestHeaderModifier', requestHeaderModifier: { set: ['a'] } },
  },
  {
    name: 'Istio: at most one of',
    rule: '(has(self.selector) ? 1 : 0) + (has(self.targetRef) ? 1 : 0) + (has(self.targetRefs) ? 1 : 0) <= 1',
    schema: object({ selector: mapOf(string), targetRef: backend, targetRefs: listOf(backend) }),
    self: { targetRef: { group: '', kind: 'Service', name: 'web' } },
  },
  {
    name: 'Karpenter: In has values',
    rule: "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)",
    schema: requirements,
    self: threeRequirements,
  },
  {
    name: 'Karpenter: Gt and Lt have one number',
    rule: "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt') ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)",
    schema: requirements,
    self: threeRequirements,
  },
  {
    name: 'Karpenter: labels that are not allowed',
    rule: "self.all(x, x != 'karpenter.sh/nodepool' && x != 'kubernetes.io/hostname')",
    schema: mapOf(string),
    self: { team: 'a', 'example.com/tier': 'front', env: 'prod' },
  },
  {
    name: 'Karpenter: keys are of a domain',
    rule: "self.all(x, !x.key.startsWith('karpenter.sh/') && !x.key.endsWith('/restricted'))",
    schema: requirements,
    self: threeRequirements,
  },
  {
    name: 'Cluster API: variables are named once',
    rule: 'self.filter(v, v.name == "region").size() <= 1',
    schema: listOf(object({ name: string, value: string })),
    self: [
      { name: 'region', value: 'eu' },
      { name: 'size', value: 'large' },
      { name: 'zone', value: 'a' },
    ],
  },
  {
    name: 'network policies: port ranges begin before they end',
    rule: 'self.all(p, has(p.portRange) ? p.portRange.start < p.portRange.end : p.portNumber > 0 && p.portNumber < 65536)',
    schema: listOf(object({ portNumber: integer, portRange: object({ start: integer, end: integer }) })),
    self: [{ portNumber: 80 }, { portRange: { start: 8000, end: 9000 } }, { portNumber: 443 }],
  },
  {
    name: 'cert-manager: renewed before it ends',
    rule: 'duration(self.renewBefore) < duration(self.duration)',
    schema: object({ duration: string, renewBefore: string }),
    self: { duration: '2160h', renewBefore: '360h' },
  },
]
