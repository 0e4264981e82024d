// The status of ValidatingAdmissionPolicies: warnings about the types of their expressions, once for each generation.
import { checkPolicyTypes, type TypeCheckEnv } from '../../admission/policy-types.js'
import type { Kind } from '../../kinds/kind.js'
import { metaOf } from '../../meta/object/object-meta.js'
import { numberAt, objectAt } from '../../meta/values/access.js'
import type { ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startKindController } from '../common/kind-controller.js'

const NAME = 'validatingadmissionpolicy-status'

export function startPolicyStatus(
  context: ApiContext,
  policies: Kind,
  types: Omit<TypeCheckEnv, 'now'>,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, `${NAME}-controller`, NAME)
  return startKindController(context, {
    name: NAME,
    env,
    follow: [{ kind: policies, keys: ({ name, isDeleted }) => (isDeleted ? [] : [name]) }],
    async reconcile(name) {
      const policy = await objects.get(policies, '', name)
      const generation = Number((policy && metaOf(policy).generation) ?? 0)
      if (!policy || generation <= numberAt(objectAt(policy, 'status'), 'observedGeneration')) return
      const warnings = await checkPolicyTypes(policy, { ...types, now: context.now })
      const typeChecking =
        warnings.length === 0
          ? {}
          : { expressionWarnings: warnings.map(({ fieldRef, warning }) => ({ fieldRef, warning })) }
      await objects.apply(
        policies,
        { metadata: { name }, status: { observedGeneration: generation, typeChecking } },
        'status',
      )
    },
  })
}
