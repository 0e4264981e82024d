// NamespaceLifecycle: objects are written only in namespaces that exist, nothing is created in a namespace that is being
// deleted, and three namespaces cannot be deleted.

import { type Awaitable, andThen } from '../../base/awaitable.js'
import { forbidden, namespaceTerminating, notFound } from '../../meta/errors/status.js'
import type { GroupResource } from '../../meta/group-version.js'
import type { Labels } from '../../meta/selectors/label-selectors.js'
import type { Attributes } from '../attributes.js'
import type { AdmissionPlugin } from '../chain.js'

/** The namespace, if it exists. Every create reads it, so that it is answered from memory. */
export type FindNamespace = (name: string) => Awaitable<FoundNamespace | undefined>

export interface FoundNamespace {
  readonly isTerminating: boolean
  readonly labels: Labels
}

const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' }

/** The namespaces that every cluster has. */
export const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'] as const
const PROTECTED: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])

export const namespaceLifecycle = (find: FindNamespace): AdmissionPlugin => ({
  name: 'NamespaceLifecycle',
  operations: new Set(['CREATE', 'UPDATE', 'DELETE']),
  mutate(attributes) {
    const { operation, resource, namespace } = attributes
    if (resource.group === '' && resource.resource === 'namespaces') return checkNamespace(attributes)
    if (operation === 'DELETE' || namespace === '' || isAccessReview(resource)) return undefined
    return andThen(find(namespace), found => {
      if (!found) throw notFound(NAMESPACES, namespace)
      if (operation === 'CREATE' && found.isTerminating) {
        throw namespaceTerminating(resource, attributes.name, namespace)
      }
      return undefined
    })
  },
})

function checkNamespace({ operation, name }: Attributes): undefined {
  if (operation === 'DELETE' && PROTECTED.has(name)) {
    throw forbidden(NAMESPACES, name, 'this namespace may not be deleted')
  }
}

/** A LocalSubjectAccessReview may ask about any namespace. */
const isAccessReview = ({ group, resource }: GroupResource): boolean =>
  group === 'authorization.k8s.io' && resource === 'localsubjectaccessreviews'
