// --authorization-mode=Node: what a kubelet may do. Objects that not every node needs are allowed only to nodes that they
// are related to; everything else is allowed by the rules of the role system:node. What a node may write into its objects
// is up to the admission plugin NodeRestriction.
import { type FeatureGates, isGateOn } from '../../meta/feature-gates.js'
import { quote } from '../../meta/go/go-text.js'
import { parseFieldSelector } from '../../meta/selectors/field-selectors.js'
import type { ResourceAccess } from '../../request/access-attributes.js'
import { ALLOWED, type Authorizer, createAuthorizer, type Decision } from '../authz/authorizer.js'
import { allows, type PolicyRule } from '../authz/rbac.js'
import type { RuleResolver } from '../authz/rule-resolver.js'
import type { NodeGraph, RelatedType } from './node-graph.js'
import { nodeIdentity } from './node-identity.js'

const LEASES = 'kube-node-lease'
const NO_OPINION: Decision = { allowed: false, reason: '' }
const no = (reason: string): Decision => ({ allowed: false, reason })

export function createNodeAuthorizer(
  graph: Pick<NodeGraph, 'isRelated'>,
  rules: readonly PolicyRule[],
  gates: FeatureGates = {},
): Authorizer {
  const resources: Readonly<Record<string, Decide>> = {
    ...RESOURCES,
    ...(isGateOn(gates, 'PodCertificateRequest')
      ? { [POD_CERTIFICATES]: podCertificates }
      : !isGateOn(gates, 'KubeletServiceAccountTokenForCredentialProviders') && { '/serviceaccounts': onlyTokens }),
  }
  return createAuthorizer((user, attributes) => {
    const node = nodeIdentity(user)
    if (node === undefined) return NO_OPINION
    if (node === '') return no(`unknown node for user ${quote(user.name)}`)
    const special = 'path' in attributes ? undefined : resources[resourceOf(attributes)]
    if (special) return special(node, attributes as ResourceAccess, graph)
    return rules.some(rule => allows(rule, attributes)) ? ALLOWED : NO_OPINION
  })
}

/** The rules of nodes cannot be listed: they depend on the objects. */
export const NODE_RULES: Pick<RuleResolver, 'rulesFor'> = {
  rulesFor: user =>
    nodeIdentity(user) === undefined
      ? { rules: [], error: '' }
      : { rules: [], error: 'node authorizer does not support user rule resolution', incomplete: true },
}

type Decide = (node: string, attributes: ResourceAccess, graph: Pick<NodeGraph, 'isRelated'>) => Decision

const resourceOf = ({ group, resource }: ResourceAccess): string => `${group}/${resource}`

function related(type: RelatedType): Decide {
  return (node, { namespace, name }, graph) => {
    if (name === '') return no('No Object name found')
    return graph.isRelated(node, type, namespace, name)
      ? ALLOWED
      : no(`no relationship found between node '${node}' and this object`)
  }
}

function getOnly(type: RelatedType): Decide {
  const decide = related(type)
  return (node, attributes, graph) => {
    if (attributes.verb !== 'get') return no('can only get individual resources of this type')
    if (attributes.subresource !== '') return no('cannot get subresource')
    return decide(node, attributes, graph)
  }
}

function readOne(type: RelatedType): Decide {
  const decide = related(type)
  return (node, attributes, graph) => {
    const { verb, subresource, namespace } = attributes
    if (!READ.has(verb)) return no('can only read resources of this type')
    if (subresource !== '') return no('cannot read subresource')
    if (namespace === '') return no('can only read namespaced object of this type')
    return decide(node, attributes, graph)
  }
}

const READ = new Set(['get', 'list', 'watch'])
const WRITE_OWN = new Set(['get', 'create', 'update', 'patch', 'delete'])
const CHANGE = new Set(['update', 'patch'])

const volumeClaims: Decide = (node, attributes, graph) => {
  if (attributes.subresource !== 'status') return getOnly('pvc')(node, attributes, graph)
  if (!CHANGE.has(attributes.verb)) return no('can only get/update/patch this type')
  return related('pvc')(node, attributes, graph)
}

const serviceAccounts: Decide = (node, attributes, graph) => {
  const { verb, subresource, name } = attributes
  if (verb === 'get' && subresource === '') return readOne('serviceAccount')(node, attributes, graph)
  if (verb !== 'create' || name === '') return no('can only create tokens for individual service accounts')
  if (subresource !== 'token') return no('can only create token subresource of serviceaccount')
  return related('serviceAccount')(node, attributes, graph)
}

const onlyTokens: Decide = (node, attributes, graph) =>
  attributes.verb === 'get' && attributes.subresource === ''
    ? no('not allowed to get service accounts')
    : serviceAccounts(node, attributes, graph)

const podCertificates: Decide = (node, attributes, graph) => {
  const { verb, subresource } = attributes
  if (subresource !== '') return no('nodes may not access the status subresource of PodCertificateRequests')
  if (verb === 'create') return ALLOWED
  if (verb === 'get') return related('podcertificaterequest')(node, attributes, graph)
  if (verb !== 'list' && verb !== 'watch') return no(`nodes may not ${verb} podcertificaterequests`)
  return selects(attributes, 'spec.nodeName', node)
    ? ALLOWED
    : no('can only list/watch podcertificaterequests with nodeName field selector')
}

const leases: Decide = (node, { verb, namespace, name }) => {
  if (!WRITE_OWN.has(verb)) return no('can only get, create, update, patch, or delete a node lease')
  if (namespace !== LEASES) return no(`can only access leases in the ${quote(LEASES)} system namespace`)
  if (verb !== 'create' && name !== node) {
    return no('can only access node lease with the same name as the requesting node')
  }
  return ALLOWED
}

const csiNodes: Decide = (node, { verb, subresource, name }) => {
  if (!WRITE_OWN.has(verb)) return no('can only get, create, update, patch, or delete a CSINode')
  if (subresource !== '') return no('cannot authorize CSINode subresources')
  if (verb !== 'create' && name !== node) {
    return no('can only access CSINode with the same name as the requesting node')
  }
  return ALLOWED
}

const resourceSlices: Decide = (node, attributes, graph) => {
  if (attributes.subresource !== '') return no('cannot authorize ResourceSlice subresources')
  switch (attributes.verb) {
    case 'create':
      return ALLOWED
    case 'get':
    case 'update':
    case 'patch':
    case 'delete':
      return related('resourceslice')(node, attributes, graph)
    case 'watch':
    case 'list':
    case 'deletecollection':
      return selects(attributes, 'spec.nodeName', node)
        ? ALLOWED
        : no('can only list/watch/deletecollection resourceslices with nodeName field selector')
    default:
      return no(
        'only the following verbs are allowed for a ResourceSlice: get, watch, list, create, update, patch, delete, deletecollection',
      )
  }
}

const nodes: Decide = (node, { verb, subresource, name }) => {
  if (subresource === 'status') return CHANGE.has(verb) ? ALLOWED : NO_OPINION
  if (subresource !== '') return NO_OPINION
  if (verb === 'create' || CHANGE.has(verb)) return ALLOWED
  if (!READ.has(verb)) return NO_OPINION
  // By name, so that a kubelet may look for its node before that exists.
  if (name === node) return ALLOWED
  return no(
    name === ''
      ? `node '${node}' cannot read all nodes, only its own Node object`
      : `node '${node}' cannot read '${name}', only its own Node object`,
  )
}

const pods: Decide = (node, attributes, graph) => {
  const { verb, subresource, name } = attributes
  if (subresource === 'status') return CHANGE.has(verb) ? ALLOWED : NO_OPINION
  if (subresource === 'eviction') return verb === 'create' ? ALLOWED : NO_OPINION
  if (subresource !== '') return NO_OPINION
  switch (verb) {
    case 'get':
      return getOnly('pod')(node, attributes, graph)
    case 'list':
    case 'watch':
      if (selects(attributes, 'spec.nodeName', node)) return ALLOWED
      if (name !== '') return related('pod')(node, attributes, graph)
      return no('can only list/watch pods with spec.nodeName field selector')
    // Mirror pods.
    case 'create':
    case 'delete':
      return ALLOWED
    default:
      return NO_OPINION
  }
}

/** Whether the request is limited to objects whose field has this value. */
function selects({ fieldSelector = [] }: ResourceAccess, field: string, value: string): boolean {
  const parsed = typeof fieldSelector === 'string' ? parseFieldSelector(fieldSelector) : undefined
  const requirements = typeof fieldSelector === 'string' ? (parsed?.ok ? parsed.value : []) : fieldSelector
  return requirements.some(each => each.field === field && each.operator === '=' && each.value === value)
}

const POD_CERTIFICATES = 'certificates.k8s.io/podcertificaterequests'

const RESOURCES: Readonly<Record<string, Decide>> = {
  '/secrets': readOne('secret'),
  '/configmaps': readOne('configmap'),
  '/persistentvolumeclaims': volumeClaims,
  '/persistentvolumes': getOnly('pv'),
  'resource.k8s.io/resourceclaims': getOnly('resourceclaim'),
  'storage.k8s.io/volumeattachments': getOnly('volumeattachment'),
  '/serviceaccounts': serviceAccounts,
  'coordination.k8s.io/leases': leases,
  'storage.k8s.io/csinodes': csiNodes,
  'resource.k8s.io/resourceslices': resourceSlices,
  '/nodes': nodes,
  '/pods': pods,
  // While its feature gate is off, only roles may allow it.
  [POD_CERTIFICATES]: () => NO_OPINION,
}
