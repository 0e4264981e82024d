// Keeps a ServiceAccount named `default` in every namespace, as the controller of kube-controller-manager does: pods that
// name no account run as this one.

import type { Kind } from '../../kinds/kind.js'
import { type ApiContext } from '../../verbs/api-context.js'
import { systemObjects } from '../../verbs/system-writes.js'
import type { Controller, ControllerEnv } from '../common/controller.js'
import { startInEachNamespace } from './in-each-namespace.js'

const DEFAULT_ACCOUNT = 'default'

export interface ServiceAccountKinds {
  readonly namespaces: Kind
  readonly accounts: Kind
}

export function startServiceAccounts(
  context: ApiContext,
  { namespaces, accounts }: ServiceAccountKinds,
  env: ControllerEnv,
): Promise<Controller> {
  const objects = systemObjects(context, 'service-account-controller')
  return startInEachNamespace(context, {
    queue: 'serviceaccount',
    objects,
    namespaces,
    kind: accounts,
    name: DEFAULT_ACCOUNT,
    async ensure(namespace) {
      if (await objects.get(accounts, namespace, DEFAULT_ACCOUNT)) return
      await objects.create(accounts, { metadata: { name: DEFAULT_ACCOUNT, namespace } })
    },
    env,
  })
}
