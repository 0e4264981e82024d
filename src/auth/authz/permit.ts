// A permission beside that of the request itself: some options of a request need a verb of their own.

import { resourceOf } from '../../kinds/kind-names.js'
import { forbidden } from '../../meta/errors/status.js'
import { quote } from '../../meta/go/go-text.js'
import type { Target } from '../../request/target.js'
import type { UserInfo } from '../../request/user-info.js'
import type { GetAuthorizer } from './authorizer.js'

export const permitBy =
  (authorizer: GetAuthorizer) =>
  async (verb: string, { kind, namespace, name, subresource }: Target, user: UserInfo): Promise<void> => {
    const attributes = { verb, ...resourceOf(kind), subresource, namespace, name }
    const { allowed, reason } = await authorizer().authorize(user, attributes)
    if (!allowed) throw forbidden(resourceOf(kind), name, `not permitted to do ${quote(verb)}, reason: ${reason}`)
  }
