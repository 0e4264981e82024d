// NodeRestriction: a kubelet may change only its own Node, its lease, its CSINode, the pods that are bound to it, and so on. The
// authorizer of nodes decides what it may read; it does not see what is written.

import type { GetAuthorizer } from '../../../auth/authorizer.js'
import { nodeIdentity } from '../../../auth/nodes.js'
import { parseSigningRequest } from '../../../builtin/certificate-request.js'
import { notFound } from '../../../meta/errors/status.js'
import { type FeatureGates, isGateOn } from '../../../meta/feature-gates.js'
import { quote } from '../../../meta/go/go-text.js'
import type { ApiObject } from '../../../meta/object/api-object.js'
import { metaOf } from '../../../meta/object/object-meta.js'
import { has, objectAt, objectOrNone, objectsAt, stringAt } from '../../../meta/values/access.js'
import { equalValues, type ValueObject } from '../../../meta/values/value.js'
import type { Lister } from '../../../objects/lister.js'
import { type Attributes, forbiddenBy } from '../../attributes.js'
import type { AdmissionPlugin } from '../../chain.js'
import { forbiddenLabels } from './labels.js'
import { apiReference } from './pod-api-references.js'
import { checkPodCertificate } from './pod-certificates.js'
import { checkNodeToken } from './tokens.js'

const MIRROR = 'kubernetes.io/config.mirror'
const LEASES = 'kube-node-lease'
const KUBELET_SIGNERS = new Set(['kubernetes.io/kubelet-serving', 'kubernetes.io/kube-apiserver-client-kubelet'])

export interface NodeRestrictionEnv {
  readonly objects: Lister
  readonly authorizer: GetAuthorizer
  readonly featureGates: FeatureGates
}

export function nodeRestriction(env: NodeRestrictionEnv): AdmissionPlugin {
  return {
    name: 'NodeRestriction',
    operations: new Set(['CREATE', 'UPDATE', 'DELETE']),
    resources: [
      'pods/*',
      'nodes/*',
      'persistentvolumeclaims/*',
      'serviceaccounts/token',
      'leases.coordination.k8s.io',
      'csinodes.storage.k8s.io',
      'resourceslices.resource.k8s.io',
      'certificatesigningrequests.certificates.k8s.io',
      'podcertificaterequests.certificates.k8s.io/*',
    ],
    async mutate(attributes) {
      const node = nodeIdentity(attributes.request.user)
      if (node === undefined) return undefined
      const refuse = (why: string): Error => forbiddenBy(attributes, why)
      if (node === '') throw refuse(`could not determine node from user ${quote(attributes.request.user.name)}`)
      const why = await RULES[`${attributes.resource.group}/${attributes.resource.resource}`]?.(node, attributes, env)
      if (why !== undefined) throw refuse(why)
      return undefined
    },
  }
}

/** Why it is refused. May throw another error than a refusal. */
type Rule = (
  node: string,
  attributes: Attributes,
  env: NodeRestrictionEnv,
) => string | undefined | Promise<string | undefined>

// ---- pods

const pods: Rule = (node, attributes, env) => {
  const { subresource, operation } = attributes
  if (subresource === 'status') return podStatus(node, attributes)
  if (subresource === 'eviction') return podEviction(node, attributes, env)
  if (subresource !== '')
    return `unexpected pod subresource ${quote(subresource)}, only 'status' and 'eviction' are allowed`
  if (operation === 'CREATE') return createdPod(node, attributes.object!, env)
  if (operation === 'DELETE') return deletedPod(node, attributes, env)
  return `unexpected operation ${quote(operation)}, node ${quote(node)} can only create and delete mirror pods`
}

/** Only mirrors of the pods that the node has of its own, which need nothing else of the API. */
async function createdPod(node: string, pod: ApiObject, { objects }: NodeRestrictionEnv): Promise<string | undefined> {
  const who = `node ${quote(node)}`
  const { annotations = {}, ownerReferences: owners = [] } = metaOf(pod)
  if (annotations[MIRROR] === undefined) {
    return `pod does not have ${quote(MIRROR)} annotation, ${who} can only create mirror pods`
  }
  if (nodeOf(pod) !== node) return `${who} can only create pods with spec.nodeName set to itself`
  if (owners.length > 1) return `${who} can only create pods with a single owner reference set to itself`
  const [owner] = owners
  if (!owner || owner.apiVersion !== 'v1' || owner.kind !== 'Node' || owner.name !== node) {
    return `${who} can only create pods with an owner reference set to itself`
  }
  if (owner.controller !== true) return `${who} can only create pods with a controller owner reference set to itself`
  if (owner.blockOwnerDeletion === true) return `${who} must not set blockOwnerDeletion on an owner reference`
  const stored = await objects.find({ group: '', kind: 'Node' }, '', node)
  if (!stored) throw notFound({ group: '', resource: 'nodes' }, node)
  const { uid = '' } = metaOf(stored)
  if (owner.uid !== uid) return `node ${node} UID mismatch: expected ${owner.uid} got ${uid}`
  const reference = apiReference(pod)
  if (reference?.error !== undefined) return `error checking mirror pod for API references: ${reference.error}`
  return reference && `${who} can not create pods that reference ${reference.resource}`
}

async function deletedPod(node: string, attributes: Attributes, env: NodeRestrictionEnv): Promise<string | undefined> {
  const pod = await findPod(attributes.namespace, attributes.name, env)
  return nodeOf(pod) === node ? undefined : `node ${quote(node)} can only delete pods with spec.nodeName set to itself`
}

function podStatus(node: string, { operation, object, oldObject }: Attributes): string | undefined {
  if (operation !== 'UPDATE') return `unexpected operation ${quote(operation)}`
  const who = `node ${quote(node)}`
  if (nodeOf(oldObject!) !== node) return `${who} can only update pod status for pods with spec.nodeName set to itself`
  if (!equalValues(metaOf(oldObject!).labels ?? {}, metaOf(object!).labels ?? {})) {
    return `${who} cannot update labels through pod status`
  }
  const [before, after] = [objectAt(oldObject!, 'status'), objectAt(object!, 'status')]
  if (!equalValues(claimStatuses(before), claimStatuses(after))) return `${who} cannot update resource claim statues`
  const extended = 'extendedResourceClaimStatus'
  if (!equalValues(before[extended] ?? null, after[extended] ?? null)) {
    return `${who} cannot update extended resource claim status`
  }
  return undefined
}

const claimStatuses = (status: ValueObject): ValueObject[] =>
  objectsAt(status, 'resourceClaimStatuses').map(each => ({
    name: stringAt(each, 'name'),
    claim: has(each, 'resourceClaimName') ? stringAt(each, 'resourceClaimName') : null,
  }))

async function podEviction(node: string, attributes: Attributes, env: NodeRestrictionEnv): Promise<string | undefined> {
  const { operation, object, namespace, name } = attributes
  if (operation !== 'CREATE') return `unexpected operation ${operation}`
  const podName = name || (object && metaOf(object).name) || ''
  if (podName === '') return 'could not determine pod from request data'
  const pod = await findPod(namespace, podName, env)
  return nodeOf(pod) === node ? undefined : `node ${node} can only evict pods with spec.nodeName set to itself`
}

export async function findPod(
  namespace: string,
  name: string,
  { objects }: Pick<NodeRestrictionEnv, 'objects'>,
): Promise<ApiObject> {
  const pod = await objects.find({ group: '', kind: 'Pod' }, namespace, name)
  if (!pod) throw notFound({ group: '', resource: 'pods' }, name)
  return pod
}

export const nodeOf = (object: ApiObject): string => stringAt(objectAt(object, 'spec'), 'nodeName')

// ---- nodes

const nodes: Rule = (node, { operation, name, object, oldObject }) => {
  const who = `node ${quote(node)}`
  if (name !== node) return `${who} is not allowed to modify node ${quote(name)}`
  if (operation === 'DELETE') return undefined
  const [spec, before] = [objectAt(object!, 'spec'), oldObject && objectAt(oldObject, 'spec')]
  const source = objectOrNone(spec, 'configSource')
  if (!before) {
    if (source) return `${who} is not allowed to create pods with a non-nil configSource`
    const wrong = forbiddenLabels(metaOf(object!).labels ?? {}, {})
    return wrong.length === 0 ? undefined : `${who} is not allowed to set the following labels: ${wrong.join(', ')}`
  }
  if (source && !equalValues(source, objectOrNone(before, 'configSource'))) {
    return `${who} is not allowed to update configSource to a new non-nil configSource`
  }
  if (!equalValues(spec['taints'] ?? [], before['taints'] ?? [])) return `${who} is not allowed to modify taints`
  const [meta, old] = [metaOf(object!), metaOf(oldObject!)]
  const owners = (of: typeof meta): ValueObject[] => [...((of.ownerReferences ?? []) as unknown as ValueObject[])]
  if (!equalValues(owners(meta), owners(old))) return `${who} is not allowed to modify ownerReferences`
  const wrong = forbiddenLabels(meta.labels ?? {}, old.labels ?? {})
  return wrong.length === 0 ? undefined : `is not allowed to modify labels: ${wrong.join(', ')}`
}

// ---- what a node writes elsewhere

const volumeClaims: Rule = (node, { operation, subresource, object, oldObject }) => {
  if (subresource !== 'status') return 'may only update PVC status'
  if (operation !== 'UPDATE') return `unexpected operation ${quote(operation)}`
  const [before, after] = [withoutExpansion(oldObject!), withoutExpansion(object!)]
  if (equalValues(before, after)) return undefined
  const changed = changedFields(before, after)
  return `node ${quote(node)} is not allowed to update fields other than status.quantity and status.conditions: ${changed}`
}

/** A claim without what a kubelet may change while it expands the volume. */
function withoutExpansion(claim: ApiObject): ValueObject {
  const status = without(objectAt(claim, 'status'), EXPANSION)
  return { ...claim, metadata: without(objectAt(claim, 'metadata'), ['resourceVersion', 'managedFields']), status }
}

const EXPANSION = ['capacity', 'conditions', 'allocatedResources', 'allocatedResourceStatuses']

const without = (object: ValueObject, fields: readonly string[]): ValueObject =>
  Object.fromEntries(Object.entries(object).filter(([field]) => !fields.includes(field)))

const changedFields = (before: ValueObject, after: ValueObject): string =>
  [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter(field => !equalValues(before[field] ?? null, after[field] ?? null))
    .toSorted()
    .join(', ')

const serviceAccounts: Rule = (node, attributes, env) => {
  const { operation, subresource } = attributes
  if (operation !== 'CREATE' || subresource !== 'token') return undefined
  const restrictsAudiences = isGateOn(env.featureGates, 'ServiceAccountNodeAudienceRestriction')
  return checkNodeToken(node, attributes, { ...env, restrictsAudiences })
}

const LEASE_NAME = 'can only access node lease with the same name as the requesting node'

const leases: Rule = (node, attributes) => {
  if (attributes.namespace !== LEASES) return `can only access leases in the ${quote(LEASES)} system namespace`
  return nameOf(attributes) === node ? undefined : LEASE_NAME
}

const csiNodes: Rule = (node, attributes) =>
  nameOf(attributes) === node ? undefined : 'can only access CSINode with the same name as the requesting node'

/** A created object has its name in itself. */
const nameOf = ({ operation, name, object }: Pick<Attributes, 'operation' | 'name' | 'object'>): string =>
  operation === 'CREATE' ? ((object && metaOf(object).name) ?? '') : name

const resourceSlices: Rule = (node, { operation, object, oldObject }) => {
  if (operation === 'UPDATE') return undefined
  const slice = operation === 'CREATE' ? object : oldObject
  if (slice && nodeOf(slice) === node) return undefined
  return `can only ${operation.toLowerCase()} ResourceSlice with the same NodeName as the requesting node`
}

const certificateRequests: Rule = (node, { operation, subresource, object }, { featureGates }) => {
  if (operation !== 'CREATE' || subresource !== '') return undefined
  if (isGateOn(featureGates, 'AllowInsecureKubeletCertificateSigningRequests')) return undefined
  const spec = objectAt(object!, 'spec')
  if (!KUBELET_SIGNERS.has(stringAt(spec, 'signerName'))) return undefined
  const request = parseSigningRequest(stringAt(spec, 'request'))
  if (!request.ok) return `unable to parse csr: ${request.error}`
  return request.value.commonName === `system:node:${node}`
    ? undefined
    : `can only create a node CSR with CN=system:node:${node}`
}

const RULES: Readonly<Record<string, Rule>> = {
  '/pods': pods,
  '/nodes': nodes,
  '/persistentvolumeclaims': volumeClaims,
  '/serviceaccounts': serviceAccounts,
  'coordination.k8s.io/leases': leases,
  'storage.k8s.io/csinodes': csiNodes,
  'resource.k8s.io/resourceslices': resourceSlices,
  'certificates.k8s.io/certificatesigningrequests': certificateRequests,
  'certificates.k8s.io/podcertificaterequests': checkPodCertificate,
}
