// A user who writes a role or a binding must hold every permission that it grants. kube-apiserver checks this between
// mutating admission and validation of the object, so that it is the last mutating step here.

import type { GetAuthorizer, RuleResolver } from '../../auth/authorizer.js'
import { checkEscalation } from '../../auth/escalation.js'
import type { AdmissionPlugin } from '../chain.js'

const GROUP = 'rbac.authorization.k8s.io'

export const rbacEscalation = (authorizer: GetAuthorizer, rules: () => RuleResolver): AdmissionPlugin => ({
  name: 'RBACEscalation',
  operations: new Set(['CREATE', 'UPDATE']),
  resources: ['roles', 'clusterroles', 'rolebindings', 'clusterrolebindings'].map(resource => `${resource}.${GROUP}`),
  async mutate({ resource, namespace, pathName, object, oldObject, request }) {
    const write = { resource, namespace, name: pathName, object: object!, old: oldObject, user: request.user }
    await checkEscalation(write, authorizer(), rules())
  },
})
