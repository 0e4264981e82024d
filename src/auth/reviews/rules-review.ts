// Which rules count for the caller in a namespace: what `kubectl auth can-i --list` shows.

import { badRequest } from '../../meta/errors/status.js'
import { objectAt, textAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { typedVirtualKind } from '../../request/typed-virtual-resource.js'
import type { VirtualKind } from '../../request/virtual-resource.js'
import type { PolicyRule } from '../authz/rbac.js'
import type { Rights } from '../authz/rights.js'

export const selfSubjectRulesReviews = (rights: Rights): VirtualKind =>
  typedVirtualKind('authorization.k8s.io/v1', 'selfsubjectrulesreviews', async ({ object, caller }) => {
    const namespace = textAt(objectAt(object, 'spec'), 'namespace')
    if (namespace === '') throw badRequest('no namespace on request')
    const { rules, error } = rights.rulesFor(caller, namespace)
    const { apiVersion, kind } = object
    return {
      apiVersion,
      kind,
      metadata: {},
      spec: {},
      status: {
        resourceRules: rules.filter(({ resources }) => resources?.length).map(resourceRule),
        nonResourceRules: rules.filter(({ nonResourceURLs }) => nonResourceURLs?.length).map(pathRule),
        incomplete: false,
        ...(error !== '' && { evaluationError: error }),
      },
    }
  })

const resourceRule = ({ verbs = [], apiGroups, resources, resourceNames }: PolicyRule): ValueObject => ({
  verbs: [...verbs],
  ...(apiGroups?.length && { apiGroups: [...apiGroups] }),
  ...(resources?.length && { resources: [...resources] }),
  ...(resourceNames?.length && { resourceNames: [...resourceNames] }),
})

const pathRule = ({ verbs = [], nonResourceURLs = [] }: PolicyRule): ValueObject => ({
  verbs: [...verbs],
  nonResourceURLs: [...nonResourceURLs],
})
