// Objects live in namespaces that are there: nothing is created where no namespace is, or in one that is on its way
// out; and some namespaces stay.

import type { Awaitable } from '../../base/awaitable.js'
import { forbidden, namespaceTerminating, notFound } from '../../meta/errors/status.js'
import type { GroupResource } from '../../meta/group-version.js'

/** What is about to be done, as far as it matters here. */
export interface LifecycleRequest {
  readonly operation: 'CREATE' | 'UPDATE' | 'DELETE'
  readonly resource: GroupResource
  readonly namespace: string
  readonly name: string
}

/** What is known of a namespace, if it is there. */
export type FindNamespace = (name: string) => Awaitable<{ readonly isTerminating: boolean } | undefined>

const NAMESPACES: GroupResource = { group: '', resource: 'namespaces' }

/** The namespaces that every cluster has and that nobody can delete. */
export const SYSTEM_NAMESPACES = ['default', 'kube-system', 'kube-public', 'kube-node-lease'] as const
const PROTECTED: ReadonlySet<string> = new Set(['default', 'kube-system', 'kube-public'])

/** Questions about access may be asked of any namespace. */
const ANYWHERE: ReadonlySet<string> = new Set(['localsubjectaccessreviews.authorization.k8s.io'])

export async function checkNamespaceLifecycle(request: LifecycleRequest, find: FindNamespace): Promise<void> {
  const { operation, resource, namespace, name } = request
  if (resource.group === '' && resource.resource === 'namespaces') {
    if (operation === 'DELETE' && PROTECTED.has(name)) {
      throw forbidden(NAMESPACES, name, 'this namespace may not be deleted')
    }
    return
  }
  if (operation !== 'CREATE' || namespace === '' || ANYWHERE.has(`${resource.resource}.${resource.group}`)) return
  const found = await find(namespace)
  if (!found) throw notFound(NAMESPACES, namespace)
  if (found.isTerminating) throw namespaceTerminating(resource, name, namespace)
}
