// The priority levels and flow schemas that every cluster starts with. Two of each are fixed. The others are suggested:
// without the annotation `apf.kubernetes.io/autoupdate-spec` they keep what a user changed.
import { stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'

const API_VERSION = 'flowcontrol.apiserver.k8s.io/v1'

type CallQueues = readonly [queues: number, handSize: number]

const level = (shares: number, lendablePercent: number, queues?: CallQueues): ValueObject => ({
  type: 'Limited',
  limited: {
    nominalConcurrencyShares: shares,
    limitResponse:
      queues === undefined
        ? { type: 'Reject' }
        : { type: 'Queue', queuing: { queues: queues[0], handSize: queues[1], queueLengthLimit: 50 } },
    lendablePercent,
  },
})

interface Flow {
  readonly level: string
  readonly precedence: number
  readonly by?: 'ByUser' | 'ByNamespace'
  readonly rules: readonly ValueObject[]
}

const flow = ({ level: name, precedence, by, rules }: Flow): ValueObject => ({
  priorityLevelConfiguration: { name },
  matchingPrecedence: precedence,
  ...(by !== undefined && { distinguisherMethod: { type: by } }),
  rules: [...rules],
})

// ---- subjects and rules

const groups = (...names: string[]): ValueObject[] => names.map(name => ({ kind: 'Group', group: { name } }))
const users = (...names: string[]): ValueObject[] => names.map(name => ({ kind: 'User', user: { name } }))
const systemAccount = (name: string): ValueObject => ({
  kind: 'ServiceAccount',
  serviceAccount: { namespace: 'kube-system', name },
})

const EVERYONE = groups('system:unauthenticated', 'system:authenticated')

const everything = (subjects: readonly ValueObject[]): ValueObject => ({
  subjects: [...subjects],
  resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] }],
  nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
})

const some = (verbs: string[], group: string, resources: string[], scope: ValueObject): ValueObject => ({
  verbs,
  apiGroups: [group],
  resources,
  ...scope,
})

const ELECTION_VERBS = ['get', 'create', 'update']
const leases = some(ELECTION_VERBS, 'coordination.k8s.io', ['leases'], { namespaces: ['*'] })

// ---- levels and flows by name

export const MANDATORY_LEVELS: Readonly<Record<string, ValueObject>> = {
  exempt: { type: 'Exempt', exempt: { nominalConcurrencyShares: 0, lendablePercent: 0 } },
  'catch-all': level(5, 0),
}

const SUGGESTED_LEVELS: Readonly<Record<string, ValueObject>> = {
  system: level(30, 33, [64, 6]),
  'node-high': level(40, 25, [64, 6]),
  'leader-election': level(10, 0, [16, 4]),
  'workload-high': level(40, 50, [128, 6]),
  'workload-low': level(100, 90, [128, 6]),
  'global-default': level(20, 50, [128, 6]),
}

export const MANDATORY_FLOWS: Readonly<Record<string, ValueObject>> = {
  exempt: flow({ level: 'exempt', precedence: 1, rules: [everything(groups('system:masters'))] }),
  'catch-all': flow({ level: 'catch-all', precedence: 10_000, by: 'ByUser', rules: [everything(EVERYONE)] }),
}

const SUGGESTED_FLOWS: Readonly<Record<string, ValueObject>> = {
  probes: flow({
    level: 'exempt',
    precedence: 2,
    rules: [
      {
        subjects: EVERYONE,
        nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }],
      },
    ],
  }),
  'system-leader-election': flow({
    level: 'leader-election',
    precedence: 100,
    by: 'ByUser',
    rules: [
      {
        subjects: [...users('system:kube-controller-manager', 'system:kube-scheduler'), systemAccount('*')],
        resourceRules: [leases],
      },
    ],
  }),
  'system-node-high': flow({
    level: 'node-high',
    precedence: 400,
    by: 'ByUser',
    rules: [
      {
        subjects: groups('system:nodes'),
        resourceRules: [
          some(['*'], '', ['nodes', 'nodes/status'], { clusterScope: true, namespaces: ['*'] }),
          some(['*'], 'coordination.k8s.io', ['leases'], { clusterScope: false, namespaces: ['*'] }),
        ],
      },
    ],
  }),
  'system-nodes': flow({
    level: 'system',
    precedence: 500,
    by: 'ByUser',
    rules: [everything(groups('system:nodes'))],
  }),
  'kube-controller-manager': flow({
    level: 'workload-high',
    precedence: 800,
    by: 'ByNamespace',
    rules: [everything(users('system:kube-controller-manager'))],
  }),
  'kube-scheduler': flow({
    level: 'workload-high',
    precedence: 800,
    by: 'ByNamespace',
    rules: [everything(users('system:kube-scheduler'))],
  }),
  'kube-system-service-accounts': flow({
    level: 'workload-high',
    precedence: 900,
    by: 'ByNamespace',
    rules: [everything([systemAccount('*')])],
  }),
  'service-accounts': flow({
    level: 'workload-low',
    precedence: 9000,
    by: 'ByUser',
    rules: [everything(groups('system:serviceaccounts'))],
  }),
  'global-default': flow({ level: 'global-default', precedence: 9900, by: 'ByUser', rules: [everything(EVERYONE)] }),
}

/** The objects to create where they are missing. */
export const flowControlObjects = () => [
  ...objectsOf('PriorityLevelConfiguration', { ...MANDATORY_LEVELS, ...SUGGESTED_LEVELS }),
  ...objectsOf('FlowSchema', { ...MANDATORY_FLOWS, ...SUGGESTED_FLOWS }),
]

/** Those that the server cannot do without. */
export const mandatoryFlowObjects = () => [
  ...objectsOf('PriorityLevelConfiguration', MANDATORY_LEVELS),
  ...objectsOf('FlowSchema', MANDATORY_FLOWS),
]

export const isMandatoryFlowObject = ({ kind, metadata }: { readonly kind: string; readonly metadata: ValueObject }) =>
  Object.hasOwn(kind === 'FlowSchema' ? MANDATORY_FLOWS : MANDATORY_LEVELS, stringAt(metadata, 'name'))

const objectsOf = (kind: string, specs: Readonly<Record<string, ValueObject>>) =>
  Object.entries(specs).map(([name, spec]) => ({
    apiVersion: API_VERSION,
    kind,
    metadata: { name, annotations: { 'apf.kubernetes.io/autoupdate-spec': 'true' } },
    spec: structuredClone(spec),
  }))
