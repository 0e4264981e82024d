// Which rules count for the caller in a namespace: what `kubectl auth can-i --list` shows.
import { objectAt, textAt } from '../../builtin/object-access.js'
import { badRequest } from '../../meta/status.js'
import type { ValueObject } from '../../meta/value.js'
import { typedVirtualKind } from '../../resources/typed-virtual-kind.js'
import type { VirtualKind } from '../../resources/virtual-kind.js'
import type { PolicyRule } from '../rbac.js'
import type { Rights } from '../rights.js'

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
