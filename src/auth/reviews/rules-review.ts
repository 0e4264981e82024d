// SelfSubjectRulesReview: the rules that hold for the user in a namespace, as `kubectl auth can-i --list` shows them.

import { badRequest } from '../../meta/errors/status.js'
import { objectAt, stringAt } from '../../meta/values/access.js'
import type { ValueObject } from '../../meta/values/value.js'
import { typedVirtualResource } from '../../request/typed-virtual-resource.js'
import type { VirtualResource } from '../../request/virtual-resource.js'
import type { PolicyRule } from '../authz/rbac.js'
import type { RuleResolver } from '../authz/rule-resolver.js'

export const selfSubjectRulesReviews = (resolver: Pick<RuleResolver, 'rulesFor'>): VirtualResource =>
  typedVirtualResource(
    'authorization.k8s.io/v1',
    'selfsubjectrulesreviews',
    async ({ object, request: { user }, validate }) => {
      const namespace = stringAt(objectAt(object, 'spec'), 'namespace')
      if (namespace === '') throw badRequest('no namespace on request')
      await validate()
      const { rules, error, incomplete = false } = resolver.rulesFor(user, namespace)
      const { apiVersion, kind } = object
      return {
        apiVersion,
        kind,
        metadata: {},
        spec: {},
        status: {
          resourceRules: rules.filter(({ resources }) => resources?.length).map(resourceRule),
          nonResourceRules: rules.filter(({ nonResourceURLs }) => nonResourceURLs?.length).map(pathRule),
          incomplete,
          ...(error !== '' && { evaluationError: error }),
        },
      }
    },
  )

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
